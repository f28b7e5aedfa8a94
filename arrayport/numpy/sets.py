"""Sets: the unique elements of arrays, and unions, intersections and differences of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from arrayport.core.array import Array
from arrayport.core.errors import ConcretizationTypeError
from arrayport.numpy.arguments import arrayed
from arrayport.numpy.joins import concatenate
from arrayport.numpy.shapes import ravel
from arrayport.ops.promotion import from_host, home_of, promote_dtypes

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


def _host(x: Any, name: str) -> tuple[Array, np.ndarray[Any, Any]]:
    """Give an array and its values, which must be known: the answer's shape depends on them."""
    x = arrayed(x, name)
    x.concrete(ConcretizationTypeError, "an array whose unique elements are found")
    return x, x.__array__()


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
    many, cut or filled up with `fill_value`, else with the smallest. The values must be known:
    raises ConcretizationTypeError for a traced array. Source: ``jax.numpy.unique``.

    >>> import arrayport.numpy as anp
    >>> anp.unique(anp.array([3, 1, 3]), return_counts=True)
    (Array([1, 3], dtype=int32), Array([1, 2], dtype=int32))
    """
    del sorted
    x, host = _host(ar, "ar")
    found: Any = np.unique(host, True, True, True, axis, equal_nan=equal_nan)
    values, indices, inverse, counts = found
    if size is not None:
        along = 0 if axis is None else axis
        values, indices, counts = (
            _sized(part, size, fill, place)
            for part, fill, place in (
                (values, fill_value, along),
                (indices, None, 0),
                (counts, 0, 0),
            )
        )
    home = home_of(x)
    wanted = (True, return_index, return_inverse, return_counts)
    outs = [
        from_host(np.asarray(part), home)
        for part, asked in zip((values, indices, inverse, counts), wanted, strict=True)
        if asked
    ]
    return outs[0] if len(outs) == 1 else tuple(outs)


def _sized(part: Any, size: int, fill: Any, axis: int) -> Any:
    """Cut an axis to a size, or fill it up: with its first element if no fill is given."""
    part = np.take(part, np.arange(min(size, part.shape[axis])), axis)
    missing = size - part.shape[axis]
    if missing and part.shape[axis] == 0 and fill is None:
        fill = 0
    if missing:
        shape = [missing if i == axis else n for i, n in enumerate(part.shape)]
        edge = np.take(part, [0], axis) if fill is None else np.asarray(fill, part.dtype)
        part = np.concatenate([part, np.broadcast_to(edge, shape)], axis)
    return part


def unique_all(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueAll:
    """Find unique values, first indices, inverse and counts; NaNs differ. Source: the array API."""
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
    """Find unique values, and which one each element is; NaNs differ. Source: the array API."""
    options: dict[str, Any] = {"equal_nan": False, "size": size, "fill_value": fill_value}
    return UniqueInverse(*unique(x, return_inverse=True, **options))


def unique_values(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Find unique values; NaNs differ. Source: the array API."""
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
    (x, own), (_, other) = _host(ar1, "ar1"), _host(ar2, "ar2")
    return _made(x, np.setdiff1d(own, other, assume_unique), size, fill_value)


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
    """
    x, y = promote_dtypes((arrayed(ar1, "ar1"), arrayed(ar2, "ar2")))
    (x, own), (_, other) = _host(x, "ar1"), _host(y, "ar2")
    return _made(x, np.setxor1d(own, other, assume_unique), size, fill_value)


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
    x, y = promote_dtypes((arrayed(ar1, "ar1"), arrayed(ar2, "ar2")))
    (x, own), (_, other) = _host(x, "ar1"), _host(y, "ar2")
    values, first, second = np.intersect1d(own, other, assume_unique, return_indices=True)
    out = _made(x, values, size, fill_value)
    if not return_indices:
        return out
    return out, _made(x, first, size, own.size), _made(x, second, size, other.size)


def _made(x: Array, host: Any, size: int | None, fill: Any) -> Array:
    return from_host(host if size is None else _sized(host, size, fill, 0), home_of(x))
