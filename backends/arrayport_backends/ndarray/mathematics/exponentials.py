"""Exponentials and what is made of them: exp, exp2, expm1, logistic, the hyperbolic functions."""

from __future__ import annotations

from math import inf

from arrayport.core import dtypes
from arrayport_backends.ndarray.mathematics.formats import (
    FORMATS,
    KEPT_SIGN,
    horner,
    integer,
    levelled,
    nearest,
    polynomial,
    power_of_two,
    scale,
    two_sum,
    within,
)
from arrayport_backends.ndarray.scalars import Builder, Scalar

LOG2E = 1.4426950408889634
# (exp(r) - 1 - r) / r**2 for |r| <= ln(2) / 2 = 0.347: minimax (Remez), relative to exp(r).
EXP = {
    dtypes.float32: (
        0.49999994,
        0.166665137,
        0.0416680612,
        0.00836955011,
        0.00138437515,
    ),
    dtypes.float64: (
        0.5000000000000011,
        0.16666666666666413,
        0.04166666666653026,
        0.008333333333494349,
        0.0013888888943599765,
        0.0001984126950674667,
        2.4801493133631723e-05,
        2.755758629166966e-06,
        2.7630234972619825e-07,
        2.5000066352604553e-08,
    ),
}
# (2**r - 1) / r for |r| <= 1/2, minimax relative to 2**r.
EXP2 = {
    dtypes.float32: (
        0.693147182,
        0.240226507,
        0.0555040501,
        0.00961816497,
        0.00133454509,
        0.000154172973,
        1.10650517e-05,
    ),
    dtypes.float64: (
        0.6931471805599453,
        0.2402265069591013,
        0.055504108664820084,
        0.009618129107594112,
        0.0013333558146774646,
        0.00015403530457122055,
        1.5252733493117317e-05,
        1.3215435277160736e-06,
        1.017819957000704e-07,
        7.073784164405224e-09,
        4.434772469669239e-10,
    ),
}
# (tanh(u) - u) / u**3 in u**2 for |u| <= ln(2) / 4, relative to tanh(u).
TANH = (
    -0.33333333333332454,
    0.13333333332767217,
    -0.053968252753547705,
    0.021869368603313236,
    -0.008857238415250242,
    0.00344397302917551,
)
# (s - x) / x**3, a quotient of two in x**2, where tanh(x) = s - 4/27 s**3, up to END: minimax,
# relative to tanh(x).
LEVELLED = (
    (
        -0.18518503,
        -0.0867974162,
        -0.0107505042,
        -0.00036394922,
        -2.10359917e-06,
    ),
    (
        1.0,
        0.744255543,
        0.176496342,
        0.0152299646,
        0.000423603313,
        2.18266177e-06,
    ),
)
END = 9.1  # from here on tanh is 1 as a float32
# (sinh(x) - x) / x**3 in x**2 for |x| <= 1, relative to sinh(x).
SINH = {
    dtypes.float32: (
        0.166666672,
        0.00833331048,
        0.000198428956,
        2.78221182e-06,
    ),
    dtypes.float64: (
        0.16666666666666669,
        0.00833333333333291,
        0.00019841269841595468,
        2.755731910588127e-06,
        2.5052131169973235e-08,
        1.6056643506284242e-10,
        7.777142270416243e-13,
    ),
}
# Beyond these the answers of exp and exp2 are 0 and infinity.
EXP_ENDS = {dtypes.float32: (-104.0, 89.0), dtypes.float64: (-746.0, 710.0)}
EXP2_ENDS = {dtypes.float32: (-151.0, 129.0), dtypes.float64: (-1076.0, 1025.0)}


def reduced(b: Builder, x: Scalar) -> tuple[tuple[Scalar, Scalar], Scalar, Scalar]:
    """The integer n `nearest` to x / ln(2), and x - n ln(2) in two parts."""
    high, low = FORMATS[x.dtype].ln2
    n, code = nearest(b, x, LOG2E)
    above = b.fma(n, -high, x)  # exact
    r = b.fma(n, -low, above)
    return (n, code), r, b.fma(n, -low, above - r)


def exp(b: Builder, x: Scalar) -> Scalar:
    """Exponential, within 1 ulp."""
    n, r, _ = reduced(b, within(b, x, *EXP_ENDS[x.dtype]))
    y = b.fma(polynomial(b, r, EXP[x.dtype]), r * r, r) + 1.0
    return scale(b, y, *n)


def exp_parts(b: Builder, x: Scalar) -> tuple[Scalar, Scalar]:
    """A number near 1 and an integer n, with exp(x) the number times 2**n; for `scale`."""
    end = {dtypes.float32: 170.0, dtypes.float64: 1400.0}[x.dtype]
    n, r, _ = reduced(b, within(b, x, -end, end))
    y = b.fma(polynomial(b, r, EXP[x.dtype]), r * r, r) + 1.0
    return b.select(x < inf, y, x), integer(b, n[1], x.dtype)


def exp2(b: Builder, x: Scalar) -> Scalar:
    """Power of 2, within 1 ulp."""
    x = within(b, x, *EXP2_ENDS[x.dtype])
    n, code = nearest(b, x, 1.0)
    r = x - n
    y = b.fma(polynomial(b, r, EXP2[x.dtype]), r, 1.0)
    return scale(b, y, n, code)


def quarter_expm1(b: Builder, x: Scalar) -> Scalar:
    """(exp(x) - 1) / 4, which overflows later than exp(x) - 1 by two powers of 2."""
    n, r, rest = reduced(b, x)
    power = power_of_two(b, n[1] - 2, x.dtype)
    tail = b.fma(polynomial(b, r, EXP[x.dtype]), r * r, rest)
    return b.fma(power, tail, b.fma(power, r, power - 0.25))


def expm1(b: Builder, x: Scalar) -> Scalar:
    """exp(x) - 1, within 2 ulp."""
    low = {dtypes.float32: -20.0, dtypes.float64: -40.0}[x.dtype]
    y = quarter_expm1(b, within(b, x, low, EXP_ENDS[x.dtype][1])) * 4.0
    return _unless_small(b, x, y)


def _unless_small(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """y, but x where both are one up to rounding: a quarter of a subnormal number is inexact."""
    return b.select(b.abs(x) < 2.0 ** -(FORMATS[x.dtype].mantissa + 1), x, y)


def logistic(b: Builder, x: Scalar) -> Scalar:
    """1 / (1 + exp(-x)), within 2 ulp where that is very small too."""
    low = EXP_ENDS[x.dtype][0]
    (_, code), r, _ = reduced(b, b.select(b.abs(x) > -low, x.like(low), -b.abs(x)))
    n = integer(b, code, x.dtype)
    # exp(-|x|) and what its sum lost, by a power of 2 that is normal, and then the rest of it
    y, y_low = two_sum(r.like(1.0), b.fma(polynomial(b, r, EXP[x.dtype]), r * r, r))
    least = 8 - FORMATS[x.dtype].bias
    kept = b.select(n < least, least, n)
    power = power_of_two(b, kept, x.dtype)
    e, e_low = y * power, y_low * power
    below, below_low = two_sum(r.like(1.0), e)
    less = x < 0
    above, above_low = b.select(less, e, 1.0), b.select(less, e_low, 0.0)
    inverse = 1.0 / below
    ratio = above * inverse
    left = b.fma(-ratio, below, above) + b.fma(-ratio, below_low + e_low, above_low)
    ratio = b.fma(left, inverse, ratio)
    return b.select(less, ratio * power_of_two(b, n - kept, x.dtype), ratio)


# ---- by the tangent of half of what the reduction leaves: exp(r) = (2 + t) / (2 - t)


def _twice_tanh(b: Builder, r: Scalar) -> Scalar:
    """2 tanh(r / 2) for |r| <= ln(2) / 2."""
    z = r * r * 0.25
    return b.fma(polynomial(b, z, TANH), r * z, r)


def tanh(b: Builder, x: Scalar) -> Scalar:
    """Hyperbolic tangent, within 2 ulp."""
    if x.dtype == dtypes.float32:
        t = within(b, x, -END, END)
        above, below = (horner(b, t * t, part) for part in LEVELLED)
        return levelled(b, b.fma(b.fma(t * t, above, KEPT_SIGN) / below, t, t))
    a = b.abs(x)
    twice = b.select(a > 20.0, 20.0, a) * 2.0
    high, low = FORMATS[x.dtype].ln2
    n, code = nearest(b, twice, LOG2E)
    t = _twice_tanh(b, b.fma(n, -low, b.fma(n, -high, twice)))
    power = power_of_two(b, code, x.dtype)
    more, less = power + 1.0, power - 1.0
    below = b.fma(t, less, more * 2.0)
    # A part that is exact leaves less to round: y = part + (above - part below) / below.
    part = n * 0.25
    part = b.select(part > 1.0, 1.0, part)
    above = b.fma(t, b.fma(-part, less, more), b.fma(-part, more, less) * 2.0)
    return b.copysign(above / below + part, x)


def _half_exp(b: Builder, x: Scalar) -> Scalar:
    """exp(|x|) / 2, which overflows later than exp."""
    low, high = EXP_ENDS[x.dtype]
    (n, code), r, _ = reduced(b, within(b, b.abs(x), low, high + 1.0))
    y = b.fma(polynomial(b, r, EXP[x.dtype]), r * r, r) + 1.0
    return scale(b, y, n - 1.0, code - 1)


def cosh(b: Builder, x: Scalar) -> Scalar:
    """Hyperbolic cosine, within 2 ulp."""
    half = _half_exp(b, x)
    return half + 0.25 / half


def sinh(b: Builder, x: Scalar) -> Scalar:
    """Hyperbolic sine, within 2 ulp."""
    half = _half_exp(b, x)
    z = x * x
    small = b.fma(polynomial(b, z, SINH[x.dtype]), x * z, x)
    return b.select(z < 1.0, small, b.copysign(half - 0.25 / half, x))
