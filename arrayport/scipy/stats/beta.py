"""The beta distribution with exponents a and b."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.ops.elementwise import exp, log
from arrayport.ops.special import betaln, xlog1py, xlogy
from arrayport.scipy.special.gammas import betainc
from arrayport.scipy.stats.supports import between, nothing, standard, within

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of the density. Source: ``jax.scipy.stats.beta.logpdf``.

    >>> from arrayport.scipy import stats
    >>> stats.beta.logpdf(0.25, 2.0, 3.0).round(3)
    Array(0.523, dtype=float32, weak_type=True)
    """
    y, scale, a, b = standard("beta.logpdf", x, loc, scale, a, b)
    outside = (y < 0) | (y > 1)
    y = within(y, outside, 0.5)
    return nothing(outside, xlogy(a - 1, y) + xlog1py(b - 1, -y) - betaln(a, b) - log(scale))


def pdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the density. Source: ``jax.scipy.stats.beta.pdf``.

    >>> from arrayport.scipy import stats
    >>> stats.beta.pdf(0.25, 2.0, 3.0).round(3)
    Array(1.688, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, a, b, loc, scale))


def cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability below x. Source: ``jax.scipy.stats.beta.cdf``.

    >>> from arrayport.scipy import stats
    >>> stats.beta.cdf(0.25, 1.0, 1.0)
    Array(0.25, dtype=float32, weak_type=True)
    """
    y, _, a, b = standard("beta.cdf", x, loc, scale, a, b)
    return betainc(a, b, between(y, 0, 1))


def logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `cdf`. Source: ``jax.scipy.stats.beta.logcdf``.

    >>> from arrayport.scipy import stats
    >>> stats.beta.logcdf(0.25, 2.0, 3.0).round(3)
    Array(-1.34, dtype=float32, weak_type=True)
    """
    return log(cdf(x, a, b, loc, scale))


def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability above x. Source: ``jax.scipy.stats.beta.sf``.

    >>> from arrayport.scipy import stats
    >>> stats.beta.sf(0.25, 2.0, 3.0).round(3)
    Array(0.738, dtype=float32, weak_type=True)
    """
    y, _, a, b = standard("beta.sf", x, loc, scale, a, b)
    return betainc(b, a, 1 - between(y, 0, 1))


def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `sf`. Source: ``jax.scipy.stats.beta.logsf``.

    >>> from arrayport.scipy import stats
    >>> stats.beta.logsf(0.25, 2.0, 3.0).round(3)
    Array(-0.303, dtype=float32, weak_type=True)
    """
    return log(sf(x, a, b, loc, scale))
