"""Decompositions by Householder reflections, over any leading axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.errors import NotDifferentiableError
from arrayport.core.primitive import Primitive
from arrayport.ops.elementwise import conj, real, select
from arrayport.ops.linalg import (
    adjoint,
    as_column,
    checked,
    decomposition,
    identity_like,
    lower_part,
    main_diagonal,
    matrices,
    matrix_transpose,
    ordering,
    solve_p,
    solver,
    triangular_solve_p,
    upper_part,
    with_diagonal,
)
from arrayport.ops.products import matmul
from arrayport.ops.promotion import lift_all, promote_inexact, settle
from arrayport.ops.shapes import concatenate, pad
from arrayport.ops.slices import static_slice
from arrayport.ops.structure import constant, convert, in_front, reshape, zeros

# ---- qr


def _qr_abstract(x: Any, full_matrices: bool, pivoting: bool) -> list[Aval]:
    *lead, m, n = checked("qr", x, square=False)
    k = m if full_matrices else min(m, n)
    outs = [Aval((*lead, m, k), x.dtype, x.weak), Aval((*lead, k, n), x.dtype, x.weak)]
    return [*outs, Aval((*lead, n), dtypes.int32)] if pivoting else outs


def _part(x: Array, rows: tuple[int, int], columns: tuple[int, int]) -> Array:
    """Take a block of matrices."""
    lead = tuple([(0, k, 1) for k in x.shape[:-2]])
    return static_slice(x, (*lead, (*rows, 1), (*columns, 1)))


def _qr_jvp(
    ts: Sequence[Any], ans: Sequence[Array], x: Array, full_matrices: bool, pivoting: bool
) -> list[Array | None]:
    """Differentiate A = Q R, the columns in the order that pivoting chose.

    Where Q^H dQ is antihermitian and dR R^-1 upper with a real diagonal, both follow from the first
    columns of A, as many as it has rows. The other columns of R are Q^H A.
    """
    q, r, *order = ans
    change = ts[0]
    if pivoting:
        columns = matrix_transpose(ordering(order[0], x))
        x, change = matmul(x, columns), matmul(change, columns)
    m, n = x.shape[-2:]
    k = min(m, n)
    dq, dr = _thin_change(
        _part(q, (0, m), (0, k)), _part(r, (0, k), (0, k)), _part(change, (0, m), (0, k))
    )
    if m < n:
        dr = upper_part(matmul(adjoint(dq), x) + matmul(adjoint(q), change))
    elif full_matrices and m > n:
        dq = concatenate([dq, _complement_change(q, dq)], len(x.shape) - 1)
        dr = pad(dr, constant(0, dr), [*[(0, 0, 0)] * (len(x.shape) - 2), (0, m - n, 0), (0, 0, 0)])
    return [dq, dr, *[None] * pivoting]


def _thin_change(q: Array, r: Array, change: Array) -> tuple[Array, Array]:
    """Give the changes of Q and a square R."""
    outer = triangular_solve_p.bind(r, change, **solver(left_side=False, lower=False))
    seen = matmul(adjoint(q), outer)
    strict = lower_part(seen, -1)
    turn = strict - adjoint(strict)
    if dtypes.is_complex(q.dtype):
        phase = seen - convert(real(seen), q.dtype)
        turn = turn + with_diagonal(zeros(phase), phase)
    return matmul(q, turn - seen) + outer, matmul(seen - turn, r)


def _complement_change(q: Array, dq: Array) -> Array:
    """Give the change of the columns of a square Q beyond R's, by that of the first.

    Let A over B be the first columns of Q, T over D the others. A product of n reflections is 1 and
    a matrix of rank n, so D = 1 + Z T for Z (A - 1) = B; and for Q to be unitary
    T = -(A - 1) (1 - A^H)^-1 B^H.
    """
    m, n = q.shape[-1], dq.shape[-1]
    first, rest = (0, n), (n, m)
    above, below, top = _part(q, first, first), _part(q, rest, first), _part(q, first, rest)
    d_above, d_below = _part(dq, first, first), _part(dq, rest, first)
    one = identity_like(above, n)
    shifted = above - one
    z = adjoint(solve_p.bind(adjoint(shifted), adjoint(below)))
    dz = adjoint(solve_p.bind(adjoint(shifted), adjoint(d_below - matmul(z, d_above))))
    inner = solve_p.bind(one - adjoint(above), adjoint(below))
    d_inner = solve_p.bind(one - adjoint(above), adjoint(d_below) + matmul(adjoint(d_above), inner))
    d_top = -(matmul(d_above, inner) + matmul(shifted, d_inner))
    return concatenate([d_top, matmul(dz, top) + matmul(z, d_top)], len(q.shape) - 2)


qr_p = decomposition("qr", _qr_abstract, _qr_jvp)


def qr(
    x: Any, *, pivoting: bool = False, full_matrices: bool = True, use_magma: bool | None = None
) -> tuple[Array, ...]:
    """Factor matrices as Q R, Q with orthonormal columns, R upper triangular.

    With `full_matrices` Q is square. With `pivoting` it is A's columns in another order that are
    factored, so that R's diagonal descends, and that order comes third. `use_magma` is a hint.
    Raises TypeError for dtypes that LAPACK lacks. Source: ``jax.lax.linalg.qr``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.lax import linalg
    >>> linalg.qr(anp.array([[1.0, 0.0], [0.0, 2.0]]), pivoting=True)[2]
    Array([1, 0], dtype=int32)
    """
    del use_magma
    return tuple(qr_p.bind(matrices("qr", x), full_matrices=full_matrices, pivoting=pivoting))


def _geqrf_abstract(x: Any) -> list[Aval]:
    *lead, m, n = checked("qr", x, square=False)
    return [Aval(x.shape, x.dtype, x.weak), Aval((*lead, min(m, n)), x.dtype, x.weak)]


# The reflections of which Q is the product, below the diagonal, with R in the rest; their factors.
geqrf_p = decomposition(
    "geqrf",
    _geqrf_abstract,
    not_differentiable="differentiate qr without mode='raw', whose rule knows Q and R",
)


def cholesky_update(r_matrix: Any, w_vector: Any) -> Array:
    """Give the upper triangular factor of R^T R + w w^T for an upper triangular R.

    Raises ValueError for shapes that do not fit, TypeError for complex numbers. Source:
    ``jax.lax.linalg.cholesky_update``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.lax import linalg
    >>> linalg.cholesky_update(anp.array([[3.0]]), anp.array([4.0]))
    Array([[5.]], dtype=float32)
    """
    r, w = settle(lift_all((r_matrix, w_vector), "cholesky_update's operand"))
    checked("cholesky_update", r)
    if w.shape != r.shape[:-1] or w.dtype != r.dtype:
        raise ValueError(
            "cholesky_update needs r_matrix of shape (..., n, n) and w_vector of (..., n), of one "
            f"dtype, not {r.dtype}{r.shape} and {w.dtype}{w.shape}"
        )
    if dtypes.is_complex(r.dtype):
        raise TypeError(f"cholesky_update takes real numbers, not {r.dtype}")
    below = reshape(w, (*w.shape[:-1], 1, w.shape[-1]))
    new = qr(concatenate([upper_part(r), below], len(r.shape) - 2), full_matrices=False)[1]
    signs = select(main_diagonal(new) < 0, constant(-1, new), constant(1, new))
    return new * as_column(signs, new.shape)


# ---- products of reflections


def _reflect_abstract(a: Any, taus: Any, c: Any, left: bool, transpose: bool) -> Aval:  # noqa: ARG001
    for x in (a, c):
        checked("ormqr", x, square=False)
    count = taus.shape[-1] if taus.shape else 0
    if (
        not a.shape[:-2] == taus.shape[:-1] == c.shape[:-2]
        or c.shape[-2 if left else -1] != a.shape[-2]
        or count > min(a.shape[-2:])
    ):
        raise ValueError(
            f"ormqr needs as many {'rows' if left else 'columns'} of c as a has rows, no more taus "
            "than rows or columns of a, and equal leading axes, but got a of shape "
            f"{a.shape}, taus of {taus.shape}, c of {c.shape}"
        )
    if not a.dtype == taus.dtype == c.dtype:
        raise TypeError(f"ormqr needs one dtype, not {a.dtype}, {taus.dtype} and {c.dtype}")
    return Aval(c.shape, c.dtype, a.weak and taus.weak and c.weak)


def _reflect_jvp(
    ts: Sequence[Any], _ans: Any, a: Array, taus: Array, _c: Any, **params: Any
) -> Array:
    if ts[0] is not None or ts[1] is not None:
        raise NotDifferentiableError(
            "products of Householder reflections have no derivative with respect to the vectors "
            "and factors: differentiate qr, whose rule knows what they are"
        )
    return ormqr_p.bind(a, taus, ts[2], **params)


def _reflect_pull(ct: Array, a: Array, taus: Array, _c: Any, left: bool, transpose: bool) -> Array:
    """Transpose: Q^T ct is the conjugate of Q^H applied to the conjugate."""
    return conj(ormqr_p.bind(a, taus, conj(ct), left=left, transpose=not transpose))


ormqr_p: Primitive = Primitive(
    "ormqr",
    _reflect_abstract,
    lambda size, xs, dims, /, **params: (ormqr_p.bind(*in_front(size, xs, dims), **params), 0),
    jvp=_reflect_jvp,
    transposes=(None, None, _reflect_pull),
)


def ormqr(a: Any, taus: Any, c: Any, *, left: bool = True, transpose: bool = False) -> Array:
    """Multiply c by the product of Householder reflections that `qr` algorithms leave in a.

    Gives Q c, or c Q if not `left`; `transpose` takes Q^H. The vectors stand below a's diagonal,
    their factors are `taus`. Only c has a derivative. Raises ValueError for shapes that do not fit.
    Source: ``jax.lax.linalg.ormqr``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.lax import linalg
    >>> linalg.ormqr(anp.zeros((2, 1)), anp.array([2.0]), anp.eye(2))
    Array([[-1.,  0.],
           [ 0.,  1.]], dtype=float32)
    """
    xs = settle(promote_inexact((a, taus, c), "ormqr's operand"))
    ormqr_p.abstract(*xs, left, transpose)
    return ormqr_p.bind(*xs, left=left, transpose=transpose)


def householder_product(a: Any, taus: Any) -> Array:
    """Multiply Householder reflections out: gives as many orthonormal columns as a has.

    The vectors stand below a's diagonal, their factors are `taus`; it has no derivative. Raises
    ValueError for shapes that do not fit, or more columns than rows. Source:
    ``jax.lax.linalg.householder_product``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.lax import linalg
    >>> linalg.householder_product(anp.zeros((2, 1)), anp.array([2.0]))
    Array([[-1.],
           [ 0.]], dtype=float32)
    """
    x, factors = settle(promote_inexact((a, taus), "householder_product's operand"))
    m, n = checked("householder_product", x, square=False)[-2:]
    if m < n:
        raise ValueError(
            f"householder_product needs no more columns than rows, but got shape {x.shape}"
        )
    return _part(ormqr(x, factors, identity_like(x, m)), (0, m), (0, n))


def _hessenberg_abstract(x: Any) -> list[Aval]:
    *lead, n, _ = checked("hessenberg", x)
    if not n:
        raise ValueError(f"hessenberg needs matrices of a row or more, not shape {x.shape}")
    return [Aval(x.shape, x.dtype, x.weak), Aval((*lead, n - 1), x.dtype, x.weak)]


hessenberg_p = decomposition(
    "hessenberg",
    _hessenberg_abstract,
    not_differentiable="the reflections are not unique",
)


def hessenberg(a: Any) -> tuple[Array, Array]:
    """Reduce square matrices to Hessenberg form: nothing below the first subdiagonal.

    Gives a matrix with that form and, below it, the Householder vectors; and the vectors' factors.
    It has no derivative. Raises ValueError for matrices that are not square. Source:
    ``jax.lax.linalg.hessenberg``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.lax import linalg
    >>> linalg.hessenberg(anp.array([[1.0, 2.0], [3.0, 4.0]]))[0]
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    packed, factors = hessenberg_p.bind(matrices("hessenberg", a, square=True))
    return packed, factors
