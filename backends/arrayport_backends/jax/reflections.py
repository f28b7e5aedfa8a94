"""Householder reflections on JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax
from jax.lax import linalg

from arrayport.ops.reflections import geqrf_p, hessenberg_p, ormqr_p, qr_p


def qr(x: Any, full_matrices: bool, pivoting: bool) -> Any:
    """Decompose; JAX has no right derivative for wide matrices whose columns change places."""
    if not pivoting or x.shape[-2] >= x.shape[-1]:
        return linalg.qr(x, full_matrices=full_matrices, pivoting=pivoting)
    order = linalg.qr(lax.stop_gradient(x), full_matrices=False, pivoting=True)[2]
    ordered = jnp.take_along_axis(x, order[..., None, :], -1)
    return (*linalg.qr(ordered, full_matrices=full_matrices), order)


def geqrf(x: Any) -> Any:
    """Decompose, leaving the reflections as they are."""
    packed, taus = jnp.linalg.qr(x, mode="raw")
    return jnp.swapaxes(packed, -1, -2), taus


ROWS = {qr_p: qr, geqrf_p: geqrf, ormqr_p: linalg.ormqr, hessenberg_p: linalg.hessenberg}
