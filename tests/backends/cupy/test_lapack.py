"""What CUDA's libraries lack is refused with the way to the host; nothing goes there unasked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import arrayport as ap
import arrayport.numpy as anp
from arrayport.lax import linalg

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def on_a_device() -> Iterator[None]:
    with ap.use_backend("cupy-sim"):
        yield


@pytest.mark.parametrize(
    "function",
    [
        linalg.schur,
        linalg.hessenberg,
        linalg.tridiagonal,
        lambda x: linalg.qr(x, pivoting=True),
        lambda x: linalg.tridiagonal_solve(x[0], x[1], x[0], x, perturb_singular=True),
        ap.scipy.linalg.schur,
    ],
    ids=["schur", "hessenberg", "tridiagonal", "pivoted qr", "perturbed", "scipy.schur"],
)
@pytest.mark.parametrize("wrap", [lambda f: f, ap.jit], ids=["eager", "jit"])
def test_refusals(function: Callable[..., Any], wrap: Any) -> None:
    with pytest.raises(ap.errors.UnsupportedOnBackendError, match=r"device_put\(x, 'numpy'\)"):
        wrap(function)(anp.eye(3))
    there = ap.device_put(anp.eye(3), "numpy")
    assert all(x.device.backend == "numpy" for x in ap.tree.leaves(wrap(function)(there)))


def test_the_rest_stays_on_the_device() -> None:
    a = RNG.normal(size=(2, 4, 4)).astype(np.float32)
    reflectors, factors = scipy.linalg.qr(a[0], mode="raw")[0]
    d, off = a[..., 0] + 4, a[..., 1].copy()
    off[:, 0] = 0
    x, m, t, diagonal, lower, upper = map(
        anp.asarray, (a, reflectors, factors, d, off, np.roll(off, -1, axis=-1))
    )
    with ap.transfer_guard("disallow"):
        values, left, right = linalg.eig(x)
        order = linalg.lu(x)[2]
        q = linalg.ormqr(m, t, anp.eye(4, dtype="float32"))
        solved = linalg.tridiagonal_solve(lower, diagonal, upper, x)
    w, u, v = map(np.asarray, (values, left, right))
    np.testing.assert_allclose(a @ v, v * w[..., None, :], atol=1e-4)
    adjoint = np.swapaxes(u, -1, -2).conj()
    np.testing.assert_allclose(adjoint @ a, w[..., None] * adjoint, atol=1e-4)
    expected = [scipy.linalg.lu(part, p_indices=True)[0] for part in a]
    np.testing.assert_array_equal(np.argsort(np.asarray(order), axis=-1), expected)
    np.testing.assert_allclose(np.asarray(q), scipy.linalg.qr(a[0])[0], rtol=1e-4, atol=1e-5)
    for i in range(2):
        whole = np.diag(d[i]) + np.diag(off[i, 1:], -1) + np.diag(off[i, 1:], 1)
        np.testing.assert_allclose(whole @ np.asarray(solved)[i], a[i], atol=1e-4)
