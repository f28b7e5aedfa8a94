"""The gamma distribution with exponent a."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.ops.elementwise import exp, log
from arrayport.ops.special import igamma, igammac, lgamma, xlogy
from arrayport.scipy.stats.supports import above, nothing, standard, within

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of the density. Source: ``jax.scipy.stats.gamma.logpdf``.

    >>> from arrayport.scipy import stats
    >>> stats.gamma.logpdf(1.0, 2.0).round(3)
    Array(-1., dtype=float32, weak_type=True)
    """
    y, scale, a = standard("gamma.logpdf", x, loc, scale, a)
    outside = y < 0
    y = within(y, outside, 1)
    return nothing(outside, xlogy(a - 1, y) - y - lgamma(a) - log(scale))


def pdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the density. Source: ``jax.scipy.stats.gamma.pdf``.

    >>> from arrayport.scipy import stats
    >>> stats.gamma.pdf(1.0, 2.0).round(3)
    Array(0.368, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, a, loc, scale))


def cdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability below x. Source: ``jax.scipy.stats.gamma.cdf``.

    >>> from arrayport.scipy import stats
    >>> stats.gamma.cdf(1.0, 1.0)
    Array(0.63212055, dtype=float32, weak_type=True)
    """
    y, _, a = standard("gamma.cdf", x, loc, scale, a)
    return igamma(a, above(y, 0))


def logcdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `cdf`. Source: ``jax.scipy.stats.gamma.logcdf``.

    >>> from arrayport.scipy import stats
    >>> stats.gamma.logcdf(1.0, 2.0).round(3)
    Array(-1.331, dtype=float32, weak_type=True)
    """
    return log(cdf(x, a, loc, scale))


def sf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability above x. Source: ``jax.scipy.stats.gamma.sf``.

    >>> from arrayport.scipy import stats
    >>> stats.gamma.sf(1.0, 2.0).round(3)
    Array(0.736, dtype=float32, weak_type=True)
    """
    y, _, a = standard("gamma.sf", x, loc, scale, a)
    return igammac(a, above(y, 0))


def logsf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `sf`. Source: ``jax.scipy.stats.gamma.logsf``.

    >>> from arrayport.scipy import stats
    >>> stats.gamma.logsf(1.0, 2.0).round(3)
    Array(-0.307, dtype=float32, weak_type=True)
    """
    return log(sf(x, a, loc, scale))
