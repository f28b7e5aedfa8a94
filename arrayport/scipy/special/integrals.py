"""Integrals of exponentials, sines and logarithms: exp1, expi, expn, sici, fresnel, spence."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.ops import special as ops
from arrayport.scipy.arguments import strong_floats

__all__ = ["exp1", "expi", "expn", "fresnel", "sici", "spence"]


def exp1(x: Any) -> Array:
    """Give the integral of exp(-t) / t from x to infinity. Source: ``jax.scipy.special.exp1``.

    >>> from arrayport.scipy import special
    >>> special.exp1(1.0)
    Array(0.21938394, dtype=float32)
    """
    return ops.exp1(*strong_floats("exp1", x))


def expi(x: Any) -> Array:
    """Give the principal value of the integral of exp(t) / t up to x.

    Source: ``jax.scipy.special.expi``.

    >>> expi(1.0).round(4)
    Array(1.8951, dtype=float32)
    """
    return ops.expi(*strong_floats("expi", x))


def expn(n: Any, x: Any) -> Array:
    """Give x**(n - 1) times the integral of exp(-t) / t**n from x to infinity, for whole n >= 0.

    There is no derivative with respect to n. Source: ``jax.scipy.special.expn``.

    >>> from arrayport.scipy import special
    >>> special.expn(2, 0.0)
    Array(1., dtype=float32)
    """
    return ops.expn(*strong_floats("expn", n, x))


def sici(x: Any) -> tuple[Array, Array]:
    """Give the sine and the cosine integral: of sin(t) / t from 0, of cos(t) / t from infinity.

    Source: ``jax.scipy.special.sici``.

    >>> from arrayport.scipy import special
    >>> special.sici(0.0)[0]
    Array(0., dtype=float32)
    """
    (x,) = strong_floats("sici", x)
    return ops.sine_integral(x), ops.cosine_integral(x)


def fresnel(x: Any) -> tuple[Array, Array]:
    """Give the integrals of sin(pi t**2 / 2) and cos(pi t**2 / 2) from 0 to x.

    Source: ``jax.scipy.special.fresnel``.

    >>> from arrayport.scipy import special
    >>> special.fresnel(0.0)[1]
    Array(0., dtype=float32)
    """
    (x,) = strong_floats("fresnel", x)
    return ops.fresnel_sine(x), ops.fresnel_cosine(x)


def spence(x: Any) -> Array:
    """Give the integral of log(t) / (1 - t) from 1 to x, for x >= 0.

    Source: ``jax.scipy.special.spence``.

    >>> from arrayport.scipy import special
    >>> special.spence(1.0)
    Array(0., dtype=float32)
    """
    return ops.spence(*strong_floats("spence", x))
