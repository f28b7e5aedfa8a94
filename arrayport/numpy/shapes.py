"""Functions that change shapes: reshape, reorder, stretch, repeat and turn arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.errors import ConcretizationTypeError, user_line
from arrayport.core.units import unit
from arrayport.numpy.arguments import (
    arrayed,
    axes_of,
    axis_of,
    count_of,
    integer_of,
    integers_of,
    shape_of,
    together,
)
from arrayport.numpy.creation import asarray
from arrayport.ops import shapes as ops
from arrayport.ops import structure
from arrayport.ops.elementwise import less_equal, minimum, remainder
from arrayport.ops.placement import no_sharding
from arrayport.ops.promotion import broadcast_together, common_shape, home_of, lift, scalar
from arrayport.ops.reductions import cumsum
from arrayport.ops.slices import reverse, slice_in_dim
from arrayport.ops.structure import Shape, broadcast_in_dim, convert, move_axis, reduce_sum
from arrayport.ops.windows import dynamic_slice

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "matrix_transpose",
    "moveaxis",
    "ndim",
    "permute_dims",
    "ravel",
    "repeat",
    "reshape",
    "resize",
    "roll",
    "rollaxis",
    "rot90",
    "shape",
    "size",
    "squeeze",
    "swapaxes",
    "tile",
    "transpose",
]

# ---- what they are


def shape(a: Any) -> Shape:
    """Give the extents of an array, a number, or nested sequences. Source: ``jax.numpy.shape``.

    >>> import arrayport.numpy as anp
    >>> anp.shape(anp.ones((2, 3)))
    (2, 3)
    """
    return a.shape if hasattr(a, "shape") else asarray(a).shape


def ndim(a: Any) -> int:
    """Give the number of axes. Source: ``jax.numpy.ndim``.

    >>> import arrayport.numpy as anp
    >>> anp.ndim(anp.ones((2, 3)))
    2
    """
    return len(shape(a))


def size(a: Any, axis: Any = None) -> int:
    """Give the number of elements, or the extent of an axis or of several together.

    Source: ``jax.numpy.size``.

    >>> import arrayport.numpy as anp
    >>> anp.size(anp.ones((2, 3)))
    6
    """
    own = shape(a)
    return prod(own) if axis is None else prod([own[i] for i in axes_of(axis, len(own))])


# ---- reshape


def reshape(
    a: Any, shape: Any, order: str = "C", *, copy: Any = None, out_sharding: Any = None
) -> Array:
    """Give an array another shape of the same size; one extent may be -1.

    `order` "F" reads and writes with the first axis changing fastest. Raises TypeError where the
    sizes differ, NotImplementedError for another order. Source: ``jax.numpy.reshape``.

    >>> import arrayport.numpy as anp
    >>> anp.reshape(anp.arange(4), (2, -1))
    Array([[0, 1],
           [2, 3]], dtype=int32)
    """
    no_sharding(out_sharding, "reshape")
    del copy
    x = a if isinstance(a, Array) else lift(a, None, "a")
    wanted = integers_of(shape, "shape")
    if -1 in wanted:
        wanted = _completed(x.shape, wanted)
    if order == "C":
        return structure.reshape(x, wanted)
    if order != "F":
        raise NotImplementedError(f"order={order!r} of reshape: arrays here know 'C' and 'F'")
    turned = structure.reshape(structure.transpose(x, range(len(x.shape))[::-1]), wanted[::-1])
    return structure.transpose(turned, range(len(wanted))[::-1])


def _completed(own: Shape, wanted: Shape) -> Shape:
    """Give a shape with -1 replaced by what is left."""
    rest = -prod(wanted)
    total = prod(own)
    if wanted.count(-1) > 1 or (rest and total % rest) or (not rest and total):
        raise TypeError(
            f"cannot reshape an array of shape {own} into {wanted} at {user_line()}: one extent "
            f"may be -1, and the others' product must divide the size, {total}"
        )
    return tuple([(total // rest if rest else 0) if n == -1 else n for n in wanted])


def ravel(a: Any, order: str = "C", *, out_sharding: Any = None) -> Array:
    """Flatten an array. Source: ``jax.numpy.ravel``.

    >>> import arrayport.numpy as anp
    >>> anp.ravel(anp.ones((2, 2)))
    Array([1., 1., 1., 1.], dtype=float32)
    """
    no_sharding(out_sharding, "ravel")
    return reshape(a, -1, "C" if order in {"A", "K"} else order)


@unit("a")
def resize(a: Any, new_shape: Any) -> Array:
    """Fill a new shape with an array's elements, again and again. Source: ``numpy.resize``.

    >>> import arrayport.numpy as anp
    >>> anp.resize(anp.arange(2), (2, 2))
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    wanted = shape_of(new_shape, "new_shape")
    x = ravel(a)
    if not x.size or not prod(wanted):
        return structure.full_like(x, 0, wanted)
    times = -(-prod(wanted) // x.size)
    return structure.reshape(slice_in_dim(tile(x, times), 0, prod(wanted)), wanted)


def expand_dims(a: Any, axis: Any) -> Array:
    """Insert axes of extent 1, which the answer has at `axis`. Source: ``jax.numpy.expand_dims``.

    >>> import arrayport.numpy as anp
    >>> anp.expand_dims(anp.arange(3), (0, -1)).shape
    (1, 3, 1)
    """
    return ops.expand_dims(arrayed(a, "a"), integers_of(axis, "axis"))


def squeeze(a: Any, axis: Any = None) -> Array:
    """Drop axes of extent 1, all such if None; ValueError for another extent.

    Source: ``jax.numpy.squeeze``.

    >>> import arrayport.numpy as anp
    >>> anp.squeeze(anp.ones((1, 3))).shape
    (3,)
    """
    x = arrayed(a, "a")
    if axis is None:
        axis = [i for i, n in enumerate(x.shape) if n == 1]
    return ops.squeeze(x, axes_of(axis, len(x.shape)))


def atleast_1d(*arys: Any) -> Any:
    """Give each array at least one axis. Source: ``jax.numpy.atleast_1d``.

    >>> import arrayport.numpy as anp
    >>> anp.atleast_1d(3)
    Array([3], dtype=int32, weak_type=True)
    """
    return _atleast([with_axes(asarray(a), 1) for a in arys])


def atleast_2d(*arys: Any) -> Any:
    """Give each array at least two axes, new ones first. Source: ``jax.numpy.atleast_2d``.

    >>> import arrayport.numpy as anp
    >>> anp.atleast_2d(anp.arange(2))
    Array([[0, 1]], dtype=int32)
    """
    return _atleast([with_axes(asarray(a), 2) for a in arys])


def atleast_3d(*arys: Any) -> Any:
    """Give each array at least three axes: a vector's is the middle one, a matrix's come first.

    Source: ``jax.numpy.atleast_3d``.

    >>> import arrayport.numpy as anp
    >>> anp.atleast_3d(anp.arange(2)).shape
    (1, 2, 1)
    """
    xs = [with_axes(asarray(a), 2) for a in arys]
    return _atleast([ops.expand_dims(x, (2,)) if len(x.shape) == 2 else x for x in xs])


def with_axes(x: Array, rank: int) -> Array:
    return structure.reshape(x, (1,) * (rank - len(x.shape)) + x.shape)


def _atleast(xs: list[Array]) -> Any:
    return xs[0] if len(xs) == 1 else tuple(xs)


# ---- order of axes


def transpose(a: Any, axes: Any = None) -> Array:
    """Permute the axes: axis i of the answer is `axes[i]` of a; reversed if None.

    Source: ``jax.numpy.transpose``.

    >>> import arrayport.numpy as anp
    >>> anp.transpose(anp.ones((2, 3, 4)), (1, 0, 2)).shape
    (3, 2, 4)
    """
    x = a if isinstance(a, Array) else lift(a, None, "a")
    rank = len(x.shape)
    if axes is None:
        return structure.transpose(x, range(rank)[::-1])
    order = axes_of(integers_of(axes, "axes"), rank, "axes")
    if len(order) != rank:
        raise ValueError(f"axes={axes} must name each of the {rank} axes of shape {x.shape} once")
    return structure.transpose(x, order)


def permute_dims(a: Any, /, axes: Any) -> Array:
    """Permute the axes. Source: the array API's ``permute_dims``.

    >>> import arrayport.numpy as anp
    >>> anp.permute_dims(anp.ones((2, 3)), (1, 0)).shape
    (3, 2)
    """
    return transpose(a, axes)


def matrix_transpose(x: Any, /) -> Array:
    """Exchange the last two axes. Source: the array API's ``matrix_transpose``.

    >>> import arrayport.numpy as anp
    >>> anp.matrix_transpose(anp.ones((5, 2, 3))).shape
    (5, 3, 2)
    """
    x = arrayed(x, "x")
    if len(x.shape) < 2:
        raise ValueError(f"matrix_transpose needs two axes or more, not shape {x.shape}")
    return swapaxes(x, -1, -2)


def swapaxes(a: Any, axis1: int, axis2: int) -> Array:
    """Exchange two axes. Source: ``jax.numpy.swapaxes``.

    >>> import arrayport.numpy as anp
    >>> anp.swapaxes(anp.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    x = arrayed(a, "a")
    order = list(range(len(x.shape)))
    i, j = (axis_of(axis, len(order)) for axis in (axis1, axis2))
    order[i], order[j] = j, i
    return structure.transpose(x, order)


def moveaxis(a: Any, source: Any, destination: Any) -> Array:
    """Bring axes to other places; the rest keep their order. Source: ``jax.numpy.moveaxis``.

    >>> import arrayport.numpy as anp
    >>> anp.moveaxis(anp.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    x = arrayed(a, "a")
    rank = len(x.shape)
    sources, targets = axes_of(source, rank), axes_of(destination, rank)
    if len(sources) != len(targets):
        raise ValueError(
            f"moveaxis: source {source} and destination {destination} differ in number"
        )
    order = [i for i in range(rank) if i not in sources]
    for target, own in sorted(zip(targets, sources, strict=True)):
        order.insert(target, own)
    return structure.transpose(x, order)


def rollaxis(a: Any, axis: int, start: int = 0) -> Array:
    """Bring an axis before `start`. Source: ``numpy.rollaxis``.

    >>> import arrayport.numpy as anp
    >>> anp.rollaxis(anp.ones((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    x = arrayed(a, "a")
    axis, rank, start = axis_of(axis, len(x.shape)), len(x.shape), integer_of(start, "start")
    start = start + rank if start < 0 else start
    if not 0 <= start <= rank:
        raise ValueError(f"start={start} of rollaxis is out of range for {rank} axes")
    return move_axis(x, axis, start - (axis < start))


# ---- broadcast


def broadcast_to(array: Any, shape: Any, *, out_sharding: Any = None) -> Array:
    """Stretch an array to a shape by NumPy's rule. Source: ``jax.numpy.broadcast_to``.

    >>> import arrayport.numpy as anp
    >>> anp.broadcast_to(anp.arange(2), (2, 2))
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    no_sharding(out_sharding, "broadcast_to")
    x, wanted = arrayed(array, "array"), shape_of(shape)
    if len(x.shape) > len(wanted) or common_shape(x.shape, wanted) != wanted:
        raise ValueError(f"an array of shape {x.shape} does not broadcast to {wanted}")
    return structure.broadcast_to(x, wanted)


def broadcast_arrays(*args: Any) -> tuple[Array, ...]:
    """Stretch arrays to their common shape. Source: ``jax.numpy.broadcast_arrays``.

    >>> import arrayport.numpy as anp
    >>> anp.broadcast_arrays(anp.arange(2), 5)[1]
    Array([5, 5], dtype=int32)
    """
    return tuple(broadcast_together(*together(*args)))


def broadcast_shapes(*shapes: Any) -> Shape:
    """Give the shape to which all broadcast; ValueError if there is none.

    Source: ``jax.numpy.broadcast_shapes``.

    >>> import arrayport.numpy as anp
    >>> anp.broadcast_shapes((3, 1), (2,))
    (3, 2)
    """
    return common_shape(*[shape_of(s, "shapes") for s in shapes])


# ---- repeat


def tile(A: Any, reps: Any) -> Array:
    """Lay copies of an array beside each other, so many along each axis.

    Source: ``jax.numpy.tile``.

    >>> import arrayport.numpy as anp
    >>> anp.tile(anp.arange(2), 2)
    Array([0, 1, 0, 1], dtype=int32)
    """
    x, times = arrayed(A, "A"), shape_of(reps, "reps")
    rank = max(len(x.shape), len(times))
    times = (1,) * (rank - len(times)) + times
    own = (1,) * (rank - len(x.shape)) + x.shape
    split = [n for pair in zip(times, own, strict=True) for n in pair]
    x = broadcast_in_dim(structure.reshape(x, own), tuple(split), range(1, 2 * rank, 2))
    return structure.reshape(x, [t * n for t, n in zip(times, own, strict=True)])


def repeat(
    a: Any,
    repeats: Any,
    axis: Any = None,
    *,
    total_repeat_length: int | None = None,
    out_sharding: Any = None,
) -> Array:
    """Repeat elements of an axis, or of the flat array, each so often.

    Source: ``jax.numpy.repeat``.

    `repeats` is one number or one an element; traced, it needs `total_repeat_length`, to which the
    last element is repeated or at which the answer is cut.

    >>> import arrayport.numpy as anp
    >>> anp.repeat(anp.array([3, 4]), anp.array([1, 2]))
    Array([3, 4, 4], dtype=int32)
    """
    no_sharding(out_sharding, "repeat")
    x = arrayed(a, "a")
    if axis is None:
        x, axis = ravel(x), 0
    axis = axis_of(axis, len(x.shape))
    if total_repeat_length is None and isinstance(repeats, int):
        count_of(repeats, "repeats")
        shape = [*x.shape[: axis + 1], repeats, *x.shape[axis + 1 :]]
        dims = [i + (i > axis) for i in range(len(x.shape))]
        shape_out = [n * repeats if i == axis else n for i, n in enumerate(x.shape)]
        return structure.reshape(broadcast_in_dim(x, tuple(shape), dims), shape_out)
    key = (slice(None),) * axis
    if total_repeat_length is None:
        if isinstance(repeats, Array):
            repeats.concrete(ConcretizationTypeError, "repeats (or give total_repeat_length)")
        counts_known = np.asarray(repeats)
        if counts_known.dtype.kind not in "iu":
            raise TypeError(f"repeats must be an integer or a vector of integers, not {repeats!r}")
        return x[(*key, np.repeat(np.arange(x.shape[axis]), counts_known))]
    counts = convert(lift(repeats, home_of(x), "repeats"), dtypes.default_int())
    ends = cumsum(structure.broadcast_to(counts, (x.shape[axis],)))
    passed = less_equal(ends[None, :], np.arange(total_repeat_length, dtype=ends.dtype)[:, None])
    places = reduce_sum(convert(passed, dtypes.default_int()), (1,))
    return x[(*key, minimum(places, x.shape[axis] - 1))]


# ---- turn


def flip(m: Any, axis: Any = None) -> Array:
    """Reverse the order along axes, all of them if None. Source: ``jax.numpy.flip``.

    >>> import arrayport.numpy as anp
    >>> anp.flip(anp.arange(3))
    Array([2, 1, 0], dtype=int32)
    """
    x = arrayed(m, "m")
    return reverse(x, axes_of(axis, len(x.shape)))


def flipud(m: Any) -> Array:
    """Reverse the first axis. Source: ``jax.numpy.flipud``.

    >>> import arrayport.numpy as anp
    >>> anp.flipud(anp.arange(3))
    Array([2, 1, 0], dtype=int32)
    """
    return flip(m, 0)


def fliplr(m: Any) -> Array:
    """Reverse the second axis. Source: ``jax.numpy.fliplr``.

    >>> import arrayport.numpy as anp
    >>> anp.fliplr(anp.array([[1, 2]]))
    Array([[2, 1]], dtype=int32)
    """
    return flip(m, 1)


@unit("m")
def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """Turn k quarters from the first of two axes to the second. Source: ``jax.numpy.rot90``.

    >>> import arrayport.numpy as anp
    >>> anp.rot90(anp.array([[1, 2], [3, 4]]))
    Array([[2, 4],
           [1, 3]], dtype=int32)
    """
    x = arrayed(m, "m")
    turned = axes_of(integers_of(axes, "axes"), len(x.shape))
    if len(turned) != 2:
        raise ValueError(f"axes={axes} of rot90 must be two")
    (i, j), k = turned, integer_of(k, "k") % 4
    if k == 2:
        return flip(x, (i, j))
    if k == 1:
        return swapaxes(flip(x, j), i, j)
    return flip(swapaxes(x, i, j), j) if k else x


@unit("a")  # a shift that is a number is a constant: its derivative is no scatter
def roll(a: Any, shift: Any, axis: Any = None) -> Array:
    """Shift elements along axes, those that fall off coming back; flat if axis is None.

    Shifts may be traced. Source: ``jax.numpy.roll``.

    >>> import arrayport.numpy as anp
    >>> anp.roll(anp.arange(4), 1)
    Array([3, 0, 1, 2], dtype=int32)
    """
    x = arrayed(a, "a")
    if axis is None:
        return structure.reshape(roll(ravel(x), shift, 0), x.shape)
    axes = integers_of(axis, "axis")
    shifts = shift if isinstance(shift, Sequence) else [shift] * len(axes)
    if isinstance(shift, np.ndarray | Array) and shift.shape:
        shifts = list(shift) * (len(axes) if shift.size == 1 else 1)
    if len(axes) == 1 and len(shifts) > 1:
        axes *= len(shifts)
    if len(shifts) == 1:
        shifts = list(shifts) * len(axes)
    for by, i in zip(shifts, axes, strict=True):
        x = _rolled(x, by, axis_of(i, len(x.shape)))
    return x


def _rolled(x: Array, by: Any, axis: int) -> Array:
    extent = x.shape[axis]
    if not extent:
        return x
    if not isinstance(by, Array):
        cut = -integer_of(by, "shift", "an integer or a sequence of integers") % extent
        parts = [slice_in_dim(x, cut, None, axis=axis), slice_in_dim(x, 0, cut, axis=axis)]
        return ops.concatenate(parts, axis) if cut else x
    starts = [scalar(0, dtypes.int32)] * len(x.shape)
    starts[axis] = remainder(-by, extent)
    return dynamic_slice(ops.concatenate([x, x], axis), starts, x.shape)
