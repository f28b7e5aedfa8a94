"""Gradients of real functions of complex numbers: df/dre - i df/dim, as JAX defines them."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp

pytestmark = pytest.mark.usefixtures("backend")

Z = np.array([1 + 2j, -0.5 + 0.25j], np.complex64)
W = np.array([0.3 - 1j, 2j], np.complex64)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda z: (anp.abs(z) ** 2).sum(), 2 * Z.conj()),
        (lambda z: anp.abs(z).sum(), Z.conj() / abs(Z)),
        (lambda z: z.real.sum(), np.ones(2)),
        (lambda z: z.imag.sum(), np.full(2, -1j)),
        (lambda z: (z * W).real.sum(), W),
        (lambda z: (anp.conj(z) * W).real.sum(), W.conj()),
        (anp.linalg.norm, Z.conj() / np.linalg.norm(Z)),
        (lambda z: anp.exp(z).real.sum(), np.exp(Z)),
    ],
    ids=["square", "abs", "real", "imag", "product", "conj", "norm", "exp"],
)
@pytest.mark.parametrize(
    "transform",
    [ap.grad, lambda f: ap.jit(ap.grad(f)), ap.jacrev],
    ids=["grad", "jit of grad", "jacrev"],
)
def test_gradients(function, expected, transform):
    got = transform(function)(anp.asarray(Z))
    assert got.dtype == np.complex64
    np.testing.assert_allclose(np.asarray(got), expected, rtol=2e-6, atol=1e-6)


def test_real_and_complex_arguments_together():
    real, complex_ = ap.grad(lambda r, z: (anp.abs(r * z) ** 2).sum(), argnums=(0, 1))(3.0, Z)
    assert real.dtype == np.float32
    np.testing.assert_allclose(np.asarray(real), 6 * (abs(Z) ** 2).sum(), rtol=2e-6)
    np.testing.assert_allclose(np.asarray(complex_), 18 * Z.conj(), rtol=2e-6)


def test_a_complex_value_needs_holomorphic():
    with pytest.raises(TypeError, match="real"):
        ap.grad(lambda z: (z * z).sum())(anp.asarray(Z))
