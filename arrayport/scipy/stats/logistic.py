"""The logistic distribution."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.numpy.elementwise import logaddexp
from arrayport.ops.elementwise import exp, log
from arrayport.ops.elementwise import logistic as sigmoid
from arrayport.ops.special import logit
from arrayport.scipy.arguments import floats
from arrayport.scipy.stats.supports import standard

__all__ = ["cdf", "isf", "logpdf", "pdf", "ppf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of the density. Source: ``jax.scipy.stats.logistic.logpdf``.

    >>> from arrayport.scipy import stats
    >>> stats.logistic.logpdf(1.0).round(3)
    Array(-1.627, dtype=float32, weak_type=True)
    """
    y, scale = standard("logistic.logpdf", x, loc, scale)
    return logaddexp(y / 2, y / -2) * -2 - log(scale)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the density. Source: ``jax.scipy.stats.logistic.pdf``.

    >>> from arrayport.scipy import stats
    >>> stats.logistic.pdf(1.0).round(3)
    Array(0.197, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability below x. Source: ``jax.scipy.stats.logistic.cdf``.

    >>> from arrayport.scipy import stats
    >>> stats.logistic.cdf(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return sigmoid(standard("logistic.cdf", x, loc, scale)[0])


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability above x. Source: ``jax.scipy.stats.logistic.sf``.

    >>> from arrayport.scipy import stats
    >>> stats.logistic.sf(1.0).round(3)
    Array(0.269, dtype=float32, weak_type=True)
    """
    return sigmoid(-standard("logistic.sf", x, loc, scale)[0])


def ppf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the quantile; outside 0 to 1 NaN. Source: ``jax.scipy.stats.logistic.ppf``.

    >>> from arrayport.scipy import stats
    >>> stats.logistic.ppf(0.75).round(3)
    Array(1.099, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("logistic.ppf", x, loc, scale)
    return logit(x) * scale + loc


def isf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the quantile from above. Source: ``jax.scipy.stats.logistic.isf``.

    >>> from arrayport.scipy import stats
    >>> stats.logistic.isf(0.25).round(3)
    Array(1.099, dtype=float32, weak_type=True)
    """
    x, loc, scale = floats("logistic.isf", x, loc, scale)
    return loc - logit(x) * scale
