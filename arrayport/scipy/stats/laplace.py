"""The Laplace distribution."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.ops.elementwise import abs, exp, log, select
from arrayport.scipy.stats.supports import standard

__all__ = ["cdf", "logpdf", "pdf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of the density. Source: ``jax.scipy.stats.laplace.logpdf``.

    >>> from arrayport.scipy import stats
    >>> stats.laplace.logpdf(1.0).round(3)
    Array(-1.693, dtype=float32, weak_type=True)
    """
    y, scale = standard("laplace.logpdf", x, loc, scale)
    return -abs(y) - log(scale * 2)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the density. Source: ``jax.scipy.stats.laplace.pdf``.

    >>> from arrayport.scipy import stats
    >>> stats.laplace.pdf(1.0).round(3)
    Array(0.184, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability below x. Source: ``jax.scipy.stats.laplace.cdf``.

    >>> from arrayport.scipy import stats
    >>> stats.laplace.cdf(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    (y, _) = standard("laplace.cdf", x, loc, scale)
    tail = exp(-abs(y)) / 2
    return select(y < 0, tail, 1 - tail)
