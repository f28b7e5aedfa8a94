"""The standard normal distribution cut off at a and b, then scaled and moved."""

from __future__ import annotations

from math import inf, nan, pi
from math import log as ln
from typing import Any

from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.ops.elementwise import exp, log, select, square
from arrayport.ops.special import log_ndtr
from arrayport.ops.structure import constant
from arrayport.scipy.exponentials import log1mexp
from arrayport.scipy.stats.supports import nothing, standard

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]

HALF_LOG = ln(2 * pi) / 2


@unit("x", "a", "b", "loc", "scale")
def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of the density. Source: ``jax.scipy.stats.truncnorm.logpdf``.

    >>> from arrayport.scipy import stats
    >>> stats.truncnorm.logpdf(0.5, -1.0, 1.0).round(3)
    Array(-0.662, dtype=float32, weak_type=True)
    """
    y, scale, a, b = standard("truncnorm.logpdf", x, loc, scale, a, b)
    value = square(y) * -0.5 - HALF_LOG - log(scale) - _mass(a, b)
    return _bounded(nothing((y < a) | (y > b), value), a, b)


@unit("x", "a", "b", "loc", "scale")
def pdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the density. Source: ``jax.scipy.stats.truncnorm.pdf``.

    >>> from arrayport.scipy import stats
    >>> stats.truncnorm.pdf(0.5, -1.0, 1.0).round(3)
    Array(0.516, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, a, b, loc, scale))


@unit("x", "a", "b", "loc", "scale")
def cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability below x. Source: ``jax.scipy.stats.truncnorm.cdf``.

    >>> from arrayport.scipy import stats
    >>> stats.truncnorm.cdf(0.0, -1.0, 1.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return exp(logcdf(x, a, b, loc, scale))


@unit("x", "a", "b", "loc", "scale")
def logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `cdf`. Source: ``jax.scipy.stats.truncnorm.logcdf``.

    >>> from arrayport.scipy import stats
    >>> stats.truncnorm.logcdf(0.5, -1.0, 1.0).round(3)
    Array(-0.248, dtype=float32, weak_type=True)
    """
    y, _, a, b = standard("truncnorm.logcdf", x, loc, scale, a, b)
    return _part(a, y, y >= b, y <= a, a, b)


@unit("x", "a", "b", "loc", "scale")
def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the probability above x. Source: ``jax.scipy.stats.truncnorm.sf``.

    >>> from arrayport.scipy import stats
    >>> stats.truncnorm.sf(0.5, -1.0, 1.0).round(3)
    Array(0.22, dtype=float32, weak_type=True)
    """
    return exp(logsf(x, a, b, loc, scale))


@unit("x", "a", "b", "loc", "scale")
def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Give the logarithm of `sf`. Source: ``jax.scipy.stats.truncnorm.logsf``.

    >>> from arrayport.scipy import stats
    >>> stats.truncnorm.logsf(0.5, -1.0, 1.0).round(3)
    Array(-1.516, dtype=float32, weak_type=True)
    """
    y, _, a, b = standard("truncnorm.logsf", x, loc, scale, a, b)
    return _part(y, b, y <= a, y >= b, a, b)


def _bounded(value: Array, a: Array, b: Array) -> Array:
    """Give NaN where the ends have no room between them."""
    return select(a < b, value, constant(nan, value))


def _part(low: Array, high: Array, full: Array, empty: Array, a: Array, b: Array) -> Array:
    """Give the logarithm of the part of the mass between a and b that is from low to high."""
    outside = full | empty
    value = _mass(select(outside, a, low), select(outside, b, high)) - _mass(a, b)
    value = select(full, constant(0, value), value)
    return _bounded(select(empty, constant(-inf, value), value), a, b)


def _mass(low: Array, high: Array) -> Array:
    """Give the logarithm of the normal mass between two points, in the tail where they are."""
    flip = low > 0
    low, high = select(flip, -high, low), select(flip, -low, high)
    more, less = log_ndtr(high), log_ndtr(low)
    return more + log1mexp(more - less)
