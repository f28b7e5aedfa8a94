"""Eigenvalues and singular values on JAX."""

from __future__ import annotations

from typing import Any

from jax.lax import linalg

from arrayport.ops.spectra import eig_p, eigh_p, schur_p, svd_p


def eigh(x: Any, lower: bool) -> Any:
    """Decompose, reading one triangle."""
    return linalg.eigh(x, lower=lower, symmetrize_input=False)


def eig(x: Any, left: bool, right: bool, smooth: bool) -> Any:
    """Decompose a general matrix."""
    return linalg.eig(
        x,
        compute_left_eigenvectors=left,
        compute_right_eigenvectors=right,
        enable_eigvec_derivs=smooth,
    )


def svd(x: Any, full_matrices: bool, compute_uv: bool) -> Any:
    """Decompose, the singular values first."""
    made = linalg.svd(x, full_matrices=full_matrices, compute_uv=compute_uv)
    return (made[1], made[0], made[2]) if compute_uv else [made]


ROWS = {
    eigh_p: eigh,
    eig_p: eig,
    schur_p: lambda x, vectors: linalg.schur(x, compute_schur_vectors=vectors),
    svd_p: svd,
}
