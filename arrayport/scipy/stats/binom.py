"""The binomial distribution: how many of n trials succeed."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.ops.elementwise import exp
from arrayport.ops.special import lgamma, xlog1py, xlogy
from arrayport.scipy.stats.supports import nothing, shifted, within

__all__ = ["logpmf", "pmf"]


def logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """Give the logarithm of the probability of k. Source: ``jax.scipy.stats.binom.logpmf``.

    >>> from arrayport.scipy import stats
    >>> stats.binom.logpmf(1, 4, 0.5).round(3)
    Array(-1.386, dtype=float32, weak_type=True)
    """
    k, n, p = shifted("binom.logpmf", k, loc, n, p)
    outside = (k < 0) | (k > n)
    k = within(k, outside, 0)
    ways = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
    return nothing(outside, ways + xlogy(k, p) + xlog1py(n - k, -p))


def pmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """Give the probability of k. Source: ``jax.scipy.stats.binom.pmf``.

    >>> from arrayport.scipy import stats
    >>> stats.binom.pmf(1, 4, 0.5).round(3)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return exp(logpmf(k, n, p, loc))
