"""JAX's kernels for casting, filling, broadcasting, reshaping, transposing and summing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from arrayport.core import dtypes
from arrayport.core.primitive import Primitive
from arrayport.ops import structure as ops


def convert(x: Any, dtype: np.dtype[Any], weak: bool) -> Any:
    """Cast; XLA saturates. A strong float cannot be made weak: JAX has no public way."""
    if x.dtype.kind == "c" and dtypes.kind(dtype) != "c":
        x = x != 0 if dtype == np.bool_ else lax.real(x)
    if weak and x.dtype == np.bool_:
        x = jnp.where(x, 1, 0)
    if weak and dtypes.kind(dtype) == "f" and dtypes.kind(x.dtype) in "iu":
        x = x * 1.0
        if x.dtype == dtype:
            return x
    if weak and x.weak_type:
        if x.dtype == dtype:
            return x
        if dtypes.kind(dtype) == "c" and x.dtype.kind != "c":
            x = lax.complex(x * 1.0, 0.0 * x)
        if x.dtype == dtype:
            return x
    return lax.convert_element_type(x, dtype)


def is_own_number(value: complex, dtype: np.dtype[Any], weak: bool) -> bool:
    """Whether a Python number is of its own dtype, which is what JAX calls weak."""
    own, number_is_weak = dtypes.scalar_dtype(value)
    return weak and number_is_weak and own == dtype


def full(shape: tuple[int, ...], value: complex, dtype: np.dtype[Any], weak: bool) -> Any:
    """Fill."""
    if dtype == dtypes.key:
        return jax.random.wrap_key_data(jnp.zeros((*shape, 2), np.uint32), impl="threefry2x32")
    if is_own_number(value, dtype, weak):
        return lax.broadcast(value, shape)
    return lax.full(shape, value, dtype)


ROWS: Mapping[Primitive, Callable[..., Any]] = {
    ops.convert_p: convert,
    ops.full_p: full,
    ops.broadcast_in_dim_p: lambda x, *, shape, dims: lax.broadcast_in_dim(x, shape, dims),
    ops.reshape_p: lambda x, *, shape: lax.reshape(x, shape),
    ops.transpose_p: lambda x, *, perm: lax.transpose(x, perm),
    ops.reduce_sum_p: lambda x, *, axes: (
        lax.reduce_or(x, axes) if x.dtype == np.bool_ else lax.reduce_sum(x, axes)
    ),
}
