"""Trigonometric functions, right for arguments of any size."""

from __future__ import annotations

from math import inf, pi

import numpy as np

from arrayport.core import dtypes
from arrayport_backends.ndarray.mathematics.formats import (
    FORMATS,
    KEPT_SIGN,
    nearest,
    polynomial,
    two_product,
    two_sum,
)
from arrayport_backends.ndarray.scalars import Builder, Scalar, bits_of

# (sin(r) - r) / r**3 in r**2 for |r| <= pi/2: minimax (Remez), relative to sin(r).
SINE = {
    dtypes.float32: (
        -0.166666672,
        0.00833335426,
        -0.00019844179,
        2.77145864e-06,
        -2.74972578e-08,
    ),
    dtypes.float64: (
        -0.16666666666666666,
        0.008333333333333226,
        -0.00019841269841215436,
        2.7557319211542182e-06,
        -2.505210686281875e-08,
        1.6058937338135604e-10,
        -7.642891161683987e-13,
        2.719790944059004e-15,
    ),
}
# The same for |r| <= pi/4, and (cos(r) - 1 + r**2 / 2) / r**4, relative to cos(r).
QUARTER_SINE = {
    dtypes.float32: (
        -0.166666672,
        0.0083333822,
        -0.000198552865,
        2.85931287e-06,
    ),
    dtypes.float64: (
        -0.16666666666666638,
        0.008333333333322635,
        -0.00019841269829215256,
        2.755731330808804e-06,
        -2.5050678868387002e-08,
        1.5891425930762584e-10,
    ),
}
QUARTER_COSINE = {
    dtypes.float32: (
        0.041666653,
        -0.0013887696,
        2.44739258e-05,
    ),
    dtypes.float64: (
        0.04166666666666665,
        -0.0013888888888882198,
        2.4801587294046675e-05,
        -2.7557315523528567e-07,
        2.0875862886737466e-09,
        -1.1365926734338514e-11,
    ),
}
# Up to here x less a multiple of pi is had by three parts of pi.
LARGE = {dtypes.float32: 2.0**17, dtypes.float64: 2.0**30}


def sin(b: Builder, x: Scalar) -> Scalar:
    """Sine, within 2 ulp."""
    n, code = nearest(b, x, 1 / pi)
    y = sine(b, code, _less(b, x, n))
    return b.rare(b.abs(x) > LARGE[x.dtype], large_sin, y, x, x.like(0))


def cos(b: Builder, x: Scalar) -> Scalar:
    """Cosine, within 2 ulp."""
    # |x| = (n - 1/2) pi + r, so cos(x) = cos(r - pi/2 + n pi) = sin(r + n pi)
    a = b.abs(x)
    n, code = nearest(b, b.fma(a, 1 / pi, 0.5), 1.0)
    y = sine(b, code, _less(b, a, n - 0.5))
    return b.rare(a > LARGE[x.dtype], large_sin, y, a, x.like(1))


def _less(b: Builder, x: Scalar, n: Scalar) -> Scalar:
    """X - n pi."""
    high, middle, low = FORMATS[x.dtype].pi
    return b.fma(n, -low, b.fma(n, -middle, b.fma(n, -high, x)))


def sine(b: Builder, n: Scalar, r: Scalar) -> Scalar:
    """sin(r + n pi) for |r| <= pi/2."""
    odd = n << (8 * r.dtype.itemsize - 1)
    r = b.bitcast(b.bitcast(r, n.dtype) ^ odd, r.dtype)
    z = r * r
    return b.fma(r, b.fma(polynomial(b, z, SINE[r.dtype]), z, KEPT_SIGN), r)


def tan(b: Builder, x: Scalar) -> Scalar:
    """Tangent, within 2 ulp."""
    n, code = nearest(b, x, 2 / pi)
    high, middle, low = (part / 2 for part in FORMATS[x.dtype].pi)
    above = b.fma(n, -middle, b.fma(n, -high, x))
    r = b.fma(n, -low, above)
    y = _tangent(b, code, r, b.fma(n, -low, above - r))
    return b.rare(b.abs(x) > LARGE[x.dtype], large_tan, y, x)


def _tangent(b: Builder, n: Scalar, r: Scalar, rest: Scalar) -> Scalar:
    """tan(r + rest + n pi/2) for |r| <= pi/4."""
    z = r * r
    wide = 1.0 - z * 0.5
    sine, sine_low = two_sum(
        r, b.fma(rest, wide, polynomial(b, z, QUARTER_SINE[r.dtype]) * (r * z))
    )
    cosine, cosine_low = two_sum(wide, polynomial(b, z, QUARTER_COSINE[r.dtype]) * (z * z))
    cosine_low = cosine_low + b.fma(z, -0.5, 1.0 - wide)
    odd = (n & 1) != 0
    above, above_low = b.select(odd, cosine, sine), b.select(odd, cosine_low, sine_low)
    below, below_low = b.select(odd, -sine, cosine), b.select(odd, -sine_low, cosine_low)
    inverse = 1.0 / below
    ratio = above * inverse
    left = b.fma(-ratio, below, above) + b.fma(-ratio, below_low, above_low)
    return b.select(r == 0.0, b.select(odd, ratio, r), b.fma(left, inverse, ratio))


# ---- large arguments, by the digits of 2/pi (Payne and Hanek)

_DIGITS = (
    "0000000000000000"  # so that less large numbers find their digits too
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e0"
    "06492eea09d1921cfe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f4"
    "9c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d"
    "7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6babf0cfbc209af4361d"
)
WORDS = np.array([int(_DIGITS[i : i + 8], 16) for i in range(0, len(_DIGITS), 8)], np.uint64)


def large_sin(b: Builder, x: Scalar, turned: Scalar) -> Scalar:
    """Sine of a large number; where `turned` is 1 and not 0, cosine of such a positive one.

    One function is both, because it is long: what calls it is compiled sooner.
    """
    n, r, _ = _large(b, x, 63, turned)
    return _finite(b, x, sine(b, b.convert(n, bits_of(x.dtype)), b.convert(r, x.dtype)))


def large_tan(b: Builder, x: Scalar) -> Scalar:
    """Tangent of a large number."""
    n, r, rest = _large(b, x, 62)
    parts = [b.convert(v, x.dtype) for v in (r, rest)]
    return _finite(b, x, _tangent(b, b.convert(n, bits_of(x.dtype)), *parts))


def _finite(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """y, but NaN for infinite x."""
    return b.select(b.abs(x) < inf, y, x - x)


def _large(
    b: Builder, x: Scalar, width: int, turned: Scalar | None = None
) -> tuple[Scalar, Scalar, Scalar]:
    """N and r with x = n u + r, for u = pi (width 63) or pi/2 (62), n modulo what matters.

    r is given in two parts; where `turned` is 1, x = (n - 1/2) u + r. x is at least 2**16 in size.
    """
    wide = b.convert(x, dtypes.float64)
    code = b.bitcast(b.abs(wide), dtypes.uint64)
    exponent = b.convert(code >> 52, dtypes.int32) - 1023
    mantissa = (code & (2**52 - 1)) | 2**52
    # x = mantissa 2**(exponent - 52): the bits of 2/pi that matter begin where their product with
    # this has the weight 2.
    start = exponent - 54
    word, shift = start >> 5, b.convert(start & 31, dtypes.uint64)
    digits = [b.table(WORDS, word + (i + 2)) for i in range(7)]
    limbs = [(((digits[i] << 32) | digits[i + 1]) << shift) >> 32 for i in range(6)]
    # The low 192 bits of the product, by words of 32 bits; the lowest limb comes last.
    factors = (mantissa & (2**32 - 1), mantissa >> 32)
    sums = [limbs[0].like(0)] * 8
    for i, limb in enumerate(limbs):
        for j, factor in enumerate(factors):
            place = 5 - i + j
            if place < 6:
                product = limb * factor
                sums[place] = sums[place] + (product & (2**32 - 1))
                sums[place + 1] = sums[place + 1] + (product >> 32)
    for i in range(5):
        sums[i + 1] = sums[i + 1] + (sums[i] >> 32)
    top = b.bitcast((sums[5] << 32) | (sums[4] & (2**32 - 1)), dtypes.int64)
    low = ((sums[3] & (2**32 - 1)) << 32) | (sums[2] & (2**32 - 1))
    # `top` counts 2**-62 of pi/2 or 2**-63 of pi; its multiples of u are n.
    moved = top
    if turned is not None:
        moved = top + (b.convert(turned, dtypes.int64) << (width - 1))
    n = b.bitcast(b.bitcast(moved + 2 ** (width - 1), dtypes.uint64) >> width, dtypes.int64)
    left = moved - (n << width)
    high = b.convert(left, dtypes.float64)
    less = b.fma(
        b.convert(low, dtypes.float64),
        2.0**-64,
        b.convert(left - b.convert(high, dtypes.int64), dtypes.float64),
    )
    unit, unit_low = (part * 2.0**-63 for part in FORMATS[dtypes.float64].pi[:2])
    r, rest = two_product(b, high, high.like(unit))
    rest = b.fma(high, unit_low, b.fma(less, unit, rest))
    total = r + rest
    rest = rest - (total - r)
    sign = b.select(wide < 0, wide.like(-1.0), 1.0)
    count = b.select(wide < 0, -n, n)
    return count, total * sign, rest * sign
