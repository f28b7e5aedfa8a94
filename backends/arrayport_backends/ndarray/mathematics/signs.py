"""Signs, neighbours and kinds of numbers."""

from __future__ import annotations

from math import inf

from arrayport.core import dtypes
from arrayport_backends.ndarray.scalars import Builder, Scalar, bits_of


def sign(b: Builder, x: Scalar) -> Scalar:
    """Give -1, 0, 1 or NaN."""
    y = (
        b.select(x > 0, 1, b.select(x < 0, -1, x.like(0)))
        if x.kind != "u"
        else b.select(x > 0, 1, x.like(0))
    )
    return b.select(b.isnan(x), x, y) if x.kind == "f" else y


def signbit(b: Builder, x: Scalar) -> Scalar:
    """Whether the sign is negative, of zeros and NaN too."""
    return b.bitcast(x, bits_of(x.dtype)) < 0


def is_finite(b: Builder, x: Scalar) -> Scalar:
    """Whether a number is neither infinite nor NaN."""
    if x.kind == "c":
        return is_finite(b, b.real(x)) & is_finite(b, b.imag(x))
    return b.abs(x) < inf if x.kind == "f" else b.constant(True, dtypes.bool_)
