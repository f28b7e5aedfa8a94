"""The multinomial distribution: how n trials fall into classes with probabilities p."""

from __future__ import annotations

from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.numpy.arguments import together
from arrayport.ops.elementwise import exp, not_equal
from arrayport.ops.promotion import promote_inexact
from arrayport.ops.special import lgamma, xlogy
from arrayport.scipy.stats.supports import nothing

__all__ = ["logpmf", "pmf"]


def logpmf(x: Any, n: Any, p: Any) -> Array:
    """Give the logarithm of the probability of counts x, of shape (..., k), which add up to n.

    p has shape (..., k). Raises TypeError unless x and n are integers. Source:
    ``jax.scipy.stats.multinomial.logpmf``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy import stats
    >>> stats.multinomial.pmf(anp.array([1, 1]), 2, anp.array([0.5, 0.5]))
    Array(0.5, dtype=float32)
    """
    x, n, p = together(x, n, p)
    if not (dtypes.is_integer(x.dtype) and dtypes.is_integer(n.dtype)):
        raise TypeError(f"multinomial counts in integers, not {x.dtype} and {n.dtype}")
    outside = not_equal(x.sum(-1), n)
    counts, trials, p = promote_inexact((x, n, p))
    if counts.shape != p.shape:
        counts, p = counts + 0 * p, p + 0 * counts
    return nothing(outside, lgamma(trials + 1) + (xlogy(counts, p) - lgamma(counts + 1)).sum(-1))


def pmf(x: Any, n: Any, p: Any) -> Array:
    """Give the probability of counts x. Source: ``jax.scipy.stats.multinomial.pmf``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy import stats
    >>> stats.multinomial.pmf(anp.array([1, 2]), 3, anp.array([0.25, 0.75])).round(3)
    Array(0.422, dtype=float32)
    """
    return exp(logpmf(x, n, p))
