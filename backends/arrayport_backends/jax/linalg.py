"""Linear algebra on JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax.lax import linalg

from arrayport.ops.linalg import (
    cholesky_p,
    det_p,
    eigh_p,
    lu_p,
    qr_p,
    slogdet_p,
    solve_p,
    svd_p,
    triangular_solve_p,
)


def eigh(x: Any, lower: bool) -> Any:
    """Decompose, reading one triangle."""
    return linalg.eigh(x, lower=lower, symmetrize_input=False)


def svd(x: Any, full_matrices: bool, compute_uv: bool) -> Any:
    """Decompose, the singular values first."""
    made = linalg.svd(x, full_matrices=full_matrices, compute_uv=compute_uv)
    return (made[1], made[0], made[2]) if compute_uv else [made]


ROWS = {
    cholesky_p: lambda x: linalg.cholesky(x, symmetrize_input=False),
    triangular_solve_p: linalg.triangular_solve,
    solve_p: jnp.linalg.solve,
    det_p: jnp.linalg.det,
    slogdet_p: jnp.linalg.slogdet,
    lu_p: linalg.lu,
    eigh_p: eigh,
    qr_p: linalg.qr,
    svd_p: svd,
}
