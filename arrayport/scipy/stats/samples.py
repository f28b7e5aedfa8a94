"""Statistics of samples: the most frequent value, ranks, the standard error of the mean."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import arrayed, axis_of
from arrayport.numpy.creation import full
from arrayport.numpy.indexing import take_along_axis
from arrayport.numpy.nan_reductions import nanstd
from arrayport.numpy.questions import isnan
from arrayport.numpy.reductions import any, argmax, std, sum
from arrayport.numpy.searching import argsort
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import not_equal, select, sqrt
from arrayport.ops.promotion import inexact
from arrayport.ops.reductions import cummax, cummin, cumsum
from arrayport.ops.shapes import concatenate
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.structure import constant, convert, reshape

__all__ = ["ModeResult", "mode", "rankdata", "sem"]

POLICIES = ("propagate", "omit", "raise")
METHODS = ("average", "min", "max", "dense", "ordinal")


class ModeResult(NamedTuple):
    """The most frequent value, and how often it occurs."""

    mode: Array
    count: Array  # type: ignore[assignment]  # a method of tuples, which JAX hides too


def _refuse(policy: str, *known: str) -> None:
    """Refuse a policy about NaN that is not known, and one that is not here."""
    if policy not in POLICIES:
        raise ValueError(f"nan_policy must be one of {', '.join(POLICIES)}, not {policy!r}")
    if policy not in known:
        raise NotImplementedError(
            f"nan_policy={policy!r} is not implemented: use {' or '.join(known)}"
        )


def _along(a: Any, axis: int | None) -> tuple[Array, int]:
    """Give an array and an axis of it, all its elements in one if None."""
    x = arrayed(a, "a")
    if axis is None or not x.shape:
        return reshape(x, (x.size,)), 0
    return x, axis_of(axis, len(x.shape))


def _starts(ordered: Array, axis: int) -> Array:
    """Say where a sorted array's runs of equal elements begin; all NaN are equal."""
    n = ordered.shape[axis]
    before = slice_in_dim(ordered, 0, n - 1, axis=axis)
    after = slice_in_dim(ordered, 1, n, axis=axis)
    changes = not_equal(before, after) & ~(isnan(before) & isnan(after))
    first = slice_in_dim(ordered, 0, 1, axis=axis)
    return concatenate([not_equal(first, first) | True, changes], axis)


@unit("a")
def mode(
    a: Any, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False
) -> ModeResult:
    """Find the most frequent value along an axis, the smallest of several, and its count.

    NaN counts as a value. Raises NotImplementedError for other policies. Source:
    ``jax.scipy.stats.mode``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy import stats
    >>> stats.mode(anp.array([2, 1, 2])).mode
    Array(2, dtype=int32)
    """
    _refuse(nan_policy, "propagate")
    rank = len(arrayed(a, "a").shape)
    x, place = _along(a, axis)
    shape = list(x.shape)
    shape[place : place + 1] = [1] if keepdims else []
    out = (1,) * rank if keepdims and axis is None else tuple(shape) if rank else ()
    if not x.shape[place]:
        empty = full(out, np.nan, inexact(x).dtype)
        return ModeResult(empty, full(out, 0, empty.dtype))
    ordered = take_along_axis(x, argsort(x, place), place)
    starts = _starts(ordered, place)
    numbers = iota_like(x, dtypes.default_int(), place, x.shape)
    lengths = numbers - cummax(select(starts, numbers, constant(0, numbers)), place) + 1
    end = argmax(lengths, place, keepdims=True)
    found = (take_along_axis(v, end, place) for v in (ordered, lengths))
    return ModeResult(*[reshape(v, out) for v in found])


@unit("a")
def rankdata(
    a: Any, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate"
) -> Array:
    """Rank the elements along an axis from 1, as floats; without an axis, all in one row.

    method
        What equal elements get of the ranks they share: their "average", "min" or "max"; "dense":
        ranks without gaps; "ordinal": different ones, in order of place.

    Where there is a NaN all ranks are NaN. Raises ValueError for an unknown method. Source:
    ``jax.scipy.stats.rankdata``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy import stats
    >>> stats.rankdata(anp.array([3, 1, 3]))
    Array([2.5, 1. , 2.5], dtype=float32)
    """
    _refuse(nan_policy, "propagate")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    x, place = _along(a, axis)
    result = dtypes.default_float()
    if not x.size:
        return full(x.shape, 0, result)
    order = argsort(x, place)
    ranks = _ranks(take_along_axis(x, order, place), place, method)
    ranks = take_along_axis(convert(ranks, result), argsort(order, place), place)
    lost = any(isnan(x), place, keepdims=True)
    return select(lost, constant(np.nan, ranks), ranks)


def _ranks(ordered: Array, axis: int, method: str) -> Array:
    """Rank sorted elements."""
    starts = _starts(ordered, axis)
    numbers = iota_like(ordered, dtypes.default_int(), axis, ordered.shape)
    if method == "ordinal":
        return numbers + 1
    if method == "dense":
        return cumsum(convert(starts, numbers.dtype), axis)
    n = ordered.shape[axis]
    least = cummax(select(starts, numbers, constant(0, numbers)), axis) + 1
    following = slice_in_dim(starts, 1, n, axis=axis)
    last = slice_in_dim(starts, 0, 1, axis=axis) | True
    ends = concatenate([following, last], axis)
    most = cummin(select(ends, numbers, constant(n, numbers)), axis, reverse=True) + 1
    if method == "min":
        return least
    return most if method == "max" else (least + most) / 2


@unit("a")
def sem(
    a: Any,
    axis: int | None = 0,
    ddof: int = 1,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    """Give the standard error of the mean along an axis, all elements in one if None.

    `ddof` is taken off the number of elements in the variance; nan_policy="omit" leaves NaN out.
    Source: ``jax.scipy.stats.sem``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy import stats
    >>> stats.sem(anp.array([1.0, 3.0]))
    Array(1., dtype=float32)
    """
    if nan_policy == "raise":
        raise ValueError("nan_policy='raise' cannot be obeyed in compiled code: check with isnan")
    _refuse(nan_policy, "propagate", "omit")
    x = inexact(arrayed(a, "a"))
    if nan_policy == "omit":
        present = sum(convert(~isnan(x), x.dtype), axis, keepdims=keepdims)
        return nanstd(x, axis, ddof=ddof, keepdims=keepdims) / sqrt(present)
    spread = std(x, axis, ddof=ddof, keepdims=keepdims)
    count = x.size if axis is None or not x.shape else x.shape[axis_of(axis, len(x.shape))]
    return spread / float(count) ** 0.5
