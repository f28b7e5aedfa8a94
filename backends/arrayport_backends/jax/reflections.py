"""Householder reflections on JAX."""

from __future__ import annotations

from jax.lax import linalg

from arrayport.ops.reflections import hessenberg_p, ormqr_p, qr_p

ROWS = {
    qr_p: linalg.qr,
    ormqr_p: linalg.ormqr,
    hessenberg_p: linalg.hessenberg,
}
