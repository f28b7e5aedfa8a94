"""Powers and roots."""

from __future__ import annotations

from math import inf, nan

from arrayport.core import dtypes
from arrayport_backends.ndarray.mathematics import integers
from arrayport_backends.ndarray.mathematics.complexes import divide
from arrayport_backends.ndarray.mathematics.exponentials import EXP2, EXP2_ENDS
from arrayport_backends.ndarray.mathematics.formats import (
    FORMATS,
    integer,
    nearest,
    polynomial,
    power_of_two,
    scale,
    two_product,
    two_sum,
    within,
)
from arrayport_backends.ndarray.mathematics.logarithms import split
from arrayport_backends.ndarray.scalars import Builder, Scalar, bits_of

# atanh(s) / s = 1 + z / 3 + z**2 q(z), z = s**2, for s as in a logarithm: minimax (Remez).
ATANH = (
    0.2000000000000117,
    0.14285714285028445,
    0.11111111263974964,
    0.0909089181623492,
    0.07693396259321113,
    0.06627984946256896,
    0.0660221979930782,
)
# 2 atanh(s) / s / ln(2) in z, which is enough where the answer is a float32.
LOG2 = (
    2.885390081790481,
    0.9617966728240134,
    0.577083687862183,
    0.4116663176661446,
    0.3408524941394851,
)
THIRD = (0.3333333333333333, 1.850371707708594e-17)
TWO_LOG2E = (2.8853900817779268, 4.0710547481862066e-17)
# The cubic root from 1 to 2, to 2**-13 and 2**-20.
CBRT = {
    dtypes.float32: (
        0.552823246,
        0.587114632,
        -0.162969992,
        0.0231050197,
    ),
    dtypes.float64: (
        0.4733301872738243,
        0.838161735893904,
        -0.46923103202027894,
        0.2027787688590894,
        -0.05038704109531299,
        0.005348611753338728,
    ),
}


def _parts(b: Builder, x: Scalar) -> tuple[Scalar, Scalar]:
    """The integer k and the number m from sqrt(1/2) to sqrt(2) with x = 2**k m, of any x > 0."""
    form = FORMATS[x.dtype]
    small = x < form.tiny
    k, m = split(b, b.select(small, x * 2.0**form.mantissa, x))
    return b.select(small, k - form.mantissa, k), m


def _log2(b: Builder, x: Scalar) -> tuple[Scalar, Scalar]:
    """The binary logarithm of a finite float64 x > 0 in two parts, to 2**-65 of itself."""
    k, m = _parts(b, x)
    f = m - 1.0
    d = f + 2.0
    inverse = 1.0 / d
    s = f * inverse
    s_low = (b.fma(-s, d, f) - s * (f - (d - 2.0))) * inverse
    z, z_low = two_product(b, s, s)
    z_low = b.fma(s * 2.0, s_low, z_low)
    p, p_low = two_product(b, z, z.like(THIRD[0]))
    p_low = p_low + b.fma(z, THIRD[1], z_low * THIRD[0])
    w, w_low = two_sum(p, z * z * polynomial(b, z, ATANH))
    w_low = w_low + p_low
    a, a_low = two_product(b, s, s.like(TWO_LOG2E[0]))
    a_low = a_low + b.fma(s, TWO_LOG2E[1], s_low * TWO_LOG2E[0])
    c, c_low = two_product(b, a, w)
    c_low = c_low + b.fma(a, w_low, a_low * w)
    high, low = two_sum(a, c)
    total, rest = two_sum(b.convert(k, x.dtype), high)
    return total, rest + (low + (a_low + c_low))


def _raised(b: Builder, a: Scalar, y: Scalar) -> Scalar:
    """A to the power y for float64 a >= 0."""
    high, low = _log2(b, a)
    high = b.select(a == 0, -inf, b.select(a < inf, high, a))
    total = y * high
    rest = b.fma(y, low, b.fma(y, high, -total))
    kept = within(b, total, *EXP2_ENDS[a.dtype])
    n, code = nearest(b, kept, 1.0)
    r = kept - n
    r = b.select(kept == total, r + rest, r)
    power = b.fma(polynomial(b, r, EXP2[a.dtype]), r, 1.0)
    return scale(b, power, integer(b, code, a.dtype))


def _raised_single(b: Builder, a: Scalar, y: Scalar) -> Scalar:
    """The same of float32, by float64, whose digits are enough and whose exponents too."""
    k, m = _parts(b, a)
    f = b.convert(m, dtypes.float64) - 1.0
    s = f / (f + 2.0)
    high = b.fma(polynomial(b, s * s, LOG2), s, b.convert(k, dtypes.float64))
    high = b.select(a == 0, -inf, b.select(a < inf, high, b.convert(a, dtypes.float64)))
    kept = within(b, b.convert(y, dtypes.float64) * high, *EXP2_ENDS[a.dtype])
    n, code = nearest(b, kept, 1.0)
    r = kept - n
    size = b.fma(polynomial(b, r, EXP2[a.dtype]), r, 1.0)
    return b.convert(size * power_of_two(b, code, dtypes.float64), a.dtype)


def power(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """X to the power y, within 2 ulp; special cases as C has them."""
    a = b.abs(x)
    size = (_raised if x.dtype == dtypes.float64 else _raised_single)(b, a, y)
    # An exponent is odd if it is an integer and its half is not.
    whole, half = b.rint(y) == y, y * 0.5
    odd = whole & (b.rint(half) != half)
    made = b.copysign(size, b.select(odd, x, 1.0))
    made = b.select((x < 0) & (x > -inf) & ~whole, nan, made)
    endless = (a == 1.0) & (b.abs(y) == inf)
    return b.select((y == 0) | (x == 1.0) | endless, 1.0, made)


def any_power(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """X to the power y, of floats or integers."""
    return power(b, x, y) if x.kind == "f" else integers.power(b, x, y)


def integer_pow(b: Builder, x: Scalar, n: int) -> Scalar:
    """X to a static integer power, by repeated squaring."""
    out, rest = None, abs(n)
    while rest:
        if rest & 1:
            out = x if out is None else out * x
        rest >>= 1
        if rest:
            x = x * x
    if out is None:
        return x.like(1)
    return divide(b, out.like(1), out) if n < 0 else out


def rsqrt(b: Builder, x: Scalar) -> Scalar:
    """One over the square root, within 1 ulp."""
    form = FORMATS[x.dtype]
    small = x < form.tiny
    u = b.select(small, x * 4.0**form.mantissa, x)
    # Half the exponent's negative is a first guess, which each of Newton's steps doubles.
    single = x.dtype == dtypes.float32
    guess, steps = (0x5F375A86, 2) if single else (0x5FE6EB50C7B537A9, 3)
    y = b.bitcast(guess - (b.bitcast(u, bits_of(x.dtype)) >> 1), x.dtype)
    half = u * 0.5
    for _ in range(steps):
        y = y * b.fma(half * y, -y, 1.5)
    y = b.fma(y * 0.5, b.fma(u * y, -y, 1.0), y)
    y = b.select(small, y * 2.0**form.mantissa, y)
    y = b.select(x == inf, 0.0, b.select(x < 0, nan, y))
    return b.select(x == 0, b.copysign(x.like(inf), x), y)


def cbrt(b: Builder, x: Scalar) -> Scalar:
    """Cubic root, within 1 ulp."""
    form = FORMATS[x.dtype]
    a = b.abs(x)
    small = a < form.tiny
    code = b.bitcast(b.select(small, a * 2.0**form.mantissa, a), bits_of(x.dtype))
    k = (code >> form.mantissa) - form.bias
    m = b.bitcast(code - (k << form.mantissa), x.dtype)
    k = b.select(small, k - form.mantissa, k)
    _, bits = nearest(b, b.convert(k, x.dtype), 1 / 3)
    third = integer(b, bits, x.dtype)
    left = k - third * 3
    # One step of Halley's from a root within 2**-13 or 2**-20 to one within 2**-39 or 2**-60.
    t = polynomial(b, m, CBRT[x.dtype])
    t = t * b.select(
        left == 0, t.like(1.0), b.select(left < 0, t.like(0.5 ** (1 / 3)), 2 ** (1 / 3))
    )
    u = b.select(left == 0, m, b.select(left < 0, m * 0.5, m * 2.0))
    cube = t * t * t
    t = b.fma(t, (u - cube) / b.fma(cube, 2.0, u), t)
    y = scale(b, t, third)
    return b.select((a > 0) & (a < inf), b.copysign(y, x), x)
