"""Decompositions by eigenvalues and singular values, over any leading axes."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.errors import NotDifferentiableError
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import abs, complex_p, conj, div, imag, real, select
from arrayport.ops.linalg import (
    adjoint,
    as_column,
    as_row,
    checked,
    decomposition,
    main_diagonal,
    matrices,
    mirrored,
    solve_p,
    symmetrized,
    with_diagonal,
)
from arrayport.ops.products import matmul
from arrayport.ops.reductions import argmax
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.structure import constant, convert, reduce_sum, zeros

Range = tuple[int, int]


class EigImplementation(enum.Enum):
    """Whose eigendecomposition of general matrices to use on a GPU; elsewhere it is LAPACK's."""

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


class EighImplementation(enum.Enum):
    """Which algorithm decomposes Hermitian matrices, where there is a choice."""

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


class SvdAlgorithm(enum.Enum):
    """Which algorithm finds singular values, where there is a choice."""

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


def _choice(name: str, argument: str, value: Any, kind: type[enum.Enum]) -> None:
    """Check a hint, of which the values do not depend."""
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{name}: {argument} must be a member of {kind.__name__}, not {value!r}")


def _range(name: str, subset: Range | None, size: int) -> Range:
    """Read `subset_by_index`: which of the values to keep, from the first up to the second."""
    if subset is None:
        return 0, size
    start, stop = subset
    if not 0 <= start <= stop <= size:
        raise ValueError(
            f"{name}: subset_by_index={subset} must be (start, stop) with 0 <= start <= stop <= "
            f"{size}"
        )
    return start, stop


# ---- eigh


def _eigh_abstract(x: Any, lower: bool) -> list[Aval]:  # noqa: ARG001 - a rule takes all parameters
    shape = checked("eigh", x)
    return [Aval(shape, x.dtype, x.weak), Aval(shape[:-1], dtypes.real_dtype(x.dtype), x.weak)]


def _eigh_jvp(ts: Sequence[Any], ans: Sequence[Array], _x: Array, lower: bool) -> list[Array]:
    """Differentiate A V = V W for distinct eigenvalues: first-order perturbation theory.

    Of A' one triangle counts, as of A.
    """
    v, w = ans
    seen = matmul(adjoint(v), matmul(mirrored(ts[0], lower), v))
    # A diagonal of ones, or the zeros put there below would come back as 0 / 0.
    gaps = with_diagonal(as_row(w, v.shape) - as_column(w, v.shape), constant(1, w))
    mixing = seen * convert(with_diagonal(div(1, gaps), constant(0, w)), v.dtype)
    return [matmul(v, mixing), real(main_diagonal(seen))]


eigh_p = decomposition("eigh", _eigh_abstract, _eigh_jvp)


def eigh(
    x: Any,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: Range | None = None,
    implementation: EighImplementation | None = None,
) -> tuple[Array, Array]:
    """Give the orthonormal eigenvectors (columns) and ascending eigenvalues of Hermitian matrices.

    Derivatives exist where the eigenvalues differ. One triangle is read, `lower` says which, after
    x was replaced by its mean with its adjoint if `symmetrize_input`. `subset_by_index` (start,
    stop) keeps some of them; `implementation` is a hint. Raises ValueError for matrices that are
    not square, or a range that does not fit. Source: ``jax.lax.linalg.eigh``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.lax import linalg
    >>> linalg.eigh(anp.array([[2.0, 0.0], [0.0, 1.0]]), subset_by_index=(1, 2))[1]
    Array([2.], dtype=float32)
    """
    del sort_eigenvalues  # they always are
    _choice("eigh", "implementation", implementation, EighImplementation)
    x = matrices("eigh", x, square=True)
    kept = _range("eigh", subset_by_index, x.shape[-1])
    vectors, values = eigh_p.bind(symmetrized(x) if symmetrize_input else x, lower=lower)
    return slice_in_dim(vectors, *kept, axis=-1), slice_in_dim(values, *kept, axis=-1)


# ---- eig, schur


def _eig_abstract(x: Any, left: bool, right: bool, smooth: bool) -> list[Aval]:  # noqa: ARG001
    shape, dtype = checked("eig", x), dtypes.complex_dtype(x.dtype)
    return [Aval(shape[:-1], dtype, x.weak)] + [Aval(shape, dtype, x.weak)] * (left + right)


def _eig_jvp(
    ts: Sequence[Any], ans: Sequence[Array], x: Array, left: bool, right: bool, smooth: bool
) -> list[Array]:
    """Differentiate A V = V W for distinct eigenvalues."""
    if (left or right) and not smooth:
        raise NotDifferentiableError(
            "eigenvectors of a general matrix have a derivative only where the eigenvalues differ "
            "and no vector has two largest elements: if that holds say enable_eigvec_derivs=True "
            "(lax.linalg.eig), or use eigvals"
        )
    w, *vectors = ans
    v = vectors[-1] if right else eig_p.bind(x, left=False, right=True, smooth=True)[1]
    change = convert(ts[0], v.dtype)
    seen = matmul(solve_p.bind(v, change), v)
    out = [main_diagonal(seen)]
    if left:
        u = vectors[0]
        out.append(_turned(conj(w), u, matmul(solve_p.bind(u, adjoint(change)), u)))
    if right:
        out.append(_turned(w, v, seen))
    return out


def _turned(w: Array, v: Array, seen: Array) -> Array:
    """Give the change of eigenvectors v of eigenvalues w by a change of the matrix, seen in v.

    A vector's scale is free. LAPACK's has length 1 and a largest element that is real, and so it
    must stay.
    """
    gaps = with_diagonal(as_row(w, v.shape) - as_column(w, v.shape), constant(1, w))
    change = matmul(v, seen * with_diagonal(div(1, gaps), constant(0, w)))
    axis = len(v.shape) - 2
    rows = iota_like(v, dtypes.int32, axis)
    largest = rows == as_row(argmax(abs(v), axis, dtypes.int32), v.shape)
    top, slip = (
        reduce_sum(select(largest, part, constant(0, part)), (axis,))
        for part in (real(v), imag(change))
    )
    along = reduce_sum(real(conj(v) * change), (axis,))
    return change - v * as_row(complex_p.bind(along, slip / top), v.shape)


eig_p = decomposition("eig", _eig_abstract, _eig_jvp)


def eig(
    x: Any,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False,
    implementation: EigImplementation | None = None,
    use_magma: bool | None = None,
) -> list[Array]:
    """Give a square matrix's eigenvalues, left eigenvectors and right ones, all of them complex.

    The vectors are columns of length 1; which of them, the options say. Eigenvalues have
    derivatives where they differ; vectors too, if `enable_eigvec_derivs`. Where no decomposition is
    found all is NaN. `implementation` and `use_magma` are hints. Raises ValueError for matrices
    that are not square. Source: ``jax.lax.linalg.eig``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.lax import linalg
    >>> linalg.eig(anp.array([[0.0, 1.0], [-1.0, 0.0]]))[0]
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    del use_magma
    _choice("eig", "implementation", implementation, EigImplementation)
    return list(
        eig_p.bind(
            matrices("eig", x, square=True),
            left=compute_left_eigenvectors,
            right=compute_right_eigenvectors,
            smooth=enable_eigvec_derivs,
        )
    )


schur_p = decomposition(
    "schur",
    lambda x, vectors: [Aval(checked("schur", x), x.dtype, x.weak)] * (1 + vectors),
    not_differentiable="the order of the eigenvalues on the diagonal is the algorithm's choice",
)


def schur(
    x: Any,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: Any = None,
) -> list[Array]:
    """Factor square matrices as Q T Q^H, Q unitary: gives [T, Q], or [T] alone.

    T is upper triangular; of a real matrix it has blocks of two rows for complex pairs of
    eigenvalues. It has no derivative. Raises NotImplementedError for `sort_eig_vals`. Source:
    ``jax.lax.linalg.schur``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.lax import linalg
    >>> linalg.schur(anp.array([[1.0, 2.0], [0.0, 3.0]]))[0]
    Array([[1., 2.],
           [0., 3.]], dtype=float32)
    """
    del select_callable
    if sort_eig_vals:
        raise NotImplementedError("schur: eigenvalues are not sorted, leave sort_eig_vals out")
    found = schur_p.bind(matrices("schur", x, square=True), vectors=compute_schur_vectors)
    return list(found)


# ---- svd


def _svd_abstract(x: Any, full_matrices: bool, compute_uv: bool) -> list[Aval]:
    *lead, m, n = checked("svd", x, square=False)
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
    row, column = as_row(s, seen.shape), as_column(s, seen.shape)
    # A diagonal of ones, for the reason that eigh has.
    gaps = with_diagonal((row - column) * (row + column), constant(1, s))
    mixing = convert(with_diagonal(div(1, gaps), constant(0, s)), x.dtype)
    row, column = convert(row, x.dtype), convert(column, x.dtype)
    turn_u = mixing * (seen * row + column * adjoint(seen))
    turn_v = mixing * (column * seen + adjoint(seen) * row)
    if dtypes.is_complex(x.dtype):
        phase = (seen - adjoint(seen)) / (select(row == 0, constant(1, row), row) * 2)
        turn_u = turn_u + with_diagonal(zeros(phase), phase)
    du, dv = matmul(u, turn_u), matmul(v, turn_v)
    if m > n:
        outside = matmul(da, v)
        du = du + (outside - matmul(u, seen)) / as_row(convert(s, x.dtype), u.shape)
    if n > m:
        outside = matmul(adjoint(da), u)
        dv = dv + (outside - matmul(v, adjoint(seen))) / as_row(convert(s, x.dtype), v.shape)
    return [change, du, adjoint(dv)]


svd_p = decomposition("svd", _svd_abstract, _svd_jvp)


def svd(
    x: Any,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: Range | None = None,
    algorithm: SvdAlgorithm | None = None,
) -> Any:
    """Factor matrices as U S V^H, S descending: gives (U, S, V^H), or S alone.

    Derivatives exist where the singular values differ. `subset_by_index` (start, stop) keeps some
    of them; `algorithm` is a hint. Raises ValueError for a range that does not fit, or one beside
    `full_matrices`. Source: ``jax.lax.linalg.svd``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.lax import linalg
    >>> linalg.svd(anp.array([[0.0, 2.0], [1.0, 0.0]]), compute_uv=False)
    Array([2., 1.], dtype=float32)
    """
    _choice("svd", "algorithm", algorithm, SvdAlgorithm)
    x = matrices("svd", x)
    size = min(x.shape[-2:])
    kept = _range("svd", subset_by_index, size)
    if not compute_uv:
        values = svd_p.bind(x, full_matrices=False, compute_uv=False)[0]
        return slice_in_dim(values, *kept, axis=-1)
    if full_matrices and kept != (0, size):
        raise ValueError("svd: subset_by_index needs full_matrices=False")
    s, u, vh = svd_p.bind(x, full_matrices=full_matrices, compute_uv=True)
    if kept == (0, size):
        return u, s, vh
    u, s = (slice_in_dim(part, *kept, axis=-1) for part in (u, s))
    return u, s, slice_in_dim(vh, *kept, axis=-2)
