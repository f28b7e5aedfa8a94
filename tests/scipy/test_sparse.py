"""Krylov solvers: solutions and derivatives against dense ones, on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.scipy.sparse.linalg import bicgstab, cg, gmres

RNG = np.random.default_rng(0)
SQUARE = RNG.normal(size=(5, 5))
DEFINITE = SQUARE @ SQUARE.T + 2 * np.eye(5)
REGULAR = SQUARE + 4 * np.eye(5)
B = RNG.normal(size=5)
SOLVERS = {"cg": (cg, DEFINITE), "bicgstab": (bicgstab, REGULAR), "gmres": (gmres, REGULAR)}
pytestmark = pytest.mark.usefixtures("wide", "backend")


@pytest.mark.parametrize("name", SOLVERS)
def test_solutions_and_derivatives(name: str) -> None:
    solver, matrix = SOLVERS[name]
    a, b = anp.asarray(matrix), anp.asarray(B)

    def f(a: Any, b: Any) -> Any:
        return (solver(a, b, tol=1e-12)[0] ** 2).sum()

    def dense(a: Any, b: Any) -> Any:
        return (anp.linalg.solve(a, b) ** 2).sum()

    np.testing.assert_allclose(np.asarray(solver(a, b, tol=1e-12)[0]), np.linalg.solve(matrix, B))
    found, expected = ap.jit(ap.grad(f, (0, 1)))(a, b), ap.grad(dense, (0, 1))(a, b)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", SOLVERS)
def test_trees_starts_and_preconditioners(name: str) -> None:
    solver, matrix = SOLVERS[name]
    a, whole = anp.asarray(matrix), np.linalg.solve(matrix, B)

    def product(x: Any) -> Any:
        out = a @ anp.concatenate([x["u"], x["v"].ravel()])
        return {"u": out[:1], "v": out[1:].reshape(2, 2)}

    b = {"u": anp.asarray(B[:1]), "v": anp.asarray(B[1:].reshape(2, 2))}
    start = ap.tree.map(anp.ones_like, b)
    halves = ap.tree.map
    x, _ = solver(product, b, start, tol=1e-12, M=lambda r: halves(lambda v: v / 4, r))
    np.testing.assert_allclose(np.asarray(x["v"]).ravel(), whole[1:])
    exact = solver(a, anp.asarray(B), anp.asarray(whole), maxiter=0)[0]
    np.testing.assert_array_equal(np.asarray(exact), whole)
    ready = solver(a, anp.asarray(B), M=anp.linalg.inv(a), maxiter=2, tol=1e-10)[0]
    np.testing.assert_allclose(np.asarray(ready), whole)


def test_complex_systems_and_restarts() -> None:
    matrix = REGULAR + 1j * RNG.normal(size=(5, 5)) / 2
    b = B + 1j
    hermitian = matrix @ matrix.conj().T
    for solver, m, options in (
        (cg, hermitian, {}),
        (gmres, matrix, {"restart": 3, "solve_method": "incremental"}),
        (bicgstab, matrix, {}),
    ):
        x = solver(anp.asarray(m), anp.asarray(b), tol=1e-12, **options)[0]
        np.testing.assert_allclose(np.asarray(x), np.linalg.solve(m, b), rtol=1e-7)
    assert int(gmres(anp.eye(2), anp.ones(2))[1]) == 0


def test_messages() -> None:
    b = anp.ones(3)
    with pytest.raises(ValueError, match="square matrix"):
        cg(anp.ones((2, 3)), b)
    with pytest.raises(ValueError, match="structure"):
        cg(anp.eye(3), b, (b,))
    with pytest.raises(ValueError, match="shapes"):
        gmres(anp.eye(3), b, b[:2])
    with pytest.raises(ValueError, match="incremental"):
        gmres(anp.eye(3), b, solve_method="best")
