"""NumPy's and CuPy's kernels on the bits of numbers."""

from __future__ import annotations

from typing import Any

from arrayport.ops import bits as ops
from arrayport_backends.ndarray.elementwise import unsigned
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows
from arrayport_backends.ndarray.mathematics.integers import read_as
from arrayport_backends.ndarray.scalars import Builder

Raw = Any


def bitcast(lib: Lib, x: Raw, new_dtype: Any) -> Raw:
    """Read the bits as another dtype; a change of width makes or takes a last axis."""
    if new_dtype.itemsize == x.dtype.itemsize:
        return lib.xp.ascontiguousarray(x).view(new_dtype).reshape(x.shape)
    shape = x.shape
    if new_dtype.itemsize < x.dtype.itemsize:
        shape = (*shape, x.dtype.itemsize // new_dtype.itemsize)
        return lib.xp.ascontiguousarray(x.reshape(-1)).view(new_dtype).reshape(shape)
    return lib.xp.ascontiguousarray(x.reshape(-1)).view(new_dtype).reshape(shape[:-1])


def clz(lib: Lib, x: Raw) -> Raw:
    """Count the zeros before the first bit set: every bit behind it is set, then all counted."""
    bits, width = unsigned(x), 8 * x.dtype.itemsize
    distance = 1
    while distance < width:
        bits = bits | lib.xp.right_shift(bits, distance)
        distance *= 2
    return (width - lib.xp.bitwise_count(bits)).astype(x.dtype)


def mulhi(lib: Lib, x: Raw, y: Raw) -> Raw:
    """Multiply, and keep the upper half of the product."""
    dtype = x.dtype
    if dtype.itemsize < 8:
        wide = f"{dtype.kind}8"
        return ((x.astype(wide) * y.astype(wide)) >> (8 * dtype.itemsize)).astype(dtype)
    if dtype.kind == "i":
        high = mulhi(lib, x.view("u8"), y.view("u8")).view(dtype)
        return high - lib.xp.where(x < 0, y, 0) - lib.xp.where(y < 0, x, 0)
    half = lib.xp.full((), 32, dtype)
    low = lib.xp.full((), 2**32 - 1, dtype)
    (a, b), (c, d) = ((v >> half, v & low) for v in (x, y))
    middle = a * d + ((b * d) >> half)  # no sum here can overflow
    return a * c + (middle >> half) + ((b * c + (middle & low)) >> half)


def reduce_precision(lib: Lib, x: Raw, exponent_bits: int, mantissa_bits: int) -> Raw:
    """Round the bits of the mantissa, then mend those of the exponent."""
    xp = lib.xp
    exponent, mantissa = ops.fields(x.dtype)
    kept = x.reshape(-1)
    bits = unsigned(xp.ascontiguousarray(kept))

    def word(value: int) -> Raw:
        return xp.full((), value, bits.dtype)

    if mantissa_bits < mantissa:
        gone = mantissa - mantissa_bits
        odd = (bits >> word(gone)) & word(1)
        bits = bits + odd + word((1 << (gone - 1)) - 1)
        bits = bits & ~word((1 << gone) - 1)
    if exponent_bits < exponent:
        bias, reach = (1 << (exponent - 1)) - 1, (1 << (exponent_bits - 1)) - 1
        sign = bits & word(1 << (exponent + mantissa))
        field = bits & word(((1 << exponent) - 1) << mantissa)
        infinite = sign | word(((1 << exponent) - 1) << mantissa)
        bits = xp.where(field > word((bias + reach) << mantissa), infinite, bits)
        bits = xp.where(field <= word((bias - reach) << mantissa), sign, bits)
    return xp.where(kept == kept, bits.view(x.dtype), kept).reshape(x.shape)  # noqa: PLR0124 - NaN


ROWS: Rows = {
    ops.bitcast_p: Kernel(
        bitcast, moves=True, scalar=lambda b, *xs, new_dtype: read_as(b, new_dtype, *xs)
    ),
    ops.clz_p: Kernel(clz, scalar=Builder.leading_zeros, price=4.5),
    ops.mulhi_p: Kernel(mulhi),
    ops.reduce_precision_p: Kernel(reduce_precision, moves=True),
}
