"""The Cauchy distribution wrapped around the circle, with concentration c."""

from __future__ import annotations

from math import nan, pi
from typing import Any

from arrayport.core.array import Array
from arrayport.ops.elementwise import cos, exp, log, log1p, select, square
from arrayport.ops.structure import constant
from arrayport.scipy.arguments import floats
from arrayport.scipy.stats.supports import nothing

__all__ = ["logpdf", "pdf"]


def logpdf(x: Any, c: Any) -> Array:
    """Give the logarithm of the density. Source: ``jax.scipy.stats.wrapcauchy.logpdf``.

    >>> from arrayport.scipy import stats
    >>> stats.wrapcauchy.logpdf(0.0, 0.5)
    Array(-0.7392648, dtype=float32, weak_type=True)
    """
    x, c = floats("wrapcauchy.logpdf", x, c)
    value = log1p(-square(c)) - log((1 + square(c) - 2 * c * cos(x)) * (2 * pi))
    value = nothing((x < 0) | (x > 2 * pi), value)
    return select((c > 0) & (c < 1), value, constant(nan, value))


def pdf(x: Any, c: Any) -> Array:
    """Give the density. Source: ``jax.scipy.stats.wrapcauchy.pdf``.

    >>> from arrayport.scipy import stats
    >>> stats.wrapcauchy.pdf(0.0, 0.5).round(3)
    Array(0.477, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, c))
