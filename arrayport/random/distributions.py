"""Draws by the inverse of a distribution function, one uniform number a draw."""

from __future__ import annotations

from math import pi
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import shape_of
from arrayport.ops.bits import clz
from arrayport.ops.elementwise import abs as magnitude
from arrayport.ops.elementwise import exp, exp2, log, log1p, power, select, sign, sqrt, tan
from arrayport.ops.placement import no_sharding
from arrayport.ops.slices import static_slice
from arrayport.ops.structure import Shape, convert, full_like
from arrayport.random.arguments import bound, floating, parameters
from arrayport.random.keys import one_key
from arrayport.random.uniforms import bits, uniform

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


@unit("key")
def exponential(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw from the exponential distribution of rate 1. Source: ``jax.random.exponential``.

    >>> from arrayport import random
    >>> random.exponential(random.key(0), (4,)).shape
    (4,)
    """
    no_sharding(out_sharding, "exponential")
    return -log1p(-uniform(key, shape, floating(dtype, "exponential")))


@unit("key")
def gumbel(
    key: Any,
    shape: Any = (),
    dtype: Any = None,
    mode: str | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the standard Gumbel distribution. Source: ``jax.random.gumbel``.

    `mode`: "low" (the default), or "high" or "highest", for a tail that is finer at twice the cost.
    Raises ValueError for another.

    >>> from arrayport import random
    >>> random.gumbel(random.key(0), (4,)).shape
    (4,)
    """
    no_sharding(out_sharding, "gumbel")
    found = floating(dtype, "gumbel")
    size = shape_of(shape)
    if mode in {None, "low"}:
        return -log(-log(uniform(key, size, found, float(dtypes.finfo(found).tiny), 1.0)))
    if mode not in {"high", "highest"}:
        raise ValueError(f"gumbel: mode must be 'low', 'high' or 'highest', not {mode!r}")
    if mode == "highest" and found == dtypes.float32:
        below, small = _fixed_point(key, size)
        return -log(select(small, -log1p(-below), -log(below)))
    first, second = _halves(uniform(key, (2, *size), found))
    digits = dtypes.finfo(found).nmant
    least = max(2.0 ** -(2 * digits + 1), float(dtypes.finfo(found).tiny))
    fine = first + (2.0**-digits * second + least)
    return -log(-log1p(-select(first >= 0.5, first, fine)))


def _halves(x: Array) -> tuple[Array, Array]:
    rest = tuple((0, n, 1) for n in x.shape[1:])
    return static_slice(x, (0, *rest)), static_slice(x, (1, *rest))


def _fixed_point(key: Any, shape: Shape) -> tuple[Array, Array]:
    """Draw 64 bits below 1; give what is nearer, them or what they lack of 1, and which."""
    high, low = _halves(bits(key, (2, *shape), "uint32"))
    small = high < 2**31
    low_rest = ~low + 1
    high = select(small, high, ~high + convert(low_rest == 0, dtypes.uint32))
    low = select(small, low, low_rest)
    none = high == 0
    zeros = clz(select(none, low, high))
    shifted = select(none, low << zeros, high << zeros | low >> (32 - zeros))
    leading = convert(shifted >> 8, dtypes.float32)
    places = convert(zeros, dtypes.float32) + select(
        none, full_like(leading, 32), full_like(leading, 0)
    )
    return leading * exp2(-places - 24), small


@unit("key")
def cauchy(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw from the standard Cauchy distribution. Source: ``jax.random.cauchy``.

    >>> from arrayport import random
    >>> random.cauchy(random.key(0), (4,)).shape
    (4,)
    """
    no_sharding(out_sharding, "cauchy")
    found = floating(dtype, "cauchy")
    u = uniform(key, shape, found, float(dtypes.finfo(found).eps), 1.0)
    return tan(pi * (u - 0.5))


@unit("key")
def laplace(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw from the standard Laplace distribution. Source: ``jax.random.laplace``.

    >>> from arrayport import random
    >>> random.laplace(random.key(0), (4,)).shape
    (4,)
    """
    no_sharding(out_sharding, "laplace")
    found = floating(dtype, "laplace")
    u = uniform(key, shape, found, -1.0 + float(dtypes.finfo(found).epsneg), 1.0)
    return sign(u) * log1p(-magnitude(u))


@unit("key")
def logistic(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw from the standard logistic distribution. Source: ``jax.random.logistic``.

    >>> from arrayport import random
    >>> random.logistic(random.key(0), (4,)).shape
    (4,)
    """
    no_sharding(out_sharding, "logistic")
    found = floating(dtype, "logistic")
    u = uniform(key, shape, found, float(dtypes.finfo(found).tiny), 1.0)
    return log(u) - log1p(-u)


@unit("key", "b")
def pareto(
    key: Any, b: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw from Pareto's distribution of exponent b. Source: ``jax.random.pareto``.

    >>> from arrayport import random
    >>> random.pareto(random.key(0), 2.0, (4,)).shape
    (4,)
    """
    no_sharding(out_sharding, "pareto")
    key = one_key(key, "pareto")
    found = floating(dtype, "pareto")
    size, (exponent,) = parameters("pareto", key, shape, found, b)
    return exp(exponential(key, size, found) / exponent)


@unit("key", "scale")
def rayleigh(
    key: Any, scale: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw from Rayleigh's distribution. Source: ``jax.random.rayleigh``.

    >>> from arrayport import random
    >>> random.rayleigh(random.key(0), 1.0, (4,)).shape
    (4,)
    """
    no_sharding(out_sharding, "rayleigh")
    key = one_key(key, "rayleigh")
    found = floating(dtype, "rayleigh")
    size, (width,) = parameters("rayleigh", key, shape, found, scale)
    return width * sqrt(log(uniform(key, size, found)) * -2)


@unit("key", "left", "mode", "right")
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

    >>> from arrayport import random
    >>> random.triangular(random.key(0), 0.0, 0.5, 1.0, (4,)).shape
    (4,)
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


@unit("key", "scale", "concentration")
def weibull_min(
    key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None
) -> Array:
    """Draw from Weibull's distribution. Source: ``jax.random.weibull_min``.

    >>> from arrayport import random
    >>> random.weibull_min(random.key(0), 1.0, 2.0, (4,)).shape
    (4,)
    """
    key = one_key(key, "weibull_min")
    found = floating(dtype, "weibull_min")
    width, steepness = (bound(v, found, key) for v in (scale, concentration))
    rate = -log1p(-uniform(key, shape, found))
    return power(rate, 1.0 / steepness) * width
