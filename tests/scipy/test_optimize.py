"""BFGS: minima by their formulas, compiled, mapped, and where it cannot succeed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.scipy.optimize import minimize

pytestmark = pytest.mark.usefixtures("wide", "backend")


def rosenbrock(x: Any, scale: Any = 100.0) -> Any:
    return (scale * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def himmelblau(x: Any) -> Any:
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def test_minima() -> None:
    found = minimize(rosenbrock, anp.zeros(5), (50.0,), method="BFGS")
    assert bool(found.success)
    assert int(found.status) == 0
    np.testing.assert_allclose(np.asarray(found.x), np.ones(5), atol=1e-5)
    assert float(anp.abs(found.jac).max()) <= 1e-5
    assert int(found.nfev) >= int(found.nit)
    found = ap.jit(lambda x: minimize(himmelblau, x, method="bfgs", tol=1e-8))(anp.ones(2))
    np.testing.assert_allclose(np.asarray(found.x), [3, 2], atol=1e-6)
    curvature = ap.hessian(himmelblau)(found.x)
    np.testing.assert_allclose(np.asarray(found.hess_inv @ curvature), np.eye(2), atol=0.05)


def test_many_at_once() -> None:
    targets = anp.asarray([[1.0, 2.0], [-3.0, 0.5]])

    def solve(target: Any) -> Any:
        return minimize(
            lambda x: ((x - target) ** 4 + (x - target) ** 2).sum(),
            target * 0 + 1,
            method="BFGS",
            options={"gtol": 1e-9},
        ).x

    np.testing.assert_allclose(np.asarray(ap.vmap(solve)(targets)), np.asarray(targets), atol=1e-8)


def test_what_does_not_succeed() -> None:
    early = minimize(rosenbrock, anp.zeros(3), method="BFGS", options={"maxiter": 3})
    assert (bool(early.success), int(early.status), int(early.nit)) == (False, 1, 3)
    endless = minimize(lambda x: x.sum(), anp.zeros(2), method="BFGS")
    assert not bool(endless.success)
    assert int(endless.status) == 5
    nan = minimize(lambda x: x.sum() * anp.nan, anp.zeros(2), method="BFGS")
    assert not bool(nan.success)
    done = minimize(lambda x: (x**2).sum(), anp.zeros(2), method="BFGS")
    assert bool(done.success)
    assert int(done.nit) == 0


def test_messages() -> None:
    x = anp.ones(2)
    with pytest.raises(ValueError, match="use 'BFGS'"):
        minimize(rosenbrock, x, method="newton-cg")
    with pytest.raises(TypeError, match="tuple"):
        minimize(rosenbrock, x, 100.0, method="BFGS")
    with pytest.raises(ValueError, match="unknown to BFGS"):
        minimize(rosenbrock, x, method="BFGS", options={"ftol": 1})
    with pytest.raises(ValueError, match="vector"):
        minimize(rosenbrock, anp.ones((2, 2)), method="BFGS")
