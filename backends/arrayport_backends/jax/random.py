"""Random bits on JAX: its own threefry, fed with the same keys and counters."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.random import threefry2x32_p as hash_p

from arrayport.ops.random import (
    fma_p,
    quick_erf_inv_p,
    random_unwrap_p,
    random_wrap_p,
    threefry2x32_p,
)

flags: Any = jax.config


@jax.jit
def fma(x: Any, y: Any, z: Any) -> Any:
    """Multiply and add as XLA does when it compiles them together: with one rounding."""
    return x * y + z


def threefry2x32(*words: Any) -> Any:
    """Hash words that broadcast. Scalar keys stay: XLA prepares one once, not for each element."""
    shape = jnp.broadcast_shapes(*[w.shape for w in words])
    is_key = (True, True, False, False)
    full = [
        w if key and not w.shape else jnp.broadcast_to(w, shape)
        for w, key in zip(words, is_key, strict=True)
    ]
    # Of a pair of words vmap may have batched one alone, for which JAX has no rule; it has both if
    # they come out of one array, which XLA leaves out again.
    pairs = [*jnp.stack(full[:2]), *jnp.stack(full[2:])]
    return hash_p.bind(*pairs)  # type: ignore[no-untyped-call]


def random_unwrap(keys: Any, consumes: bool) -> Any:
    """Give the words; JAX is told of keys that are drawn with, if it looks for those used twice."""
    if consumes and flags.jax_debug_key_reuse:
        jax.random.bits(keys, ())
    return jax.random.key_data(keys)


ROWS = {
    threefry2x32_p: threefry2x32,
    fma_p: fma,
    quick_erf_inv_p: jax.lax.erf_inv,
    random_wrap_p: partial(jax.random.wrap_key_data, impl="threefry2x32"),
    random_unwrap_p: random_unwrap,
}
