"""Elementwise functions: arithmetic, choice, questions, rounding, exponentials, angles, bits."""

from __future__ import annotations

from collections.abc import Callable
from math import log as ln
from math import pi
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import arrayed, integer_of, no_out, real_only, strong
from arrayport.numpy.questions import isinf, isnan, isneginf, isposinf
from arrayport.ops import elementwise as ops
from arrayport.ops import special
from arrayport.ops.elementwise import (
    abs,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atanh,
    bitwise_not,
    cbrt,
    ceil,
    conj,
    cos,
    cosh,
    equal,
    exp,
    exp2,
    expm1,
    floor,
    floor_divide,
    greater,
    greater_equal,
    imag,
    isfinite,
    less,
    less_equal,
    log,
    log1p,
    logical_not,
    maximum,
    minimum,
    nextafter,
    not_equal,
    power,
    real,
    remainder,
    right_shift,
    select,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
    trunc,
)
from arrayport.ops.elementwise import div as divide
from arrayport.ops.elementwise import neg as negative
from arrayport.ops.elementwise import shift_left as left_shift
from arrayport.ops.promotion import inexact, lift, promote, promote_inexact, settle
from arrayport.ops.structure import constant, convert, full_like, zeros

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "angle",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "around",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_right_shift",
    "cbrt",
    "ceil",
    "clip",
    "conj",
    "conjugate",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "divide",
    "divmod",
    "equal",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "greater",
    "greater_equal",
    "heaviside",
    "hypot",
    "i0",
    "imag",
    "invert",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logical_not",
    "mod",
    "modf",
    "nan_to_num",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "power",
    "rad2deg",
    "radians",
    "real",
    "reciprocal",
    "remainder",
    "right_shift",
    "rint",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
]

absolute, conjugate, true_divide = abs, conj, divide
arccos, arcsin, arctan = acos, asin, atan
arccosh, arcsinh, arctanh = acosh, asinh, atanh
invert = bitwise_invert = bitwise_not
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift
mod, pow = remainder, power

# ---- arithmetic


def positive(x: Any, /) -> Array:
    """Give x as it is. Source: ``jax.numpy.positive``.

    >>> import arrayport.numpy as anp
    >>> anp.positive(2)
    Array(2, dtype=int32, weak_type=True)
    """
    return lift(x)


@unit("x")
def reciprocal(x: Any, /) -> Array:
    """Divide 1 by x. Source: ``jax.numpy.reciprocal``.

    >>> import arrayport.numpy as anp
    >>> anp.reciprocal(4.0)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return divide(1, inexact(arrayed(x, "x")))


def divmod(x1: Any, x2: Any, /) -> tuple[Array, Array]:
    """Give `floor_divide` and `remainder` of two numbers. Source: ``numpy.divmod``.

    >>> import arrayport.numpy as anp
    >>> anp.divmod(-7, 2)
    (Array(-4, dtype=int32, weak_type=True), Array(1, dtype=int32, weak_type=True))
    """
    return floor_divide(x1, x2), remainder(x1, x2)


def fmod(x1: Any, x2: Any, /) -> Array:
    """Give what the quotient rounded towards zero leaves, with the sign of x1.

    Source: ``numpy.fmod``.

    >>> import arrayport.numpy as anp
    >>> anp.fmod(-7, 2)
    Array(-1, dtype=int32, weak_type=True)
    """
    return ops.rem(x1, x2)


@unit("x")
def modf(x: Any, /, out: Any = None) -> tuple[Array, Array]:
    """Give the fractional and the whole part of x, each with its sign. Source: ``numpy.modf``.

    >>> import arrayport.numpy as anp
    >>> anp.modf(-1.5)[0]
    Array(-0.5, dtype=float32, weak_type=True)
    """
    no_out("modf", out)
    x = inexact(arrayed(x, "x"))
    whole = trunc(x)
    return select(isinf(x), constant(0, x), x - whole), whole


def float_power(x: Any, y: Any, /) -> Array:
    """Raise x to the power y in floating point. Source: ``numpy.float_power``.

    >>> import arrayport.numpy as anp
    >>> anp.float_power(2, -1)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return ops.power(*promote_inexact((x, y), "float_power"))


def fabs(x: Any, /) -> Array:
    """Take the absolute value of real numbers, as a float. Source: ``numpy.fabs``.

    >>> import arrayport.numpy as anp
    >>> anp.fabs(-2)
    Array(2., dtype=float32, weak_type=True)
    """
    return abs(inexact(real_only(x, "fabs")))


# ---- choice


def clip(arr: Any = None, /, min: Any = None, max: Any = None) -> Array:
    """Limit arr to the range from min to max; a bound that is None does not limit.

    Where min is above max the answer is max. Raises TypeError for complex numbers. Source:
    ``jax.numpy.clip``.

    >>> import arrayport.numpy as anp
    >>> anp.clip(anp.arange(4), 1, 2)
    Array([1, 1, 2, 2], dtype=int32)
    """
    x = arr if type(arr) is Array else real_only(arr, "clip")
    for bound in (x, min, max):
        if isinstance(bound, complex) or (isinstance(bound, Array) and bound.dtype.kind == "c"):
            raise TypeError("clip takes real numbers: complex ones have no order")
    x = x if min is None else maximum(_bound(min, x), x)
    return x if max is None else minimum(_bound(max, x), x)


def _bound(bound: Any, x: Array) -> Any:
    """Give a Python int beyond the range of x's integers, as the end of that range."""
    if type(bound) is int and dtypes.is_integer(x.dtype):
        limits = dtypes.iinfo(x.dtype)
        return int(limits.max if bound > limits.max else max(bound, limits.min))
    return bound


@unit("x1", "x2")
def fmax(x1: Any, x2: Any) -> Array:
    """Take the larger of two numbers; NaN only where both are. Source: ``numpy.fmax``.

    >>> import arrayport.numpy as anp
    >>> anp.fmax(anp.nan, 1.0)
    Array(1., dtype=float32, weak_type=True)
    """
    x, y = settle(promote(x1, x2))
    return select((x > y) | isnan(y), x, y)


@unit("x1", "x2")
def fmin(x1: Any, x2: Any) -> Array:
    """Take the smaller of two numbers; NaN only where both are. Source: ``numpy.fmin``.

    >>> import arrayport.numpy as anp
    >>> anp.fmin(anp.nan, 1.0)
    Array(1., dtype=float32, weak_type=True)
    """
    x, y = settle(promote(x1, x2))
    return select((x < y) | isnan(y), x, y)


@unit("x1", "x2")
def heaviside(x1: Any, x2: Any, /) -> Array:
    """Give 0 for negative x1, 1 for positive, x2 for zero. Source: ``numpy.heaviside``.

    >>> import arrayport.numpy as anp
    >>> anp.heaviside(anp.array([-1.0, 0.0, 2.0]), 0.5)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    given, other = real_only(x1, "heaviside"), real_only(x2, "heaviside")
    x, y = promote_inexact((given, other))
    x, y = promote(x, y)
    step = select(x > 0, full_like(x, 1), select(x < 0, zeros(x), y))
    return convert(select(isnan(x), x, step), x.dtype, given.weak and y.weak)


@unit("x", "nan", "posinf", "neginf")
def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Array:
    """Replace NaN, and infinities by the largest finite numbers or by those given.

    Of complex numbers both parts. Source: ``jax.numpy.nan_to_num``.

    >>> import arrayport.numpy as anp
    >>> anp.nan_to_num(anp.array([anp.nan, anp.inf]), posinf=9.0)
    Array([0., 9.], dtype=float32)
    """
    del copy
    x = arrayed(x, "x")
    if not dtypes.is_inexact(x.dtype):
        return x
    x = strong(x)
    if dtypes.is_complex(x.dtype):
        options = {"nan": nan, "posinf": posinf, "neginf": neginf}
        return ops.complex(*(nan_to_num(part, **options) for part in (real(x), imag(x))))
    limits = dtypes.finfo(x.dtype)
    high, low = (
        (limits.max if posinf is None else posinf),
        (limits.min if neginf is None else neginf),
    )
    for found, given in ((isnan(x), nan), (isposinf(x), high), (isneginf(x), low)):
        number = type(given) in {int, float}
        x = select(found, constant(given, x) if number else convert(lift(given), x.dtype), x)
    return x


# ---- rounding


@unit("a")
def round(a: Any, decimals: int = 0, out: Any = None) -> Array:
    """Round to a number of decimals, halves to the even neighbour. Source: ``jax.numpy.round``.

    Integers stay as they are. Raises NotImplementedError for integers and negative decimals.

    >>> import arrayport.numpy as anp
    >>> anp.round(2.345, 1)
    Array(2.3, dtype=float32, weak_type=True)
    """
    no_out("round", out)
    x, decimals = arrayed(a, "a"), integer_of(decimals, "decimals")
    if x.dtype == dtypes.bool_:
        raise TypeError("round takes numbers, not bool: cast with astype first")
    if not dtypes.is_inexact(x.dtype):
        if decimals < 0:
            raise NotImplementedError("round of integers needs decimals >= 0: divide first")
        return x
    if not decimals:
        return ops.round(x)
    # A power of ten is exact as a multiplier, its inverse is not.
    if decimals < 0:
        return ops.round(x / 10**-decimals) * 10**-decimals
    return ops.round(x * 10**decimals) / 10**decimals


around = round


def rint(x: Any, /) -> Array:
    """Round to the nearest whole number, as a float. Source: ``numpy.rint``.

    >>> import arrayport.numpy as anp
    >>> anp.rint(2.5)
    Array(2., dtype=float32, weak_type=True)
    """
    x = arrayed(x, "x")
    return ops.round(x if dtypes.is_inexact(x.dtype) else convert(x, dtypes.default_float()))


# ---- signs


def signbit(x: Any, /) -> Array:
    """Say where the sign is negative, that of zeros and of NaN included.

    Source: ``numpy.signbit``.

    >>> import arrayport.numpy as anp
    >>> anp.signbit(anp.array([-0.0, 0.0]))
    Array([ True, False], dtype=bool)
    """
    x = real_only(x, "signbit")
    return ops.signbit(x) if dtypes.is_floating(x.dtype) else less(x, 0)


@unit("x1", "x2")
def copysign(x1: Any, x2: Any, /) -> Array:
    """Give x1 the sign of x2, that of zeros included. Source: ``numpy.copysign``.

    >>> import arrayport.numpy as anp
    >>> anp.copysign(2.0, -0.0)
    Array(-2., dtype=float32, weak_type=True)
    """
    x, y = promote(*promote_inexact((x1, x2), "copysign"))
    size = abs(x)
    return convert(select(signbit(y), negative(size), size), x.dtype, x.weak and y.weak)


# ---- exponentials


@unit("x")
def log2(x: Any, /) -> Array:
    """Take the logarithm to base 2. Source: ``jax.numpy.log2``.

    >>> import arrayport.numpy as anp
    >>> anp.log2(8.0)
    Array(3., dtype=float32, weak_type=True)
    """
    return _over(log(x), ln(2))


@unit("x")
def log10(x: Any, /) -> Array:
    """Take the logarithm to base 10. Source: ``jax.numpy.log10``.

    >>> import arrayport.numpy as anp
    >>> anp.log10(1000.0)
    Array(3., dtype=float32)
    """
    return strong(_over(log(x), ln(10)))


def _over(x: Array, number: float) -> Array:
    """Divide by a real number; of complex ones each part, for infinities would make NaNs."""
    if not dtypes.is_complex(x.dtype):
        return x / number
    return ops.complex(real(x) / number, imag(x) / number)


def logaddexp(x1: Any, x2: Any, /) -> Array:
    """Give log(exp(x1) + exp(x2)) without overflow. Source: ``numpy.logaddexp``.

    >>> import arrayport.numpy as anp
    >>> anp.logaddexp(1000.0, 0.0)
    Array(1000., dtype=float32, weak_type=True)
    """
    return _logaddexp("logaddexp", x1, x2, exp, 1.0)


def logaddexp2(x1: Any, x2: Any, /) -> Array:
    """Give log2(2**x1 + 2**x2) without overflow. Source: ``numpy.logaddexp2``.

    >>> import arrayport.numpy as anp
    >>> anp.logaddexp2(1.0, 1.0)
    Array(2., dtype=float32, weak_type=True)
    """
    x, y = arrayed(x1, "x1"), arrayed(x2, "x2")
    out = _logaddexp("logaddexp2", x, y, _two_to, ln(2))
    return convert(out, out.dtype, x.weak and y.weak)


def _two_to(x: Array) -> Array:
    """Raise 2 to a power; of a large one times ln(2) few digits would be left."""
    return exp(x * ln(2)) if dtypes.is_complex(x.dtype) else exp2(x)


@unit("x1", "x2")
def _logaddexp(name: str, x1: Any, x2: Any, power: Callable[[Array], Array], rate: float) -> Array:
    """Add to the larger operand what the other's distance from it leaves.

    Between equal infinities there is none, and each counts half. Of complex numbers the larger is
    the one with the larger real part; the answer's imaginary part, times the rate, is an angle from
    -pi to pi.
    """
    x, y = settle([inexact(v) for v in promote(arrayed(x1, name), arrayed(x2, name))])
    larger = greater_equal(real(x), real(y))
    high, low = select(larger, x, y), select(larger, y, x)
    twins = equal(real(x), real(y)) & ~isfinite(real(x))
    high = select(twins, (x + y) / 2, high)
    out = high + log1p(power(select(twins, constant(0, x), low - high))) / rate
    if not dtypes.is_complex(out.dtype):
        return out
    turn = 2 * pi / rate
    return ops.complex(real(out), remainder(imag(out) + turn / 2, turn) - turn / 2)


@unit("x")
def sinc(x: Any, /) -> Array:
    """Give sin(pi x) / (pi x), and 1 at 0. Source: ``numpy.sinc``.

    >>> import arrayport.numpy as anp
    >>> anp.sinc(anp.array([0.0, 0.5]))
    Array([1.        , 0.63661975], dtype=float32)
    """
    x = inexact(arrayed(x, "x")) * pi
    far = isinf(x)
    finite = select(far, constant(1, x), x)
    return select(far, constant(0, x), special.ratio(sin(finite), finite, special.sine_ratio, 0.5))


@unit("x")
def i0(x: Any) -> Array:
    """Give the modified Bessel function of order 0. Source: ``numpy.i0``.

    >>> import arrayport.numpy as anp
    >>> anp.i0(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return special.bessel_i0(real_only(x, "i0"))


# ---- angles


def atan2(x1: Any, x2: Any, /) -> Array:
    """Give the angle of the point (x2, x1), from -pi to pi; complex numbers continue it.

    Source: ``numpy.arctan2``, of complex numbers ``jax.lax.atan2``.

    >>> import arrayport.numpy as anp
    >>> anp.atan2(1.0, -1.0)
    Array(2.3561945, dtype=float32, weak_type=True)
    """
    x, y = promote(x1, x2)
    if not dtypes.is_complex(x.dtype):
        return ops.atan2(x, y)
    y, x = settle([y, x])
    return -1j * log((y + 1j * x) / sqrt(square(x) + square(y)))


arctan2 = atan2


@unit("x")
def deg2rad(x: Any, /) -> Array:
    """Turn degrees into radians. Source: ``jax.numpy.deg2rad``.

    >>> import arrayport.numpy as anp
    >>> anp.deg2rad(180.0)
    Array(3.1415927, dtype=float32, weak_type=True)
    """
    return inexact(arrayed(x, "x")) * (pi / 180)


@unit("x")
def rad2deg(x: Any, /) -> Array:
    """Turn radians into degrees. Source: ``jax.numpy.rad2deg``.

    >>> import arrayport.numpy as anp
    >>> anp.degrees(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return inexact(arrayed(x, "x")) * (180 / pi)


degrees, radians = rad2deg, deg2rad


def hypot(x1: Any, x2: Any, /) -> Array:
    """Give the hypotenuse sqrt(x1**2 + x2**2) without overflow. Source: ``numpy.hypot``.

    >>> import arrayport.numpy as anp
    >>> anp.hypot(3.0, 4.0)
    Array(5., dtype=float32, weak_type=True)
    """
    x, y = settle([inexact(real_only(v, "hypot")) for v in promote(x1, x2)])
    return ops.hypot(x, y)


# ---- complex numbers


@unit("z")
def angle(z: Any, deg: bool = False) -> Array:
    """Give the angle of complex numbers, in radians or degrees. Source: ``numpy.angle``.

    >>> import arrayport.numpy as anp
    >>> anp.angle(1j, deg=True)
    Array(90., dtype=float32, weak_type=True)
    """
    z = arrayed(z, "z")
    # Of a real number only the sign counts.
    if not dtypes.is_complex(z.dtype):
        z = convert(z, z.dtype if dtypes.is_inexact(z.dtype) else dtypes.default_float())
    out = atan2(imag(z), real(z))
    return rad2deg(out) if deg else out


# ---- bits
