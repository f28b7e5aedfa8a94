"""Kernels of eigenvalues and singular values on NumPy and CuPy; NaN stays NaN."""

from __future__ import annotations

from functools import partial
from typing import Any

from arrayport.ops.spectra import eig_p, eigh_p, schur_p, svd_p
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows
from arrayport_backends.ndarray.linalg import HOST, by_matrix, or_nan


def eigh(lib: Lib, x: Any, lower: bool) -> list[Any]:
    """Decompose."""
    side = "L" if lower else "U"

    def decompose(matrices: Any) -> tuple[Any, Any]:
        values, vectors = lib.xp.linalg.eigh(matrices, side)
        return vectors, values

    return list(or_nan(lib, decompose, x))


def eig(x: Any, left: bool, right: bool, smooth: bool) -> list[Any]:  # noqa: ARG001
    """Decompose; LAPACK's vectors have length 1 and a largest element that is real."""
    made = HOST.eig(x, left=left, right=right, check_finite=False)
    return list(made) if left or right else [made]


def schur(x: Any, vectors: bool) -> list[Any]:
    """Factor, in the numbers that the matrix has."""
    output = "complex" if x.dtype.kind == "c" else "real"
    return list(HOST.schur(x, output, check_finite=False))[: 1 + vectors]


def svd(lib: Lib, x: Any, full_matrices: bool, compute_uv: bool) -> list[Any]:
    """Decompose."""
    if not compute_uv:
        return [or_nan(lib, partial(lib.xp.linalg.svd, compute_uv=False), x)]

    def decompose(matrices: Any) -> tuple[Any, Any, Any]:
        u, s, vh = lib.xp.linalg.svd(matrices, full_matrices)
        return s, u, vh

    return list(or_nan(lib, decompose, x))


ROWS: Rows = {
    eigh_p: Kernel(eigh),
    eig_p: Kernel(by_matrix(eig_p, 2, eig)),
    schur_p: Kernel(by_matrix(schur_p, 2, schur)),
    svd_p: Kernel(svd),
}
