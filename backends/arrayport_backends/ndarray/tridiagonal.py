"""Kernels of tridiagonal matrices on NumPy and CuPy, by LAPACK on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.ops.tridiagonal import tridiagonal_p, tridiagonal_solve_p
from arrayport_backends.ndarray.kernels import Kernel, Rows
from arrayport_backends.ndarray.linalg import by_matrix, lapack


def tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any, perturb_singular: bool) -> list[Any]:
    """Factor with partial pivoting, then substitute; a zero pivot divides."""
    if not b.size:
        return [b]
    if d.size == 1:
        pivots = _perturbed(d, np.abs(d).max()) if perturb_singular else d
        return [b / pivots]
    dl, d, du, du2, order, _ = lapack("gttrf", d)(dl[1:], d, du[:-1])
    if perturb_singular:
        d = _perturbed(d, max(np.abs(part).max(initial=0) for part in (d, du, du2)))
    return [lapack("gttrs", d, b)(dl, d, du, du2, order, b)[0]]


def _perturbed(pivots: Any, largest: Any) -> Any:
    """Put the rounding error of the largest element in the place of tiny pivots."""
    info = np.finfo(pivots.dtype)
    least = max(info.eps * largest, info.tiny)
    return np.where(np.abs(pivots) < least, np.where(pivots.real < 0, -least, least), pivots)


def tridiagonal(x: Any, lower: bool) -> list[Any]:
    """Reduce Hermitian matrices to tridiagonal form."""
    reduce = lapack("hetrd" if x.dtype.kind == "c" else "sytrd", x)
    return list(reduce(x, lower=lower)[:4])


ROWS: Rows = {
    tridiagonal_solve_p: Kernel(by_matrix(tridiagonal_solve_p, 1, tridiagonal_solve)),
    tridiagonal_p: Kernel(by_matrix(tridiagonal_p, 2, tridiagonal)),
}
