"""Quotients of many numbers by one, whose reciprocal is computed once."""

from __future__ import annotations

from math import inf

from arrayport.core import dtypes
from arrayport_backends.ndarray.scalars import Builder, Scalar

# Divisors below the first are scaled by the second, so that their reciprocals are finite: what
# overflows by that has a quotient that does.
SCALES = {dtypes.float32: (2.0**-100, 2.0**64), dtypes.float64: (2.0**-900, 2.0**512)}


def quotient(b: Builder, x: Scalar, y: Scalar) -> Scalar:
    """X / y, by products and sums alone: rounded once, but within 1 ulp at the ends of the range.

    What depends on y only is left to the compiler, to take out of the loop.
    """
    least, factor = SCALES[y.dtype]
    scale = b.select(b.abs(y) < least, factor, b.constant(1, y.dtype))
    x, y = x * scale, y * scale
    reciprocal = 1.0 / y
    q = x * reciprocal
    rest = b.fma(-q, y, x)
    better = b.copysign(b.fma(rest, reciprocal, q), q)
    return b.select(b.abs(rest) < inf, better, q)
