"""JAX's kernels of sliding windows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from jax import lax

from arrayport.core.primitive import Primitive
from arrayport.ops import pooling as ops
from arrayport.ops.reductions import IDENTITIES

COMBINE = {"add": lax.add, "mul": lax.mul, "max": lax.max, "min": lax.min}


def slide(x: Any, monoid: str = "add", **params: Any) -> Any:
    """Combine within windows, from the monoid's identity on."""
    start = np.array(IDENTITIES[monoid](x.dtype), x.dtype)
    return lax.reduce_window(x, start, COMBINE[monoid], **params)


ROWS: Mapping[Primitive, Callable[..., Any]] = {
    ops.window_sum_p: slide,
    ops.window_reduce_p: slide,
}
