"""Reductions of an array's rows by the segments that they are of."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.errors import ConcretizationTypeError
from arrayport.ops.indexing import (
    ScatterDimensionNumbers,
    scatter_add,
    scatter_max,
    scatter_min,
    scatter_mul,
)
from arrayport.ops.placement import no_sharding
from arrayport.ops.promotion import home_of, lift
from arrayport.ops.reductions import IDENTITIES, reduce_max
from arrayport.ops.structure import broadcast_to, full_like, reshape

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]

NAMES = {"add": "sum", "mul": "prod"}


def _segments(
    write: Callable[..., Array],
    monoid: str,
    data: Any,
    segment_ids: Any,
    num_segments: int | None,
    out_sharding: Any,
    **flags: Any,
) -> Array:
    name = f"segment_{NAMES.get(monoid, monoid)}"
    home = home_of(data, segment_ids)
    x, ids = lift(data, home, "data"), lift(segment_ids, home, "segment_ids")
    no_sharding(out_sharding, name)
    rows = (*ids.shape, *x.shape[1:])
    fits = len(x.shape) <= len(rows) and all(
        n in (1, wanted) for n, wanted in zip(reversed(x.shape), reversed(rows), strict=False)
    )
    if not fits:
        raise ValueError(
            f"{name} needs an id for each row of data of shape {x.shape}, not ids of {ids.shape}"
        )
    x = broadcast_to(x, rows)  # one row may be of every segment
    if not dtypes.is_integer(ids.dtype):
        raise TypeError(f"segment_ids must be integers, not {ids.dtype}: cast with astype('int32')")
    if monoid in {"add", "mul"} and dtypes.kind(x.dtype) == "b":
        raise TypeError(f"{name} has no meaning for booleans: cast with astype('int32')")
    count = _count(num_segments, ids)
    start = full_like(x, IDENTITIES[monoid](x.dtype), (count, *rows[len(ids.shape) :]))
    window = tuple(range(len(ids.shape), len(rows)))
    numbers = ScatterDimensionNumbers(window, (0,), (0,))
    return write(start, reshape(ids, (*ids.shape, 1)), x, numbers, **flags)


def _count(num_segments: Any, ids: Array) -> int:
    """How many segments there are: as told, else one more than the largest id."""
    if num_segments is None:
        ids.concrete(ConcretizationTypeError, "segment_ids to count (give num_segments=...)")
        num_segments = int(reduce_max(ids)) + 1 if ids.size else 0
    elif isinstance(num_segments, Array):
        num_segments.concrete(ConcretizationTypeError, "num_segments")
    try:
        count = index(num_segments)
    except TypeError:
        raise TypeError(f"num_segments must be an integer, not {num_segments!r}") from None
    if count < 0:
        raise ValueError(f"num_segments must not be negative, it is {count}")
    return count


def segment_sum(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,  # noqa: ARG001 - the order of sums is the backend's
    mode: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Add the rows of data that have the same id.

    `segment_ids` are integers, one a row; ids outside 0 to `num_segments` are dropped, or with
    `mode="clip"` moved inside. Without `num_segments` it is one more than the largest id, which
    then must be known. Raises ValueError or TypeError that names the argument. Source:
    ``jax.ops.segment_sum``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.ops.segment_sum(anp.arange(4.0), anp.array([0, 0, 2, 2]), 3)
    Array([1., 0., 5.], dtype=float32)
    """
    flags = {"indices_are_sorted": indices_are_sorted, "unique_indices": unique_indices}
    rest = (data, segment_ids, num_segments, out_sharding)
    return _segments(scatter_add, "add", *rest, mode=mode, **flags)


def segment_prod(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,  # noqa: ARG001 - the order of sums is the backend's
    mode: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Multiply the rows that have the same id; where there are none it is 1.

    The arguments are those of `segment_sum`. Source: ``jax.ops.segment_prod``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.ops.segment_prod(anp.array([1, 2, 3, 4]), anp.array([0, 0, 2, 2]), 3)
    Array([ 2,  1, 12], dtype=int32)
    """
    flags = {"indices_are_sorted": indices_are_sorted, "unique_indices": unique_indices}
    rest = (data, segment_ids, num_segments, out_sharding)
    return _segments(scatter_mul, "mul", *rest, mode=mode, **flags)


def segment_max(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,  # noqa: ARG001 - the order of sums is the backend's
    mode: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Take the largest of the rows of an id; where there are none it is the least number.

    The arguments are those of `segment_sum`. Source: ``jax.ops.segment_max``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.ops.segment_max(anp.array([1, 2, 3, 4]), anp.array([0, 0, 1, 1]), 2)
    Array([2, 4], dtype=int32)
    """
    flags = {"indices_are_sorted": indices_are_sorted, "unique_indices": unique_indices}
    rest = (data, segment_ids, num_segments, out_sharding)
    return _segments(scatter_max, "max", *rest, mode=mode, **flags)


def segment_min(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,  # noqa: ARG001 - the order of sums is the backend's
    mode: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Take the smallest of the rows of an id; where there are none it is the greatest number.

    The arguments are those of `segment_sum`. Source: ``jax.ops.segment_min``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.ops.segment_min(anp.array([1, 2, 3, 4]), anp.array([0, 0, 1, 1]), 2)
    Array([1, 3], dtype=int32)
    """
    flags = {"indices_are_sorted": indices_are_sorted, "unique_indices": unique_indices}
    rest = (data, segment_ids, num_segments, out_sharding)
    return _segments(scatter_min, "min", *rest, mode=mode, **flags)
