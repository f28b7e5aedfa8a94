"""Tests of elementwise operations: values, dtypes, derivatives, batches, by JAX and by literals."""

from __future__ import annotations

import doctest
import itertools
from operator import attrgetter

import ml_dtypes
import numpy as np
import pytest

import arrayport as ap
from arrayport.ops import elementwise as ops
from arrayport.ops import special
from arrayport.ops.examples import NUMPY
from arrayport.ops.promotion import lift

REAL = np.array([-2.5, -0.75, 0.3, 1.2, 3.5])
POSITIVE = np.array([0.05, 0.4, 1.7, 6.0])
UNIT = np.array([-0.9, -0.2, 0.35, 0.8])
ABOVE_ONE = np.array([1.05, 1.5, 4.0])
POLES = np.array([-2.3, -0.6, 0.4, 1.5, 8.0])  # between the poles of gamma
COMPLEX = np.array([0.3 + 0.4j, -1.2 + 0.7j, 0.5 - 1.1j, -0.4 - 0.2j])
X = np.array([1.5, -2.0, 0.7, 3.0, -0.4])
Y = np.array([0.8, 1.3, -2.2, 2.5, -1.1])

# our function, JAX's, real points, whether complex numbers are taken too
UNARY = [
    (ops.neg, "numpy.negative", REAL, True),
    (ops.abs, "numpy.abs", REAL, False),
    (ops.sign, "numpy.sign", REAL, True),
    (ops.floor, "numpy.floor", REAL, False),
    (ops.ceil, "numpy.ceil", REAL, False),
    (ops.round, "numpy.round", REAL, False),
    (ops.trunc, "numpy.trunc", REAL, False),
    (ops.square, "numpy.square", REAL, True),
    (ops.sqrt, "numpy.sqrt", POSITIVE, True),
    (ops.rsqrt, "lax.rsqrt", POSITIVE, True),
    (ops.cbrt, "numpy.cbrt", REAL, False),
    (ops.exp, "numpy.exp", REAL, True),
    (ops.exp2, "numpy.exp2", REAL, True),
    (ops.expm1, "numpy.expm1", REAL, True),
    (ops.log, "numpy.log", POSITIVE, True),
    (ops.log1p, "numpy.log1p", POSITIVE, True),
    (ops.logistic, "lax.logistic", REAL, True),
    (ops.sin, "numpy.sin", REAL, True),
    (ops.cos, "numpy.cos", REAL, True),
    (ops.tan, "numpy.tan", REAL, True),
    (ops.asin, "numpy.arcsin", UNIT, True),
    (ops.acos, "numpy.arccos", UNIT, True),
    (ops.atan, "numpy.arctan", REAL, True),
    (ops.sinh, "numpy.sinh", REAL, True),
    (ops.cosh, "numpy.cosh", REAL, True),
    (ops.tanh, "numpy.tanh", REAL, True),
    (ops.asinh, "numpy.arcsinh", REAL, True),
    (ops.acosh, "numpy.arccosh", ABOVE_ONE, True),
    (ops.atanh, "numpy.arctanh", UNIT, True),
    (ops.conj, "numpy.conj", REAL, False),
    (ops.stop_gradient, "lax.stop_gradient", REAL, True),
    (special.erf, "lax.erf", REAL, False),
    (special.erfc, "lax.erfc", REAL, False),
    (special.erf_inv, "lax.erf_inv", UNIT, False),
    (special.lgamma, "lax.lgamma", POLES, False),
    (special.digamma, "lax.digamma", POLES, False),
]
BINARY = [
    (ops.add, "numpy.add", X, True),
    (ops.sub, "numpy.subtract", X, True),
    (ops.mul, "numpy.multiply", X, True),
    (ops.div, "numpy.true_divide", X, True),
    (ops.power, "numpy.power", abs(X), True),
    (ops.rem, "lax.rem", X, False),
    (ops.remainder, "numpy.remainder", X, False),
    (ops.floor_divide, "numpy.floor_divide", X, False),
    (ops.maximum, "numpy.maximum", X, False),
    (ops.minimum, "numpy.minimum", X, False),
    (ops.atan2, "numpy.arctan2", X, False),
    (ops.nextafter, "lax.nextafter", X, False),
]
COMPARISONS = [
    (ops.equal, np.equal),
    (ops.not_equal, np.not_equal),
    (ops.less, np.less),
    (ops.less_equal, np.less_equal),
    (ops.greater, np.greater),
    (ops.greater_equal, np.greater_equal),
]
NAMES = {f: path.rpartition(".")[2] for f, path, *_ in (*UNARY, *BINARY)}


@pytest.fixture
def jax():
    found = pytest.importorskip("jax", reason="the reference for derivatives is JAX")
    with found.enable_x64(True):
        yield found


def named(f) -> str | None:
    return NAMES.get(f) if callable(f) else ""


def widened(x):
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def close(ours, reference, rtol: float = 3e-13) -> None:
    ours = np.asarray(ours)
    assert ours.dtype == reference.dtype
    np.testing.assert_allclose(ours, np.asarray(reference), rtol=rtol, atol=1e-300)


def cases(rows, dtypes=()):
    """Each row at real points and, where it takes them, complex ones; in other dtypes if given."""
    for function, path, points, with_complex in rows:
        several = COMPLEX if rows is UNARY else np.concatenate([COMPLEX, -COMPLEX[:1]])
        for x in (points, several)[: 1 + with_complex]:
            for dtype in [np.dtype(d) for d in dtypes] or [x.dtype]:
                if (dtype.kind == "c") == (x.dtype.kind == "c"):
                    yield pytest.param(
                        function, path, x.astype(dtype), id=f"{NAMES[function]}-{dtype}"
                    )


# ---- derivatives


def two_orders(jvp, vjp, f, xs, ts, ct):
    """Value, first and second derivative along ts, and the cotangents that ct pulls back."""

    def slope(*xs):
        return jvp(f, xs, ts)[1]

    return f(*xs), slope(*xs), jvp(slope, xs, ts)[1], vjp(f, *xs)[1](ct)


def known_to(jax, f, dtype) -> bool:
    """Whether JAX's own derivative is there and right: before 0.12 some were not."""
    young = {ops.nextafter} | ({ops.sign, ops.acosh} if dtype.kind == "c" else set())
    return f not in young or jax.__version_info__ >= (0, 12)


def compare(jax, f, path, xs):
    if not known_to(jax, f, xs[0].dtype):
        pytest.skip("JAX before 0.12 has no right derivative of this")
    shape = np.broadcast_shapes(*[x.shape for x in xs])
    *ts, ct = (
        np.cos(i + np.arange(np.prod(s, dtype=int))).reshape(s).astype(xs[0].dtype)
        for i, s in enumerate([*[x.shape for x in xs], shape])
    )
    g = attrgetter(path)(jax)
    ours = two_orders(ap.jvp, ap.vjp, f, [lift(x) for x in xs], tuple(ts), lift(ct))
    theirs = jax.jit(lambda *xs: two_orders(jax.jvp, jax.vjp, g, xs, tuple(ts), ct))(*xs)
    close(ours[0], theirs[0])
    close(ours[1], theirs[1], 1e-12)
    close(ours[2], theirs[2], 1e-11)
    for a, b in zip(ours[3], theirs[3], strict=True):
        close(a, b, 1e-12)


@pytest.mark.parametrize(("f", "path", "x"), list(cases(UNARY)))
def test_unary_value_and_two_derivatives(jax, f, path, x):
    compare(jax, f, path, [x])


@pytest.mark.parametrize(("f", "path", "x"), list(cases(BINARY)))
@pytest.mark.parametrize("scalar", ["neither", "first", "second"])
def test_binary_value_and_two_derivatives(jax, f, path, x, scalar):
    y = Y if x.dtype == float else (1.3 - 0.2j) * x[::-1]
    compare(jax, f, path, [x[0] if scalar == "first" else x, y[1] if scalar == "second" else y])


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 3, 7])
@pytest.mark.parametrize("x", [REAL, COMPLEX], ids=["real", "complex"])
def test_integer_powers(n, x):
    close(ops.power(lift(x), n), x**n)
    slope = ap.jvp(lambda x: ops.power(x, n), (lift(x),), (np.ones_like(x),))[1]
    close(slope, n * x ** (n - 1))


def derivatives(f, x: float, order: int) -> list[float]:
    found = []
    for _ in range(order + 1):
        found.append(float(f(x)))
        f = ap.grad(f)
    return found


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (lambda x: ops.power(x, 0), 0.0, [1, 0, 0]),
        (lambda x: ops.power(x, 2), 0.0, [0, 0, 2, 0]),
        (lambda x: ops.power(x, 2.0), 0.0, [0, 0, 2, 0]),
        (lambda x: ops.power(x, 0.0), 0.0, [1, 0, 0]),
        (lambda x: ops.power(x, 3.0), 0.0, [0, 0, 0, 6, 0]),
        (lambda x: ops.maximum(x, 0.0), 0.0, [0, 0.5]),
        (lambda x: ops.minimum(x, 0.0), 0.0, [0, 0.5]),
        (lambda x: ops.maximum(x, 0.0), 1.0, [1, 1, 0]),
        (ops.abs, 0.0, [0, 1]),
        (ops.abs, -3.0, [3, -1]),
        (ops.sign, 0.0, [0, 0]),
        (lambda x: ops.power(0.0, x), 2.0, [0, 0, 0]),
        (lambda x: ops.clamp(-1.0, x, 1.0), 0.5, [0.5, 1]),
        (lambda x: ops.clamp(-1.0, x, 1.0), 1.0, [1, 0]),
        (lambda x: ops.clamp(x, -2.0, 1.0), -1.0, [-1, 1]),
        (lambda x: ops.clamp(-3.0, 2.0, x), 1.0, [1, 1]),
        (lambda x: ops.remainder(5.5, x), 2.0, [1.5, -2]),
        (lambda x: ops.remainder(-5.5, x), 2.0, [0.5, 3]),
        (lambda x: ops.rem(-5.5, x), 2.0, [-1.5, 2]),
        (lambda x: ops.select(x > 0, ops.sin(x), x), 0.5, [np.sin(0.5), np.cos(0.5), -np.sin(0.5)]),
        (lambda x: x * ops.stop_gradient(x), 3.0, [9, 3, 0]),
        (special.digamma, 1.0, [-np.euler_gamma, np.pi**2 / 6, -2.4041138063191886]),
    ],
)
def test_derivatives_at_special_points(f, x, expected):
    np.testing.assert_allclose(derivatives(f, x, len(expected) - 1), expected, rtol=1e-13)


def test_complex_parts_have_jax_derivatives(jax):
    parts = [(ops.real, "real"), (ops.imag, "imag"), (ops.abs, "abs"), (ops.conj, "conj")]
    t, c = COMPLEX[::-1].copy(), np.array([1.0, -2.0, 0.5, 3.0])
    for f, name in parts:
        g = getattr(jax.numpy, name)
        close(f(lift(COMPLEX)), g(COMPLEX))
        close(ap.jvp(f, (lift(COMPLEX),), (t,))[1], jax.jvp(g, (COMPLEX,), (t,))[1])
        ct = c if name != "conj" else c + 1j
        close(ap.vjp(f, lift(COMPLEX))[1](lift(ct))[0], jax.vjp(g, COMPLEX)[1](ct)[0])
    modulus = [lambda x: ops.abs(ops.complex(x, 2.0)), lambda x: ops.abs(ops.complex(2.0, x))]
    for f in modulus:
        assert derivatives(f, 1.5, 2) == pytest.approx([2.5, 0.6, 0.256])
    out, slope = ap.jvp(ops.complex, (lift(c), lift(-c)), (c, 2 * c))
    close(out, c - 1j * c)
    close(slope, c + 2j * c)
    pulled = ap.vjp(ops.complex, lift(c), lift(c))[1](lift(COMPLEX))
    close(pulled[0], COMPLEX.real)
    close(pulled[1], -COMPLEX.imag)


def test_modulus_at_zero_has_derivative_zero():
    pulled = ap.vjp(ops.abs, lift(np.zeros(2, complex)))[1](lift(np.ones(2)))
    assert np.asarray(pulled[0]).tolist() == [0, 0]


@pytest.mark.parametrize("axes", [(0, 0), (1, 0), (None, 0), (1, None), (0, 1)])
def test_batches_equal_loops(axes):
    x, y = np.sin(np.arange(9.0)).reshape(3, 3), np.cos(np.arange(9.0)).reshape(3, 3)
    own = (x if axes[0] is not None else x[0], y if axes[1] is not None else y[0])
    row = [
        lambda i, v=v, a=a: v if a is None else v.take(i, a) for v, a in zip(own, axes, strict=True)
    ]
    ours = ap.vmap(ops.atan2, in_axes=axes)(*map(lift, own))
    close(ours, np.stack([np.arctan2(row[0](i), row[1](i)) for i in range(3)]))


def test_batches_of_scalars_meet_arrays():
    x, y = np.arange(3.0), np.arange(4.0) + 10
    close(ap.vmap(ops.sub, in_axes=(0, None))(lift(x), lift(y)), x[:, None] - y)
    close(ap.vmap(ops.sub, in_axes=(None, 0))(lift(y), lift(x)), y - x[:, None])
    close(ap.vmap(ops.sub, in_axes=(0, None))(lift(x), lift(np.array(2.0))), x - 2)
    grid = x[:, None] + y
    picked = ap.vmap(ops.select, in_axes=(0, 1, None))(lift(x > 0), lift(grid.T), lift(y))
    close(picked, np.where((x > 0)[:, None], grid, y))


# ---- dtypes and promotion

PRECISIONS = ["float16", ml_dtypes.bfloat16, "float32", "complex64"]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(("f", "path", "x"), list(cases(UNARY, PRECISIONS)))
def test_unary_in_other_precisions(jax, f, path, x):
    ours, reference = np.asarray(f(lift(x))), np.asarray(attrgetter(path)(jax)(x))
    assert ours.dtype == reference.dtype == x.dtype
    eps = float(ml_dtypes.finfo(x.dtype).eps)
    np.testing.assert_allclose(widened(ours), widened(reference), rtol=32 * eps, atol=eps)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64"])
@pytest.mark.parametrize("f", [ops.sin, ops.exp, ops.sqrt, ops.logistic, special.erf], ids=named)
def test_integers_become_floats(jax, f, dtype):
    x = np.array([0, 1, 1], dtype)
    close(
        f(lift(x)),
        attrgetter({f: p for f, p, *_ in UNARY}[f])(jax)(
            x.astype("float64" if dtype == "int64" else "float32")
        ),
        1e-6,
    )


@pytest.mark.parametrize("f", [ops.floor, ops.ceil, ops.round, ops.trunc, ops.conj, ops.real])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64"])
def test_integers_are_round_and_real(f, dtype):
    x = np.array([0, 1, 1], dtype)
    out = np.asarray(f(lift(x)))
    assert out.dtype == x.dtype
    assert (out == x).all()


def test_complex_rounds_by_parts():
    x = np.array([1.5 - 2.5j, 0.4 + 0.6j])
    assert np.asarray(ops.round(lift(x))).tolist() == [2 - 2j, 1j]


def test_weak_types_follow():
    x = lift(np.ones(3, np.float32))
    assert ops.add(x, 2.0).dtype == np.float32
    assert ops.add(lift(np.ones(3, np.int8)), 2).dtype == np.int8
    assert ops.add(lift(np.ones(3, np.int8)), 2.0).dtype == np.float64
    assert ops.sin(2).weak
    assert not ops.sin(x).weak
    assert ops.equal(2, 3).weak is False
    assert ops.select(True, x, 2).dtype == np.float32
    assert ops.power(x, 2).dtype == np.float32
    assert ops.clamp(0, x, 1).dtype == np.float32


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (ops.add, [False, True, True, True]),
        (ops.mul, [False, False, False, True]),
        (ops.maximum, [False, True, True, True]),
        (ops.floor_divide, [0, 0, 0, 1]),
        (ops.remainder, [0, 0, 0, 0]),
        (ops.power, [1, 0, 1, 1]),
        (ops.logical_xor, [False, True, True, False]),
        (ops.bitwise_and, [False, False, False, True]),
        (ops.less, [False, True, False, False]),
    ],
)
def test_booleans(f, expected):
    x, y = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    out = np.asarray(f(lift(x), lift(y)))
    assert out.tolist() == expected
    assert out.dtype == ("bool" if isinstance(expected[0], bool) else "int32")  # with x64 too


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("f", [ops.neg, ops.sign])
def test_booleans_have_no_sign(f):
    with pytest.raises(TypeError):
        f(lift(np.array([True])))
    with pytest.raises(TypeError):
        ops.sub(lift(np.array([True])), lift(np.array([True])))


# ---- integers


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_integer_division(dtype):
    low = np.iinfo(dtype).min
    x, y = np.array([7, -7, 7, -7, 5, -5, low], dtype), np.array([2, 2, -2, -2, 0, 0, -1], dtype)
    a, b = lift(x), lift(y)
    assert np.asarray(ops.floor_divide(a, b)).tolist() == [3, -4, -4, 3, 0, 0, low]
    assert np.asarray(ops.remainder(a, b)).tolist() == [1, 1, -1, -1, 0, 0, 0]
    assert np.asarray(ops.quotient_p.bind(a, b)).tolist() == [3, -3, -3, 3, -1, -1, low]
    assert np.asarray(ops.rem(a, b)).tolist() == [1, -1, 1, -1, 5, -5, 0]
    with np.errstate(divide="ignore"):
        wide = "float64" if dtype == "int64" else "float32"
        close(ops.div(a, b), x.astype(wide) / y.astype(wide))


def test_integer_division_by_a_number():
    x = lift(np.array([7, -7], np.int8))
    assert np.asarray(ops.floor_divide(x, 0)).tolist() == [0, 0]
    assert np.asarray(ops.floor_divide(x, 2)).tolist() == [3, -4]
    assert np.asarray(ops.remainder(-7, lift(np.int8(4)))).tolist() == 1
    assert np.asarray(ops.rem(x, 4)).tolist() == [3, -3]


def test_integer_powers_of_integers():
    x, y = (
        np.array([2, -1, -1, 1, 0, 3, -2], np.int8),
        np.array([-1, -3, -2, -9, -1, 4, 3], np.int8),
    )
    assert np.asarray(ops.power(lift(x), lift(y))).tolist() == [0, -1, 1, 1, 0, 81, -8]
    assert np.asarray(ops.power(lift(x), 3)).tolist() == [8, -1, -1, 1, 0, 27, -8]
    assert np.asarray(ops.power(lift(np.array([True, False])), 2)).tolist() == [1, 0]
    assert ops.power(lift(x), 0).dtype == np.int8
    with pytest.raises(TypeError, match=r"power -2.*float32"):
        ops.power(lift(x), -2)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_shifts_past_the_width(dtype):
    width = np.dtype(dtype).itemsize * 8
    top = np.iinfo(dtype).min or 1 << (width - 1)
    x = lift(np.array([1, 3, top, top, 5], dtype))
    n = lift(np.array([1, width, 1, width - 1, width + 1], dtype))
    assert np.asarray(ops.shift_left(x, n)).tolist() == [2, 0, 0, 0, 0]
    down = [0, 0, top >> 1, top >> (width - 1), 0]
    assert np.asarray(ops.right_shift(x, n)).tolist() == down
    bits = 1 << (width - 1)
    logical = [0, 0, bits >> 1, 1, 0]
    assert np.asarray(ops.shift_right_logical(x, n)).tolist() == logical
    sign = -(bits >> 1), -1, bits
    arithmetic = [0, 0, *(s % (2 * bits) if top > 0 else s for s in sign[:2]), 0]
    assert np.asarray(ops.shift_right_arithmetic(x, n)).tolist() == arithmetic
    assert np.asarray(
        ops.shift_right_arithmetic(
            lift(np.array([-5, -5], np.int8)), lift(np.array([9, 100], np.int8))
        )
    ).tolist() == [-1, -1]


def test_bits():
    x = np.array([-1, 0, 5, -128], np.int8)
    assert np.asarray(ops.population_count(lift(x))).tolist() == [8, 0, 2, 1]
    assert np.asarray(ops.bitwise_not(lift(x))).tolist() == [0, -1, -6, 127]
    assert np.asarray(ops.bitwise_xor(lift(x), 3)).tolist() == [-4, 3, 6, -125]
    assert np.asarray(ops.logical_not(lift(x))).tolist() == [False, True, False, False]
    assert np.asarray(ops.logical_and(lift(x), 2.5)).tolist() == [True, False, True, True]
    assert np.asarray(ops.logical_or(0, lift(x))).tolist() == [True, False, True, True]


# ---- comparison


@pytest.mark.parametrize(("f", "reference"), COMPARISONS, ids=[r.__name__ for _, r in COMPARISONS])
def test_comparisons(f, reference):
    x, y = map(
        np.ravel, np.meshgrid([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan], [0.0, 1.0, np.nan, np.inf])
    )
    assert (np.asarray(f(lift(x), lift(y))) == reference(x, y)).all()
    i, j = np.array([-1, 0, 127], np.int8), np.array([0, 200, 127], np.uint8)
    assert (np.asarray(f(lift(i), lift(j))) == reference(i, j)).all()


@pytest.mark.parametrize(("f", "reference"), COMPARISONS, ids=[r.__name__ for _, r in COMPARISONS])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "bool"])
@pytest.mark.parametrize("number", [300, -300, 2**40, -(2**70)])
def test_comparisons_with_numbers_beyond_the_dtype(f, reference, dtype, number):
    x = np.array([0, 1, 1], dtype)
    truth = reference(x.astype(object), number).tolist()
    reverse = reference(np.full(3, number, object), x.astype(object)).tolist()
    assert np.asarray(f(lift(x), number)).tolist() == truth
    assert np.asarray(f(number, lift(x))).tolist() == reverse
    assert np.asarray(ap.jit(lambda x: f(x, number))(lift(x))).tolist() == truth


def test_arithmetic_with_numbers_beyond_the_dtype_raises():
    x = lift(np.array([1], np.int8))
    for f in (
        lambda x: ops.add(x, 300),
        lambda x: ops.mul(300, x),
        ap.jit(lambda x: ops.add(x, 300)),
    ):
        with pytest.raises(OverflowError, match="300"):
            f(x)


def test_finite():
    x = np.array([1.0, np.inf, -np.inf, np.nan])
    assert np.asarray(ops.isfinite(lift(x))).tolist() == [True, False, False, False]
    assert np.asarray(ops.isfinite(lift(x + 1j))).tolist() == [True, False, False, False]
    assert np.asarray(ops.isfinite(lift(np.array([3])))).tolist() == [True]


def test_complex_kernels_on_jax_keep_derivatives(jax):
    t = COMPLEX[::-1].copy()
    for f, path, _, with_complex in UNARY:
        if with_complex and known_to(jax, f, COMPLEX.dtype):
            g = attrgetter(path)(jax)
            with ap.use_backend("jax"):
                ours = ap.jvp(f, (lift(COMPLEX),), (t,))[1]
            close(ours, jax.jvp(g, (COMPLEX,), (t,))[1], 1e-12)


def test_every_derivative_reads_only_what_it_needs():
    needs = {p.name: p.needs for p in (ops.exp_p, ops.tanh_p, ops.sin_p, ops.add_p, ops.mul_p)}
    ans, x, y = 1, 2, 4
    expected = {"exp": (ans,), "tanh": (ans,), "sin": (x,), "add": (0, 0), "mul": (y, x)}
    assert needs == expected


@pytest.mark.parametrize(
    ("f", "x", "hint"),
    [
        (ops.bitwise_not, 1.5, "astype"),
        (special.erf, 1j, "real part"),
        (ops.floor, 1j, "real part"),
        (ops.atan2, 1j, "real part"),
        (ops.sub, True, "logical_not"),
    ],
)
def test_dtypes_without_meaning_are_refused_when_traced(f, x, hint):
    arity = 2 if f in {ops.atan2, ops.sub} else 1
    with pytest.raises(TypeError, match=hint):
        ap.jit(f)(*itertools.repeat(lift(np.array(x)), arity))


@pytest.mark.parametrize("name", NUMPY)
def test_example_of_a_made_function(name):
    (test,) = doctest.DocTestFinder().find(getattr(ap.numpy, name), name, module=False, globs={})
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    with ap.config.override("enable_x64", False):
        found = doctest.DocTestRunner(verbose=False, optionflags=flags).run(test)
    assert found == (0, 2)


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
@pytest.mark.parametrize("run", [lambda f: f, ap.jit], ids=["eager", "jit"])
def test_a_neighbour_is_the_next_number_of_the_dtype(dtype, run):
    x = np.array([0, 1, -1.5, 3], dtype)
    gap = np.float32(ml_dtypes.finfo(dtype).eps)
    up = [float(ml_dtypes.finfo(dtype).smallest_subnormal), 1 + gap, gap - 1.5, 3 + 2 * gap]
    found = run(ops.nextafter)(lift(x), lift(np.full(4, 9, dtype)))
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(found).astype(np.float32), np.float32(up))
