"""JAX's kernels for sorting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jax import lax

from arrayport.core.primitive import Primitive
from arrayport.ops.sorting import sort_p, top_k_p

ROWS: Mapping[Primitive, Callable[..., Any]] = {
    sort_p: lambda *xs, dimension, num_keys: lax.sort(xs, dimension=dimension, num_keys=num_keys),
    top_k_p: lambda x, k, axis: lax.top_k(x, k, axis=axis),
}
