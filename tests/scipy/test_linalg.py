"""scipy.linalg's functions: values against SciPy's on every backend, derivatives, messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.linalg as theirs

import arrayport as ap
import arrayport.numpy as anp
import arrayport.scipy.linalg as ours
from arrayport.errors import UnsupportedOnBackendError
from tests import samples
from tests.calls import parts
from tests.samples import adjoint, random

pytestmark = pytest.mark.usefixtures("wide")
close = partial(samples.close, narrow=1e-9, wide=1e-9)


DTYPES = ("float64", "complex128")
V, W = random(5), random(4)
SQUARE = {dtype: random(4, 4, dtype=dtype) for dtype in DTYPES}
DEFINITE = {dtype: x @ adjoint(x) + np.eye(4) for dtype, x in SQUARE.items()}
RIGHT = {dtype: random(4, 2, dtype=dtype, seed=1) for dtype in DTYPES}
TALL = {dtype: random(5, 3, dtype=dtype) for dtype in DTYPES}

# Calls of the one library or the other; `a` makes its arrays.
Call = Callable[[Any, Callable[[Any], Any]], Any]
PATTERNS: dict[str, Call] = {
    "toeplitz": lambda m, a: m.toeplitz(a(V), a(W)),
    "complex toeplitz": lambda m, a: m.toeplitz(a(V + 1j)),
    "hankel": lambda m, a: m.hankel(a(V), a(W)),
    "one hankel": lambda m, a: m.hankel(a(V)),
    "circulant": lambda m, a: m.circulant(a(V)),
    "leslie": lambda m, a: m.leslie(a(V), a(W)),
    "companion": lambda m, a: m.companion(a(V)),
    "fiedler": lambda m, a: m.fiedler(a(V)),
    "block_diag": lambda m, a: m.block_diag(a(random(2, 3)), a(W), a(np.zeros((0, 2))), a(V[:1])),
    **{
        f"fiedler_companion {n}": lambda m, a, n=n: m.fiedler_companion(a(random(n)))
        for n in range(2, 8)
    },
    **{
        f"convolution_matrix {n} {mode}": lambda m, a, n=n, mode=mode: m.convolution_matrix(
            a(V), n, mode
        )
        for n, mode in product((1, 3, 8), ("full", "same", "valid"))
    },
    **{
        f"{name} {n}": lambda m, _a, name=name, n=n: getattr(m, name)(n)
        for name, n in product(["hilbert", "invhilbert", "helmert", "dft"], (1, 5))
    },
    "hadamard": lambda m, _a: m.hadamard(8),
    "full helmert": lambda m, _a: m.helmert(4, full=True),
    **{f"dft {s}": lambda m, _a, s=s: m.dft(5, s) for s in ("n", "sqrtn")},
    **{
        f"{name} {kind}": lambda m, _a, name=name, kind=kind: getattr(m, name)(5, kind)
        for name, kind in product(("pascal", "invpascal"), ("symmetric", "lower", "upper"))
    },
}


@pytest.mark.parametrize("call", PATTERNS)
def test_constructions(call: str, backend: str) -> None:
    found = PATTERNS[call](ours, anp.asarray)
    assert found.device.backend == backend
    close(found, PATTERNS[call](theirs, np.asarray))


CALLS: dict[str, Callable[[Any, Callable[[Any], Any], str], Any]] = {
    "det": lambda m, a, d: m.det(a(SQUARE[d])),
    "inv": lambda m, a, d: m.inv(a(SQUARE[d])),
    "solve": lambda m, a, d: m.solve(a(SQUARE[d]), a(RIGHT[d])),
    "lu": lambda m, a, d: m.lu(a(TALL[d])),
    "wide lu": lambda m, a, d: m.lu(a(TALL[d].T)),
    "permuted lu": lambda m, a, d: m.lu(a(SQUARE[d]), permute_l=True),
    "svd": lambda m, a, d: m.svd(a(TALL[d]), compute_uv=False),
    "generalized": lambda m, a, d: m.eigh(
        a(DEFINITE[d]), a(DEFINITE[d] + np.eye(4)), eigvals_only=True
    ),
    "hessenberg": lambda m, a, d: m.hessenberg(a(SQUARE[d]), calc_q=True),
    "polar": lambda m, a, d: [
        m.polar(a(x), side) for x in (TALL[d], TALL[d].T, SQUARE[d]) for side in ("right", "left")
    ],
    "expm": lambda m, a, d: m.expm(a(np.stack([SQUARE[d], SQUARE[d] * 0.01, SQUARE[d] * 3]))),
    "frechet": lambda m, a, d: m.expm_frechet(a(SQUARE[d]), a(DEFINITE[d])),
    "sqrtm": lambda m, a, d: m.sqrtm(a(SQUARE[d])),
    "funm": lambda m, a, d: m.funm(a(SQUARE[d]), lambda z: z * z * z),
    "sylvester": lambda m, a, d: m.solve_sylvester(
        a(SQUARE[d]), a(TALL[d][:3]), a(random(4, 3, dtype=d))
    ),
    **{
        f"factor {low}": lambda m, a, d, low=low: [
            m.cholesky(a(DEFINITE[d]), lower=low),
            m.cho_solve(m.cho_factor(a(DEFINITE[d]), lower=low), a(RIGHT[d])),
            m.solve(a(DEFINITE[d]), a(RIGHT[d][:, 0]), lower=low, assume_a="pos"),
        ]
        for low in (True, False)
    },
    **{
        f"trans {trans}": lambda m, a, d, trans=trans: [
            m.lu_solve(m.lu_factor(a(SQUARE[d])), a(RIGHT[d]), trans=trans),
            m.solve_triangular(a(SQUARE[d]), a(RIGHT[d]), trans=trans),
            m.solve_triangular(a(SQUARE[d]), a(RIGHT[d][:, 0]), trans, True, True),
        ]
        for trans in (0, 1, 2)
    },
    **{
        f"qr {mode} {pivoting}": lambda m, a, d, mode=mode, pivoting=pivoting: m.qr(
            a(TALL[d]), mode=mode, pivoting=pivoting
        )
        for mode, pivoting in product(("full", "economic", "r"), (True, False))
    },
    **{
        f"qr_multiply {conjugate}": lambda m, a, d, conjugate=conjugate: [
            m.qr_multiply(a(TALL[d]), a(RIGHT[d][:3]), "left", conjugate=conjugate),
            m.qr_multiply(a(TALL[d]), a(random(5, dtype=d)), conjugate=conjugate, pivoting=True),
        ]
        for conjugate in (True, False)
    },
}


# CUDA's libraries have no Schur or Hessenberg form and no pivoted qr.
REFUSED_ON_CUPY = {"hessenberg", "sqrtm", "funm", "sylvester"} | {
    call for call in CALLS if call.startswith("qr ") and call.endswith("True")
}
REFUSED_ON_CUPY |= {call for call in CALLS if call.startswith("qr_multiply")}


@pytest.fixture
def lapack(backend: str) -> str:
    """Name a backend with all of LAPACK."""
    if backend.startswith("cupy"):
        pytest.skip("CUDA's libraries have no Schur form: test_values holds the refusals")
    return backend


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("call", CALLS)
def test_values(call: str, dtype: str, backend: str) -> None:
    if backend.startswith("cupy") and call in REFUSED_ON_CUPY:
        with pytest.raises(UnsupportedOnBackendError, match="device_put"):
            CALLS[call](ours, anp.asarray, dtype)
        return
    if backend == "jax" and dtype == "complex128":
        pytest.skip("JAX compiles each operation for each dtype: the real ones are enough")
    found = parts(CALLS[call](ours, anp.asarray, dtype))
    expected = parts(CALLS[call](theirs, np.asarray, dtype))
    for ours_, theirs_ in zip(found, expected, strict=True):
        close(ours_, theirs_)
        assert isinstance(ours_, bool) or ours_.device.backend == backend


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.usefixtures("backend")
def test_vectors(dtype: str) -> None:
    x, b = SQUARE[dtype], DEFINITE[dtype]
    a = x + adjoint(x)
    for kind, left, right in ((1, a, b), (2, a @ b, np.eye(4)), (3, b @ a, np.eye(4))):
        w, v = map(np.asarray, ours.eigh(anp.asarray(a), anp.asarray(b), type=kind))
        close(left @ v, right @ v * w)
    d, e = V.astype(dtype), random(4, dtype=dtype)
    matrix = np.diag(d) + np.diag(e, 1) + np.diag(e.conj(), -1)
    w, v = map(np.asarray, ours.eigh_tridiagonal(anp.asarray(d), anp.asarray(e)))
    close(matrix @ v, v * w)
    some = ours.eigh_tridiagonal(
        anp.asarray(d), anp.asarray(e), eigvals_only=True, select="i", select_range=(1, 2)
    )
    close(some, w[1:3])


@pytest.mark.usefixtures("backend")
def test_slopes_of_eigenvalues_of_three_diagonals() -> None:
    d, e = V.astype("float64"), random(4, dtype="float64")
    of_d, of_e = ap.jacrev(
        lambda d, e: ours.eigh_tridiagonal(d, e, eigvals_only=True), argnums=(0, 1)
    )(anp.asarray(d), anp.asarray(e))
    v = np.linalg.eigh(np.diag(d) + np.diag(e, 1) + np.diag(e, -1))[1]
    close(of_d, v.T**2)
    close(of_e, 2 * (v[1:] * v[:-1]).T)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.usefixtures("lapack")
def test_schur(dtype: str) -> None:
    x = SQUARE[dtype]
    t, z = map(np.asarray, ours.rsf2csf(*ours.schur(anp.asarray(x))))
    close(z @ t @ adjoint(z), x)
    close(t, np.triu(t))


@pytest.mark.usefixtures("lapack")
def test_stacks_of_roots() -> None:
    x = anp.asarray(np.stack([SQUARE["float64"], DEFINITE["float64"]]))
    roots = ours.sqrtm(x)
    assert roots.shape == x.shape
    close(roots[1], theirs.sqrtm(DEFINITE["float64"]))


@pytest.mark.usefixtures("backend")
def test_stacks() -> None:
    x = anp.asarray(np.stack([SQUARE["float64"], DEFINITE["float64"]]))
    b = anp.asarray(RIGHT["float64"])
    for made in (
        ours.solve_triangular(x, b),
        ours.lu_solve(ours.lu_factor(x), b),
        ours.expm(x),
        ours.toeplitz(x[:, 0], x[:, 1]),
        ours.lu(x)[0],
    ):
        assert made.shape[0] == 2
    with pytest.warns(FutureWarning, match=r"b\[\.\.\., None\]"):
        vectors = ours.lu_solve(ours.lu_factor(x), x[0][:2])
    close(vectors[1], np.linalg.solve(DEFINITE["float64"], SQUARE["float64"][1]))


@pytest.mark.usefixtures("backend")
def test_special_matrices_of_numbers() -> None:
    assert np.isnan(np.asarray(ours.expm(anp.full((2, 2), 1e9)))).all()
    assert ours.expm(anp.zeros((2, 0, 0))).shape == (2, 0, 0)
    assert ours.block_diag().shape == (1, 0)
    assert ours.toeplitz(anp.zeros(0)).shape == (0, 0)


@pytest.mark.usefixtures("lapack")
def test_special_matrices_and_their_schur_forms() -> None:
    one = anp.eye(2)
    assert np.isnan(np.asarray(ours.solve_sylvester(one, -one, one))).all()
    close(ours.sqrtm(anp.zeros((2, 2))), np.zeros((2, 2)))
    close(ours.funm(one * 2, anp.exp), np.exp(2) * np.eye(2))
    assert ours.hessenberg(anp.zeros((0, 0))).shape == (0, 0)


def test_dtypes() -> None:
    with ap.config.override("enable_x64", False):
        assert ours.pascal(3).dtype == ours.hilbert(3).dtype == "float32"
        assert ours.dft(2).dtype == "complex64"
        assert ours.hadamard(2, "int8").dtype == "int8"
        assert ours.expm(anp.eye(2, dtype="int32")).dtype == "float32"
        assert ours.sqrtm(anp.eye(2)).dtype == "complex64"
        assert ours.lu(anp.eye(2) + 0j)[0].dtype == "float32"
        assert ours.toeplitz(anp.arange(3), anp.ones(2)).dtype == "float32"


SMOOTH: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "expm": (lambda m, x: m.expm(x), SQUARE["float64"]),
    "definite": (lambda m, x: m.solve(x, RIGHT["float64"], assume_a="pos"), DEFINITE["float64"]),
    "polar": (lambda m, x: m.polar(x, method="svd")[0], SQUARE["float64"]),
    "companion": (lambda m, x: m.companion(x), V),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name: str) -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    f, x = SMOOTH[name]
    t = random(*x.shape, dtype=x.dtype.name, seed=5)
    with jax.enable_x64(True):
        value, push = jax.jvp(lambda x: f(jax.scipy.linalg, x), (x,), (t,))
        ct = random(*value.shape, dtype=value.dtype.name, seed=6)
        pull = jax.vjp(lambda x: f(jax.scipy.linalg, x), x)[1](jax.numpy.asarray(ct))[0]
    mine = anp.asarray(x)
    close(ap.jvp(lambda x: f(ours, x), (mine,), (anp.asarray(t),))[1], push)
    close(ap.vjp(lambda x: f(ours, x), mine)[1](anp.asarray(ct))[0], pull)


def test_derivatives_that_jax_lacks() -> None:
    a, b = anp.asarray(DEFINITE["float64"]), anp.asarray(SQUARE["float64"])
    # The trace of the square root of A has the derivative A^(-1/2) / 2.
    slope = ap.grad(lambda x: anp.trace(ours.sqrtm(x)).real)(a)
    close(slope, np.linalg.inv(theirs.sqrtm(DEFINITE["float64"])) / 2)

    def sylvester(x: Any) -> Any:
        return ours.solve_sylvester(x, a, b).sum()

    t = anp.asarray(RIGHT["float64"] @ RIGHT["float64"].T)
    step = 1e-6
    numeric = (sylvester(a + step * t) - sylvester(a - step * t)) / (2 * step)
    assert float((ap.grad(sylvester)(a) * t).sum()) == pytest.approx(float(numeric), rel=1e-6)


ONE = anp.ones((2, 3))
MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "assume": (lambda: ours.solve(ONE, ONE, assume_a="x"), ValueError, "assume_a"),
    "rows": (lambda: ours.solve_triangular(anp.eye(2), anp.ones(3)), ValueError, "as many rows"),
    "trans": (lambda: ours.solve_triangular(anp.eye(2), anp.ones(2), "X"), ValueError, "trans"),
    "lu trans": (
        lambda: ours.lu_solve(ours.lu_factor(anp.eye(2)), anp.ones(2), 3),
        ValueError,
        "trans",
    ),
    "type": (lambda: ours.eigh(anp.eye(2), type=4), ValueError, "type"),
    "eigvals": (lambda: ours.eigh(anp.eye(2), eigvals=(0, 1)), NotImplementedError, "part"),
    "mode": (lambda: ours.qr(ONE, mode="raw"), ValueError, "economic"),
    "multiply": (lambda: ours.qr_multiply(ONE, anp.ones((2, 3))), ValueError, "does not fit"),
    "output": (lambda: ours.schur(anp.eye(2), "x"), ValueError, "output"),
    "side": (lambda: ours.polar(ONE, "up"), ValueError, "side"),
    "method": (lambda: ours.polar(ONE, method="x"), ValueError, "qdwh"),
    "values": (
        lambda: ours.eigh_tridiagonal(anp.ones(2), anp.ones(1), select="v"),
        NotImplementedError,
        "'v'",
    ),
    "beside": (lambda: ours.eigh_tridiagonal(anp.ones(2), anp.ones(2)), ValueError, "n - 1"),
    "expm": (lambda: ours.expm(ONE), ValueError, r"\[\.\.\., n, n\]"),
    "blocks": (lambda: ours.sqrtm(anp.eye(2), blocksize=2), NotImplementedError, "blocksize"),
    "funm": (lambda: ours.funm(anp.ones((2, 2, 2)), anp.exp), ValueError, "one square"),
    "sylvester": (lambda: ours.solve_sylvester(ONE[:, :2], ONE[:, :2], ONE), ValueError, "fit"),
    "leslie": (lambda: ours.leslie(anp.ones(3), anp.ones(3)), ValueError, "one element less"),
    "companion": (lambda: ours.companion(anp.ones(1)), ValueError, "2 elements"),
    "hankel": (lambda: ours.hankel(1.0), ValueError, "an axis"),
    "matrix": (lambda: ours.convolution_matrix(anp.ones(2), 0), ValueError, "n=0"),
    "blocks of three": (lambda: ours.block_diag(anp.ones((1, 1, 1))), ValueError, "matrices"),
    "hadamard": (lambda: ours.hadamard(6), ValueError, "power of 2"),
    "kind": (lambda: ours.pascal(2, "x"), ValueError, "kind"),
    "dft": (lambda: ours.dft(2, dtype="float32"), ValueError, "complex"),
    "scale": (lambda: ours.dft(2, "m"), ValueError, "scale"),
    "missing": (lambda: ours.logm, AttributeError, "no attribute"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_messages(mistake: str) -> None:
    call, error, match = MISTAKES[mistake]
    with pytest.raises(error, match=match):
        call()
