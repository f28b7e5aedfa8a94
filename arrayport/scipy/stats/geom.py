"""The geometric distribution: the number of the first trial that succeeds."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.ops.elementwise import exp, log
from arrayport.ops.special import xlog1py
from arrayport.scipy.stats.supports import nothing, shifted, within

__all__ = ["logpmf", "pmf"]


def logpmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """Give the logarithm of the probability of k. Source: ``jax.scipy.stats.geom.logpmf``.

    >>> from arrayport.scipy import stats
    >>> stats.geom.logpmf(2, 0.5).round(3)
    Array(-1.386, dtype=float32, weak_type=True)
    """
    k, p = shifted("geom.logpmf", k, loc, p)
    outside = k <= 0
    return nothing(outside, xlog1py(within(k, outside, 1) - 1, -p) + log(p))


def pmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """Give the probability of k. Source: ``jax.scipy.stats.geom.pmf``.

    >>> from arrayport.scipy import stats
    >>> stats.geom.pmf(2, 0.5).round(3)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return exp(logpmf(k, p, loc))
