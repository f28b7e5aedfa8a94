"""Products on JAX: one primitive, one call."""

from __future__ import annotations

from jax import lax

from arrayport.ops.products import dot_general_p

ROWS = {
    dot_general_p: lambda x, y, contract, batch, precision=None, **other: lax.dot_general(
        x, y, (contract, batch), precision=precision, **other
    ),
}
