"""The generalized normal distribution with exponent beta."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.ops.elementwise import abs, exp, log, select
from arrayport.ops.special import igammac, lgamma
from arrayport.scipy.arguments import floats

__all__ = ["cdf", "logpdf", "pdf"]


def logpdf(x: Any, beta: Any) -> Array:
    """Give the logarithm of the density. Source: ``jax.scipy.stats.gennorm.logpdf``.

    >>> from arrayport.scipy import stats
    >>> stats.gennorm.logpdf(1.0, 2.0).round(3)
    Array(-1.572, dtype=float32, weak_type=True)
    """
    x, beta = floats("gennorm.logpdf", x, beta)
    return log(beta / 2) - lgamma(1 / beta) - abs(x) ** beta


def cdf(x: Any, beta: Any) -> Array:
    """Give the probability below x. Source: ``jax.scipy.stats.gennorm.cdf``.

    >>> from arrayport.scipy import stats
    >>> stats.gennorm.cdf(0.0, 2.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    x, beta = floats("gennorm.cdf", x, beta)
    tail = igammac(1 / beta, abs(x) ** beta) / 2
    return select(x < 0, tail, 1 - tail)


def pdf(x: Any, beta: Any) -> Array:
    """Give the density. Source: ``jax.scipy.stats.gennorm.pdf``.

    >>> from arrayport.scipy import stats
    >>> stats.gennorm.pdf(1.0, 2.0).round(3)
    Array(0.208, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, beta))
