"""Arrays made from nothing but a shape: counts along an axis, fills, and the identity."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.primitive import Primitive
from arrayport.core.trace import EVAL, backend_of, current_stage
from arrayport.ops.elementwise import equal
from arrayport.ops.placement import no_sharding
from arrayport.ops.promotion import SCALARS, lift
from arrayport.ops.structure import Shape, broadcast_to, convert, full_p

DType = np.dtype[Any]

iota_p: Primitive = Primitive(
    "iota",
    lambda *, dtype, shape, dimension: Aval(shape, dtype),  # noqa: ARG005 - all of its parameters
    lambda _size, _xs, _dims, /, **params: (iota_p.bind(**params), None),
    not_differentiable="it has no operands",
    keeps_weak=False,
)


def iota(dtype: Any, size: int) -> Array:
    """Count 0, 1, 2, ... `size` times. Source: `jax.lax.iota`.

    >>> from arrayport import lax
    >>> lax.iota("int8", 3)
    Array([0, 1, 2], dtype=int8)
    """
    return broadcasted_iota(dtype, (size,), 0)


def broadcasted_iota(
    dtype: Any, shape: Shape, dimension: int, *, out_sharding: Any = None
) -> Array:
    """Count along one axis of a shape, alike along the others. Source: `jax.lax.broadcasted_iota`.

    Raises TypeError for bool and ValueError for an axis that the shape lacks.

    >>> from arrayport import lax
    >>> lax.broadcasted_iota("int32", (2, 3), 1)
    Array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    no_sharding(out_sharding, "broadcasted_iota")
    dtype = dtypes.canonicalize(dtype)
    if dtype == dtypes.bool_:
        raise TypeError("iota does not count in bool: use an integer dtype, for example int32")
    shape = tuple(shape)
    return iota_p.bind(
        dtype=dtype, shape=shape, dimension=normalize_axis_index(dimension, len(shape))
    )


def iota_like(x: Array, dtype: DType, dimension: int, shape: Shape | None = None) -> Array:
    """Count along one axis of x's shape (unless another is given), on x's backend."""
    params = {"dtype": dtype, "shape": x.shape if shape is None else shape, "dimension": dimension}
    home = backend_of(x) if current_stage() is EVAL else None
    return iota_p.bind(**params) if home is None else home.execute(iota_p, (), params)


def full(shape: Shape, fill_value: Any, dtype: Any = None, *, sharding: Any = None) -> Array:
    """Put a number, or an array that broadcasts, everywhere. Source: `jax.lax.full`.

    Raises OverflowError for a Python int that the dtype cannot hold.

    >>> from arrayport import lax
    >>> lax.full((2,), 7, "int16")
    Array([7, 7], dtype=int16)
    """
    no_sharding(sharding, "full")
    shape = tuple(shape)
    if type(fill_value) not in SCALARS:
        x = lift(fill_value, None, "fill_value")
        return broadcast_to(x if dtype is None else convert(x, dtypes.canonicalize(dtype)), shape)
    own, weak = dtypes.scalar_dtype(fill_value)
    known = own if dtype is None else dtypes.canonicalize(dtype)
    if type(fill_value) is int:
        dtypes.check_fits(fill_value, known)
    value = dtypes.saturated(fill_value, known)
    return full_p.bind(shape=shape, value=value, dtype=known, weak=weak and dtype is None)


def eye(size: int, like: Array) -> Array:
    """The identity matrix, in the dtype and on the backend of `like`."""
    rows, columns = (iota_like(like, dtypes.int32, i, (size, size)) for i in (0, 1))
    return convert(equal(rows, columns), like.dtype)
