"""Bessel functions: the modified ones of orders 0 and 1, and those of the first kind."""

from __future__ import annotations

from operator import index
from typing import Any

from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.ops import special as ops
from arrayport.ops.shapes import stack
from arrayport.scipy.arguments import floats, strong_floats

__all__ = ["bessel_jn", "i0", "i0e", "i1", "i1e"]


def i0(x: Any) -> Array:
    """Give the modified Bessel function of order 0. Source: ``jax.scipy.special.i0``.

    >>> from arrayport.scipy import special
    >>> special.i0(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return ops.bessel_i0(*floats("i0", x))


def i0e(x: Any) -> Array:
    """Give exp(-abs(x)) `i0`(x), which does not overflow. Source: ``jax.scipy.special.i0e``.

    >>> from arrayport.scipy import special
    >>> special.i0e(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return ops.bessel_i0e(*floats("i0e", x))


def i1(x: Any) -> Array:
    """Give the modified Bessel function of order 1. Source: ``jax.scipy.special.i1``.

    >>> from arrayport.scipy import special
    >>> special.i1(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return ops.bessel_i1(*floats("i1", x))


def i1e(x: Any) -> Array:
    """Give exp(-abs(x)) `i1`(x), which does not overflow. Source: ``jax.scipy.special.i1e``.

    >>> from arrayport.scipy import special
    >>> special.i1e(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return ops.bessel_i1e(*floats("i1e", x))


@unit("z")
def bessel_jn(z: Any, *, v: int, n_iter: int = 50) -> Array:
    """Give the Bessel functions of the first kind of orders 0 to v, along a new first axis.

    `n_iter` is where JAX starts its recursion; it decides nothing elsewhere. Raises ValueError
    for negative v. Source: ``jax.scipy.special.bessel_jn``.

    >>> from arrayport.scipy import special
    >>> special.bessel_jn(0.0, v=1)
    Array([1., 0.], dtype=float32)
    """
    (z,) = strong_floats("bessel_jn", z)
    if index(v) < 0:
        raise ValueError(f"bessel_jn needs v >= 0, not {v}")
    return stack([ops.bessel_j(n, z, index(n_iter)) for n in range(v + 1)])
