"""What the samplers take: shapes, float dtypes, parameters that broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.trace import EVAL, backend_of, current_stage
from arrayport.numpy.arguments import shape_of
from arrayport.ops.promotion import common_shape, from_host, lift
from arrayport.ops.structure import Shape, broadcast_to, convert, full_p

DType = np.dtype[Any]


def floating(dtype: Any, name: str) -> DType:
    """Give the float dtype asked for, the default if None."""
    if dtype is None:
        return dtypes.default_float()
    found = dtypes.canonicalize(dtype)
    if not dtypes.is_floating(found):
        raise ValueError(f"dtype of `{name}` must be a float dtype, not {found}")
    return found


def integral(dtype: Any, name: str) -> DType:
    """Give the integer dtype asked for, the default if None."""
    found = dtypes.default_int() if dtype is None else dtypes.canonicalize(dtype)
    if not dtypes.is_integer(found):
        raise ValueError(f"dtype of `{name}` must be an int dtype, not {found}")
    return found


def fitting(shape: Any, name: str, *own: Shape) -> Shape:
    """Give the shape asked for, to which the parameters' must broadcast; theirs if None."""
    least = common_shape(*own)
    if shape is None:
        return least
    found = shape_of(shape)
    if common_shape(found, least) != found:
        raise ValueError(f"{name}: shape {found} does not hold the parameters' {least}")
    return found


def bound(value: Any, dtype: DType, key: Array) -> Array:
    """Bring a number or an array to a dtype and to the key's backend."""
    home = backend_of(key)
    if isinstance(value, int | float):
        if current_stage() is not EVAL:  # a number in a Program belongs to no backend
            return full_p.bind(shape=(), value=value, dtype=dtype, weak=False)
        return from_host(np.array(value, dtype), home)
    return convert(lift(value, home, "a parameter of a distribution"), dtype)


def parameters(
    name: str, key: Array, shape: Any, dtype: DType, *values: Any
) -> tuple[Shape, list[Array]]:
    """Give the shape of the draws, and the parameters of a distribution broadcast to it."""
    found = [bound(v, dtype, key) for v in values]
    size = fitting(shape, name, *[v.shape for v in found])
    return size, [broadcast_to(v, size) if v.shape != size else v for v in found]
