"""Joining and padding arrays, and the changes of shape that other operations are written with."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from numpy.lib.array_utils import normalize_axis_index

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.errors import user_line
from arrayport.core.primitive import Binary, Primitive
from arrayport.ops.elementwise import not_equal, select
from arrayport.ops.promotion import KEEPS, home_of, lift, lift_all, scalar
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.structure import (
    Shape,
    batch_to_front,
    broadcast_in_dim,
    constant,
    full_like,
    in_front,
    reduce_sum,
    reshape,
)

Padding = tuple[tuple[int, int, int], ...]  # for each axis: low, high, interior

# ---- concatenate


def concatenate(operands: Sequence[Any], dimension: int) -> Array:
    """Join arrays of one dtype along an axis that they have. Source: `jax.lax.concatenate`.

    Raises ValueError for no operands, TypeError for shapes that differ elsewhere or for two dtypes.

    >>> from arrayport import lax
    >>> lax.concatenate([lax.iota("int32", 2), lax.iota("int32", 3)], 0)
    Array([0, 1, 0, 1, 2], dtype=int32)
    """
    xs = lift_all(operands)
    if not xs:
        raise ValueError("concatenate needs at least one array")
    dimension = normalize_axis_index(dimension, len(xs[0].shape))
    if len(xs) == 1:
        return xs[0]
    _concatenate_abstract(*xs, dimension=dimension)
    return concatenate_p.bind(*xs, dimension=dimension)


def _concatenate_abstract(*xs: Any, dimension: int) -> Aval:
    first, extent = xs[0], 0
    before, after = first.shape[:dimension], first.shape[dimension + 1 :]
    for x in xs:
        if x.shape[:dimension] != before or x.shape[dimension + 1 :] != after:
            shapes = ", ".join(str(y.shape) for y in xs)
            raise TypeError(
                f"cannot concatenate shapes {shapes} along axis {dimension} at {user_line()}: all "
                "other extents must be equal"
            )
        if x.dtype != first.dtype:
            names = ", ".join(str(y.dtype) for y in xs)
            raise TypeError(
                f"cannot concatenate dtypes {names}: cast to one, or use numpy.concatenate"
            )
        extent += x.shape[dimension]
    weak = all([x.weak for x in xs])  # noqa: C419 - quicker
    return Aval((*before, extent, *after), first.dtype, weak)


def _concatenate_transpose(i: int, g: Array, *xs: Any, dimension: int) -> Array:
    start = sum(x.shape[dimension] for x in xs[:i])
    return slice_in_dim(g, start, start + xs[i].shape[dimension], axis=dimension)


def _concatenate_jvp(ts: Sequence[Array | None], _ans: Any, *xs: Any, dimension: int) -> Array:
    like = next(t for t in ts if t is not None)
    pairs = zip(ts, xs, strict=True)
    return concatenate(
        [full_like(like, 0, x.shape) if t is None else t for t, x in pairs], dimension
    )


def _concatenate_batch(size: int, xs: Any, dims: Any, /, dimension: int) -> tuple[Array, int]:
    return concatenate(in_front(size, xs, dims), dimension + 1), 0


concatenate_p = Primitive(
    "concatenate",
    _concatenate_abstract,
    _concatenate_batch,
    transposes=_concatenate_transpose,
    jvp=_concatenate_jvp,
)

# ---- pad


def pad(operand: Any, padding_value: Any, padding_config: Sequence[tuple[int, int, int]]) -> Array:
    """Put a value around and between the elements of an array. Source: `jax.lax.pad`.

    `padding_config` holds (low, high, interior) for each axis; negative low or high removes.
    Raises TypeError for a value of another dtype, ValueError for a configuration that does not fit.

    >>> from arrayport import lax
    >>> lax.pad(lax.iota("int32", 3), 9, [(1, -1, 2)])
    Array([9, 0, 9, 9, 1, 9, 9], dtype=int32)
    """
    x = lift(operand, home_of(padding_value), "operand")
    if dtypes.kind(x.dtype) in KEEPS.get(type(padding_value), ""):
        value = scalar(padding_value, x.dtype)
    else:
        value = lift(padding_value, home_of(x), "padding_value")
    if value.dtype != x.dtype:
        raise TypeError(
            f"pad got an operand of {x.dtype} and a padding_value of {value.dtype}: cast one"
        )
    config = tuple((int(low), int(high), int(inner)) for low, high, inner in padding_config)
    _pad_abstract(x, value, config)
    return x if not any(map(any, config)) else pad_p.bind(x, value, padding_config=config)


def _pad_abstract(x: Any, value: Any, padding_config: Padding) -> Aval:
    negative = any(inner < 0 for _, _, inner in padding_config)
    if len(padding_config) != len(x.shape) or negative or value.shape:
        raise ValueError(
            f"pad of shape {x.shape} by {padding_config} with a value of shape {value.shape} needs "
            "(low, high, interior) for each axis, interior not negative, and a 0-dimensional value"
        )
    shape = padded_shape(x.shape, padding_config)
    if min(shape, default=0) < 0:
        raise ValueError(
            f"pad of shape {x.shape} with {padding_config} removes more than there is: {shape}"
        )
    return Aval(shape, x.dtype, x.weak and value.weak)


def padded_shape(shape: Shape, padding_config: Padding) -> Shape:
    """The extents of a padded array."""
    return tuple(
        low + n + max(0, n - 1) * inner + high
        for n, (low, high, inner) in zip(shape, padding_config, strict=True)
    )


def _own_part(g: Array, x: Any, _value: Any, padding_config: Padding) -> Array:
    """What came from x: padding backwards undoes the outside, strides skip the inside."""
    g = pad(g, constant(0, g), [(-low, -high, 0) for low, high, _ in padding_config])
    for axis, (_, _, inner) in enumerate(padding_config):
        g = slice_in_dim(g, None, None, inner + 1, axis) if inner and x.shape[axis] else g
    return g


def _padding_part(g: Array, x: Any, _value: Any, padding_config: Padding) -> Array:
    return reduce_sum(select(_is_padding(g, x.shape, padding_config), g, constant(0, g)))


def _is_padding(like: Array, shape: Shape, padding_config: Padding) -> Array:
    """Where the padded array holds the padding value."""
    return not_equal(pad(full_like(like, 0, shape), constant(1, like), padding_config), 0)


def _pad_jvp(
    ts: Sequence[Array | None], _ans: Any, x: Any, _value: Any, padding_config: Padding
) -> Array:
    t, t_value = ts
    if t is None:
        t = full_like(t_value, 0, x.shape)
    return pad(t, constant(0, t) if t_value is None else t_value, padding_config)


def _pad_batch(size: int, xs: Any, dims: Any, /, padding_config: Padding) -> tuple[Array, int]:
    (x, value), (d, d_value) = xs, dims
    if d_value is None:
        return pad(x, value, (*padding_config[:d], (0, 0, 0), *padding_config[d:])), d
    x = batch_to_front(size, x, d)
    out = pad(x, constant(0, x), ((0, 0, 0), *padding_config))
    where = _is_padding(x, x.shape[1:], padding_config)
    return select(where, broadcast_in_dim(value, out.shape, (0,)), out), 0


pad_p = Binary(
    "pad",
    _pad_abstract,
    _pad_batch,
    transposes=(_own_part, _padding_part),
    jvp=_pad_jvp,
)

# ---- changes of shape


def squeeze(array: Any, dimensions: Sequence[int]) -> Array:
    """Drop axes of extent 1. Source: `jax.lax.squeeze`. Raises ValueError for another extent.

    >>> from arrayport import lax
    >>> lax.squeeze(lax.broadcasted_iota("int32", (1, 2, 1), 1), (0, -1))
    Array([0, 1], dtype=int32)
    """
    x = lift(array)
    axes = {normalize_axis_index(d, len(x.shape)) for d in dimensions}
    if any(x.shape[a] != 1 for a in axes):
        raise ValueError(
            f"cannot squeeze axes {tuple(dimensions)} of shape {x.shape}: not all are 1"
        )
    return reshape(x, [n for i, n in enumerate(x.shape) if i not in axes])


def expand_dims(array: Any, dimensions: Sequence[int]) -> Array:
    """Insert axes of extent 1, which the result has at `dimensions`. Source: `jax.lax.expand_dims`.

    >>> from arrayport import lax
    >>> lax.expand_dims(lax.iota("int32", 2), (0, -1)).shape
    (1, 2, 1)
    """
    x = lift(array)
    rank = len(x.shape) + len(dimensions)
    axes = {normalize_axis_index(d, rank) for d in dimensions}
    if len(axes) != len(dimensions):
        raise ValueError(f"expand_dims got an axis twice in {tuple(dimensions)}")
    sizes = iter(x.shape)
    return reshape(x, [1 if i in axes else next(sizes) for i in range(rank)])


def stack(operands: Sequence[Any], axis: int = 0) -> Array:
    """Join arrays of one shape and dtype along a new axis. Source: `jax.lax.stack`.

    >>> from arrayport import lax
    >>> lax.stack([lax.iota("int32", 2), lax.iota("int32", 2)], 1)
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    return concatenate([expand_dims(x, (axis,)) for x in lift_all(operands)], axis)


def split(operand: Any, sizes: Sequence[int], axis: int = 0) -> list[Array]:
    """Cut an axis into parts of given sizes. Source: `jax.lax.split`.

    Raises ValueError if the sizes do not sum to the axis's extent.

    >>> from arrayport import lax
    >>> lax.split(lax.iota("int32", 3), (1, 2))
    [Array([0], dtype=int32), Array([1, 2], dtype=int32)]
    """
    x = lift(operand)
    axis = normalize_axis_index(axis, len(x.shape))
    if sum(sizes) != x.shape[axis] or min(sizes, default=0) < 0:
        raise ValueError(
            f"split needs sizes that sum to {x.shape[axis]}, axis {axis}'s, not {sizes}"
        )
    ends = pairwise(accumulate(sizes, initial=0))
    return [slice_in_dim(x, start, stop, axis=axis) for start, stop in ends]
