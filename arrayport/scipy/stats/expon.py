"""The exponential distribution."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.ops.elementwise import exp, expm1, log, log1p
from arrayport.scipy.arguments import floats
from arrayport.scipy.exponentials import log1mexp
from arrayport.scipy.stats.supports import above, between, nothing, quantile, standard

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of the density. Source: ``jax.scipy.stats.expon.logpdf``.

    >>> from arrayport.scipy import stats
    >>> stats.expon.logpdf(1.0).round(3)
    Array(-1., dtype=float32, weak_type=True)
    """
    y, scale = standard("expon.logpdf", x, loc, scale)
    return nothing(y < 0, -y - log(scale))


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the density. Source: ``jax.scipy.stats.expon.pdf``.

    >>> from arrayport.scipy import stats
    >>> stats.expon.pdf(1.0).round(3)
    Array(0.368, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability below x. Source: ``jax.scipy.stats.expon.cdf``.

    >>> from arrayport.scipy import stats
    >>> stats.expon.cdf(1.0)
    Array(0.63212055, dtype=float32, weak_type=True)
    """
    return -expm1(-above(standard("expon.cdf", x, loc, scale)[0], 0))


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `cdf`. Source: ``jax.scipy.stats.expon.logcdf``.

    >>> from arrayport.scipy import stats
    >>> stats.expon.logcdf(1.0).round(3)
    Array(-0.459, dtype=float32, weak_type=True)
    """
    (y, _) = standard("expon.logcdf", x, loc, scale)
    return log1mexp(above(y, 0))


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability above x. Source: ``jax.scipy.stats.expon.sf``.

    >>> from arrayport.scipy import stats
    >>> stats.expon.sf(1.0).round(3)
    Array(0.368, dtype=float32, weak_type=True)
    """
    return exp(logsf(x, loc, scale))


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `sf`. Source: ``jax.scipy.stats.expon.logsf``.

    >>> from arrayport.scipy import stats
    >>> stats.expon.logsf(1.0).round(3)
    Array(-1., dtype=float32, weak_type=True)
    """
    return -above(standard("expon.logsf", x, loc, scale)[0], 0)


def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the quantile; outside 0 to 1 NaN. Source: ``jax.scipy.stats.expon.ppf``.

    >>> from arrayport.scipy import stats
    >>> stats.expon.ppf(0.75).round(3)
    Array(1.386, dtype=float32, weak_type=True)
    """
    q, loc, scale = floats("expon.ppf", q, loc, scale)
    return quantile(q, log1p(-between(q, 0, 1)) * -scale + loc)
