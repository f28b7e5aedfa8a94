"""The binomial distribution whose probability is beta-distributed."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.ops.elementwise import exp, log1p
from arrayport.ops.special import betaln
from arrayport.scipy.stats.supports import nothing, shifted, within

__all__ = ["logpmf", "pmf"]


@unit("k", "n", "a", "b", "loc")
def logpmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Array:
    """Give the logarithm of the probability of k. Source: ``jax.scipy.stats.betabinom.logpmf``.

    >>> from arrayport.scipy import stats
    >>> stats.betabinom.logpmf(1, 4, 2.0, 3.0).round(3)
    Array(-1.253, dtype=float32, weak_type=True)
    """
    k, n, a, b = shifted("betabinom.logpmf", k, loc, n, a, b)
    outside = (k < 0) | (k > n)
    k = within(k, outside, 0)
    ways = -log1p(n) - betaln(n - k + 1, k + 1)
    return nothing(outside, ways + betaln(k + a, n - k + b) - betaln(a, b))


@unit("k", "n", "a", "b", "loc")
def pmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Array:
    """Give the probability of k. Source: ``jax.scipy.stats.betabinom.pmf``.

    >>> from arrayport.scipy import stats
    >>> stats.betabinom.pmf(1, 4, 2.0, 3.0).round(3)
    Array(0.286, dtype=float32, weak_type=True)
    """
    return exp(logpmf(k, n, a, b, loc))
