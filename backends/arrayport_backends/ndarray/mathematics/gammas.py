"""The logarithm of the gamma function and its derivative."""

from __future__ import annotations

from math import inf, nan, pi

from arrayport.core import dtypes
from arrayport_backends.ndarray.mathematics.formats import FORMATS, polynomial
from arrayport_backends.ndarray.mathematics.logarithms import log
from arrayport_backends.ndarray.mathematics.trigonometry import sine
from arrayport_backends.ndarray.scalars import Builder, Scalar, bits_of

# lgamma(2 + t) / t for |t| <= 1/2: minimax (Remez), relative.
NEAR_TWO = {
    dtypes.float32: (
        0.422784328,
        0.322467029,
        -0.0673514754,
        0.0205813684,
        -0.00740171177,
        0.00288020936,
        -0.00108997431,
        0.000568741758,
        -0.000438811549,
    ),
    dtypes.float64: (
        0.42278433509846713,
        0.3224670334241133,
        -0.0673523010531949,
        0.020580808427765784,
        -0.007385551029013647,
        0.002890510331825781,
        -0.001192753897858191,
        0.0005096694961551218,
        -0.00022315504032728687,
        9.945792173636682e-05,
        -4.492302427113416e-05,
        2.050377851434884e-05,
        -9.460888269840885e-06,
        4.392230907050636e-06,
        -1.9568581940298063e-06,
        9.034908763059327e-07,
        -6.166733632381255e-07,
        2.937240719950606e-07,
        3.002463959547012e-08,
    ),
}
# Stirling's series: lgamma(x) is (x - 1/2) (log(x) - 1) + HALF_LOG and these over x, x**3, ...
STIRLING = (
    1 / 12,
    -1 / 360,
    1 / 1260,
    -1 / 1680,
    1 / 1188,
    -691 / 360360,
    1 / 156,
    -3617 / 122400,
)
HALF_LOG = 0.4189385332046728  # (log(2 pi) - 1) / 2
# digamma(x) is log(x) - 1 / (2 x) and these over x**2, x**4, ...
DIGAMMA = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12)
TERMS = {dtypes.float32: 3, dtypes.float64: 8}


def lgamma(b: Builder, x: Scalar) -> Scalar:
    """Logarithm of |gamma(x)|: within 4 ulp, 8 between 1 and 2, more near the roots below 0."""
    a = b.abs(x)
    y = _lgamma(b, a)
    # below 0 by gamma(x) gamma(-x) = -pi / (x sin(pi x)), infinite at integers
    left = x - b.rint(x)
    turned = -log(b, a * b.abs(_wave(b, left) * (1 / pi))) - y
    turned = b.select(left == 0, inf, turned)
    turned = b.select(a == inf, inf, turned)
    return b.select(x < -(2.0 ** -FORMATS[x.dtype].mantissa), turned, y)


def _wave(b: Builder, x: Scalar) -> Scalar:
    """sin(pi x) for |x| <= 1/2."""
    return sine(b, b.constant(0, bits_of(x.dtype)), x * pi)


def _lgamma(b: Builder, x: Scalar) -> Scalar:
    """The logarithm of gamma(x) for x >= 0."""
    large = x >= 7.5
    n = b.floor(x + 0.5)
    t = x - n
    # From the range about n to that about 2 by gamma(x + 1) = x gamma(x).
    down = x.like(1.0)
    for j in range(1, 6):
        down = b.select(n >= j + 2.0, down * (x - float(j)), down)
    up = b.select(n == 0, x * (x + 1.0), x)
    below = n < 2.0
    logarithm = log(b, b.select(large, x, b.select(below, up, down)))
    moved = b.select(below, -logarithm, logarithm)
    near = b.fma(polynomial(b, t, NEAR_TWO[x.dtype]), t, moved)
    z = 1.0 / x
    series = polynomial(b, z * z, STIRLING[: TERMS[x.dtype]]) * z
    far = b.fma(x - 0.5, logarithm - 1.0, series + HALF_LOG)
    return b.select(large, far, near)


def digamma(b: Builder, x: Scalar) -> Scalar:
    """Derivative of lgamma, within 16 units of the last place of the greater of it and 1."""
    a = b.abs(x)
    # of a + 1: 1 / (a + 1) + 1 / (a + 2) + ..., as one fraction, leads to where a series holds
    z, above, below = a + 1.0, x.like(0.0), x.like(1.0)
    for _ in range(9):
        small = z < 10.0
        above = b.select(small, b.fma(above, z, below), above)
        below = b.select(small, below * z, below)
        z = b.select(small, z + 1.0, z)
    inverse = 1.0 / z
    square = inverse * inverse
    series = polynomial(b, square, DIGAMMA[: TERMS[x.dtype]]) * square
    later = (log(b, z) + b.fma(inverse, -0.5, series)) - above / below
    # digamma(x) = digamma(x + 1) - 1 / x, and digamma(-x) = digamma(x + 1) + pi / tan(pi x)
    left = x - b.rint(x)
    under = x < 0
    y = later - b.select(under, _wave(b, 0.5 - b.abs(left)) * pi, 1.0) / b.select(
        under, _wave(b, left), x
    )
    return b.select(under & (left == 0), nan, y)
