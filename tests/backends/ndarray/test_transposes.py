"""Products of what is transposed, and transposes of products: none of both is made."""

from __future__ import annotations

import numpy as np
import pytest
from arrayport_backends.ndarray.transposes import without_transposes

import arrayport as ap
import arrayport.numpy as anp
from arrayport.passes.prune import prune

pytestmark = pytest.mark.usefixtures("own_backend")

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(9, 7)).astype(np.float32), RNG.normal(size=(7, 8)).astype(np.float32)
G = RNG.normal(size=(9, 8)).astype(np.float32)
C, D = RNG.normal(size=(2, 3, 9, 7)), RNG.normal(size=(2, 3, 7, 8))
CASES = {  # a function, its arguments, its value, how many transposes are left
    "operands": (lambda a, b: a.T @ b.T, (A.T, B.T), A @ B, 0),
    "answer": (lambda a, b: (a @ b).T, (A, B), (A @ B).T, 0),
    "both": (lambda a, b: (a.T @ b).T, (A.T, B), (A @ B).T, 0),
    "vector": (lambda a, b: a.T @ b, (A, G[:, 0]), A.T @ G[:, 0], 0),
    "gradient": (
        ap.grad(lambda b, a, g: anp.sum(a @ b * g)),
        (B, A, G),
        A.T @ G,
        0,
    ),
    "stacks": (
        lambda c, d: anp.swapaxes(anp.swapaxes(c, 2, 3) @ d, 2, 3),
        (C.swapaxes(2, 3), D),
        (C @ D).swapaxes(2, 3),
        0,
    ),
    "complex": (lambda a, b: (a.T @ b).T, (1j * A.T, B + 0j), (1j * A @ B).T, 0),
    # The free axes change places, so the answer's would.
    "order": (
        lambda c, b: anp.tensordot(anp.transpose(c, (1, 0, 2, 3)), b, ((3,), (0,))),
        (C, B.astype(float)),
        C.swapaxes(0, 1) @ B,
        1,
    ),
    "rows": (lambda c, b: anp.transpose(c @ b, (0, 2, 1, 3)), (C, B + 0.0), 0, 1),
    "read twice": (lambda a, b: ((y := a @ b).T, y), (A, B), 0, 1),
    "integers": (lambda a, b: (a @ b).T, (np.arange(6).reshape(2, 3), np.ones((3, 2), int)), 0, 1),
}


@pytest.mark.parametrize("name", CASES)
def test_transposes(name):
    function, arrays, expected, left = CASES[name]
    args = [anp.asarray(a) for a in arrays]
    program = ap.jit(function).trace(*args).program
    found = prune(without_transposes(program))
    assert [eqn.prim.name for eqn in found.eqns].count("transpose") == left
    got, want = (ap.tree.leaves(f(*args)) for f in (ap.jit(function), function))
    for g, w in zip(got, want, strict=True):
        assert (g.shape, g.dtype) == (w.shape, w.dtype)
        np.testing.assert_allclose(np.asarray(g), np.asarray(w), 1e-5, 1e-5)
    if not isinstance(expected, int):
        np.testing.assert_allclose(np.asarray(got[0]), expected, 1e-5, 1e-5)
