"""Error functions, their inverses and complex kin, and the normal distribution's functions."""

from __future__ import annotations

from math import sqrt
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.ops import special as ops
from arrayport.ops.structure import convert
from arrayport.scipy.arguments import floats, numbers, strong_floats

__all__ = [
    "dawsn",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "log_ndtr",
    "ndtr",
    "ndtri",
    "owens_t",
    "wofz",
]


def erf(x: Any) -> Array:
    """Give the error function, 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x.

    Source: ``jax.scipy.special.erf``.

    >>> from arrayport.scipy import special
    >>> special.erf(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return ops.erf(*floats("erf", x))


def erfc(x: Any) -> Array:
    """Give 1 - erf(x), exactly also where erf is nearly 1. Source: ``jax.scipy.special.erfc``.

    >>> from arrayport.scipy import special
    >>> special.erfc(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return ops.erfc(*floats("erfc", x))


def erfinv(x: Any) -> Array:
    """Invert `erf`. Source: ``jax.scipy.special.erfinv``.

    >>> from arrayport.scipy import special
    >>> special.erfinv(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return ops.erf_inv(*floats("erfinv", x))


def erfcinv(y: Any) -> Array:
    """Invert `erfc`. Source: ``jax.scipy.special.erfcinv``.

    >>> from arrayport.scipy import special
    >>> special.erfcinv(1.0)
    Array(-0., dtype=float32)
    """
    return ops.erfc_inv(*strong_floats("erfcinv", y))


def erfcx(x: Any) -> Array:
    """Give exp(x**2) erfc(x), which does not underflow. Source: ``jax.scipy.special.erfcx``.

    >>> from arrayport.scipy import special
    >>> special.erfcx(0.0)
    Array(1., dtype=float32)
    """
    return ops.erfcx(*strong_floats("erfcx", x))


def dawsn(x: Any) -> Array:
    """Give Dawson's integral, exp(-x**2) times the integral of exp(t**2) from 0 to x.

    Source: ``jax.scipy.special.dawsn``.

    >>> from arrayport.scipy import special
    >>> special.dawsn(0.0)
    Array(0., dtype=float32)
    """
    return ops.dawsn(*strong_floats("dawsn", x))


def wofz(z: Any) -> Array:
    """Give Faddeeva's function exp(-z**2) erfc(-i z), a complex number.

    Source: ``jax.scipy.special.wofz``.

    >>> from arrayport.scipy import special
    >>> special.wofz(0.0)
    Array(1.+0.j, dtype=complex64)
    """
    (z,) = numbers("wofz", z)
    return ops.wofz(convert(z, dtypes.complex_dtype(z.dtype)))


def ndtr(x: Any) -> Array:
    """Give the part of the standard normal distribution that is below x.

    Source: ``jax.scipy.special.ndtr``.

    >>> from arrayport.scipy import special
    >>> special.ndtr(0.0)
    Array(0.5, dtype=float32)
    """
    (x,) = strong_floats("ndtr", x)
    return ops.erfc(x * -sqrt(0.5)) * 0.5


def ndtri(p: Any) -> Array:
    """Invert `ndtr`: the quantile of the standard normal distribution.

    Source: ``jax.scipy.special.ndtri``.

    >>> from arrayport.scipy import special
    >>> special.ndtri(0.5)
    Array(0., dtype=float32)
    """
    return ops.ndtri(*strong_floats("ndtri", p))


def log_ndtr(x: Any, series_order: int = 3) -> Array:
    """Give the logarithm of `ndtr`, exactly also far below 0.

    `series_order` is JAX's: here the answer is exact whatever it says. Raises TypeError unless it
    is an integer, ValueError unless it is from 0 to 30. Source: ``jax.scipy.special.log_ndtr``.

    >>> from arrayport.scipy import special
    >>> special.log_ndtr(-100.0)
    Array(-5005.5244, dtype=float32)
    """
    if not isinstance(series_order, int):
        raise TypeError(f"series_order must be an integer, not {series_order!r}")
    if not 0 <= series_order <= 30:
        raise ValueError(f"series_order must be from 0 to 30, not {series_order}")
    return ops.log_ndtr(*strong_floats("log_ndtr", x))


def owens_t(h: Any, a: Any) -> Array:
    """Give Owen's T: the chance that X > h and 0 < Y < a X, X and Y standard normal.

    Source: ``jax.scipy.special.owens_t``.

    >>> from arrayport.scipy import special
    >>> special.owens_t(0.0, 1.0)
    Array(0.125, dtype=float32)
    """
    return ops.owens_t(*strong_floats("owens_t", h, a))
