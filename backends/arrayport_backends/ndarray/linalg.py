"""Kernels of linear algebra on NumPy and CuPy, which give NaN where LAPACK refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from arrayport.ops.linalg import (
    cholesky_p,
    det_p,
    eigh_p,
    lu_p,
    qr_p,
    slogdet_p,
    solve_p,
    svd_p,
    triangular_solve_p,
)
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows


def _each(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """List the indices of the matrices in a stack."""
    return np.ndindex(*shape[:-2])


def _patiently(lib: Lib, factor: Callable[..., Any], instead: Callable[..., Any], *xs: Any) -> Any:
    """Factor a stack at once, or one by one if LAPACK refuses any: `instead` gives that one's."""
    try:
        return factor(*xs)
    except np.linalg.LinAlgError:
        if xs[0].ndim == 2:
            return instead(*xs)
        each = [_patiently(lib, factor, instead, *(x[i] for x in xs)) for i in range(len(xs[0]))]
        if isinstance(each[0], tuple):
            return tuple(lib.xp.stack(parts) for parts in zip(*each, strict=True))
        return lib.xp.stack(each)


def _or_nan(lib: Lib, factor: Callable[..., Any], x: Any) -> Any:
    """Factor; what LAPACK refuses becomes NaN."""

    def lost(matrix: Any) -> Any:
        made = factor(lib.xp.eye(*matrix.shape, dtype=matrix.dtype))
        if isinstance(made, tuple):
            return tuple(lib.xp.full_like(part, lib.xp.nan) for part in made)
        return lib.xp.full_like(made, lib.xp.nan)

    return _patiently(lib, factor, lost, x)


def cholesky(lib: Lib, x: Any) -> Any:
    """Factor; of a matrix that is not positive definite the lower triangle is NaN."""
    xp = lib.xp
    made = _or_nan(lib, xp.linalg.cholesky, x)
    # CuPy does not refuse: it leaves a pivot that is no positive number.
    pivots = xp.diagonal(made, axis1=-2, axis2=-1)
    lost = ~(pivots.real > 0).all(axis=-1)
    if lib.name != "numpy" or lost.any():
        made = xp.tril(xp.where(lost[..., None, None], xp.asarray(xp.nan, made.dtype), made))
    return made


def solve(lib: Lib, a: Any, b: Any) -> Any:
    """Solve; a singular matrix gives what dividing by its zero pivots does."""
    if not b.size:
        return lib.xp.empty_like(b)

    def eliminate(matrix: Any, rows: Any) -> Any:
        packed, _, order = lu(lib, matrix)
        half = _substitute(lib, packed, rows[order], True, True, 0, True)
        return _substitute(lib, packed, half, True, False, 0, False)

    return _patiently(lib, lib.xp.linalg.solve, eliminate, a, b)


def triangular_solve(
    lib: Lib,
    a: Any,
    b: Any,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool,
    conjugate_a: bool,
    unit_diagonal: bool,
) -> Any:
    """Substitute, matrix by matrix; a zero pivot divides."""
    xp = lib.xp
    if not b.size:
        return xp.empty_like(b)
    if conjugate_a and not transpose_a:
        a = a.conj()
    mode = (2 if conjugate_a else 1) if transpose_a else 0
    return _substitute(lib, a, b, left_side, lower, mode, unit_diagonal)


def _substitute(
    lib: Lib, a: Any, b: Any, left_side: bool, lower: bool, mode: int, unit_diagonal: bool
) -> Any:
    """Substitute; mode 0 takes the matrix as it is, 1 transposed, 2 conjugated as well."""
    xp = lib.xp
    if lib.name == "numpy":
        (trsm,) = lib.scipy_linalg.get_blas_funcs(("trsm",), (a, b))
        # BLAS has its matrices in columns, so it is given the transposed equation.
        options = {"side": left_side, "lower": not lower, "trans_a": mode, "diag": unit_diagonal}
        if b.ndim == 2:
            return trsm(1, a.T, b.T, **options).T
        out = xp.empty_like(b, order="C")
        for i in _each(b.shape):
            out[i] = trsm(1, a[i].T, b[i].T, **options).T
        return out
    if not left_side:  # X op(A) = B is op(A)^T X^T = B^T
        if mode == 2:
            a, mode = a.conj(), 1
        mode, b = 1 - mode, xp.swapaxes(b, -1, -2)
    out = xp.empty(b.shape, b.dtype)
    for i in _each(b.shape):
        out[i] = lib.scipy_linalg.solve_triangular(
            a[i], b[i], trans=mode, lower=lower, unit_diagonal=unit_diagonal
        )
    return out if left_side else xp.swapaxes(out, -1, -2)


def lu(lib: Lib, x: Any) -> list[Any]:
    """Factor with partial pivoting; also the pivots, and the order of rows that they make."""
    xp = lib.xp
    *lead, m, n = x.shape
    packed = xp.empty(x.shape, x.dtype)
    pivots = xp.empty((*lead, min(m, n)), xp.int32)
    order = np.empty((*lead, m), np.int32)
    order[...] = np.arange(m, dtype=np.int32)
    if x.size:
        if lib.name == "numpy":
            (factor,) = lib.scipy_linalg.get_lapack_funcs(("getrf",), (x,))
        else:
            factor = lib.scipy_linalg.lu_factor
        for i in _each(x.shape):
            found = factor(x[i])
            packed[i], pivots[i] = found[0], found[1]
    swaps = pivots if lib.name == "numpy" else pivots.get()
    for i in _each(x.shape):
        rows = order[i]
        for j, k in enumerate(swaps[i].tolist()):
            rows[j], rows[k] = rows[k], rows[j]
    return [packed, pivots, xp.asarray(order)]


def eigh(lib: Lib, x: Any, lower: bool) -> list[Any]:
    """Decompose; NaN stays NaN."""
    side = "L" if lower else "U"

    def decompose(matrices: Any) -> tuple[Any, Any]:
        values, vectors = lib.xp.linalg.eigh(matrices, side)
        return vectors, values

    return list(_or_nan(lib, decompose, x))


def slogdet(lib: Lib, x: Any) -> list[Any]:
    """Sign and logarithm of the determinant."""
    sign, log = lib.xp.linalg.slogdet(x)
    return [sign, log]


def qr(lib: Lib, x: Any, full_matrices: bool) -> list[Any]:
    """Decompose by Householder reflections."""
    q, r = lib.xp.linalg.qr(x, "complete" if full_matrices else "reduced")
    return [q, r]


def svd(lib: Lib, x: Any, full_matrices: bool, compute_uv: bool) -> list[Any]:
    """Decompose; NaN stays NaN."""
    if not compute_uv:
        return [_or_nan(lib, partial(lib.xp.linalg.svd, compute_uv=False), x)]

    def decompose(matrices: Any) -> tuple[Any, Any, Any]:
        u, s, vh = lib.xp.linalg.svd(matrices, full_matrices)
        return s, u, vh

    return list(_or_nan(lib, decompose, x))


ROWS: Rows = {
    cholesky_p: Kernel(cholesky),
    triangular_solve_p: Kernel(triangular_solve),
    solve_p: Kernel(solve),
    det_p: Kernel("linalg.det"),
    slogdet_p: Kernel(slogdet),
    lu_p: Kernel(lu),
    eigh_p: Kernel(eigh),
    qr_p: Kernel(qr),
    svd_p: Kernel(svd),
}
