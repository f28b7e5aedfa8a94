"""Student's distribution with df degrees of freedom."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.ops.elementwise import exp, log, log1p, square
from arrayport.ops.special import betaln
from arrayport.ops.structure import constant
from arrayport.scipy.stats.supports import standard

__all__ = ["logpdf", "pdf"]


def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of the density. Source: ``jax.scipy.stats.t.logpdf``.

    >>> from arrayport.scipy import stats
    >>> stats.t.logpdf(0.0, 2.0)
    Array(-1.0397208, dtype=float32, weak_type=True)
    """
    y, scale, df = standard("t.logpdf", x, loc, scale, df)
    size = betaln(df / 2, constant(0.5, df)) + log(df) / 2 + log(scale)
    return (df + 1) / -2 * log1p(square(y) / df) - size


def pdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the density. Source: ``jax.scipy.stats.t.pdf``.

    >>> from arrayport.scipy import stats
    >>> stats.t.pdf(1.0, 2.0).round(3)
    Array(0.192, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, df, loc, scale))
