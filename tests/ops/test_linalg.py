"""Linear algebra: factors multiplied back on every backend, derivatives against JAX's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax
from arrayport.ops import linalg
from tests import samples
from tests.samples import adjoint, random

DTYPES = ("float32", "complex128")
close = partial(samples.close, narrow=2e-4, wide=1e-11)
STACKS: tuple[tuple[int, ...], ...] = ((), (3,), (2, 0))


def square(n: int, dtype: str = "float64", stack: tuple[int, ...] = ()) -> Any:
    """Draw matrices far from singular."""
    return random(*stack, n, n, dtype=dtype) + 4 * np.eye(n, dtype=dtype)


def positive(n: int, dtype: str = "float64", stack: tuple[int, ...] = ()) -> Any:
    """Draw Hermitian positive definite matrices with distinct eigenvalues."""
    x = random(*stack, n, n, dtype=dtype)
    return x @ adjoint(x) + np.diag(np.arange(1, n + 1)).astype(dtype)


# ---- values, from what defines them


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.usefixtures("backend")
class TestFactors:
    def test_cholesky(self, dtype: str, stack: tuple[int, ...]) -> None:
        x = positive(4, dtype, stack)
        lower = np.asarray(linalg.cholesky(anp.asarray(x)))
        assert lower.dtype == dtype
        close(lower @ adjoint(lower), x)
        close(lower, np.tril(lower))

    def test_eigh(self, dtype: str, stack: tuple[int, ...]) -> None:
        x = positive(4, dtype, stack)
        for lower in (True, False):
            half = np.tril(x) if lower else np.triu(x)
            vectors, values = lax.linalg.eigh(
                anp.asarray(half), lower=lower, symmetrize_input=False
            )
            v, w = np.asarray(vectors), np.asarray(values)
            assert v.dtype == dtype
            assert w.dtype == np.zeros(0, dtype).real.dtype
            close((v * w[..., None, :]) @ adjoint(v), x)
            close(adjoint(v) @ v, np.broadcast_to(np.eye(4), x.shape))
            assert np.all(np.diff(w) >= 0)

    @pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
    def test_lu(self, dtype: str, stack: tuple[int, ...], shape: tuple[int, int]) -> None:
        x = random(*stack, *shape, dtype=dtype)
        packed, pivots, order = map(np.asarray, linalg.lu(anp.asarray(x)))
        k = min(shape)
        assert pivots.dtype == order.dtype == np.int32
        assert pivots.shape == (*stack, k)
        lower = np.tril(packed[..., :k], -1) + np.eye(shape[0], k)
        close(lower @ np.triu(packed[..., :k, :]), np.take_along_axis(x, order[..., None], -2))
        # The pivot is the largest by |re| + |im|.
        assert np.all(np.abs(lower) <= (np.sqrt(2) if dtype[0] == "c" else 1) + 1e-6)

    @pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
    def test_qr_and_svd(self, dtype: str, stack: tuple[int, ...], shape: tuple[int, int]) -> None:
        x = random(*stack, *shape, dtype=dtype)
        for full in (True, False):
            q, r = map(np.asarray, lax.linalg.qr(anp.asarray(x), full_matrices=full))
            u, s, vh = map(np.asarray, lax.linalg.svd(anp.asarray(x), full_matrices=full))
            k = min(shape)
            assert q.shape == u.shape == (*stack, shape[0], shape[0] if full else k)
            assert vh.shape == (*stack, shape[1] if full else k, shape[1])
            close(q @ r, x)
            close(r, np.triu(r))
            close((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x)
            identity = np.broadcast_to(np.eye(u.shape[-1]), (*stack, *u.shape[-1:] * 2))
            close(adjoint(u) @ u, identity)
            close(adjoint(q) @ q, identity)
            assert np.all(np.diff(s) <= 0)
        close(lax.linalg.svd(anp.asarray(x), compute_uv=False), s)

    def test_solve_and_determinants(self, dtype: str, stack: tuple[int, ...]) -> None:
        for n in (1, 2, 3, 5):
            x, b = square(n, dtype, stack), random(*stack, n, 2, dtype=dtype, seed=1)
            y = np.asarray(linalg.solve_p.bind(anp.asarray(x), anp.asarray(b)))
            close(x @ y, b)
            expected = np.linalg.det(x)
            close(linalg.det(anp.asarray(x)), expected)
            sign, log = map(np.asarray, linalg.slogdet(anp.asarray(x)))
            close(sign * np.exp(log), expected)
            close(np.abs(sign), np.ones(stack))

    def test_triangular_solve(self, dtype: str, stack: tuple[int, ...]) -> None:
        for left, lower, transpose, conjugate, unit in product((True, False), repeat=5):
            a = square(3, dtype, stack)
            b = random(*stack, *((3, 2) if left else (2, 3)), dtype=dtype, seed=1)
            options = {"transpose_a": transpose, "conjugate_a": conjugate, "unit_diagonal": unit}
            found = linalg.triangular_solve(
                anp.asarray(a), anp.asarray(b), left_side=left, lower=lower, **options
            )
            part = np.tril(a, -unit) if lower else np.triu(a, int(unit))
            part = part + unit * np.eye(3, dtype=dtype)
            part = np.conj(part) if conjugate else part
            part = np.swapaxes(part, -1, -2) if transpose else part
            close(part @ np.asarray(found) if left else np.asarray(found) @ part, b)


@pytest.mark.usefixtures("backend")
def test_what_has_no_factors_becomes_nan() -> None:
    x = np.stack([np.eye(3), -np.eye(3), np.full((3, 3), np.nan)])
    factors = np.asarray(linalg.cholesky(anp.asarray(x)))
    np.testing.assert_array_equal(factors[0], np.eye(3))
    for lost in factors[1:]:
        np.testing.assert_array_equal(np.isnan(lost), np.tril(np.ones((3, 3), bool)))
    values = np.asarray(lax.linalg.eigh(anp.asarray(x))[1])
    np.testing.assert_array_equal(values[:2], [[1, 1, 1], [-1, -1, -1]])
    assert np.isnan(values[2]).all()
    singular = np.stack([np.eye(3), np.zeros((3, 3))])
    answers = np.asarray(linalg.solve_p.bind(anp.asarray(singular), anp.ones((2, 3, 1))))
    np.testing.assert_array_equal(answers[0], np.ones((3, 1)))
    assert not np.isfinite(answers[1]).any()
    by_zero = linalg.triangular_solve(anp.asarray([[1.0, 0], [2, 0]]), anp.ones((1, 2)), lower=True)
    np.testing.assert_array_equal(by_zero, [[-np.inf, np.inf]])


# ---- derivatives


def jax_linalg() -> Any:
    return pytest.importorskip("jax.lax.linalg", reason="JAX is the oracle")


def weights(shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(3).normal(size=shape)


SMOOTH: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "cholesky": (lambda lib, x: lib.cholesky(x), positive(3)),
    "eigenvalues": (lambda lib, x: lib.eigh(x)[1], positive(3)),
    # What does not depend on the signs (the phases) of the vectors.
    "projections": (lambda lib, x: lib.eigh(x)[0] ** 2, positive(3)),
    "lu": (lambda lib, x: lib.lu(x)[0], square(3)),
    "tall lu": (lambda lib, x: lib.lu(x)[0], random(4, 2)),
    "wide lu": (lambda lib, x: lib.lu(x)[0], random(2, 4)),
    "qr": (lambda lib, x: lib.qr(x, full_matrices=False), random(4, 3)),
    "singular values": (lambda lib, x: lib.svd(x, compute_uv=False), random(4, 3)),
    "singular vectors": (lambda lib, x: lib.svd(x, full_matrices=False)[0] ** 2, random(4, 3)),
    "other vectors": (lambda lib, x: lib.svd(x, full_matrices=False)[2] ** 2, random(3, 4)),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name: str, same_as_jax: Callable[..., None]) -> None:
    f, x = SMOOTH[name]
    lax_linalg = jax_linalg()
    same_as_jax(lambda x: f(lax.linalg, x), lambda x: f(lax_linalg, x), x)


@pytest.mark.parametrize("name", ["cholesky", "eigenvalues", "lu", "qr", "singular values"])
def test_complex_derivatives(name: str, same_as_jax: Callable[..., None]) -> None:
    f, x = SMOOTH[name]
    x = (
        positive(3, "complex128")
        if name in {"cholesky", "eigenvalues"}
        else random(*x.shape, dtype="complex128")
    )
    lax_linalg = jax_linalg()
    same_as_jax(lambda x: f(lax.linalg, x), lambda x: f(lax_linalg, x), x, order=1)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_the_triangle_that_is_not_read_has_no_derivative(dtype: str, lower: bool) -> None:
    x, step = positive(3, dtype), 1e-6
    t = random(3, 3, dtype=dtype, seed=5)

    def factored(x: Any) -> Any:
        return lax.linalg.cholesky(x, symmetrize_input=False)

    def values(x: Any) -> Any:
        return lax.linalg.eigh(x, lower=lower, symmetrize_input=False)[1]

    for f in [values, *([factored] if lower else [])]:
        pushed = np.asarray(ap.jvp(f, (anp.asarray(x),), (anp.asarray(t),))[1])
        ahead, behind = (np.asarray(f(anp.asarray(x + s * t))) for s in (step, -step))
        np.testing.assert_allclose(pushed, (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_determinants(n: int, dtype: str, same_as_jax: Callable[..., None]) -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    x, order = square(n, dtype), 2 if dtype == "float64" else 1
    same_as_jax(linalg.det, jax.numpy.linalg.det, x, order=order, batch=n > 2)
    if n == 3:
        theirs = jax.numpy.linalg.slogdet
        same_as_jax(lambda x: linalg.slogdet(x)[1], lambda x: theirs(x)[1], x, order=order)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_gradient_of_a_singular_determinant(n: int) -> None:
    x = random(n, n)
    x[:, 1] = x[:, 0]
    expected = [
        [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(x, i, 0), j, 1)) for j in range(n)]
        for i in range(n)
    ]
    close(ap.grad(linalg.det)(anp.asarray(x)), expected)


def test_second_derivative_of_a_vanishing_determinant() -> None:
    hessian = np.asarray(ap.hessian(linalg.det)(anp.zeros((2, 2))))
    expected = np.zeros((2, 2, 2, 2))
    expected[0, 0, 1, 1] = expected[1, 1, 0, 0] = 1
    expected[0, 1, 1, 0] = expected[1, 0, 0, 1] = -1
    np.testing.assert_array_equal(hessian, expected)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_solvers(dtype: str, same_as_jax: Callable[..., None]) -> None:
    jax, lax_linalg = pytest.importorskip("jax", reason="JAX is the oracle"), jax_linalg()
    a, b = square(3, dtype), random(3, 2, dtype=dtype, seed=1)
    same_as_jax(linalg.solve_p.bind, jax.numpy.linalg.solve, a, b)
    for left, lower, transpose, unit in product((True, False), repeat=4):
        options = {
            "left_side": left,
            "lower": lower,
            "unit_diagonal": unit,
            "transpose_a": transpose,
            "conjugate_a": transpose,
        }
        same_as_jax(
            lambda a, b, options=options: linalg.triangular_solve(a, b, **options),
            lambda a, b, options=options: lax_linalg.triangular_solve(a, b, **options),
            *(a, b if left else b.T),
            order=2 if left and lower and transpose and not unit else int(left != lower),
            batch=left and not lower and not unit,
        )


def test_third_derivative() -> None:
    # log det (A + t B) in t: its third derivative is 2 tr((A^-1 B)^3).
    a, b = positive(3), random(3, 3)

    def f(t: Any) -> Any:
        return linalg.slogdet(anp.asarray(a) + t * anp.asarray(b))[1]

    c = scipy.linalg.solve(a, b)
    close(ap.grad(ap.grad(ap.grad(f)))(0.0), 2 * np.trace(c @ c @ c))


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"\[\.\.\., n, n\]"):
        linalg.cholesky(anp.ones((2, 3)))
    with pytest.raises(TypeError, match="float32"):
        linalg.lu(anp.ones((2, 2), "float16"))
    with pytest.raises(ValueError, match="rows of b"):
        linalg.triangular_solve(anp.ones((2, 2)), anp.ones((3, 1)), left_side=True)
    with pytest.raises(ap.errors.NotDifferentiableError, match="full_matrices=False"):
        ap.grad(lambda x: lax.linalg.svd(x)[0].sum())(anp.ones((3, 2)))
