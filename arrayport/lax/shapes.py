"""Casts, fills, and changes of shape, as XLA knows them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.numpy import creation, joins, shapes
from arrayport.ops import structure
from arrayport.ops.creation import full
from arrayport.ops.placement import no_sharding
from arrayport.ops.promotion import common_shape, from_host, lift
from arrayport.ops.shapes import expand_dims
from arrayport.ops.slices import reverse

__all__ = [
    "broadcast",
    "broadcast_in_dim",
    "broadcast_like",
    "broadcast_shapes",
    "broadcast_to_rank",
    "collapse",
    "convert_element_type",
    "dtype",
    "empty",
    "full_like",
    "reshape",
    "rev",
    "shape_as_value",
    "tile",
    "transpose",
    "unstack",
]

# ---- dtypes and creation


def dtype(x: Any) -> Any:
    """Give the dtype of an array, a number or what names a dtype. Source: ``jax.lax.dtype``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> lax.dtype(anp.arange(2))
    dtype('int32')
    """
    return dtypes.canonicalize(x) if isinstance(x, str | type | np.dtype) else lift(x).dtype


def convert_element_type(operand: Any, new_dtype: Any) -> Array:
    """Cast to a dtype; Python's int, float and complex keep a weak type weak.

    Source: ``jax.lax.convert_element_type``.

    >>> from arrayport import lax
    >>> lax.convert_element_type(1.5, int)
    Array(1, dtype=int32, weak_type=True)
    """
    x = lift(operand, None, "operand")
    weak = x.weak and new_dtype in {int, float, complex}
    return structure.convert(x, dtypes.canonicalize(new_dtype), weak)


def empty(shape: Sequence[int], dtype: Any, *, out_sharding: Any = None) -> Array:
    """Make an array whose values do not matter. Source: ``jax.lax.empty``.

    >>> from arrayport import lax
    >>> lax.empty((2,), float).shape
    (2,)
    """
    no_sharding(out_sharding, "empty")
    return full(tuple(shape), 0, dtype)


def full_like(
    x: Any, fill_value: Any, dtype: Any = None, shape: Any = None, sharding: Any = None
) -> Array:
    """Put a number everywhere in the shape, dtype and place of x, unless others are given.

    Source: ``jax.lax.full_like``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> lax.full_like(anp.arange(2), 7)
    Array([7, 7], dtype=int32)
    """
    no_sharding(sharding, "full_like")
    return creation.full_like(x, fill_value, dtype, shape)


# ---- shapes


def broadcast(operand: Any, sizes: Sequence[int], *, out_sharding: Any = None) -> Array:
    """Repeat an array along new leading axes. Source: ``jax.lax.broadcast``.

    >>> from arrayport import lax
    >>> lax.broadcast(1, (2,))
    Array([1, 1], dtype=int32, weak_type=True)
    """
    no_sharding(out_sharding, "broadcast")
    x = lift(operand, None, "operand")
    return structure.broadcast_to(x, (*sizes, *x.shape))


def broadcast_in_dim(
    operand: Any,
    shape: Sequence[int],
    broadcast_dimensions: Sequence[int],
    *,
    out_sharding: Any = None,
) -> Array:
    """Stretch to a shape of which axis `broadcast_dimensions[i]` is the operand's axis i.

    Source: ``jax.lax.broadcast_in_dim``.

    >>> from arrayport import lax
    >>> lax.broadcast_in_dim(lax.iota("int32", 2), (2, 2), (0,))
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    no_sharding(out_sharding, "broadcast_in_dim")
    x, dims = lift(operand, None, "operand"), tuple(broadcast_dimensions)
    if len(dims) != len(x.shape) or len(set(dims)) != len(dims):
        raise ValueError(
            f"broadcast_dimensions {dims} must be different ones, one for each axis of {x.shape}"
        )
    x = structure.transpose(x, sorted(range(len(dims)), key=dims.__getitem__))
    return structure.broadcast_in_dim(x, tuple(shape), sorted(dims))


def broadcast_like(arr: Any, like_arr: Any) -> Array:
    """Stretch to the shape of another array. Source: ``jax.lax.broadcast_like``.

    >>> from arrayport import lax
    >>> lax.broadcast_like(2, lax.iota("float32", 3))
    Array([2, 2, 2], dtype=int32, weak_type=True)
    """
    return structure.broadcast_to(lift(arr, None, "arr"), lift(like_arr, None, "like_arr").shape)


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Give the shape to which all broadcast. Source: ``jax.lax.broadcast_shapes``.

    >>> from arrayport import lax
    >>> lax.broadcast_shapes((3, 1), (2,))
    (3, 2)
    """
    return common_shape(*[tuple(s) for s in shapes])


def broadcast_to_rank(x: Any, rank: int) -> Array:
    """Add leading axes of extent 1 up to a rank. Source: ``jax.lax.broadcast_to_rank``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> lax.broadcast_to_rank(anp.ones(3), 2).shape
    (1, 3)
    """
    x = lift(x)
    return structure.reshape(x, (1,) * (rank - len(x.shape)) + x.shape)


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Array:
    """Make one axis of the axes from start to stop. Source: ``jax.lax.collapse``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> lax.collapse(anp.ones((2, 3, 4)), 1).shape
    (2, 12)
    """
    x = lift(operand, None, "operand")
    axes = range(len(x.shape))[start_dimension:stop_dimension]
    if not axes:
        return expand_dims(x, (start_dimension,))
    joined = prod(x.shape[a] for a in axes)
    return structure.reshape(x, (*x.shape[: axes[0]], joined, *x.shape[axes[-1] + 1 :]))


def reshape(
    operand: Any,
    new_sizes: Sequence[int],
    dimensions: Sequence[int] | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Give another shape of the same size, `dimensions` permuting the axes first.

    Source: ``jax.lax.reshape``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> lax.reshape(anp.arange(4), (2, 2))
    Array([[0, 1],
           [2, 3]], dtype=int32)
    """
    no_sharding(out_sharding, "reshape")
    x = lift(operand, None, "operand")
    if dimensions is not None:
        x = structure.transpose(x, dimensions)
    return structure.reshape(x, tuple(new_sizes))


def rev(operand: Any, dimensions: Sequence[int]) -> Array:
    """Reverse axes; TypeError unless each is named once, from 0 on. Source: ``jax.lax.rev``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> lax.rev(anp.arange(3), (0,))
    Array([2, 1, 0], dtype=int32)
    """
    x = lift(operand, None, "operand")
    axes = tuple(dimensions)
    if len({*axes}) < len(axes) or not {*axes} <= {*range(len(x.shape))}:
        raise TypeError(f"dimensions {axes} of rev must name axes of shape {x.shape}, each once")
    return reverse(x, axes)


def shape_as_value(shape: Sequence[int]) -> Array:
    """Give a shape as an array of integers. Source: ``jax.lax.shape_as_value``.

    >>> from arrayport import lax
    >>> lax.shape_as_value((2, 3))
    Array([2, 3], dtype=int32)
    """
    return from_host(np.array(tuple(shape), dtypes.int32))


def tile(operand: Any, reps: Sequence[int]) -> Array:
    """Lay copies beside each other, so many along each axis. Source: ``jax.lax.tile``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> lax.tile(anp.arange(2), (2,))
    Array([0, 1, 0, 1], dtype=int32)
    """
    x = lift(operand, None, "operand")
    if len(reps) != len(x.shape):
        raise ValueError(f"reps {tuple(reps)} of lax.tile must be one an axis of {x.shape}")
    return shapes.tile(x, reps)


def transpose(operand: Any, permutation: Sequence[int]) -> Array:
    """Permute the axes. Source: ``jax.lax.transpose``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> lax.transpose(anp.ones((2, 3)), (1, 0)).shape
    (3, 2)
    """
    x, order = lift(operand, None, "operand"), tuple(permutation)
    if sorted(order) != list(range(len(x.shape))):
        raise TypeError(f"permutation {order} must name each of the axes of {x.shape} once")
    return structure.transpose(x, order)


def unstack(x: Any, axis: int = 0) -> tuple[Array, ...]:
    """Take an axis apart. Source: ``jax.lax.unstack``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> lax.unstack(anp.arange(2))
    (Array(0, dtype=int32), Array(1, dtype=int32))
    """
    return joins.unstack(x, axis=axis)
