"""Decompositions of matrices as scipy.linalg names them."""

from __future__ import annotations

from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import arrayed
from arrayport.numpy.polar import halley
from arrayport.ops import linalg as ops
from arrayport.ops import reflections, spectra
from arrayport.ops.elementwise import conj, real
from arrayport.ops.linalg import (
    adjoint,
    as_row,
    columns_times,
    identity_like,
    lower_part,
    matrices,
    matrix_transpose,
    ordering,
    upper_part,
    with_diagonal,
)
from arrayport.ops.products import matmul
from arrayport.ops.promotion import common_shape, promote_inexact
from arrayport.ops.shapes import pad
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.structure import broadcast_to, constant, convert, full_like, reshape

__all__ = [
    "cho_factor",
    "cholesky",
    "eigh",
    "eigh_tridiagonal",
    "hessenberg",
    "lu",
    "lu_factor",
    "polar",
    "qr",
    "qr_multiply",
    "rsf2csf",
    "schur",
    "svd",
]


@unit("a")
def cholesky(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Array:
    """Factor Hermitian positive definite matrices as R^H R or, if `lower`, L L^H.

    Only that triangle of a is read. Other matrices give NaN. Source:
    ``jax.scipy.linalg.cholesky``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import cholesky
    >>> cholesky(anp.array([[4.0, 2.0], [0.0, 2.0]]))
    Array([[2., 1.],
           [0., 1.]], dtype=float32)
    """
    del overwrite_a, check_finite
    x = matrices("cholesky", a, square=True)
    if lower:
        return ops.cholesky(x, symmetrize_input=False)
    return adjoint(ops.cholesky(adjoint(x), symmetrize_input=False))


def cho_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]:
    """Give `cholesky`'s factor and whether it is the lower one, for `cho_solve`.

    Source: ``jax.scipy.linalg.cho_factor``.

    >>> import arrayport.numpy as anp
    >>> factor, lower = cho_factor(anp.array([[4.0, 2.0], [2.0, 2.0]]), lower=True)
    >>> anp.tril(factor), lower
    (Array([[2., 0.],
           [1., 1.]], dtype=float32), True)
    """
    del overwrite_a, check_finite
    return cholesky(a, lower), lower


@unit("a", "b")
def eigh(
    a: Any,
    b: Any = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: None = None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """Give Hermitian matrices' ascending eigenvalues and, unless `eigvals_only`, eigenvectors.

    With a positive definite b the equation is A V = B V W (type 1), A B V = V W (2) or B A V = V W
    (3). Raises ValueError for another type, NotImplementedError for `eigvals`. Source:
    ``jax.scipy.linalg.eigh``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import eigh
    >>> eigh(anp.array([[4.0]]), anp.array([[2.0]]), eigvals_only=True).round(4)
    Array([2.], dtype=float32)
    """
    del overwrite_a, overwrite_b, turbo, check_finite
    if type not in {1, 2, 3}:
        raise ValueError(f"eigh: type must be 1, 2 or 3, not {type!r}")
    if eigvals is not None:
        raise NotImplementedError("eigh: eigvals= is not supported, take a part of the result")
    if b is None:
        v, w = spectra.eigh(matrices("eigh", a, square=True), lower=lower)
        return w if eigvals_only else (w, v)
    x, y = promote_inexact((a, b), "eigh")
    lead = common_shape(ops.checked("eigh", x)[:-2], ops.checked("eigh", y)[:-2])
    x, y = (broadcast_to(m, (*lead, *m.shape[-2:])) for m in (x, y))
    factor, x = ops.cholesky(y), ops.symmetrized(x)
    if type == 1:
        half = ops.triangular_solve(factor, x, left_side=True, lower=True)
        within = _against_adjoint(factor, half, left_side=False)
    else:
        within = matmul(matmul(adjoint(factor), x), factor)
    v, w = spectra.eigh(within, lower=lower)
    if eigvals_only:
        return w
    return w, matmul(factor, v) if type == 3 else _against_adjoint(factor, v, left_side=True)


def _against_adjoint(factor: Array, x: Array, left_side: bool) -> Array:
    return ops.triangular_solve(
        factor, x, left_side=left_side, lower=True, transpose_a=True, conjugate_a=True
    )


@unit("d", "e")
def eigh_tridiagonal(
    d: Any,
    e: Any,
    *,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: tuple[float, float] | None = None,
    tol: float | None = None,
    key: Any = None,
) -> Any:
    """Give eigenvalues and vectors of the Hermitian matrix of diagonal d and e beside it.

    `select`: "a", all, or "i", those from the first number of `select_range` to the second. The
    whole matrix is decomposed; `tol` and `key` are hints that are not needed. Raises
    NotImplementedError for "v", TypeError for dtypes that differ. Source:
    ``jax.scipy.linalg.eigh_tridiagonal``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import eigh_tridiagonal
    >>> eigh_tridiagonal(anp.zeros(2), anp.ones(1), eigvals_only=True)
    Array([-1.,  1.], dtype=float32)
    """
    del tol, key
    middle, beside = arrayed(d, "d"), arrayed(e, "e")
    if middle.dtype != beside.dtype or middle.dtype not in ops.SOLVABLE:
        raise TypeError(
            "eigh_tridiagonal needs d and e of one dtype, float32, float64 or complex, not "
            f"{middle.dtype} and {beside.dtype}"
        )
    n = middle.size
    if middle.shape != (n,) or beside.shape != (max(0, n - 1),):
        raise ValueError(
            f"eigh_tridiagonal needs d of shape (n,) and e of (n - 1,), not {middle.shape} and "
            f"{beside.shape}"
        )
    if select == "v":
        raise NotImplementedError("eigh_tridiagonal: select='v' is not supported")
    if select not in {"a", "i"} or (select == "i" and select_range is None):
        raise ValueError("eigh_tridiagonal: select must be 'a', or 'i' with select_range=")
    kept = None
    if select == "i" and select_range is not None:
        kept = int(select_range[0]), int(select_range[1]) + 1
    rows = with_diagonal(full_like(middle, 0, (n, n)), as_row(middle, (n, n)))
    if n > 1:
        shifted = pad(beside, constant(0, beside), [(0, 1, 0)])
        lower = with_diagonal(full_like(middle, 0, (n, n)), as_row(conj(shifted), (n, n)))
        lower = pad(lower, constant(0, lower), [(1, -1, 0), (0, 0, 0)])
        rows = rows + lower + adjoint(lower)
    v, w = spectra.eigh(rows, symmetrize_input=False, subset_by_index=kept)
    return w if eigvals_only else (w, v)


@unit("a")
def hessenberg(
    a: Any, *, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """Give the matrix H with nothing below its first subdiagonal, and Q if `calc_q`: A = Q H Q^H.

    It has no derivative. Source: ``jax.scipy.linalg.hessenberg``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import hessenberg
    >>> hessenberg(anp.array([[1.0, 2.0], [3.0, 4.0]]))
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    del overwrite_a, check_finite
    x = matrices("hessenberg", a, square=True)
    n, rank = x.shape[-1], len(x.shape)
    if not n:
        return (x, x) if calc_q else x
    packed, factors = reflections.hessenberg(x)
    h = upper_part(packed, -1)
    if not calc_q:
        return h
    below = slice_in_dim(packed, 1, None, axis=rank - 2)
    q = reflections.householder_product(slice_in_dim(below, 0, n - 1, axis=rank - 1), factors)
    corner = [*[(0, 0, 0)] * (rank - 2), (1, 0, 0), (1, 0, 0)]
    return h, pad(q, constant(0, q), corner) + (
        identity_like(x, n) - pad(identity_like(x, n - 1), constant(0, x), corner)
    )


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, Array]:
    """Give L and U packed in one matrix, and the pivots, for `lu_solve`.

    Source: ``jax.scipy.linalg.lu_factor``.

    >>> import arrayport.numpy as anp
    >>> lu_factor(anp.array([[1.0, 2.0], [4.0, 0.0]]))
    (Array([[4.  , 0.  ],
           [0.25, 2.  ]], dtype=float32), Array([1, 1], dtype=int32))
    """
    del overwrite_a, check_finite
    return ops.lu(matrices("lu_factor", a))[:2]


@unit("a")
def lu(
    a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, ...]:
    """Factor matrices as P L U: gives P, L, U, or P L and U if `permute_l`.

    Source: ``jax.scipy.linalg.lu``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import lu
    >>> lu(anp.array([[0.0, 1.0], [2.0, 0.0]]))[2]
    Array([[2., 0.],
           [0., 1.]], dtype=float32)
    """
    del overwrite_a, check_finite
    x = matrices("lu", a)
    packed, _, order = ops.lu(x)
    m, n = x.shape[-2:]
    k, rank = min(m, n), len(x.shape)
    lower = slice_in_dim(lower_part(packed, -1), 0, k, axis=rank - 1)
    lower = with_diagonal(lower, constant(1, x))
    upper = slice_in_dim(upper_part(packed), 0, k, axis=rank - 2)
    back = matrix_transpose(ordering(order, x))
    return (matmul(back, lower), upper) if permute_l else (real(back), lower, upper)


@unit("a")
def polar(
    a: Any,
    side: str = "right",
    *,
    method: str = "qdwh",
    eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Array, Array]:
    """Factor matrices as U P ("right") or P U, P positive semidefinite: gives U, P.

    `method`: "qdwh", for matrices of full rank, or "svd". Raises ValueError for another. Source:
    ``jax.scipy.linalg.polar``, which has not every shape for "qdwh".

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import polar
    >>> polar(anp.array([[-2.0]]))
    (Array([[-1.]], dtype=float32), Array([[2.]], dtype=float32))
    """
    x = matrices("polar", a)
    if side not in {"right", "left"}:
        raise ValueError(f"polar: side must be 'right' or 'left', not {side!r}")
    right = side == "right"
    if method == "svd":
        u, s, vh = spectra.svd(x, full_matrices=False)
        basis = adjoint(vh) if right else u
        return matmul(u, vh), matmul(columns_times(basis, convert(s, x.dtype)), adjoint(basis))
    if method != "qdwh":
        raise ValueError(f"polar: method must be 'qdwh' or 'svd', not {method!r}")
    wide = x.shape[-2] < x.shape[-1]
    u = halley(adjoint(x) if wide else x, eps, max_iterations)[0]
    u = adjoint(u) if wide else u
    return u, ops.symmetrized(matmul(adjoint(u), x) if right else matmul(x, adjoint(u)))


def qr(
    a: Any,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> tuple[Array, ...]:
    """Factor matrices as Q R, with `pivoting` the columns in an order that comes last.

    `mode`: "full", "economic" or "r" (R alone, in a tuple). Raises ValueError for another. Source:
    ``jax.scipy.linalg.qr``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import qr
    >>> [part.shape for part in qr(anp.ones((3, 2)), mode="economic", pivoting=True)]
    [(3, 2), (2, 2), (2,)]
    """
    del overwrite_a, lwork, check_finite
    if mode not in {"full", "r", "economic"}:
        raise ValueError(f"qr: mode must be 'full', 'economic' or 'r', not {mode!r}")
    found = reflections.qr(matrices("qr", a), pivoting=pivoting, full_matrices=mode != "economic")
    return found[1:] if mode == "r" else found


def qr_multiply(
    a: Any,
    c: Any,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[Array, ...]:
    """Multiply c by the Q of a's decomposition, "right" (c Q) or "left" (Q c): gives that and R.

    Q has as many columns as R rows; `conjugate` takes its conjugate. A vector is a row or, on the
    left, a column. Raises ValueError for shapes that do not fit. Source:
    ``jax.scipy.linalg.qr_multiply``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import qr_multiply
    >>> qr_multiply(anp.ones((3, 2)), anp.ones((4, 3)))[0].shape
    (4, 2)
    """
    del overwrite_a, overwrite_c
    if mode not in {"right", "left"}:
        raise ValueError(f"qr_multiply: mode must be 'right' or 'left', not {mode!r}")
    x, y = promote_inexact((a, c), "qr_multiply")
    ops.checked("qr_multiply", x, square=False)
    right, vector = mode == "right", len(y.shape) == 1
    if vector:
        y = reshape(y, (1, -1) if right else (-1, 1))
    q, *rest = reflections.qr(x, pivoting=pivoting, full_matrices=False)
    if y.shape[-1 if right else -2] != q.shape[-2 if right else -1]:
        raise ValueError(
            f"qr_multiply: c of shape {y.shape} does not fit a Q of shape {q.shape} on the {mode}"
        )
    q = conj(q) if conjugate else q
    made = matmul(y, q) if right else matmul(q, y)
    return (reshape(made, (-1,)) if vector else made, *rest)


def schur(a: Any, output: str = "real") -> tuple[Array, Array]:
    """Factor square matrices as Z T Z^H: gives T and Z, complex ones if `output` is "complex".

    Of a real matrix T has blocks of two rows for complex pairs of eigenvalues. It has no
    derivative. Raises ValueError for another output. Source: ``jax.scipy.linalg.schur``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import schur
    >>> schur(anp.array([[1.0, 2.0], [0.0, 3.0]]))[0]
    Array([[1., 2.],
           [0., 3.]], dtype=float32)
    """
    if output not in {"real", "complex"}:
        raise ValueError(f"schur: output must be 'real' or 'complex', not {output!r}")
    x = matrices("schur", a, square=True)
    t, z = spectra.schur(convert(x, dtypes.complex_dtype(x.dtype)) if output == "complex" else x)
    return t, z


@unit("T", "Z")
def rsf2csf(T: Any, Z: Any, check_finite: bool = True) -> tuple[Array, Array]:
    """Make a real Schur form a complex one: T upper triangular, Z unitary, Z T Z^H the same.

    Raises ValueError for matrices that are not square or whose shapes differ. Source:
    ``jax.scipy.linalg.rsf2csf``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import rsf2csf, schur
    >>> rsf2csf(*schur(anp.array([[0.0, 1.0], [-1.0, 0.0]])))[0][1, 0]
    Array(0.+0.j, dtype=complex64)
    """
    del check_finite
    t, z = promote_inexact((T, Z), "rsf2csf")
    if ops.checked("rsf2csf", t)[-2:] != ops.checked("rsf2csf", z)[-2:]:
        raise ValueError(f"rsf2csf: T of shape {t.shape} and Z of {z.shape} must be of one size")
    found, turn = schur(t, "complex")
    return found, matmul(z, turn)


def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """Factor matrices as U S V^H: gives (U, S, V^H), or S alone if not `compute_uv`.

    Source: ``jax.scipy.linalg.svd``.

    >>> import arrayport.numpy as anp
    >>> svd(anp.array([[0.0, 2.0], [3.0, 0.0]]), compute_uv=False).round(4)
    Array([3., 2.], dtype=float32)
    """
    del overwrite_a, check_finite, lapack_driver
    return spectra.svd(matrices("svd", a), full_matrices=full_matrices, compute_uv=compute_uv)
