"""Draws from the gamma distribution and what is made of it."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

from arrayport.control.custom_jvp import custom_jvp
from arrayport.control.jit import jit
from arrayport.control.loops import while_loop
from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import shape_of
from arrayport.ops import random as bits_of
from arrayport.ops.elementwise import abs as magnitude
from arrayport.ops.elementwise import exp, log, maximum, power, select, sqrt
from arrayport.ops.placement import no_sharding
from arrayport.ops.reductions import reduce_max
from arrayport.ops.special import random_gamma_grad
from arrayport.ops.structure import Shape, broadcast_to, full_like, reduce_sum, reshape
from arrayport.random.arguments import DType, bound, fitting, floating, parameters
from arrayport.random.distributions import exponential
from arrayport.random.keys import one_key
from arrayport.random.normals import normal
from arrayport.random.uniforms import rademacher, uniform
from arrayport.transforms.batching import vmap

__all__ = ["ball", "beta", "chisquare", "dirichlet", "f", "gamma", "generalized_normal"]
__all__ += ["loggamma", "t"]

# ---- one number by rejection


def _one(words: Array, a: Array, log_space: bool) -> Array:
    """Draw one gamma number by the method of Marsaglia and Tsang (2000).

    It takes a >= 1; below, Gamma(a) is Gamma(a + 1) U^(1 / a), in logarithms where a is so small
    that the power would underflow.
    """
    large = a >= 1
    d = select(large, a, a + 1) - 1 / 3
    c = (1 / 3) / sqrt(d)
    words, last = bits_of.two_keys(words)

    def proposed(words: Array) -> tuple[Array, Array]:
        """Draw x normal until v = 1 + c x is positive; give x squared and v cubed."""

        def again(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            rest, own = bits_of.two_keys(state[0])
            x = normal(own, (), a.dtype)
            return rest, x, 1 + x * c

        start = words, full_like(a, 0), full_like(a, -1)
        _, x, v = while_loop(lambda state: state[2] <= 0, again, start)
        return x * x, v * v * v

    def rejected(state: tuple[Array, ...]) -> Array:
        _, x2, v, u = state
        return (u >= 1 - 0.0331 * (x2 * x2)) & (log(u) >= x2 * 0.5 + d * ((1 - v) + log(v)))

    def draw(state: tuple[Array, ...]) -> tuple[Array, ...]:
        three = bits_of.split_key(state[0], (3,))
        return three[0], *proposed(three[1]), uniform(three[2], (), a.dtype)

    start = words, full_like(a, 0), full_like(a, 1), full_like(a, 2)
    v = while_loop(rejected, draw, start)[2]
    if log_space:
        boost = -exponential(last, (), a.dtype)
        boost = select(large | (boost == 0), full_like(a, 0), boost * (1 / a))
        return log(d) + log(v) + boost
    boost = power(1 - uniform(last, (), a.dtype), 1 / a)
    return d * v * select(large, full_like(a, 1), boost)


@partial(jit, static_argnums=2)
def _many(words: Array, a: Array, log_space: bool) -> Array:
    keys = bits_of.split_key(words, (prod(a.shape),))
    draws = vmap(lambda key, a: _one(key, a, log_space))(keys, reshape(a, (prod(a.shape),)))
    return reshape(draws, a.shape)


@custom_jvp
def _gamma(words: Array, a: Array) -> Array:
    return _many(words, a, False)


@_gamma.defjvp
def _gamma_jvp(primals: tuple[Array, Array], tangents: tuple[Any, Array]) -> Any:
    words, a = primals
    draws = _gamma(words, a)
    return draws, tangents[1] * random_gamma_grad(a, draws)


@custom_jvp
def _loggamma(words: Array, a: Array) -> Array:
    return _many(words, a, True)


@_loggamma.defjvp
def _loggamma_jvp(primals: tuple[Array, Array], tangents: tuple[Any, Array]) -> Any:
    words, a = primals
    logs = _loggamma(words, a)
    draws = maximum(exp(logs), float(dtypes.finfo(a.dtype).tiny))
    return logs, tangents[1] * (random_gamma_grad(a, draws) / draws)


def _exact(name: str, method: str) -> None:
    """Refuse another method."""
    if method != "exact":
        raise ValueError(f"{name}: method={method!r} is not available, only 'exact'")


def _drawn(
    name: str, key: Any, a: Any, shape: Any, dtype: Any, method: str, log_space: bool
) -> Array:
    _exact(name, method)
    words = one_key(key, name)
    found = floating(dtype, name)
    _, (alpha,) = parameters(name, words, shape, found, a)
    return _loggamma(words, alpha) if log_space else _gamma(words, alpha)


# ---- distributions


@unit("key", "a")
def gamma(
    key: Any,
    a: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw from the gamma distribution of shape a > 0 and scale 1, differentiable in a.

    `shape`: that of a unless given. Raises ValueError for a method other than "exact". Source:
    ``jax.random.gamma``.

    >>> from arrayport import random
    >>> random.gamma(random.PRNGKey(0), 2.0, (1000,)).mean().round()
    Array(2., dtype=float32)
    """
    no_sharding(out_sharding, "gamma")
    return _drawn("gamma", key, a, shape, dtype, method, log_space=False)


@unit("key", "a")
def loggamma(
    key: Any,
    a: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw the logarithm of gamma numbers, finite for the smallest a; the rest is as in `gamma`.

    Source: ``jax.random.loggamma``.

    >>> from arrayport import random
    >>> random.loggamma(random.key(0), 2.0, (4,)).shape
    (4,)
    """
    no_sharding(out_sharding, "loggamma")
    return _drawn("loggamma", key, a, shape, dtype, method, log_space=True)


@unit("key", "a", "b")
def beta(
    key: Any,
    a: Any,
    b: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw from the beta distribution. Source: ``jax.random.beta``.

    >>> from arrayport import random
    >>> random.beta(random.key(0), 2.0, 3.0, (4,)).shape
    (4,)
    """
    no_sharding(out_sharding, "beta")
    _exact("beta", method)
    key = one_key(key, "beta")
    found = floating(dtype, "beta")
    size, both = parameters("beta", key, shape, found, a, b)
    first, second = (
        loggamma(k, p, size, found) for k, p in zip(bits_of.two_keys(key), both, strict=True)
    )
    most = maximum(first, second)
    x, y = exp(first - most), exp(second - most)
    return x / (x + y)


@unit("key", "df")
def chisquare(
    key: Any,
    df: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw from the chi-square distribution. Source: ``jax.random.chisquare``.

    >>> from arrayport import random
    >>> random.chisquare(random.key(0), 3.0, shape=(4,)).shape
    (4,)
    """
    no_sharding(out_sharding, "chisquare")
    _exact("chisquare", method)
    key = one_key(key, "chisquare")
    found = floating(dtype, "chisquare")
    size, (freedom,) = parameters("chisquare", key, shape, found, df)
    return exp(loggamma(key, freedom / 2, size, found)) * 2


@unit("key", "dfnum", "dfden")
def f(
    key: Any,
    dfnum: Any,
    dfden: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from Fisher's F distribution. Source: ``jax.random.f``.

    >>> from arrayport import random
    >>> random.f(random.key(0), 3.0, 4.0, (4,)).shape
    (4,)
    """
    no_sharding(out_sharding, "f")
    key = one_key(key, "f")
    found = floating(dtype, "f")
    size, (above, below) = parameters("f", key, shape, found, dfnum, dfden)
    second, first = bits_of.two_keys(key)
    x = chisquare(first, above, size, found) / above
    return x / (chisquare(second, below, size, found) / below)


@unit("key", "df")
def t(
    key: Any, df: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw from Student's t distribution. Source: ``jax.random.t``.

    >>> from arrayport import random
    >>> random.t(random.key(0), 3.0, (4,)).shape
    (4,)
    """
    no_sharding(out_sharding, "t")
    key = one_key(key, "t")
    found = floating(dtype, "t")
    size, (freedom,) = parameters("t", key, shape, found, df)
    first, second = bits_of.two_keys(key)
    half = freedom / 2
    return normal(first, size, found) * sqrt(half / gamma(second, half, size, found))


@unit("key", "alpha")
def dirichlet(
    key: Any, alpha: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw vectors of positive numbers that sum to 1; `shape` is without their axis.

    Raises ValueError for an alpha of no axis. Source: ``jax.random.dirichlet``.

    >>> from arrayport import random
    >>> import arrayport.numpy as anp
    >>> random.dirichlet(random.key(0), anp.ones(2)).shape
    (2,)
    """
    no_sharding(out_sharding, "dirichlet")
    key = one_key(key, "dirichlet")
    found = floating(dtype, "dirichlet")
    weights = bound(alpha, found, key)
    if not weights.shape:
        raise ValueError("dirichlet: alpha must have an axis, it is a scalar")
    size: Shape = fitting(shape, "dirichlet", weights.shape[:-1]) + weights.shape[-1:]
    logs = loggamma(key, weights, size, found)
    last = (len(size) - 1,)
    parts = exp(logs - reduce_max(logs, last)[..., None])
    return parts / reduce_sum(parts, last)[..., None]


@unit("key", "p")
def generalized_normal(
    key: Any, p: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw with the density exp(-|x|^p), up to a factor.

    Source: ``jax.random.generalized_normal``.

    >>> from arrayport import random
    >>> random.generalized_normal(random.key(0), 2.0, (4,)).shape
    (4,)
    """
    no_sharding(out_sharding, "generalized_normal")
    key = one_key(key, "generalized_normal")
    found = floating(dtype, "generalized_normal")
    exponent = 1 / bound(p, found, key)
    first, second = bits_of.two_keys(key)
    size = shape_of(shape)
    signs = rademacher(second, size, found)
    return signs * power(gamma(first, exponent, size, found), _spread(exponent, size))


def ball(
    key: Any,
    d: int,
    p: Any = 2,
    shape: Any = (),
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the unit ball of the p-norm in d dimensions, uniformly.

    Source: ``jax.random.ball``.

    >>> from arrayport import random
    >>> random.ball(random.key(0), 3).shape
    (3,)
    """
    no_sharding(out_sharding, "ball")
    key = one_key(key, "ball")
    found: DType = floating(dtype, "ball")
    power_of = bound(p, found, key)
    first, second = bits_of.two_keys(key)
    size = shape_of(shape)
    x = generalized_normal(first, power_of, (*size, d), found)
    lengths = reduce_sum(power(magnitude(x), _spread(power_of, x.shape)), (len(size),))
    total = lengths + exponential(second, size, found)
    return x / power(total, _spread(1 / power_of, size))[..., None]


def _spread(x: Array, shape: Shape) -> Array:
    return broadcast_to(x, shape) if x.shape != shape else x
