"""The normal distribution."""

from __future__ import annotations

from math import log as ln
from math import pi
from typing import Any

from arrayport.core.array import Array
from arrayport.ops.elementwise import exp, log, square
from arrayport.ops.special import log_ndtr, ndtri
from arrayport.scipy.arguments import floats
from arrayport.scipy.special.errors import ndtr
from arrayport.scipy.stats.supports import standard

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]

HALF_LOG = ln(2 * pi) / 2


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of the density. Source: ``jax.scipy.stats.norm.logpdf``.

    >>> from arrayport.scipy import stats
    >>> stats.norm.logpdf(0.0)
    Array(-0.9189385, dtype=float32, weak_type=True)
    """
    y, scale = standard("norm.logpdf", x, loc, scale)
    return square(y) * -0.5 - log(scale) - HALF_LOG


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the density. Source: ``jax.scipy.stats.norm.pdf``.

    >>> from arrayport.scipy import stats
    >>> stats.norm.pdf(1.0).round(3)
    Array(0.242, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability below x. Source: ``jax.scipy.stats.norm.cdf``.

    >>> from arrayport.scipy import stats
    >>> stats.norm.cdf(0.0)
    Array(0.5, dtype=float32)
    """
    return ndtr(standard("norm.cdf", x, loc, scale)[0])


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `cdf`. Source: ``jax.scipy.stats.norm.logcdf``.

    >>> from arrayport.scipy import stats
    >>> stats.norm.logcdf(1.0).round(3)
    Array(-0.173, dtype=float32, weak_type=True)
    """
    return log_ndtr(standard("norm.logcdf", x, loc, scale)[0])


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability above x. Source: ``jax.scipy.stats.norm.sf``.

    >>> from arrayport.scipy import stats
    >>> stats.norm.sf(1.0).round(3)
    Array(0.159, dtype=float32)
    """
    return ndtr(-standard("norm.sf", x, loc, scale)[0])


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `sf`. Source: ``jax.scipy.stats.norm.logsf``.

    >>> from arrayport.scipy import stats
    >>> stats.norm.logsf(1.0).round(3)
    Array(-1.841, dtype=float32, weak_type=True)
    """
    return log_ndtr(-standard("norm.logsf", x, loc, scale)[0])


def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the quantile; outside 0 to 1 NaN. Source: ``jax.scipy.stats.norm.ppf``.

    >>> from arrayport.scipy import stats
    >>> stats.norm.ppf(0.75).round(3)
    Array(0.674, dtype=float32, weak_type=True)
    """
    q, loc, scale = floats("norm.ppf", q, loc, scale)
    return ndtri(q) * scale + loc


def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the quantile from above. Source: ``jax.scipy.stats.norm.isf``.

    >>> from arrayport.scipy import stats
    >>> stats.norm.isf(0.25).round(3)
    Array(0.674, dtype=float32, weak_type=True)
    """
    q, loc, scale = floats("norm.isf", q, loc, scale)
    return loc - ndtri(q) * scale
