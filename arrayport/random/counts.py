"""Draws of counts: Poisson, binomial, multinomial, geometric."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, nan
from typing import Any

from arrayport.control.jit import jit
from arrayport.control.loops import while_loop
from arrayport.control.scanning import scan
from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.trace import backend_of
from arrayport.core.units import unit
from arrayport.numpy.questions import isinf, isnan
from arrayport.ops import random as bits_of
from arrayport.ops.elementwise import abs as magnitude
from arrayport.ops.elementwise import ceil, clamp, floor, log, log1p, select, sqrt
from arrayport.ops.placement import no_sharding
from arrayport.ops.promotion import inexact, lift
from arrayport.ops.reductions import cumsum, reduce_or
from arrayport.ops.special import lgamma
from arrayport.ops.structure import broadcast_to, convert, full_like, move_axis
from arrayport.random.arguments import (
    DType,
    bound,
    fitting,
    floating,
    integral,
    parameters,
)
from arrayport.random.keys import one_key
from arrayport.random.uniforms import uniform

__all__ = ["binomial", "geometric", "multinomial", "poisson"]

# ---- by waiting times, where few are expected


def _arrivals(words: Array, rate: Array) -> Array:
    """Count draws whose product stays above exp(-rate): Poisson numbers, by Knuth's method."""

    def again(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        words, count, product = state
        words, own = bits_of.two_keys(words)
        count = select(product > -rate, count + 1, count)
        return words, count, product + log(uniform(own, rate.shape, rate.dtype))

    start = words, full_like(rate, 0), full_like(rate, 0)
    return while_loop(lambda state: reduce_or(state[2] > -rate), again, start)[1] - 1


def _gaps(words: Array, n: Array, p: Array) -> Array:
    """Count geometric gaps that fit n trials: binomial numbers."""
    scale = log1p(-p)

    def again(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        words, count, spent = state
        own, words = bits_of.two_keys(words)
        count = select(spent <= n, count + 1, count)
        return words, count, spent + ceil(log(uniform(own, p.shape, p.dtype)) / scale)

    start = words, full_like(p, 0), full_like(p, 0)
    return while_loop(lambda state: reduce_or(state[2] <= n), again, start)[1] - 1


# ---- by rejection, where many are: the transformed rejection of Hörmann (1993)


def _accepted(
    words: Array,
    like: Array,
    squeeze: Array,
    propose: Callable[[Array, Array], Array],
    likely: Callable[[Array, Array, Array], Array],
) -> Array:
    """Draw until all are accepted; one that is keeps its number while others are drawn again."""

    def again(state: tuple[Array, ...]) -> tuple[Array, ...]:
        words, kept, done = state
        three = bits_of.split_key(words, (3,))
        u = uniform(three[1], like.shape, like.dtype) - 0.5
        v = uniform(three[2], like.shape, like.dtype)
        edge = 0.5 - magnitude(u)
        k = propose(u, edge)
        good = ((edge >= 0.07) & (v <= squeeze)) | likely(k, edge, v)
        return three[0], select(good, k, kept), done | good

    start = words, full_like(like, -1), like < like  # noqa: PLR0124 - False for each
    return while_loop(lambda state: reduce_or(~state[2]), again, start)[1]


def _many_arrivals(words: Array, rate: Array) -> Array:
    """Draw Poisson numbers of rates of 10 and more."""
    b = 0.931 + 2.53 * sqrt(rate)
    a = -0.059 + 0.02483 * b
    scale = 1.1239 + 1.1328 / (b - 3.4)

    def propose(u: Array, edge: Array) -> Array:
        return floor((2 * a / edge + b) * u + rate + 0.43)

    def likely(k: Array, edge: Array, v: Array) -> Array:
        outside = (k < 0) | ((edge < 0.013) & (v > edge))
        height = log(v * scale / (a / (edge * edge) + b))
        return ~outside & (height <= k * log(rate) - rate - lgamma(k + 1))

    return _accepted(words, rate, 0.9277 - 3.6224 / (b - 2), propose, likely)


def _many_hits(words: Array, n: Array, p: Array) -> Array:
    """Draw binomial numbers of n p of 10 and more, p up to 1/2."""
    spread = sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    scale = (2.83 + 5.1 / b) * spread
    odds = p / (1 - p)
    mode = floor((n + 1) * p)
    top = lgamma(mode + 1) + lgamma(n - mode + 1)

    def propose(u: Array, edge: Array) -> Array:
        return floor((2 * a / edge + b) * u + n * p + 0.5)

    def likely(k: Array, edge: Array, v: Array) -> Array:
        outside = (k < 0) | (k > n)
        height = log(v * scale / (a / (edge * edge) + b))
        inside = clamp(full_like(k, 0), k, n)
        terms = lgamma(inside + 1) + lgamma(n - inside + 1)
        return ~outside & (height <= top - terms + (inside - mode) * log(odds))

    return _accepted(words, p, 0.92 - 4.2 / b, propose, likely)


# ---- distributions


@partial(jit, static_argnums=2)
def _poisson(words: Array, rate: Array, dtype: DType) -> Array:
    few = (rate < 10) | isnan(rate)
    low = _arrivals(words, select(few, rate, full_like(rate, 0)))
    high = _many_arrivals(words, select(few, full_like(rate, 1e5), rate))
    return convert(select(rate == 0, full_like(rate, 0), select(few, low, high)), dtype)


@unit("key", "lam")
def poisson(
    key: Any,
    lam: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw Poisson numbers of rates `lam`; a NaN rate gives -1.

    Raises ValueError for a dtype that is no integer and a method other than "exact". Source:
    ``jax.random.poisson``.

    >>> from arrayport import random
    >>> random.poisson(random.PRNGKey(0), 3.0, (1000,)).mean().round()
    Array(3., dtype=float32)
    """
    no_sharding(out_sharding, "poisson")
    if method != "exact":
        raise ValueError(f"poisson: method={method!r} is not available, only 'exact'")
    words = one_key(key, "poisson")
    found = integral(dtype, "poisson")
    _, (rate,) = parameters("poisson", words, shape, dtypes.float32, lam)
    return _poisson(words, rate, found)


@jit
def _binomial(words: Array, n: Array, p: Array) -> Array:
    flipped = ~(p < 0.5)
    q = select(flipped, 1 - p, p)
    wrong = isnan(p) | (q < 0) | isnan(n) | (n < 0)
    endless = isinf(n) & ~wrong
    q = select(wrong, full_like(q, 0.01), q)
    n = select(wrong | endless, full_like(n, 0), floor(n))
    few = n * q <= 10
    low = _gaps(words, select(few, n, full_like(n, 0)), q)
    high = _many_hits(words, select(few, full_like(n, 1e4), n), select(few, full_like(q, 0.5), q))
    hits = select(few, low, high)
    hits = select(flipped, n - hits, hits)
    return select(wrong, full_like(n, nan), select(endless, full_like(n, inf), hits))


@unit("key", "n", "p")
def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Draw numbers of hits in n trials of probability p, as floats; NaN for what is neither.

    Source: ``jax.random.binomial``.

    >>> from arrayport import random
    >>> random.binomial(random.PRNGKey(0), 10, 0.5, (1000,)).mean().round()
    Array(5., dtype=float32)
    """
    words = one_key(key, "binomial")
    found = floating(dtype, "binomial")
    chance = inexact(lift(p, backend_of(words), "the probability p"))
    _, (trials, chances) = parameters("binomial", words, shape, chance.dtype, n, chance)
    return convert(_binomial(words, trials, chances), found)


def multinomial(
    key: Any,
    n: Any,
    p: Any,
    *,
    shape: Any = None,
    dtype: Any = None,
    unroll: int | bool = 1,
) -> Array:
    """Draw how often each of k outcomes of probabilities p (..., k) happens in n trials.

    `shape` is without the axis of outcomes. Source: ``jax.random.multinomial``.

    >>> from arrayport import random
    >>> import arrayport.numpy as anp
    >>> random.multinomial(random.key(0), 10, anp.array([0.5, 0.5])).sum()
    Array(10., dtype=float32)
    """
    words = one_key(key, "multinomial")
    found = floating(dtype, "multinomial")
    chances = bound(p, found, words)
    if not chances.shape:
        raise ValueError("multinomial: p must have an axis of outcomes, it is a scalar")
    trials = bound(n, found, words)
    size = fitting(shape, "multinomial", trials.shape, chances.shape[:-1])
    trials = broadcast_to(trials, size)
    chances = move_axis(broadcast_to(chances, (*size, chances.shape[-1])), len(size), 0)
    rest = cumsum(chances, 0, reverse=True)
    ratios = chances / select(rest == 0, full_like(rest, 1), rest)

    def draw(left: Array, given: tuple[Array, Array]) -> tuple[Array, Array]:
        ratio, own = given
        hits = binomial(own, left, clamp(full_like(ratio, 0), ratio, full_like(ratio, 1)))
        return left - hits, hits

    keys = bits_of.split_key(words, (ratios.shape[0],))
    _, counts = scan(draw, trials, (ratios, keys), unroll=unroll)
    return move_axis(counts, 0, len(size))


@unit("key", "p")
def geometric(
    key: Any, p: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw the number of the first hit, in trials of probability p.

    Source: ``jax.random.geometric``.

    >>> from arrayport import random
    >>> random.geometric(random.PRNGKey(0), 0.5, (1000,)).min()
    Array(1, dtype=int32)
    """
    no_sharding(out_sharding, "geometric")
    words = one_key(key, "geometric")
    found = integral(dtype, "geometric")
    chance = inexact(lift(p, backend_of(words), "the probability p"))
    size, (chances,) = parameters("geometric", words, shape, chance.dtype, chance)
    u = uniform(words, size, chance.dtype)
    u = select(u == 0, full_like(u, 1), u)
    return convert(floor(log(u) / log1p(-chances)) + 1, found)
