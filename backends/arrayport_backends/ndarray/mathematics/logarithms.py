"""Logarithms and what is made of them: log, log1p, the inverse hyperbolic functions."""

from __future__ import annotations

from math import inf, nan

from arrayport.core import dtypes
from arrayport_backends.ndarray.mathematics.formats import FORMATS, horner, polynomial, power_of_two
from arrayport_backends.ndarray.scalars import Builder, Scalar, bits_of

# (log(1 + f) - f) / f**2 for 1 + f from 3/4 to 3/2: minimax (Remez), relative to log(1 + f).
SINGLE = (
    -0.5000000082346587,
    0.33333454452398004,
    -0.2500005460974438,
    0.19990606381040057,
    -0.16647765121676253,
    0.14482062550366187,
    -0.13162253735559715,
    0.10448372403877088,
    -0.044909839390057806,
)
# (2 atanh(s) - 2 s) / s**3 in s**2, for 1 + f as above, s = f / (2 + f): minimax.
DOUBLE = (
    0.6666666666667268,
    0.3999999999617666,
    0.28571429392847875,
    0.22222138684100753,
    0.18186349179691977,
    0.15250316385947016,
    0.15367264581142961,
)
LEAST = 0.75


def split(b: Builder, x: Scalar) -> tuple[Scalar, Scalar]:
    """The integer k and the number m from 3/4 to 3/2 with x = 2**k m, of normal x > 0."""
    form = FORMATS[x.dtype]
    code = b.bitcast(x, bits_of(x.dtype))
    k = (code - b.bitcast(x.like(LEAST), code.dtype)) >> form.mantissa
    return k, b.bitcast(code - (k << form.mantissa), x.dtype)


def parts(b: Builder, x: Scalar) -> tuple[Scalar, Scalar]:
    """The whole number k, a float, and m from 3/4 to 3/2 with 2**k x = m, of any x > 0.

    Where x is 0 or infinite, only k is; where x is negative or NaN, k is NaN.
    """
    if b.scales:
        m = b.operate("significand", x.dtype, x)
        return b.operate("exponent", x.dtype, m) - b.operate("exponent", x.dtype, x), m
    form = FORMATS[x.dtype]
    small = x < form.tiny
    k, m = split(b, b.select(small, x * 2.0**form.mantissa, x))
    return _ends(b, x, b.convert(b.select(small, form.mantissa - k, -k), x.dtype)), m


def _ends(b: Builder, x: Scalar, k: Scalar) -> Scalar:
    """The number k of `parts`, set right where x is infinite, NaN, zero or negative."""
    k = b.select(x < inf, k, -x)
    return b.select(x > 0, k, b.select(x == 0, x.like(inf), nan))


def _log(b: Builder, k: Scalar, f: Scalar) -> Scalar:
    """The logarithm of 2**-k (1 + f), with a float k and 1 + f from 3/4 to 3/2."""
    high, low = FORMATS[f.dtype].ln2
    square = f * f
    if f.dtype == dtypes.float32:
        return b.fma(k, -high, f + b.fma(horner(b, f, SINGLE), square, k * -low))
    s = f / (f + 2.0)
    z = s * s
    half = square * 0.5
    tail = b.fma(s, b.fma(polynomial(b, z, DOUBLE), z, half), k * -low)
    return b.fma(k, -high, f - (half - tail))


def log(b: Builder, x: Scalar) -> Scalar:
    """Natural logarithm, within 1 ulp."""
    k, m = parts(b, x)
    return _log(b, k, m - 1.0)


def log_of_sum(
    b: Builder, x: Scalar, rest: Scalar | None = None, more: Scalar | float = 0.0
) -> Scalar:
    """The logarithm of 2**more (1 + x + rest) for |rest| not above an ulp of x.

    Zeros keep their sign.
    """
    form = FORMATS[x.dtype]
    # 2**k (1 + x) is from 3/4 to 3/2: x and 1 are multiplied before they are added, so that no sum
    # is rounded twice.
    if b.scales:
        k, _ = parts(b, x + 1.0)
        power = b.operate("scale", x.dtype, x.like(1.0), b.select(k > form.bias, form.bias, k))
    else:
        code = b.bitcast(x + 1.0, bits_of(x.dtype))
        less = (b.bitcast(x.like(2 * LEAST), code.dtype) - code) >> form.mantissa
        k = _ends(b, x + 1.0, b.convert(less, x.dtype))
        power = power_of_two(b, less + 2, x.dtype) * 0.25
    x = b.select(x > form.most, form.most, x)
    f = b.fma(x, power, -(1.0 - power))
    f = f if rest is None else b.fma(rest, power, f)
    return _log(b, k - more, f)


def log1p(b: Builder, x: Scalar) -> Scalar:
    """Logarithm of 1 + x, within 2 ulp."""
    return log_of_sum(b, x)


def asinh(b: Builder, x: Scalar) -> Scalar:
    """Inverse hyperbolic sine, within 2 ulp."""
    a = b.abs(x)
    large = a > 2.0**28
    small = b.select(large, 1.0, a)
    square = small * small
    # a + sqrt(a**2 + 1) - 1, without cancellation; of large numbers twice a, less 1
    t = small + square / (b.sqrt(square + 1.0) + 1.0)
    more = b.select(large, x.like(1.0), 0.0)
    return b.copysign(log_of_sum(b, b.select(large, a - 1.0, t), more=more), x)


def acosh(b: Builder, x: Scalar) -> Scalar:
    """Inverse hyperbolic cosine, within 2 ulp; NaN below 1."""
    large = x > 2.0**28
    t = x - 1.0
    small = b.select(large, 1.0, t)
    more = b.select(large, x.like(1.0), 0.0)
    u = b.select(large, t, small + b.sqrt(b.fma(small, small, small * 2.0)))
    return b.select(x < 1.0, nan, log_of_sum(b, u, more=more))


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
