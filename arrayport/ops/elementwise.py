"""Elementwise operations: arithmetic, choice, comparison, powers, functions, complex, bits."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from math import log as ln
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.primitive import Binary, Unary
from arrayport.ops._families import binary, elementwise, titled, unary
from arrayport.ops.promotion import (
    broadcast_together,
    common_shape,
    counted,
    home_of,
    lift,
    promote,
    promote_dtypes,
    scalar,
    settle,
)
from arrayport.ops.structure import broadcast_to, constant, convert, full_like, zeros

DType = np.dtype[Any]
Function = Callable[[Any], Array]
LN2, LN10 = ln(2), ln(10)


def _takes(kinds: str, advice: str) -> Callable[[DType], DType]:
    """The last operand's dtype as the output's; dtypes of other kinds are refused."""

    def checked(dtype: DType) -> DType:
        if dtypes.kind(dtype) not in kinds:
            raise TypeError(f"this operation has no meaning for dtype {dtype}: {advice}")
        return dtype

    return checked


def _counts(dtype: DType) -> DType:
    """The output's dtype of arithmetic in which booleans count as integers."""
    return dtypes.int32 if dtype == dtypes.bool_ else _real(dtype)


_real = _takes("biuf", "take the real part or the absolute value first")
fractional = _takes("f", "cast with astype('float32'), or take the real part of a complex array")
_numbers = _takes("iuf", "cast with astype('float32'), or take the real part of a complex array")
_not_bool = _takes("iufc", "write ~x, x ^ y or logical_not, or cast with astype('int32')")
floating = _takes("fc", "cast with astype('float32')")
_bits = _takes("biu", "cast with astype('int32')")

# ---- arithmetic (the rules met most often call functions: an operator takes a third longer)

neg_p = elementwise("neg", lambda g, _ans, _x: neg(g), dtype=_not_bool)
add_p = elementwise("add", lambda g, _ans, _x, _y: g, lambda g, _ans, _x, _y: g)
sub_p = elementwise(
    "sub", lambda g, _ans, _x, _y: g, lambda g, _ans, _x, _y: neg(g), dtype=_not_bool
)
mul_p = elementwise("mul", lambda g, _ans, _x, y: mul(g, y), lambda g, _ans, x, _y: mul(g, x))
div_p = elementwise(
    "div",
    lambda g, _ans, _x, y: g / y,
    lambda g, ans, _x, y: neg(g * ans / y),
    dtype=floating,
)
neg: Function = unary(neg_p, title="negative")
add, sub = binary(add_p), binary(sub_p, title="subtract")
mul: Callable[[Any, Any], Array] = binary(mul_p, title="multiply")
div = binary(div_p, floating=True, title="divide")

quotient_p = elementwise("quotient", None, None, dtype=_takes("iu", "use div"))
rem_p = elementwise(
    "rem", lambda g, _ans, _x, _y: g, lambda g, _ans, x, y: neg(g * trunc(x / y)), dtype=_numbers
)
floor_divide_p = elementwise("floor_divide", None, None, dtype=_counts)
remainder_p = elementwise(
    "remainder",
    lambda g, _ans, _x, _y: g,
    lambda g, _ans, x, y: neg(g * floor_divide(x, y)),
    dtype=_counts,
)
rem = binary(rem_p, counting=True)
_floor_divide, _remainder = binary(floor_divide_p), binary(remainder_p)

# ---- choice

max_p = elementwise(
    "max",
    lambda g, _ans, x, y: _share(g, x > y, x == y),
    lambda g, _ans, x, y: _share(g, y > x, x == y),
)
min_p = elementwise(
    "min",
    lambda g, _ans, x, y: _share(g, x < y, x == y),
    lambda g, _ans, x, y: _share(g, y < x, x == y),
)
select_p = elementwise(
    "select",
    None,
    lambda g, _ans, c, _x, _y: _where(c, g, constant(0, g)),
    lambda g, _ans, c, _x, _y: _where(c, constant(0, g), g),
)
clamp_p = elementwise(
    "clamp",
    lambda g, _ans, low, x, high: _where((low > x) & (low < high), g, constant(0, g)),
    lambda g, _ans, low, x, high: _where((x > low) & (x < high), g, constant(0, g)),
    lambda g, _ans, _low, x, high: _where(high < x, g, constant(0, g)),
)
maximum, minimum = binary(max_p, title="maximum"), binary(min_p, title="minimum")


def _where(c: Array, x: Array, y: Array) -> Array:
    """`select` for operands that need no promotion."""
    return select_p.bind(c, x, y)


def _share(g: Array, wins: Array, ties: Array) -> Array:
    """What the winner gets; at a tie, half."""
    return _where(wins, g, _where(ties, g * 0.5, constant(0, g)))


def select(c: Any, x: Any, y: Any) -> Array:
    """Choose from x where c is true, else from y; all broadcast, x and y promote."""
    if not isinstance(c, Array) or not (isinstance(x, Array) or isinstance(y, Array)):
        home = home_of(c, x, y)
        c = lift(c, home, "the condition")
        x, y = (lift(v, home) if isinstance(v, np.ndarray | np.generic) else v for v in (x, y))
    x, y = promote(x, y)
    shape = c.shape
    if x.shape not in {(), shape} or y.shape not in {(), shape}:
        shape = common_shape(shape, x.shape, y.shape)
        c, x, y = (broadcast_to(v, shape) if v.shape else v for v in (c, x, y))
    out = _where(c if c.dtype == dtypes.bool_ else c != 0, x, y)
    return convert(out, out.dtype, weak=True) if x.weak and y.weak else out


def clamp(low: Any, x: Any, high: Any) -> Array:
    """Limit x to the range from low to high; the bounds have x's shape or none, and its dtype."""
    return clamp_p.bind(*promote_dtypes((low, x, high)))


# ---- comparison


def _comparison(prim: Binary, title: str) -> Callable[[Any, Any], Array]:
    """Make a comparison that is also right about Python ints outside the array's dtype."""
    compare = binary(prim)

    def op(x: Any, y: Any, /) -> Array:
        try:
            return compare(x, y)
        except OverflowError:
            if isinstance(x, Array) and type(y) is int and not dtypes.is_inexact(x.dtype):
                return prim.apply(*_ordered(x, y), {})
            if isinstance(y, Array) and type(x) is int and not dtypes.is_inexact(y.dtype):
                below, above = _ordered(y, x)
                return prim.apply(above, below, {})
            raise

    return titled(op, title, "two arrays that broadcast and promote")


def _ordered(x: Array, number: int) -> tuple[Array, Array]:
    """Two operands that compare as x and a number below or above its whole range do."""
    return (zeros(x), constant(1, x)) if number > 0 else (full_like(x, 1), constant(0, x))


eq_p = elementwise("eq", None, None, dtype=dtypes.bool_)
ne_p = elementwise("ne", None, None, dtype=dtypes.bool_)
lt_p = elementwise("lt", None, None, dtype=dtypes.bool_)
le_p = elementwise("le", None, None, dtype=dtypes.bool_)
gt_p = elementwise("gt", None, None, dtype=dtypes.bool_)
ge_p = elementwise("ge", None, None, dtype=dtypes.bool_)
equal, not_equal = _comparison(eq_p, "equal"), _comparison(ne_p, "not_equal")
less, less_equal = _comparison(lt_p, "less"), _comparison(le_p, "less_equal")
greater, greater_equal = _comparison(gt_p, "greater"), _comparison(ge_p, "greater_equal")
is_finite_p = elementwise("is_finite", None, dtype=dtypes.bool_)
isfinite = unary(is_finite_p, title="isfinite")

# ---- powers

pow_p: Binary = elementwise(
    "pow",
    lambda g, _ans, x, y: g * _where(y == 0, constant(0, x), y * pow_p.bind(x, _less_one(y))),
    lambda g, ans, x, _y: g * (log(_where(x == 0, constant(1, x), x)) * ans),
    dtype=lambda dtype: dtypes.int32 if dtype == dtypes.bool_ else dtype,
)
integer_pow_p: Unary = elementwise(
    "integer_pow", lambda g, _ans, x, n: g * (integer_pow(x, n - 1) * n), dtype=_not_bool
)
square_p = elementwise("square", lambda g, _ans, x: g * (x * 2), dtype=_not_bool)
# Not 1 - x * x, whose digits cancel near 1; nor its product's derivative, which cancels near 0.
one_minus_square_p = elementwise(
    "one_minus_square", lambda g, _ans, x: g * (x * -2), dtype=_not_bool
)
sqrt_p = elementwise("sqrt", lambda g, ans, _x: g / (ans * 2), dtype=floating)
rsqrt_p = elementwise("rsqrt", lambda g, ans, x: g * (ans / x * -0.5), dtype=floating)


def _cosine(hypotenuse: Array, x: Array, y: Array) -> Array:
    """The part that x is of the hypotenuse, which may be 0 or too large a number."""
    scale = _where(hypotenuse == inf, constant(0.25, x), constant(1, x))
    size = hypot_p.bind(x * scale, y * scale)
    return x * scale / _where(size == 0, constant(1, x), size)


hypot_p: Binary = elementwise(
    "hypot",
    lambda g, ans, x, y: g * _cosine(ans, x, y),
    lambda g, ans, x, y: g * _cosine(ans, y, x),
    dtype=fractional,
)
cbrt_p = elementwise("cbrt", lambda g, ans, _x: g / (square(ans) * 3), dtype=fractional)
square: Function = unary(square_p, counting=True)
one_minus_square: Function = unary(one_minus_square_p)
sqrt, rsqrt, cbrt = (unary(p, floating=True) for p in (sqrt_p, rsqrt_p, cbrt_p))
hypot = binary(hypot_p, floating=True)
_power = binary(pow_p)


def _less_one(y: Array) -> Array:
    """The exponent of a derivative; 0 stays 0, so that no order of derivative is NaN."""
    return _where(y == 0, constant(0, y), y - 1)


def integer_pow(x: Any, n: int) -> Array:
    """Raise x to a Python integer by repeated squaring; integers must not have n < 0."""
    if n == 2:
        return square(x)
    x = lift(x)
    if n == 0:
        return full_like(x, 1)
    if n < 0 and not dtypes.is_inexact(x.dtype):
        raise TypeError(
            f"an integer array to the power {n} is no integer: cast it with astype('float32')"
        )
    return x if n == 1 else integer_pow_p.apply(x, {"n": n})


def power(x: Any, y: Any) -> Array:
    """Raise x to the power y; a Python int y is exact and differentiable everywhere.

    An array of integers as the exponent makes the answer strong.

    Source: ``jax.numpy.power``.

    >>> import arrayport.numpy as anp
    >>> anp.power(anp.array([1, 2, 3]), 2), anp.pow(4.0, 0.5)
    (Array([1, 4, 9], dtype=int32), Array(2., dtype=float32, weak_type=True))
    """
    if type(y) is int and isinstance(x, Array):
        return integer_pow(counted(x), y)
    if isinstance(y, Array) and not y.weak and dtypes.is_integer(y.dtype):
        x, y = settle([scalar(x, y.dtype) if type(x) is int else lift(x), y])
        x = convert(x, x.dtype) if dtypes.is_inexact(x.dtype) else x
    return _power(x, y)


# ---- exponentials

exp: Function
exp_p = elementwise("exp", lambda g, ans, _x: g * ans, dtype=floating)
exp2_p = elementwise("exp2", lambda g, ans, _x: g * (ans * LN2), dtype=floating)
expm1_p = elementwise("expm1", lambda g, _ans, x: g * exp(x), dtype=floating)
log_p = elementwise("log", lambda g, _ans, x: g / x, dtype=floating)
log1p_p = elementwise("log1p", lambda g, _ans, x: g / (x + 1), dtype=floating)
logistic_p = elementwise("logistic", lambda g, ans, _x: g * (ans * (1 - ans)), dtype=floating)
log: Function
exp, exp2, expm1 = (unary(p, floating=True) for p in (exp_p, exp2_p, expm1_p))
log, log1p, logistic = (unary(p, floating=True) for p in (log_p, log1p_p, logistic_p))

# ---- trigonometry

sin_p = elementwise("sin", lambda g, _ans, x: mul(g, cos(x)), dtype=floating)
cos_p = elementwise("cos", lambda g, _ans, x: neg(g * sin(x)), dtype=floating)
tan_p = elementwise("tan", lambda g, ans, _x: g * (square(ans) + 1), dtype=floating)
asin_p = elementwise("asin", lambda g, _ans, x: g * rsqrt(1 - square(x)), dtype=floating)
acos_p = elementwise("acos", lambda g, _ans, x: neg(g * rsqrt(1 - square(x))), dtype=floating)
atan_p = elementwise("atan", lambda g, _ans, x: g / (square(x) + 1), dtype=floating)
sinh_p = elementwise("sinh", lambda g, _ans, x: g * cosh(x), dtype=floating)
cosh_p = elementwise("cosh", lambda g, _ans, x: g * sinh(x), dtype=floating)
tanh_p = elementwise("tanh", lambda g, ans, _x: g * ((1 + ans) * (1 - ans)), dtype=floating)
asinh_p = elementwise("asinh", lambda g, _ans, x: g * rsqrt(square(x) + 1), dtype=floating)
acosh_p = elementwise("acosh", lambda g, _ans, x: g * (rsqrt(x - 1) * rsqrt(x + 1)), dtype=floating)
atanh_p = elementwise("atanh", lambda g, _ans, x: g / ((1 - x) * (1 + x)), dtype=floating)
atan2_p = elementwise(
    "atan2",
    lambda g, _ans, x, y: g * (y / (square(x) + square(y))),
    lambda g, _ans, x, y: neg(g * (x / (square(x) + square(y)))),
    dtype=fractional,
)
sin: Function
cos: Function
sinh: Function
cosh: Function
sin, cos, tan = (unary(p, floating=True) for p in (sin_p, cos_p, tan_p))
asin, acos, atan = (unary(p, floating=True) for p in (asin_p, acos_p, atan_p))
sinh, cosh, tanh = (unary(p, floating=True) for p in (sinh_p, cosh_p, tanh_p))
asinh, acosh, atanh = (unary(p, floating=True) for p in (asinh_p, acosh_p, atanh_p))
atan2 = binary(atan2_p, floating=True)

# ---- signs, rounding

abs_p = elementwise("abs", lambda g, _ans, x: _where(x >= 0, g, neg(g)), dtype=_real)
sign_p = elementwise("sign", None, dtype=_takes("iuf", "use sign, which divides by the modulus"))
signbit_p = elementwise("signbit", None, dtype=dtypes.bool_)
floor_p = elementwise("floor", None, dtype=fractional)
ceil_p = elementwise("ceil", None, dtype=fractional)
round_p = elementwise("round", None, dtype=fractional)
nextafter_p = elementwise("nextafter", lambda g, _ans, _x, _y: g, None, dtype=fractional)
nextafter = binary(nextafter_p, floating=True)
_abs, _sign, signbit = unary(abs_p), unary(sign_p), unary(signbit_p)


def _rounding(prim: Unary) -> Callable[[Any], Array]:
    """Make a rounding function: integers and booleans are round already."""
    rounded = unary(prim)

    def op(x: Any, /) -> Array:
        x = x if isinstance(x, Array) else lift(x, None, prim.name)
        return rounded(x) if dtypes.is_inexact(x.dtype) else x

    return titled(op, prim.name, "each element; integers stay as they are")


floor, ceil, _round = (_rounding(p) for p in (floor_p, ceil_p, round_p))


def round(x: Any) -> Array:
    """Round to the nearest integer, halves to the even one; of complex numbers both parts."""
    x = lift(x)
    if x.dtype.kind == "c":
        return complex_p.bind(_round(real(x)), _round(imag(x)))
    return _round(x)


def trunc(x: Any) -> Array:
    """Round towards zero; integers stay as they are. Source: ``jax.numpy.trunc``.

    >>> import arrayport.numpy as anp
    >>> anp.trunc(-1.5)
    Array(-1., dtype=float32, weak_type=True)
    """
    x = lift(x)
    return select(x < 0, ceil(x), floor(x)) if dtypes.is_inexact(x.dtype) else x


def abs(x: Any) -> Array:
    """Absolute value; of complex numbers the modulus, which is real. Source: ``jax.numpy.abs``.

    >>> import arrayport.numpy as anp
    >>> anp.abs(-2)
    Array(2, dtype=int32, weak_type=True)
    """
    x = lift(x)
    return modulus_p.apply(x, {}) if x.dtype.kind == "c" else _abs(x)


def sign(x: Any) -> Array:
    """-1, 0 or 1; of a complex number x / abs(x), or 0. Source: ``jax.numpy.sign``.

    >>> import arrayport.numpy as anp
    >>> anp.sign(-3)
    Array(-1, dtype=int32, weak_type=True)
    """
    x = lift(x)
    if x.dtype.kind != "c":
        return _sign(x)
    size = abs(x)
    return select(size == 0, constant(0, x), x / select(size == 0, constant(1, size), size))


def floor_divide(x: Any, y: Any) -> Array:
    """Largest integer not above x / y; integers divided by 0 give 0. Source: the array API.

    >>> import arrayport.numpy as anp
    >>> anp.floor_divide(-7, 2)
    Array(-4, dtype=int32, weak_type=True)
    """
    return _floor_divide(x, y)


def remainder(x: Any, y: Any) -> Array:
    """What floor_divide leaves, with the sign of y; integers by 0 give 0. Source: the array API.

    >>> import arrayport.numpy as anp
    >>> anp.remainder(-7, 3), anp.mod(7.5, -2)
    (Array(2, dtype=int32, weak_type=True), Array(-0.5, dtype=float32, weak_type=True))
    """
    return _remainder(x, y)


def stop_gradient(x: Any) -> Array:
    """x, as a constant to every derivative.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> lax.stop_gradient(anp.arange(2))
    Array([0, 1], dtype=int32)
    """
    return stop_gradient_p.apply(lift(x), {})


stop_gradient_p = elementwise("stop_gradient", None)

# ---- complex numbers


def _part(dtype: DType) -> DType:
    """The dtype of a complex number's real part."""
    return dtypes.real_dtype(_takes("c", "real numbers are their own real part")(dtype))


real_p = elementwise(
    "real",
    transposes=(lambda g, _x: complex_p.bind(g, constant(0, g)),),
    dtype=_part,
)
imag_p = elementwise(
    "imag",
    transposes=(lambda g, _x: complex_p.bind(constant(0, g), neg(g)),),
    dtype=_part,
)
conj_p = elementwise("conj", transposes=(lambda g, _x: conj(g),))
complex_p: Binary = elementwise(
    "complex",
    operands=2,
    dtype=lambda dtype: dtypes.complex_dtype(fractional(dtype)),
    transposes=(lambda g, _x, _y: real(g), lambda g, _x, _y: neg(imag(g))),
    jvp=lambda ts, _ans, _x, _y: complex_p.bind(*_parts(*ts)),
)
modulus_p = elementwise(
    "modulus",
    dtype=_part,
    jvp=lambda ts, ans, x: real(ts[0] * (conj(x) / _where(ans == 0, constant(1, ans), ans))),
)


def _parts(x: Array | None, y: Array | None) -> tuple[Array, Array]:
    """Tangents of a real and an imaginary part, of which one may be zero."""
    if x is not None:
        return x, constant(0, x) if y is None else y
    assert y is not None
    return constant(0, y), y


def real(x: Any) -> Array:
    """The real part. Source: ``jax.numpy.real``.

    >>> import arrayport.numpy as anp
    >>> anp.real(1 + 2j)
    Array(1., dtype=float32, weak_type=True)
    """
    x = lift(x)
    return real_p.apply(x, {}) if x.dtype.kind == "c" else x


def imag(x: Any) -> Array:
    """The imaginary part, of a real number 0. Source: ``jax.numpy.imag``.

    >>> import arrayport.numpy as anp
    >>> anp.imag(1 + 2j)
    Array(2., dtype=float32, weak_type=True)
    """
    x = lift(x)
    return (
        imag_p.apply(x, {})
        if x.dtype.kind == "c"
        else full_like(x, np.zeros((), x.dtype).item(), weak=x.weak)
    )


def conj(x: Any) -> Array:
    """The complex conjugate; a real number is its own. Source: ``jax.numpy.conj``.

    >>> import arrayport.numpy as anp
    >>> anp.conj(1 + 2j)
    Array(1.-2.j, dtype=complex64, weak_type=True)
    """
    x = lift(x)
    return conj_p.apply(x, {}) if x.dtype.kind == "c" else x


def complex(x: Any, y: Any) -> Array:
    """The complex number x + iy of two real ones."""
    x, y = broadcast_together(*promote(x, y))  # its transposes add nothing up
    own = dtypes.to_inexact(x.dtype)
    own = own if own.itemsize >= 4 else dtypes.float32
    return complex_p.bind(convert(x, own, x.weak), convert(y, own, y.weak))


# ---- bits

not_p = elementwise("not", None, dtype=_bits)
and_p = elementwise("and", None, None, dtype=_bits)
or_p = elementwise("or", None, None, dtype=_bits)
xor_p = elementwise("xor", None, None, dtype=_bits)
integers = _takes("iu", "cast with astype('int32')")
shift_left_p = elementwise("shift_left", None, None, dtype=integers)
shift_right_arithmetic_p = elementwise("shift_right_arithmetic", None, None, dtype=integers)
shift_right_logical_p = elementwise("shift_right_logical", None, None, dtype=integers)
population_count_p = elementwise("population_count", None, dtype=integers)
bitwise_not = unary(not_p, title="bitwise_not")
population_count = unary(population_count_p, counting=True)
bitwise_and, bitwise_or = binary(and_p, title="bitwise_and"), binary(or_p, title="bitwise_or")
bitwise_xor = binary(xor_p, title="bitwise_xor")
shift_left = binary(shift_left_p, counting=True, title="left_shift")
shift_right_arithmetic = binary(shift_right_arithmetic_p)
shift_right_logical = binary(shift_right_logical_p)


def _truth(x: Any) -> Array:
    """Whether x is not zero."""
    x = lift(x)
    return x if x.dtype == dtypes.bool_ else not_equal(x, 0)


def logical_not(x: Any) -> Array:
    """Whether x is zero. Source: ``jax.numpy.logical_not``.

    >>> import arrayport.numpy as anp
    >>> anp.logical_not(0)
    Array(True, dtype=bool)
    """
    return bitwise_not(_truth(x))


def logical_and(x: Any, y: Any) -> Array:
    """Whether neither x nor y is zero. Source: ``jax.numpy.logical_and``.

    >>> import arrayport.numpy as anp
    >>> anp.logical_and(anp.array([0, 2]), True)
    Array([False,  True], dtype=bool)
    """
    return bitwise_and(_truth(x), _truth(y))


def logical_or(x: Any, y: Any) -> Array:
    """Whether x or y is not zero. Source: ``jax.numpy.logical_or``.

    >>> import arrayport.numpy as anp
    >>> anp.logical_or(anp.array([0, 2]), False)
    Array([False,  True], dtype=bool)
    """
    return bitwise_or(_truth(x), _truth(y))


def logical_xor(x: Any, y: Any) -> Array:
    """Whether one of x and y is zero and the other is not. Source: ``jax.numpy.logical_xor``.

    >>> import arrayport.numpy as anp
    >>> anp.logical_xor(anp.array([0, 2]), True)
    Array([ True, False], dtype=bool)
    """
    return bitwise_xor(_truth(x), _truth(y))


def right_shift(x: Any, y: Any) -> Array:
    """Shift right, keeping the sign of signed integers; past the width that leaves 0 or -1.

    Source: ``jax.numpy.right_shift``.

    >>> import arrayport.numpy as anp
    >>> anp.right_shift(anp.array([9, -9]), 1)
    Array([ 4, -5], dtype=int32)
    """
    x, y = map(counted, promote(x, y))
    signed = dtypes.kind(x.dtype) == "i"
    return (shift_right_arithmetic_p if signed else shift_right_logical_p).bind(x, y)
