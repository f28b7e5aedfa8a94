"""The Bernoulli distribution: 1 with probability p, else 0."""

from __future__ import annotations

from math import nan
from typing import Any

from arrayport.core.array import Array
from arrayport.numpy.questions import isnan
from arrayport.ops.elementwise import exp, select
from arrayport.ops.special import xlog1py, xlogy
from arrayport.ops.structure import constant
from arrayport.scipy.arguments import floats
from arrayport.scipy.stats.supports import nothing, quantile, shifted, within

__all__ = ["cdf", "logpmf", "pmf", "ppf"]


def logpmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """Give the logarithm of the probability of k. Source: ``jax.scipy.stats.bernoulli.logpmf``.

    >>> from arrayport.scipy import stats
    >>> stats.bernoulli.logpmf(1, 0.25).round(3)
    Array(-1.386, dtype=float32, weak_type=True)
    """
    k, p = shifted("bernoulli.logpmf", k, loc, p)
    outside = (k < 0) | (k > 1)
    k = within(k, outside, 0)
    return nothing(outside, xlogy(k, p) + xlog1py(1 - k, -p))


def pmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """Give the probability of k. Source: ``jax.scipy.stats.bernoulli.pmf``.

    >>> from arrayport.scipy import stats
    >>> stats.bernoulli.pmf(1, 0.25).round(3)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return exp(logpmf(k, p, loc))


def cdf(k: Any, p: Any) -> Array:
    """Give the probability at or below k. Source: ``jax.scipy.stats.bernoulli.cdf``.

    >>> from arrayport.scipy import stats
    >>> stats.bernoulli.cdf(0.0, 0.25)
    Array(0.75, dtype=float32, weak_type=True)
    """
    k, p = floats("bernoulli.cdf", k, p)
    value = select(k < 0, constant(0, p), select(k < 1, 1 - p, constant(1, p)))
    return _possible(p, select(isnan(k), k, value))


def ppf(q: Any, p: Any) -> Array:
    """Give the quantile; outside 0 to 1 NaN. Source: ``jax.scipy.stats.bernoulli.ppf``.

    >>> from arrayport.scipy import stats
    >>> stats.bernoulli.ppf(0.75, 0.25).round(3)
    Array(0., dtype=float32, weak_type=True)
    """
    q, p = floats("bernoulli.ppf", q, p)
    value = select(q <= 1 - p, constant(0, q), constant(1, q))
    return quantile(q, _possible(p, select(isnan(q), q, value)))


def _possible(p: Array, value: Array) -> Array:
    return select((p >= 0) & (p <= 1), value, constant(nan, value))
