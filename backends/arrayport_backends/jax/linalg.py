"""Linear algebra on JAX."""

from __future__ import annotations

import jax.numpy as jnp
from jax.lax import linalg

from arrayport.ops.linalg import (
    cholesky_p,
    det_p,
    lu_p,
    lu_pivots_p,
    slogdet_p,
    solve_p,
    triangular_solve_p,
)

ROWS = {
    cholesky_p: lambda x: linalg.cholesky(x, symmetrize_input=False),
    triangular_solve_p: linalg.triangular_solve,
    solve_p: jnp.linalg.solve,
    det_p: jnp.linalg.det,
    slogdet_p: jnp.linalg.slogdet,
    lu_p: linalg.lu,
    lu_pivots_p: linalg.lu_pivots_to_permutation,
}
