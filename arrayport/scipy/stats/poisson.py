"""The Poisson distribution with mean mu."""

from __future__ import annotations

from math import nan, pi
from typing import Any

from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.questions import isnan
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import equal, exp, floor, log, not_equal, select
from arrayport.ops.special import igammac, lgamma, xlogy
from arrayport.ops.structure import constant, reduce_sum, reshape
from arrayport.scipy.arguments import floats
from arrayport.scipy.stats.supports import nothing, shifted, within

__all__ = ["cdf", "entropy", "logpmf", "pmf"]

LARGE = {8: 100, 4: 25}  # means from which a series is exact to 1e-11 and 1e-7, by width
TERMS = 256  # probabilities that are not negligible up to that mean


def logpmf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """Give the logarithm of the probability of k. Source: ``jax.scipy.stats.poisson.logpmf``.

    >>> from arrayport.scipy import stats
    >>> stats.poisson.logpmf(1, 2.0).round(3)
    Array(-1.307, dtype=float32, weak_type=True)
    """
    k, mu = shifted("poisson.logpmf", k, loc, mu)
    outside = (k < 0) | not_equal(k, floor(k)) & ~isnan(k)
    k = within(k, outside, 0)
    return nothing(outside, xlogy(k, mu) - lgamma(k + 1) - mu)


def pmf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """Give the probability of k. Source: ``jax.scipy.stats.poisson.pmf``.

    >>> from arrayport.scipy import stats
    >>> stats.poisson.pmf(1, 2.0).round(3)
    Array(0.271, dtype=float32, weak_type=True)
    """
    return exp(logpmf(k, mu, loc))


def cdf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """Give the probability at or below k. Source: ``jax.scipy.stats.poisson.cdf``.

    >>> from arrayport.scipy import stats
    >>> stats.poisson.cdf(0.0, 1.0)
    Array(0.36787945, dtype=float32, weak_type=True)
    """
    k, mu = shifted("poisson.cdf", k, loc, mu)
    outside = k < 0
    value = igammac(floor(within(k, outside, 0)) + 1, mu)
    return select(outside, constant(0, value), value)


@unit("mu", "loc")
def entropy(mu: Any, loc: Any = 0) -> Array:
    """Give the entropy in nats. Source: ``jax.scipy.stats.poisson.entropy``.

    >>> from arrayport.scipy import stats
    >>> stats.poisson.entropy(2.0).round(3)
    Array(1.705, dtype=float32)
    """
    mu, _ = floats("poisson.entropy", mu, loc)
    least = LARGE.get(mu.dtype.itemsize, LARGE[4])
    large = mu >= least
    small = within(mu, large | (mu <= 0), 1)
    counts = reshape(iota_like(small, small.dtype, 0, (TERMS,)), (TERMS,) + (1,) * len(small.shape))
    logs = xlogy(counts, small) - lgamma(counts + 1) - small
    exact = -reduce_sum(exp(logs) * logs, (0,))
    u = 1 / within(mu, ~large, least)
    series = u * (1 / 12 + u * (1 / 24 + u * (19 / 360 + u * (9 / 80))))
    found = select(large, (1 + log(2 * pi / u)) / 2 - series, exact)
    found = select(equal(mu, 0), constant(0, found), found)
    return select(mu >= 0, found, constant(nan, found))
