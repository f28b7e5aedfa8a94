"""Kernels of tridiagonal matrices on NumPy and CuPy, by LAPACK on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.ops.tridiagonal import tridiagonal_p, tridiagonal_solve_p
from arrayport_backends.ndarray.kernels import Kernel, Rows
from arrayport_backends.ndarray.linalg import by_matrix, lapack

LEAST = 3  # rows that SciPy's way to LAPACK needs; what is added is apart


def tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any, perturb_singular: bool) -> list[Any]:
    """Factor with partial pivoting, then substitute; a zero pivot makes NaN."""
    if not b.size:
        return [b]
    size = d.size
    more = max(0, LEAST - size)
    dl, d, du = (
        np.pad(x, (0, more), constant_values=fill) for x, fill in ((dl, 0), (d, 1), (du, 0))
    )
    b = np.pad(b, ((0, more), (0, 0)))
    dl, d, du, du2, order, singular = lapack("gttrf", d)(dl[1:], d, du[:-1])
    if singular and not perturb_singular:
        return [np.full_like(b[:size], np.nan)]
    if perturb_singular:
        largest = max(np.abs(x).max(initial=0) for x in (d[:size], du, du2))
        d = _perturbed(d, largest)
    return [lapack("gttrs", d, b)(dl, d, du, du2, order, b)[0][:size]]


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
