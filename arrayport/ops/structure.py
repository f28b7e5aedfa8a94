"""The primitives that every rule may need: cast, fill, broadcast, reshape, transpose and sum."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy import ndarray

from arrayport.core import backend as backends
from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.errors import user_line
from arrayport.core.following import Entries
from arrayport.core.primitive import Primitive, Unary
from arrayport.core.trace import EVAL, backend_of, current_stage, neutral

Shape = tuple[int, ...]
SMALL = 4096  # elements up to which filling is quicker than NumPy's making of a broadcast view


def axis_of(axis: int, rank: int, name: str) -> int:
    """A non-negative axis of an array of that rank; ValueError with the argument's name if none."""
    if not -rank <= axis < rank:
        raise ValueError(f"{name}: axis {axis} is out of bounds for an array of {rank} axes")
    return axis % rank


# ---------------------------------------------------------------------------------------- cast


def convert(x: Array, dtype: np.dtype[Any], weak: bool = False) -> Array:
    """Cast an Array: floats saturate when they become integers, NaN becomes 0."""
    if x.dtype == dtype and x.weak == weak:
        return x
    if (x.dtype.kind == "V" or dtype.kind == "V") and dtypes.key in (x.dtype, dtype):
        raise dtypes.no_number()
    params = {"dtype": dtype, "weak": weak}
    if weak and neutral(x) and current_stage() is EVAL:
        return backends.get("numpy").execute(convert_p, (x,), params)
    return convert_p.apply(x, params)


def _convert_transpose(g: Array, x: Aval, dtype: np.dtype[Any], weak: bool) -> Array | None:  # noqa: ARG001
    """Of a cast from real to complex the real part comes back; of one from integers nothing."""
    return convert(g, x.dtype, x.weak) if dtypes.is_inexact(x.dtype) else None


convert_p: Unary = Unary(
    "convert_element_type",
    lambda x, dtype, weak: Aval(x.shape, dtype, weak),
    lambda _size, xs, dims, /, **params: (convert_p.bind(xs[0], **params), dims[0]),
    transposes=(_convert_transpose,),
    keeps_weak=False,
)

# ---------------------------------------------------------------------------------------- fill

full_p: Primitive = Primitive(
    "full",
    lambda *, shape, value, dtype, weak: Aval(shape, dtype, weak),  # noqa: ARG005 - all of its parameters
    lambda _size, _xs, _dims, /, **params: (full_p.bind(**params), None),
    not_differentiable="it has no operands",
    keeps_weak=False,
)


def full_like(like: Any, value: complex, shape: Shape | None = None, weak: bool = False) -> Array:
    """A number everywhere, with shape (unless given), dtype and backend of `like`."""
    params = {
        "shape": like.shape if shape is None else shape,
        "value": value,
        "dtype": like.dtype,
        "weak": weak,
    }
    if current_stage() is EVAL:
        found = backend_of(like) if isinstance(like, Array) else None
        return (found or backends.ambient()).execute(full_p, (), params)
    return full_p.bind(**params)


def zeros(like: Any) -> Array:
    """Zeros of the shape, dtype and backend of `like`."""
    return full_like(like, 0)


def constant(value: complex, like: Any) -> Array:
    """A number of `like`'s dtype as a weak 0-d Array, which follows the other operands."""
    return Array(np.array(value, like.dtype), weak=True)


# ---- broadcast, reshape, transpose


def broadcast_in_dim(x: Array, shape: Sequence[int], dims: Sequence[int]) -> Array:
    """Stretch x to `shape`; its axis i, of that extent or 1, becomes axis `dims[i]` (ascending)."""
    if x.shape == shape:
        return x
    return broadcast_in_dim_p.apply(x, {"shape": tuple(shape), "dims": tuple(dims)})


def broadcast_to(x: Array, shape: Shape) -> Array:
    """Stretch x to `shape` by NumPy's rule: its axes are the last ones."""
    return broadcast_in_dim(x, shape, range(len(shape) - len(x.shape), len(shape)))


def _broadcast_abstract(x: Aval, shape: Shape, dims: Shape) -> Aval:
    if len(dims) != len(x.shape) or any(
        n not in (1, shape[d]) for n, d in zip(x.shape, dims, strict=True)
    ):
        raise ValueError(
            f"cannot broadcast {x.shape} to {shape}: each extent must be 1 or that of its axis in "
            f"{dims}"
        )
    return Aval(shape, x.dtype, x.weak)


def _broadcast_transpose(g: Array, x: Aval, shape: Shape, dims: Shape) -> Array:
    own = dict(zip(dims, x.shape, strict=True))
    return reshape(reduce_sum(g, tuple(i for i, n in enumerate(shape) if own.get(i) != n)), x.shape)


def _broadcast_batch(
    size: int, xs: Any, dims_in: Any, /, shape: Shape, dims: Shape
) -> tuple[Array, int]:
    x = move_axis(xs[0], dims_in[0], 0)
    return broadcast_in_dim(x, (size, *shape), (0, *[d + 1 for d in dims])), 0


def _broadcast_divide(
    entries: Any, _xs: Any, _outs: Any, shape: Shape, dims: Shape
) -> list[Entries]:
    own = dict(zip(dims, entries[0], strict=True))
    return [tuple([own.get(i, ()) for i in range(len(shape))])]


broadcast_in_dim_p = Unary(
    "broadcast_in_dim",
    _broadcast_abstract,
    _broadcast_batch,
    transposes=(_broadcast_transpose,),
    divide=_broadcast_divide,
)


def reshape(x: Array, shape: Sequence[int]) -> Array:
    """Give x another shape of the same size; one extent may be -1."""
    shape = tuple(shape)
    if -1 in shape:
        rest = -prod(shape)
        shape = tuple((x.size // rest if rest else 0) if n == -1 else n for n in shape)
    if x.shape == shape:
        return x
    if prod(shape) != prod(x.shape):  # here, for JAX would say so only when it compiles
        raise TypeError(
            f"cannot reshape an array of shape {x.shape} into {shape} at {user_line()}: the sizes "
            f"differ, {prod(x.shape)} and {prod(shape)}"
        )
    return reshape_p.apply(x, {"shape": shape})


def _reshape_divide(entries: Any, xs: Any, _outs: Any, shape: Shape) -> list[Entries]:
    """Axes of one element come and go; where others change, all is whole."""
    own, extents = entries[0], xs[0].shape
    if shape == extents:
        return [own]
    long = [(n, e) for n, e in zip(extents, own, strict=True) if n != 1]
    if [n for n, _ in long] != [n for n in shape if n != 1]:
        return [((),) * len(shape)]
    rest = iter(long)
    return [tuple([() if n == 1 else next(rest)[1] for n in shape])]


reshape_p = Unary(
    "reshape",
    lambda x, shape: Aval(shape, x.dtype, x.weak),
    lambda n, xs, dims, /, shape: (reshape(move_axis(xs[0], dims[0], 0), (n, *shape)), 0),
    transposes=(lambda g, x, shape: reshape(g, x.shape),),  # noqa: ARG005 - a rule takes all parameters
    divide=_reshape_divide,
)


def transpose(x: Array, perm: Sequence[int]) -> Array:
    """Permute the axes: axis i of the answer is axis `perm[i]` of x."""
    perm = tuple(perm)
    return x if perm == tuple(range(len(perm))) else transpose_p.apply(x, {"perm": perm})


def _transpose_batch(_size: int, xs: Any, dims: Any, /, perm: Shape) -> tuple[Array, int]:
    return transpose(move_axis(xs[0], dims[0], 0), (0, *[i + 1 for i in perm])), 0


transpose_p = Unary(
    "transpose",
    lambda x, perm: Aval(tuple(x.shape[i] for i in perm), x.dtype, x.weak),
    _transpose_batch,
    transposes=(lambda g, _x, perm: transpose(g, [perm.index(i) for i in range(len(perm))]),),
    divide=lambda entries, _xs, _outs, perm: [tuple([entries[0][i] for i in perm])],
)


def move_axis(x: Array, source: int, target: int) -> Array:
    """Bring one axis to another place."""
    if source == target:
        return x
    order = [i for i in range(len(x.shape)) if i != source]
    order.insert(target, source)
    return transpose(x, order)


def merged(x: Array, axis: int) -> Array:
    """One axis of two neighbours."""
    return reshape(x, (*x.shape[:axis], x.shape[axis] * x.shape[axis + 1], *x.shape[axis + 2 :]))


def parted(x: Array, axis: int, count: int) -> Array:
    """Two axes, of `count` parts and what each holds, of one."""
    extent = x.shape[axis] // count
    return reshape(x, (*x.shape[:axis], count, extent, *x.shape[axis + 1 :]))


def batch_to_front(size: int, x: Array, dim: int | None) -> Array:
    """A batched operand with its batch axis first; one that is not batched is repeated."""
    if dim is not None:
        return move_axis(x, dim, 0)
    return broadcast_in_dim(x, (size, *x.shape), range(1, len(x.shape) + 1))


def in_front(size: int, xs: Sequence[Array], dims: Sequence[int | None]) -> list[Array]:
    """All operands with their batch axes first, as `batch_to_front` brings them there."""
    return [batch_to_front(size, x, d) for x, d in zip(xs, dims, strict=True)]


def mapped_in_front(xs: Sequence[Array], dims: Sequence[int | None]) -> list[Array]:
    """The same of operands that are batched; the others as they are."""
    return [x if d is None else move_axis(x, d, 0) for x, d in zip(xs, dims, strict=True)]


# ---------------------------------------------------------------------------------------- sum


def reduce_sum(x: Array, axes: Sequence[int] | None = None) -> Array:
    """Sum over axes (all if None), in x's own dtype."""
    axes = tuple(range(len(x.shape))) if axes is None else tuple(axes)
    return reduce_sum_p.apply(x, {"axes": axes}) if axes else x


def spread(x: Array, shape: Shape, axes: Shape) -> Array:
    """Undo a reduction's loss of axes: stretch x over the reduced `axes` of `shape`."""
    if type(x) is Array and len(axes) == len(shape) and current_stage() is EVAL:
        raw = x.raw
        if type(raw) is ndarray and prod(shape) <= SMALL:  # the seed of most gradients, quickly
            out = np.empty(shape, raw.dtype)
            out.fill(raw)
            return Array(out, x.weak)
    return broadcast_in_dim(x, shape, [i for i in range(len(shape)) if i not in axes])


def _sum_abstract(x: Any, axes: Shape) -> Aval:
    if dtypes.is_key(x.dtype):
        raise dtypes.no_number()
    return Aval(tuple([n for i, n in enumerate(x.shape) if i not in axes]), x.dtype, x.weak)


def divide_reduced(entries: Any, _xs: Any, _outs: Any, axes: Shape) -> list[Entries]:
    """What is left of the axes is divided as it was."""
    return [tuple([e for i, e in enumerate(entries[0]) if i not in axes])]


reduce_sum_p = Unary(
    "reduce_sum",
    _sum_abstract,
    lambda _size, xs, dims, /, axes: (
        reduce_sum(move_axis(xs[0], dims[0], 0), [a + 1 for a in axes]),
        0,
    ),
    transposes=(lambda g, x, axes: spread(g, x.shape, axes),),
    divide=divide_reduced,
)


def total(terms: Sequence[Array | None]) -> Array | None:
    """The sum of the terms that are not None (zero)."""
    found: Array | None = None
    for term in terms:
        if term is not None:
            found = term if found is None else found + term
    return found
