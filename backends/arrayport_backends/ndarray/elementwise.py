"""NumPy's and CuPy's kernels for elementwise operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.ops import elementwise as ops
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows, ufunc
from arrayport_backends.ndarray.mathematics import (
    angles,
    complexes,
    exponentials,
    integers,
    logarithms,
    powers,
    signs,
    trigonometry,
)
from arrayport_backends.ndarray.scalars import Builder

Raw = Any

# ---- arithmetic


def quotient(lib: Lib, x: Raw, y: Raw) -> Raw:
    """Divide integers towards zero; by 0 gives all bits set, as XLA does."""
    xp = lib.xp
    q = xp.floor_divide(x, y)
    q = q + ((x - q * y != 0) & ((x < 0) != (y < 0))).astype(q.dtype)
    return xp.where(xp.equal(y, 0), ~xp.zeros((), x.dtype), q)


def rem(lib: Lib, x: Raw, y: Raw) -> Raw:
    """Give the remainder with the sign of x; integers by 0 give x, as XLA does."""
    xp = lib.xp
    if x.dtype.kind == "f":
        return xp.fmod(x, y)
    r = xp.remainder(x, y)
    r = xp.where((r != 0) & ((x < 0) != (y < 0)), r - y, r)
    return xp.where(xp.equal(y, 0), x, r)


def counted(x: Raw, y: Raw) -> tuple[Raw, Raw]:
    """Take booleans as integers."""
    if x.dtype.kind == "b":
        return x.astype(np.int32), y.astype(np.int32)
    return x, y


def floor_divide(lib: Lib, x: Raw, y: Raw) -> Raw:
    """Divide and round down; with an infinity the quotient itself, as the array API has it."""
    xp = lib.xp
    x, y = counted(x, y)
    q = xp.floor_divide(x, y)
    if x.dtype.kind == "f":
        infinite = xp.isinf(x) | xp.isinf(y)
        if infinite.any():
            return xp.where(infinite, xp.true_divide(x, y), q)
    return q


def remainder(lib: Lib, x: Raw, y: Raw) -> Raw:
    """Give what floor_divide leaves, with the sign of y."""
    return lib.xp.remainder(*counted(x, y))


# ---- powers


def power(lib: Lib, x: Raw, y: Raw) -> Raw:
    """Raise to a power; for a half that repeats NumPy takes the root, another at -0 and -inf."""
    xp = lib.xp
    if x.dtype.kind == "f":
        strides = getattr(y, "strides", ())  # a number of Python's has none
        if not strides and y == 0.5:
            return xp.where(x == -np.inf, np.inf, xp.sqrt(x) + 0)
        return xp.power(x, y.copy() if 0 in strides else y)
    return any_power(lib, x, y)


def any_power(lib: Lib, x: Raw, y: Raw) -> Raw:
    """Raise to a power; integers to a negative one give 0, or 1 and -1 for these two."""
    xp = lib.xp
    if x.dtype.kind in "fcu":
        return xp.power(x, y)
    x, y = counted(x, y)
    unit = xp.where(xp.absolute(x) == 1, x, xp.zeros((), x.dtype))
    positive = xp.power(x, xp.maximum(y, 0))
    return xp.where(y < 0, xp.where((y & 1) == 1, unit, unit * unit), positive)


def integer_pow(lib: Lib, x: Raw, n: int) -> Raw:
    """Raise to a static integer power by repeated squaring."""
    xp = lib.xp
    out, rest = None, n if n >= 0 else -n
    while rest:
        if rest & 1:
            out = x if out is None else xp.multiply(out, x)
        rest >>= 1
        if rest:
            x = xp.multiply(x, x)
    if out is None:
        return xp.ones_like(x)
    return xp.true_divide(1, out) if n < 0 else out


def one_minus_square(lib: Lib, x: Raw) -> Raw:
    """Give 1 - x * x as a product, whose digits do not cancel."""
    return lib.xp.multiply(lib.xp.add(1, x), lib.xp.subtract(1, x))


def rsqrt(lib: Lib, x: Raw) -> Raw:
    """Give one over the square root."""
    return lib.xp.true_divide(1, lib.xp.sqrt(x))


def hypot(lib: Lib, x: Raw, y: Raw) -> Raw:
    """Give the hypotenuse as a complex modulus; NumPy's own function takes seven times as long."""
    return lib.xp.absolute(make_complex(lib, x, y))


def expm1(lib: Lib, x: Raw) -> Raw:
    """Give exp(x) - 1; NumPy's complex one is NaN at too many infinities, and keeps a real -0."""
    xp = lib.xp
    if x.dtype.kind == "c":
        out = xp.where(xp.isfinite(x), xp.expm1(x), xp.exp(x) - 1)
        return make_complex(lib, out.real + 0.0, out.imag)
    return xp.expm1(x)


def log1p(lib: Lib, x: Raw) -> Raw:
    """Give log(1 + x); NumPy's complex one loses the real part near 0."""
    xp = lib.xp
    out = xp.log1p(x)
    if x.dtype.kind == "c":
        a, b = x.real, x.imag
        near = 0.5 * xp.log1p(a * (a + 2) + b * b)
        return make_complex(lib, xp.where(xp.absolute(x) < 0.5, near, out.real), out.imag)
    return out


def tan(lib: Lib, x: Raw) -> Raw:
    """Give the tangent: of complex numbers -i tanh(ix)."""
    xp = lib.xp
    if x.dtype.kind == "c":
        out = tanh(lib, make_complex(lib, -x.imag, x.real))
        return make_complex(lib, out.imag, -out.real)
    return xp.tan(x)


def tanh(lib: Lib, x: Raw) -> Raw:
    """Give the hyperbolic tangent; a complex one's zero at infinity has the sign of x's angle.

    That is the array API's rule; C99's, which libraries follow, is the sign of sin(2 imag x).
    """
    xp = lib.xp
    out = xp.tanh(x)
    if x.dtype.kind == "c":
        limit = xp.isinf(x.real) & xp.isfinite(x.imag)
        return make_complex(lib, out.real, xp.where(limit, xp.copysign(0.0, x.imag), out.imag))
    return out


def logistic(lib: Lib, x: Raw) -> Raw:
    """Give 1 / (1 + exp(-x))."""
    xp = lib.xp
    out = xp.asarray(xp.negative(x))
    xp.exp(out, out=out)
    out += 1
    return xp.true_divide(1, out, out=out)


# ---- choice


def select(lib: Lib, c: Raw, x: Raw, y: Raw) -> Raw:
    """Choose by a condition."""
    return lib.xp.where(c, x, y)


def clamp(lib: Lib, low: Raw, x: Raw, high: Raw) -> Raw:
    """Limit to a range; where the bounds cross, the upper one holds."""
    return lib.xp.minimum(lib.xp.maximum(x, low), high)


# ---- complex numbers


def make_complex(lib: Lib, x: Raw, y: Raw) -> Raw:
    """Join a real and an imaginary part; arithmetic would lose signed zeros and infinities."""
    out = lib.xp.empty(x.shape or y.shape, lib.xp.result_type(x.dtype, np.complex64))
    out.real = x
    out.imag = y
    return out


# ---- bits


def unsigned(x: Raw) -> Raw:
    """See the same bits as an unsigned integer."""
    return x.view(f"u{x.dtype.itemsize}")


def signed(x: Raw) -> Raw:
    """See the same bits as a signed integer."""
    return x.view(f"i{x.dtype.itemsize}")


def shift_right_arithmetic(lib: Lib, x: Raw, y: Raw) -> Raw:
    """Shift, filling in the sign; past the width 0 or -1 is left."""
    xp = lib.xp
    if x.dtype.kind == "i":
        return xp.right_shift(x, y)
    return unsigned(xp.right_shift(signed(x), signed(xp.asarray(y, x.dtype))))


def shift_right_logical(lib: Lib, x: Raw, y: Raw) -> Raw:
    """Shift, filling in zeros."""
    xp = lib.xp
    if x.dtype.kind == "u":
        return xp.right_shift(x, y)
    return signed(xp.right_shift(unsigned(x), unsigned(xp.asarray(y, x.dtype))))


def population_count(lib: Lib, x: Raw) -> Raw:
    """Count the bits set."""
    return lib.xp.bitwise_count(unsigned(x)).astype(x.dtype)


ROWS: Rows = {
    ops.neg_p: ufunc("negative", Builder.neg),
    ops.add_p: ufunc("add", lambda b, x, y: b.add(x, y, contract=True)),
    ops.sub_p: ufunc("subtract", lambda b, x, y: b.sub(x, y, contract=True)),
    ops.mul_p: ufunc("multiply", lambda b, x, y: b.mul(x, y, contract=True)),
    ops.div_p: ufunc("true_divide", complexes.divide, price=1),
    ops.quotient_p: Kernel(quotient, scalar=integers.quotient, price=8),
    ops.rem_p: Kernel(rem, scalar=integers.rem, price=6),
    ops.floor_divide_p: Kernel(floor_divide, scalar=integers.floor_divide, price=20),
    ops.remainder_p: Kernel(remainder, scalar=integers.remainder, price=15),
    ops.max_p: ufunc("maximum", Builder.maximum, "biuf"),
    ops.min_p: ufunc("minimum", Builder.minimum, "biuf"),
    ops.select_p: Kernel(select, scalar=Builder.select, kinds="biufck", price=3),
    ops.clamp_p: Kernel(
        clamp,
        scalar=lambda b, low, x, high: b.minimum(b.maximum(x, low), high),
        kinds="biuf",
        price=1,
    ),
    ops.eq_p: ufunc("equal", lambda _b, x, y: x == y, "biufck"),
    ops.ne_p: ufunc("not_equal", lambda _b, x, y: x != y, "biufck"),
    ops.lt_p: ufunc("less", lambda _b, x, y: x < y, "biuf"),
    ops.le_p: ufunc("less_equal", lambda _b, x, y: x <= y, "biuf"),
    ops.gt_p: ufunc("greater", lambda _b, x, y: x > y, "biuf"),
    ops.ge_p: ufunc("greater_equal", lambda _b, x, y: x >= y, "biuf"),
    ops.is_finite_p: ufunc("isfinite", signs.is_finite),
    ops.pow_p: Kernel(power, scalar=powers.any_power, kinds="biuf", price=4),
    ops.integer_pow_p: Kernel(integer_pow, scalar=powers.integer_pow, price=1),
    ops.square_p: ufunc("square", lambda _b, x: x * x),
    ops.one_minus_square_p: Kernel(
        one_minus_square, scalar=lambda _b, x: (x + 1) * (1 - x), price=1
    ),
    ops.sqrt_p: ufunc("sqrt", complexes.either(Builder.sqrt, complexes.complex_sqrt), price=1),
    ops.rsqrt_p: Kernel(rsqrt, scalar=powers.rsqrt, kinds="f", price=2),
    ops.hypot_p: Kernel(
        hypot, scalar=lambda b, x, y: complexes.modulus(b, b.complex(x, y)), kinds="f", price=1
    ),
    ops.cbrt_p: ufunc("cbrt", powers.cbrt, price=1.5),
    ops.exp_p: ufunc("exp", complexes.either(exponentials.exp, complexes.complex_exp), price=1),
    ops.exp2_p: ufunc("exp2", exponentials.exp2, "f", price=1),
    ops.expm1_p: Kernel(expm1, scalar=exponentials.expm1, kinds="f", price=1.5),
    ops.log_p: ufunc("log", complexes.either(logarithms.log, complexes.complex_log), price=1),
    ops.log1p_p: Kernel(log1p, scalar=logarithms.log1p, kinds="f", price=1.5),
    ops.logistic_p: Kernel(logistic, scalar=exponentials.logistic, kinds="f", price=1.5),
    ops.sin_p: ufunc("sin", complexes.either(trigonometry.sin, complexes.complex_sin), price=9),
    ops.cos_p: ufunc("cos", complexes.either(trigonometry.cos, complexes.complex_cos), price=9),
    ops.tan_p: Kernel(tan, scalar=trigonometry.tan, kinds="f", price=1.5),
    ops.asin_p: ufunc("arcsin", angles.asin, "f", price=1.5),
    ops.acos_p: ufunc("arccos", angles.acos, "f", price=1.5),
    ops.atan_p: ufunc("arctan", angles.atan, "f", price=1.5),
    ops.sinh_p: ufunc(
        "sinh", complexes.either(exponentials.sinh, complexes.complex_sinh), price=1.5
    ),
    ops.cosh_p: ufunc("cosh", complexes.either(exponentials.cosh, complexes.complex_cosh), price=1),
    ops.tanh_p: Kernel(tanh, scalar=exponentials.tanh, kinds="f", price=1.5),
    ops.asinh_p: ufunc("arcsinh", logarithms.asinh, "f", price=2.5),
    ops.acosh_p: ufunc("arccosh", logarithms.acosh, "f", price=4.5),
    ops.atanh_p: ufunc("arctanh", logarithms.atanh, "f", price=2),
    ops.atan2_p: ufunc("arctan2", angles.atan2, price=2.5),
    ops.abs_p: ufunc("absolute", Builder.abs),
    ops.sign_p: ufunc("sign", signs.sign, price=1),
    ops.signbit_p: ufunc("signbit", signs.signbit, "f"),
    ops.floor_p: ufunc("floor", Builder.floor),
    ops.ceil_p: ufunc("ceil", Builder.ceil),
    ops.round_p: ufunc("rint", Builder.rint),
    # Neighbours are those of the dtype itself, so nothing computes them as a wider one.
    ops.nextafter_p: Kernel("nextafter", ufunc=True, moves=True),
    ops.stop_gradient_p: Kernel(
        lambda _lib, x: x, view=True, moves=True, scalar=lambda _b, x: x, kinds="biufck"
    ),
    ops.real_p: Kernel(lambda _lib, x: x.real, view=True, scalar=Builder.real),
    ops.imag_p: Kernel(lambda _lib, x: x.imag, view=True, scalar=Builder.imag),
    ops.complex_p: Kernel(make_complex, scalar=Builder.complex, price=1),
    ops.conj_p: ufunc("conjugate", lambda b, x: b.complex(b.real(x), -b.imag(x))),
    ops.modulus_p: ufunc("absolute", complexes.modulus),
    ops.not_p: ufunc("invert", lambda _b, x: ~x),
    ops.and_p: ufunc("bitwise_and", lambda _b, x, y: x & y),
    ops.or_p: ufunc("bitwise_or", lambda _b, x, y: x | y),
    ops.xor_p: ufunc("bitwise_xor", lambda _b, x, y: x ^ y),
    ops.shift_left_p: ufunc("left_shift", integers.shift_left),
    ops.shift_right_arithmetic_p: Kernel(
        shift_right_arithmetic, scalar=integers.shift_right_arithmetic
    ),
    ops.shift_right_logical_p: Kernel(shift_right_logical, scalar=integers.shift_right_logical),
    ops.population_count_p: Kernel(population_count, scalar=Builder.population_count, price=1),
}
