"""Kernels of linear algebra on NumPy and CuPy, which give NaN where LAPACK refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from arrayport.core.array import Aval
from arrayport.core.lazy import Lazy
from arrayport.core.primitive import Primitive
from arrayport.ops.linalg import (
    cholesky_p,
    det_p,
    lu_p,
    lu_pivots_p,
    slogdet_p,
    solve_p,
    triangular_solve_p,
)
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows

HOST = Lazy("scipy.linalg")


def each(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
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


def by_matrix(
    prim: Primitive, rank: int, factor: Callable[..., Sequence[Any]]
) -> Callable[..., Any]:
    """Make NumPy's kernel of a function of single matrices.

    The first operand has `rank` axes apart from the stack's. What is not finite makes NaN.
    """

    def run(_lib: Lib, *xs: Any, **params: Any) -> Any:
        stated = prim.abstract(*[Aval(x.shape, x.dtype) for x in xs], **params)
        outs = [np.zeros(a.shape, a.dtype) for a in (stated if prim.many else [stated])]
        for i in np.ndindex(*xs[0].shape[: xs[0].ndim - rank]):
            parts = [x[i] for x in xs]
            if all(np.isfinite(part).all() for part in parts):
                for out, part in zip(outs, factor(*parts, **params), strict=True):
                    out[i] = part
            else:
                for out in outs:
                    out[i] = np.nan if out.dtype.kind in "fc" else 0
        return outs if prim.many else outs[0]

    return run


def lapack(name: str, *xs: Any) -> Callable[..., Any]:
    """Find a routine of LAPACK for the dtype of host arrays."""
    return HOST.get_lapack_funcs((name,), xs)[0]


def or_nan(lib: Lib, factor: Callable[..., Any], x: Any) -> Any:
    """Factor; what LAPACK refuses becomes NaN."""

    def lost(matrix: Any) -> Any:
        made = factor(lib.xp.eye(*matrix.shape, dtype=matrix.dtype))
        if isinstance(made, tuple):
            return tuple(lib.xp.full_like(part, lib.xp.nan) for part in made)
        return lib.xp.full_like(made, lib.xp.nan)

    return _patiently(lib, factor, lost, x)


def cholesky(lib: Lib, x: Any) -> Any:
    """Factor; of a matrix that is not positive definite the lower triangle is NaN."""
    made = or_nan(lib, lib.xp.linalg.cholesky, x)
    lost = not_positive(made)  # NaN, which LAPACK lets through
    return nan_where(lib, lost, made) if lost.any() else made


def not_positive(factors: Any) -> Any:
    """Of each factor, whether a pivot is no positive number."""
    pivots = factors.diagonal(axis1=-2, axis2=-1)
    return ~(pivots.real > 0).all(axis=-1)


def nan_where(lib: Lib, lost: Any, factors: Any) -> Any:
    """Lower triangles, of NaN where they are lost."""
    xp = lib.xp
    return xp.tril(xp.where(lost[..., None, None], xp.asarray(xp.nan, factors.dtype), factors))


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
    (trsm,) = lib.scipy_linalg.get_blas_funcs(("trsm",), (a, b))
    # BLAS has its matrices in columns, so it is given the transposed equation.
    options = {"side": left_side, "lower": not lower, "trans_a": mode, "diag": unit_diagonal}
    if b.ndim == 2:
        return trsm(1, a.T, b.T, **options).T
    out = lib.xp.empty_like(b, order="C")
    for i in each(b.shape):
        out[i] = trsm(1, a[i].T, b[i].T, **options).T
    return out


def lu(lib: Lib, x: Any) -> list[Any]:
    """Factor with partial pivoting; also the pivots, and the order of rows that they make."""
    packed, pivots = factored(lib, lapack("getrf", x), x)
    return [packed, pivots, lu_pivots_to_permutation(lib, pivots, x.shape[-2])]


def factored(lib: Lib, factor: Callable[..., Any], x: Any) -> tuple[Any, Any]:
    """Factors and pivots of a stack, one matrix after the other."""
    packed = lib.xp.empty(x.shape, x.dtype)
    pivots = lib.xp.empty((*x.shape[:-2], min(x.shape[-2:])), np.int32)
    if x.size:
        for i in each(x.shape):
            packed[i], pivots[i] = factor(x[i])[:2]
    return packed, pivots


def lu_pivots_to_permutation(lib: Lib, pivots: Any, permutation_size: int) -> Any:
    """Exchange rows one after the other."""
    rows = lib.xp.arange(permutation_size, dtype=np.int32)
    order = lib.xp.broadcast_to(rows, (*pivots.shape[:-1], permutation_size)).copy()
    for i in np.ndindex(*pivots.shape[:-1]):
        for j, k in enumerate(pivots[i].tolist()):
            order[i][[j, k]] = order[i][[k, j]]
    return order


def slogdet(lib: Lib, x: Any) -> list[Any]:
    """Sign and logarithm of the determinant."""
    sign, log = lib.xp.linalg.slogdet(x)
    lost = lib.xp.asarray(lib.xp.isnan(log))
    return [lib.xp.where(lost, lib.xp.asarray(lib.xp.nan, sign.dtype), sign), log]


ROWS: Rows = {
    cholesky_p: Kernel(cholesky, price=20.0),
    triangular_solve_p: Kernel(triangular_solve, price=40.0),
    solve_p: Kernel(solve, price=10.0),
    det_p: Kernel("linalg.det", price=14.0),
    slogdet_p: Kernel(slogdet, price=14.0),
    lu_p: Kernel(lu, price=200.0),
    lu_pivots_p: Kernel(lu_pivots_to_permutation),
}
