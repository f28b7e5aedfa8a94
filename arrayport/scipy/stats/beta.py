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
    """Give the logarithm of the density. Source: ``jax.scipy.stats.beta.logpdf``."""
    y, scale, a, b = standard("beta.logpdf", x, loc, scale, a, b)
    outside = (y < 0) | (y > 1)
    y = within(y, outside, 0.5)
    return nothing(outside, xlogy(a - 1, y) + xlog1py(b - 1, -y) - betaln(a, b) - log(scale))


def pdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the density. Source: ``jax.scipy.stats.beta.pdf``."""
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
    """Give the logarithm of `cdf`. Source: ``jax.scipy.stats.beta.logcdf``."""
    return log(cdf(x, a, b, loc, scale))


def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability above x. Source: ``jax.scipy.stats.beta.sf``."""
    y, _, a, b = standard("beta.sf", x, loc, scale, a, b)
    return betainc(b, a, 1 - between(y, 0, 1))


def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `sf`. Source: ``jax.scipy.stats.beta.logsf``."""
    return log(sf(x, a, b, loc, scale))
