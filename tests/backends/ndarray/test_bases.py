"""Products with the basis of a Jacobian are transposes, with the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from arrayport_backends.ndarray.bases import without_bases

import arrayport as ap
import arrayport.numpy as anp

pytestmark = pytest.mark.usefixtures("own_backend")

A = np.array([[1.0, -0.0, 2], [-0.0, 3, -4]], np.float32)
X = np.array([0.5, -1, 2], np.float32)
FUNCTIONS = {
    "left": (lambda x: anp.asarray(A) @ x, A),
    "right": (lambda x: x @ anp.asarray(A.T), A),
    "sine": (lambda x: anp.sin(anp.asarray(A) @ x), np.cos(A @ X)[:, None] * A),
}


def products(function, *args):
    program = ap.jit(function).trace(*args).program
    return [
        sum(eqn.prim.name == "dot_general" for eqn in p.eqns)
        for p in (program, without_bases(program))
    ]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("jacobian", [ap.jacfwd, ap.jacrev])
def test_jacobians(name, jacobian):
    function, expected = FUNCTIONS[name]
    x = anp.asarray(X)
    before, after = products(jacobian(function), x)
    # Backwards the basis meets the cosine first.
    assert after == before - (name != "sine" or jacobian is ap.jacfwd)
    found, eager = (np.asarray(f(x)) for f in (ap.jit(jacobian(function)), jacobian(function)))
    np.testing.assert_allclose(found, expected, 1e-6, 1e-6)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(eager))


def test_hessians_and_what_users_write():
    a, x = anp.asarray(A), anp.asarray(X)

    def loss(x):
        return anp.sum(anp.exp(a @ x))

    found = ap.jit(ap.hessian(loss))(x)
    np.testing.assert_allclose(np.asarray(found), (A.T * np.exp(A @ X)) @ A, 1e-5)

    def by_identity(a):
        return a @ anp.eye(3, dtype="float32")

    assert products(by_identity, a) == [1, 1]
    lost = np.asarray(ap.jit(by_identity)(a.at[0, 0].set(anp.inf)))
    assert np.isnan(lost[0, 1:]).all()
