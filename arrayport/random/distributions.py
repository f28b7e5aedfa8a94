"""Draws by the inverse of a distribution function, one uniform number a draw."""

from __future__ import annotations

from math import pi
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.ops.elementwise import abs as magnitude
from arrayport.ops.elementwise import exp, log1p, power, select, sign, sqrt, tan
from arrayport.ops.elementwise import log as logarithm
from arrayport.random.arguments import bound, floating, no_sharding, parameters
from arrayport.random.keys import one_key
from arrayport.random.uniforms import uniform

__all__ = [
    "cauchy",
    "exponential",
    "gumbel",
    "laplace",
    "logistic",
    "pareto",
    "rayleigh",
    "triangular",
    "weibull_min",
]


def exponential(key: Any, shape: Any = (), dtype: Any = None) -> Array:
    """Draw from the exponential distribution of rate 1. Source: ``jax.random.exponential``."""
    return -log1p(-uniform(key, shape, floating(dtype, "exponential")))


def gumbel(key: Any, shape: Any = (), dtype: Any = None, mode: str | None = None) -> Array:
    """Draw from the standard Gumbel distribution. Source: ``jax.random.gumbel``.

    Raises ValueError for a mode other than "low".
    """
    if mode not in {None, "low"}:
        raise ValueError(f"gumbel: mode {mode!r} is not available, only 'low'")
    found = floating(dtype, "gumbel")
    tiny = dtypes.finfo(found).tiny
    return -logarithm(-logarithm(uniform(key, shape, found, tiny, 1)))


def cauchy(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw from the standard Cauchy distribution. Source: ``jax.random.cauchy``."""
    no_sharding(out_sharding, "cauchy")
    found = floating(dtype, "cauchy")
    u = uniform(key, shape, found, float(dtypes.finfo(found).eps), 1.0)
    return tan(pi * (u - 0.5))


def laplace(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw from the standard Laplace distribution. Source: ``jax.random.laplace``."""
    no_sharding(out_sharding, "laplace")
    found = floating(dtype, "laplace")
    u = uniform(key, shape, found, -1.0 + float(dtypes.finfo(found).epsneg), 1.0)
    return sign(u) * log1p(-magnitude(u))


def logistic(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw from the standard logistic distribution. Source: ``jax.random.logistic``."""
    no_sharding(out_sharding, "logistic")
    found = floating(dtype, "logistic")
    u = uniform(key, shape, found, float(dtypes.finfo(found).tiny), 1.0)
    return logarithm(u) - log1p(-u)


def pareto(
    key: Any, b: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw from Pareto's distribution of exponent b. Source: ``jax.random.pareto``."""
    no_sharding(out_sharding, "pareto")
    key = one_key(key, "pareto")
    found = floating(dtype, "pareto")
    size, (exponent,) = parameters("pareto", key, shape, found, b)
    return exp(exponential(key, size, found) / exponent)


def rayleigh(
    key: Any, scale: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw from Rayleigh's distribution. Source: ``jax.random.rayleigh``."""
    no_sharding(out_sharding, "rayleigh")
    key = one_key(key, "rayleigh")
    found = floating(dtype, "rayleigh")
    size, (width,) = parameters("rayleigh", key, shape, found, scale)
    return width * sqrt(logarithm(uniform(key, size, found)) * -2)


def triangular(
    key: Any,
    left: Any,
    mode: Any,
    right: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the triangle over [left, right] with its top at mode.

    Source: ``jax.random.triangular``.
    """
    no_sharding(out_sharding, "triangular")
    key = one_key(key, "triangular")
    found = floating(dtype, "triangular")
    size, (low, top, high) = parameters("triangular", key, shape, found, left, mode, right)
    width = high - low
    u = uniform(key, size, found)
    rising = low + sqrt(u * width * (top - low))
    falling = high - sqrt((1 - u) * width * (high - top))
    return select(u < (top - low) / width, rising, falling)


def weibull_min(
    key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None
) -> Array:
    """Draw from Weibull's distribution. Source: ``jax.random.weibull_min``."""
    key = one_key(key, "weibull_min")
    found = floating(dtype, "weibull_min")
    width, steepness = (bound(v, found, key) for v in (scale, concentration))
    rate = -log1p(-uniform(key, shape, found))
    return power(rate, 1.0 / steepness) * width
