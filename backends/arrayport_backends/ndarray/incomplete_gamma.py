"""Kernels of the incomplete gamma function's derivative in its exponent, which no library has.

With p the density of the gamma distribution of exponent a, and P the probability below x, both
kernels are multiples of D = dP/da / (x p(x)). Up to x = a the series of P is differentiated term by
term. Elsewhere P = 1 - Q, or P itself, is the integral of t p(t) over log t, which turns into

    D = integral over s > 0 of (log x - psi(a) - s) exp(x - a s - x exp(-s))    (below x)
    D = integral over s > 0 of (psi(a) - log x - s) exp(x + a s - x exp(s))     (above x)

whose integrands fall from their ends at s = 0 like a Gaussian or faster.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from arrayport_backends.ndarray.kernels import Lib

Raw = Any

LARGE = 20.0  # exponents from which on Stirling's series are exact, not the series of P
TERMS = 60  # of the series of P, for x up to LARGE
NODES, WEIGHTS = (
    (v + c) / 2 for v, c in zip(np.polynomial.legendre.leggauss(48), (1, 0), strict=True)
)
FALL = 40.0  # the exponent at which the integrals end
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)  # of log gamma, in 1/a, 1/a^3 ...
PSI = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132)  # of psi, in 1/a^2, 1/a^4 ...


def igamma_grad_a(lib: Lib, a: Raw, x: Raw) -> Raw:
    """Differentiate P(a, x) with respect to a."""
    return _apply(lib, lambda a, x: _slope(lib, a, x) * _density(lib, a, x), a, x)


def random_gamma_grad(lib: Lib, a: Raw, x: Raw) -> Raw:
    """Differentiate with respect to a the x of a fixed P(a, x)."""
    return _apply(lib, lambda a, x: -x * _slope(lib, a, x), a, x)


def _apply(lib: Lib, function: Any, a: Raw, x: Raw) -> Raw:
    """Compute in float64 where there is something to compute: a, x > 0; at x = 0 both are 0."""
    xp = lib.xp
    shape, dtype = a.shape or x.shape, x.dtype
    a, x = (xp.broadcast_to(v.astype(xp.float64), shape).reshape(-1) for v in (a, x))
    inside = (a > 0) & (a < np.inf) & (x > 0) & (x < np.inf)
    out = xp.where((a > 0) & ((x == 0) | (x == np.inf)), 0.0, xp.nan)
    out[inside] = function(a[inside], x[inside])
    return out.astype(dtype).reshape(shape)


def _slope(lib: Lib, a: Raw, x: Raw) -> Raw:
    """Give D by the way that suits each element."""
    low = (x <= a) | (x <= 1)
    series = low & (a < LARGE)
    out = lib.xp.empty_like(a)
    out[series] = _by_series(lib, a[series], x[series])
    for where, below in ((low & ~series, True), (~low, False)):
        out[where] = _by_integral(lib, a[where], x[where], below)
    return out


def _by_series(lib: Lib, a: Raw, x: Raw) -> Raw:
    """Differentiate P = x p(x) / a * (1 + x / (a + 1) + ...) term by term."""
    term, slope = lib.xp.ones_like(a), lib.xp.zeros_like(a)
    total, slopes = term.copy(), slope.copy()
    for n in range(1, TERMS):
        rate = x / (a + n)
        slope = (slope - term / (a + n)) * rate
        term = term * rate
        total += term
        slopes += slope
    return (total * (lib.xp.log(x) - lib.special.digamma(a + 1)) + slopes) / a


def _by_integral(lib: Lib, a: Raw, x: Raw, below: bool) -> Raw:
    """Integrate on one side of x by the rule of Gauss and Legendre."""
    xp = lib.xp
    side = 1.0 if below else -1.0
    gap = side * (a - x)
    end = xp.minimum(3 * FALL / (gap + xp.sqrt(gap * gap + 2 * FALL * x)), 4.0)
    start = _log_less_psi(lib, a, x) * side
    total = xp.zeros_like(a)
    for node, weight in zip(NODES.tolist(), WEIGHTS.tolist(), strict=True):
        s = end * node
        fall = gap * s + x * (side * s + xp.expm1(-side * s))
        total += weight * (start - s) * xp.exp(-fall)
    return total * end


def _log_less_psi(lib: Lib, a: Raw, x: Raw) -> Raw:
    """Give log x - psi(a), which for large a are almost equal."""
    xp = lib.xp
    large = xp.maximum(a, LARGE)
    return xp.where(
        a < LARGE,
        xp.log(x) - lib.special.digamma(a),
        xp.log(x / large) + 0.5 / large - _series(PSI, large) / large,
    )


def _density(lib: Lib, a: Raw, x: Raw) -> Raw:
    """Give x p(x), the density over log x."""
    xp = lib.xp
    small, large = xp.minimum(a, LARGE), xp.maximum(a, LARGE)
    d = (x - large) / large
    r = d / (2 + d)
    near = -d * r + 2 * r**3 * sum(r ** (2 * k) / (2 * k + 3) for k in range(12))
    fall = xp.where(xp.absolute(d) < 0.3, near, xp.log(x / large) - d)  # log(x / a) - (x - a) / a
    return xp.where(
        a < LARGE,
        xp.exp(small * xp.log(x) - x - lib.special.gammaln(small)),
        xp.sqrt(large / (2 * pi)) * xp.exp(large * fall - _series(STIRLING, large)),
    )


def _series(coefficients: tuple[float, ...], a: Raw) -> Raw:
    """Sum a series in the odd powers of 1 / a."""
    u, total = 1 / (a * a), 0.0 * a
    for c in reversed(coefficients):
        total = total * u + c
    return total / a
