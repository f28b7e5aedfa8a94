"""Decompositions of matrices and the solution of linear equations, over any leading axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.primitive import Binary, Primitive, Rule, Unary
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import conj, real, select
from arrayport.ops.products import matmul
from arrayport.ops.promotion import inexact, lift, promote_inexact
from arrayport.ops.reductions import reduce_prod
from arrayport.ops.shapes import pad
from arrayport.ops.slices import static_slice
from arrayport.ops.structure import (
    broadcast_in_dim,
    constant,
    convert,
    full_like,
    in_front,
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


def columns_minus_rows(x: Array) -> Array:
    """Number the diagonals of matrices: 0 the main one, 1 the first above it."""
    return -_rows_minus_columns(x)


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
    return x * as_row(v, x.shape)


def as_row(v: Array, shape: Shape) -> Array:
    """Stretch v over the rows of a matrix of this shape."""
    rank = len(shape)
    return broadcast_in_dim(v, shape, (*range(rank - 2), rank - 1))


def as_column(v: Array, shape: Shape) -> Array:
    """Stretch v over the columns of a matrix of this shape, or whatever its last axis is."""
    return broadcast_in_dim(v, shape, tuple(range(len(shape) - 1)))


# ---- families


def checked(name: str, x: Any, *, square: bool = True) -> Shape:
    """The shape of an operand, which must be a stack of matrices that LAPACK takes."""
    if len(x.shape) < 2 or (square and x.shape[-1] != x.shape[-2]):
        kind = "[..., n, n]" if square else "[..., m, n]"
        raise ValueError(f"{name} needs an array of shape {kind}, not {x.shape}")
    if x.dtype not in SOLVABLE:
        raise TypeError(
            f"{name} does not take {x.dtype}: cast to float32, float64 or complex first"
        )
    return x.shape


def matrices(name: str, x: Any, *, square: bool = False) -> Array:
    """An argument as a stack of matrices."""
    x = inexact(lift(x, None, name + "'s operand"))
    checked(name, x, square=square)
    return x


def decomposition(
    name: str,
    outs: Callable[..., list[Aval]],
    jvp: Rule | None = None,
    *,
    not_differentiable: str = "",
) -> Primitive:
    """State a primitive of one stack of matrices with several outputs."""

    def batch(
        _size: int, xs: Sequence[Array], dims: Sequence[Any], /, **params: Any
    ) -> tuple[list[Array], list[int]]:
        found = prim.bind(move_axis(xs[0], dims[0], 0), **params)
        return found, [0] * len(found)

    prim = Primitive(name, outs, batch, jvp=jvp, not_differentiable=not_differentiable, many=True)
    return prim


# ---- cholesky


def _cholesky_jvp(ts: Sequence[Any], ans: Array, _x: Any) -> Array:
    """Differentiate L L^H = A: L^-1 A' L^-H is the sum of a lower triangle and its adjoint.

    Of A' the lower triangle counts, as of A.
    """
    half = triangular_solve_p.bind(ans, mirrored(ts[0]), **solver(left_side=True))
    both = triangular_solve_p.bind(
        ans, half, **solver(left_side=False, transpose_a=True, conjugate_a=True)
    )
    lower = lower_part(both)
    return matmul(ans, with_diagonal(lower, lower * 0.5))


cholesky_p: Unary = Unary(
    "cholesky",
    lambda x: Aval(checked("cholesky", x), x.dtype, x.weak),
    lambda _size, xs, dims, /: (cholesky_p.bind(move_axis(xs[0], dims[0], 0)), 0),
    jvp=_cholesky_jvp,
)


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Array:
    """Factor Hermitian positive definite matrices as L L^H, L lower triangular.

    A matrix that is not positive definite gives NaNs. With `symmetrize_input` the mean of x and its
    adjoint is factored, else the lower triangle alone is read. Raises ValueError for matrices that
    are not square, TypeError for dtypes that LAPACK lacks. Source: ``jax.lax.linalg.cholesky``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.lax import linalg
    >>> linalg.cholesky(anp.array([[4.0, 0.0], [0.0, 9.0]]))
    Array([[2., 0.],
           [0., 3.]], dtype=float32)
    """
    x = matrices("cholesky", x, square=True)
    return cholesky_p.bind(symmetrized(x) if symmetrize_input else x)


def mirrored(x: Array, lower: bool = True) -> Array:
    """Give the Hermitian matrices of which one triangle counts."""
    strict = lower_part(x, -1) if lower else upper_part(x, 1)
    return with_diagonal(strict + adjoint(strict), convert(real(x), x.dtype))


def symmetrized(x: Array) -> Array:
    """Take the mean with the adjoint."""
    return (x + adjoint(x)) * 0.5


# ---- triangular solve


def solver(
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
    n = checked("triangular_solve", a)[-1]
    checked("triangular_solve", b, square=False)
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
        ready = in_front(size, xs, dims)
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

    >>> import arrayport.numpy as anp
    >>> from arrayport.lax import linalg
    >>> linalg.triangular_solve(2.0 * anp.eye(2), anp.ones((2, 1)), left_side=True)
    Array([[0.5],
           [0.5]], dtype=float32)
    """
    x, y = promote_inexact((a, b), "triangular_solve")
    shape = y.shape
    if len(shape) == len(x.shape) - 1:
        y = reshape(y, (*shape, 1) if left_side else (*shape[:-1], 1, shape[-1]))
    params = solver(
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
    n = checked("solve", a)[-1]
    checked("solve", b, square=False)
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
    shape = checked("slogdet", x)[:-2]
    return [Aval(shape, x.dtype, x.weak), Aval(shape, dtypes.real_dtype(x.dtype), x.weak)]


def _slogdet_jvp(ts: Sequence[Any], ans: Sequence[Array], x: Array) -> list[Array | None]:
    """Differentiate log det A: it is the trace of A^-1 A'."""
    change = _trace(solve_p.bind(x, ts[0]))
    if not dtypes.is_complex(x.dtype):
        return [None, change]
    growth = real(change)
    return [(change - convert(growth, x.dtype)) * ans[0], growth]


slogdet_p = decomposition("slogdet", _slogdet_abstract, _slogdet_jvp)


def slogdet(x: Any) -> tuple[Array, Array]:
    """Give the sign (for complex matrices the phase) and the logarithm of the modulus of det x."""
    sign, log = slogdet_p.bind(matrices("slogdet", x, square=True))
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
        packed, ordering(order, x), **solver(left_side=True, unit_diagonal=True)
    )
    # Z = det(U) A^-1 solves U Z = det(U) Y. Its last row is Y's times the product of the other
    # pivots, so that the last pivot may be 0.
    diagonal, bottom = main_diagonal(packed), places == n - 1
    others = select(bottom, constant(1, x), diagonal)
    scales = select(
        bottom,
        as_column(sign * reduce_prod(others, (rank - 2,)), diagonal.shape),
        as_column(sign * reduce_prod(diagonal, (rank - 2,)), diagonal.shape),
    )
    u = with_diagonal(packed, as_row(others, size))
    z = triangular_solve_p.bind(
        u, y * as_column(scales, size), **solver(left_side=True, lower=False)
    )
    return matrix_transpose(z)


def _det_jvp(ts: Sequence[Any], _ans: Array, x: Array) -> Array:
    return reduce_sum(cofactors(x) * ts[0], (len(x.shape) - 2, len(x.shape) - 1))


det_p: Unary = Unary(
    "det",
    lambda x: Aval(checked("det", x)[:-2], x.dtype, x.weak),
    lambda _size, xs, dims, /: (det_p.bind(move_axis(xs[0], dims[0], 0)), 0),
    jvp=_det_jvp,
)


def det(x: Any) -> Array:
    """Give the determinants of square matrices; those of up to 3 rows as polynomials.

    Raises ValueError for matrices that are not square.
    """
    x = matrices("det", x, square=True)
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
    *lead, m, n = checked("lu", x, square=False)
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
    change = filled(matmul(ordering(order, x), ts[0]), size)
    square = filled(packed, size)
    beyond = iota_like(square, dtypes.int32, rank - 1) >= min(m, n)
    square = select((_rows_minus_columns(square) == 0) & beyond, one, square)
    half = triangular_solve_p.bind(square, change, **solver(left_side=True, unit_diagonal=True))
    both = triangular_solve_p.bind(square, half, **solver(left_side=False, lower=False))
    lower = with_diagonal(lower_part(square, -1), one)
    out = matmul(lower, lower_part(both, -1)) + matmul(upper_part(both), upper_part(square))
    lead = tuple((0, k, 1) for k in x.shape[:-2])
    return [static_slice(out, (*lead, (0, m, 1), (0, n, 1))), None, None]


def ordering(order: Array, x: Array) -> Array:
    """Give the matrix, in x's dtype, that takes rows in an order."""
    columns = iota_like(
        full_like(order, 0, (*order.shape, order.shape[-1])), dtypes.int32, len(order.shape)
    )
    return convert(as_column(order, columns.shape) == columns, x.dtype)


def filled(x: Array, size: int) -> Array:
    """Pad a matrix with zeros to a square."""
    m, n = x.shape[-2:]
    lead = [(0, 0, 0)] * (len(x.shape) - 2)
    return x if m == n else pad(x, constant(0, x), [*lead, (0, size - m, 0), (0, size - n, 0)])


lu_p = decomposition("lu", _lu_abstract, _lu_jvp)


def lu(x: Any) -> tuple[Array, Array, Array]:
    """Factor matrices as P A = L U with partial pivoting.

    Gives L and U packed in one matrix (L's diagonal is 1), the pivots, and the rows' order. Raises
    TypeError for dtypes that LAPACK lacks. Source: ``jax.lax.linalg.lu``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.lax import linalg
    >>> linalg.lu(anp.array([[0.0, 1.0], [1.0, 0.0]]))[2]
    Array([1, 0], dtype=int32)
    """
    packed, pivots, order = lu_p.bind(matrices("lu", x))
    return packed, pivots, order


lu_pivots_p: Unary = Unary(
    "lu_pivots_to_permutation",
    lambda pivots, permutation_size: Aval((*pivots.shape[:-1], permutation_size), dtypes.int32),
    lambda _size, xs, dims, /, **params: (
        lu_pivots_p.bind(move_axis(xs[0], dims[0], 0), **params),
        0,
    ),
    not_differentiable="its operand and its output are integers",
    keeps_weak=False,
)


def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Array:
    """Give the order of `permutation_size` rows that exchanging row i with row pivots[i] makes.

    Raises TypeError for pivots that are not int32, ValueError for more of them than rows. Source:
    ``jax.lax.linalg.lu_pivots_to_permutation``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.lax import linalg
    >>> linalg.lu_pivots_to_permutation(anp.array([2, 1], "int32"), 3)
    Array([2, 1, 0], dtype=int32)
    """
    x, size = lift(pivots, None, "pivots"), index(permutation_size)
    if x.dtype != dtypes.int32:
        raise TypeError(f"lu_pivots_to_permutation takes int32, not {x.dtype}: cast pivots first")
    if not x.shape or x.shape[-1] > size:
        raise ValueError(
            f"lu_pivots_to_permutation: permutation_size={size} must be the pivots' number or "
            f"more, but pivots have shape {x.shape}"
        )
    return lu_pivots_p.apply(x, {"permutation_size": size})


# ---- products


def symmetric_product(
    a_matrix: Any,
    c_matrix: Any,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Array:
    """Give alpha A A^T + beta C for symmetric C.

    With `symmetrize_output` the upper triangle is the lower one's mirror, whatever C's is. Raises
    ValueError for shapes that do not fit. Source: ``jax.lax.linalg.symmetric_product``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.lax import linalg
    >>> linalg.symmetric_product(anp.array([[1.0], [2.0]]), anp.zeros((2, 2)))
    Array([[1., 2.],
           [2., 4.]], dtype=float32)
    """
    a = matrices("symmetric_product", a_matrix)
    c = matrices("symmetric_product", c_matrix, square=True)
    if a.shape[:-1] != c.shape[:-1] or a.dtype != c.dtype or dtypes.is_complex(a.dtype):
        raise ValueError(
            "symmetric_product needs a_matrix of shape (..., m, n) and c_matrix of (..., m, m), of "
            f"one real dtype, not {a.dtype}{a.shape} and {c.dtype}{c.shape}"
        )
    out = matmul(a, matrix_transpose(a)) * alpha + c * beta
    if not symmetrize_output:
        return out
    return lower_part(out) + matrix_transpose(lower_part(out, -1))
