"""Vector quantization: the nearest of a book of codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.core.array import Array
from arrayport.core.names import absent
from arrayport.numpy import argmin, linalg, min
from arrayport.ops.promotion import promote_inexact
from arrayport.ops.structure import reshape

__all__ = ["vq"]


def vq(obs: Any, code_book: Any, check_finite: bool = True) -> tuple[Array, Array]:  # noqa: ARG001
    """Find for each observation the nearest code, and its distance.

    `obs` has shape (m, n) and `code_book` (k, n), or both have one axis. Gives indices and
    distances, of shape (m,). Raises ValueError for other shapes. Source:
    ``jax.scipy.cluster.vq.vq``.

    >>> import arrayport.numpy as anp
    >>> vq(anp.array([[0.0, 1.0], [4.0, 4.0]]), anp.array([[0.0, 0.0], [4.0, 3.0]]))
    (Array([0, 1], dtype=int32), Array([1., 1.], dtype=float32))
    """
    x, codes = promote_inexact((obs, code_book))
    if len(x.shape) != len(codes.shape) or not 1 <= len(x.shape) <= 2:
        raise ValueError(
            f"vq takes two arrays of one axis, or of two, not shapes {x.shape} and {codes.shape}"
        )
    if len(x.shape) == 1:
        x, codes = (reshape(v, (*v.shape, 1)) for v in (x, codes))
    distances = linalg.norm(x[:, None] - codes, axis=-1)
    return argmin(distances, axis=1), min(distances, axis=1)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("scipy.cluster.vq", name)
