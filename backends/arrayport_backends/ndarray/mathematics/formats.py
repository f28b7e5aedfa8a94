"""What the functions need to know of float32 and float64, and the polynomials they are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arrayport.core import dtypes
from arrayport_backends.ndarray.scalars import Builder, DType, Scalar, bits_of


@dataclass(frozen=True)
class Format:
    """A floating-point format, with constants split into parts of its precision."""

    mantissa: int  # bits, without the hidden one
    bias: int  # of the exponent
    tiny: float  # the least normal number
    magic: float  # added to a number, puts the nearest integer in the lowest bits
    ln2: tuple[float, float]  # the first part times any exponent is exact
    pi: tuple[float, float, float]  # positive parts, so that 0 times them keeps a zero's sign

    @property
    def most(self) -> float:
        """The greatest number."""
        return (2.0 - 2.0**-self.mantissa) * 2.0**self.bias

    @property
    def one(self) -> int:
        """The bits of 1."""
        return self.bias << self.mantissa


FORMATS: Mapping[DType, Format] = {
    dtypes.float32: Format(
        23,
        127,
        2.0**-126,
        1.5 * 2.0**23,
        (0.693145751953125, 1.4286068203094173e-06),
        (3.141592502593994, 1.5099578831723193e-07, 1.078060505991553e-14),
    ),
    dtypes.float64: Format(
        52,
        1023,
        2.0**-1022,
        1.5 * 2.0**52,
        (0.6931471803691238, 1.9082149292705877e-10),
        (3.141592653589793, 1.224646799147353e-16, 2.1657133478438278e-32),
    ),
}

KEPT_SIGN = 2.0**-100  # no more than 0 to a number near 1, but positive


def polynomial(b: Builder, x: Scalar, coefficients: Sequence[float]) -> Scalar:
    """The sum of coefficients[i] * x**i: short ones by Horner's scheme, long ones by halves.

    A processor computes the halves at the same time.
    """
    if len(coefficients) > 8:
        square = x * x
        even = polynomial(b, square, coefficients[::2])
        return b.fma(polynomial(b, square, coefficients[1::2]), x, even)
    return horner(b, x, coefficients)


def horner(b: Builder, x: Scalar, coefficients: Sequence[float]) -> Scalar:
    """The same by Horner's scheme however long: an instruction less, but each waits."""
    *rest, last = coefficients
    value = x.like(last)
    for c in reversed(rest):
        value = b.fma(value, x, c)
    return value


def nearest(b: Builder, x: Scalar, y: Scalar | float) -> tuple[Scalar, Scalar]:
    """The integer nearest to x * y, which must be small, as a float; and bits that end in it."""
    magic = FORMATS[x.dtype].magic
    shifted = b.fma(x, y, magic)
    return shifted - magic, b.bitcast(shifted, bits_of(x.dtype))


def integer(b: Builder, code: Scalar, dtype: DType) -> Scalar:
    """The integer of which `nearest` gave the bits."""
    return code - b.bitcast(b.constant(FORMATS[dtype].magic, dtype), code.dtype)


def power_of_two(b: Builder, n: Scalar, dtype: DType) -> Scalar:
    """2**n as a normal number; what n has above the exponent's bits falls away."""
    form = FORMATS[dtype]
    return b.bitcast((n << form.mantissa) + form.one, dtype)


def scale(b: Builder, x: Scalar, n: Scalar, code: Scalar | None = None) -> Scalar:
    """X * 2**n, whatever comes of it, for n up to twice the exponents' range.

    N is an integer, or a float of which `nearest` gave the bits too.
    """
    if b.scales:
        return b.operate("scale", x.dtype, x, b.convert(n, x.dtype))
    n = n if code is None else integer(b, code, x.dtype)
    half = n >> 1
    return x * power_of_two(b, half, x.dtype) * power_of_two(b, n - half, x.dtype)


def within(b: Builder, x: Scalar, low: float, high: float) -> Scalar:
    """Bring x into a range; NaN stays."""
    x = b.select(x > high, high, x)
    return b.select(x < low, low, x)


def levelled(b: Builder, s: Scalar) -> Scalar:
    """S - 4/27 s**3, which is 1 at 3/2 and level there, so that an error of s counts little.

    What is added to the factor keeps the sign of a zero.
    """
    return b.fma(s, b.fma(s * s, -4 / 27, KEPT_SIGN), s)


def two_sum(x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    """The rounded sum of two numbers, and what rounding took; |x| must not be less than |y|."""
    total = x + y
    return total, y - (total - x)


def any_sum(x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    """The same of numbers of any sizes."""
    total = x + y
    back = total - x
    return total, (x - (total - back)) + (y - back)


def two_product(b: Builder, x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    """The rounded product of two numbers, and what rounding took."""
    product = x * y
    return product, b.fma(x, y, -product)
