"""Householder reflections: factors multiplied back on every backend, derivatives against JAX's."""

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
from arrayport.lax import linalg
from tests import samples
from tests.samples import adjoint, random

DTYPES = ("float32", "float64", "complex64", "complex128")
close = partial(samples.close, narrow=1e-4, wide=1e-11)


@pytest.mark.parametrize("dtype", DTYPES)
def test_pivoted_qr(dtype: str, backend: str) -> None:
    if backend.startswith("cupy"):
        pytest.skip("CUDA's libraries lack it: tests/backends/cupy/test_lapack.py")
    for shape, full in product([(4, 4), (2, 5, 3), (3, 5), (1, 1)], (True, False)):
        x = random(*shape, dtype=dtype)
        q, r, order = map(np.asarray, linalg.qr(anp.asarray(x), pivoting=True, full_matrices=full))
        assert (q.dtype, order.dtype) == (dtype, np.int32)
        assert q.shape[-1] == r.shape[-2] == (shape[-2] if full else min(shape[-2:]))
        close(q @ r, np.take_along_axis(x, order[..., None, :], -1))
        close(
            adjoint(q) @ q,
            np.broadcast_to(np.eye(q.shape[-1]), (*q.shape[:-2], *r.shape[-2:-1] * 2)),
        )
        close(r, np.triu(r))
        pivots = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
        assert np.all(np.diff(pivots) <= 1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reduction_to_hessenberg_form(dtype: str, backend: str) -> None:
    if backend.startswith("cupy"):
        pytest.skip("CUDA's libraries lack it: tests/backends/cupy/test_lapack.py")
    x = random(2, 5, 5, dtype=dtype)
    packed, factors = linalg.hessenberg(anp.asarray(x))
    q = np.zeros_like(x)
    q[..., 0, 0] = 1
    q[..., 1:, 1:] = linalg.householder_product(packed[..., 1:, :-1], factors)
    h = np.triu(packed, -1)
    assert h.dtype == dtype
    close(q @ h @ adjoint(q), x)
    close(q @ adjoint(q), np.broadcast_to(np.eye(5), x.shape))
    assert [part.shape for part in linalg.hessenberg(anp.ones((1, 1)))] == [(1, 1), (0,)]


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.usefixtures("backend")
def test_products_of_reflections(dtype: str) -> None:
    (packed, factors), _ = scipy.linalg.qr(random(5, 3, dtype=dtype), mode="raw")
    whole = np.eye(5, dtype=dtype)
    for i, factor in enumerate(factors):
        v = np.where(np.arange(5) < i, 0, packed[:, i])
        v[i] = 1
        whole = whole @ (np.eye(5) - factor * np.outer(v, v.conj())).astype(dtype)
    a, t = anp.asarray(packed), anp.asarray(factors)
    close(linalg.householder_product(a, t), whole[:, :3])
    c = random(5, 2, dtype=dtype)
    for transpose in (True, False):
        q = adjoint(whole) if transpose else whole
        close(linalg.ormqr(a, t, anp.asarray(c), transpose=transpose), q @ c)
        right = linalg.ormqr(a, t, anp.asarray(c.T), left=False, transpose=transpose)
        close(right, c.T @ q)


def test_a_product_is_linear() -> None:
    (packed, factors), _ = scipy.linalg.qr(random(4, 2, dtype="complex128"), mode="raw")
    a, t = anp.asarray(packed), anp.asarray(factors)
    c, ct = (anp.asarray(random(4, 2, dtype="complex128", seed=i)) for i in (1, 2))
    for transpose in (True, False):
        apply = partial(linalg.ormqr, a, t, transpose=transpose)
        out, pull = ap.vjp(apply, c)
        pushed = ap.jvp(apply, (c,), (ct,))[1]
        close(pushed, apply(ct))
        # The transpose does not conjugate.
        close((out * ct).sum(), (pull(ct)[0] * c).sum())
        stack = anp.stack([c, ct])
        close(ap.vmap(apply)(stack)[1], pushed)


@pytest.mark.usefixtures("backend")
def test_updates() -> None:
    r, w = np.triu(random(2, 4, 4)) + 4 * np.eye(4), random(2, 4, seed=1)
    found = np.asarray(linalg.cholesky_update(anp.asarray(r), anp.asarray(w)))
    close(found, np.triu(found))
    close(adjoint(found) @ found, adjoint(r) @ r + w[..., None] * w[..., None, :])
    assert np.all(np.diagonal(found, axis1=-2, axis2=-1) > 0)
    a, c = random(2, 3, 4), random(2, 3, 3)
    c += adjoint(c)
    for mirror in (True, False):
        made = linalg.symmetric_product(
            anp.asarray(a), anp.asarray(c), alpha=2.0, beta=0.5, symmetrize_output=mirror
        )
        close(made, 2 * a @ adjoint(a) + 0.5 * c)


QR: dict[str, tuple[tuple[int, ...], dict[str, bool]]] = {
    "wide": ((2, 4), {"full_matrices": False}),
    "complete": ((4, 2), {"full_matrices": True}),
    "pivoted": ((4, 3), {"full_matrices": False, "pivoting": True}),
}


@pytest.mark.parametrize("name", QR)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives_of_qr(name: str, dtype: str, same_as_jax: Callable[..., None]) -> None:
    theirs = pytest.importorskip("jax.lax.linalg", reason="JAX is the oracle")
    shape, options = QR[name]
    order = 2 if name == "complete" and dtype == "float64" else 1
    same_as_jax(
        lambda x: list(linalg.qr(x, **options)[:2]),
        lambda x: list(theirs.qr(x, **options)[:2]),
        random(*shape, dtype=dtype),
        order=order,
        batch=name == "pivoted",
    )


def test_derivative_of_a_wide_pivoted_qr() -> None:
    # R = Q^H A for the ordered columns: the trace of R^H R is that of A^H A.
    x = anp.asarray(random(3, 4))
    for home in ("numpy", "jax"):
        if home == "jax":
            pytest.importorskip("jax", reason="its own rule forgets the order")
        with ap.use_backend(home):
            r = ap.grad(lambda x: (linalg.qr(x, pivoting=True)[1] ** 2).sum())
            close(r(anp.asarray(np.asarray(x))), 2 * x)


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "householder": (
        lambda: linalg.householder_product(anp.ones((2, 3)), anp.ones(2)),
        ValueError,
        "no more columns",
    ),
    "ormqr": (
        lambda: linalg.ormqr(anp.ones((3, 2)), anp.ones(2), anp.ones((2, 2))),
        ValueError,
        "rows of c",
    ),
    "derivative": (
        lambda: ap.grad(lambda a: linalg.householder_product(a, anp.ones(2)).sum())(
            anp.ones((3, 2))
        ),
        ap.errors.NotDifferentiableError,
        "differentiate qr",
    ),
    "hessenberg": (lambda: linalg.hessenberg(anp.ones((0, 0))), ValueError, "a row or more"),
    "update": (
        lambda: linalg.cholesky_update(anp.ones((2, 2)), anp.ones(3)),
        ValueError,
        "w_vector",
    ),
    "complex update": (
        lambda: linalg.cholesky_update(anp.ones((1, 1)) * 1j, anp.ones(1) * 1j),
        TypeError,
        "real",
    ),
    "product": (
        lambda: linalg.symmetric_product(anp.ones((2, 3)), anp.ones((3, 3))),
        ValueError,
        "c_matrix",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_messages(mistake: str) -> None:
    call, error, match = MISTAKES[mistake]
    with pytest.raises(error, match=match):
        call()
