"""numpy.linalg's functions: values against NumPy's, derivatives against JAX's, messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from tests import samples
from tests.samples import random

L = anp.linalg
INF = float("inf")
pytestmark = pytest.mark.usefixtures("wide")
close = partial(samples.same_type_and_close, narrow=1e-10, wide=1e-10)


SQUARE = random(2, 4, 4)
COMPLEX = random(2, 4, 4, dtype="complex128")
TALL, WIDE = random(2, 5, 3), random(3, 5)

# A call of the one library or the other.
CALLS: dict[str, Callable[[Any], Any]] = {
    "inv": lambda m: m.linalg.inv(m.asarray(SQUARE)),
    "complex inv": lambda m: m.linalg.inv(m.asarray(COMPLEX)),
    "det": lambda m: m.linalg.det(m.asarray(SQUARE)),
    "slogdet": lambda m: m.stack(m.linalg.slogdet(m.asarray(SQUARE))),
    "solve": lambda m: m.linalg.solve(m.asarray(SQUARE), m.asarray(SQUARE[..., :3])),
    "solve a vector": lambda m: m.linalg.solve(m.asarray(SQUARE[0]), m.asarray(SQUARE[1, 0])),
    "solve a stack": lambda m: m.linalg.solve(m.asarray(SQUARE), m.asarray(SQUARE[1, 0])),
    "pinv": lambda m: m.linalg.pinv(m.asarray(TALL)),
    "pinv of a wide one": lambda m: m.linalg.pinv(m.asarray(WIDE)),
    "pinv of low rank": lambda m: m.linalg.pinv(m.ones((3, 4)), rtol=1e-5),
    "rank": lambda m: m.linalg.matrix_rank(m.ones((2, 3, 4))),
    "lstsq": lambda m: m.linalg.lstsq(m.asarray(TALL[0]), m.asarray(TALL[1]))[0],
    "residuals": lambda m: m.linalg.lstsq(m.asarray(TALL[0]), m.asarray(TALL[1, :, 0]))[1],
    "eigvalsh": lambda m: m.linalg.eigvalsh(m.asarray(COMPLEX + COMPLEX.conj().mT)),
    "eigh": lambda m: abs(m.linalg.eigh(m.asarray(SQUARE + SQUARE.mT)).eigenvectors),
    "cholesky": lambda m: m.linalg.cholesky(m.asarray(COMPLEX @ COMPLEX.conj().mT)),
    "upper": lambda m: m.linalg.cholesky(m.asarray(COMPLEX @ COMPLEX.conj().mT), upper=True),
    "qr": lambda m: abs(m.linalg.qr(m.asarray(TALL)).R),
    "r": lambda m: abs(m.linalg.qr(m.asarray(TALL), "r")),
    "raw": lambda m: m.linalg.qr(m.asarray(TALL), mode="raw")[0],
    "factors": lambda m: m.linalg.qr(m.asarray(TALL[0].T), mode="raw")[1],
    "complete": lambda m: abs(m.linalg.qr(m.asarray(TALL[0]), mode="complete")[1]),
    "svd": lambda m: abs(m.linalg.svd(m.asarray(TALL), full_matrices=False).U),
    "svdvals": lambda m: m.linalg.svdvals(m.asarray(WIDE)),
    "power": lambda m: m.linalg.matrix_power(m.asarray(SQUARE), 5),
    "no power": lambda m: m.linalg.matrix_power(m.asarray(SQUARE[0]), 0),
    "negative power": lambda m: m.linalg.matrix_power(m.asarray(SQUARE), -3),
    "integer power": lambda m: m.linalg.matrix_power(m.asarray([[1, 1], [1, 0]][:2]), 12),
    "multi_dot": lambda m: m.linalg.multi_dot([m.asarray(WIDE.T), m.asarray(WIDE), m.ones((5,))]),
    "tensorinv": lambda m: m.linalg.tensorinv(m.asarray(random(6, 2, 3)), ind=1),
    "tensorsolve": lambda m: m.linalg.tensorsolve(m.asarray(random(2, 3, 6)), m.ones((2, 3))),
    "tensorsolve axes": lambda m: m.linalg.tensorsolve(
        m.asarray(random(2, 6, 3)), m.ones((2, 3)), axes=(1,)
    ),
    "cross": lambda m: m.linalg.cross(m.asarray(random(2, 3)), m.asarray(random(2, 3, seed=1))),
    "outer": lambda m: m.linalg.outer(m.asarray(random(2)), m.asarray(random(3))),
    "diagonal": lambda m: m.linalg.diagonal(m.asarray(TALL), offset=-1),
    "trace": lambda m: m.linalg.trace(m.asarray(TALL)),
    "transpose": lambda m: m.linalg.matrix_transpose(m.asarray(TALL)),
    "integers": lambda m: m.linalg.norm(m.asarray(np.arange(5))),
    "all of a stack": lambda m: m.linalg.norm(m.asarray(TALL)),
    **{
        f"cond {p}": lambda m, p=p: m.linalg.cond(m.asarray(SQUARE), p)
        for p in (None, 1, -1, 2, -2, INF, "fro")
    },
    **{
        f"norm {p} {keep}": lambda m, p=p, keep=keep: m.linalg.norm(
            m.asarray(COMPLEX), p, axis=(0, 2), keepdims=keep
        )
        for p in (None, "fro", "nuc", 1, -1, 2, -2, INF, -INF)
        for keep in (True, False)
    },
    **{
        f"vector {p} {keep}": lambda m, p=p, keep=keep: m.linalg.norm(
            m.asarray(COMPLEX), p, axis=1, keepdims=keep
        )
        for p in (None, 0, 1, -1, 2, 3, 0.5, INF, -INF)
        for keep in (True, False)
    },
    **{
        f"vector_norm {p}": lambda m, p=p: m.linalg.vector_norm(
            m.asarray(TALL), ord=p, axis=(0, -1), keepdims=True
        )
        for p in (0, 1, 2, 3.5, INF, -INF)
    },
    **{
        f"matrix_norm {p}": lambda m, p=p: m.linalg.matrix_norm(m.asarray(TALL), ord=p)
        for p in ("fro", "nuc", 1, -1, 2, -2, INF, -INF)
    },
}


@pytest.mark.parametrize("call", CALLS)
def test_values(call: str, backend: str) -> None:
    found = CALLS[call](anp)
    if call == "solve a stack":  # a vector for each matrix, as JAX has it
        expected = np.linalg.solve(SQUARE, SQUARE[1, 0][:, None])[..., 0]
    else:
        expected = np.asarray(CALLS[call](np))
    if call == "rank":
        expected = expected.astype(np.asarray(found).dtype)
    assert found.device.backend == backend
    close(found, expected)


SMOOTH: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "inv": (lambda m, x: m.linalg.inv(x), SQUARE[0]),
    "pinv": (lambda m, x: m.linalg.pinv(x), TALL[0]),
    "complex pinv": (lambda m, x: m.linalg.pinv(x), random(2, 3, dtype="complex128")),
    "norm": (lambda m, x: m.linalg.norm(x), COMPLEX[0]),
    "nuc": (lambda m, x: m.linalg.norm(x, "nuc"), TALL[0]),
    "cubic": (lambda m, x: m.linalg.norm(x, 3, axis=1), TALL[0]),
    "power": (lambda m, x: m.linalg.matrix_power(x, 3), SQUARE[0]),
    "least squares": (lambda m, x: m.linalg.lstsq(x, m.ones(5))[0], TALL[0]),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name: str) -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    f, x = SMOOTH[name]
    t = random(*x.shape, dtype=x.dtype.name, seed=5)
    with jax.enable_x64(True):
        jnp = jax.numpy
        value, push = jax.jvp(lambda x: f(jnp, x), (x,), (t,))
        ct = random(*value.shape, dtype=value.dtype.name, seed=6)
        pull = jax.vjp(lambda x: f(jnp, x), x)[1](jnp.asarray(ct))[0]

        def slope(x: Any) -> Any:
            return jax.jvp(lambda x: f(jnp, x), (x,), (t,))[1]

        twice = jax.jvp(slope, (x,), (t,))[1]
    ours, along = anp.asarray(x), anp.asarray(t)
    close(ap.jvp(lambda x: f(anp, x), (ours,), (along,))[1], push)
    close(ap.vjp(lambda x: f(anp, x), ours)[1](anp.asarray(ct))[0], pull)

    def our_slope(x: Any) -> Any:
        return ap.jvp(lambda x: f(anp, x), (x,), (along,))[1]

    np.testing.assert_allclose(
        np.asarray(ap.jvp(our_slope, (ours,), (along,))[1]), np.asarray(twice), rtol=1e-7, atol=1e-8
    )
    close(ap.jit(lambda x: f(anp, x))(ours), value)


def test_the_norm_of_nothing_has_no_slope() -> None:
    np.testing.assert_array_equal(np.asarray(ap.grad(L.norm)(anp.zeros(3))), np.zeros(3))
    np.testing.assert_array_equal(np.asarray(ap.hessian(L.norm)(anp.zeros(2))), np.zeros((2, 2)))


def test_singular_matrices_raise_nothing() -> None:
    zeros = anp.zeros((4, 4))
    assert not np.isfinite(np.asarray(L.inv(zeros))).any()
    assert not np.isfinite(np.asarray(L.solve(zeros, anp.ones(4)))).any()
    assert float(L.det(zeros)) == 0
    sign, log = L.slogdet(zeros)
    assert (float(sign), float(log)) == (0, -INF)


def test_ranks_and_conditions_at_their_ends(backend: str) -> None:
    del backend
    assert int(L.matrix_rank(anp.eye(3) * 0.1, tol=0.5)) == 0
    assert int(L.matrix_rank(anp.eye(3) * 0.1, rtol=0.5)) == 3
    assert [int(L.matrix_rank(anp.asarray(v))) for v in ([0.0, 2.0], [0.0, 0.0])] == [1, 0]
    for p in (None, 1, "fro"):
        assert float(L.cond(anp.zeros((2, 2)), p)) == INF
    assert np.isnan(float(L.cond(anp.full((2, 2), np.nan))))
    assert float(L.norm(anp.zeros(0), INF)) == float(L.norm(anp.zeros((0, 2)), 2)) == 0
    assert all(np.isnan(float(part)) for part in L.slogdet(anp.full((2, 2), np.nan)))


ONES = np.ones((2, 3))
MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "inv": (lambda: L.inv(ONES), ValueError, r"\(2, 3\)"),
    "det": (lambda: L.det(np.ones(3)), ValueError, r"\(\.\.\., n, n\)"),
    "solve": (lambda: L.solve(np.eye(2), np.ones(3)), ValueError, "as many rows"),
    "scalar": (lambda: L.solve(np.eye(2), 1.0), ValueError, "axis or more"),
    "half": (lambda: L.cholesky(np.eye(2, dtype=np.float16)), TypeError, "float32"),
    "three axes": (lambda: L.norm(np.ones((2, 2, 2)), 2), ValueError, "axis="),
    "vector fro": (lambda: L.norm(np.ones(3), "fro"), ValueError, "no vector norm"),
    "matrix 3": (lambda: L.norm(ONES, 3), ValueError, "no matrix norm"),
    "power": (lambda: L.matrix_power(np.eye(2), 1.5), TypeError, "n must be an integer"),
    "UPLO": (lambda: L.eigh(np.eye(2), UPLO="x"), ValueError, "'L' or 'U'"),
    "mode": (lambda: L.qr(ONES, "economic"), ValueError, "'complete'"),
    "lstsq": (lambda: L.lstsq(ONES, np.ones(3)), ValueError, "lstsq needs"),
    "cross": (lambda: L.cross(np.ones(2), np.ones(2)), ValueError, "3 elements"),
    "outer": (lambda: L.outer(ONES, ONES), ValueError, "vectors"),
    "multi_dot": (lambda: L.multi_dot([ONES]), ValueError, "two arrays"),
    "tensorinv": (lambda: L.tensorinv(np.ones((2, 3, 4))), ValueError, "not square"),
    "tensorsolve": (lambda: L.tensorsolve(ONES, np.ones(2)), ValueError, "not square"),
    "slogdet": (lambda: L.slogdet(np.eye(2), method="x"), ValueError, "'lu'"),
    "missing": (lambda: L.eigx, AttributeError, "no attribute"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_messages(mistake: str) -> None:
    call, error, match = MISTAKES[mistake]
    with pytest.raises(error, match=match):
        call()
