"""Cumulations along an axis, and the differences and integrals that undo and follow them."""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import arrayed, axis_of, count_of, dtype_or, no_out, strong, together
from arrayport.numpy.reductions import counting, sum
from arrayport.ops import reductions as ops
from arrayport.ops import shapes
from arrayport.ops.elementwise import (
    abs,
    equal,
    floor_divide,
    less,
    logical_and,
    maximum,
    not_equal,
    remainder,
    select,
    sub,
)
from arrayport.ops.promotion import inexact, promote_dtypes
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.structure import broadcast_to, constant, convert, full_like, reshape

__all__ = [
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "ediff1d",
    "trapezoid",
    "unwrap",
]


def _cumulate(
    a: Any, run: Callable[[Any, int], Array], axis: Any, dtype: Any, out: None, name: str
) -> Array:
    no_out(name, out)
    x = arrayed(a, "a")
    known = dtype_or(dtype, dtypes.default_int() if x.dtype == dtypes.bool_ else x.dtype)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    return run(convert(x, known), axis_of(axis, len(x.shape)))


def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Array:
    """Sum all up to each element of an axis, or of the flat array. Source: ``jax.numpy.cumsum``.

    >>> import arrayport.numpy as anp
    >>> anp.cumsum(anp.arange(4))
    Array([0, 1, 3, 6], dtype=int32)
    """
    return _cumulate(a, ops.cumsum, axis, dtype, out, "cumsum")


def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Array:
    """Multiply all up to each element of an axis, or of the flat array.

    Source: ``jax.numpy.cumprod``.

    >>> import arrayport.numpy as anp
    >>> anp.cumprod(anp.array([1, 2, 3]))
    Array([1, 2, 6], dtype=int32)
    """
    return _cumulate(a, ops.cumprod, axis, dtype, out, "cumprod")


def _standard_cumulation(
    x: Any, run: Callable[..., Array], neutral: int, axis: Any, dtype: Any, include_initial: bool
) -> Array:
    x = arrayed(x, "x")
    if axis is None:
        if len(x.shape) != 1:
            raise ValueError(f"axis= is needed for an array of {len(x.shape)} axes")
        axis = 0
    axis = axis_of(axis, len(x.shape))
    out = run(x, axis, dtype_or(dtype, counting(x.dtype)))
    if include_initial:
        first = [1 if i == axis else n for i, n in enumerate(x.shape)]
        out = shapes.concatenate([full_like(out, neutral, tuple(first)), out], axis)
    return out


def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Sum all up to each element, after a first 0 if `include_initial`. Source: the array API.

    >>> import arrayport.numpy as anp
    >>> anp.cumulative_sum(anp.arange(3), include_initial=True)
    Array([0, 0, 1, 3], dtype=int32)
    """
    return _standard_cumulation(x, cumsum, 0, axis, dtype, include_initial)


def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Multiply all up to each element, after a first 1 if `include_initial`.

    Source: the array API.

    >>> import arrayport.numpy as anp
    >>> anp.cumulative_prod(anp.array([1, 2, 3]))
    Array([1, 2, 6], dtype=int32)
    """
    return _standard_cumulation(x, cumprod, 1, axis, dtype, include_initial)


# ---- differences


@unit("a", "prepend", "append")
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """Take n times the differences of neighbours along an axis. Source: ``jax.numpy.diff``.

    `prepend` and `append` are joined to the axis first; scalars stretch.

    >>> import arrayport.numpy as anp
    >>> anp.diff(anp.array([1, 4, 9]))
    Array([3, 5], dtype=int32)
    """
    x, n = arrayed(a, "a"), count_of(n, "n")
    if not x.shape:
        raise ValueError("diff needs an array that has an axis")
    axis = axis_of(axis, len(x.shape))
    if n and (prepend is not None or append is not None):
        edge = tuple(1 if i == axis else size for i, size in enumerate(x.shape))
        parts = together(*[p for p in (prepend, x, append) if p is not None])
        parts = [p if p.shape else broadcast_to(p, edge) for p in parts]
        x = shapes.concatenate(promote_dtypes(parts), axis)
    for _ in range(n):
        high, low = slice_in_dim(x, 1, None, axis=axis), slice_in_dim(x, 0, -1, axis=axis)
        x = not_equal(high, low) if x.dtype == dtypes.bool_ else sub(high, low)
    return x


@unit("ary", "to_end", "to_begin")
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Array:
    """Take the differences of neighbours in the flat array, between two ends.

    Source: ``numpy.ediff1d``.

    >>> import arrayport.numpy as anp
    >>> anp.ediff1d(anp.array([1, 4, 9]))
    Array([3, 5], dtype=int32)
    """
    x = reshape(arrayed(ary, "ary"), (-1,))
    ends = [None if e is None else arrayed(e, "to_end, to_begin") for e in (to_begin, to_end)]
    first, last = (None if e is None else convert(reshape(e, (-1,)), x.dtype) for e in ends)
    parts = [first, sub(x[1:], x[:-1]), last]
    return shapes.concatenate([strong(p) for p in parts if p is not None], 0)


@unit("y", "x", "dx")
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """Integrate along an axis by trapezoids between places x, or at distance dx.

    Source: ``jax.numpy.trapezoid``.

    >>> import arrayport.numpy as anp
    >>> anp.trapezoid(anp.array([0.0, 1.0, 2.0]))
    Array(2., dtype=float32)
    """
    y = arrayed(y, "y")
    axis = axis_of(axis, len(y.shape))
    y = inexact(y)
    if x is not None:
        x = arrayed(x, "x")
        if len(x.shape) == 1:
            dx = reshape(diff(x), [-1 if i == axis else 1 for i in range(len(y.shape))])
        else:
            dx = diff(x, axis=axis)
    both = slice_in_dim(y, 1, None, axis=axis) + slice_in_dim(y, 0, -1, axis=axis)
    return sum(both * dx, axis) * 0.5


@unit("p", "discont", "period")
def unwrap(p: Any, discont: Any = None, axis: int = -1, period: Any = 2 * pi) -> Array:
    """Take jumps of more than half a period out of a series, along an axis.

    Jumps up to `discont`, if that is more, stay. Source: ``jax.numpy.unwrap``.

    >>> import arrayport.numpy as anp
    >>> anp.unwrap(anp.array([0.0, 3.0, 6.0, 2.0]), period=6.0)
    Array([0., 3., 6., 8.], dtype=float32)
    """
    x, period = map(strong, promote_dtypes((arrayed(p, "p"), arrayed(period, "period"))))
    axis = axis_of(axis, len(x.shape))
    steps = diff(x, axis=axis)
    half = floor_divide(period, 2) if dtypes.is_integer(x.dtype) else period / 2
    bound = half if discont is None else maximum(discont, half)
    inside = remainder(steps + half, period) - half
    # A step of exactly half a period keeps its sign; an odd one has no half.
    exact = logical_and(equal(inside, -half), equal(half + half, period))
    inside = select(logical_and(exact, steps > 0), half, inside)
    fix = select(less(abs(steps), bound), constant(0, x), inside - steps)
    rest = slice_in_dim(x, 1, None, axis=axis) + cumsum(fix, axis)
    return shapes.concatenate([slice_in_dim(x, 0, 1, axis=axis), rest], axis)
