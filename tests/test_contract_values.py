"""The contract's rows about special values, on every backend, eager and under jit."""

from __future__ import annotations

import cmath
import math
from itertools import product
from platform import machine

import numpy as np
import pytest
from arrayport_backends.numpy import compiler

import arrayport as ap
import arrayport.numpy as anp

pytestmark = pytest.mark.usefixtures("backend")

RUNS = pytest.mark.parametrize("run", [lambda f: f, ap.jit], ids=["eager", "jit"])


@pytest.fixture(autouse=True)
def _compiled(monkeypatch):
    """Let jit make machine code at once, where it is made."""
    monkeypatch.setattr(compiler, "COMPILING", 0)


def host(x):
    return np.asarray(x)


# ---- special values


@RUNS
def test_floor_division_of_special_values(run):
    """Those of the standard; Python's own // and % where it says nothing."""
    inf, nan = np.inf, np.nan
    table = [  # x, y, x // y, x % y
        (0.0, 2.0, 0.0, 0.0),
        (-0.0, 2.0, -0.0, 0.0),
        (0.0, -2.0, -0.0, -0.0),
        (-0.0, -2.0, 0.0, -0.0),
        (1.0, 0.0, inf, nan),
        (-1.0, 0.0, -inf, nan),
        (0.0, 0.0, nan, nan),
        (inf, 1.0, inf, nan),
        (-inf, 1.0, -inf, nan),
        (inf, inf, nan, nan),
        (5.0, inf, 0.0, 5.0),
        (-5.0, -inf, 0.0, -5.0),
        (nan, 1.0, nan, nan),
        (7.5, -2.0, -4.0, -0.5),
        (-7.5, 2.0, -4.0, 0.5),
    ]
    x, y, quotient, remainder = np.array(table, np.float32).T
    for f, expected in (
        (anp.floor_divide, quotient),
        (anp.remainder, remainder),
        (anp.mod, remainder),
        (lambda x, y: anp.divmod(x, y)[0], quotient),
        (lambda x, y: anp.divmod(x, y)[1], remainder),
    ):
        found = host(run(f)(anp.asarray(x), anp.asarray(y)))
        np.testing.assert_array_equal(found, expected, err_msg=f.__name__)
        known = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(expected)[known])


PARTS = (0.0, -0.0, 1.0, -1.5, math.inf, -math.inf)


@RUNS
@pytest.mark.parametrize(
    "name",
    [
        "exp",
        "log",
        "sqrt",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "log10",
    ],
)
def test_complex_special_values(run, name):
    """Those of Python's cmath, which follows Annex G and raises where a pole or no limit is."""
    points = np.array([complex(a, b) for a, b in product(PARTS, PARTS)], np.complex64)
    found = host(run(getattr(anp, name))(anp.asarray(points)))
    checked = 0
    for x, y in zip(points, found, strict=True):
        try:
            expected = getattr(cmath, name)(complex(x))
        except ValueError:
            continue
        checked += 1
        # Annex G leaves a zero's sign open there.
        turning = np.isinf(x.real) and np.isinf(x.imag)
        for a, b in ((y.real, expected.real), (y.imag, expected.imag)):
            message = f"{name}({x}) = {y}, not {expected}"
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7, err_msg=message)
            assert b or turning or np.signbit(a) == np.signbit(b), message
    assert checked > 20


INF, NAN, QUARTER = math.inf, math.nan, math.pi / 2
BESIDE_NAN = [  # the standard's: function, x, f(x), by parts; a zero's sign is open there
    *[("exp", (-INF, NAN), (0, 0)), ("exp", (INF, NAN), (INF, NAN)), ("exp", (NAN, 0), (NAN, 0))],
    *[("expm1", (-INF, NAN), (-1, 0)), ("expm1", (INF, NAN), (INF, NAN))],
    *[("expm1", (NAN, 0), (NAN, 0)), ("expm1", (INF, INF), (INF, NAN))],
    *[(name, (INF, NAN), (INF, NAN)) for name in ("log", "log1p", "log2", "log10", "acosh")],
    *[(name, (-INF, NAN), (INF, NAN)) for name in ("log", "log1p", "log2", "log10", "acosh")],
    *[(name, (NAN, INF), (INF, NAN)) for name in ("log", "log1p", "log2", "log10", "acosh")],
    *[("sqrt", (INF, NAN), (INF, NAN)), ("sqrt", (NAN, INF), (INF, INF))],
    *[("sinh", (0, NAN), (0, NAN)), ("sinh", (NAN, 0), (NAN, 0))],
    *[("cosh", (0, NAN), (NAN, 0)), ("cosh", (INF, NAN), (INF, NAN)), ("cosh", (0, INF), (NAN, 0))],
    *[("tanh", (0, NAN), (0, NAN)), ("tanh", (INF, NAN), (1, 0)), ("tanh", (NAN, 0), (NAN, 0))],
    *[("asinh", (NAN, 0), (NAN, 0)), ("acosh", (0, NAN), (NAN, QUARTER))],
    *[("acos", (0, NAN), (QUARTER, NAN)), ("acos", (1, NAN), (NAN, NAN))],
    *[("atanh", (0, NAN), (0, NAN)), ("atanh", (1, NAN), (NAN, NAN))],
    *[("atanh", (INF, NAN), (0, NAN)), ("atanh", (NAN, INF), (0, QUARTER))],
    *[("atanh", (NAN, 1), (NAN, NAN)), ("atanh", (NAN, NAN), (NAN, NAN))],
    *[(name, (1e30, NAN), (NAN, NAN)) for name in ("acos", "asin", "acosh", "asinh", "tanh")],
    *[(name, (NAN, 1e30), (NAN, NAN)) for name in ("acos", "asin", "acosh", "asinh", "tanh")],
    *[("asin", (0, NAN), (0, NAN)), ("atan", (NAN, 0), (NAN, 0)), ("sin", (NAN, 0), (NAN, 0))],
    *[("cos", (NAN, 0), (NAN, 0)), ("tan", (NAN, 0), (NAN, 0)), ("tan", (NAN, INF), (0, 1))],
]


@RUNS
@pytest.mark.parametrize("name", sorted({name for name, _, _ in BESIDE_NAN}))
def test_complex_values_beside_nan(run, name):
    rows = [row[1:] for row in BESIDE_NAN if row[0] == name]
    points = np.array([complex(*x) for x, _ in rows], np.complex64)
    found = host(run(getattr(anp, name))(anp.asarray(points)))
    expected = np.array([y for _, y in rows])
    np.testing.assert_allclose(np.stack([found.real, found.imag], 1), expected, rtol=1e-6)


@RUNS
def test_tangents_at_infinity(run):
    """The zero has the sign of the angle, where C99's has that of twice the angle."""
    for angle in (1.0, 2.0, -2.0, 4.0):
        x = anp.asarray(np.complex64(complex(math.inf, angle)))
        assert math.copysign(1, host(run(anp.tanh)(x)).imag) == math.copysign(1, angle)
        turned = anp.asarray(np.complex64(complex(angle, -math.inf)))
        assert math.copysign(1, host(run(anp.tan)(turned)).real) == math.copysign(1, angle)


@RUNS
def test_nan_has_a_sign(run):
    x = anp.asarray(np.copysign(np.float32(np.nan), np.float32([1, -1])))
    for dtype in ("float32", "float16", "bfloat16"):
        y = anp.astype(x, dtype)
        np.testing.assert_array_equal(host(run(anp.signbit)(y)), [False, True], err_msg=dtype)
        ones = host(run(anp.copysign)(anp.ones(2, dtype=dtype), y))
        np.testing.assert_array_equal(ones, [1, -1], err_msg=dtype)


@RUNS
def test_subnormals_are_kept(backend, run):
    small = np.float32([1e-40, 3e-39])
    x = anp.asarray(small)
    for f, expected in (
        (lambda x: x * 1.0 + x, small * 2),
        (lambda x: anp.add(x, x), small * 2),
        (lambda x: anp.subtract(x * 3, x), small * 3 - small),
        (lambda x: anp.multiply(x, 0.5), small * np.float32(0.5)),
        (lambda x: anp.power(x * 2**60, 1.0) * 2**-60, small),
    ):
        found = host(run(f)(x))
        if backend == "jax":  # XLA on the CPU may flush them, on others it may not
            assert np.all((found == expected) | (found == 0))
        else:
            np.testing.assert_array_equal(found, expected)


@RUNS
def test_zeros_of_both_signs_tie(run, backend):
    x = anp.asarray(np.float32([0.0, -0.0] * 9))
    pairs = [
        (anp.maximum, lambda x: anp.clip(x, min=-x), anp.max),
        (anp.minimum, lambda x: anp.clip(x, max=-x), anp.min),
    ]
    for least, (pair, clip, reduction) in enumerate(pairs):
        for f in (lambda x, pair=pair: pair(x, -x), clip, reduction):
            found = host(run(f)(x))
            assert (found == 0).all()
            if backend == "jax":
                assert (np.signbit(found) == least).all()
            elif backend == "numpy" and machine() == "x86_64" and f is not reduction:
                np.testing.assert_array_equal(np.signbit(found), np.signbit(host(f(x))))
        slopes = run(ap.grad(lambda x, y, pair=pair: anp.sum(pair(x, y)), (0, 1)))(x, -x)
        assert [set(s.tolist()) for s in slopes] == [{0.5}, {0.5}]


def test_jit_keeps_special_values(backend):
    x = anp.asarray(np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5]))
    programs = [
        lambda x: x * 0.0,
        lambda x: x + 0.0,
        lambda x: 0.0 - x,
        lambda x: -x,
        lambda x: x - x,
        lambda x: x / x,
        lambda x: x * 1 + (x - 1) * 0.0,
        lambda x: anp.where(x > 0, x, -x * 0.0),
    ]
    for number, f in enumerate(programs):
        eager, jitted = f(x), ap.jit(f)(x)
        assert (eager.shape, eager.dtype, eager.weak_type) == (
            jitted.shape,
            jitted.dtype,
            jitted.weak_type,
        )
        a, b = host(eager), host(jitted)
        np.testing.assert_array_equal(np.isnan(a), np.isnan(b), err_msg=str(number))
        if backend != "jax":
            zero = a == 0
            np.testing.assert_array_equal(np.signbit(a)[zero], np.signbit(b)[zero], str(number))
            np.testing.assert_allclose(b, a, rtol=1e-6, err_msg=str(number))
    f = lambda s: (s + 1, s * 2.0)
    weak = [x.weak_type for x in f(anp.asarray(2.0) * 1)]
    assert weak == [x.weak_type for x in ap.jit(f)(anp.asarray(2.0) * 1)]
