"""The chi-squared distribution with df degrees of freedom: a gamma distribution."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.scipy.arguments import floats
from arrayport.scipy.stats import gamma

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of the density. Source: ``jax.scipy.stats.chi2.logpdf``.

    >>> from arrayport.scipy import stats
    >>> stats.chi2.logpdf(1.0, 2.0).round(3)
    Array(-1.193, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = floats("chi2.logpdf", x, df, loc, scale)
    return gamma.logpdf(x, df / 2, loc, scale * 2)


def pdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the density. Source: ``jax.scipy.stats.chi2.pdf``.

    >>> from arrayport.scipy import stats
    >>> stats.chi2.pdf(1.0, 2.0).round(3)
    Array(0.303, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = floats("chi2.pdf", x, df, loc, scale)
    return gamma.pdf(x, df / 2, loc, scale * 2)


def cdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability below x. Source: ``jax.scipy.stats.chi2.cdf``.

    >>> from arrayport.scipy import stats
    >>> stats.chi2.cdf(1.0, 2.0).round(3)
    Array(0.393, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = floats("chi2.cdf", x, df, loc, scale)
    return gamma.cdf(x, df / 2, loc, scale * 2)


def logcdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `cdf`. Source: ``jax.scipy.stats.chi2.logcdf``.

    >>> from arrayport.scipy import stats
    >>> stats.chi2.logcdf(1.0, 2.0).round(3)
    Array(-0.933, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = floats("chi2.logcdf", x, df, loc, scale)
    return gamma.logcdf(x, df / 2, loc, scale * 2)


def sf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability above x. Source: ``jax.scipy.stats.chi2.sf``.

    >>> from arrayport.scipy import stats
    >>> stats.chi2.sf(1.0, 2.0).round(3)
    Array(0.607, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = floats("chi2.sf", x, df, loc, scale)
    return gamma.sf(x, df / 2, loc, scale * 2)


def logsf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `sf`. Source: ``jax.scipy.stats.chi2.logsf``.

    >>> from arrayport.scipy import stats
    >>> stats.chi2.logsf(1.0, 2.0).round(3)
    Array(-0.5, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = floats("chi2.logsf", x, df, loc, scale)
    return gamma.logsf(x, df / 2, loc, scale * 2)
