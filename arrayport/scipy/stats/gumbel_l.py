"""The left-skewed Gumbel distribution."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.ops.elementwise import exp, expm1, log, log1p
from arrayport.scipy.arguments import floats
from arrayport.scipy.exponentials import log1mexp
from arrayport.scipy.stats.supports import between, quantile, standard

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of the density. Source: ``jax.scipy.stats.gumbel_l.logpdf``.

    >>> from arrayport.scipy import stats
    >>> stats.gumbel_l.logpdf(1.0).round(3)
    Array(-1.718, dtype=float32, weak_type=True)
    """
    y, scale = standard("gumbel_l.logpdf", x, loc, scale)
    return y - exp(y) - log(scale)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the density. Source: ``jax.scipy.stats.gumbel_l.pdf``.

    >>> from arrayport.scipy import stats
    >>> stats.gumbel_l.pdf(1.0).round(3)
    Array(0.179, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability below x. Source: ``jax.scipy.stats.gumbel_l.cdf``.

    >>> from arrayport.scipy import stats
    >>> stats.gumbel_l.cdf(1.0).round(3)
    Array(0.934, dtype=float32, weak_type=True)
    """
    return -expm1(logsf(x, loc, scale))


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `cdf`. Source: ``jax.scipy.stats.gumbel_l.logcdf``.

    >>> from arrayport.scipy import stats
    >>> stats.gumbel_l.logcdf(1.0).round(3)
    Array(-0.068, dtype=float32, weak_type=True)
    """
    return log1mexp(-logsf(x, loc, scale))


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability above x. Source: ``jax.scipy.stats.gumbel_l.sf``.

    >>> from arrayport.scipy import stats
    >>> stats.gumbel_l.sf(1.0).round(3)
    Array(0.066, dtype=float32, weak_type=True)
    """
    return exp(logsf(x, loc, scale))


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `sf`. Source: ``jax.scipy.stats.gumbel_l.logsf``.

    >>> from arrayport.scipy import stats
    >>> stats.gumbel_l.logsf(0.0)
    Array(-1., dtype=float32, weak_type=True)
    """
    return -exp(standard("gumbel_l.logsf", x, loc, scale)[0])


def ppf(p: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the quantile; outside 0 to 1 NaN. Source: ``jax.scipy.stats.gumbel_l.ppf``.

    >>> from arrayport.scipy import stats
    >>> stats.gumbel_l.ppf(0.75).round(3)
    Array(0.327, dtype=float32, weak_type=True)
    """
    p, loc, scale = floats("gumbel_l.ppf", p, loc, scale)
    return quantile(p, log(-log1p(-between(p, 0, 1))) * scale + loc)
