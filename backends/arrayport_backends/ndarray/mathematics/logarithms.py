"""Logarithms and what is made of them: log, log1p, the inverse hyperbolic functions."""

from __future__ import annotations

from math import inf, nan

from arrayport.core import dtypes
from arrayport_backends.ndarray.mathematics.formats import FORMATS, horner, polynomial, power_of_two
from arrayport_backends.ndarray.scalars import Builder, Scalar, bits_of

# (log(1 + f) - f) / f**2 for 1 + f from sqrt(1/2) to sqrt(2): minimax (Remez), relative to
# log(1 + f).
SINGLE = (
    -0.4999998834654144,
    0.33333325694145793,
    -0.25001582957317037,
    0.2000197383233182,
    -0.16609082502657396,
    0.14181826524720112,
    -0.13242989946982767,
    0.12904427416165987,
    -0.07621766688194807,
)
# (2 atanh(s) - 2 s) / s**3 in s**2, for 1 + f as above, s = f / (2 + f): minimax.
DOUBLE = (
    0.6666666666666711,
    0.39999999999503727,
    0.2857142873369828,
    0.2222219857522788,
    0.1818360083072696,
    0.15312365093106065,
    0.14818916210168948,
)
ROOT = 0.7071067811865476


def split(b: Builder, x: Scalar) -> tuple[Scalar, Scalar]:
    """The integer k and the number m from sqrt(1/2) to sqrt(2) with x = 2**k m, of normal x > 0."""
    form = FORMATS[x.dtype]
    code = b.bitcast(x, bits_of(x.dtype))
    root = b.bitcast(b.constant(ROOT, x.dtype), code.dtype)
    k = (code - root) >> form.mantissa
    return k, b.bitcast(code - (k << form.mantissa), x.dtype)


def _log(b: Builder, k: Scalar, f: Scalar) -> Scalar:
    """The logarithm of 2**k (1 + f), with a float k and 1 + f from sqrt(1/2) to sqrt(2)."""
    high, low = FORMATS[f.dtype].ln2
    square = f * f
    if f.dtype == dtypes.float32:
        return b.fma(k, high, f + b.fma(horner(b, f, SINGLE), square, k * low))
    s = f / (f + 2.0)
    z = s * s
    half = square * 0.5
    tail = b.fma(s, b.fma(polynomial(b, z, DOUBLE), z, half), k * low)
    return b.fma(k, high, f - (half - tail))


def log(b: Builder, x: Scalar) -> Scalar:
    """Natural logarithm, within 1 ulp."""
    form = FORMATS[x.dtype]
    small = x < form.tiny
    k, m = split(b, b.select(small, x * 2.0**form.mantissa, x))
    k = b.select(small, k - form.mantissa, k)
    y = _log(b, b.convert(k, x.dtype), m - 1.0)
    return _ends(b, x, x, y)


def _ends(b: Builder, x: Scalar, size: Scalar, y: Scalar) -> Scalar:
    """The logarithm y of `size`, set right where that is infinite, NaN, zero or negative."""
    y = b.select(size < inf, y, x)
    return b.select(size > 0, y, b.select(size == 0, b.constant(-inf, x.dtype), nan))


def log_of_sum(b: Builder, x: Scalar, rest: Scalar | None = None, more: Scalar | int = 0) -> Scalar:
    """The logarithm of 2**more (1 + x + rest) for finite x > -1, |rest| not above an ulp of x.

    Zeros keep their sign.
    """
    form = FORMATS[x.dtype]
    code = b.bitcast(x + 1.0, bits_of(x.dtype))
    # 2**-k (1 + x) is from sqrt(1/2) to sqrt(2): x and 1 are multiplied before they are added, so
    # that no sum is rounded twice; by a power that is normal for any k, and a quarter.
    less = (b.bitcast(b.constant(2 * ROOT, x.dtype), code.dtype) - code) >> form.mantissa
    power = power_of_two(b, less + 2, x.dtype)
    f = b.fma(x * 0.25, power, b.fma(power, 0.25, -1.0))
    if rest is not None:
        f, x = b.fma(rest * 0.25, power, f), x + rest
    return _log(b, -b.convert(less - more, x.dtype), b.select(less == 0, x, f))


def log1p(b: Builder, x: Scalar) -> Scalar:
    """Logarithm of 1 + x, within 2 ulp."""
    return _ends(b, x, x + 1.0, log_of_sum(b, x))


def asinh(b: Builder, x: Scalar) -> Scalar:
    """Inverse hyperbolic sine, within 2 ulp."""
    a = b.abs(x)
    large = a > 2.0**28
    small = b.select(large, 1.0, a)
    square = small * small
    # a + sqrt(a**2 + 1) - 1, without cancellation; of large numbers twice a, less 1
    t = small + square / (b.sqrt(square + 1.0) + 1.0)
    zero = b.constant(0, bits_of(x.dtype))
    more = b.select(large, zero + 1, zero)
    y = log_of_sum(b, b.select(large, a - 1.0, t), more=more)
    return b.copysign(b.select(a < inf, y, a), x)


def acosh(b: Builder, x: Scalar) -> Scalar:
    """Inverse hyperbolic cosine, within 2 ulp; NaN below 1."""
    large = x > 2.0**28
    t = x - 1.0
    small = b.select(large, 1.0, t)
    zero = b.constant(0, bits_of(x.dtype))
    more = b.select(large, zero + 1, zero)
    u = b.select(large, t, small + b.sqrt(b.fma(small, small, small * 2.0)))
    y = b.select(x < inf, log_of_sum(b, u, more=more), x)
    return b.select(x < 1.0, nan, y)


def atanh(b: Builder, x: Scalar) -> Scalar:
    """Inverse hyperbolic tangent, within 2 ulp; infinite at 1 and -1, NaN beyond."""
    a = b.abs(x)
    # 2 a / (1 - a) and what rounding took from it; 1 / (1 - a) is 1 and half of it.
    below = 1.0 - a
    ratio = a * 2.0 / below
    left = b.fma(-ratio, below, a * 2.0) - ratio * ((1.0 - below) - a)
    y = log_of_sum(b, ratio, left * b.fma(ratio, 0.5, 1.0)) * 0.5
    y = b.select(a == 1.0, inf, y)
    return b.copysign(b.select(a > 1.0, nan, y), x)


def xlogy(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """X log(y), which is 0 where x is, unless y is NaN."""
    return b.select((x == 0) & ~b.isnan(y), 0.0, x * log(b, y))


def xlog1py(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """X log(1 + y), which is 0 where x is, unless y is NaN."""
    return b.select((x == 0) & ~b.isnan(y), 0.0, x * log1p(b, y))


def entropy(b: Builder, x: Scalar) -> Scalar:
    """-x log(x), which is 0 at 0 and -inf below."""
    return b.select(x == 0, 0.0, b.select(x < 0, -inf, -(x * log(b, x))))
