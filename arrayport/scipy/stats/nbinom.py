"""The negative binomial distribution: failures before the nth success."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.ops.elementwise import exp
from arrayport.ops.special import lgamma, xlog1py, xlogy
from arrayport.scipy.stats.supports import nothing, shifted, within

__all__ = ["logpmf", "pmf"]


def logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """Give the logarithm of the probability of k. Source: ``jax.scipy.stats.nbinom.logpmf``.

    >>> from arrayport.scipy import stats
    >>> stats.nbinom.logpmf(1, 2, 0.5).round(3)
    Array(-1.386, dtype=float32, weak_type=True)
    """
    k, n, p = shifted("nbinom.logpmf", k, loc, n, p)
    outside = k < 0
    k = within(k, outside, 0)
    ways = lgamma(k + n) - lgamma(n) - lgamma(k + 1)
    return nothing(outside, ways + xlogy(n, p) + xlog1py(k, -p))


def pmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """Give the probability of k. Source: ``jax.scipy.stats.nbinom.pmf``.

    >>> from arrayport.scipy import stats
    >>> stats.nbinom.pmf(1, 2, 0.5).round(3)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return exp(logpmf(k, n, p, loc))
