"""Decompositions of matrices and the solution of linear equations, over any leading axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.errors import NotDifferentiableError
from arrayport.core.primitive import Binary, Primitive, Rule, Unary
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import conj, div, real, select
from arrayport.ops.products import matmul
from arrayport.ops.promotion import inexact, lift, promote_inexact
from arrayport.ops.reductions import reduce_prod
from arrayport.ops.shapes import pad
from arrayport.ops.slices import static_slice
from arrayport.ops.structure import (
    batch_to_front,
    broadcast_in_dim,
    constant,
    convert,
    full_like,
    move_axis,
    reduce_sum,
    reshape,
    transpose,
    zeros,
)

DType = np.dtype[Any]
Shape = tuple[int, ...]
SOLVABLE = (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)  # as LAPACK

# ---- parts of matrices


def matrix_transpose(x: Array) -> Array:
    """Exchange the last two axes."""
    rank = len(x.shape)
    return transpose(x, (*range(rank - 2), rank - 1, rank - 2))


def adjoint(x: Array) -> Array:
    """Exchange the last two axes and conjugate."""
    return conj(matrix_transpose(x)) if dtypes.is_complex(x.dtype) else matrix_transpose(x)


def _rows_minus_columns(x: Array) -> Array:
    rank = len(x.shape)
    return iota_like(x, dtypes.int32, rank - 2) - iota_like(x, dtypes.int32, rank - 1)


def lower_part(x: Array, k: int = 0) -> Array:
    """Zero what lies above the k-th diagonal."""
    return select(_rows_minus_columns(x) >= -k, x, constant(0, x))


def upper_part(x: Array, k: int = 0) -> Array:
    """Zero what lies below the k-th diagonal."""
    return select(_rows_minus_columns(x) <= -k, x, constant(0, x))


def with_diagonal(x: Array, value: Any) -> Array:
    """Put a number or an array that broadcasts on the diagonal."""
    return select(_rows_minus_columns(x) == 0, value, x)


def main_diagonal(x: Array) -> Array:
    """Read the diagonal of square matrices."""
    return reduce_sum(with_diagonal(zeros(x), x), (len(x.shape) - 1,))


def identity_like(x: Array, size: int) -> Array:
    """Make identity matrices for each of x's leading axes."""
    return with_diagonal(full_like(x, 0, (*x.shape[:-2], size, size)), constant(1, x))


def columns_times(x: Array, v: Array) -> Array:
    """Multiply each column of a matrix by its element of v."""
    return x * _as_row(v, x.shape)


def _as_row(v: Array, shape: Shape) -> Array:
    """Stretch v over the rows of a matrix of this shape."""
    rank = len(shape)
    return broadcast_in_dim(v, shape, (*range(rank - 2), rank - 1))


def _as_column(v: Array, shape: Shape) -> Array:
    """Stretch v over the columns of a matrix of this shape."""
    return broadcast_in_dim(v, shape, tuple(range(len(shape) - 1)))


# ---- families


def _checked(name: str, x: Any, *, square: bool = True) -> Shape:
    """The shape of an operand, which must be a stack of matrices that LAPACK takes."""
    if len(x.shape) < 2 or (square and x.shape[-1] != x.shape[-2]):
        kind = "[..., n, n]" if square else "[..., m, n]"
        raise ValueError(f"{name} needs an array of shape {kind}, not {x.shape}")
    if x.dtype not in SOLVABLE:
        raise TypeError(
            f"{name} does not take {x.dtype}: cast to float32, float64 or complex first"
        )
    return x.shape


def _matrices(name: str, x: Any, *, square: bool = False) -> Array:
    """An argument as a stack of matrices."""
    x = inexact(lift(x, None, name + "'s operand"))
    _checked(name, x, square=square)
    return x


def _decomposition(name: str, outs: Callable[..., list[Aval]], jvp: Rule) -> Primitive:
    """State a primitive of one stack of matrices with several outputs."""

    def batch(
        _size: int, xs: Sequence[Array], dims: Sequence[Any], /, **params: Any
    ) -> tuple[list[Array], list[int]]:
        found = prim.bind(move_axis(xs[0], dims[0], 0), **params)
        return found, [0] * len(found)

    prim = Primitive(name, outs, batch, jvp=jvp, many=True)
    return prim


# ---- cholesky


def _cholesky_jvp(ts: Sequence[Any], ans: Array, _x: Any) -> Array:
    """Differentiate L L^H = A: L^-1 A' L^-H is the sum of a lower triangle and its adjoint."""
    half = triangular_solve_p.bind(ans, ts[0], **_solver(left_side=True))
    both = triangular_solve_p.bind(
        ans, half, **_solver(left_side=False, transpose_a=True, conjugate_a=True)
    )
    lower = lower_part(both)
    return matmul(ans, with_diagonal(lower, lower * 0.5))


cholesky_p: Unary = Unary(
    "cholesky",
    lambda x: Aval(_checked("cholesky", x), x.dtype, x.weak),
    lambda _size, xs, dims, /: (cholesky_p.bind(move_axis(xs[0], dims[0], 0)), 0),
    jvp=_cholesky_jvp,
)


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Array:
    """Factor Hermitian positive definite matrices as L L^H, L lower triangular.

    A matrix that is not positive definite gives NaNs. With `symmetrize_input` the mean of x and its
    adjoint is factored, else the lower triangle alone is read. Raises ValueError for matrices that
    are not square, TypeError for dtypes that LAPACK lacks. Source: ``jax.lax.linalg.cholesky``.
    """
    x = _matrices("cholesky", x, square=True)
    return cholesky_p.bind(_symmetrized(x) if symmetrize_input else x)


def _symmetrized(x: Array) -> Array:
    return (x + adjoint(x)) * 0.5


# ---- triangular solve


def _solver(
    *,
    left_side: bool,
    lower: bool = True,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> dict[str, bool]:
    """All parameters of triangular_solve_p."""
    return {
        "left_side": left_side,
        "lower": lower,
        "transpose_a": transpose_a,
        "conjugate_a": conjugate_a,
        "unit_diagonal": unit_diagonal,
    }


def _triangular_abstract(a: Any, b: Any, *, left_side: bool, **_: Any) -> Aval:
    n = _checked("triangular_solve", a)[-1]
    _checked("triangular_solve", b, square=False)
    if a.shape[:-2] != b.shape[:-2] or b.shape[-2 if left_side else -1] != n:
        raise ValueError(
            f"triangular_solve needs as many {'rows' if left_side else 'columns'} of b as a has, "
            f"and equal leading axes, but got a of shape {a.shape} and b of shape {b.shape}"
        )
    return Aval(b.shape, b.dtype, a.weak and b.weak)


def _triangular_jvp(ts: Sequence[Any], ans: Array, a: Array, _b: Any, **params: Any) -> Any:
    """Differentiate op(A) X = B: op(A) X' = B' - op(A)' X, where only the triangle varies."""
    da, db = ts
    if da is not None:
        strict = int(params["unit_diagonal"])
        da = lower_part(da, -strict) if params["lower"] else upper_part(da, strict)
        if params["conjugate_a"]:
            da = conj(da)
        if params["transpose_a"]:
            da = matrix_transpose(da)
        moved = matmul(da, ans) if params["left_side"] else matmul(ans, da)
        db = -moved if db is None else db - moved
    return triangular_solve_p.bind(a, db, **params)


def _triangular_pull(ct: Array, a: Array, _b: Any, **params: Any) -> Array:
    return triangular_solve_p.bind(a, ct, **{**params, "transpose_a": not params["transpose_a"]})


def _side_by_side(
    prim: Binary, size: int, xs: Sequence[Array], dims: Sequence[Any], axis: int, params: Any
) -> tuple[Array, int]:
    """Batch a solver: if a is alike for all, the right-hand sides stand side by side."""
    (a, b), (dim_a, dim_b) = xs, dims
    if dim_a is not None:
        ready = [batch_to_front(size, x, d) for x, d in zip(xs, dims, strict=True)]
        return prim.bind(*ready, **params), 0
    at = len(b.shape) + axis
    b = move_axis(b, dim_b, at)
    shape = b.shape
    merged = (*shape[: at - 1], shape[at - 1] * size, *shape[at + 1 :])
    return reshape(prim.bind(a, reshape(b, merged), **params), shape), at


triangular_solve_p: Binary = Binary(
    "triangular_solve",
    _triangular_abstract,
    lambda size, xs, dims, /, **params: _side_by_side(
        triangular_solve_p, size, xs, dims, -1 if params["left_side"] else -2, params
    ),
    jvp=_triangular_jvp,
    transposes=(None, _triangular_pull),
)


def triangular_solve(
    a: Any,
    b: Any,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Array:
    """Solve op(A) X = B if `left_side`, else X op(A) = B, for triangular A.

    Only the triangle that `lower` names is read, without the diagonal if that is unit. op
    transposes and conjugates as told. A zero on the diagonal gives inf or NaN. Raises ValueError
    for shapes that do not fit. Source: ``jax.lax.linalg.triangular_solve``.
    """
    x, y = promote_inexact((a, b), "triangular_solve")
    shape = y.shape
    if len(shape) == len(x.shape) - 1:
        y = reshape(y, (*shape, 1) if left_side else (*shape[:-1], 1, shape[-1]))
    params = _solver(
        left_side=left_side,
        lower=lower,
        transpose_a=transpose_a,
        conjugate_a=conjugate_a and dtypes.is_complex(x.dtype),
        unit_diagonal=unit_diagonal,
    )
    _triangular_abstract(x, y, **params)  # BLAS would not say which argument is wrong
    return reshape(triangular_solve_p.bind(x, y, **params), shape)


# ---- solve, det


def _solve_abstract(a: Any, b: Any) -> Aval:
    n = _checked("solve", a)[-1]
    _checked("solve", b, square=False)
    if a.shape[:-2] != b.shape[:-2] or b.shape[-2] != n:
        raise ValueError(
            f"solve needs as many rows of b as a has, and equal leading axes, but got a of shape "
            f"{a.shape} and b of shape {b.shape}"
        )
    return Aval(b.shape, b.dtype, a.weak and b.weak)


def _solve_jvp(ts: Sequence[Any], ans: Array, a: Array, _b: Any) -> Array:
    """Differentiate A X = B: A X' = B' - A' X."""
    da, db = ts
    if da is not None:
        moved = matmul(da, ans)
        db = -moved if db is None else db - moved
    return solve_p.bind(a, db)


solve_p: Binary = Binary(
    "solve",
    _solve_abstract,
    lambda size, xs, dims, /: _side_by_side(solve_p, size, xs, dims, -1, {}),
    jvp=_solve_jvp,
    transposes=(None, lambda ct, a, _b: solve_p.bind(matrix_transpose(a), ct)),
)


def _trace(x: Array) -> Array:
    return reduce_sum(main_diagonal(x), (len(x.shape) - 2,))


def _slogdet_abstract(x: Any) -> list[Aval]:
    shape = _checked("slogdet", x)[:-2]
    return [Aval(shape, x.dtype, x.weak), Aval(shape, dtypes.real_dtype(x.dtype), x.weak)]


def _slogdet_jvp(ts: Sequence[Any], ans: Sequence[Array], x: Array) -> list[Array | None]:
    """Differentiate log det A: it is the trace of A^-1 A'."""
    change = _trace(solve_p.bind(x, ts[0]))
    if not dtypes.is_complex(x.dtype):
        return [None, change]
    growth = real(change)
    return [(change - convert(growth, x.dtype)) * ans[0], growth]


slogdet_p = _decomposition("slogdet", _slogdet_abstract, _slogdet_jvp)


def slogdet(x: Any) -> tuple[Array, Array]:
    """Give the sign (for complex matrices the phase) and the logarithm of the modulus of det x."""
    sign, log = slogdet_p.bind(_matrices("slogdet", x, square=True))
    return sign, log


def cofactors(x: Array) -> Array:
    """Give det(A) A^-T, right also for a matrix whose last pivot alone is 0."""
    packed, pivots, order = lu(x)
    size, n = packed.shape, packed.shape[-1]
    rank = len(size)
    places = iota_like(pivots, dtypes.int32, rank - 2)
    swaps = reduce_sum(convert(pivots != places, dtypes.int32), (rank - 2,))
    sign = convert(1 - 2 * (swaps & 1), x.dtype)
    y = triangular_solve_p.bind(
        packed, _row_order(order, x), **_solver(left_side=True, unit_diagonal=True)
    )
    # Z = det(U) A^-1 solves U Z = det(U) Y. Its last row is Y's times the product of the other
    # pivots, so that the last pivot may be 0.
    diagonal, bottom = main_diagonal(packed), places == n - 1
    others = select(bottom, constant(1, x), diagonal)
    scales = select(
        bottom,
        _over(sign * reduce_prod(others, (rank - 2,)), diagonal.shape),
        _over(sign * reduce_prod(diagonal, (rank - 2,)), diagonal.shape),
    )
    u = with_diagonal(packed, _as_row(others, size))
    z = triangular_solve_p.bind(
        u, y * _as_column(scales, size), **_solver(left_side=True, lower=False)
    )
    return matrix_transpose(z)


def _over(x: Array, shape: Shape) -> Array:
    """Stretch x over a new last axis."""
    return broadcast_in_dim(x, shape, tuple(range(len(shape) - 1)))


def _det_jvp(ts: Sequence[Any], _ans: Array, x: Array) -> Array:
    return reduce_sum(cofactors(x) * ts[0], (len(x.shape) - 2, len(x.shape) - 1))


det_p: Unary = Unary(
    "det",
    lambda x: Aval(_checked("det", x)[:-2], x.dtype, x.weak),
    lambda _size, xs, dims, /: (det_p.bind(move_axis(xs[0], dims[0], 0)), 0),
    jvp=_det_jvp,
)


def det(x: Any) -> Array:
    """Give the determinants of square matrices; those of up to 3 rows as polynomials.

    Raises ValueError for matrices that are not square.
    """
    x = _matrices("det", x, square=True)
    n = x.shape[-1]
    if n > 3:
        return det_p.bind(x)
    lead = tuple((0, m, 1) for m in x.shape[:-2])
    e = [[static_slice(x, (*lead, i, j)) for j in range(n)] for i in range(n)]
    if n == 3:
        minors = [e[1][i - 2] * e[2][i - 1] - e[1][i - 1] * e[2][i - 2] for i in range(3)]
        return e[0][0] * minors[0] + e[0][1] * minors[1] + e[0][2] * minors[2]
    if n == 2:
        return e[0][0] * e[1][1] - e[0][1] * e[1][0]
    return e[0][0] if n else full_like(x, 1, x.shape[:-2])


# ---- lu


def _lu_abstract(x: Any) -> list[Aval]:
    *lead, m, n = _checked("lu", x, square=False)
    pivots = Aval((*lead, min(m, n)), dtypes.int32)
    return [Aval(x.shape, x.dtype, x.weak), pivots, Aval((*lead, m), dtypes.int32)]


def _lu_jvp(ts: Sequence[Any], ans: Sequence[Array], x: Array) -> list[Array | None]:
    """Differentiate P A = L U: L^-1 P A' U^-1 is a strictly lower and an upper triangle.

    What a matrix lacks to be square is filled from the identity, whose factors it then keeps.
    """
    packed, _, order = ans
    m, n = x.shape[-2:]
    size, rank = max(m, n), len(x.shape)
    one = constant(1, x)
    change = _fill(matmul(_row_order(order, x), ts[0]), size)
    square = _fill(packed, size)
    beyond = iota_like(square, dtypes.int32, rank - 1) >= min(m, n)
    square = select((_rows_minus_columns(square) == 0) & beyond, one, square)
    half = triangular_solve_p.bind(square, change, **_solver(left_side=True, unit_diagonal=True))
    both = triangular_solve_p.bind(square, half, **_solver(left_side=False, lower=False))
    lower = with_diagonal(lower_part(square, -1), one)
    out = matmul(lower, lower_part(both, -1)) + matmul(upper_part(both), upper_part(square))
    lead = tuple((0, k, 1) for k in x.shape[:-2])
    return [static_slice(out, (*lead, (0, m, 1), (0, n, 1))), None, None]


def _row_order(order: Array, x: Array) -> Array:
    """The matrix that takes x's rows in an order."""
    m = x.shape[-2]
    columns = iota_like(full_like(order, 0, (*order.shape, m)), dtypes.int32, len(order.shape))
    return convert(_as_column(order, columns.shape) == columns, x.dtype)


def _fill(x: Array, size: int) -> Array:
    """Pad a matrix with zeros to a square."""
    m, n = x.shape[-2:]
    lead = [(0, 0, 0)] * (len(x.shape) - 2)
    return x if m == n else pad(x, constant(0, x), [*lead, (0, size - m, 0), (0, size - n, 0)])


lu_p = _decomposition("lu", _lu_abstract, _lu_jvp)


def lu(x: Any) -> tuple[Array, Array, Array]:
    """Factor matrices as P A = L U with partial pivoting.

    Gives L and U packed in one matrix (L's diagonal is 1), the pivots, and the rows' order. Raises
    TypeError for dtypes that LAPACK lacks. Source: ``jax.lax.linalg.lu``.
    """
    packed, pivots, order = lu_p.bind(_matrices("lu", x))
    return packed, pivots, order


# ---- eigh


def _eigh_abstract(x: Any, lower: bool) -> list[Aval]:  # noqa: ARG001 - a rule takes all parameters
    shape = _checked("eigh", x)
    return [Aval(shape, x.dtype, x.weak), Aval(shape[:-1], dtypes.real_dtype(x.dtype), x.weak)]


def _eigh_jvp(ts: Sequence[Any], ans: Sequence[Array], _x: Array, lower: bool) -> list[Array]:  # noqa: ARG001
    """Differentiate A V = V W for distinct eigenvalues: first-order perturbation theory."""
    v, w = ans
    seen = matmul(adjoint(v), matmul(ts[0], v))
    # A diagonal of ones, or the zeros put there below would come back as 0 / 0.
    gaps = with_diagonal(_as_row(w, v.shape) - _as_column(w, v.shape), constant(1, w))
    mixing = seen * convert(with_diagonal(div(1, gaps), constant(0, w)), v.dtype)
    return [matmul(v, mixing), real(main_diagonal(seen))]


eigh_p = _decomposition("eigh", _eigh_abstract, _eigh_jvp)


def eigh(
    x: Any, *, lower: bool = True, symmetrize_input: bool = True, sort_eigenvalues: bool = True
) -> tuple[Array, Array]:
    """Give the orthonormal eigenvectors (columns) and ascending eigenvalues of Hermitian matrices.

    Derivatives exist where the eigenvalues differ. One triangle is read, `lower` says which, after
    x was replaced by its mean with its adjoint if `symmetrize_input`. Raises ValueError for
    matrices that are not square. Source: ``jax.lax.linalg.eigh``.
    """
    del sort_eigenvalues  # they always are
    x = _matrices("eigh", x, square=True)
    vectors, values = eigh_p.bind(_symmetrized(x) if symmetrize_input else x, lower=lower)
    return vectors, values


# ---- qr


def _qr_abstract(x: Any, full_matrices: bool) -> list[Aval]:
    *lead, m, n = _checked("qr", x, square=False)
    k = m if full_matrices else min(m, n)
    return [Aval((*lead, m, k), x.dtype, x.weak), Aval((*lead, k, n), x.dtype, x.weak)]


def _qr_jvp(ts: Sequence[Any], ans: Sequence[Array], x: Array, full_matrices: bool) -> list[Array]:
    """Differentiate A = Q R: Q^H dQ is antihermitian, dR R^-1 upper with a real diagonal."""
    m, n = x.shape[-2:]
    if m < n or (full_matrices and m != n):
        raise NotDifferentiableError(
            f"qr has a derivative only for matrices with no more columns than rows and "
            f"full_matrices=False (mode='reduced'), not for {x.shape}"
        )
    q, r = ans
    change = triangular_solve_p.bind(r, ts[0], **_solver(left_side=False, lower=False))
    seen = matmul(adjoint(q), change)
    strict = lower_part(seen, -1)
    turn = strict - adjoint(strict)
    if dtypes.is_complex(x.dtype):
        phase = seen - convert(real(seen), x.dtype)
        turn = turn + with_diagonal(zeros(phase), phase)
    return [matmul(q, turn - seen) + change, matmul(seen - turn, r)]


qr_p = _decomposition("qr", _qr_abstract, _qr_jvp)


def qr(x: Any, *, full_matrices: bool = True) -> tuple[Array, Array]:
    """Factor matrices as Q R, Q with orthonormal columns, R upper triangular.

    Source: ``jax.lax.linalg.qr``.
    """
    q, r = qr_p.bind(_matrices("qr", x), full_matrices=full_matrices)
    return q, r


# ---- svd


def _svd_abstract(x: Any, full_matrices: bool, compute_uv: bool) -> list[Aval]:
    *lead, m, n = _checked("svd", x, square=False)
    k = min(m, n)
    values = Aval((*lead, k), dtypes.real_dtype(x.dtype), x.weak)
    if not compute_uv:
        return [values]
    rows, columns = (m, n) if full_matrices else (k, k)
    return [
        values,
        Aval((*lead, m, rows), x.dtype, x.weak),
        Aval((*lead, columns, n), x.dtype, x.weak),
    ]


def _svd_jvp(
    ts: Sequence[Any], ans: Sequence[Array], x: Array, full_matrices: bool, compute_uv: bool
) -> list[Array]:
    """Differentiate A = U S V^H for distinct singular values."""
    da, (m, n) = ts[0], x.shape[-2:]
    if compute_uv and full_matrices and m != n:
        raise NotDifferentiableError("svd has a derivative only with full_matrices=False")
    s, u, vh = ans if compute_uv else svd_p.bind(x, full_matrices=False, compute_uv=True)
    v = adjoint(vh)
    seen = matmul(adjoint(u), matmul(da, v))
    change = real(main_diagonal(seen))
    if not compute_uv:
        return [change]
    row, column = _as_row(s, seen.shape), _as_column(s, seen.shape)
    # A diagonal of ones, for the reason that eigh has.
    gaps = with_diagonal((row - column) * (row + column), constant(1, s))
    mixing = convert(with_diagonal(div(1, gaps), constant(0, s)), x.dtype)
    row, column = convert(row, x.dtype), convert(column, x.dtype)
    turn_u = mixing * (seen * row + column * adjoint(seen))
    turn_v = mixing * (column * seen + adjoint(seen) * row)
    if dtypes.is_complex(x.dtype):
        phase = (seen - adjoint(seen)) / (row * 2)
        turn_u = turn_u + with_diagonal(zeros(phase), phase)
    du, dv = matmul(u, turn_u), matmul(v, turn_v)
    if m > n:
        outside = matmul(da, v)
        du = du + (outside - matmul(u, seen)) / _as_row(convert(s, x.dtype), u.shape)
    if n > m:
        outside = matmul(adjoint(da), u)
        dv = dv + (outside - matmul(v, adjoint(seen))) / _as_row(convert(s, x.dtype), v.shape)
    return [change, du, adjoint(dv)]


svd_p = _decomposition("svd", _svd_abstract, _svd_jvp)


def svd(x: Any, *, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Factor matrices as U S V^H, S descending: gives (U, S, V^H), or S alone.

    Derivatives exist where the singular values differ. Source: ``jax.lax.linalg.svd``.
    """
    x = _matrices("svd", x)
    if not compute_uv:
        return svd_p.bind(x, full_matrices=False, compute_uv=False)[0]
    s, u, vh = svd_p.bind(x, full_matrices=full_matrices, compute_uv=True)
    return u, s, vh
