"""Reductions and cumulations of what is not NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import arrayed, no_out
from arrayport.numpy.cumulations import cumprod, cumsum
from arrayport.numpy.questions import isnan
from arrayport.numpy.reductions import (
    any,
    argmax,
    argmin,
    masked,
    max,
    mean,
    min,
    prod,
    sum,
    var,
)
from arrayport.ops.elementwise import logical_not, select, sqrt
from arrayport.ops.promotion import broadcast_together
from arrayport.ops.structure import full_like

__all__ = [
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]


def _numbers(a: Any, where: Any) -> tuple[Array, Array]:
    """x, and where it has a number that counts."""
    x = arrayed(a, "a")
    known = logical_not(isnan(x))
    if where is not None:
        known, mask = broadcast_together(known, arrayed(where, "where"))
        known = known & mask
    return x, known


@unit("a", "where")
def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Sum what is not NaN. Source: ``jax.numpy.nansum``.

    >>> import arrayport.numpy as anp
    >>> anp.nansum(anp.array([1.0, anp.nan]))
    Array(1., dtype=float32)
    """
    x, known = _numbers(a, where)
    return sum(x, axis, dtype, out, keepdims, initial, known)


@unit("a", "where")
def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Multiply what is not NaN. Source: ``jax.numpy.nanprod``.

    >>> import arrayport.numpy as anp
    >>> anp.nanprod(anp.array([2.0, anp.nan, 3.0]))
    Array(6., dtype=float32)
    """
    x, known = _numbers(a, where)
    return prod(x, axis, dtype, out, keepdims, initial, known)


def _nan_extreme(
    a: Any,
    choose: Callable[..., Array],
    bound: float,
    axis: Any,
    keepdims: bool,
    where: Any,
    initial: Any,
) -> Array:
    x, known = _numbers(a, where)
    if not dtypes.is_inexact(x.dtype):
        return choose(x, axis, None, keepdims, initial, where)
    best = choose(masked(x, known, bound), axis, None, keepdims, initial)
    if initial is not None:
        return best
    return select(any(known, axis, keepdims=keepdims), best, full_like(best, np.nan))


@unit("a", "where")
def nanmax(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Take the largest of what is not NaN; of nothing, NaN. Source: ``jax.numpy.nanmax``.

    >>> import arrayport.numpy as anp
    >>> anp.nanmax(anp.array([anp.nan, 1.0]))
    Array(1., dtype=float32)
    """
    no_out("nanmax", out)
    return _nan_extreme(a, max, -np.inf, axis, keepdims, where, initial)


@unit("a", "where")
def nanmin(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Take the smallest of what is not NaN; of nothing, NaN. Source: ``jax.numpy.nanmin``.

    >>> import arrayport.numpy as anp
    >>> anp.nanmin(anp.array([anp.nan, 1.0]))
    Array(1., dtype=float32)
    """
    no_out("nanmin", out)
    return _nan_extreme(a, min, np.inf, axis, keepdims, where, initial)


@unit("a", "where")
def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    where: Any = None,
) -> Array:
    """Average what is not NaN. Source: ``jax.numpy.nanmean``.

    >>> import arrayport.numpy as anp
    >>> anp.nanmean(anp.array([1.0, anp.nan, 3.0]))
    Array(2., dtype=float32)
    """
    x, known = _numbers(a, where)
    return mean(x, axis, dtype, out, keepdims, where=known)


@unit("a", "where", "mean")
def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    where: Any = None,
    mean: Any = None,
) -> Array:
    """Give the variance of what is not NaN; NaN where n <= ddof. Source: ``jax.numpy.nanvar``.

    >>> import arrayport.numpy as anp
    >>> anp.nanvar(anp.array([anp.nan, 1.0, 3.0]))
    Array(1., dtype=float32)
    """
    x, known = _numbers(a, where)
    return var(x, axis, dtype, out, ddof, keepdims, where=known, mean=mean)


@unit("a", "where", "mean")
def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    where: Any = None,
    mean: Any = None,
) -> Array:
    """Take the square root of `nanvar`. Source: ``jax.numpy.nanstd``.

    >>> import arrayport.numpy as anp
    >>> anp.nanstd(anp.array([anp.nan, 1.0, 3.0]))
    Array(1., dtype=float32)
    """
    return sqrt(nanvar(a, axis, dtype, out, ddof, keepdims, where, mean))


@unit("a")
def nanargmax(a: Any, axis: Any = None, out: None = None, keepdims: bool | None = None) -> Array:
    """Find the first largest of what is not NaN; -1 where all is NaN.

    Source: ``jax.numpy.nanargmax``.

    >>> import arrayport.numpy as anp
    >>> anp.nanargmax(anp.array([anp.nan, 1.0, 2.0]))
    Array(2, dtype=int32)
    """
    return _nan_place(a, argmax, -np.inf, axis, out, keepdims)


@unit("a")
def nanargmin(a: Any, axis: Any = None, out: None = None, keepdims: bool | None = None) -> Array:
    """Find the first smallest of what is not NaN; -1 where all is NaN.

    Source: ``jax.numpy.nanargmin``.

    >>> import arrayport.numpy as anp
    >>> anp.nanargmin(anp.array([anp.nan, 1.0, 2.0]))
    Array(1, dtype=int32)
    """
    return _nan_place(a, argmin, np.inf, axis, out, keepdims)


def _nan_place(
    a: Any, find: Callable[..., Array], bound: float, axis: Any, out: None, keepdims: bool | None
) -> Array:
    x, known = _numbers(a, None)
    if not dtypes.is_inexact(x.dtype):
        return find(x, axis, out, keepdims)
    found = find(masked(x, known, bound), axis, out, keepdims)
    return select(any(known, axis, keepdims=bool(keepdims)), found, full_like(found, -1))


@unit("a")
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Array:
    """Give `cumsum` with 0 for NaN. Source: ``jax.numpy.nancumsum``.

    >>> import arrayport.numpy as anp
    >>> anp.nancumsum(anp.array([2.0, anp.nan, 3.0]))
    Array([2., 2., 5.], dtype=float32)
    """
    x, known = _numbers(a, None)
    return cumsum(masked(x, known, 0), axis, dtype, out)


@unit("a")
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Array:
    """Give `cumprod` with 1 for NaN. Source: ``jax.numpy.nancumprod``.

    >>> import arrayport.numpy as anp
    >>> anp.nancumprod(anp.array([2.0, anp.nan, 3.0]))
    Array([2., 2., 6.], dtype=float32)
    """
    x, known = _numbers(a, None)
    return cumprod(masked(x, known, 1), axis, dtype, out)
