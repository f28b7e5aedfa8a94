"""The Pareto distribution with exponent b."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.ops.elementwise import exp, expm1, log, log1p
from arrayport.scipy.arguments import floats
from arrayport.scipy.exponentials import log1mexp
from arrayport.scipy.stats.supports import above, between, nothing, quantile, standard, within

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def logpdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of the density. Source: ``jax.scipy.stats.pareto.logpdf``.

    >>> from arrayport.scipy import stats
    >>> stats.pareto.logpdf(2.0, 3.0).round(3)
    Array(-1.674, dtype=float32, weak_type=True)
    """
    y, scale, b = standard("pareto.logpdf", x, loc, scale, b)
    outside = y < 1
    return nothing(outside, log(b) - (b + 1) * log(within(y, outside, 1)) - log(scale))


def pdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the density. Source: ``jax.scipy.stats.pareto.pdf``.

    >>> from arrayport.scipy import stats
    >>> stats.pareto.pdf(2.0, 3.0).round(3)
    Array(0.188, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, b, loc, scale))


def cdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability below x. Source: ``jax.scipy.stats.pareto.cdf``.

    >>> from arrayport.scipy import stats
    >>> stats.pareto.cdf(2.0, 1.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return -expm1(logsf(x, b, loc, scale))


def logcdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `cdf`. Source: ``jax.scipy.stats.pareto.logcdf``.

    >>> from arrayport.scipy import stats
    >>> stats.pareto.logcdf(2.0, 3.0).round(3)
    Array(-0.134, dtype=float32, weak_type=True)
    """
    return log1mexp(-logsf(x, b, loc, scale))


def sf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability above x. Source: ``jax.scipy.stats.pareto.sf``.

    >>> from arrayport.scipy import stats
    >>> stats.pareto.sf(2.0, 3.0).round(3)
    Array(0.125, dtype=float32, weak_type=True)
    """
    return exp(logsf(x, b, loc, scale))


def logsf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `sf`. Source: ``jax.scipy.stats.pareto.logsf``.

    >>> from arrayport.scipy import stats
    >>> stats.pareto.logsf(2.0, 3.0).round(3)
    Array(-2.079, dtype=float32, weak_type=True)
    """
    y, _, b = standard("pareto.logsf", x, loc, scale, b)
    return -b * log(above(y, 1))


def ppf(q: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the quantile; outside 0 to 1 NaN. Source: ``jax.scipy.stats.pareto.ppf``.

    >>> from arrayport.scipy import stats
    >>> stats.pareto.ppf(0.75, 3.0).round(3)
    Array(1.587, dtype=float32, weak_type=True)
    """
    q, b, loc, scale = floats("pareto.ppf", q, b, loc, scale)
    return quantile(q, exp(log1p(-between(q, 0, 1)) / -b) * scale + loc)
