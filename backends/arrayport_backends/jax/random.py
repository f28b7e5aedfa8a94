"""Random bits on JAX: its own threefry, fed with the same keys and counters."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.random import threefry2x32_p as hash_p

from arrayport.ops.random import fma_p, quick_erf_inv_p, threefry2x32_p


@jax.jit
def fma(x: Any, y: Any, z: Any) -> Any:
    """Multiply and add as XLA does when it compiles them together: with one rounding."""
    return x * y + z


ROWS = {
    threefry2x32_p: lambda *words: hash_p.bind(*jnp.broadcast_arrays(*words)),
    fma_p: fma,
    quick_erf_inv_p: jax.lax.erf_inv,
}
