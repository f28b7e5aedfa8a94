"""Linear equations, by factors at hand and of special form; determinants and inverses."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from arrayport.control.custom_jvp import custom_jvp
from arrayport.control.loops import fori_loop
from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy import linalg
from arrayport.numpy.arguments import arrayed
from arrayport.numpy.indexing import take_along_axis
from arrayport.numpy.reductions import min
from arrayport.numpy.searching import argsort
from arrayport.ops import linalg as ops
from arrayport.ops import spectra
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import abs, real, select
from arrayport.ops.linalg import adjoint, as_column, as_row, main_diagonal, with_diagonal
from arrayport.ops.products import matmul
from arrayport.ops.promotion import common_shape, promote_inexact
from arrayport.ops.structure import broadcast_to, constant, convert, reduce_sum, reshape, zeros
from arrayport.scipy.linalg.decompositions import cholesky

__all__ = [
    "cho_solve",
    "det",
    "inv",
    "lu_solve",
    "solve",
    "solve_sylvester",
    "solve_triangular",
]


@unit("a")
def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """Give the determinants of square matrices. Source: ``jax.scipy.linalg.det``.

    >>> import arrayport.numpy as anp
    >>> det(anp.array([[1.0, 2.0], [3.0, 4.0]])).round(4)
    Array(-2., dtype=float32)
    """
    del overwrite_a, check_finite
    return linalg.det(a)


def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """Invert square matrices. Source: ``jax.scipy.linalg.inv``.

    >>> import arrayport.numpy as anp
    >>> inv(anp.array([[0.0, 2.0], [4.0, 0.0]]))
    Array([[0.  , 0.25],
           [0.5 , 0.  ]], dtype=float32)
    """
    del overwrite_a, check_finite
    return linalg.inv(a)


def _solved(name: str, a: Any, b: Any, solver: Callable[[Array, Array], Array]) -> Array:
    """Solve for matrices or, if b has one axis, a vector; leading axes broadcast."""
    x, y = promote_inexact((a, b), name)
    ops.checked(name, x)
    n = x.shape[-1]
    vector = len(y.shape) == 1
    if len(y.shape) + 1 == len(x.shape) > 2 and y.shape[-1] == n:
        warnings.warn(
            f"{name}: a stack of vectors b will be taken for matrices: give b[..., None]",
            FutureWarning,
            stacklevel=3,
        )
        vector = True
    rows = reshape(y, (*y.shape, 1)) if vector else y
    if len(rows.shape) < 2 or rows.shape[-2] != n:
        raise ValueError(f"{name}: b of shape {y.shape} must have as many rows as {x.shape}")
    lead = common_shape(x.shape[:-2], rows.shape[:-2])
    found = solver(broadcast_to(x, (*lead, n, n)), broadcast_to(rows, (*lead, *rows.shape[-2:])))
    return reshape(found, found.shape[:-1]) if vector else found


def solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    debug: bool = False,
    check_finite: bool = True,
    assume_a: str = "gen",
) -> Array:
    """Solve A X = B, for A that is general or ("pos") Hermitian positive definite.

    Of a definite one a triangle is read. "sym" and "her" are taken for general. Raises ValueError
    for another `assume_a` and shapes that do not fit. Source: ``jax.scipy.linalg.solve``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import solve
    >>> solve(anp.array([[4.0]]), anp.array([2.0]), assume_a="pos")
    Array([0.5], dtype=float32)
    """
    del overwrite_a, overwrite_b, debug, check_finite
    if assume_a not in {"gen", "sym", "her", "pos"}:
        raise ValueError(f"solve: assume_a must be gen, sym, her or pos, not {assume_a!r}")
    if assume_a != "pos":
        return linalg.solve(a, b)
    return _solved("solve", a, b, partial(_definite, lower=lower))


@partial(custom_jvp, nondiff_argnames=("lower",))
def _definite(a: Array, b: Array, lower: bool) -> Array:
    return _by_factor(cholesky(a, lower), b, lower)


@_definite.defjvp
def _definite_jvp(lower: bool, primals: Any, tangents: Any) -> tuple[Array, Array]:
    """Differentiate A X = B: A X' = B' - A' X."""
    (a, b), (da, db) = primals, tangents
    factor = cholesky(a, lower)
    x = _by_factor(factor, b, lower)
    return x, _by_factor(factor, db - matmul(da, x), lower)


def cho_solve(
    c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True
) -> Array:
    """Solve A X = B by what `cho_factor` gave for A.

    Raises ValueError for shapes that do not fit. Source: ``jax.scipy.linalg.cho_solve``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import cho_factor, cho_solve
    >>> cho_solve(cho_factor(anp.array([[4.0]])), anp.array([2.0]))
    Array([0.5], dtype=float32)
    """
    del overwrite_b, check_finite
    factor, lower = c_and_lower
    return _solved("cho_solve", factor, b, partial(_by_factor, lower=lower))


@unit("factor", "b")
def _by_factor(factor: Array, b: Array, lower: bool) -> Array:
    """Solve with a triangular factor and its adjoint, the lower one first."""
    half = ops.triangular_solve(
        factor, b, left_side=True, lower=lower, transpose_a=not lower, conjugate_a=not lower
    )
    return ops.triangular_solve(
        factor, half, left_side=True, lower=lower, transpose_a=lower, conjugate_a=lower
    )


def lu_solve(
    lu_and_piv: tuple[Any, Any],
    b: Any,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """Solve A X = B, or with A^T (trans=1) or A^H (2), by what `lu_factor` gave for A.

    Raises ValueError for another `trans` and shapes that do not fit. Source:
    ``jax.scipy.linalg.lu_solve``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import lu_factor, lu_solve
    >>> lu_solve(lu_factor(anp.array([[0.0, 1.0], [2.0, 0.0]])), anp.array([3.0, 4.0]))
    Array([2., 3.], dtype=float32)
    """
    del overwrite_b, check_finite
    if trans not in {0, 1, 2}:
        raise ValueError(f"lu_solve: trans must be 0, 1 or 2, not {trans!r}")
    packed, pivots = lu_and_piv
    order = ops.lu_pivots_to_permutation(pivots, arrayed(packed, "lu").shape[-1])
    return _solved("lu_solve", packed, b, partial(_by_pieces, order=order, trans=trans))


@unit("packed", "b", "order")
def _by_pieces(packed: Array, b: Array, order: Array, trans: int) -> Array:
    """Solve with L and U in the order of rows, or with their transposes in the other."""
    order = broadcast_to(order, packed.shape[:-1])
    unit, upper = (
        partial(
            ops.triangular_solve,
            packed,
            left_side=True,
            lower=lower,
            unit_diagonal=lower,
            transpose_a=trans > 0,
            conjugate_a=trans == 2,
        )
        for lower in (True, False)
    )
    if not trans:
        return upper(b=unit(b=_rows(b, order)))
    return _rows(unit(b=upper(b=b)), argsort(order, axis=-1))


def _rows(x: Array, order: Array) -> Array:
    return take_along_axis(x, reshape(order, (*order.shape, 1)), axis=-2)


def solve_triangular(
    a: Any,
    b: Any,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Array:
    """Solve A X = B for triangular A, or A^T (trans 1 or "T"), or A^H (2 or "C").

    A zero on the diagonal gives inf or NaN. Raises ValueError for another `trans` and shapes that
    do not fit. Source: ``jax.scipy.linalg.solve_triangular``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import solve_triangular
    >>> solve_triangular(anp.array([[2.0, 1.0], [0.0, 1.0]]), anp.array([3.0, 1.0]))
    Array([1., 1.], dtype=float32)
    """
    del overwrite_b, debug, check_finite
    mode = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}.get(trans)
    if mode is None:
        raise ValueError(f"solve_triangular: trans must be 0, 1, 2, 'N', 'T' or 'C', not {trans!r}")
    solver = partial(
        ops.triangular_solve,
        left_side=True,
        lower=lower,
        transpose_a=mode > 0,
        conjugate_a=mode == 2,
        unit_diagonal=unit_diagonal,
    )
    return _solved("solve_triangular", a, b, solver)


# ---- Sylvester's equation


@unit("A", "B", "C")
def solve_sylvester(A: Any, B: Any, C: Any, *, method: str = "schur", tol: float = 1e-8) -> Array:
    """Solve A X + X B = C by decompositions of A and B: "schur" or "eigen".

    Where an eigenvalue of A and one of B have a sum of less than `tol` all is NaN. Raises
    ValueError for another method and shapes that do not fit. Source:
    ``jax.scipy.linalg.solve_sylvester``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import solve_sylvester
    >>> solve_sylvester(anp.array([[1.0]]), anp.array([[2.0]]), anp.array([[6.0]]))
    Array([[2.]], dtype=float32)
    """
    if method not in {"schur", "eigen"}:
        raise ValueError(f"solve_sylvester: method must be 'schur' or 'eigen', not {method!r}")
    a, b, c = promote_inexact((A, B, C), "solve_sylvester")
    m, n = ops.checked("solve_sylvester", c, square=False)[-2:]
    if ops.checked("solve_sylvester", a)[-1] != m or ops.checked("solve_sylvester", b)[-1] != n:
        raise ValueError(
            f"solve_sylvester: shapes {a.shape}, {b.shape} and {c.shape} do not fit: A must have "
            "C's rows and B its columns"
        )
    lead = common_shape(a.shape[:-2], b.shape[:-2], c.shape[:-2])
    full = (broadcast_to(x, (*lead, *x.shape[-2:])) for x in (a, b, c))
    return _smooth_sylvester(*full, method, tol)


def sylvester(a: Array, b: Array, c: Array, method: str, tol: float) -> Array:
    """Solve A X + X B = C for operands of one dtype and equal leading axes."""
    kind = dtypes.complex_dtype(c.dtype)
    whole = [convert(x, kind) for x in (a, b, c)]
    x, least = (_by_schur if method == "schur" else _by_eigenvalues)(*whole)
    x = x if dtypes.is_complex(c.dtype) else real(x)
    lost = reshape(least < tol, (*least.shape, 1, 1))
    return select(lost, constant(float("nan"), x), x)


@partial(custom_jvp, nondiff_argnums=(3, 4))
def _smooth_sylvester(a: Array, b: Array, c: Array, method: str, tol: float) -> Array:
    return sylvester(a, b, c, method, tol)


@_smooth_sylvester.defjvp
def _sylvester_jvp(method: str, tol: float, primals: Any, tangents: Any) -> tuple[Array, Array]:
    """Differentiate A X + X B = C: A X' + X' B = C' - A' X - X B'."""
    (a, b, c), (da, db, dc) = primals, tangents
    x = sylvester(a, b, c, method, tol)
    return x, sylvester(a, b, dc - matmul(da, x) - matmul(x, db), method, tol)


def _least_sum(v: Array, w: Array) -> Array:
    """Give the least modulus of a sum of one eigenvalue each."""
    shape = (*v.shape, w.shape[-1])
    return min(abs(as_column(v, shape) + as_row(w, shape)), axis=(-2, -1), initial=float("inf"))


def _by_schur(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Solve R Y + Y S = F for triangular R and S, a column of Y after the other."""
    r, u = spectra.schur(a)
    s, v = spectra.schur(b)
    f = matmul(adjoint(u), matmul(c, v))
    low, high = main_diagonal(r), main_diagonal(s)
    last = len(f.shape) - 1
    numbers = _number(f)

    def column(j: Array, y: Array) -> Array:
        here = numbers == j
        rest = reduce_sum(select(here, f - matmul(y, s), constant(0, f)), (last,))
        own = reduce_sum(select(_number(high) == j, high, constant(0, high)), (last - 1,))
        shifted = with_diagonal(r, r + reshape(own, (*own.shape, 1, 1)))
        found = ops.triangular_solve(
            shifted, reshape(rest, (*rest.shape, 1)), left_side=True, lower=False
        )
        return select(here, found, y)

    y = fori_loop(0, f.shape[-1], column, zeros(f))
    return matmul(u, matmul(y, adjoint(v))), _least_sum(low, high)


def _number(x: Array) -> Array:
    """Give the elements of the last axis their numbers."""
    return iota_like(x, dtypes.int32, len(x.shape) - 1)


def _by_eigenvalues(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Divide by the sums of eigenvalues."""
    low, u = linalg.eig(a)
    high, v = linalg.eig(b)
    f = matmul(linalg.solve(u, c), v)
    y = f / (as_column(low, f.shape) + as_row(high, f.shape))
    return matmul(matmul(u, y), linalg.inv(v)), _least_sum(low, high)
