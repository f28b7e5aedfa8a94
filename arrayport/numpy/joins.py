"""Joining arrays along old and new axes, and splitting them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import arrayed, axis_of, integers_of, no_out, together
from arrayport.numpy.creation import asarray
from arrayport.numpy.shapes import atleast_3d, ndim, ravel, with_axes
from arrayport.ops import shapes as ops
from arrayport.ops.promotion import promote_dtypes
from arrayport.ops.slices import index_in_dim, slice_in_dim
from arrayport.ops.structure import convert

__all__ = [
    "append",
    "array_split",
    "block",
    "column_stack",
    "concat",
    "concatenate",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "split",
    "stack",
    "unstack",
    "vsplit",
    "vstack",
]


def _parts(arrays: Any, name: str) -> list[Array]:
    """Give the arrays to join; an array's are those along its first axis."""
    if isinstance(arrays, Array | np.ndarray):
        whole = arrayed(arrays, name)
        return list(unstack(whole)) if whole.shape else [whole]
    if not isinstance(arrays, Sequence):
        raise TypeError(f"{name} takes a sequence of arrays, not {type(arrays).__name__}")
    if not arrays:
        raise ValueError(f"{name} needs at least one array")
    return together(*[asarray(x) if isinstance(x, list | tuple) else x for x in arrays])


def _alike(xs: list[Array], dtype: Any) -> list[Array]:
    return (
        promote_dtypes(xs)
        if dtype is None
        else [convert(x, dtypes.canonicalize(dtype)) for x in xs]
    )


def concatenate(arrays: Any, axis: Any = 0, dtype: Any = None) -> Array:
    """Join arrays along an axis that they have; None joins them flat.

    Dtypes promote, unless `dtype` is given. Raises ValueError for no arrays, or for none with
    axes, TypeError where the other extents differ. Source: ``jax.numpy.concatenate``.

    >>> import arrayport.numpy as anp
    >>> anp.concatenate([anp.arange(2), anp.ones(1)])
    Array([0., 1., 1.], dtype=float32)
    """
    xs = _parts(arrays, "concatenate")
    if axis is None:
        xs, axis = [ravel(x) for x in xs], 0
    if not xs[0].shape:
        raise ValueError("arrays without axes cannot be concatenated: use stack")
    return ops.concatenate(_alike(xs, dtype), axis_of(axis, len(xs[0].shape)))


def concat(arrays: Sequence[Any], /, *, axis: Any = 0) -> Array:
    """Join arrays along an axis. Source: the array API's ``concat``.

    >>> import arrayport.numpy as anp
    >>> anp.concat([anp.arange(2), anp.arange(1)])
    Array([0, 1, 0], dtype=int32)
    """
    return concatenate(arrays, axis)


def stack(arrays: Any, axis: int = 0, out: None = None, dtype: Any = None) -> Array:
    """Join arrays of one shape along a new axis. Source: ``jax.numpy.stack``.

    >>> import arrayport.numpy as anp
    >>> anp.stack([anp.arange(2), anp.arange(2)], axis=1)
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    no_out("stack", out)
    xs = _alike(_parts(arrays, "stack"), dtype)
    if any(x.shape != xs[0].shape for x in xs):
        raise ValueError(
            f"stack needs arrays of one shape, not {', '.join(str(x.shape) for x in xs)}"
        )
    return ops.stack(xs, axis_of(axis, len(xs[0].shape) + 1))


@unit("x")
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Take an axis apart. Source: the array API's ``unstack``.

    >>> import arrayport.numpy as anp
    >>> anp.unstack(anp.arange(2))
    (Array(0, dtype=int32), Array(1, dtype=int32))
    """
    x = arrayed(x, "x")
    axis = axis_of(axis, len(x.shape))
    return tuple([index_in_dim(x, i, axis, keepdims=False) for i in range(x.shape[axis])])


def vstack(tup: Any, dtype: Any = None) -> Array:
    """Join arrays along the first axis; vectors are rows. Source: ``jax.numpy.vstack``.

    >>> import arrayport.numpy as anp
    >>> anp.vstack([anp.arange(2), anp.arange(2)])
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    return concatenate([with_axes(x, 2) for x in _parts(tup, "vstack")], 0, dtype)


def hstack(tup: Any, dtype: Any = None) -> Array:
    """Join arrays along the second axis, vectors along their only one.

    Source: ``jax.numpy.hstack``.

    >>> import arrayport.numpy as anp
    >>> anp.hstack([anp.arange(2), anp.arange(1)])
    Array([0, 1, 0], dtype=int32)
    """
    xs = [with_axes(x, 1) for x in _parts(tup, "hstack")]
    return concatenate(xs, 0 if len(xs[0].shape) == 1 else 1, dtype)


def dstack(tup: Any, dtype: Any = None) -> Array:
    """Join arrays along the third axis. Source: ``jax.numpy.dstack``.

    >>> import arrayport.numpy as anp
    >>> anp.dstack([anp.arange(2), anp.arange(2)]).shape
    (1, 2, 2)
    """
    return concatenate([atleast_3d(x) for x in _parts(tup, "dstack")], 2, dtype)


def column_stack(tup: Any) -> Array:
    """Join vectors as columns, and matrices beside each other.

    Source: ``jax.numpy.column_stack``.

    >>> import arrayport.numpy as anp
    >>> anp.column_stack([anp.arange(2), anp.ones(2, int)])
    Array([[0, 1],
           [1, 1]], dtype=int32)
    """
    xs = [with_axes(x, 1) for x in _parts(tup, "column_stack")]
    return concatenate([ops.expand_dims(x, (1,)) if len(x.shape) == 1 else x for x in xs], 1)


def append(arr: Any, values: Any, axis: Any = None) -> Array:
    """Join values to the end of an axis, or of the flat array. Source: ``jax.numpy.append``.

    >>> import arrayport.numpy as anp
    >>> anp.append(anp.arange(2), 5)
    Array([0, 1, 5], dtype=int32)
    """
    return concatenate(together(arr, values), axis)


@unit("arrays")
def block(arrays: Any) -> Array:
    """Join nested lists of blocks, the innermost along the last axis. Source: ``jax.numpy.block``.

    >>> import arrayport.numpy as anp
    >>> anp.block([[anp.eye(1), anp.zeros((1, 1))], [anp.ones((1, 2))]])
    Array([[1., 0.],
           [1., 1.]], dtype=float32)
    """
    depth, inner = 0, arrays
    while isinstance(inner, list):
        depth, inner = depth + 1, inner[0]

    def join(part: Any, level: int) -> Array:
        if not isinstance(part, list):
            return with_axes(asarray(part), depth)
        xs = [join(p, level + 1) for p in part]
        rank = max(len(x.shape) for x in xs)
        return concatenate([with_axes(x, rank) for x in xs], level - depth)

    return join(arrays, 0)


# ---- split


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Cut an axis at given places, or into parts of nearly one size. Source: ``numpy.array_split``.

    >>> import arrayport.numpy as anp
    >>> [part.shape for part in anp.array_split(anp.arange(5), 2)]
    [(3,), (2,)]
    """
    x = arrayed(ary, "ary")
    axis = axis_of(axis, len(x.shape))
    extent = x.shape[axis]
    if isinstance(indices_or_sections, int | np.integer):
        parts = int(indices_or_sections)
        if parts <= 0:
            raise ValueError(f"indices_or_sections must be positive, not {parts}")
        low, more = divmod(extent, parts)
        cuts = [low * i + min(i, more) for i in range(1, parts)]
    else:  # places follow Python's slices: they may be negative or past the end
        cuts = list(integers_of(indices_or_sections, "indices_or_sections"))
    ends = pairwise([0, *cuts, extent])
    return [slice_in_dim(x, start, stop, axis=axis) for start, stop in ends]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Cut an axis at given places, or into so many parts of one size. Source: ``jax.numpy.split``.

    Raises ValueError for parts that would differ in size.

    >>> import arrayport.numpy as anp
    >>> anp.split(anp.arange(4), 2)
    [Array([0, 1], dtype=int32), Array([2, 3], dtype=int32)]
    """
    x = arrayed(ary, "ary")
    extent = x.shape[axis_of(axis, len(x.shape))]
    if isinstance(indices_or_sections, int | np.integer) and extent % int(indices_or_sections):
        raise ValueError(
            f"{extent} elements do not split into {indices_or_sections}: use array_split"
        )
    return array_split(x, indices_or_sections, axis)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Split along the first axis. Source: ``jax.numpy.vsplit``.

    >>> import arrayport.numpy as anp
    >>> anp.vsplit(anp.ones((4, 1)), 2)[0].shape
    (2, 1)
    """
    return split(ary, indices_or_sections, 0)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Split along the second axis, of a vector along the first. Source: ``jax.numpy.hsplit``.

    >>> import arrayport.numpy as anp
    >>> anp.hsplit(anp.arange(4), 2)[1]
    Array([2, 3], dtype=int32)
    """
    return split(ary, indices_or_sections, 0 if ndim(ary) == 1 else 1)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Split along the third axis. Source: ``jax.numpy.dsplit``.

    >>> import arrayport.numpy as anp
    >>> len(anp.dsplit(anp.ones((1, 1, 4)), 2))
    2
    """
    return split(ary, indices_or_sections, 2)
