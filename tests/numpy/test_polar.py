"""The polar decomposition by weighted Halley iterations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.lax.linalg import qdwh
from tests.samples import random


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_factors(dtype: str, backend: str) -> None:
    if backend == "jax" and dtype not in {"float32", "complex128"}:
        pytest.skip("JAX compiles each operation for each dtype: two are enough")
    with ap.config.override("enable_x64", True):
        close = {"rtol": 0, "atol": 1e-5 if dtype in {"float32", "complex64"} else 1e-13}
        for shape in ((5, 3), (3, 3), (1, 1)):
            x = random(*shape, dtype=dtype)
            u, h, count, converged = map(np.asarray, qdwh(anp.asarray(x)))
            assert u.dtype == h.dtype == dtype
            assert converged
            assert 0 < count <= 7
            np.testing.assert_allclose(u @ h, x, **close)
            np.testing.assert_allclose(u.conj().T @ u, np.eye(shape[1]), **close)
            np.testing.assert_array_equal(h, h.conj().T)
            assert np.linalg.eigvalsh(h).min() > 0


def test_ill_conditioned_and_padded() -> None:
    x = np.diag([1, 1e-2, 1e-4]).astype("float32")
    u, h, _, converged = qdwh(anp.asarray(x))
    assert converged
    np.testing.assert_allclose(np.asarray(u), np.eye(3), atol=1e-5)
    np.testing.assert_allclose(np.asarray(h), x, atol=1e-6)
    part = qdwh(anp.ones((3, 3)).at[0, 0].set(5.0), dynamic_shape=(1, 1))
    np.testing.assert_allclose(np.asarray(part[1]), np.diag([5.0, 0, 0]))
    assert not qdwh(anp.asarray(x), max_iterations=1)[3]
    np.testing.assert_array_equal(np.asarray(qdwh(anp.zeros((2, 2)))[1]), np.zeros((2, 2)))


def test_derivative() -> None:
    # d/dx of the rotation's angle: U of [[1, -x], [x, 1]] is a rotation by atan(x).
    def corner(x: Any) -> Any:
        return qdwh(anp.eye(2) + x * anp.asarray([[0.0, -1.0], [1.0, 0.0]]))[0][1, 0]

    with ap.config.override("enable_x64", True):
        found = float(ap.grad(corner)(anp.asarray(0.5)))
    assert found == pytest.approx(1.25**-1.5)


def test_messages() -> None:
    with pytest.raises(ValueError, match="no more columns"):
        qdwh(anp.ones((2, 3)))
