"""Sets: the unique elements of arrays, and unions, intersections and differences of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.errors import ConcretizationTypeError
from arrayport.numpy.arguments import arrayed, axis_of, together
from arrayport.numpy.cumulations import cumsum
from arrayport.numpy.joins import concatenate
from arrayport.numpy.questions import isnan
from arrayport.numpy.reductions import any, sum
from arrayport.numpy.searching import argsort, isin, lexsort, nonzero, searchsorted, sort
from arrayport.numpy.shapes import moveaxis, ravel
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import select
from arrayport.ops.promotion import from_host, home_of, promote_dtypes
from arrayport.ops.structure import convert, full_like, reshape

__all__ = [
    "intersect1d",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


class UniqueAll(NamedTuple):
    """The unique values, where each is first, which one each element is, and how often."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """The unique values, and how often each is there."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """The unique values, and which one each element is."""

    values: Array
    inverse_indices: Array


def _host(x: Array, name: str) -> np.ndarray[Any, Any]:
    """Give values that must be known: the answer's shape depends on them."""
    x.concrete(ConcretizationTypeError, f"an array whose elements {name} looks at (or give size=)")
    return x.__array__()


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Any = None,
    sorted: bool = True,
) -> Any:
    """Find the unique elements, sorted, or the unique parts of an axis.

    Also where each is first, which one each element is, and how often each is there. With `size` so
    many, cut or filled up with `fill_value`, else with the first one. Without it the values must be
    known: raises ConcretizationTypeError for a traced array. Source: ``jax.numpy.unique``.

    >>> import arrayport.numpy as anp
    >>> anp.unique(anp.array([3, 1, 3]), return_counts=True)
    (Array([1, 3], dtype=int32), Array([1, 2], dtype=int32))
    """
    del sorted
    x = arrayed(ar, "ar")
    axis = None if axis is None else axis_of(axis, len(x.shape))
    found: Sequence[Any]
    if size is None:
        values = _host(x, "unique")
        hosts: Any = np.unique(values, True, True, True, axis, equal_nan=equal_nan)
        found = [from_host(np.asarray(part), home_of(x)) for part in hosts]
    else:
        found = _unique(x, axis, equal_nan, size, fill_value)
    wanted = (True, return_index, return_inverse, return_counts)
    outs = [part for part, asked in zip(found, wanted, strict=True) if asked]
    return outs[0] if len(outs) == 1 else tuple(outs)


def _firsts(x: Array, equal_nan: bool = True) -> Array:
    """Mark of sorted elements, or rows, those that differ from the one before."""
    new = x[1:] != x[:-1]
    if equal_nan and dtypes.is_inexact(x.dtype):
        new = new & ~(isnan(x[1:]) & isnan(x[:-1]))
    if len(x.shape) > 1:
        new = any(new, 1)
    return concatenate([full_like(new, True, (min(x.shape[0], 1),)), new])


def _unique(
    x: Array, axis: int | None, equal_nan: bool, size: int, fill: Any
) -> tuple[Array, Array, Array, Array]:
    """Do what `unique` does by operations, which may be traced."""
    along = 0 if axis is None else axis_of(axis, len(x.shape))
    parts = reshape(x, (-1, 1)) if axis is None else moveaxis(x, along, 0)
    count, shape = parts.shape[0], parts.shape[1:]
    if not count and size and fill is None:
        raise ValueError("unique of no elements with a size needs a fill_value")
    rows = reshape(parts, (count, prod(shape)))
    keys = [rows[:, i] for i in reversed(range(rows.shape[1]))]
    order = lexsort(keys or [full_like(rows, 0, (count,))])
    ordered = rows[order]
    first = _firsts(ordered, equal_nan)
    number = cumsum(first) - 1
    inverse = full_like(number, 0).at[order].set(number)
    values, places = _chosen(ordered, first, size, fill)
    values = reshape(values, (size, *shape))
    return (
        reshape(values, (size,)) if axis is None else moveaxis(values, 0, along),
        order[places] if count else places,
        reshape(inverse, x.shape if axis is None else (count,)),
        full_like(places, 0).at[inverse].add(1, mode="drop"),
    )


def _chosen(x: Array, kept: Array, size: int, fill: Any) -> tuple[Array, Array]:
    """Give so many of the elements, or rows, that are kept, and their places.

    Where there are fewer, the first one, or `fill`, stands for the others.
    """
    (places,) = nonzero(kept, size=size)
    there = iota_like(places, places.dtype, 0) < sum(kept)
    if not x.shape[0]:
        return full_like(x, 0 if fill is None else fill, (size, *x.shape[1:])), places
    places = select(there, places, places[:1])
    values = x[places]
    if fill is not None:
        there = reshape(there, (size, *(1,) * (len(x.shape) - 1)))
        values = select(there, values, convert(arrayed(fill, "fill_value"), x.dtype))
    return values, places


def unique_all(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueAll:
    """Find unique values, first indices, inverse and counts; NaNs differ. Source: the array API.

    >>> import arrayport.numpy as anp
    >>> anp.unique_all(anp.array([2, 1, 2])).counts
    Array([1, 2], dtype=int32)
    """
    options: dict[str, Any] = {"equal_nan": False, "size": size, "fill_value": fill_value}
    return UniqueAll(*unique(x, True, True, True, **options))


def unique_counts(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueCounts:
    """Find unique values and their counts; NaNs differ. Source: the array API.

    >>> import arrayport.numpy as anp
    >>> anp.unique_counts(anp.array([3, 1, 3])).counts
    Array([1, 2], dtype=int32)
    """
    options: dict[str, Any] = {"equal_nan": False, "size": size, "fill_value": fill_value}
    return UniqueCounts(*unique(x, return_counts=True, **options))


def unique_inverse(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueInverse:
    """Find unique values, and which one each element is; NaNs differ. Source: the array API.

    >>> import arrayport.numpy as anp
    >>> anp.unique_inverse(anp.array([2, 1, 2])).inverse_indices
    Array([1, 0, 1], dtype=int32)
    """
    options: dict[str, Any] = {"equal_nan": False, "size": size, "fill_value": fill_value}
    return UniqueInverse(*unique(x, return_inverse=True, **options))


def unique_values(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Find unique values; NaNs differ. Source: the array API.

    >>> import arrayport.numpy as anp
    >>> anp.unique_values(anp.array([2, 1, 2]))
    Array([1, 2], dtype=int32)
    """
    values: Array = unique(x, equal_nan=False, size=size, fill_value=fill_value)
    return values


# ---- of two arrays


def union1d(ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Give the sorted elements that are in one of two arrays. Source: ``jax.numpy.union1d``.

    >>> import arrayport.numpy as anp
    >>> anp.union1d(anp.array([2, 1]), anp.array([3, 2]))
    Array([1, 2, 3], dtype=int32)
    """
    values: Array = unique(concatenate([ravel(ar1), ravel(ar2)]), size=size, fill_value=fill_value)
    return values


def setdiff1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Array:
    """Give the sorted elements of ar1 that are not in ar2. Source: ``jax.numpy.setdiff1d``.

    >>> import arrayport.numpy as anp
    >>> anp.setdiff1d(anp.array([1, 2, 3]), anp.array([2]))
    Array([1, 3], dtype=int32)
    """
    x, y = (ravel(v) for v in together(ar1, ar2))
    if size is None:
        known = np.setdiff1d(_host(x, "setdiff1d"), _host(y, "setdiff1d"), assume_unique)
        return from_host(known, home_of(x))
    x = x if assume_unique else sort(x)
    kept = ~isin(x, y) if assume_unique else ~isin(x, y) & _firsts(x)
    return _chosen(x, kept, size, 0 if fill_value is None else fill_value)[0]


def setxor1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Array:
    """Give the sorted elements that are in only one of two arrays.

    Source: ``jax.numpy.setxor1d``.

    >>> import arrayport.numpy as anp
    >>> anp.setxor1d(anp.array([1, 2]), anp.array([2, 3]))
    Array([1, 3], dtype=int32)
    """
    x, y = (ravel(v) for v in promote_dtypes((arrayed(ar1, "ar1"), arrayed(ar2, "ar2"))))
    if size is None:
        known = np.setxor1d(_host(x, "setxor1d"), _host(y, "setxor1d"), assume_unique)
        return from_host(known, home_of(x))
    x, y = sort(x), sort(y)
    kept = concatenate([_firsts(x) & ~isin(x, y), _firsts(y) & ~isin(y, x)])
    both = concatenate([x, y])
    order = argsort(both)
    return _chosen(both[order], kept[order], size, fill_value)[0]


def intersect1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Give the sorted elements that are in both arrays, and where each is first in them if asked.

    Source: ``jax.numpy.intersect1d``.

    >>> import arrayport.numpy as anp
    >>> anp.intersect1d(anp.array([3, 1, 2]), anp.array([2, 3]))
    Array([2, 3], dtype=int32)
    """
    x, y = (ravel(v) for v in promote_dtypes((arrayed(ar1, "ar1"), arrayed(ar2, "ar2"))))
    if size is None:
        own, other = _host(x, "intersect1d"), _host(y, "intersect1d")
        known = np.intersect1d(own, other, assume_unique, return_indices=True)
        outs = tuple([from_host(part, home_of(x)) for part in known])
        return outs if return_indices else outs[0]
    order = argsort(x)
    ordered = x[order]
    kept = _firsts(ordered) & isin(ordered, y)
    values, places = _chosen(ordered, kept, size, fill_value)
    if not return_indices:
        return values
    there = iota_like(places, places.dtype, 0) < sum(kept)
    others = argsort(y)
    second = others[searchsorted(y[others], ordered[places])]
    return values, select(there, order[places], x.size), select(there, second, y.size)
