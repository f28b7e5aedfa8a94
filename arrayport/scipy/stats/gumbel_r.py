"""The right-skewed Gumbel distribution."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.ops.elementwise import exp, expm1, log
from arrayport.scipy.arguments import floats
from arrayport.scipy.exponentials import log1mexp
from arrayport.scipy.stats.supports import between, quantile, standard

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of the density. Source: ``jax.scipy.stats.gumbel_r.logpdf``.

    >>> from arrayport.scipy import stats
    >>> stats.gumbel_r.logpdf(1.0).round(3)
    Array(-1.368, dtype=float32, weak_type=True)
    """
    y, scale = standard("gumbel_r.logpdf", x, loc, scale)
    return -y - exp(-y) - log(scale)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the density. Source: ``jax.scipy.stats.gumbel_r.pdf``.

    >>> from arrayport.scipy import stats
    >>> stats.gumbel_r.pdf(1.0).round(3)
    Array(0.255, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability below x. Source: ``jax.scipy.stats.gumbel_r.cdf``.

    >>> from arrayport.scipy import stats
    >>> stats.gumbel_r.cdf(1.0).round(3)
    Array(0.692, dtype=float32, weak_type=True)
    """
    return exp(logcdf(x, loc, scale))


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `cdf`. Source: ``jax.scipy.stats.gumbel_r.logcdf``.

    >>> from arrayport.scipy import stats
    >>> stats.gumbel_r.logcdf(0.0)
    Array(-1., dtype=float32, weak_type=True)
    """
    return -exp(-standard("gumbel_r.logcdf", x, loc, scale)[0])


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability above x. Source: ``jax.scipy.stats.gumbel_r.sf``.

    >>> from arrayport.scipy import stats
    >>> stats.gumbel_r.sf(1.0).round(3)
    Array(0.308, dtype=float32, weak_type=True)
    """
    return -expm1(logcdf(x, loc, scale))


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `sf`. Source: ``jax.scipy.stats.gumbel_r.logsf``.

    >>> from arrayport.scipy import stats
    >>> stats.gumbel_r.logsf(1.0).round(3)
    Array(-1.178, dtype=float32, weak_type=True)
    """
    return log1mexp(-logcdf(x, loc, scale))


def ppf(p: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the quantile; outside 0 to 1 NaN. Source: ``jax.scipy.stats.gumbel_r.ppf``.

    >>> from arrayport.scipy import stats
    >>> stats.gumbel_r.ppf(0.75).round(3)
    Array(1.246, dtype=float32, weak_type=True)
    """
    p, loc, scale = floats("gumbel_r.ppf", p, loc, scale)
    return quantile(p, loc - log(-log(between(p, 0, 1))) * scale)
