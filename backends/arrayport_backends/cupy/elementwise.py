"""Elementwise kernels whose functions are others in CuPy than in NumPy, or wait for the device."""

from __future__ import annotations

from typing import Any

from arrayport.ops import elementwise as ops
from arrayport_backends.ndarray import elementwise
from arrayport_backends.ndarray.elementwise import counted, unsigned
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows, ufunc

Raw = Any


def floor_divide(lib: Lib, x: Raw, y: Raw) -> Raw:
    """Divide and round down; with an infinity, which is not looked for first, the quotient."""
    xp = lib.xp
    x, y = counted(x, y)
    q = xp.floor_divide(x, y)
    if x.dtype.kind != "f":
        return q
    return xp.where(xp.isinf(x) | xp.isinf(y), xp.true_divide(x, y), q)


def sign(lib: Lib, x: Raw) -> Raw:
    """Give -1, 0, 1 or NaN, for which CuPy's own gives 0."""
    xp = lib.xp
    return xp.where(xp.isnan(x), x, xp.sign(x)) if x.dtype.kind == "f" else xp.sign(x)


def within(x: Raw, y: Raw) -> Raw:
    """Whether a shift is less than the width: CUDA leaves open what others do."""
    return (y >= 0) & (y < x.dtype.itemsize * 8)


def shift_left(lib: Lib, x: Raw, y: Raw) -> Raw:
    """Shift; past the width 0 is left."""
    xp, inside = lib.xp, within(x, y)
    return xp.where(inside, xp.left_shift(x, xp.where(inside, y, 0)), 0).astype(x.dtype, copy=False)


def shift_right_arithmetic(lib: Lib, x: Raw, y: Raw) -> Raw:
    """Shift, filling in the sign; past the width 0 or -1 is left."""
    xp = lib.xp
    if x.dtype.kind == "u":
        signed = f"i{x.dtype.itemsize}"
        return unsigned(shift_right_arithmetic(lib, x.view(signed), y.view(signed)))
    y = xp.where(within(x, y), y, x.dtype.itemsize * 8 - 1)
    return xp.right_shift(x, y).astype(x.dtype, copy=False)


def shift_right_logical(lib: Lib, x: Raw, y: Raw) -> Raw:
    """Shift, filling in zeros."""
    xp, dtype, x, y = lib.xp, x.dtype, unsigned(x), unsigned(y)
    inside = within(x, y)
    shifted = xp.right_shift(x, xp.where(inside, y, 0))
    return xp.where(inside, shifted, 0).astype(x.dtype, copy=False).view(dtype)


ROWS: Rows = {
    ops.floor_divide_p: Kernel(floor_divide),
    ops.pow_p: Kernel(elementwise.any_power),
    ops.hypot_p: ufunc("hypot"),
    ops.sign_p: Kernel(sign),
    ops.shift_left_p: Kernel(shift_left),
    ops.shift_right_arithmetic_p: Kernel(shift_right_arithmetic),
    ops.shift_right_logical_p: Kernel(shift_right_logical),
}
