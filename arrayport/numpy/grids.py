"""What brackets make: grids and joined arrays; indices of grids, flat and by axis."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy import index_exp, s_

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.errors import ConcretizationTypeError
from arrayport.numpy.arguments import arrayed, dtype_or, shape_of
from arrayport.numpy.creation import asarray
from arrayport.numpy.joins import concatenate, stack
from arrayport.numpy.ranges import arange, linspace, meshgrid
from arrayport.ops.elementwise import clamp, floor_divide, remainder, select
from arrayport.ops.promotion import from_host, home_of, promote_dtypes
from arrayport.ops.structure import convert, full_like, reshape

__all__ = [
    "c_",
    "index_exp",
    "ix_",
    "mgrid",
    "ogrid",
    "r_",
    "ravel_multi_index",
    "s_",
    "unravel_index",
]


class _Grid:
    """Makes coordinates of slices: `mgrid[0:2, 0:3]`; an imaginary step counts points."""

    def __init__(self, *, sparse: bool) -> None:
        self.sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return _counted(key)
        axes = [_counted(part) for part in key]
        grid = meshgrid(*promote_dtypes(axes, "a grid"), indexing="ij", sparse=self.sparse)
        return list(grid) if self.sparse else stack(grid)


def _counted(part: slice) -> Array:
    start, stop, step = part.start or 0, part.stop, 1 if part.step is None else part.step
    if isinstance(step, complex):
        return linspace(start, stop, int(abs(step)))
    return arange(start, stop, step)


mgrid, ogrid = _Grid(sparse=False), _Grid(sparse=True)


class _Joined:
    """Joins what stands in brackets, slices being ranges: `r_[0:3, 7, x]`, `c_[x, y]`.

    axis   the one to join along, after each part has got `rank` axes at least
    place  where among the axes that a part gets its own ones stand; -1 is behind them
    """

    def __init__(self, axis: int, rank: int, place: int) -> None:
        self.axis, self.rank, self.place = axis, rank, place

    def __getitem__(self, key: Any) -> Array:
        parts = key if isinstance(key, tuple) else (key,)
        if not parts or not isinstance(parts[0], str):
            return self.joined(parts)
        if parts[0] not in {"r", "c"}:
            return self.directed(parts[0]).joined(parts[1:])
        out = self.joined(parts[1:])
        if len(out.shape) > 1:
            return out
        return out[None, :] if parts[0] == "r" else out[:, None]

    def directed(self, directive: str) -> _Joined:
        """Read "axis", "axis,rank" or "axis,rank,place"."""
        own = (self.axis, self.rank, self.place)
        try:
            axis, rank, place = [*map(int, directive.split(",")), *own[directive.count(",") + 1 :]]
        except ValueError:
            raise ValueError(
                f"directive {directive!r} of r_ and c_ must be 'axis', 'axis,rank', "
                "'axis,rank,place', 'r' (a row) or 'c' (a column)"
            ) from None
        return _Joined(axis, rank, place)

    def joined(self, parts: Sequence[Any]) -> Array:
        """Join parts none of which is a directive."""
        if any(isinstance(part, str) for part in parts):
            raise ValueError("the directive of r_ and c_ must come first in the brackets")
        return concatenate([self._part(part) for part in parts], self.axis)

    def _part(self, part: Any) -> Array:
        x = _counted(part) if isinstance(part, slice) else asarray(part)
        missing = max(self.rank - len(x.shape), 0)
        before = min(self.place if self.place >= 0 else missing + 1 + self.place, missing)
        return reshape(x, (*(1,) * before, *x.shape, *(1,) * (missing - before)))


r_, c_ = _Joined(0, 1, -1), _Joined(-1, 2, 0)


def ix_(*args: Any) -> tuple[Array, ...]:
    """Shape vectors so that together they index a grid; booleans name their true places.

    Source: ``jax.numpy.ix_``.

    >>> import arrayport.numpy as anp
    >>> anp.arange(6).reshape(2, 3)[anp.ix_(anp.array([1]), anp.array([0, 2]))]
    Array([[3, 5]], dtype=int32)
    """
    out = []
    for i, given in enumerate(args):
        x = arrayed(given, "args")
        if len(x.shape) != 1:
            raise ValueError(f"ix_ takes vectors, not shape {x.shape}")
        if x.dtype == dtypes.bool_:
            x.concrete(ConcretizationTypeError, "a mask of ix_")
            x = from_host(np.nonzero(x.__array__())[0], home_of(x))
        out.append(reshape(x, [x.size if j == i else 1 for j in range(len(args))]))
    return tuple(out)


def unravel_index(indices: Any, shape: Any) -> tuple[Array, ...]:
    """Turn indices of the flat array into one index for each axis.

    What is out of range becomes the first or the last place. Source: ``jax.numpy.unravel_index``.

    >>> import arrayport.numpy as anp
    >>> anp.unravel_index(5, (2, 3))
    (Array(1, dtype=int32), Array(2, dtype=int32))
    """
    extents = shape_of(shape)
    flat = arrayed(indices, "indices")
    if not dtypes.is_integer(flat.dtype):
        raise TypeError(f"indices of unravel_index must be integers, not {flat.dtype}")
    flat = convert(flat, dtypes.default_int())
    total = prod(extents)
    flat = clamp(0, select(flat < 0, flat + total, flat), max(total - 1, 0))
    out: list[Array] = []
    for extent in reversed(extents):
        out.insert(0, remainder(flat, extent))
        flat = floor_divide(flat, extent)
    return tuple(out)


def ravel_multi_index(
    multi_index: Any, dims: Any, mode: str = "raise", order: str = "C", *, dtype: Any = None
) -> Array:
    """Turn one index for each axis into indices of the flat array.

    `mode`: "raise" (for known indices), "wrap" or "clip". Source: ``jax.numpy.ravel_multi_index``.

    >>> import arrayport.numpy as anp
    >>> anp.ravel_multi_index((anp.array([1]), anp.array([2])), (2, 3))
    Array([5], dtype=int32)
    """
    extents = shape_of(dims, "dims")
    if order not in {"C", "F"}:
        raise ValueError(f"order={order!r} of ravel_multi_index must be 'C' or 'F'")
    if len(multi_index) != len(extents):
        raise ValueError(
            f"ravel_multi_index got {len(multi_index)} indices for {len(extents)} axes"
        )
    known = dtype_or(dtype, dtypes.default_int())
    places = [convert(x, known) for x in promote_dtypes(list(multi_index), "multi_index")]
    if mode == "raise":
        for x, n in zip(places, extents, strict=True):
            x.concrete(ConcretizationTypeError, "an index (use mode='clip' or 'wrap')")
            host = x.__array__()
            if host.size and not (host.min() >= 0 and host.max() < n):
                raise ValueError(f"ravel_multi_index got an index out of range of an axis of {n}")
    elif mode in {"wrap", "clip"}:
        pairs = zip(places, extents, strict=True)
        places = [remainder(x, n) if mode == "wrap" else clamp(0, x, n - 1) for x, n in pairs]
    else:
        raise ValueError(f"mode={mode!r} of ravel_multi_index must be 'raise', 'wrap' or 'clip'")
    axes = list(zip(places, extents, strict=True))
    flat = full_like(places[0], 0)
    for x, n in axes if order == "C" else reversed(axes):
        flat = flat * n + x
    return flat
