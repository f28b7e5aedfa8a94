"""The von Mises distribution on the circle, with concentration kappa."""

from __future__ import annotations

from math import nan, pi
from typing import Any

from arrayport.core.array import Array
from arrayport.ops.elementwise import cos, exp, log, select
from arrayport.ops.special import bessel_i0e
from arrayport.ops.structure import constant
from arrayport.scipy.arguments import floats

__all__ = ["logpdf", "pdf"]


def logpdf(x: Any, kappa: Any) -> Array:
    """Give the logarithm of the density. Source: ``jax.scipy.stats.vonmises.logpdf``.

    >>> from arrayport.scipy import stats
    >>> stats.vonmises.pdf(0.0, 0.0)
    Array(0.15915494, dtype=float32, weak_type=True)
    """
    x, kappa = floats("vonmises.logpdf", x, kappa)
    value = kappa * (cos(x) - 1) - log(bessel_i0e(kappa) * (2 * pi))
    return select(kappa >= 0, value, constant(nan, value))


def pdf(x: Any, kappa: Any) -> Array:
    """Give the density. Source: ``jax.scipy.stats.vonmises.pdf``.

    >>> from arrayport.scipy import stats
    >>> stats.vonmises.pdf(0.0, 1.0).round(3)
    Array(0.342, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, kappa))
