"""JAX's kernels on the bits of numbers: one primitive, one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jax import lax

from arrayport.core.primitive import Primitive
from arrayport.ops import bits as ops

ROWS: Mapping[Primitive, Callable[..., Any]] = {
    ops.bitcast_p: lax.bitcast_convert_type,
    ops.clz_p: lax.clz,
    ops.mulhi_p: lax.mulhi,
    ops.reduce_precision_p: lax.reduce_precision,
}
