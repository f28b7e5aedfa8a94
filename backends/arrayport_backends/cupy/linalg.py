"""Kernels of linear algebra on the device, and refusals of what CUDA's libraries lack.

Nothing is copied to the host unasked: what has no way on the device is refused, with the way there.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from arrayport.core.backend import Refusal
from arrayport.core.errors import UnsupportedOnBackendError
from arrayport.ops.linalg import cholesky_p, lu_p, lu_pivots_p, triangular_solve_p
from arrayport.ops.reflections import hessenberg_p, ormqr_p, qr_p
from arrayport.ops.spectra import eig_p, schur_p
from arrayport.ops.tridiagonal import tridiagonal_p, tridiagonal_solve_p
from arrayport_backends.ndarray import linalg, reflections
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows

Raw = Any


def lacking(what: str) -> Refusal:
    """Refuse, with the way to the host."""
    return Refusal(f"CUDA's libraries have no {what}: move the matrix, device_put(x, 'numpy')")


def refuse(lib: Lib, name: str, what: str) -> UnsupportedOnBackendError:
    """Refuse what a kernel is asked by some of its parameters only."""
    return UnsupportedOnBackendError(
        f"{name} is not supported on backend {lib.name!r}: {lacking(what).reason}"
    )


def eig(lib: Lib, x: Raw, left: bool, right: bool, smooth: bool) -> list[Raw]:  # noqa: ARG001
    """Decompose matrix by matrix; what is not finite gives NaN."""
    xp = lib.xp
    dtype = np.result_type(x.dtype, np.complex64)
    values, rights = xp.empty(x.shape[:-1], dtype), xp.empty(x.shape, dtype)
    if x.size:
        finite = xp.isfinite(x).all(axis=(-2, -1))[..., None, None]
        safe = xp.where(finite, x, xp.eye(x.shape[-1], dtype=x.dtype))
        for i in np.ndindex(*x.shape[:-2]):
            if left or right:
                values[i], rights[i] = xp.linalg.eig(safe[i])
            else:
                values[i] = xp.linalg.eigvals(safe[i])
        lost = xp.asarray(xp.nan, dtype)
        values = xp.where(finite[..., 0], values, lost)
        rights = xp.where(finite, rights, lost)
    lefts = [_left(lib, rights)] if left else []
    return [values, *lefts, *([rights] if right else [])]


def _left(lib: Lib, rights: Raw) -> Raw:
    """Give the left eigenvectors of the right ones, of length 1 and with a real largest element."""
    xp = lib.xp
    if not rights.size:
        return rights
    lefts = xp.swapaxes(xp.linalg.inv(rights).conj(), -1, -2)
    lefts = lefts / xp.sqrt((xp.absolute(lefts) ** 2).sum(axis=-2, keepdims=True))
    places = xp.argmax(xp.absolute(lefts), axis=-2)
    largest = xp.take_along_axis(lefts, places[..., None, :], axis=-2)
    return lefts * (largest.conj() / xp.absolute(largest))


def cholesky(lib: Lib, x: Raw) -> Raw:
    """Factor; CuPy refuses nothing, and leaves a pivot that is no positive number."""
    made = lib.xp.linalg.cholesky(x)
    return linalg.nan_where(lib, linalg.not_positive(made), made)


def triangular_solve(
    lib: Lib,
    a: Raw,
    b: Raw,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool,
    conjugate_a: bool,
    unit_diagonal: bool,
) -> Raw:
    """Substitute, matrix by matrix, from the left: X op(A) = B is op(A)^T X^T = B^T."""
    xp = lib.xp
    if not b.size:
        return xp.empty_like(b)
    if conjugate_a:
        a = a.conj()
    if not left_side:
        b = xp.swapaxes(b, -1, -2)
    out = xp.empty(b.shape, b.dtype)
    for i in linalg.each(b.shape):
        out[i] = lib.scipy_linalg.solve_triangular(
            a[i],
            b[i],
            trans=int(transpose_a == left_side),
            lower=lower,
            unit_diagonal=unit_diagonal,
        )
    return out if left_side else xp.swapaxes(out, -1, -2)


def lu(lib: Lib, x: Raw) -> list[Raw]:
    """Factor with partial pivoting; also the pivots, and the order of rows that they make."""
    factor = partial(lib.scipy_linalg.lu_factor, check_finite=False)
    packed, pivots = linalg.factored(lib, factor, x)
    return [packed, pivots, lu_pivots_to_permutation(lib, pivots, x.shape[-2])]


def lu_pivots_to_permutation(lib: Lib, pivots: Raw, permutation_size: int) -> Raw:
    """Exchange rows one after the other, in all matrices at once."""
    xp = lib.xp
    rows = xp.arange(permutation_size, dtype=xp.int32)
    order = xp.broadcast_to(rows, (*pivots.shape[:-1], permutation_size))
    for j in range(pivots.shape[-1]):
        place = pivots[..., j : j + 1]
        moved, other = order[..., j : j + 1], xp.take_along_axis(order, place, axis=-1)
        order = xp.where(rows == place, moved, xp.where(rows == j, other, order))
    return order


def ormqr(lib: Lib, a: Raw, taus: Raw, c: Raw, left: bool, transpose: bool) -> Raw:
    """Multiply by one reflection after the other."""
    xp = lib.xp
    rows = xp.arange(a.shape[-2])
    steps = range(taus.shape[-1])
    for i in reversed(steps) if left != transpose else steps:
        v = xp.where(rows > i, a[..., i], xp.asarray(0, a.dtype))
        v = xp.where(rows == i, xp.asarray(1, a.dtype), v)
        tau = (taus[..., i].conj() if transpose else taus[..., i])[..., None, None]
        column, row = v[..., :, None], v.conj()[..., None, :]
        c = c - tau * (column * xp.matmul(row, c) if left else xp.matmul(c, column) * row)
    return c


def tridiagonal_solve(lib: Lib, dl: Raw, d: Raw, du: Raw, b: Raw, perturb_singular: bool) -> Raw:
    """Solve with the whole matrix."""
    if perturb_singular:
        raise refuse(lib, "tridiagonal_solve", "solver that perturbs tridiagonal matrices")
    if not b.size:
        return lib.xp.empty_like(b)
    xp, places = lib.xp, lib.xp.arange(d.shape[-1])
    offset = places - places[:, None]  # of the column from the row
    zero = xp.asarray(0, d.dtype)
    parts = ((-1, dl), (0, d), (1, du))
    return xp.linalg.solve(
        sum(xp.where(offset == k, part[..., :, None], zero) for k, part in parts), b
    )


def qr(lib: Lib, x: Raw, full_matrices: bool, pivoting: bool) -> list[Raw]:
    """Decompose; columns keep their places."""
    if pivoting:
        raise refuse(lib, "qr", "pivoted QR decomposition")
    return reflections.qr(lib, x, full_matrices, pivoting=False)


ROWS: Rows = {
    cholesky_p: Kernel(cholesky),
    triangular_solve_p: Kernel(triangular_solve),
    lu_p: Kernel(lu),
    lu_pivots_p: Kernel(lu_pivots_to_permutation),
    eig_p: Kernel(eig),
    ormqr_p: Kernel(ormqr),
    tridiagonal_solve_p: Kernel(tridiagonal_solve),
    qr_p: Kernel(qr),
    schur_p: lacking("Schur decomposition"),
    hessenberg_p: lacking("reduction to Hessenberg form"),
    tridiagonal_p: lacking("public reduction to tridiagonal form"),
}
