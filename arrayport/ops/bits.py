"""The bits of numbers: read as another dtype, counted, multiplied to their upper half, rounded."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.primitive import Unary
from arrayport.ops._families import binary, elementwise, unary
from arrayport.ops.elementwise import complex_p, imag, integers, real
from arrayport.ops.promotion import lift
from arrayport.ops.slices import stack_last, static_slice
from arrayport.ops.structure import Shape, convert, move_axis, reshape

DType = np.dtype[Any]

# ---- bits read as another dtype


def _read_shape(shape: Shape, old: DType, new: DType) -> Shape:
    """A narrower dtype adds a last axis, a wider one takes it away."""
    if new.itemsize == old.itemsize:
        return shape
    if new.itemsize < old.itemsize:
        return (*shape, old.itemsize // new.itemsize)
    parts = new.itemsize // old.itemsize
    if not shape or shape[-1] != parts:
        raise ValueError(
            f"bits of {old} make {new} only where the last axis has {parts} elements, not of shape "
            f"{shape}: reshape first"
        )
    return shape[:-1]


def _bitcast_batch(_size: int, xs: Any, dims: Any, /, new_dtype: DType) -> tuple[Array, int]:
    return bitcast_p.bind(move_axis(xs[0], dims[0], 0), new_dtype=new_dtype), 0


bitcast_p = Unary(
    "bitcast_convert_type",
    lambda x, new_dtype: Aval(_read_shape(x.shape, x.dtype, new_dtype), new_dtype),
    _bitcast_batch,
    jvp=lambda _ts, _ans, _x, new_dtype: None,  # noqa: ARG005 - bits are steps
    keeps_weak=False,
)


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Array:
    """Read the bits of an array as another dtype.

    Of a narrower dtype each element gives several, along a new last axis, the lowest bits first; a
    wider one is made of those along the last axis. Raises TypeError for booleans, complex numbers
    and dtypes of less than a byte, ValueError for a last axis that does not fit. Source:
    ``jax.lax.bitcast_convert_type``.

    >>> from arrayport import lax
    >>> lax.bitcast_convert_type(1.0, "int32")
    Array(1065353216, dtype=int32)
    """
    x, dtype = lift(operand, None, "operand"), dtypes.canonicalize(new_dtype)
    if x.dtype == dtype:
        return convert(x, dtype)
    for each in (x.dtype, dtype):
        if dtypes.kind(each) in "bc" or each in _SMALL:
            raise TypeError(
                f"bitcast_convert_type reads no bits of {each}: cast with astype, or take the real "
                "and imaginary parts"
            )
    return bitcast_p.apply(x, {"new_dtype": dtype})


_SMALL = {dtypes.int2, dtypes.int4, dtypes.uint2, dtypes.uint4, dtypes.SUPPORTED["float4_e2m1fn"]}


def view(x: Array, dtype: DType) -> Array:
    """Read the bits along the last axis as another dtype: complex numbers are pairs of floats."""
    if x.dtype == dtype:
        return x
    old, new = x.dtype.itemsize, dtype.itemsize
    if not x.shape and old != new:
        raise ValueError(f"a 0-d array of {x.dtype} cannot be viewed as {dtype}, of another width")
    if x.dtype.kind == "c":
        pairs = stack_last([real(x), imag(x)])
        return view(reshape(pairs, (*x.shape[:-1], 2 * x.shape[-1])), dtype)
    if dtypes.is_complex(dtype):
        pairs = view(x, dtypes.real_dtype(dtype))
        if pairs.shape[-1] % 2:
            raise _misfit(x, dtype)
        key = [(0, n, 1) for n in pairs.shape[:-1]]
        halves = [static_slice(pairs, (*key, (i, None, 2))) for i in (0, 1)]
        return complex_p.bind(*halves)
    if dtypes.bool_ in {x.dtype, dtype}:
        if dtypes.bool_ == dtype:
            return view(x, dtypes.uint8) != 0
        return view(convert(x, dtypes.uint8), dtype)
    if old < new:
        parts = new // old
        if x.shape[-1] % parts:
            raise _misfit(x, dtype)
        x = reshape(x, (*x.shape[:-1], x.shape[-1] // parts, parts))
    out = bitcast_convert_type(x, dtype)
    if old <= new:
        return out
    return reshape(out, (*x.shape[:-1], x.shape[-1] * (old // new)))


def _misfit(x: Array, dtype: DType) -> ValueError:
    return ValueError(
        f"an array of {x.dtype} and shape {x.shape} cannot be viewed as {dtype}: the bytes of its "
        "last axis must be a multiple of the new width"
    )


# ---- integers

clz_p = elementwise("clz", None, dtype=integers)
mulhi_p = elementwise("mulhi", None, None, dtype=integers)
clz, mulhi = unary(clz_p), binary(mulhi_p)

# ---- precision

FLOATS = (*map(np.dtype, ("e", "f", "d")), dtypes.bfloat16)


def _reducible(dtype: DType) -> DType:
    if dtype not in FLOATS:
        raise TypeError(
            f"reduce_precision takes {', '.join(map(str, FLOATS))}, not {dtype}: cast with astype"
        )
    return dtype


reduce_precision_p: Unary = elementwise(
    "reduce_precision",
    lambda g, _ans, _x, **bits: reduce_precision_p.bind(g, **bits),
    dtype=_reducible,
)


def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Array:
    """Round floats to fewer bits of exponent and mantissa, in their own dtype.

    Halves go to the even neighbour; what is too large becomes infinite, what is too small 0. Raises
    ValueError for less than one bit of exponent or a negative number of mantissa. Source:
    ``jax.lax.reduce_precision``.

    >>> from arrayport import lax
    >>> lax.reduce_precision(1.2345, 5, 3)
    Array(1.25, dtype=float32, weak_type=True)
    """
    if exponent_bits < 1 or mantissa_bits < 0:
        raise ValueError(
            "reduce_precision needs exponent_bits of 1 or more and mantissa_bits of 0 or more, not "
            f"{exponent_bits} and {mantissa_bits}"
        )
    x = lift(operand, None, "operand")
    _reducible(x.dtype)
    bits = {"exponent_bits": int(exponent_bits), "mantissa_bits": int(mantissa_bits)}
    return reduce_precision_p.apply(x, bits)


def fields(dtype: DType) -> tuple[int, int]:
    """Bits of exponent and mantissa of a float dtype.

    >>> fields(np.dtype("float32"))
    (8, 23)
    """
    mantissa = dtypes.finfo(dtype).nmant
    return 8 * dtype.itemsize - 1 - mantissa, mantissa
