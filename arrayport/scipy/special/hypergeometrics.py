"""Hypergeometric functions, and the spherical harmonics."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.ops import special as ops
from arrayport.ops.elementwise import abs, complex, conj, cos, equal, floor, maximum, select, sin
from arrayport.ops.elementwise import sqrt as root
from arrayport.ops.promotion import lift
from arrayport.ops.structure import constant, convert
from arrayport.scipy.arguments import floats, in_one_shape, strong_floats

__all__ = ["hyp1f1", "hyp2f1", "sph_harm_y"]


def hyp1f1(a: Any, b: Any, x: Any) -> Array:
    """Give Kummer's function 1F1(a; b; x). Source: ``jax.scipy.special.hyp1f1``.

    >>> from arrayport.scipy import special
    >>> special.hyp1f1(1.0, 1.0, 0.0)
    Array(1., dtype=float32)
    """
    return ops.hyp1f1_p.bind(*strong_floats("hyp1f1", a, b, x))


def hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Array:
    """Give Gauss's function 2F1(a, b; c; x). Source: ``jax.scipy.special.hyp2f1``.

    >>> from arrayport.scipy import special
    >>> special.hyp2f1(1.0, 1.0, 2.0, 0.0)
    Array(1., dtype=float32)
    """
    return ops.hyp2f1_p.bind(*strong_floats("hyp2f1", a, b, c, x))


def sph_harm_y(
    n: Any, m: Any, theta: Any, phi: Any, diff_n: int | None = None, n_max: int | None = None
) -> Array:
    """Give the spherical harmonics of degrees n and orders m, which are complex.

    theta is the polar angle, phi the azimuth, in radians. Under jit the largest degree must be
    known as `n_max`. Raises NotImplementedError for `diff_n`. Source:
    ``jax.scipy.special.sph_harm_y``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.scipy.special.sph_harm_y(anp.array([0]), anp.array([0]), 0.0, 0.0)
    Array([0.2820948+0.j], dtype=complex64)
    """
    if diff_n is not None:
        raise NotImplementedError("sph_harm_y has no diff_n: differentiate with arrayport.grad")
    n, m = lift(n, None, "n"), lift(m, None, "m")
    if n_max is None:
        n_max = int(np.max(np.asarray(n), initial=0))
    return _harmonic(n, m, theta, phi, n_max)


@unit("n", "m", "theta", "phi")
def _harmonic(n: Array, m: Array, theta: Any, phi: Any, top: int) -> Array:
    theta, phi = floats("sph_harm_y", theta, phi)
    n, m, theta, phi = in_one_shape([n, m, theta, phi])
    order = convert(abs(m), theta.dtype)
    size = _legendre(convert(n, theta.dtype), order, theta, top)
    angle = phi * order
    wave = complex(size * cos(angle), size * sin(angle))
    odd = order - 2 * floor(order / 2)
    return select(m < 0, conj(wave) * (1 - 2 * odd), wave)


def _legendre(n: Array, m: Array, theta: Array, top: int) -> Array:
    """Give the normalised associated Legendre function at cos(theta), by recursion in the degree.

    A degree above `top` counts as that.
    """
    x, y = cos(theta), abs(sin(theta))
    diagonal = constant(1 / sqrt(4 * pi), x) + 0 * (x + m)
    for k in range(1, top + 1):
        diagonal = select(m >= k, diagonal * y * -sqrt((2 * k + 1) / (2 * k)), diagonal)
    zero = 0 * diagonal
    before, now = zero, select(equal(m, 0), diagonal, zero)
    found = now
    for k in range(1, top + 1):
        rest = root(maximum(k * k - m * m, constant(1, m)))
        last = root(maximum((k - 1) ** 2 - m * m, constant(0, m)) / max(4 * (k - 1) ** 2 - 1, 1))
        risen = sqrt(4 * k * k - 1) / rest * (x * now - last * before)
        before, now = now, select(m < k, risen, select(equal(m, k), diagonal, zero))
        found = select(n >= k, now, found)
    return select(m <= n, found, zero)
