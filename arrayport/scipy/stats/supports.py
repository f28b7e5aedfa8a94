"""Where a distribution has its numbers: what is given outside, so that derivatives stay finite."""

from __future__ import annotations

from math import inf, nan
from typing import Any

from arrayport.core.array import Array
from arrayport.ops.elementwise import select
from arrayport.ops.structure import constant
from arrayport.scipy.arguments import floats


def standard(function: str, x: Any, loc: Any, scale: Any, *shape: Any) -> list[Array]:
    """Give (x - loc) / scale, scale, and the shape parameters, as floats of one dtype."""
    x, loc, scale, *rest = floats(function, x, loc, scale, *shape)
    return [(x - loc) / scale, scale, *rest]


def shifted(function: str, k: Any, loc: Any, *shape: Any) -> list[Array]:
    """Give k - loc and the shape parameters, as floats of one dtype."""
    k, loc, *rest = floats(function, k, loc, *shape)
    return [k - loc, *rest]


def within(x: Array, outside: Array, safe: float) -> Array:
    """Put a safe number in the place of x that is outside."""
    return select(outside, constant(safe, x), x)


def nothing(outside: Array, logarithm: Array) -> Array:
    """Give log-probabilities, -inf outside."""
    return select(outside, constant(-inf, logarithm), logarithm)


def above(x: Array, low: float) -> Array:
    """Limit x from below by the end of its support; NaN stays."""
    return within(x, x < low, low)


def between(x: Array, low: float, high: float) -> Array:
    """Limit x to its support; NaN stays."""
    return within(above(x, low), x > high, high)


def quantile(q: Array, value: Array) -> Array:
    """Give quantiles, NaN where q is no probability."""
    return select((q < 0) | (q > 1), constant(nan, value), value)
