"""Kernels of Householder reflections on NumPy and CuPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.ops.reflections import geqrf_p, hessenberg_p, ormqr_p, qr_p
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows
from arrayport_backends.ndarray.linalg import by_matrix, lapack


def qr(lib: Lib, x: Any, full_matrices: bool, pivoting: bool) -> list[Any]:
    """Decompose, on the host where columns may change places."""
    if pivoting:
        return PIVOTED(lib, x, full_matrices=full_matrices, pivoting=True)
    q, r = lib.xp.linalg.qr(x, "complete" if full_matrices else "reduced")
    return [q, r]


def geqrf(lib: Lib, x: Any) -> list[Any]:
    """Decompose, leaving the reflections as they are."""
    packed, taus = lib.xp.linalg.qr(x, "raw")
    return [lib.xp.swapaxes(packed, -1, -2), taus]


def _pivoted(x: Any, full_matrices: bool, pivoting: bool) -> list[Any]:  # noqa: ARG001
    m, n = x.shape
    k = m if full_matrices else min(m, n)
    square = np.eye(m, dtype=x.dtype)
    if not x.size:
        return [square[:, :k], x[:k], np.arange(n)]
    packed, order, taus = lapack("geqp3", x)(x)[:3]
    q = ormqr(packed, taus, square, left=True, transpose=False)[0]
    return [q[:, :k], np.triu(packed[:k]), order - 1]


def ormqr(a: Any, taus: Any, c: Any, left: bool, transpose: bool) -> list[Any]:
    """Multiply by reflections."""
    if not taus.size or not c.size:
        return [c]
    name, adjoint = ("unmqr", "C") if a.dtype.kind == "c" else ("ormqr", "T")
    apply = lapack(name, a, c)
    side, mode = "L" if left else "R", adjoint if transpose else "N"
    vectors = a[:, : taus.size]
    size = int(apply(side, mode, vectors, taus, c, -1)[1][0].real)
    return [apply(side, mode, vectors, taus, c, size)[0]]


def hessenberg(x: Any) -> list[Any]:
    """Reduce to Hessenberg form."""
    packed, taus, _ = lapack("gehrd", x)(x)
    return [packed, taus]


PIVOTED = by_matrix(qr_p, 2, _pivoted)
ROWS: Rows = {
    qr_p: Kernel(qr),
    geqrf_p: Kernel(geqrf),
    ormqr_p: Kernel(by_matrix(ormqr_p, 2, ormqr)),
    hessenberg_p: Kernel(by_matrix(hessenberg_p, 2, hessenberg)),
}
