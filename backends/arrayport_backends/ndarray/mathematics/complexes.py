"""Complex numbers: what their arithmetic and functions are in terms of real and imaginary parts."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

from arrayport_backends.ndarray.mathematics.angles import atan2
from arrayport_backends.ndarray.mathematics.exponentials import cosh, exp_parts, sinh
from arrayport_backends.ndarray.mathematics.formats import (
    FORMATS,
    any_sum,
    scale,
    two_product,
)
from arrayport_backends.ndarray.mathematics.logarithms import log_of_sum, split
from arrayport_backends.ndarray.mathematics.trigonometry import cos, sin
from arrayport_backends.ndarray.scalars import Builder, Scalar

Function = Callable[[Builder, Scalar], Scalar]


def divide(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """X / y by Smith's method, which does not overflow before the quotient does."""
    if x.kind != "c":
        return x / y
    (p, q), (c, d) = x.code, y.code
    wide = b.abs(c) >= b.abs(d)
    major, minor = b.select(wide, c, d), b.select(wide, d, c)
    ratio = minor / major
    factor = 1.0 / b.fma(minor, ratio, major)
    real = b.fma(b.select(wide, q, p), ratio, b.select(wide, p, q)) * factor
    imag = b.fma(b.select(wide, -p, q), ratio, b.select(wide, q, -p)) * factor
    zero = (c == 0) & (d == 0)
    size = b.abs(c)
    return b.complex(b.select(zero, p / size, real), b.select(zero, q / size, imag))


def _ordered(b: Builder, x: Scalar) -> tuple[Scalar, Scalar]:
    """The sizes of both parts, the larger one first; NaN is among them if it is in x."""
    size, other = b.abs(x.code[0]), b.abs(x.code[1])
    swap = other > size
    return b.select(swap, other, size), b.select(swap, size, other)


def _any_infinite(b: Builder, x: Scalar) -> Scalar:
    return (b.abs(x.code[0]) == inf) | (b.abs(x.code[1]) == inf)


def modulus(b: Builder, x: Scalar) -> Scalar:
    """|x|, within 2 ulp, without overflow on the way; infinite if a part is."""
    large, small = _ordered(b, x)
    half = float(FORMATS[large.dtype].bias // 2)
    up, down = 2.0 ** (half + 30), 2.0 ** -(half + 30)
    one = large.like(1.0)
    vast, tiny = large > 2.0**half, large < 2.0**-half
    factor = b.select(vast, down, b.select(tiny, one.like(up), one))
    back = b.select(vast, up, b.select(tiny, one.like(down), one))
    large, small = large * factor, small * factor
    y = b.sqrt(b.fma(large, large, small * small)) * back
    return b.select(_any_infinite(b, x), inf, y)


def complex_exp(b: Builder, x: Scalar) -> Scalar:
    """Exponential; special cases as C has them."""
    re, im = x.code
    y, n = exp_parts(b, re)
    c, s = cos(b, im), sin(b, im)
    endless = (b.abs(re) == inf) & ~(b.abs(im) < inf)
    c = b.select(endless, 1.0, c)
    s = b.select(endless & (re < 0), 0.0, s)
    return b.complex(scale(b, y * c, n), b.select(im == 0, im, scale(b, y * s, n)))


def complex_log(b: Builder, x: Scalar) -> Scalar:
    """Natural logarithm, whose real part keeps its digits where |x| is near 1."""
    form = FORMATS[x.code[0].dtype]
    large, small = _ordered(b, x)
    little = large < form.tiny
    up = b.select(little, large.like(2.0**form.mantissa), 1.0)
    k, m = split(b, large * up)
    middle = (large >= 0.5) & (large < 2.0)  # where a power of 2 would cancel
    k, m = b.select(middle, 0, k), b.select(middle, large, m)
    n = scale(b, small * up, -k)
    k = b.select(little, k - form.mantissa, k)
    # half the logarithm of 1 + (m**2 - 1 + n**2), the sum in two parts
    square, square_low = two_product(b, m, m)
    other, other_low = two_product(b, n, n)
    total, total_low = any_sum(square - 1.0, other)
    rest, rest_low = any_sum(square_low, other_low)
    total, more_low = any_sum(total, rest)
    total, rest = any_sum(total, more_low + (total_low + rest_low))
    high, low = form.ln2
    count = b.convert(k, m.dtype)
    real = b.fma(count, high, b.fma(log_of_sum(b, total, rest), 0.5, count * low))
    real = b.select(large == 0, -inf, real)
    real = b.select(b.isnan(large) | b.isnan(small), nan, real)
    real = b.select(_any_infinite(b, x), inf, real)
    return b.complex(real, atan2(b, x.code[1], x.code[0]))


def complex_sqrt(b: Builder, x: Scalar) -> Scalar:
    """Square root with a real part that is not negative; special cases as C has them."""
    re, im = x.code
    form = FORMATS[re.dtype]
    large, _ = _ordered(b, x)
    one = re.like(1.0)
    vast, tiny = large > 2.0 ** (form.bias - 3), large < 2.0 ** -(form.bias - 2 * form.mantissa)
    half = form.mantissa + 1
    factor = b.select(vast, one.like(1 / 16), b.select(tiny, one.like(4.0**half), one))
    back = b.select(vast, one.like(4.0), b.select(tiny, one.like(2.0**-half), one))
    p, q = re * factor, im * factor
    root = b.sqrt((b.abs(p) + modulus(b, b.complex(p, q))) * 0.5)
    other = b.abs(q) / (root + root)
    root, other = root * back, other * back
    ahead = re >= 0
    made_re, made_im = b.select(ahead, root, other), b.select(ahead, other, root)
    zero = (re == 0) & (im == 0)
    made_re, made_im = b.select(zero, 0.0, made_re), b.select(zero, 0.0, made_im)
    # an infinite imaginary part makes both infinite, an infinite real part one of them
    ends = b.abs(re) == inf
    still = b.select(b.isnan(im), im, 0.0)
    made_re = b.select(ends, b.select(re > 0, inf, still), made_re)
    made_im = b.select(ends, b.select(re > 0, still, inf), made_im)
    infinite = b.abs(im) == inf
    made_re, made_im = b.select(infinite, inf, made_re), b.select(infinite, inf, made_im)
    return b.complex(made_re, b.copysign(made_im, im))


# ---- hyperbolic and trigonometric functions: sin(z) is sinh of z with its parts exchanged


def _hyperbolic(b: Builder, x: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """cosh(x) and sinh(x), both over 2**n, and n; n is 0 unless they might overflow."""
    y, k = exp_parts(b, b.abs(x))
    vast = k > 64
    even, odd = b.select(vast, y, cosh(b, x)), b.select(vast, b.copysign(y, x), sinh(b, x))
    return even, odd, b.select(vast, k - 1, 0)


def complex_sinh(b: Builder, z: Scalar) -> Scalar:
    """Hyperbolic sine; special cases as C has them."""
    x, y = z.code
    even, odd, n = _hyperbolic(b, x)
    endless = ~(b.abs(y) < inf)
    real = b.select(endless & ((x == 0) | (b.abs(x) == inf)), x, scale(b, odd * cos(b, y), n))
    return b.complex(real, b.select(y == 0, y, scale(b, even * sin(b, y), n)))


def complex_cosh(b: Builder, z: Scalar) -> Scalar:
    """Hyperbolic cosine; special cases as C has them."""
    x, y = z.code
    even, odd, n = _hyperbolic(b, x)
    endless = ~(b.abs(y) < inf)
    real = b.select(endless & (b.abs(x) == inf), inf, scale(b, even * cos(b, y), n))
    imag = scale(b, odd * sin(b, y), n)
    zero = b.copysign(x.like(0.0), x) * b.copysign(x.like(1.0), y)
    return b.complex(real, b.select(b.isnan(imag) & ((x == 0) | (y == 0)), zero, imag))


def complex_sin(b: Builder, z: Scalar) -> Scalar:
    """Sine; special cases as C has them."""
    turned = complex_sinh(b, b.complex(b.imag(z), b.real(z)))
    return b.complex(b.imag(turned), b.real(turned))


def complex_cos(b: Builder, z: Scalar) -> Scalar:
    """Cosine; special cases as C has them."""
    turned = complex_cosh(b, b.complex(b.imag(z), b.real(z)))
    return b.complex(b.real(turned), -b.imag(turned))


# ---- functions of either


def either(real: Function, of_complex: Function) -> Function:
    """Make a function of real and of complex numbers from one of each."""

    def function(b: Builder, x: Scalar) -> Scalar:
        return of_complex(b, x) if x.kind == "c" else real(b, x)

    return function
