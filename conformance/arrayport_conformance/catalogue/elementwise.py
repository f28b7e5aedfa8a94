"""Rows of functions that compute each element by itself."""

from __future__ import annotations

from arrayport_conformance.catalogue.rows import (
    ABOVE_ONE,
    ANY,
    APART,
    COMPLEX,
    FLOATS,
    INEXACT,
    INTEGERS,
    NARROW,
    NONZERO,
    NUMBERS,
    POSITIVE,
    REAL,
    REALS,
    UNIT,
    Case,
    I,
    Row,
    X,
    case,
    rows,
)

STEPS = "its derivative is zero wherever it has one"
CHOICE = "its output is boolean"
BITS = "it works on integers"


def one(domain: str = REAL) -> tuple[Case, ...]:
    """State calls of one operand."""
    return case(X(2, 3, domain=domain)), case(X(domain=domain))


def two(first: str = REAL, second: str = REAL) -> tuple[Case, ...]:
    """State calls of two operands, of one shape and broadcast."""
    return (
        case(X(2, 3, domain=first), X(2, 3, domain=second)),
        case(X(2, 1, domain=first), X(3, domain=second)),
        case(X(3, domain=first), X(domain=second)),
    )


def same(first: str = REAL, second: str = REAL) -> tuple[Case, ...]:
    """State calls of two operands of one shape, as lax wants them."""
    return (case(X(2, 3, domain=first), X(2, 3, domain=second)),)


WITH_NUMBERS = (*two(), case(X(3), 2), case(2.5, X(2, 3)), case(X(2, 3), True))
MIXED = (("int8", "float16"), ("int32", "float32"), ("uint8", "int8"), ("bfloat16", "float32"))

ROWS = (
    # ---- arithmetic
    *rows("numpy.add numpy.multiply", WITH_NUMBERS, dtypes=(*ANY, *MIXED), special=True),
    *rows("numpy.subtract", two(), dtypes=NUMBERS, special=True),
    *rows(
        "numpy.divide numpy.true_divide", two(NONZERO, NONZERO), dtypes=(*ANY, *MIXED), special=True
    ),
    # NumPy's own floor_divide has other infinities than the standard: tests/test_contract.py
    Row(
        "numpy.floor_divide",
        two(REAL, NONZERO),
        REALS,
        contract="floor_division_of_special_values",
    ),
    *rows(
        "numpy.remainder numpy.mod",
        two(REAL, NONZERO),
        dtypes=REALS,
        special=True,
        contract="floor_division_of_special_values",
    ),
    Row("numpy.divmod", two(REAL, NONZERO), REALS, contract="floor_division_of_special_values"),
    *rows("numpy.fmod", two(REAL, NONZERO), dtypes=REALS, special=True),
    *rows("lax.add lax.mul lax.sub", same(), dtypes=NUMBERS, special=True),
    *rows("lax.div", same(REAL, NONZERO), dtypes=NUMBERS, special=True),
    *rows("lax.rem", same(REAL, NONZERO), dtypes=REALS, special=True),
    *rows("numpy.negative numpy.positive lax.neg", one(), dtypes=NUMBERS, special=True),
    *rows("numpy.abs numpy.absolute", one(NONZERO), dtypes=NUMBERS, special=True),
    Row("lax.abs", one(NONZERO), (*INEXACT, "int32", "int8"), special=True),
    *rows("numpy.fabs", one(NONZERO), dtypes=REALS, special=True),
    *rows("numpy.sign lax.sign", one(NONZERO), dtypes=NUMBERS),
    *rows("numpy.square lax.square", one(), dtypes=NUMBERS, special=True),
    *rows("numpy.reciprocal", one(NONZERO), dtypes=INEXACT, special=True),
    Row("lax.reciprocal", one(NONZERO), INEXACT),
    # ---- rounding
    *rows(
        "numpy.floor numpy.ceil numpy.trunc numpy.rint",
        one(NONZERO),
        dtypes=REALS,
        special=True,
    ),
    *rows("lax.floor lax.ceil lax.round", one(NONZERO), dtypes=FLOATS, special=True),
    Row("numpy.round", (*one(), case(X(2, 3), 2)), REALS),
    Row("numpy.around", one(), REALS),
    # ---- choice
    *rows(
        "numpy.maximum numpy.minimum",
        (*two(), case(X(3), 1.5)),
        dtypes=(*REALS, *NARROW, "bool"),
        special=True,
        open_zero=True,
    ),
    *rows("numpy.fmax numpy.fmin", two(), dtypes=REALS, special=True, open_zero=True),
    *rows("lax.max lax.min", same(), dtypes=REALS, special=True, open_zero=True),
    Row("numpy.clip", (case(X(2, 3), 0, 2), case(X(3), X(3), X(3))), REALS),
    Row("lax.clamp", (case(X(fixed=True), X(2, 3), X(fixed=True)),), FLOATS),
    Row("numpy.heaviside", two(NONZERO), FLOATS, not_differentiable=STEPS),
    # ---- comparison
    *rows(
        "numpy.equal numpy.not_equal numpy.less numpy.less_equal numpy.greater numpy.greater_equal",
        (*two(), case(X(3), 1), case(0.5, X(3))),
        dtypes=(*REALS, "bool"),
        not_differentiable=CHOICE,
        special=True,
    ),
    *rows(
        "lax.eq lax.ne lax.lt lax.le lax.gt lax.ge",
        same(),
        dtypes=REALS,
        not_differentiable=CHOICE,
        special=True,
    ),
    *rows(
        "numpy.isfinite numpy.isinf numpy.isnan",
        one(),
        dtypes=ANY,
        not_differentiable=CHOICE,
        special=True,
    ),
    *rows(
        "numpy.isposinf numpy.isneginf numpy.signbit",
        one(),
        dtypes=FLOATS,
        not_differentiable=CHOICE,
        special=True,
    ),
    Row("lax.is_finite", one(), FLOATS, not_differentiable=CHOICE, special=True),
    *rows("numpy.isclose", two(), dtypes=FLOATS, not_differentiable=CHOICE),
    *rows("numpy.isreal numpy.iscomplex", one(), dtypes=INEXACT, not_differentiable=CHOICE),
    # ---- powers and roots
    Row(
        "numpy.power",
        (*two(POSITIVE, REAL), case(X(2, 3), 3), case(X(3), 2), case(2.0, X(3))),
        ("float32", "float64", "complex64"),
        ulps=16,
    ),
    Row("numpy.float_power", two(POSITIVE, REAL), FLOATS, ulps=16),
    Row("numpy.pow", two(POSITIVE, REAL), FLOATS, ulps=16),
    Row("lax.pow", same(POSITIVE, REAL), FLOATS, ulps=16, special=True),
    Row("lax.integer_pow", (case(X(2, 3), 3), case(X(3, domain=NONZERO), -2)), FLOATS, ulps=8),
    Row("lax.one_minus_square", one(), INEXACT, 8),
    Row("lax.polynomial", (case(X(2, 3), (1.0, 2.0, 0.5)), case(X(3), [X(3), 2.0])), FLOATS, 16),
    *rows("numpy.sqrt lax.sqrt", one(POSITIVE), dtypes=INEXACT, special=True),
    *rows("lax.rsqrt", one(POSITIVE), dtypes=FLOATS, special=True),
    # JAX's own is up to 7 ulps off, by the emitters that tests take.
    *rows("numpy.cbrt lax.cbrt", one(NONZERO), dtypes=FLOATS, special=True, ulps=8),
    *rows("numpy.hypot", two(NONZERO), dtypes=FLOATS, ulps=8),
    # ---- exponentials and logarithms
    *rows("numpy.exp numpy.expm1 lax.exp lax.expm1", one(), dtypes=INEXACT, ulps=8, special=True),
    *rows("numpy.exp2 lax.exp2", one(), dtypes=FLOATS, ulps=16, special=True),
    *rows("numpy.log lax.log", one(POSITIVE), dtypes=INEXACT, ulps=8, special=True),
    *rows("numpy.log1p lax.log1p", one(POSITIVE), dtypes=INEXACT, ulps=8, special=True),
    *rows("numpy.log2 numpy.log10 lax.log2", one(POSITIVE), dtypes=FLOATS, ulps=16, special=True),
    *rows("numpy.logaddexp numpy.logaddexp2", two(), dtypes=FLOATS, ulps=32),
    # ---- trigonometric
    *rows("numpy.sin numpy.cos lax.sin lax.cos", one(), dtypes=INEXACT, ulps=16, special=True),
    *rows("numpy.tan lax.tan", one(UNIT), dtypes=INEXACT, ulps=16),
    *rows(
        "numpy.arcsin numpy.arccos numpy.asin numpy.acos lax.asin lax.acos",
        one(UNIT),
        dtypes=INEXACT,
        ulps=32,
    ),
    *rows("numpy.arctan numpy.atan lax.atan", one(UNIT), dtypes=INEXACT, ulps=16),
    *rows("numpy.arctan2 numpy.atan2", two(NONZERO, NONZERO), dtypes=FLOATS, ulps=8, special=True),
    *rows("lax.atan2", same(NONZERO, NONZERO), dtypes=FLOATS, ulps=8, special=True),
    *rows("numpy.sinc", one(NONZERO), dtypes=FLOATS, ulps=32, of_largest=True),
    *rows("numpy.deg2rad numpy.rad2deg numpy.degrees numpy.radians", one(), dtypes=FLOATS),
    # ---- hyperbolic
    *rows("numpy.sinh numpy.cosh lax.sinh lax.cosh", one(), dtypes=INEXACT, ulps=32),
    *rows("numpy.tanh lax.tanh", one(), dtypes=INEXACT, ulps=16, special=True),
    *rows("numpy.arcsinh numpy.asinh lax.asinh", one(NONZERO), dtypes=INEXACT, ulps=32),
    *rows("numpy.arccosh numpy.acosh lax.acosh", one(ABOVE_ONE), dtypes=INEXACT, ulps=32),
    *rows("numpy.arctanh numpy.atanh lax.atanh", one(UNIT), dtypes=INEXACT, ulps=32),
    *rows("lax.logistic", one(), dtypes=FLOATS, ulps=16, special=True),
    Row("nn.log1mexp", one(POSITIVE), FLOATS, 64),
    # ---- complex parts
    *rows("numpy.real numpy.imag numpy.conj numpy.conjugate", one(), dtypes=(*COMPLEX, "float32")),
    *rows("lax.real lax.imag lax.conj", one(), dtypes=COMPLEX),
    Row("lax.complex", same(), FLOATS),
    Row("numpy.angle", one(NONZERO), ("complex64", "complex128"), ulps=8),
    # ---- bits and logic
    *rows(
        "numpy.bitwise_and numpy.bitwise_or numpy.bitwise_xor",
        two(),
        dtypes=(*INTEGERS, "bool"),
        not_differentiable=BITS,
    ),
    *rows(
        "numpy.bitwise_not numpy.bitwise_invert numpy.invert lax.bitwise_not",
        one(),
        dtypes=(*INTEGERS, "bool"),
        not_differentiable=BITS,
    ),
    *rows(
        "lax.bitwise_and lax.bitwise_or lax.bitwise_xor",
        same(),
        dtypes=(*INTEGERS, "bool"),
        not_differentiable=BITS,
    ),
    *rows(
        "numpy.left_shift numpy.right_shift numpy.bitwise_left_shift numpy.bitwise_right_shift",
        (case(X(2, 3), X(3, domain=POSITIVE)), case(X(3), 2)),
        dtypes=("int32", "uint32"),
        not_differentiable=BITS,
    ),
    *rows(
        "lax.shift_left lax.shift_right_arithmetic lax.shift_right_logical",
        (case(X(2, 3), X(2, 3, domain=POSITIVE)),),
        dtypes=("int32", "uint32"),
        not_differentiable=BITS,
    ),
    *rows(
        "lax.population_count numpy.bitwise_count", one(), dtypes=INTEGERS, not_differentiable=BITS
    ),
    *rows(
        "numpy.logical_and numpy.logical_or numpy.logical_xor",
        two(),
        dtypes=ANY,
        not_differentiable=CHOICE,
    ),
    Row("numpy.logical_not", one(), ANY, not_differentiable=CHOICE),
    Row("numpy.copysign", two(NONZERO, NONZERO), FLOATS, special=True),
    Row("numpy.nextafter", two(APART), FLOATS, not_differentiable="it counts numbers, not space"),
    Row("lax.nextafter", same(APART), FLOATS, not_differentiable="it counts numbers, not space"),
    Row("numpy.spacing", one(), FLOATS, not_differentiable="it counts numbers, not space"),
    Row("numpy.frexp", one(NONZERO), FLOATS),
    Row("numpy.ldexp", (case(X(2, 3), I(2, 3, below=6)), case(X(3), 2)), FLOATS),
    *rows(
        "numpy.packbits",
        (case(X(11)), case(X(2, 3), axis=0, bitorder="little")),
        dtypes=("uint8", "bool"),
        not_differentiable=BITS,
    ),
    Row(
        "numpy.unpackbits",
        (case(X(2, 3)), case(X(2, 3), axis=1, count=11, bitorder="little")),
        ("uint8",),
        not_differentiable=BITS,
    ),
    Row("numpy.modf", one(NONZERO), FLOATS),
    Row("numpy.nan_to_num", one(), FLOATS, special=True),
    *rows("numpy.gcd numpy.lcm", two(), dtypes=("int32", "uint8"), not_differentiable=BITS),
    # ---- neural activations
    *rows(
        "nn.relu nn.sigmoid nn.softplus nn.silu nn.swish nn.elu nn.gelu nn.leaky_relu nn.selu "
        "nn.log_sigmoid nn.soft_sign nn.celu nn.hard_tanh nn.relu6 nn.hard_sigmoid nn.hard_swish "
        "nn.squareplus nn.identity nn.hard_silu nn.tanh nn.sparse_plus nn.sparse_sigmoid",
        one(NONZERO),
        ulps=64,
        of_largest=True,
    ),
    # Its derivative has a root, near which float32 keeps no digits: several numbers share a scale.
    Row("nn.mish", (case(X(5, domain=NONZERO)),), ulps=64, of_largest=True),
)
