"""Powers and roots."""

from __future__ import annotations

from math import inf, nan

from arrayport.core import dtypes
from arrayport_backends.ndarray.mathematics import integers
from arrayport_backends.ndarray.mathematics.complexes import divide
from arrayport_backends.ndarray.mathematics.exponentials import EXP2, EXP2_ENDS
from arrayport_backends.ndarray.mathematics.formats import (
    FORMATS,
    horner,
    integer,
    nearest,
    polynomial,
    scale,
    two_product,
    two_sum,
    within,
)
from arrayport_backends.ndarray.mathematics.logarithms import parts
from arrayport_backends.ndarray.scalars import Builder, Scalar, bits_of

# atanh(s) / s = 1 + z / 3 + z**2 q(z), z = s**2, for s as in a logarithm: minimax (Remez).
ATANH = (
    0.19999999999999862,
    0.14285714285788337,
    0.11111111095679278,
    0.09090910758248469,
    0.0769220355170815,
    0.066705661797452,
    0.05796264425222667,
    0.06285224177279299,
)
THIRD = (0.3333333333333333, 1.850371707708594e-17)
TWO_LOG2E = (2.8853900817779268, 4.0710547481862066e-17)
# 2 atanh(s) / s / ln(2) / SINGLE_TWO_LOG2E - 1 in z for |s| <= 0.0865: minimax.
SINGLE_TWO_LOG2E = 2.885390043258667  # as a float32
SINGLE = (
    1.33469991e-08,
    0.333333343,
    0.199994534,
    0.144321516,
)
ROOT, FOURTH = 1.4142135381698608, 1.189207115002721  # 2**0.5 as a float32, and 2**0.25
ROOT_LOW = -2.4690674171878868e-08  # log2(ROOT) - 0.5
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


def _log2(b: Builder, x: Scalar) -> tuple[Scalar, Scalar]:
    """The binary logarithm of a float64 x >= 0 in two parts, to 2**-65 of itself.

    The second is NaN where the first is infinite.
    """
    k, m = parts(b, x)
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
    total, rest = two_sum(-k, high)
    return total, rest + (low + (a_low + c_low))


def _log2_single(b: Builder, x: Scalar) -> tuple[Scalar, Scalar]:
    """The same of a float32, to 2**-31 of itself."""
    k, m = parts(b, x)
    # Over the root of 1/2, 1 or that of 2, m is within a fourth root of 1: then what atanh(s) has
    # beside s is so small that one number holds enough of it.
    above, below = m > FOURTH, m < 1 / FOURTH
    c = b.select(above, m.like(ROOT), b.select(below, ROOT / 2, m.like(1.0)))
    half = b.select(above, m.like(0.5), b.select(below, m.like(-0.5), 0.0))
    f, d = m - c, m + c
    inverse = 1.0 / d
    s = f * inverse
    s_low = (b.fma(-s, d, f) - s * (m - (d - c))) * inverse
    a, a_low = two_product(b, s, s.like(SINGLE_TWO_LOG2E))
    a_low = b.fma(s_low, SINGLE_TWO_LOG2E, a_low)
    tail = horner(b, s * b.fma(s_low, 2.0, s), SINGLE)
    low = b.fma(tail, a, b.fma(tail, a_low, b.fma(half * half, ROOT_LOW * 4, a_low)))
    total, rest = two_sum(half - k, a)
    return total, rest + low


def _raised(b: Builder, a: Scalar, y: Scalar) -> Scalar:
    """A to the power y for a >= 0."""
    high, low = (_log2 if a.dtype == dtypes.float64 else _log2_single)(b, a)
    total = y * high
    rest = b.fma(y, low, b.fma(y, high, -total))
    kept = within(b, total, *EXP2_ENDS[a.dtype])
    rest = b.select(kept == total, rest, 0.0)
    n, code = nearest(b, kept + rest, 1.0)
    r = (kept - n) + rest
    power = b.fma(polynomial(b, r, EXP2[a.dtype]), r, 1.0)
    return scale(b, power, n, code)


def power(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """X to the power y, within 2 ulp; special cases as C has them."""
    a = b.abs(x)
    size = _raised(b, a, y)
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
