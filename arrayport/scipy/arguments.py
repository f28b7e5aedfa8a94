"""How the functions of scipy read their arguments: as floats of one dtype and one shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.numpy.arguments import strong
from arrayport.ops.promotion import common_shape, lift_all, promote_inexact
from arrayport.ops.structure import broadcast_to


def floats(function: str, *xs: Any) -> list[Array]:
    """Give real arguments one floating dtype and one shape; those of rank 0 keep theirs."""
    arrays = lift_all(xs, f"an argument of {function}")
    for x in arrays:
        if dtypes.is_complex(x.dtype):
            raise TypeError(
                f"{function} takes real numbers, not {x.dtype}: take .real or abs first"
            )
    return in_one_shape(promote_inexact(arrays))


def strong_floats(function: str, *xs: Any) -> list[Array]:
    """Give the same where JAX's own series make strong numbers, of Python's too."""
    return [strong(x) for x in floats(function, *xs)]


def numbers(function: str, *xs: Any) -> list[Array]:
    """Give real or complex arguments one inexact dtype and one shape; rank 0 stays."""
    return in_one_shape(promote_inexact(xs, f"an argument of {function}"))


def in_one_shape(xs: Sequence[Array]) -> list[Array]:
    """Broadcast all that are not of rank 0."""
    shapes = {x.shape for x in xs if x.shape}
    if len(shapes) < 2:
        return list(xs)
    shape = common_shape(*shapes)
    return [broadcast_to(x, shape) if x.shape else x for x in xs]
