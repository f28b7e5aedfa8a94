"""Reductions: sums, products, extremes, truths, their places, means and variances."""

from __future__ import annotations

from collections.abc import Callable
from math import prod as product
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import (
    DType,
    arrayed,
    axes_of,
    axis_of,
    dtype_or,
    no_out,
    restore_axes,
    strong,
)
from arrayport.ops import reductions as ops
from arrayport.ops.elementwise import add as plus
from arrayport.ops.elementwise import (
    conj,
    maximum,
    minimum,
    mul,
    not_equal,
    real,
    select,
    sqrt,
    square,
    sub,
)
from arrayport.ops.promotion import broadcast_together
from arrayport.ops.structure import (
    Shape,
    broadcast_to,
    convert,
    full_like,
    reduce_sum,
    reduce_sum_p,
    reshape,
)

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "max",
    "mean",
    "min",
    "minmax",
    "prod",
    "ptp",
    "std",
    "sum",
    "var",
]


WIDE = frozenset(map(np.dtype, "fdFD"))  # dtypes that are summed as they are
ALL_AXES = [tuple(range(rank)) for rank in range(65)]  # NumPy has no more


def counting(dtype: DType) -> DType:
    """Give the dtype in which integers are summed: the default's width at least."""
    kind, least = dtypes.kind(dtype), dtypes.default_int()
    if kind == "b" or (kind == "i" and dtype.itemsize < least.itemsize):
        return least
    if kind == "u" and dtype.itemsize < least.itemsize:
        return dtypes.canonicalize(np.uint64)
    return dtype


def masked(x: Array, where: Any, other: Any) -> Array:
    """X where the mask is true, else a number."""
    mask, x = broadcast_together(arrayed(where, "where"), x)
    return select(mask, x, full_like(x, other, ()))


def _fold(
    a: Any,
    reduce: Callable[[Array, Shape], Array],
    neutral: int,
    join: Callable[[Any, Any], Array],
    axis: Any,
    dtype: Any,
    keepdims: bool,
    initial: Any,
    where: Any,
    promote_integers: bool,
) -> Array:
    """Give a sum or product."""
    x = arrayed(a, "a")
    known = (
        dtypes.canonicalize(dtype)
        if dtype is not None
        else counting(x.dtype)
        if promote_integers or x.dtype == dtypes.bool_
        else x.dtype
    )
    # Short floats lose too much when they are summed as such.
    x = convert(x, dtypes.float32 if known in dtypes.NARROW else known)
    if where is not None:
        x = masked(x, where, neutral)
    axes = axes_of(axis, len(x.shape))
    out = convert(reduce(x, axes), known)
    if initial is not None:
        out = join(out, convert(arrayed(initial, "initial"), known))
    return restore_axes(out, x.shape, axes, keepdims)


def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Array:
    """Sum over axes, all of them if None.

    Integers and bools are summed as default integers at least, unless `dtype` says otherwise;
    `initial` is added, elements where `where` is false are left out. Source: ``jax.numpy.sum``.

    >>> import arrayport.numpy as anp
    >>> anp.sum(anp.ones((2, 3)), axis=0)
    Array([2., 2., 2.], dtype=float32)
    """
    # Conditions one by one: a chain of them takes three times as long.
    if axis is None and dtype is None and out is None and initial is None and where is None:
        x = a.raw if type(a) is Array else a
        if isinstance(a, Array) and not keepdims and not a.weak and x.dtype in WIDE and x.shape:
            return reduce_sum_p.apply(a, {"axes": ALL_AXES[len(x.shape)]})  # floats', quicker
    no_out("sum", out)
    return _fold(a, reduce_sum, 0, plus, axis, dtype, keepdims, initial, where, promote_integers)


def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Array:
    """Multiply over axes, all of them if None; else as `sum`. Source: ``jax.numpy.prod``.

    >>> import arrayport.numpy as anp
    >>> anp.prod(anp.array([2.0, 3.0]))
    Array(6., dtype=float32)
    """
    no_out("prod", out)
    options = (axis, dtype, keepdims, initial, where, promote_integers)
    return _fold(a, ops.reduce_prod, 1, mul, *options)


def _extreme(
    a: Any,
    reduce: Callable[[Array, Shape], Array],
    join: Callable[[Any, Any], Array],
    axis: Any,
    keepdims: bool,
    initial: Any,
    where: Any,
) -> Array:
    x = strong(arrayed(a, "a"))
    axes = axes_of(axis, len(x.shape))
    if where is not None and initial is None:
        raise ValueError("where= leaves maybe nothing to choose from: give initial= as well")
    start = None if initial is None else convert(arrayed(initial, "initial"), x.dtype)
    if where is not None:
        mask, x = broadcast_together(arrayed(where, "where"), x)
        x = select(mask, x, start)
    if start is not None and not product([x.shape[i] for i in axes]):
        out = broadcast_to(start, tuple([n for i, n in enumerate(x.shape) if i not in axes]))
    else:
        out = reduce(x, axes)
        out = out if start is None else join(out, start)
    return restore_axes(out, x.shape, axes, keepdims)


def max(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Take the largest element over axes, NaN if one is NaN; at least `initial`.

    Raises ValueError where there is no element and no `initial`. Source: ``jax.numpy.max``.

    >>> import arrayport.numpy as anp
    >>> anp.max(anp.array([[1, 5], [3, 2]]), axis=1)
    Array([5, 3], dtype=int32)
    """
    no_out("max", out)
    return _extreme(a, ops.reduce_max, maximum, axis, keepdims, initial, where)


def min(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Take the smallest element over axes, as `max` does. Source: ``jax.numpy.min``.

    >>> import arrayport.numpy as anp
    >>> anp.amin(anp.arange(3))
    Array(0, dtype=int32)
    """
    no_out("min", out)
    return _extreme(a, ops.reduce_min, minimum, axis, keepdims, initial, where)


amax, amin = max, min


def minmax(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> tuple[Array, Array]:
    """Give `min` and `max`. Source: ``jax.numpy.minmax``.

    >>> import arrayport.numpy as anp
    >>> anp.minmax(anp.array([3, 1, 2]))
    (Array(1, dtype=int32), Array(3, dtype=int32))
    """
    return (
        min(a, axis, out, keepdims, initial, where),
        max(a, axis, out, keepdims, initial, where),
    )


@unit("a")
def ptp(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Array:
    """Give the distance from the smallest to the largest element. Source: ``numpy.ptp``.

    >>> import arrayport.numpy as anp
    >>> anp.ptp(anp.array([3, 1, 5]))
    Array(4, dtype=int32)
    """
    return sub(max(a, axis, out, keepdims), min(a, axis, out, keepdims))


@unit("a", "where")
def all(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Array:
    """Say whether all elements over axes are other than zero. Source: ``jax.numpy.all``.

    >>> import arrayport.numpy as anp
    >>> anp.all(anp.array([[1, 0], [1, 1]]), axis=1)
    Array([False,  True], dtype=bool)
    """
    no_out("all", out)
    return _truth(a, ops.reduce_and, True, axis, keepdims, where)


@unit("a", "where")
def any(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Array:
    """Say whether some element over axes is other than zero. Source: ``jax.numpy.any``.

    >>> import arrayport.numpy as anp
    >>> anp.any(anp.arange(2))
    Array(True, dtype=bool)
    """
    no_out("any", out)
    return _truth(a, ops.reduce_or, False, axis, keepdims, where)


def _truth(
    a: Any,
    reduce: Callable[[Array, Shape], Array],
    neutral: bool,
    axis: Any,
    keepdims: bool,
    where: Any,
) -> Array:
    x = arrayed(a, "a")
    x = x if x.dtype == dtypes.bool_ else not_equal(x, 0)
    if where is not None:
        x = masked(x, where, neutral)
    axes = axes_of(axis, len(x.shape))
    return restore_axes(reduce(x, axes), x.shape, axes, keepdims)


@unit("a")
def count_nonzero(a: Any, axis: Any = None, keepdims: bool = False) -> Array:
    """Count the elements that are not zero. Source: ``jax.numpy.count_nonzero``.

    >>> import arrayport.numpy as anp
    >>> anp.count_nonzero(anp.array([1, 0, 3]))
    Array(2, dtype=int32)
    """
    return sum(not_equal(arrayed(a, "a"), 0), axis, keepdims=keepdims)


# ---- places


def _place(
    a: Any,
    find: Callable[[Any, int, Any], Array],
    axis: Any,
    out: None,
    keepdims: bool | None,
    name: str,
) -> Array:
    no_out(name, out)
    x = arrayed(a, "a")
    rank = len(x.shape)
    if axis is None:
        found = find(reshape(x, (-1,)), 0, dtypes.default_int())
        return reshape(found, (1,) * rank) if keepdims else found
    axis = axis_of(axis, rank)
    found = find(x, axis, dtypes.default_int())
    return restore_axes(found, x.shape, (axis,), bool(keepdims))


def argmax(a: Any, axis: Any = None, out: None = None, keepdims: bool | None = None) -> Array:
    """Find the first largest element, the first NaN if any; in the flat array if axis is None.

    Raises ValueError where there are no elements. Source: ``jax.numpy.argmax``.

    >>> import arrayport.numpy as anp
    >>> anp.argmax(anp.array([1.0, 3.0, 2.0]))
    Array(1, dtype=int32)
    """
    return _place(a, ops.argmax, axis, out, keepdims, "argmax")


def argmin(a: Any, axis: Any = None, out: None = None, keepdims: bool | None = None) -> Array:
    """Find the first smallest element, as `argmax` does. Source: ``jax.numpy.argmin``.

    >>> import arrayport.numpy as anp
    >>> anp.argmin(anp.array([3, 1, 2]))
    Array(1, dtype=int32)
    """
    return _place(a, ops.argmin, axis, out, keepdims, "argmin")


# ---- means


def _count(x: Array, axes: Shape, where: Any) -> Any:
    """How many elements a mean is of."""
    if where is None:
        return product([x.shape[i] for i in axes])
    mask = broadcast_to(arrayed(where, "where"), x.shape)
    return sum(mask, axes)


def _floating(x: Array, dtype: Any) -> tuple[Array, DType]:
    """X in the dtype in which its mean is computed, and the dtype of the answer."""
    known = dtype_or(dtype, dtypes.to_inexact(x.dtype))
    wide = dtypes.float32 if known in dtypes.NARROW else dtypes.to_inexact(known)
    return convert(x, wide), known


@unit("a", "where")
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: Any = None,
) -> Array:
    """Average over axes, all of them if None; integers become floats, and no elements NaN.

    Source: ``jax.numpy.mean``.

    >>> import arrayport.numpy as anp
    >>> anp.mean(anp.arange(4))
    Array(1.5, dtype=float32)
    """
    no_out("mean", out)
    x, known = _floating(arrayed(a, "a"), dtype)
    axes = axes_of(axis, len(x.shape))
    total = reduce_sum(x if where is None else masked(x, where, 0), axes)
    return restore_axes(convert(total / _count(x, axes, where), known), x.shape, axes, keepdims)


@unit("a", "where", "mean")
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Array:
    """Average the squared distances from the mean; the divisor is n - ddof, or NaN if not positive.

    `correction` is the standard's name of `ddof`, `mean` a known mean, that keeps its axes. Of
    complex numbers the moduli count. Source: ``jax.numpy.var``.

    >>> import arrayport.numpy as anp
    >>> anp.var(anp.array([1.0, 3.0]), ddof=1)
    Array(2., dtype=float32)
    """
    no_out("var", out)
    if correction is not None:
        if ddof:
            raise ValueError("ddof and correction are one thing: give one of them")
        ddof = correction
    x, known = _floating(arrayed(a, "a"), dtype)
    known = dtypes.real_dtype(known)
    axes = axes_of(axis, len(x.shape))
    count = _count(x, axes, where)
    if mean is None:
        total = reduce_sum(x if where is None else masked(x, where, 0), axes)
        mean = restore_axes(total / count, x.shape, axes, keepdims=True)
    off = sub(x, mean)
    squares = real(mul(off, conj(off))) if dtypes.is_complex(x.dtype) else square(off)
    total = reduce_sum(squares if where is None else masked(squares, where, 0), axes)
    left = count - (ddof if isinstance(ddof, int | float) else arrayed(ddof, "ddof"))
    if isinstance(left, Array):
        left = select(left > 0, left, np.nan)
    elif left <= 0:
        left = np.nan
    return restore_axes(convert(total / left, known), x.shape, axes, keepdims)


@unit("a", "where", "mean")
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Array:
    """Take the square root of `var`. Source: ``jax.numpy.std``.

    >>> import arrayport.numpy as anp
    >>> anp.std(anp.array([1.0, 3.0]))
    Array(1., dtype=float32)
    """
    options = {"where": where, "mean": mean, "correction": correction}
    return sqrt(var(a, axis, dtype, out, ddof, keepdims, **options))
