"""JAX's kernels for joining and padding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jax import lax

from arrayport.core.primitive import Primitive
from arrayport.ops.shapes import concatenate_p, pad_p

ROWS: Mapping[Primitive, Callable[..., Any]] = {
    concatenate_p: lambda *xs, dimension: lax.concatenate(xs, dimension),
    pad_p: lax.pad,
}
