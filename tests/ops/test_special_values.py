"""Tests of elementwise functions at zeros, infinities, NaN and branch cuts, by the standards."""

from __future__ import annotations

import cmath
import contextlib

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.ops import elementwise as ops
from arrayport.ops import special
from arrayport.ops.promotion import lift

pytestmark = pytest.mark.usefixtures("backend")


INF, NAN = np.inf, np.nan


def same(ours, expected) -> None:
    ours, expected = np.asarray(ours), np.asarray(expected)
    np.testing.assert_array_equal(ours, expected)
    known = ~np.isnan(expected)
    assert (np.signbit(ours) == np.signbit(expected))[known].all()


@pytest.mark.parametrize(
    ("x", "y", "quotient", "rest"),
    [
        (0.0, 2.0, 0.0, 0.0),
        (-0.0, 2.0, -0.0, 0.0),
        (0.0, -2.0, -0.0, -0.0),
        (-0.0, -2.0, 0.0, -0.0),
        (1.0, 0.0, INF, NAN),
        (1.0, -0.0, -INF, NAN),
        (-1.0, 0.0, -INF, NAN),
        (0.0, -0.0, NAN, NAN),
        (INF, 2.0, INF, NAN),
        (INF, -2.0, -INF, NAN),
        (-INF, 2.0, -INF, NAN),
        (INF, INF, NAN, NAN),
        (3.0, INF, 0.0, 3.0),
        (3.0, -INF, -0.0, -INF),
        (-3.0, INF, -0.0, INF),
        (-3.0, -INF, 0.0, -3.0),
        (NAN, 2.0, NAN, NAN),
        (5.5, 2.0, 2.0, 1.5),
        (-5.5, 2.0, -3.0, 0.5),
        (5.5, -2.0, -3.0, -0.5),
        (4.0, -2.0, -2.0, -0.0),
        (-4.0, 2.0, -2.0, 0.0),
        (0.3, 0.1, 2.0, 0.3 % 0.1),
    ],
)
def test_floor_divide_and_remainder_by_the_standard(x, y, quotient, rest):
    x, y = lift(np.array([x])), lift(np.array([y]))
    same(ops.floor_divide(x, y), [quotient])
    same(ops.remainder(x, y), [rest])


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (ops.sign, [0.0, -0.0, NAN, INF, -2.0], [0.0, 0.0, NAN, 1.0, -1.0]),
        (ops.round, [0.5, 1.5, -0.5, 2.5, -INF], [0.0, 2.0, -0.0, 2.0, -INF]),
        (ops.trunc, [-0.5, 2.7, -INF, NAN], [-0.0, 2.0, -INF, NAN]),
        (ops.sqrt, [-0.0, -1.0, INF], [-0.0, NAN, INF]),
        (ops.rsqrt, [0.0, INF, -1.0], [INF, 0.0, NAN]),
        (ops.log1p, [-1.0, -0.0, -2.0], [-INF, -0.0, NAN]),
        (ops.expm1, [-0.0, -INF, INF], [-0.0, -1.0, INF]),
        (ops.logistic, [-INF, INF, NAN, 0.0, -1000.0], [0.0, 1.0, NAN, 0.5, 0.0]),
        (ops.tanh, [-0.0, INF, -INF], [-0.0, 1.0, -1.0]),
        (ops.atanh, [1.0, -1.0, 2.0], [INF, -INF, NAN]),
        (special.erf, [-0.0, INF, -INF, NAN], [-0.0, 1.0, -1.0, NAN]),
        (special.erf_inv, [-0.0, 1.0, -1.0, 2.0], [-0.0, INF, -INF, NAN]),
        (special.lgamma, [INF, -INF, 0.0, 1.0, -1.0], [INF, INF, INF, 0.0, INF]),
    ],
)
def test_special_values(f, x, expected):
    same(f(lift(np.array(x))), expected)


def test_clamp_between_crossed_bounds_gives_the_upper():
    assert float(ops.clamp(3.0, 2.0, 1.0)) == 1.0


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (ops.expm1, complex(INF, 0), complex(INF, 0)),
        (ops.expm1, complex(-INF, INF), complex(-1, 0)),
        (ops.expm1, complex(NAN, 0), complex(NAN, 0)),
        (ops.exp, complex(-INF, 2), complex(-0.0, 0.0)),
        (ops.sqrt, complex(-1, -0.0), complex(0, -1)),
        (ops.log, complex(-1, -0.0), complex(0, -np.pi)),
        (ops.tanh, complex(INF, 1), complex(1, 0)),
        (ops.abs, complex(INF, NAN), INF),
        (ops.sign, 0j, 0j),
    ],
)
def test_complex_special_values(backend, f, x, expected):
    if backend == "jax" and x == complex(-INF, INF):
        pytest.skip("XLA's exponentials are NaN where the imaginary part is infinite")
    if backend == "jax" and f is ops.abs and pytest.importorskip("jax").__version_info__ < (0, 12):
        pytest.skip("JAX before 0.12 gives NaN")
    out, expected = complex(f(lift(np.array(x)))), complex(expected)
    np.testing.assert_array_equal([out.real, out.imag], [expected.real, expected.imag])


PLANE = [complex(a, b) for a in (0.0, -0.0, 0.5, -2.0, INF, -INF) for b in (0.0, -0.0, 1.0, -0.7)]


@pytest.mark.parametrize(
    "name",
    [
        *("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
        *("asin", "acos", "atan", "asinh", "acosh", "atanh"),
    ],
)
def test_complex_functions_have_c99_signs_and_cuts(name):
    known = []
    for z in PLANE:
        with contextlib.suppress(
            ValueError, OverflowError
        ):  # cmath raises where C99 has infinities
            known.append((z, getattr(cmath, name)(z)))
    points, expected = map(np.array, zip(*known, strict=True))
    ours = np.asarray(getattr(ops, name)(lift(points)))
    for part in (np.real, np.imag):
        np.testing.assert_allclose(part(ours), part(expected), rtol=1e-13, atol=1e-15)
        assert (np.signbit(part(ours)) == np.signbit(part(expected))).all()


def test_complex_log1p_keeps_small_parts():
    mpmath = pytest.importorskip("mpmath", reason="the reference is mpmath")
    for z in (1e-10 + 1e-10j, 1e-300 + 1e-300j, -1e-5 + 1e-9j, 0.3 - 0.2j, 3 + 4j):
        exact = complex(mpmath.log1p(mpmath.mpc(z)))
        ours = complex(ops.log1p(lift(np.array(z))))
        assert ours.real == pytest.approx(exact.real, rel=1e-14, abs=0)
        assert ours.imag == pytest.approx(exact.imag, rel=1e-14, abs=0)


@pytest.mark.parametrize("jitted", [False, True])
def test_the_power_a_half_is_not_the_square_root_at_minus_zero_and_infinity(jitted):
    def half(x):
        return x**0.5

    power = ap.jit(half) if jitted else half
    x = np.array([-INF, -0.0, 0.0, 4.0, INF, -1.0, NAN])
    expected = np.array([INF, 0.0, 0.0, 2.0, INF, NAN, NAN])
    same(power(anp.asarray(x)), expected)
    same(power(anp.asarray(x[1])), 0.0)
    assert power(anp.asarray(x, dtype="float32")).dtype == np.float32


@pytest.mark.parametrize("shape", [(5000, 1), (2, 5000), (3, 3)])
def test_nor_is_it_where_it_was_stretched(shape):
    exponents = anp.broadcast_to(anp.full((shape[0], 1), 0.5), shape)
    for base, expected in ((-INF, INF), (-0.0, 0.0)):
        same(anp.full(shape, base) ** exponents, np.full(shape, expected))
