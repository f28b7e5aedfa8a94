"""Stacks of small matrices, as many at once as a vector has lanes, are as LAPACK has them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from arrayport_backends.numpy import llvm

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax

pytestmark = [
    pytest.mark.skipif(not llvm.available(), reason="there is nothing to test without LLVM"),
    pytest.mark.usefixtures("at_once", "wide"),
]
DTYPES = ["float32", "float64", "complex64", "complex128"]
SIZES = [((), 1, 1), ((3,), 4, 2), ((2, 9), 3, 5), ((17,), 16, 2)]  # stack, rows, right-hand sides


def drawn(dtype, *shapes):
    draws = np.random.default_rng(5)
    made = [draws.standard_normal(shape) for shape in shapes]
    if np.dtype(dtype).kind == "c":
        made = [x + 1j * draws.standard_normal(x.shape) for x in made]
    return [x.astype(dtype) for x in made]


def native(function, *args):
    """Compile a function that must become code altogether, and run it."""
    compiled = ap.jit(function)
    args = tuple(map(anp.asarray, args))
    assert "calls" not in compiled.lower(*args).as_text("schedule")
    return ap.tree.map(np.asarray, compiled(*args))


def close(found, expected, dtype, scale=1e3):
    bound = scale * np.finfo(dtype).eps
    np.testing.assert_allclose(found, expected, bound, bound * np.abs(expected).max())


@pytest.mark.parametrize("dtype", DTYPES)
def test_solutions(dtype):
    wide = np.result_type(dtype, "float64")
    for stack, n, m in SIZES:
        a, b = drawn(dtype, (*stack, n, n), (*stack, n, m))
        close(native(anp.linalg.solve, a, b), np.linalg.solve(a.astype(wide), b), dtype)


def test_triangles():
    dtype, n = "complex128", 5
    a, b = drawn(dtype, (3, n, n), (3, n, n))
    a = a + 3 * np.eye(n, dtype=dtype)
    for left, lower, turned, conjugated in product([False, True], repeat=4):
        unit = lower == turned
        t = np.tril(a) if lower else np.triu(a)
        if unit:
            t = np.tril(t, -1) + np.triu(t, 1) + np.eye(n)
        t = t.conj() if conjugated else t
        t = t.swapaxes(-1, -2) if turned else t
        inverse = np.linalg.inv(t)
        options = {
            "left_side": left,
            "lower": lower,
            "transpose_a": turned,
            "conjugate_a": conjugated,
            "unit_diagonal": unit,
        }
        found = native(lambda a, b, o=options: lax.linalg.triangular_solve(a, b, **o), a, b)
        close(found, inverse @ b if left else b @ inverse, dtype, 1e4)


def decomposed(a, b):
    found = lax.linalg.lu(a), lax.linalg.lu(b), anp.linalg.det(a), anp.linalg.inv(a)
    return (*found, anp.linalg.slogdet(a)) if a.dtype.kind == "f" else found


@pytest.mark.parametrize(("dtype", "size"), list(zip(DTYPES, [1, 2, 0, 3], strict=True)))
def test_determinants_and_factors(dtype, size):
    (stack, n, m), wide = SIZES[size], np.result_type(dtype, "float64")
    a, b = (x * np.asarray(9, dtype) for x in drawn(dtype, (*stack, n, n), (*stack, n, m)))
    *factors, det, inverse = (found := native(decomposed, a, b))[:4]
    close(det, np.linalg.det(a.astype(wide)), dtype)
    close(inverse, np.linalg.inv(a.astype(wide)), dtype, 1e4)
    for x, (packed, pivots, order) in zip((a, b), factors, strict=True):
        k = min(x.shape[-2:])
        lower = np.tril(packed[..., :k], -1) + np.eye(x.shape[-2], k, dtype=dtype)
        rows = np.take_along_axis(x, order[..., None].astype(int), -2)
        close(lower @ np.triu(packed[..., :k, :]), rows, dtype)
        assert np.abs(lower).max() <= (1.5 if np.dtype(dtype).kind == "c" else 1)
        again = lax.linalg.lu_pivots_to_permutation(anp.asarray(pivots), x.shape[-2])
        np.testing.assert_array_equal(np.asarray(again), order)
    if np.dtype(dtype).kind == "f":
        for one, other in zip(found[4], np.linalg.slogdet(a.astype(wide)), strict=True):
            close(one, other, dtype)


def test_determinants_of_singular_matrices():
    a = np.array([[[1.0, 2], [2, 4]], [[0, 2], [4, 0]], [[0, 0], [0, 0]], [[np.nan, 1], [1, 1]]])
    np.testing.assert_array_equal(native(anp.linalg.det, a), [0, -8, 0, np.nan])
    sign, log = native(lambda x: tuple(anp.linalg.slogdet(x)), a)
    np.testing.assert_array_equal(sign, [0, -1, 0, np.nan])
    np.testing.assert_allclose(log, [-np.inf, np.log(8), -np.inf, np.nan], 1e-15)


def test_determinants_with_an_infinite_pivot():
    """Of real numbers it has a sign; of complex ones NumPy's, too, are NaN."""
    a = np.eye(5) + np.diag(np.full(4, 0.5), 1)
    a[4, 4] = -np.inf
    assert native(anp.linalg.det, a) == -np.inf
    assert np.isnan(native(anp.linalg.det, a * (1 + 1j)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_of_cholesky(dtype):
    for stack, n, _ in SIZES:
        (a,) = drawn(dtype, (*stack, n, n))
        a = a @ a.conj().swapaxes(-1, -2) + n * np.eye(n, dtype=dtype)
        close(native(lax.linalg.cholesky, a), np.linalg.cholesky(a), dtype)


def test_a_matrix_that_is_not_positive_definite_alone_is_lost():
    a = np.stack([np.eye(3), -np.eye(3), np.diag([1.0, 0, 1]), 4 * np.eye(3)])
    found = native(lax.linalg.cholesky, a)
    lost = np.tril(np.full((3, 3), np.nan))
    np.testing.assert_array_equal(found, np.stack([np.eye(3), lost, lost, 2 * np.eye(3)]))


def test_singular_matrices_divide_by_their_zero_pivots():
    a = np.array([[[1.0, 2], [2, 4]], [[2, 0], [0, 4]], [[0, 0], [0, 0]], [[np.nan, 1], [1, 1]]])
    b = np.array([[[1.0], [3]], [[2], [4]], [[1], [0]], [[1], [1]]])
    found = native(anp.linalg.solve, a, b)
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    with jax.enable_x64(True):
        np.testing.assert_array_equal(found, np.asarray(jax.numpy.linalg.solve(a, b)))


def test_rows_change_places_matrix_by_matrix():
    orders = np.array([np.random.default_rng(i).permutation(6) for i in range(20)])
    a = np.eye(6)[orders] * (1 + np.arange(6.0))
    b = np.arange(20 * 6.0).reshape(20, 6, 1)
    np.testing.assert_allclose(a @ native(anp.linalg.solve, a, b), b, 1e-14)


def test_solutions_in_loops_and_their_derivatives():
    a, b = drawn("float64", (5, 4, 4), (5, 4))
    a += 4 * np.eye(4)

    def refined(a, b):
        return lax.fori_loop(0, 3, lambda _, x: x + ap.vmap(anp.linalg.solve)(a, b - x), b)

    x = np.linalg.solve(a, b[..., None])[..., 0]
    expected = b
    for _ in range(3):
        expected = expected + np.linalg.solve(a, (b - expected)[..., None])[..., 0]
    close(native(refined, a, b), expected, "float64")

    def size(a):
        return anp.sum(ap.vmap(anp.linalg.solve)(a, anp.asarray(b)) ** 2)

    pulled = np.linalg.solve(a.swapaxes(-1, -2), 2 * x[..., None])
    close(native(ap.grad(size), a), -pulled * x[:, None, :], "float64", 1e4)


def test_larger_matrices_stay_with_lapack():
    a, b = drawn("float32", (2, 17, 17), (2, 17, 1))
    assert "calls" in ap.jit(anp.linalg.solve).lower(a, b).as_text("schedule")
