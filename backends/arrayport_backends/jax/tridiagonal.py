"""Tridiagonal matrices on JAX."""

from __future__ import annotations

from jax.lax import linalg

from arrayport.ops.tridiagonal import tridiagonal_p, tridiagonal_solve_p

ROWS = {
    tridiagonal_solve_p: linalg.tridiagonal_solve,
    tridiagonal_p: linalg.tridiagonal,
}
