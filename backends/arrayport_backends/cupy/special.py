"""Kernels of the special functions that cupyx lacks, composed of what it has, on the device."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import Any

import numpy as np

from arrayport.core.backend import Refusal
from arrayport.ops import special as ops
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows

Raw = Any

ABSENT = Refusal("CuPy has no hypergeometric functions: bring the operands to NumPy by device_put")
NODES, WEIGHTS = np.polynomial.legendre.leggauss(32)


def wide(kernel: Callable[..., Raw]) -> Kernel:
    """A row whose function computes in float64."""

    def run(lib: Lib, *xs: Raw, **params: Any) -> Raw:
        dtype = xs[0].dtype
        return kernel(lib, *[x.astype(lib.xp.float64) for x in xs], **params).astype(dtype)

    return Kernel(run)


# ---- error functions


def wofz(lib: Lib, z: Raw) -> Raw:
    """Give Faddeeva's function; of what lies below the real axis by reflection."""
    xp = lib.xp
    z = z.astype(xp.complex128)
    x, y = xp.absolute(z.real), xp.absolute(z.imag)
    first = _first_quadrant(lib, x, y)
    first = xp.where((z.real < 0) ^ (z.imag < 0), xp.conjugate(first), first)
    return xp.where(z.imag < 0, 2 * xp.exp(-z * z) - first, first)


def _first_quadrant(lib: Lib, x: Raw, y: Raw) -> Raw:
    """Sum the integral of exp(-t^2) / (z - t) at equal steps, with the residue that this misses.

    The steps are at or halfway between multiples of the step size, whichever keeps off the pole.
    """
    xp = lib.xp
    count = 12
    step = sqrt(pi / count)
    z = x + 1j * y
    square, factor = z * z, 2j * step / pi * z
    at = 1j * step / pi / z
    between = 0 * z
    for k in range(count):
        on, off = (k * step) ** 2, ((k + 0.5) * step) ** 2
        if k:
            at = at + factor * (np.exp(-on) / (square - on))
        between = between + factor * (np.exp(-off) / (square - off))
    turn = xp.exp(-2j * pi / step * z)
    missed = 2 * xp.exp(-square)
    place = x / step - xp.floor(x / step)
    near_half = (y < x) & (place >= 0.25) & (place <= 0.75)
    low = xp.where(near_half, at + missed / (1 - turn), between + missed / (1 + turn))
    out = xp.where(y >= xp.maximum(x, pi / step), between, low)
    return xp.where((x == np.inf) | (y == np.inf), 0, out)


def dawsn(lib: Lib, x: Raw) -> Raw:
    """Give Dawson's integral: Faddeeva's function on the real axis, near 0 its series."""
    xp = lib.xp
    near = xp.absolute(x) < 1
    u = xp.where(near, x * x, 0.0)
    total = 1.0 + 0 * u
    for k in range(24, 0, -1):
        total = 1 - total * u * (2 / (2 * k + 1))
    far = _first_quadrant(lib, xp.where(near, 1.0, xp.absolute(x)), 0 * x).imag
    return xp.where(near, x * total, xp.copysign(far * (sqrt(pi) / 2), x))


def owens_t(lib: Lib, h: Raw, a: Raw) -> Raw:
    """Give Owen's T: its integral over the slope, steep slopes by the sum of two triangles."""
    xp, sp = lib.xp, lib.special
    h, slope = xp.minimum(xp.absolute(h), 1e4), xp.minimum(xp.absolute(a), 1e300)
    steep = slope > 1
    safe = xp.where(steep, slope, 1.0)
    other = xp.where(h == 0, 0.0, h * safe)
    flat = _triangle(lib, xp.where(steep, other, h), xp.where(steep, 1 / safe, slope))
    p, q = (sp.erfc(v * sqrt(0.5)) / 2 for v in (h, other))
    out = xp.where(steep, (p + q) / 2 - p * q - flat, flat)
    out = xp.where(h == 0, xp.arctan(slope) / (2 * pi), out)
    return xp.copysign(out, a)


def _triangle(lib: Lib, h: Raw, a: Raw) -> Raw:
    """Integrate exp(-h^2 (1 + t^2) / 2) / (1 + t^2) / (2 pi) from 0 to a <= 1."""
    xp = lib.xp
    end = xp.minimum(a, 9 / xp.maximum(h, 9.0))
    total = 0 * (h + a)
    for node, weight in zip(NODES.tolist(), WEIGHTS.tolist(), strict=True):
        square = 1 + (end * (node + 1) / 2) ** 2
        total = total + weight * xp.exp(h * h * square / -2) / square
    return total * end / (4 * pi)


# ---- integrals


def fresnel_sine(lib: Lib, x: Raw) -> Raw:
    """Give the integral of sin(pi t^2 / 2)."""
    return _fresnel(lib, x, 3)


def fresnel_cosine(lib: Lib, x: Raw) -> Raw:
    """Give the integral of cos(pi t^2 / 2)."""
    return _fresnel(lib, x, 1)


def _fresnel(lib: Lib, x: Raw, first: int) -> Raw:
    """Give one of Fresnel's integrals, near 0 by its series, which begins at that power of x."""
    xp = lib.xp
    size = xp.absolute(x)
    near = size < 1.25
    u = xp.where(near, x * x, 0.0) * (pi / 2)
    start = (first - 1) // 2
    term, total = u**start, 0 * u
    for k in range(16):
        total = total + term / (4 * k + first)
        term = term * u * u / -((2 * k + start + 1) * (2 * k + start + 2))
    y = xp.where(near, 1.25, size)
    w = _first_quadrant(lib, y * (sqrt(pi) / 2), y * (sqrt(pi) / 2))
    far = (0.5 + 0.5j) * (1 - xp.exp(0.5j * pi * (y * y)) * w)
    far = xp.where(y == np.inf, 0.5 + 0.5j, far)
    far = far.imag if start else far.real
    return xp.where(near, x * total, xp.copysign(far, x))


BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def spence(lib: Lib, x: Raw) -> Raw:
    """Give the dilogarithm of 1 - x, brought by reflections to where its series is quick."""
    xp = lib.xp
    small, large = x < 0.5, x > 2
    u = xp.where(small, -xp.log1p(-x), xp.where(large, xp.log1p(-1 / x), -xp.log(x)))
    term, total = u * u * u / 6, u - u * u / 4
    for k, number in enumerate(BERNOULLI, start=1):
        total = total + number * term
        term = term * u * u / ((2 * k + 2) * (2 * k + 3))
    below = pi**2 / 6 - lib.special.xlogy(xp.log1p(-x), x) - total
    above = -total - pi**2 / 6 - xp.log(x - 1) ** 2 / 2
    return xp.where(small, below, xp.where(large, above, total))


# ---- Bessel functions


def bessel_j(lib: Lib, x: Raw, n: int, steps: int) -> Raw:  # noqa: ARG001 - JAX's steps
    """Give a Bessel function by recursion: upwards where x > n, elsewhere downwards."""
    xp = lib.xp
    last, now = lib.special.j0(x), lib.special.j1(x)
    if n < 2:
        return now if n else last
    near = xp.absolute(x) <= n
    y = xp.where(near, 1.0, x)
    for k in range(1, n):
        last, now = now, 2 * k / y * now - last
    return xp.where(near, _downwards(lib, xp.where(near, x, 1.0), n), now)


def _downwards(lib: Lib, x: Raw, n: int) -> Raw:
    """Recur from a high order to 0, where J0 + 2 J2 + 2 J4 ... = 1 tells the scale."""
    xp = lib.xp
    y = xp.where(x == 0, 1.0, x)
    last, now, total, found = 0 * y, 1 + 0 * y, 0 * y, 0 * y
    for k in range(n + 60, -1, -1):  # `now` is of order k
        scale = xp.where(xp.absolute(now) > 1e100, 1e-100, 1.0)
        last, now, total, found = (v * scale for v in (last, now, total, found))
        found = now if k == n else found
        total = total + (0 if k % 2 else 2 if k else 1) * now
        last, now = now, 2 * k / y * now - last
    return xp.where(x == 0, 0.0, found / total)


ROWS: Rows = {
    ops.wofz_p: Kernel(lambda lib, z: wofz(lib, z).astype(z.dtype)),
    ops.dawsn_p: wide(dawsn),
    ops.owens_t_p: wide(owens_t),
    ops.fresnel_sine_p: wide(fresnel_sine),
    ops.fresnel_cosine_p: wide(fresnel_cosine),
    ops.spence_p: wide(spence),
    ops.bessel_j_p: wide(bessel_j),
    ops.hyp1f1_p: ABSENT,
    ops.hyp2f1_p: ABSENT,
}
