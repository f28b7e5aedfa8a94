"""Solvers with derivatives of what they solve: on every backend, to second order, by formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax

A = np.array([[4.0, 1.0, 0.5], [-1.0, 5.0, 2.0], [0.0, 1.0, 3.0]])
B = np.array([1.0, -2.0, 0.5])
pytestmark = pytest.mark.usefixtures("wide", "backend")


def jacobi(matvec: Any, b: Any) -> Any:
    """Solve by 80 of Jacobi's steps, a number that is an array: nothing pulls back through them."""
    diagonal = anp.stack([matvec(row)[i] for i, row in enumerate(anp.eye(3))])
    count = anp.asarray(80)
    return lax.fori_loop(0, count, lambda _, x: x + (b - matvec(x)) / diagonal, anp.zeros_like(b))


def solution(a: Any, b: Any) -> Any:
    return lax.custom_linear_solve(lambda x: a @ x, b, jacobi, jacobi)


def loss(a: Any, b: Any) -> Any:
    return (solution(a, b) ** 3).sum()


def by_inverse(a: Any, b: Any) -> Any:
    return (anp.linalg.solve(a, b) ** 3).sum()


def close(found: Any, expected: Any) -> None:
    for x, y in zip(ap.tree.leaves(found), ap.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-8, atol=1e-9)


def test_values_and_derivatives_of_linear_systems() -> None:
    a, b = anp.asarray(A), anp.asarray(B)
    close(solution(a, b), np.linalg.solve(A, B))
    close(ap.jit(solution)(a, b), np.linalg.solve(A, B))
    for run in (lambda f: f, ap.jit):
        close(run(ap.grad(loss, (0, 1)))(a, b), ap.grad(by_inverse, (0, 1))(a, b))
    pushed = ap.jvp(loss, (a, b), (a * 2, b - 1))
    close(pushed, ap.jvp(by_inverse, (a, b), (a * 2, b - 1)))
    close(ap.hessian(loss, 1)(a, b), ap.hessian(by_inverse, 1)(a, b))
    close(
        ap.grad(lambda v: ap.grad(loss)(v, b)[0, 1])(a),
        ap.grad(lambda v: ap.grad(by_inverse)(v, b)[0, 1])(a),
    )


def test_batches_of_linear_systems() -> None:
    a, b = anp.stack([anp.asarray(A), anp.asarray(A.T)]), anp.asarray(B)
    expected = np.stack([np.linalg.solve(m, B) for m in (A, A.T)])
    close(ap.vmap(solution, (0, None))(a, b), expected)
    close(ap.vmap(solution, (None, 1))(a[0], anp.stack([b, b], 1)), np.stack([expected[0]] * 2))
    close(ap.vmap(ap.grad(loss), (0, None))(a, b), ap.vmap(ap.grad(by_inverse), (0, None))(a, b))


def test_trees_symmetry_and_more() -> None:
    scale = anp.asarray(3.0)

    def divided(matvec: Any, b: Any) -> Any:
        ones = ap.tree.map(anp.ones_like, b)
        return ap.tree.map(lambda v, s: v / s, b, matvec(ones)), {"steps": anp.asarray(1)}

    def f(s: Any) -> Any:
        b = {"x": anp.asarray([1.0, 2.0]), "y": anp.asarray(4.0)}
        x, more = lax.custom_linear_solve(
            lambda v: {"x": v["x"] * s, "y": v["y"] * s * s},
            b,
            divided,
            symmetric=True,
            has_aux=True,
        )
        return x["x"].sum() + x["y"], more

    (value, more), slope = ap.value_and_grad(f, has_aux=True)(scale)
    close((value, slope), (3 / 3 + 4 / 9, -3 / 9 - 8 / 27))
    assert int(more["steps"]) == 1


def newton(f: Any, x: Any) -> Any:
    def step(state: Any) -> Any:
        value, slope = ap.jvp(f, (state[0],), (anp.ones_like(state[0]),))
        return state[0] - value / slope, state[1] + 1.0  # JAX 0.10 wants floats beside a root

    return lax.while_loop(lambda s: abs(f(s[0])) > 1e-13, step, (x, 0.0))


def cube_root(a: Any) -> Any:
    return lax.custom_root(
        lambda x: x**3 - a, anp.ones_like(a), newton, lambda g, y: y / g(anp.ones_like(y)), True
    )[0]


def test_roots() -> None:
    a = anp.asarray(5.0)
    close(cube_root(a), 5 ** (1 / 3))
    close(ap.jit(ap.value_and_grad(cube_root))(a), (5 ** (1 / 3), 5 ** (-2 / 3) / 3))
    close(ap.grad(ap.grad(cube_root))(a), -2 / 9 * 5 ** (-5 / 3))
    close(ap.jvp(cube_root, (a,), (a,))[1], 5 ** (1 / 3) / 3)
    many = anp.asarray([1.0, 8.0, 27.0])
    close(ap.vmap(cube_root)(many), np.array([1.0, 2.0, 3.0]))
    close(ap.vmap(ap.grad(cube_root))(many), np.array([1.0, 8.0, 27.0]) ** (-2 / 3) / 3)


def test_messages() -> None:
    b = anp.asarray(B)
    with pytest.raises((TypeError, ValueError), match="matvec"):
        lax.custom_linear_solve(lambda x: x[:2], b, lambda _, v: v)
    with pytest.raises((TypeError, ValueError), match="solve"):
        lax.custom_linear_solve(lambda x: x, b, lambda _, v: (v, v))
    with pytest.raises(TypeError, match="transpose_solve"):
        ap.grad(lambda v: lax.custom_linear_solve(lambda x: x, v, lambda _, w: w).sum())(b)
