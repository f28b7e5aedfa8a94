"""The uniform distribution on the interval from loc to loc + scale."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.ops.elementwise import exp, log
from arrayport.scipy.arguments import floats
from arrayport.scipy.stats.supports import between, nothing, quantile, standard

__all__ = ["cdf", "logpdf", "pdf", "ppf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of the density. Source: ``jax.scipy.stats.uniform.logpdf``.

    >>> from arrayport.scipy import stats
    >>> stats.uniform.logpdf(0.25).round(3)
    Array(0., dtype=float32, weak_type=True)
    """
    y, scale = standard("uniform.logpdf", x, loc, scale)
    return nothing((y < 0) | (y > 1), -log(scale) + 0 * y)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the density. Source: ``jax.scipy.stats.uniform.pdf``.

    >>> from arrayport.scipy import stats
    >>> stats.uniform.pdf(0.25).round(3)
    Array(1., dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability below x. Source: ``jax.scipy.stats.uniform.cdf``.

    >>> from arrayport.scipy import stats
    >>> stats.uniform.cdf(0.25)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return between(standard("uniform.cdf", x, loc, scale)[0], 0, 1)


def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the quantile; outside 0 to 1 NaN. Source: ``jax.scipy.stats.uniform.ppf``.

    >>> from arrayport.scipy import stats
    >>> stats.uniform.ppf(0.75).round(3)
    Array(0.75, dtype=float32, weak_type=True)
    """
    q, loc, scale = floats("uniform.ppf", q, loc, scale)
    return quantile(q, q * scale + loc)
