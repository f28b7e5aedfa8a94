"""Sparse cotangents: what reading a part of an array pulls back, kept apart until it is summed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from arrayport.core.array import Array, Aval
    from arrayport.core.primitive import Primitive


@final
class Sparse:
    """A cotangent that is zero but where `write(base, *args, **params)` adds to the base.

    n reads of parts of an array then cost O(n), not O(n * size): they meet in one `scatter_all`.
    """

    __slots__ = ("args", "like", "params", "write")

    def __init__(
        self, write: Primitive, like: Aval, args: tuple[Array, ...], params: dict[str, Any]
    ) -> None:
        self.write = write
        self.like = like
        self.args = args
        self.params = params
