"""Linear algebra as numpy.linalg has it, over any leading axes."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from math import prod
from operator import index
from typing import Any, NamedTuple

from arrayport.control.custom_jvp import custom_jvp
from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.names import absent
from arrayport.core.units import unit
from arrayport.numpy import matrices, products
from arrayport.numpy.arguments import arrayed, axis_of
from arrayport.numpy.chains import multi_dot
from arrayport.numpy.norms import matrix_norm, norm, vector_norm
from arrayport.numpy.products import matmul, tensordot, vecdot
from arrayport.numpy.questions import isnan
from arrayport.numpy.reductions import any, count_nonzero, max, min, sum
from arrayport.numpy.shapes import expand_dims, matrix_transpose, moveaxis
from arrayport.ops import linalg as ops
from arrayport.ops import reflections, spectra
from arrayport.ops.elementwise import abs, div, select, square
from arrayport.ops.promotion import common_shape, inexact, promote_inexact
from arrayport.ops.structure import broadcast_to, constant, convert, reshape

__all__ = [
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]


class EigResult(NamedTuple):
    """What `eig` gives."""

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """What `eigh` gives."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """What `qr` gives."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """What `slogdet` gives."""

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """What `svd` gives."""

    U: Array
    S: Array
    Vh: Array


def __getattr__(name: str) -> Any:
    raise absent("numpy.linalg", name)


def _matrices(name: str, a: Any, *, square: bool = False) -> Array:
    """Read the argument as matrices of a floating or complex dtype."""
    x = inexact(arrayed(a, "a"))
    if len(x.shape) < 2 or (square and x.shape[-2] != x.shape[-1]):
        kind = "(..., n, n)" if square else "(..., m, n)"
        raise ValueError(f"{name} needs an array of shape {kind}, not {x.shape}")
    return x


# ---- decompositions


@unit("a")
def cholesky(a: Any, *, upper: bool = False, symmetrize_input: bool = True) -> Array:
    """Factor Hermitian positive definite matrices as L L^H (U^H U if `upper`).

    A matrix that is not positive definite gives NaNs. Raises ValueError for matrices that are not
    square. Source: the array API's ``cholesky``, ``jax.numpy.linalg.cholesky``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.cholesky(anp.array([[4.0, 2.0], [2.0, 10.0]]))
    Array([[2., 0.],
           [1., 3.]], dtype=float32)
    """
    lower = ops.cholesky(_matrices("cholesky", a, square=True), symmetrize_input=symmetrize_input)
    return ops.adjoint(lower) if upper else lower


@unit("a")
def eigh(a: Any, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """Give the ascending eigenvalues and the eigenvectors (columns) of Hermitian matrices.

    `UPLO` ("L" or "U") names the triangle that is read if not `symmetrize_input`. Raises ValueError
    for matrices that are not square. Source: the array API's ``eigh``, ``jax.numpy.linalg.eigh``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.eigh(anp.array([[1.0, 0.0], [0.0, 3.0]])).eigenvalues
    Array([1., 3.], dtype=float32)
    """
    if UPLO not in {None, "L", "U"}:
        raise ValueError(f"eigh: UPLO must be 'L' or 'U', not {UPLO!r}")
    x = _matrices("eigh", a, square=True)
    vectors, values = spectra.eigh(x, lower=UPLO != "U", symmetrize_input=symmetrize_input)
    return EighResult(values, vectors)


def eig(a: Any) -> EigResult:
    """Give the eigenvalues and eigenvectors (columns) of square matrices, always complex.

    They are in no order. Source: ``jax.numpy.linalg.eig``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.eig(anp.array([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    x = _matrices("eig", a, square=True)
    return EigResult(*spectra.eig(x, compute_left_eigenvectors=False))


def eigvals(a: Any) -> Array:
    """Give the eigenvalues of square matrices, always complex, in no order.

    Their derivative exists where they differ. Source: ``jax.numpy.linalg.eigvals``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.eigvals(anp.array([[2.0, 1.0], [0.0, 1.0]]))
    Array([2.+0.j, 1.+0.j], dtype=complex64)
    """
    x = _matrices("eigvals", a, square=True)
    return spectra.eig(x, compute_left_eigenvectors=False, compute_right_eigenvectors=False)[0]


def eigvalsh(a: Any, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Array:
    """Give Hermitian matrices' ascending eigenvalues. Source: the array API's ``eigvalsh``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.eigvalsh(anp.array([[2.0, 1.0], [1.0, 2.0]])).round(4)
    Array([1., 3.], dtype=float32)
    """
    return eigh(a, UPLO, symmetrize_input).eigenvalues


def qr(a: Any, mode: str = "reduced") -> Any:
    """Factor matrices as Q R, Q with orthonormal columns, R upper triangular.

    `mode`: "reduced", "complete" (Q square), "r" (R alone) or "raw": the transpose of what LAPACK's
    geqrf makes of a, and the factors of its reflections, as `lax.linalg.ormqr` takes them. Raises
    ValueError for another.
    Source: the array API's ``qr``, ``jax.numpy.linalg.qr``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.qr(anp.ones((4, 3))).R.shape
    (3, 3)
    """
    if mode not in {"reduced", "complete", "full", "r", "raw"}:
        raise ValueError(f"qr: mode must be 'reduced', 'complete', 'r' or 'raw', not {mode!r}")
    if mode == "raw":
        packed, taus = reflections.geqrf_p.bind(_matrices("qr", a))
        return QRResult(matrix_transpose(packed), taus)
    q, r = reflections.qr(_matrices("qr", a), full_matrices=mode in {"complete", "full"})
    return r if mode == "r" else QRResult(q, r)


def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Any:
    """Factor matrices as U S V^H, the singular values S descending; S alone if not `compute_uv`.

    `subset_by_index` (start, stop) keeps some of them; `hermitian` is a hint that is not needed
    here. Source: the array API's ``svd``, ``jax.numpy.linalg.svd``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.svd(anp.array([[0.0, 2.0], [1.0, 0.0]])).S
    Array([2., 1.], dtype=float32)
    """
    del hermitian
    made = spectra.svd(
        _matrices("svd", a),
        full_matrices=full_matrices,
        compute_uv=compute_uv,
        subset_by_index=subset_by_index,
    )
    return SVDResult(*made) if compute_uv else made


def svdvals(x: Any, /) -> Array:
    """Give the singular values of matrices, descending. Source: the array API's ``svdvals``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.svdvals(anp.array([[0.0, 2.0], [3.0, 0.0]])).round(4)
    Array([3., 2.], dtype=float32)
    """
    return spectra.svd(_matrices("svdvals", x), compute_uv=False)


# ---- equations and inverses


@unit("a", "b")
def solve(a: Any, b: Any) -> Array:
    """Solve A X = B; b is a vector if it has one axis, else matrices.

    A singular matrix gives NaN or inf. Raises ValueError for shapes that do not fit. Source: the
    array API's ``solve``, ``jax.numpy.linalg.solve``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.solve(anp.array([[2.0, 0.0], [0.0, 4.0]]), anp.array([2.0, 2.0]))
    Array([1. , 0.5], dtype=float32)
    """
    x, y = promote_inexact((a, b), "solve")
    x = _matrices("solve", x, square=True)
    if not y.shape:
        raise ValueError("solve: b must have an axis or more, but has none")
    rows = reshape(y, (*y.shape, 1)) if len(y.shape) == 1 else y
    if rows.shape[-2] != x.shape[-1]:
        raise ValueError(f"solve: b of shape {y.shape} must have as many rows as a of {x.shape}")
    lead = common_shape(x.shape[:-2], rows.shape[:-2])
    out = ops.solve_p.bind(
        broadcast_to(x, (*lead, *x.shape[-2:])), broadcast_to(rows, (*lead, *rows.shape[-2:]))
    )
    return reshape(out, out.shape[:-1]) if len(y.shape) == 1 else out


@unit("a")
def inv(a: Any) -> Array:
    """Invert matrices; a singular one gives NaN or inf.

    Raises ValueError for matrices that are not square. Source: the array API's ``inv``,
    ``jax.numpy.linalg.inv``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.inv(anp.array([[2.0, 0.0], [0.0, 4.0]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    x = _matrices("inv", a, square=True)
    return ops.solve_p.bind(x, ops.identity_like(x, x.shape[-1]))


@unit("a", "rtol")
def pinv(a: Any, rtol: Any = None, hermitian: bool = False, *, rcond: Any = None) -> Array:
    """Give the Moore-Penrose inverse of matrices.

    Singular values below `rtol` (or `rcond`) times the largest count as 0; by default that is
    10 max(m, n) eps. The derivative is that at constant rank. Source: the array API's ``pinv``,
    ``jax.numpy.linalg.pinv``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.pinv(anp.array([[2.0, 0.0], [0.0, 0.0]]))
    Array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    del hermitian
    return _pseudo_inverse(_matrices("pinv", a), rcond if rtol is None else rtol)


def _invert(x: Array, s: Array, rtol: Any, factor: int) -> tuple[Array, Array]:
    """Invert x's singular values, 0 for those that count as 0; also say which do not."""
    if rtol is None:
        rtol = factor * builtins.max(x.shape[-2:]) * dtypes.finfo(x.dtype).eps
    elif not isinstance(rtol, int | float):
        rtol = expand_dims(rtol, -1)
    kept = s > max(s, axis=-1, keepdims=True, initial=0) * rtol
    inverse = select(kept, div(1, select(kept, s, constant(1, s))), constant(0, s))
    return convert(inverse, x.dtype), kept


@custom_jvp
def _pseudo_inverse(x: Array, rtol: Any) -> Array:
    u, s, vh = spectra.svd(x, full_matrices=False)
    inverse, _ = _invert(x, s, rtol, 10)
    return matmul(ops.columns_times(ops.adjoint(vh), inverse), ops.adjoint(u))


@_pseudo_inverse.defjvp
def _pseudo_inverse_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    """Differentiate P, the pseudo-inverse of A, where the rank does not change.

    P' = -P A' P + P P^H A'^H (1 - A P) + (1 - P A) A'^H P^H P
    """
    x, change = primals[0], tangents[0]
    p = _pseudo_inverse(*primals)
    q, back = ops.adjoint(p), ops.adjoint(change)
    first, last = matmul(matmul(p, q), back), matmul(matmul(back, q), p)
    return p, (
        (first - matmul(matmul(first, x), p) - matmul(matmul(p, change), p))
        + (last - matmul(matmul(p, x), last))
    )


@unit("a", "b")
def lstsq(
    a: Any, b: Any, rcond: float | None = None, *, numpy_resid: bool = False
) -> tuple[Array, Array, Array, Array]:
    """Solve A X = B in the sense of least squares: gives X, the residuals, A's rank and S.

    Singular values below `rcond` times the largest count as 0. With `numpy_resid` there are no
    residuals where the rank is not full or A not tall. Raises ValueError for shapes that do not
    fit. Source: ``jax.numpy.linalg.lstsq``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.lstsq(anp.array([[1.0], [1.0]]), anp.array([1.0, 3.0]))[1]
    Array([2.], dtype=float32)
    """
    x, y = promote_inexact((a, b), "lstsq")
    x = _matrices("lstsq", x)
    if len(x.shape) != 2 or len(y.shape) not in {1, 2} or y.shape[0] != x.shape[0]:
        raise ValueError(
            f"lstsq needs a of shape (m, n), b of (m,) or (m, k), not {x.shape}, {y.shape}"
        )
    rows = reshape(y, (*y.shape, 1)) if len(y.shape) == 1 else y
    u, s, vh = spectra.svd(x, full_matrices=False)
    inverse, kept = _invert(x, s, None if rcond is None or rcond < 0 else rcond, 1)
    found = matmul(ops.columns_times(ops.adjoint(vh), inverse), matmul(ops.adjoint(u), rows))
    rank = count_nonzero(kept)
    left = sum(square(abs(rows - matmul(x, found))), axis=0)
    if numpy_resid and (x.shape[0] <= x.shape[1] or int(rank) < x.shape[1]):
        left = left[:0]
    return reshape(found, (x.shape[1], *y.shape[1:])), left, rank, s


@unit("a", "b")
def tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> Array:
    """Solve `tensordot(a, x, x.ndim) == b`; `axes` of a go last first.

    Source: ``jax.numpy.linalg.tensorsolve``.

    >>> import arrayport.numpy as anp
    >>> a = 2 * anp.eye(4).reshape(2, 2, 4)
    >>> anp.linalg.tensorsolve(a, anp.ones((2, 2)))
    Array([0.5, 0.5, 0.5, 0.5], dtype=float32)
    """
    x, y = promote_inexact((a, b), "tensorsolve")
    if axes is not None:
        x = moveaxis(x, axes, range(-len(axes), 0))
    shape = x.shape[len(y.shape) :]
    if prod(shape) != y.size or prod(x.shape) != y.size**2:
        raise ValueError(f"tensorsolve: a of shape {x.shape} is not square over b of {y.shape}")
    return reshape(solve(reshape(x, (y.size, y.size)), reshape(y, (y.size,))), shape)


@unit("a")
def tensorinv(a: Any, ind: int = 2) -> Array:
    """Invert what `tensordot` with the last axes of a does; `ind` axes are the rows.

    Source: ``jax.numpy.linalg.tensorinv``.

    >>> import arrayport.numpy as anp
    >>> a = anp.eye(4).reshape(4, 2, 2)
    >>> anp.linalg.tensorinv(2 * a, ind=1).shape
    (2, 2, 4)
    """
    x = inexact(arrayed(a, "a"))
    rows, columns = x.shape[:ind], x.shape[ind:]
    if ind <= 0 or prod(rows) != prod(columns):
        raise ValueError(f"tensorinv: a of shape {x.shape} is not square at ind={ind}")
    return reshape(inv(reshape(x, (prod(rows), prod(columns)))), (*columns, *rows))


@unit("a")
def matrix_power(a: Any, n: int) -> Array:
    """Multiply square matrices n times; a negative n inverts them.

    Raises TypeError if n is no integer. Source: the array API's ``matrix_power``,
    ``jax.numpy.linalg.matrix_power``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.matrix_power(anp.array([[1, 1], [1, 0]]), 10)
    Array([[89, 55],
           [55, 34]], dtype=int32)
    """
    try:
        n = index(n)
    except TypeError:
        raise TypeError(f"matrix_power: n must be an integer, not {n!r}") from None
    x = arrayed(a, "a")
    _matrices("matrix_power", x, square=True)
    if n < 0:
        x, n = inv(x), -n
    made = None
    while n:
        n, odd = divmod(n, 2)
        if odd:
            made = x if made is None else matmul(made, x)
        if n:
            x = matmul(x, x)
    return ops.identity_like(x, x.shape[-1]) if made is None else made


# ---- numbers


@unit("a")
def det(a: Any) -> Array:
    """Give the determinants of square matrices.

    The gradient is right for singular ones too. Raises ValueError for matrices that are not square.
    Source: the array API's ``det``, ``jax.numpy.linalg.det``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.det(anp.array([[1.0, 2.0], [3.0, 4.0]]))
    Array(-2., dtype=float32)
    """
    return ops.det(_matrices("det", a, square=True))


@unit("a")
def slogdet(a: Any, *, method: str | None = None) -> SlogdetResult:
    """Give the sign (for complex matrices the phase) and the logarithm of |det|.

    `method` is a hint that is not needed here. Source: the array API's ``slogdet``,
    ``jax.numpy.linalg.slogdet``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.slogdet(-anp.eye(3)).sign
    Array(-1., dtype=float32)
    """
    if method not in {None, "lu", "qr"}:
        raise ValueError(f"slogdet: method must be None, 'lu' or 'qr', not {method!r}")
    return SlogdetResult(*ops.slogdet(_matrices("slogdet", a, square=True)))


@unit("M", "rtol", "tol")
def matrix_rank(M: Any, rtol: Any = None, *, hermitian: bool = False, tol: Any = None) -> Array:
    """Count the singular values above `rtol` (by default max(m, n) eps) times the largest.

    `tol` is the least value itself. A vector has rank 1 unless it is 0.

    Source: the array API's ``matrix_rank``, ``jax.numpy.linalg.matrix_rank``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.matrix_rank(anp.ones((3, 3)))
    Array(1, dtype=int32)
    """
    del hermitian
    vector = arrayed(M, "M")
    if len(vector.shape) < 2:
        return convert(count_nonzero(vector) > 0, dtypes.int32)
    x = _matrices("matrix_rank", vector)
    s = spectra.svd(x, compute_uv=False)
    if rtol is None and tol is not None:
        return count_nonzero(
            s > (tol if isinstance(tol, int | float) else expand_dims(tol, -1)), -1
        )
    return count_nonzero(_invert(x, s, rtol, 1)[1], axis=-1)


@unit("x")
def cond(x: Any, p: Any = None) -> Array:
    """Give the condition number, norm(x, p) norm(inv(x), p), of matrices; by default with p=2.

    Source: ``jax.numpy.linalg.cond``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.cond(anp.array([[4.0, 0.0], [0.0, 2.0]]))
    Array(2., dtype=float32)
    """
    a = _matrices("cond", x, square=p not in {None, 2, -2})
    if p not in {None, 2, -2}:
        found = norm(a, p, (-2, -1)) * norm(inv(a), p, (-2, -1))
    else:
        s = spectra.svd(a, compute_uv=False)
        most, least = max(s, axis=-1), min(s, axis=-1)
        found = least / most if p == -2 else most / least
    # Where a matrix of numbers gives NaN it cannot be inverted.
    lost = isnan(found) & ~any(isnan(a), axis=(-2, -1))
    return select(lost, constant(float("inf"), found), found)


# ---- products and parts


@unit("x1", "x2")
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """Give the cross product of vectors of three elements along an axis.

    Raises ValueError for another extent. Source: the array API's ``cross``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.cross(anp.array([1, 0, 0]), anp.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    a, b = arrayed(x1, "x1"), arrayed(x2, "x2")
    mine, other = axis_of(axis, len(a.shape)), axis_of(axis, len(b.shape))
    if not a.shape[mine] == b.shape[other] == 3:
        raise ValueError(f"cross needs 3 elements along axis {axis}, not {a.shape} and {b.shape}")
    return products.cross(a, b, axis=axis)


@unit("x1", "x2")
def outer(x1: Any, x2: Any, /) -> Array:
    """Multiply each element of a vector with each of another. Source: the array API's ``outer``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.outer(anp.array([1, 2]), anp.array([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    a, b = arrayed(x1, "x1"), arrayed(x2, "x2")
    if len(a.shape) != 1 or len(b.shape) != 1:
        raise ValueError(f"outer needs two vectors, not {a.shape} and {b.shape}")
    return products.outer(a, b)


def diagonal(x: Any, /, *, offset: int = 0) -> Array:
    """Take the diagonal of matrices, the last two axes. Source: the array API's ``diagonal``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.diagonal(anp.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    return matrices.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """Sum the diagonal of matrices, the last two axes. Source: the array API's ``trace``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.trace(anp.eye(3))
    Array(3., dtype=float32)
    """
    return matrices.trace(x, offset, -2, -1, dtype)
