"""Elementwise operations on operands of one dtype: nothing is promoted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.numpy import elementwise as numpy
from arrayport.ops import bits, elementwise, special, structure
from arrayport.ops.examples import LAX
from arrayport.ops.promotion import KEEPS, common_shape, home_of, lift, lift_all, scalar

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bessel_i0e",
    "bessel_i1e",
    "betainc",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "clamp",
    "clz",
    "complex",
    "conj",
    "cos",
    "cosh",
    "digamma",
    "div",
    "eq",
    "erf",
    "erf_inv",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "ge",
    "gt",
    "igamma",
    "igamma_grad_a",
    "igammac",
    "imag",
    "integer_pow",
    "is_finite",
    "le",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "logistic",
    "lt",
    "max",
    "min",
    "mul",
    "mulhi",
    "ne",
    "neg",
    "nextafter",
    "one_minus_square",
    "polygamma",
    "polynomial",
    "population_count",
    "pow",
    "random_gamma_grad",
    "real",
    "reciprocal",
    "rem",
    "round",
    "rsqrt",
    "select",
    "select_n",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "sub",
    "tan",
    "tanh",
    "zeta",
]

KINDS = {
    "b": "bool",
    "i": "signed integers",
    "u": "unsigned integers",
    "f": "floats",
    "c": "complex",
    "k": "random keys",
}
FLOATING, NUMERIC, INTEGRAL, BITS = "fc", "iufc", "iu", "biu"

# ---- operands that nothing promotes


def _lifted(xs: Sequence[Any], name: str) -> list[Array]:
    """Operands as Arrays; a Python number takes the dtype of the others where it keeps it."""
    known = next((x for x in xs if hasattr(x, "dtype")), None)
    kind = "" if known is None else dtypes.kind(dtypes.canonicalize(known.dtype))
    home = home_of(*xs)
    return [
        scalar(x, dtypes.canonicalize(known.dtype))
        if known is not None and kind in KEEPS.get(type(x), "")
        else lift(x, home, f"an operand of lax.{name}")
        for x in xs
    ]


def _alike(xs: Sequence[Any], name: str) -> list[Array]:
    """Operands of one dtype, whose shapes are equal, or equal but for extents of 1, or ()."""
    arrays = _lifted(xs, name)
    if len({x.dtype for x in arrays}) > 1:
        raise TypeError(
            f"lax.{name} needs one dtype, not {', '.join(str(x.dtype) for x in arrays)}: "
            "cast one with astype, or use the function of arrayport.numpy, which promotes"
        )
    if len({x.shape for x in arrays if x.shape}) > 1:
        if len({len(x.shape) for x in arrays if x.shape}) > 1:
            raise TypeError(
                f"lax.{name} needs shapes of one rank, or (), not "
                f"{', '.join(str(x.shape) for x in arrays)}: use reshape or broadcast_in_dim"
            )
        shape = common_shape(*[x.shape for x in arrays])
        return [structure.broadcast_to(x, shape) if x.shape else x for x in arrays]
    return arrays


def takes(x: Array, kinds: str, name: str) -> Array:
    if dtypes.kind(x.dtype) not in kinds:
        wanted = ", ".join(KINDS[k] for k in kinds)
        raise TypeError(f"lax.{name} takes {wanted}, not {x.dtype}: cast with astype first")
    return x


def _floats(xs: Sequence[Any], name: str) -> list[Array]:
    """Operands of one floating dtype and one shape, or ()."""
    return [takes(x, "f", name) for x in _alike(xs, name)]


def _unary(op: Callable[[Any], Array], name: str, kinds: str = FLOATING) -> Callable[[Any], Array]:
    """Make the strict function of one operand."""

    def function(x: Any, /) -> Array:
        return op(takes(lift(x, None, f"the operand of lax.{name}"), kinds, name))

    taken = ", ".join(KINDS[k] for k in kinds)
    return _described(function, name, f"Apply `{name}`, elementwise, to {taken}.")


def _accurate(op: Callable[[Any], Array], name: str, kinds: str = FLOATING) -> Callable[..., Array]:
    """Make the strict function of one operand of which accelerators may be told the accuracy."""
    strict = _unary(op, name, kinds)

    def function(x: Any, *, accuracy: Any = None) -> Array:  # noqa: ARG001 - a hint
        return strict(x)

    return _described(function, name, f"Apply `{name}`, elementwise, to floats and the like.")


def _binary(
    op: Callable[[Any, Any], Array], name: str, kinds: str = NUMERIC
) -> Callable[[Any, Any], Array]:
    """Make the strict function of two operands."""

    def function(x: Any, y: Any, /) -> Array:
        a, b = _alike((x, y), name)
        return op(takes(a, kinds, name), b)

    return _described(function, name, f"Apply `{name}`, elementwise, to two operands of one dtype.")


def _described(function: Any, name: str, text: str) -> Any:
    function.__name__ = function.__qualname__ = name
    given, gives = LAX[name]
    function.__doc__ = f"""{text} Source: ``jax.lax.{name}``.

    >>> from arrayport import lax
    >>> lax.{name}({given})
    Array({gives}, ...)
    """
    return function


# ---- elementwise

abs = _unary(elementwise.abs, "abs", "ifc")
acos, acosh = _unary(elementwise.acos, "acos"), _unary(elementwise.acosh, "acosh")
asin, asinh = _unary(elementwise.asin, "asin"), _unary(elementwise.asinh, "asinh")
atan, atanh = _unary(elementwise.atan, "atan"), _unary(elementwise.atanh, "atanh")
bessel_i0e = _unary(special.bessel_i0e, "bessel_i0e", "f")
bessel_i1e = _unary(special.bessel_i1e, "bessel_i1e", "f")
bitwise_not = _unary(elementwise.bitwise_not, "bitwise_not", BITS)
cbrt = _accurate(elementwise.cbrt, "cbrt", "f")
ceil, floor = _unary(elementwise.ceil, "ceil", "f"), _unary(elementwise.floor, "floor", "f")
clz = _unary(bits.clz, "clz", INTEGRAL)
cos, cosh = _accurate(elementwise.cos, "cos"), _unary(elementwise.cosh, "cosh")
digamma, lgamma = _unary(special.digamma, "digamma", "f"), _unary(special.lgamma, "lgamma", "f")
erf, erfc = _unary(special.erf, "erf", "f"), _accurate(special.erfc, "erfc", "f")
erf_inv = _unary(special.erf_inv, "erf_inv", "f")
exp, exp2 = _accurate(elementwise.exp, "exp"), _accurate(elementwise.exp2, "exp2")
expm1, log1p = _accurate(elementwise.expm1, "expm1"), _accurate(elementwise.log1p, "log1p")
imag, real = _unary(elementwise.imag, "imag", "c"), _unary(elementwise.real, "real", "c")
is_finite = _unary(elementwise.isfinite, "is_finite", "f")
log, log2 = _accurate(elementwise.log, "log"), _accurate(numpy.log2, "log2")
logistic = _accurate(elementwise.logistic, "logistic")
neg = _unary(elementwise.neg, "neg", NUMERIC)
one_minus_square = _unary(elementwise.one_minus_square, "one_minus_square", NUMERIC)
population_count = _unary(elementwise.population_count, "population_count", INTEGRAL)
rsqrt, sqrt = _accurate(elementwise.rsqrt, "rsqrt"), _accurate(elementwise.sqrt, "sqrt")
sign = _unary(elementwise.sign, "sign", NUMERIC)
sin, sinh = _accurate(elementwise.sin, "sin"), _unary(elementwise.sinh, "sinh")
square = _unary(elementwise.square, "square", NUMERIC)
tan, tanh = _accurate(elementwise.tan, "tan"), _accurate(elementwise.tanh, "tanh")

add = _binary(elementwise.add, "add")
atan2 = _binary(numpy.atan2, "atan2", FLOATING)
bitwise_and = _binary(elementwise.bitwise_and, "bitwise_and", BITS)
bitwise_or = _binary(elementwise.bitwise_or, "bitwise_or", BITS)
bitwise_xor = _binary(elementwise.bitwise_xor, "bitwise_xor", BITS)
eq, ne = _binary(elementwise.equal, "eq", "biufck"), _binary(elementwise.not_equal, "ne", "biufck")
ge, gt = (
    _binary(elementwise.greater_equal, "ge", "biuf"),
    _binary(elementwise.greater, "gt", "biuf"),
)
le, lt = _binary(elementwise.less_equal, "le", "biuf"), _binary(elementwise.less, "lt", "biuf")
max = _binary(elementwise.maximum, "max", "biufc")
min = _binary(elementwise.minimum, "min", "biufc")
sub = _binary(elementwise.sub, "sub")
mulhi = _binary(bits.mulhi, "mulhi", INTEGRAL)
rem = _binary(elementwise.rem, "rem")
shift_left = _binary(elementwise.shift_left, "shift_left", INTEGRAL)
shift_right_arithmetic = _binary(
    elementwise.shift_right_arithmetic, "shift_right_arithmetic", INTEGRAL
)
shift_right_logical = _binary(elementwise.shift_right_logical, "shift_right_logical", INTEGRAL)


def div(x: Any, y: Any, /) -> Array:
    """Divide; integers truncate, and by 0 give -1, as in XLA. Source: ``jax.lax.div``.

    >>> from arrayport import lax
    >>> lax.div(-7, 2)
    Array(-3, dtype=int32, weak_type=True)
    """
    a, b = _alike((x, y), "div")
    takes(a, NUMERIC, "div")
    if dtypes.is_integer(a.dtype):
        return elementwise.quotient_p.bind(a, b)
    return elementwise.div(a, b)


def mul(x: Any, y: Any, *, out_dtype: Any = None) -> Array:
    """Multiply numbers of one dtype; `out_dtype` is what both are cast to before.

    Source: ``jax.lax.mul``.

    >>> import arrayport.numpy as anp
    >>> mul(anp.int8(100), anp.int8(2), out_dtype="int32")
    Array(200, dtype=int32)
    """
    a, b = _alike((x, y), "mul")
    takes(a, NUMERIC, "mul")
    if out_dtype is not None:
        a, b = (structure.convert(operand, dtypes.canonicalize(out_dtype)) for operand in (a, b))
    return elementwise.mul(a, b)


def _no_half(x: Array, name: str) -> Array:
    """Refuse floats of which there are no complex numbers."""
    if dtypes.is_floating(x.dtype) and x.dtype.itemsize < 4:
        raise TypeError(
            f"lax.{name} takes float32 and float64, not {x.dtype}: cast with astype first"
        )
    return x


def complex(x: Any, y: Any, /) -> Array:
    """Make the complex numbers x + iy of float32 or float64. Source: ``jax.lax.complex``.

    >>> from arrayport import lax
    >>> lax.complex(1.0, 2.0)
    Array(1.+2.j, dtype=complex64, weak_type=True)
    """
    a, b = _floats((x, y), "complex")
    return elementwise.complex(_no_half(a, "complex"), b)


def conj(x: Any, /) -> Array:
    """Take the complex conjugate; a float becomes complex. Source: ``jax.lax.conj``.

    >>> from arrayport import lax
    >>> lax.conj(1 + 2j)
    Array(1.-2.j, dtype=complex64, weak_type=True)
    """
    x = _no_half(takes(lift(x), FLOATING, "conj"), "conj")
    return elementwise.conj(structure.convert(x, dtypes.complex_dtype(x.dtype), x.weak))


def pow(x: Any, y: Any, /) -> Array:
    """Raise a float or complex x to a power of the same dtype, or to integers.

    Source: ``jax.lax.pow``.

    >>> from arrayport import lax
    >>> lax.pow(2.0, 3)
    Array(8., dtype=float32, weak_type=True)
    """
    if type(y) is int:
        return integer_pow(takes(lift(x), FLOATING, "pow"), y)
    a, b = _lifted((x, y), "pow")
    takes(a, FLOATING, "pow")
    if dtypes.is_integer(b.dtype):
        return elementwise.power(a, b)
    a, b = _alike((a, b), "pow")
    return elementwise.power(a, b)


def integer_pow(x: Any, y: int) -> Array:
    """Raise x to a Python integer. Source: ``jax.lax.integer_pow``.

    >>> from arrayport import lax
    >>> lax.integer_pow(2, 3)
    Array(8, dtype=int32, weak_type=True)
    """
    return elementwise.integer_pow(takes(lift(x), NUMERIC, "integer_pow"), y)


def reciprocal(x: Any, /) -> Array:
    """Divide 1 by x. Source: ``jax.lax.reciprocal``.

    >>> from arrayport import lax
    >>> lax.reciprocal(4.0)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return integer_pow(takes(lift(x), FLOATING, "reciprocal"), -1)


def polynomial(x: Any, coeffs: Sequence[Any], *, unroll: int | None = None) -> Array:  # noqa: ARG001 - a hint
    """Evaluate `coeffs[0] + coeffs[1] * x + coeffs[2] * x**2 + ...`, in x's dtype.

    Coefficients are numbers, or arrays that broadcast with x. Source: ``jax.lax.polynomial``.

    >>> from arrayport import lax
    >>> lax.polynomial(3.0, [1.0, 5.0, 2.0])
    Array(34., dtype=float32, weak_type=True)
    """
    x, *terms = lift_all((x, *coeffs))
    takes(x, NUMERIC, "polynomial")
    terms = [structure.convert(c, x.dtype, c.weak) for c in terms]
    shape = common_shape(x.shape, *[c.shape for c in terms])
    total = structure.full_like(x, 0, weak=x.weak)
    for place, c in enumerate(reversed(terms)):
        total = elementwise.add(elementwise.mul(total, x), c) if place else c
    weak = x.weak and all(c.weak for c in terms)
    return structure.convert(structure.broadcast_to(total, shape), x.dtype, weak)


def nextafter(x1: Any, x2: Any) -> Array:
    """Give the float after x1 in the direction of x2. Source: ``jax.lax.nextafter``.

    >>> from arrayport import lax
    >>> lax.nextafter(1.0, 2.0) > 1.0
    Array(True, dtype=bool)
    """
    x, y = _alike((x1, x2), "nextafter")
    return elementwise.nextafter(takes(x, "f", "nextafter"), y)


def igamma(a: Any, x: Any) -> Array:
    """Give the part of the gamma distribution with exponent a that is below x.

    Source: ``jax.lax.igamma``.

    >>> from arrayport import lax
    >>> lax.igamma(1.0, 0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return special.igamma(*_floats((a, x), "igamma"))


def igammac(a: Any, x: Any) -> Array:
    """Give the part of the gamma distribution with exponent a that is above x.

    Source: ``jax.lax.igammac``.

    >>> from arrayport import lax
    >>> lax.igammac(1.0, 0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return special.igammac(*_floats((a, x), "igammac"))


def igamma_grad_a(a: Any, x: Any) -> Array:
    """Give the derivative of `igamma` with respect to a. Source: ``jax.lax.igamma_grad_a``.

    >>> from arrayport import lax
    >>> lax.igamma_grad_a(1.0, 2.0).round(4)
    Array(-0.2208, dtype=float32, weak_type=True)
    """
    return special.igamma_grad_a(*_floats((a, x), "igamma_grad_a"))


def random_gamma_grad(a: Any, x: Any) -> Array:
    """Give the derivative of x with respect to a, where `igamma` of both stays the same.

    Source: ``jax.lax.random_gamma_grad``.

    >>> from arrayport import lax
    >>> lax.random_gamma_grad(1.0, 2.0).round(4)
    Array(1.6317, dtype=float32, weak_type=True)
    """
    return special.random_gamma_grad(*_floats((a, x), "random_gamma_grad"))


def polygamma(m: Any, x: Any) -> Array:
    """Give the mth derivative of `digamma`, for whole m; there is no derivative in m.

    Source: ``jax.lax.polygamma``.

    >>> from arrayport import lax
    >>> lax.polygamma(1.0, 1.0)
    Array(1.6449..., dtype=float32, weak_type=True)
    """
    return special.polygamma(*_floats((m, x), "polygamma"))


def zeta(x: Any, q: Any) -> Array:
    """Give the sum of (k + q)**-x over k = 0, 1, 2 ...; there is no derivative in x.

    Source: ``jax.lax.zeta``.

    >>> from arrayport import lax
    >>> lax.zeta(2.0, 1.0)
    Array(1.6449..., dtype=float32, weak_type=True)
    """
    return special.zeta(*_floats((x, q), "zeta"))


def betainc(a: Any, b: Any, x: Any) -> Array:
    """Give the part of the beta distribution with exponents a and b that is below x.

    There is no derivative with respect to a and b. Source: ``jax.lax.betainc``.

    >>> from arrayport import lax
    >>> lax.betainc(1.0, 1.0, 0.25)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return special.betainc_p.bind(*_floats((a, b, x), "betainc"))


def round(x: Any, rounding_method: Any = 0) -> Array:
    """Round to whole numbers; halves away from zero, or with `rounding_method` 1 to even ones.

    Source: ``jax.lax.round``.

    >>> from arrayport import lax
    >>> lax.round(2.5), lax.round(2.5, 1)
    (Array(3., dtype=float32, weak_type=True), Array(2., dtype=float32, weak_type=True))
    """
    x = takes(lift(x), "f", "round")
    method = int(getattr(rounding_method, "value", rounding_method))
    if method not in {0, 1}:
        raise ValueError(
            f"rounding_method={rounding_method!r} must be 0 (away from zero) or 1 (even)"
        )
    if method:
        return elementwise.round(x)
    down = elementwise.trunc(x)
    away = elementwise.greater_equal(elementwise.abs(x - down), 0.5)
    return elementwise.select(away, down + elementwise.sign(x), down)


def clamp(min: Any, x: Any, max: Any) -> Array:
    """Limit x to the range from min to max, each of x's shape or (). Source: ``jax.lax.clamp``.

    >>> from arrayport import lax
    >>> lax.clamp(0, 5, 3)
    Array(3, dtype=int32, weak_type=True)
    """
    low, value, high = _lifted((min, x, max), "clamp")
    if not low.dtype == value.dtype == high.dtype:
        raise TypeError(
            f"lax.clamp needs one dtype, not {low.dtype}, {value.dtype} and {high.dtype}"
        )
    for bound in (low, high):
        if bound.shape not in {(), value.shape}:
            raise TypeError(f"a bound of lax.clamp has shape {bound.shape}, x {value.shape}")
    return elementwise.clamp(low, value, high)


def select(pred: Any, on_true: Any, on_false: Any) -> Array:
    """Choose by a boolean of the shape of the cases, or (). Source: ``jax.lax.select``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> lax.select(anp.array([True, False]), anp.arange(2), anp.array([5, 6]))
    Array([0, 6], dtype=int32)
    """
    return select_n(pred, on_false, on_true)


def select_n(which: Any, *cases: Any) -> Array:
    """Choose among cases of one shape and dtype: by a boolean between two, by int32 among more.

    Source: ``jax.lax.select_n``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> lax.select_n(anp.array([1, 0]), anp.arange(2), anp.array([5, 6]))
    Array([5, 1], dtype=int32)
    """
    index = lift(which, home_of(*cases), "which")
    xs = lift_all(cases)
    if len({(x.shape, x.dtype) for x in xs}) != 1:
        described = ", ".join(f"{x.dtype}{x.shape}" for x in xs)
        raise TypeError(f"lax.select needs cases of one shape and dtype, not {described}")
    if index.shape not in {(), xs[0].shape}:
        raise TypeError(
            f"lax.select: which of shape {index.shape} must have the cases' shape, {xs[0].shape}, "
            "or ()"
        )
    if index.dtype == dtypes.bool_:
        if len(xs) != 2:
            raise TypeError(f"lax.select: a boolean chooses between two cases, not {len(xs)}")
        return elementwise.select(index, xs[1], xs[0])
    if index.dtype != dtypes.int32:
        raise TypeError(f"lax.select: which must be bool or int32, not {index.dtype}")
    chosen = xs[0]
    for i, x in enumerate(xs[1:], start=1):
        chosen = elementwise.select(elementwise.greater_equal(index, i), x, chosen)
    return chosen
