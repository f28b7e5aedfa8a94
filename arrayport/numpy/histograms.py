"""Histograms: counts of whole numbers, and of values between edges, along one axis or several."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.errors import ConcretizationTypeError
from arrayport.numpy.arguments import arrayed, count_of, integer_of, strong
from arrayport.numpy.creation import asarray
from arrayport.numpy.cumulations import diff
from arrayport.numpy.joins import stack
from arrayport.numpy.ranges import linspace
from arrayport.numpy.reductions import max, min, sum
from arrayport.numpy.searching import searchsorted
from arrayport.numpy.shapes import ravel
from arrayport.ops.elementwise import equal, maximum, select
from arrayport.ops.placement import no_sharding
from arrayport.ops.promotion import inexact, lift
from arrayport.ops.structure import convert, full_like, reshape

__all__ = ["bincount", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]


def bincount(
    x: Any,
    weights: Any = None,
    minlength: int = 0,
    *,
    length: int | None = None,
    out_sharding: Any = None,
) -> Array:
    """Count how often each of 0, 1, 2, ... is in a vector, or sum the weights there.

    `length` fixes the answer's, dropping larger numbers; without it the values must be known.
    Negative numbers count as 0. Source: ``jax.numpy.bincount``.

    >>> import arrayport.numpy as anp
    >>> anp.bincount(anp.array([0, 2, 2]))
    Array([1, 0, 2], dtype=int32)
    """
    no_sharding(out_sharding, "bincount")
    x = arrayed(x, "x")
    if len(x.shape) != 1 or dtypes.is_inexact(x.dtype):
        raise TypeError(f"bincount takes a vector of integers, not {x.dtype} of shape {x.shape}")
    x = convert(x, dtypes.default_int())
    if length is None:
        use = "numbers to count (give length=, which arrayport.numpy.bincount takes, NumPy's not)"
        x.concrete(ConcretizationTypeError, use)
        length = int(np.max(x.__array__(), initial=count_of(minlength, "minlength") - 1)) + 1
    ones = full_like(x, 1) if weights is None else arrayed(weights, "weights")
    start = full_like(ones, 0, (count_of(length, "length"),))
    return start.at[maximum(x, 0)].add(ones, mode="drop")


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Array:
    """Space the edges of so many bins evenly over the values or over `range`; edges stay as given.

    Source: ``jax.numpy.histogram_bin_edges``.

    >>> import arrayport.numpy as anp
    >>> anp.histogram_bin_edges(anp.array([0.0, 2.0]), bins=2)
    Array([0., 1., 2.], dtype=float32)
    """
    del weights
    if isinstance(bins, str):
        raise NotImplementedError("histogram finds no number of bins by itself: give a number")
    edges = asarray(bins)
    if edges.shape:
        return edges
    count = integer_of(bins, "bins", "an integer or a vector of edges")
    x = strong(inexact(ravel(a)))
    if range is None:
        low, high = (min(x), max(x)) if x.size else (asarray(0.0), asarray(1.0))
    else:
        low, high = (convert(lift(v), x.dtype) for v in range)
    flat = equal(low, high)
    low, high = select(flat, low - 0.5, low), select(flat, high + 0.5, high)
    return linspace(low, high, count + 1, dtype=x.dtype)


def _bin(edges: Array, x: Array) -> Array:
    """Find the bins that values are in, counted from 1; 0 is before them."""
    place = searchsorted(edges, x, side="right")
    return select(equal(x, edges[-1]), full_like(place, edges.size - 1), place)


def histogram(
    a: Any,
    bins: Any = 10,
    range: Any = None,
    weights: Any = None,
    density: Any = None,
    out_sharding: Any = None,
) -> tuple[Array, Array]:
    """Count the values, or sum their weights, in bins; the last one holds its upper edge.

    `density` divides by the total and the widths. Gives counts and edges. Source:
    ``jax.numpy.histogram``.

    >>> import arrayport.numpy as anp
    >>> anp.histogram(anp.array([0.0, 0.4, 1.0]), bins=2)[0]
    Array([2., 1.], dtype=float32)
    """
    no_sharding(out_sharding, "histogram")
    edges = histogram_bin_edges(a, bins, range)
    x = ravel(a)
    known = dtypes.to_inexact(x.dtype)
    w = full_like(x, 1).astype(known) if weights is None else ravel(weights)
    counts = bincount(_bin(edges, x), w, length=edges.size + 1)[1:-1] if edges.size else w[:0]
    if not density:
        return counts, edges
    return counts / (edges[1:] - edges[:-1]) / sum(counts), edges


def _several(bins: Any) -> bool:
    return isinstance(bins, list | tuple) or getattr(bins, "ndim", 0) > 0


def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Sequence[Any] | None = None,
    weights: Any = None,
    density: bool | None = None,
) -> tuple[Array, list[Array]]:
    """Count points, the rows of a sample, or sum their weights, in the cells of a grid.

    `bins` and `range` are as `histogram` takes them, for all axes or one for each. Gives the
    counts and the edges of each axis. Source: ``jax.numpy.histogramdd``.

    >>> import arrayport.numpy as anp
    >>> counts, edges = anp.histogramdd(anp.array([[0.0, 0.0], [1.0, 2.0]]), bins=2)
    >>> counts
    Array([[1, 0],
           [0, 1]], dtype=int32)
    """
    points = arrayed(sample, "sample")
    if len(points.shape) != 2:
        raise ValueError(f"sample must be a matrix, one point a row, not of shape {points.shape}")
    size, rank = points.shape
    each = list(bins) if _several(bins) else [bins] * rank
    if len(each) != rank:
        raise ValueError(f"bins={bins!r} must be one number, or one entry for each of {rank} axes")
    limits = [None] * rank if range is None else list(range)
    if len(limits) != rank:
        raise ValueError(f"range={range!r} must have a pair or None for each of {rank} axes")
    columns = [points[:, i] for i, _ in enumerate(each)]
    edges = [
        histogram_bin_edges(column, n, limit)
        for column, n, limit in zip(columns, each, limits, strict=True)
    ]
    shape = tuple([e.size + 1 for e in edges])
    cell = full_like(columns[0], 0).astype(dtypes.default_int())
    for column, e, n in zip(columns, edges, shape, strict=True):
        cell = cell * n + _bin(e, column)
    w = None if weights is None else inexact(ravel(weights))
    if w is not None and w.shape != (size,):
        raise ValueError(f"weights must be one for each of {size} points, not of shape {w.shape}")
    counts = reshape(bincount(cell, w, length=prod(shape)), shape)[(slice(1, -1),) * rank]
    if density:
        counts = counts / sum(counts)
        for i, e in enumerate(edges):
            counts = counts / reshape(diff(e), [-1 if i == j else 1 for j, _ in enumerate(edges)])
    return counts, edges


def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Sequence[Any] | None = None,
    weights: Any = None,
    density: bool | None = None,
) -> tuple[Array, Array, Array]:
    """Count points (x, y) in the cells of a grid, as `histogramdd` does; edges of one serve both.

    Gives the counts and the edges along x and y. Source: ``jax.numpy.histogram2d``.

    >>> import arrayport.numpy as anp
    >>> anp.histogram2d(anp.array([0.0, 1.0]), anp.array([0.0, 2.0]), bins=2)[0]
    Array([[1, 0],
           [0, 1]], dtype=int32)
    """
    both = [arrayed(x, "x"), arrayed(y, "y")]
    if both[0].shape != both[1].shape or len(both[0].shape) != 1:
        raise ValueError(
            f"x and y must be vectors of one size, not {both[0].shape} and {both[1].shape}"
        )
    if _several(bins) and len(bins) not in {1, 2}:
        bins = [bins, bins]
    counts, edges = histogramdd(stack(both, 1), bins, range, weights, density)
    return counts, edges[0], edges[1]
