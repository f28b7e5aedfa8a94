"""Diagonals and triangles: where they are, taking diagonals, making matrices of them, sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import arrayed, axes_of, count_of, integer_of, no_out, no_writing
from arrayport.numpy.creation import ones
from arrayport.numpy.reductions import sum
from arrayport.numpy.searching import nonzero
from arrayport.numpy.shapes import moveaxis, ravel
from arrayport.ops import creation
from arrayport.ops.elementwise import equal, select
from arrayport.ops.shapes import pad
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.structure import broadcast_to, constant, reshape

__all__ = [
    "diag",
    "diag_indices",
    "diag_indices_from",
    "diagflat",
    "diagonal",
    "fill_diagonal",
    "mask_indices",
    "trace",
]


@unit("a")
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Take the diagonal, `offset` to the right of the main one, of two axes; it comes last.

    Source: ``jax.numpy.diagonal``.

    >>> import arrayport.numpy as anp
    >>> anp.diagonal(anp.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    x, offset = arrayed(a, "a"), integer_of(offset, "offset")
    x = moveaxis(x, axes_of((axis1, axis2), len(x.shape)), (-2, -1))
    *lead, rows, columns = x.shape
    first = offset if offset >= 0 else -offset * columns
    size = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    flat = reshape(x, (*lead, rows * columns))
    stop = first + (size - 1) * (columns + 1) + 1 if size else first
    return slice_in_dim(flat, first, stop, columns + 1, len(lead))


@unit("a")
def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None
) -> Array:
    """Sum a diagonal of two axes. Source: ``jax.numpy.trace``.

    >>> import arrayport.numpy as anp
    >>> anp.trace(anp.eye(3))
    Array(3., dtype=float32)
    """
    no_out("trace", out)
    return sum(diagonal(a, offset, axis1, axis2), -1, dtype)


@unit("v")
def diag(v: Any, k: int = 0) -> Array:
    """Make a matrix with a vector on the diagonal k, or take that diagonal of a matrix.

    Source: ``jax.numpy.diag``.

    >>> import arrayport.numpy as anp
    >>> anp.diag(anp.array([1, 2]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    x, k = arrayed(v, "v"), integer_of(k, "k")
    if len(x.shape) == 2:
        return diagonal(x, k)
    if len(x.shape) != 1:
        raise ValueError(f"diag takes a vector or a matrix, not shape {x.shape}")
    size = x.size + abs(k)
    low, high = (0, k) if k >= 0 else (-k, 0)
    row = pad(x, constant(0, x), [(high, low, 0)])
    down, across = (creation.iota_like(row, dtypes.int32, i, (size, size)) for i in (0, 1))
    here = equal(down + k, across)
    return select(here, broadcast_to(row, (size, size)), constant(0, x))


def diagflat(v: Any, k: int = 0) -> Array:
    """Make a matrix with the flat array on the diagonal k. Source: ``numpy.diagflat``.

    >>> import arrayport.numpy as anp
    >>> anp.diagflat(anp.array([1, 2]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    return diag(ravel(v), k)


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """Give the indices of the main diagonal of an array with `ndim` axes of extent n.

    Source: ``jax.numpy.diag_indices``.

    >>> import arrayport.numpy as anp
    >>> anp.diag_indices(2)[0]
    Array([0, 1], dtype=int32)
    """
    return (creation.iota(dtypes.default_int(), count_of(n, "n")),) * count_of(ndim, "ndim")


def diag_indices_from(arr: Any) -> tuple[Array, ...]:
    """Give `diag_indices` of an array's shape, all of whose extents must be equal.

    Source: ``jax.numpy.diag_indices_from``.

    >>> import arrayport.numpy as anp
    >>> anp.diag_indices_from(anp.ones((2, 2)))[1]
    Array([0, 1], dtype=int32)
    """
    x = arrayed(arr, "arr")
    if len(x.shape) < 2 or len(set(x.shape)) != 1:
        raise ValueError(
            f"diag_indices_from needs equal extents of two axes or more, not {x.shape}"
        )
    return diag_indices(x.shape[0], len(x.shape))


def mask_indices(
    n: int, mask_func: Callable[[Array, int], Array], k: int = 0, *, size: int | None = None
) -> tuple[Array, Array]:
    """Give the places that a function such as `triu` keeps of a matrix with n rows and columns.

    With `size` so many of them. Source: ``jax.numpy.mask_indices``.

    >>> import arrayport.numpy as anp
    >>> anp.mask_indices(2, anp.triu)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    rows, columns = nonzero(mask_func(ones((n, n)), k), size=size)
    return rows, columns


def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = True) -> Array:
    """Make the array whose main diagonal holds `val`; `inplace=False` must be given.

    Source: ``jax.numpy.fill_diagonal``.

    >>> import arrayport.numpy as anp
    >>> anp.fill_diagonal(anp.zeros((2, 2)), 1, inplace=False)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    no_writing("fill_diagonal", inplace)
    if wrap:
        raise NotImplementedError("fill_diagonal: wrap=True is not supported, leave it out")
    x = arrayed(a, "a")
    size = min(x.shape)
    places = (np.arange(size),) * len(x.shape)
    if not np.shape(val):
        return x.at[places].set(val)
    flat = ravel(val)
    return x.at[places].set(flat[np.arange(size) % flat.size])
