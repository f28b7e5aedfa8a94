"""SciPy's optimisers and integrators, given functions that return Arrays: what NumPy's give."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize

import arrayport as ap
import arrayport.numpy as anp

pytestmark = pytest.mark.usefixtures("backend", "wide")
START = np.array([-0.3, 0.6])
LIMITS = [(-2, 2), (-2, 2)]
TIMES = np.linspace(0, 2, 20)


def banana(x):
    return anp.sum((x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def residuals(x):
    return anp.stack([x[1] - x[0] ** 2, 1 - x[0]])


slope, curvature = ap.jit(ap.grad(banana)), ap.jit(ap.hessian(banana))
slopes = ap.jit(ap.jacrev(residuals))
POSITIVE = {"type": "ineq", "fun": anp.sum, "jac": anp.ones_like}
BOWL = optimize.NonlinearConstraint(lambda x: anp.stack([x[0] ** 2 + x[1]]), -1, 2)
DERIVED = ["CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", "trust-constr", "Newton-CG"]
CURVED = ["trust-ncg", "trust-krylov", "trust-exact"]


@pytest.mark.parametrize("method", ["Nelder-Mead", "COBYQA", *DERIVED, *CURVED])
def test_minimize(method):
    derived = {"jac": slope} if method in DERIVED + CURVED else {}
    curved = {"hess": curvature} if method in CURVED else {}
    found = optimize.minimize(banana, START, method=method, **derived, **curved)
    np.testing.assert_allclose(found.x, 1, atol=1e-3)


def test_value_and_slope_at_once():
    both = ap.jit(ap.value_and_grad(banana))
    for method in ("L-BFGS-B", "SLSQP"):
        found = optimize.minimize(both, anp.asarray(START), method=method, jac=True, bounds=LIMITS)
        np.testing.assert_allclose(found.x, 1, atol=1e-3)


@pytest.mark.parametrize(
    ("method", "limits"), [("SLSQP", [POSITIVE, BOWL]), ("trust-constr", BOWL)]
)
def test_constraints(method, limits):
    options = {"method": method, "jac": slope, "constraints": limits}
    np.testing.assert_allclose(optimize.minimize(banana, START, **options).x, 1, atol=5e-3)


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
@pytest.mark.parametrize("jac", ["2-point", slopes], ids=["differences", "slopes"])
def test_least_squares(method, jac):
    found = optimize.least_squares(residuals, START, jac, method=method)
    np.testing.assert_allclose(found.x, 1, rtol=1e-6)


@pytest.mark.parametrize("method", ["hybr", "lm", "broyden1", "krylov"])
def test_roots_of_systems(method):
    options = {"jac": slopes} if method in {"hybr", "lm"} else {}
    found = optimize.root(residuals, np.array([0.8, 0.9]), method=method, **options)
    np.testing.assert_allclose(found.x, 1, atol=1e-5)


@pytest.mark.parametrize("name", ["brentq", "ridder", "bisect", "toms748"])
def test_roots(name):
    found = getattr(optimize, name)(lambda x: anp.cos(x) - x, 0, 1)
    np.testing.assert_allclose(found, 0.7390851332151607)
    found = optimize.newton(lambda x: anp.cos(x) - x, np.array([0.5, 0.6]))
    np.testing.assert_allclose(found, 0.7390851332151607)


def test_curves():
    found, _ = optimize.curve_fit(lambda t, a, b: a * anp.exp(-b * t), TIMES, 2 * np.exp(-TIMES))
    np.testing.assert_allclose(found, [2, 1], rtol=1e-6)


def turning(_, y):
    return anp.stack([y[1], -y[0]])


@pytest.mark.parametrize("method", ["RK45", "Radau", "LSODA"])
def test_initial_values(method):
    found = integrate.solve_ivp(turning, (0, 1), [1.0, 0.0], method, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.y[:, -1], [np.cos(1), -np.sin(1)], rtol=1e-5)


def test_integrals():
    expected = np.exp(1) - 1
    np.testing.assert_allclose(integrate.quad(anp.exp, 0, 1)[0], expected)
    np.testing.assert_allclose(integrate.fixed_quad(anp.exp, 0, 1)[0], expected)
    both = integrate.quad_vec(lambda x: anp.stack([anp.exp(x), x]), 0, 1)[0]
    np.testing.assert_allclose(both, [expected, 0.5])
    found = integrate.odeint(turning, [1.0, 0.0], [0.0, 1.0], tfirst=True)
    np.testing.assert_allclose(found[-1], [np.cos(1), -np.sin(1)], rtol=1e-6)


def test_what_assigns_to_an_answer_is_refused_and_takes_a_numpy_array():
    with pytest.raises(TypeError, match="an Array cannot change"):
        optimize.fixed_point(anp.cos, 0.5)
    found = optimize.fixed_point(lambda x: np.asarray(anp.cos(x)), 0.5)
    np.testing.assert_allclose(found, 0.7390851332151607)
    with pytest.raises(ValueError, match="read-only"):
        integrate.tanhsinh(anp.exp, 0.0, 1.0)
    found = integrate.tanhsinh(lambda x: np.array(anp.exp(x)), 0.0, 1.0)
    np.testing.assert_allclose(found.integral, np.exp(1) - 1)
