"""JAX's kernels for reductions, places of extremes, and cumulations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jax import lax

from arrayport.core.primitive import Primitive
from arrayport.ops import reductions as ops

ROWS: Mapping[Primitive, Callable[..., Any]] = {
    ops.reduce_max_p: lax.reduce_max,
    ops.reduce_min_p: lax.reduce_min,
    ops.reduce_prod_p: lax.reduce_prod,
    ops.reduce_and_p: lax.reduce_and,
    ops.reduce_or_p: lax.reduce_or,
    ops.reduce_xor_p: lax.reduce_xor,
    ops.argmax_p: lax.argmax,
    ops.argmin_p: lax.argmin,
    ops.cumsum_p: lax.cumsum,
    ops.cumprod_p: lax.cumprod,
    ops.cummax_p: lax.cummax,
    ops.cummin_p: lax.cummin,
    ops.cumlogsumexp_p: lax.cumlogsumexp,
}
