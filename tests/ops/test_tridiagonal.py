"""Tridiagonal matrices: equations and reductions, multiplied back on every backend."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import arrayport.numpy as anp
from arrayport.lax import linalg
from tests import samples
from tests.samples import random

DTYPES = ("float32", "float64", "complex64", "complex128")
close = partial(samples.close, narrow=1e-3, wide=1e-10)


def dense(dl: Any, d: Any, du: Any) -> Any:
    return np.diag(dl[1:], -1) + np.diag(d) + np.diag(du[:-1], 1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_equations(dtype: str, backend: str) -> None:
    for n in (1, 2, 3, 6):
        diagonals, b = random(2, 3, n, dtype=dtype), random(2, n, 2, dtype=dtype, seed=1)
        for perturb in (True, False) if not backend.startswith("cupy") else (False,):
            x = np.asarray(
                linalg.tridiagonal_solve(
                    *[anp.asarray(diagonals[:, i]) for i in range(3)],
                    anp.asarray(b),
                    perturb_singular=perturb,
                )
            )
            assert x.dtype == dtype
            for i in range(2):
                close(dense(*diagonals[i]) @ x[i], b[i])
    assert linalg.tridiagonal_solve(*[anp.zeros(0)] * 3, anp.zeros((0, 2))).shape == (0, 2)


def test_singular_equations(backend: str) -> None:
    one, zero, b = anp.ones(3), anp.zeros(3), anp.asarray([[1.0], [2.0], [4.0]])
    assert np.isnan(np.asarray(linalg.tridiagonal_solve(zero, zero, zero, b))).all()
    if backend.startswith("cupy"):
        return  # tests/backends/cupy/test_lapack.py has the refusal
    # Of rank 2: inverse iteration wants a long vector of the null space.
    found = linalg.tridiagonal_solve(one, one, zero.at[0].set(1.0), b, perturb_singular=True)
    x = np.asarray(found)[:, 0]
    assert np.abs(x).max() > 1e10
    matrix = dense(np.ones(3), np.ones(3), np.array([1.0, 0, 0]))
    close(matrix @ (x / np.abs(x).max()), np.zeros(3))


@pytest.mark.parametrize("dtype", DTYPES)
def test_reduction(dtype: str, backend: str) -> None:
    if backend.startswith("cupy"):
        pytest.skip("CUDA's libraries lack it: tests/backends/cupy/test_lapack.py")
    x = random(2, 4, 4, dtype=dtype)
    x += np.swapaxes(x.conj(), -1, -2)
    packed, diagonal, beside, factors = linalg.tridiagonal(anp.asarray(x))
    q = np.zeros_like(x)
    q[..., 0, 0] = 1
    q[..., 1:, 1:] = linalg.householder_product(packed[..., 1:, :-1], factors)
    for i in range(2):
        e = np.asarray(beside)[i]
        t = dense(np.append(0, e), np.asarray(diagonal)[i], np.append(e, 0))
        close(q[i] @ t @ q[i].conj().T, x[i])
    for lower in (True, False):
        part = np.tril(x) if lower else np.triu(x)
        _, d, e, _ = map(np.asarray, linalg.tridiagonal(anp.asarray(part), lower=lower))
        t = dense(np.append(0, e[0]), d[0], np.append(e[0], 0))
        close(np.linalg.eigvalsh(t), np.linalg.eigvalsh(x[0]))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives(dtype: str, same_as_jax: Callable[..., None]) -> None:
    theirs = pytest.importorskip("jax.lax.linalg", reason="JAX is the oracle")
    dl, d, du = random(3, 4, dtype=dtype)
    operands = (dl, d + 4, du, random(4, 2, dtype=dtype, seed=1))
    order = 2 if dtype == "float64" else 1
    same_as_jax(
        linalg.tridiagonal_solve, theirs.tridiagonal_solve, *operands, order=order, batch=False
    )


def test_messages() -> None:
    one = anp.ones(3)
    with pytest.raises(TypeError, match="shape"):
        linalg.tridiagonal_solve(one, one, anp.ones(2), anp.ones((3, 1)))
    with pytest.raises(TypeError, match="one dtype"):
        linalg.tridiagonal_solve(one, one, one, anp.ones((3, 1), "float32"))
    with pytest.raises(ValueError, match="a row or more"):
        linalg.tridiagonal(anp.zeros((0, 0)))
