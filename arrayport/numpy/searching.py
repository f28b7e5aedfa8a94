"""Searching and sorting: where, nonzero, sort, searchsorted, isin and their kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.errors import ConcretizationTypeError
from arrayport.core.units import unit
from arrayport.numpy.arguments import arrayed, axis_of, count_of, integer_of
from arrayport.numpy.joins import stack
from arrayport.numpy.questions import isnan
from arrayport.numpy.reductions import sum
from arrayport.numpy.shapes import flip, moveaxis, ravel
from arrayport.ops import sorting as ops
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import (
    equal,
    floor_divide,
    less,
    logical_and,
    logical_not,
    logical_or,
    minimum,
    not_equal,
    remainder,
    select,
)
from arrayport.ops.promotion import from_host, home_of, promote_dtypes
from arrayport.ops.reductions import cumsum
from arrayport.ops.shapes import concatenate
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.structure import convert, full_like, reshape

__all__ = [
    "argpartition",
    "argsort",
    "argwhere",
    "digitize",
    "flatnonzero",
    "isin",
    "lexsort",
    "nonzero",
    "partition",
    "searchsorted",
    "sort",
    "sort_complex",
    "top_k",
    "where",
]


def where(
    condition: Any,
    x: Any = None,
    y: Any = None,
    /,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Choose from x where the condition is true, else from y; all broadcast, x and y promote.

    Without x and y the indices of the true elements, as `nonzero` gives them. Source:
    ``jax.numpy.where``.

    >>> import arrayport.numpy as anp
    >>> anp.where(anp.array([True, False]), 1.0, 0.0)
    Array([1., 0.], dtype=float32, weak_type=True)
    """
    if x is None and y is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise ValueError("where takes both x and y, or neither of them")
    if size is not None or fill_value is not None:
        raise ValueError("where takes size= and fill_value= only without x and y")
    return select(condition, x, y)


# ---- where elements are


def nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> tuple[Array, ...]:
    """Give the indices of the elements that are not zero, one array for each axis.

    With `size` so many, cut or filled up with `fill_value` (else 0): that may be traced, while
    without it a traced array raises ConcretizationTypeError. Raises ValueError for an array
    without axes. Source: ``jax.numpy.nonzero``.

    >>> import arrayport.numpy as anp
    >>> anp.nonzero(anp.array([0, 3, 5]))
    (Array([1, 2], dtype=int32),)
    """
    x = arrayed(a, "a")
    if not x.shape:
        raise ValueError("nonzero needs an array with axes: use atleast_1d(a)")
    if size is None:
        use = "an array whose nonzero elements are counted (give size=...)"
        x.concrete(ConcretizationTypeError, use)
        home = home_of(x)
        return tuple([from_host(i, home) for i in np.nonzero(x.__array__())])
    mask = ravel(x if x.dtype == dtypes.bool_ else not_equal(x, 0))
    place = cumsum(convert(mask, dtypes.default_int())) - 1
    fills = fill_value if isinstance(fill_value, tuple) else (fill_value,) * len(x.shape)
    found = []
    rest = iota_like(mask, dtypes.default_int(), 0)
    coordinates: list[Array] = []
    for extent in reversed(x.shape):
        coordinates.insert(0, remainder(rest, extent))
        rest = floor_divide(rest, extent)
    target = select(mask, place, full_like(place, size))
    for own, fill in zip(coordinates, fills, strict=True):
        empty = full_like(own, 0, (size,)) + (0 if fill is None else fill)
        found.append(empty.at[target].set(own, mode="drop"))
    return tuple(found)


def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Give the indices of the elements of the flat array that are not zero.

    Source: ``jax.numpy.flatnonzero``.

    >>> import arrayport.numpy as anp
    >>> anp.flatnonzero(anp.array([0, 1, 1]))
    Array([1, 2], dtype=int32)
    """
    return nonzero(ravel(a), size=size, fill_value=fill_value)[0]


def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Give the indices of the elements that are not zero, as rows (n, axes).

    Source: ``numpy.argwhere``.

    >>> import arrayport.numpy as anp
    >>> anp.argwhere(anp.array([0, 1, 1]))
    Array([[1],
           [2]], dtype=int32)
    """
    x = arrayed(a, "a")
    if not x.shape:
        (places,) = nonzero(reshape(x, (1,)), size=size, fill_value=fill_value)
        return reshape(places, (-1, 1))[:, :0]
    return stack(nonzero(x, size=size, fill_value=fill_value)).T


# ---- order


def _sortable(a: Any, axis: Any, kind: Any, order: Any) -> tuple[Array, int]:
    if kind is not None or order is not None:
        raise ValueError("sort takes no kind= or order=: it is stable, and arrays have no fields")
    x = arrayed(a, "a")
    if axis is None:
        x, axis = ravel(x), 0
    return x, axis_of(axis, len(x.shape))


def sort(
    a: Any,
    axis: Any = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """Sort along an axis, ascending, NaN last; the flat array if axis is None.

    Source: ``jax.numpy.sort``.

    >>> import arrayport.numpy as anp
    >>> anp.sort(anp.array([3, 1, 2]), descending=True)
    Array([3, 2, 1], dtype=int32)
    """
    del stable
    x, axis = _sortable(a, axis, kind, order)
    out = ops.sort(x, axis)
    return flip(out, axis) if descending else out


@unit("a")
def argsort(
    a: Any,
    axis: Any = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
    dtype: Any = None,
) -> Array:
    """Give the order of indices that sorts along an axis; equal elements keep theirs.

    Source: ``jax.numpy.argsort``.

    >>> import arrayport.numpy as anp
    >>> anp.argsort(anp.array([3, 1, 2]))
    Array([1, 2, 0], dtype=int32)
    """
    del stable
    x, axis = _sortable(a, axis, kind, order)
    known = dtypes.default_int() if dtype is None else dtypes.canonicalize(dtype)
    if not descending:
        return ops.argsort(x, axis, known)
    # Reversed twice, equal elements keep their order.
    found = ops.argsort(flip(x, axis), axis, known)
    return flip(x.shape[axis] - 1 - found, axis)


def sort_complex(a: Any) -> Array:
    """Sort along the last axis as complex numbers, by their real, then their imaginary parts.

    Source: ``numpy.sort_complex``.

    >>> import arrayport.numpy as anp
    >>> anp.sort_complex(anp.array([2, 1]))
    Array([1.+0.j, 2.+0.j], dtype=complex64)
    """
    x = arrayed(a, "a")
    return ops.sort(convert(x, dtypes.complex_dtype(x.dtype)), axis_of(-1, len(x.shape)))


def lexsort(keys: Any, axis: int = -1, *, batch_size: int | None = 16) -> Array:
    """Give the order that sorts by several keys, the last one first. Source: ``jax.numpy.lexsort``.

    >>> import arrayport.numpy as anp
    >>> anp.lexsort((anp.array([1, 0, 2]), anp.array([1, 1, 0])))
    Array([2, 1, 0], dtype=int32)
    """
    del batch_size  # a hint of JAX's
    if not isinstance(keys, Sequence | np.ndarray | Array) or isinstance(keys, str):
        raise TypeError(f"keys must be a sequence of arrays, not {keys!r}")
    xs = [arrayed(k, "keys") for k in keys]
    if not xs:
        raise TypeError("lexsort needs at least one key")
    if not xs[0].shape:
        return full_like(xs[0], 0).astype(dtypes.default_int())
    axis = axis_of(axis, len(xs[0].shape))
    places = iota_like(xs[0], dtypes.default_int(), axis)
    found: Array = ops.sort([*xs[::-1], places], axis, num_keys=len(xs))[-1]
    return found


@unit("a")
def partition(a: Any, kth: int, axis: int = -1) -> Array:
    """Order so that element kth is where sorting puts it, no larger ones before it.

    As in JAX the part up to kth ascends, the other one descends. Source: ``jax.numpy.partition``.

    >>> import arrayport.numpy as anp
    >>> anp.partition(anp.array([4, 1, 3, 2]), 1)
    Array([1, 2, 4, 3], dtype=int32)
    """
    x, axis = _sortable(a, axis, None, None)
    kth = _checked_kth(kth, x.shape[axis])
    return _parted(ops.sort(x, axis), kth, axis, lambda rest: flip(rest, axis))


@unit("a")
def argpartition(a: Any, kth: int, axis: int = -1) -> Array:
    """Give an order of indices that partitions.

    As in JAX the elements up to kth ascend, the indices of the others do. Source:
    ``jax.numpy.argpartition``.

    >>> import arrayport.numpy as anp
    >>> anp.argpartition(anp.array([4, 1, 3, 2]), 1)
    Array([1, 3, 0, 2], dtype=int32)
    """
    x, axis = _sortable(a, axis, None, None)
    kth = _checked_kth(kth, x.shape[axis])
    order = ops.argsort(x, axis, dtypes.default_int())
    return _parted(order, kth, axis, lambda rest: ops.sort(rest, axis))


def _parted(x: Array, kth: int, axis: int, arrange: Callable[[Array], Array]) -> Array:
    """Arrange what stands after element kth."""
    first = slice_in_dim(x, 0, kth + 1, axis=axis)
    return concatenate([first, arrange(slice_in_dim(x, kth + 1, None, axis=axis))], axis)


def _checked_kth(kth: int, extent: int) -> int:
    kth = integer_of(kth, "kth")
    if not -extent <= kth < extent:
        raise ValueError(f"kth={kth} is out of range for an axis of size {extent}")
    return kth % extent


def top_k(
    a: Any, k: int, /, *, axis: int = -1, mode: str = "largest", sorted: bool = True
) -> tuple[Array, Array]:
    """Give the k largest or smallest elements along an axis and their indices.

    Source: the array API.

    >>> import arrayport.numpy as anp
    >>> anp.top_k(anp.array([1, 5, 3]), 2)
    (Array([5, 3], dtype=int32), Array([1, 2], dtype=int32))
    """
    del sorted
    x, k = arrayed(a, "a"), count_of(k, "k")
    if mode not in {"largest", "smallest"}:
        raise ValueError(f"mode={mode!r} of top_k must be 'largest' or 'smallest'")
    axis = axis_of(axis, len(x.shape))
    if mode == "largest":
        return ops.top_k(x, k, axis=axis)
    places = moveaxis(argsort(x, axis), axis, -1)[..., :k]
    values = moveaxis(sort(x, axis), axis, -1)[..., :k]
    return moveaxis(values, -1, axis), moveaxis(places, -1, axis)


# ---- places in order


def _before(x: Array, y: Array) -> Array:
    """Whether x comes before y, NaN being last."""
    if not dtypes.is_inexact(x.dtype):
        return less(x, y)
    return logical_or(less(x, y), logical_and(isnan(y), logical_not(isnan(x))))


METHODS = ("scan", "scan_unrolled", "sort", "compare_all", "default")


@unit("a", "v", "sorter")
def searchsorted(
    a: Any, v: Any, side: str = "left", sorter: Any = None, *, method: str = "scan"
) -> Array:
    """Find where in the sorted vector a the elements of v belong: before equal ones, or after.

    `side` "left" or "right"; `sorter` an order that sorts a. Any `method` of JAX's gives the same.
    Source: ``jax.numpy.searchsorted``.

    >>> import arrayport.numpy as anp
    >>> anp.searchsorted(anp.array([1.0, 2.0, 2.0]), 2.0)
    Array(1, dtype=int32)
    """
    if side not in {"left", "right"}:
        raise ValueError(f"side={side!r} of searchsorted must be 'left' or 'right'")
    if method not in METHODS:
        raise ValueError(f"method={method!r} of searchsorted is unknown: leave it out")
    x, y = promote_dtypes((a, v), "searchsorted")
    if len(x.shape) != 1:
        raise ValueError(f"searchsorted needs a sorted vector, not shape {x.shape}")
    if sorter is not None:
        x = x[arrayed(sorter, "sorter")]
    low = full_like(y, 0).astype(dtypes.default_int())
    high = low + x.size
    # As many halvings as the vector needs; a finished search stays where it is.
    for _ in range(x.size.bit_length()):
        middle = floor_divide(low + high, 2)
        own = x[minimum(middle, x.size - 1)]  # where a search ended behind all, any will do
        after = _before(own, y) if side == "left" else logical_not(_before(y, own))
        searching = less(low, high)
        low = select(logical_and(searching, after), middle + 1, low)
        high = select(logical_and(searching, logical_not(after)), middle, high)
    return low


@unit("x", "bins")
def digitize(x: Any, bins: Any, right: bool = False, *, method: str | None = None) -> Array:
    """Find the bins, between rising or falling edges, in which x lies.

    Source: ``jax.numpy.digitize``.

    >>> import arrayport.numpy as anp
    >>> anp.digitize(anp.array([0.5, 1.5]), anp.array([0.0, 1.0, 2.0]))
    Array([1, 2], dtype=int32)
    """
    if method not in {None, *METHODS}:
        raise ValueError(f"method={method!r} of digitize is unknown: leave it out")
    x, edges = arrayed(x, "x"), arrayed(bins, "bins")
    if len(edges.shape) != 1:
        raise ValueError(f"bins of digitize must be a vector, not shape {edges.shape}")
    if not edges.size:
        return full_like(x, 0).astype(dtypes.default_int())
    rising = searchsorted(edges, x, "left" if right else "right")
    falling = edges.size - searchsorted(flip(edges), x, "left" if right else "right")
    return select(edges[-1] >= edges[0], rising, falling)


@unit("element", "test_elements")
def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    method: str = "auto",
) -> Array:
    """Say which elements are among others. Source: ``jax.numpy.isin``.

    >>> import arrayport.numpy as anp
    >>> anp.isin(anp.arange(3), anp.array([2, 0]))
    Array([ True, False,  True], dtype=bool)
    """
    del assume_unique, method
    x, others = promote_dtypes((element, test_elements), "isin")
    hits = equal(x[..., None], ravel(others))
    found = sum(hits, -1) > 0
    return logical_not(found) if invert else found
