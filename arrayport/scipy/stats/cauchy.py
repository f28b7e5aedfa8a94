"""The Cauchy distribution."""

from __future__ import annotations

from math import pi
from typing import Any

from arrayport.core.array import Array
from arrayport.ops.elementwise import atan2, exp, log, log1p, select, square, tan
from arrayport.ops.structure import constant
from arrayport.scipy.arguments import floats
from arrayport.scipy.stats.supports import quantile, standard, within

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of the density. Source: ``jax.scipy.stats.cauchy.logpdf``.

    >>> from arrayport.scipy import stats
    >>> stats.cauchy.logpdf(1.0).round(3)
    Array(-1.838, dtype=float32, weak_type=True)
    """
    y, scale = standard("cauchy.logpdf", x, loc, scale)
    return -log1p(square(y)) - log(scale * pi)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the density. Source: ``jax.scipy.stats.cauchy.pdf``.

    >>> from arrayport.scipy import stats
    >>> stats.cauchy.pdf(1.0).round(3)
    Array(0.159, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability below x. Source: ``jax.scipy.stats.cauchy.cdf``.

    >>> from arrayport.scipy import stats
    >>> stats.cauchy.cdf(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return _below(standard("cauchy.cdf", x, loc, scale)[0])


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `cdf`. Source: ``jax.scipy.stats.cauchy.logcdf``.

    >>> from arrayport.scipy import stats
    >>> stats.cauchy.logcdf(1.0).round(3)
    Array(-0.288, dtype=float32, weak_type=True)
    """
    return _log_below(standard("cauchy.logcdf", x, loc, scale)[0])


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability above x. Source: ``jax.scipy.stats.cauchy.sf``.

    >>> from arrayport.scipy import stats
    >>> stats.cauchy.sf(1.0).round(3)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return _below(-standard("cauchy.sf", x, loc, scale)[0])


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `sf`. Source: ``jax.scipy.stats.cauchy.logsf``.

    >>> from arrayport.scipy import stats
    >>> stats.cauchy.logsf(1.0).round(3)
    Array(-1.386, dtype=float32, weak_type=True)
    """
    return _log_below(-standard("cauchy.logsf", x, loc, scale)[0])


def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the quantile; outside 0 to 1 NaN. Source: ``jax.scipy.stats.cauchy.ppf``.

    >>> from arrayport.scipy import stats
    >>> stats.cauchy.ppf(0.75).round(3)
    Array(1., dtype=float32, weak_type=True)
    """
    q, loc, scale = floats("cauchy.ppf", q, loc, scale)
    return _point(q) * scale + loc


def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the quantile from above. Source: ``jax.scipy.stats.cauchy.isf``.

    >>> from arrayport.scipy import stats
    >>> stats.cauchy.isf(0.25).round(3)
    Array(1., dtype=float32, weak_type=True)
    """
    q, loc, scale = floats("cauchy.isf", q, loc, scale)
    return loc - _point(q) * scale


def _below(y: Array) -> Array:
    """Give the probability below y, exactly also far out."""
    return atan2(constant(1, y), -y) / pi


def _log_below(y: Array) -> Array:
    right = y > 0
    far = within(y, ~right, 1)
    return select(right, log1p(-_below(-far)), log(_below(within(y, right, -1))))


def _point(q: Array) -> Array:
    """Give the point below which the probability is q, by the angle to the median or an end."""
    low, high = q < 0.25, q > 0.75
    point = tan((within(q, low | high, 0.5) - 0.5) * pi)
    point = select(low, -1 / tan(within(q, ~low, 0.25) * pi), point)
    return quantile(q, select(high, 1 / tan((1 - within(q, ~high, 0.75)) * pi), point))
