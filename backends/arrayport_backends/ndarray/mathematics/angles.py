"""Inverse trigonometric functions."""

from __future__ import annotations

from math import inf

from arrayport.core import dtypes
from arrayport_backends.ndarray.mathematics.formats import FORMATS, polynomial
from arrayport_backends.ndarray.scalars import Builder, Scalar, bits_of

# (atan(t) - t) / t**3 in t**2 for |t| <= tan(pi/8): minimax (Remez), relative to atan(t).
ATAN = {
    dtypes.float32: (
        -0.333333194,
        0.199988157,
        -0.142505616,
        0.106451541,
        -0.0620137341,
    ),
    dtypes.float64: (
        -0.3333333333333327,
        0.19999999999968981,
        -0.14285714281342562,
        0.1111111082418782,
        -0.09090898537163027,
        0.07692068322917017,
        -0.06663141877142077,
        0.05847834620855093,
        -0.05037812090790211,
        0.0379999866664283,
        -0.017811837463210113,
    ),
}
# (asin(x) - x) / x**3 in x**2 for |x| <= 1/2, the same way.
ASIN = {
    dtypes.float32: (
        0.166666627,
        0.0750032291,
        0.0445545763,
        0.0314860754,
        0.0156411771,
        0.0358831547,
    ),
    dtypes.float64: (
        0.16666666666666702,
        0.07499999999984557,
        0.044642857163615844,
        0.030381943144707078,
        0.02237220494695865,
        0.01735175612690353,
        0.013979479546595982,
        0.011407066652668043,
        0.010748639075769435,
        0.003778225915846264,
        0.02163652395472143,
        -0.021030755809728553,
        0.032722884723868716,
    ),
}
TAN_EIGHTH = 0.41421356237309503


def _ratio(b: Builder, small: Scalar, large: Scalar) -> tuple[Scalar, Scalar]:
    """K and t with atan(small / large) = k pi/4 + atan(t), k 0 or 1, |t| <= tan(pi/8)."""
    over = small > large * TAN_EIGHTH
    above = b.select(over, small - large, small)
    below = b.select(over, small + large, large)
    return b.select(over, small.like(1.0), 0.0), above / below


def _angle(b: Builder, quarters: Scalar, t: Scalar) -> Scalar:
    """Quarters pi/4 + atan(t), for up to 4 quarters."""
    high, low, _ = (part / 4 for part in FORMATS[t.dtype].pi)
    z = t * t
    tail = b.fma(polynomial(b, z, ATAN[t.dtype]), t * z, quarters * low)
    return b.fma(quarters, high, t + tail)


def atan(b: Builder, x: Scalar) -> Scalar:
    """Inverse tangent, within 2 ulp."""
    a = b.abs(x)
    steep = a > 1.0
    k, t = _ratio(b, b.select(steep, 1.0, a), b.select(steep, a, 1.0))
    quarters = b.select(steep, 2.0 - k, k)
    return b.copysign(_angle(b, quarters, b.select(steep, -t, t)), x)


def atan2(b: Builder, y: Scalar, x: Scalar) -> Scalar:
    """Angle of the point (x, y), within 2 ulp; at the origin by the signs of the zeros."""
    up, right = b.abs(y), b.abs(x)
    steep = up > right
    small, large = b.select(steep, right, up), b.select(steep, up, right)
    infinite = (up == inf) & (right == inf)
    small, large = b.select(infinite, 1.0, small), b.select(infinite, 1.0, large)
    # Their sum must not overflow, and the division 0 / 0 not be.
    factor = b.select(large > 2.0 ** (FORMATS[x.dtype].bias - 1), large.like(0.25), 1.0)
    large = b.select(large == 0, 1.0, large)
    k, t = _ratio(b, small * factor, large * factor)
    left = b.bitcast(x, bits_of(x.dtype)) < 0
    quarters = b.select(steep, 2.0 - k, k)
    quarters = b.select(left, 4.0 - quarters, quarters)
    angle = _angle(b, quarters, b.select(steep ^ left, -t, t))
    return b.copysign(angle, y)


def asin(b: Builder, x: Scalar) -> Scalar:
    """Inverse sine, within 2 ulp; NaN beyond 1 and -1."""
    a = b.abs(x)
    over = a > 0.5
    z = b.select(over, b.fma(a, -0.5, 0.5), a * a)
    root = b.select(over, b.sqrt(z), a)
    tail = polynomial(b, z, ASIN[x.dtype]) * (root * z)
    high, low, _ = (part / 2 for part in FORMATS[x.dtype].pi)
    y = b.select(over, high - (root * 2.0 + b.fma(tail, 2.0, -low)), root + tail)
    return b.copysign(y, x)


def acos(b: Builder, x: Scalar) -> Scalar:
    """Inverse cosine, within 2 ulp; NaN beyond 1 and -1."""
    a = b.abs(x)
    over = a > 0.5
    z = b.select(over, b.fma(a, -0.5, 0.5), a * a)
    root = b.select(over, b.sqrt(z), a)
    root = b.copysign(root, x)
    tail = polynomial(b, z, ASIN[x.dtype]) * (root * z)
    high, low, _ = FORMATS[x.dtype].pi
    outer = (root + tail) * 2.0
    left = high + (outer + low)
    return b.select(over, b.select(x < 0, left, outer), high * 0.5 - (root + (tail - low * 0.5)))
