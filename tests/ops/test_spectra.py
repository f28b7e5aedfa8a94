"""Eigenvalues of general matrices, Schur's form, ranges of values: on every backend."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.lax import linalg
from tests import samples
from tests.samples import adjoint, random

DTYPES = ("float32", "float64", "complex64", "complex128")
close = partial(samples.close, narrow=2e-4, wide=1e-10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.usefixtures("backend")
def test_eigenvectors(dtype: str) -> None:
    for shape in ((4, 4), (2, 3, 3), (1, 1)):
        x = random(*shape, dtype=dtype)
        values, left, right = map(np.asarray, linalg.eig(anp.asarray(x)))
        assert values.dtype == left.dtype == np.result_type(dtype, np.complex64)
        close(x @ right, right * values[..., None, :])
        close(adjoint(left) @ x, values[..., None] * adjoint(left))
        for vectors in (left, right):
            close(np.linalg.norm(vectors, axis=-2), np.ones(shape[:-1]))
            top = np.argmax(np.abs(vectors), -2)[..., None, :]
            close(np.take_along_axis(vectors, top, -2).imag, np.zeros((*shape[:-2], 1, shape[-1])))
    found = anp.linalg.eig(anp.asarray(x))
    close(found.eigenvalues, anp.linalg.eigvals(anp.asarray(x)))
    assert [v.shape for v in linalg.eig(anp.zeros((2, 0, 0)))] == [(2, 0), (2, 0, 0), (2, 0, 0)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_schur(dtype: str, backend: str) -> None:
    if backend.startswith("cupy"):
        pytest.skip("CUDA's libraries lack it: tests/backends/cupy/test_lapack.py")
    x = random(2, 4, 4, dtype=dtype)
    t, q = map(np.asarray, linalg.schur(anp.asarray(x)))
    assert t.dtype == q.dtype == dtype
    close(q @ t @ adjoint(q), x)
    close(q @ adjoint(q), np.broadcast_to(np.eye(4), x.shape))
    close(t, np.triu(t, 0 if dtype[0] == "c" else -1))
    (alone,) = linalg.schur(anp.asarray(x), compute_schur_vectors=False)
    close(alone, t)


def test_what_is_not_finite_becomes_nan(backend: str) -> None:
    x = np.stack([np.eye(2), np.full((2, 2), np.inf)])
    for made in (linalg.eig, linalg.schur) if not backend.startswith("cupy") else (linalg.eig,):
        for part in made(anp.asarray(x)):
            assert np.isfinite(np.asarray(part)[0]).all()
            assert np.isnan(np.asarray(part)[1]).all()


@pytest.mark.usefixtures("backend")
def test_ranges() -> None:
    x = random(4, 4)
    symmetric = anp.asarray(x + x.T)
    v, w = linalg.eigh(symmetric)
    some = linalg.eigh(
        symmetric, subset_by_index=(1, 3), implementation=linalg.EighImplementation.QR
    )
    close(some[0], v[:, 1:3])
    close(some[1], w[1:3])
    u, s, vh = linalg.svd(anp.asarray(x))
    few = linalg.svd(
        anp.asarray(x),
        full_matrices=False,
        subset_by_index=(0, 2),
        algorithm=linalg.SvdAlgorithm.DEFAULT,
    )
    for found, expected in zip(few, (u[:, :2], s[:2], vh[:2]), strict=True):
        close(found, expected)
    close(anp.linalg.svd(anp.asarray(x), compute_uv=False, subset_by_index=(3, 4)), s[3:])


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives(dtype: str, same_as_jax: Callable[..., None]) -> None:
    theirs = pytest.importorskip("jax.lax.linalg", reason="JAX is the oracle")
    x = random(3, 3, dtype=dtype)
    values = {"compute_left_eigenvectors": False, "compute_right_eigenvectors": False}
    smooth = {"enable_eigvec_derivs": True}
    same_as_jax(lambda x: linalg.eig(x, **values), lambda x: theirs.eig(x, **values), x, order=1)
    same_as_jax(
        lambda x: linalg.eig(x, **smooth),
        lambda x: theirs.eig(x, **smooth),
        x,
        order=2 if dtype == "float64" else 1,
        batch=False,
    )


def test_second_derivative_of_eigenvalues() -> None:
    # The larger eigenvalue of [[x, 1], [1, 0]] is x/2 + sqrt(x^2/4 + 1).
    def largest(x: Any) -> Any:
        return anp.linalg.eigvals(
            anp.stack([anp.stack([x, x * 0 + 1]), anp.eye(2)[1, ::-1]])
        ).real.max()

    close(ap.grad(ap.grad(largest))(anp.asarray(1.5)), (1.5**2 / 4 + 1) ** -1.5 / 4)


def test_phases_of_a_singular_matrix_are_finite() -> None:
    x = anp.asarray(np.diag([2.0, 1.0, 0.0]).astype("complex128"))
    _, pushed = ap.jvp(linalg.svd, (x,), (anp.asarray(random(3, 3, dtype="complex128")),))
    assert all(np.isfinite(np.asarray(part)).all() for part in pushed)


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "eig": (lambda: linalg.eig(anp.ones((2, 3))), ValueError, r"\[\.\.\., n, n\]"),
    "vectors": (
        lambda: ap.grad(lambda x: abs(anp.linalg.eig(x)[1]).sum())(anp.eye(2)),
        ap.errors.NotDifferentiableError,
        "enable_eigvec_derivs",
    ),
    "implementation": (
        lambda: linalg.eigh(anp.eye(2), implementation="qr"),
        TypeError,
        "EighImplementation",
    ),
    "range": (lambda: linalg.eigh(anp.eye(2), subset_by_index=(1, 3)), ValueError, "0 <= start"),
    "full": (lambda: linalg.svd(anp.eye(2), subset_by_index=(0, 1)), ValueError, "full_matrices"),
    "sorted": (
        lambda: linalg.schur(anp.eye(2), sort_eig_vals=True),
        NotImplementedError,
        "sort_eig_vals",
    ),
    "schur": (
        lambda: ap.grad(lambda x: linalg.schur(x)[0].sum())(anp.eye(2)),
        ap.errors.NotDifferentiableError,
        "order",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_messages(mistake: str) -> None:
    call, error, match = MISTAKES[mistake]
    with pytest.raises(error, match=match):
        call()
