"""Slices at places known beforehand: reading, replacing and adding to parts of arrays."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from numpy.lib.array_utils import normalize_axis_index

from arrayport.core.array import Array, Aval
from arrayport.core.following import Entries
from arrayport.core.primitive import Binary, Primitive, Unary
from arrayport.core.sparse import Sparse
from arrayport.ops.promotion import lift
from arrayport.ops.structure import Shape, full_like, in_front, move_axis, reshape

Triple = tuple[int, int | None, int]
Key = tuple[int | Triple | None, ...]  # an entry per axis, and a None per new axis
Batched = tuple[Primitive, list[Array], dict[str, Any]]


def tangents_of(ts: Sequence[Array | None], xs: Sequence[Any]) -> list[Array]:
    """Put zeros in place of missing tangents of xs; one at least is there."""
    like = next(t for t in ts if t is not None)
    return [full_like(like, 0, x.shape) if t is None else t for t, x in zip(ts, xs, strict=True)]


def triple(part: builtins.slice, size: int) -> Triple:
    """The one triple for all slices that choose the same elements of an axis.

    >>> triple(builtins.slice(-3, 99, 2), 5), triple(builtins.slice(None, None, -1), 3)
    ((2, 5, 2), (2, None, -1))
    """
    chosen = range(size)[part]
    if not chosen:
        return 0, 0, 1
    step = chosen.step if len(chosen) > 1 else 1
    stop = chosen[-1] + (1 if step > 0 else -1)
    return chosen[0], stop if stop >= 0 else None, step


@lru_cache(1 << 12)
def basic(key: Key) -> tuple[Any, ...]:
    """The key as Python writes it."""
    return tuple(builtins.slice(*k) if type(k) is tuple else k for k in key)


@lru_cache(1 << 12)
def sliced_shape(shape: Shape, key: Key) -> Shape:
    """The shape of what a key chooses."""
    sizes = iter(shape)
    out = []
    for k in key:
        if k is None:
            out.append(1)
            continue
        size = next(sizes)
        if type(k) is tuple:
            out.append(len(range(size)[builtins.slice(*k)]))
        elif not 0 <= k < size:  # type: ignore[operator]
            raise IndexError(f"index {k} is out of range for an axis of size {size}")
    return tuple(out)


def static_slice(x: Array, key: Key) -> Array:
    """Read what a canonical key chooses; nothing happens if that is all of x."""
    if key == tuple([(0, n, 1) for n in x.shape]):
        return x
    return slice_p.apply(x, {"key": key})


def slice(
    operand: Any,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> Array:
    """Read from the starts up to the limits, by an integer for each axis. Source: `jax.lax.slice`.

    Raises TypeError for bounds outside the operand or strides below 1.

    >>> from arrayport import lax
    >>> lax.slice(lax.iota("int32", 6), (1,), (6,), (2,))
    Array([1, 3, 5], dtype=int32)
    """
    x = lift(operand)
    steps = [1] * len(x.shape) if strides is None else strides
    bounds = list(zip(start_indices, limit_indices, steps, x.shape, strict=True))
    if any(not 0 <= start <= stop <= n or step < 1 for start, stop, step, n in bounds):
        raise TypeError(
            f"slice of an operand of shape {x.shape} needs 0 <= start <= limit <= size and strides "
            f"from 1, got {tuple(start_indices)}, {tuple(limit_indices)} and {tuple(steps)}"
        )
    return static_slice(x, tuple(triple(builtins.slice(a, b, s), n) for a, b, s, n in bounds))


def slice_in_dim(
    operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0
) -> Array:
    """Slice one axis as Python does. Source: `jax.lax.slice_in_dim`.

    >>> from arrayport import lax
    >>> lax.slice_in_dim(lax.iota("int32", 5), 1, -1)
    Array([1, 2, 3], dtype=int32)
    """
    x = lift(operand)
    axis = normalize_axis_index(axis, len(x.shape))
    key: list[Any] = [(0, n, 1) for n in x.shape]
    key[axis] = triple(builtins.slice(start_index, limit_index, stride), x.shape[axis])
    return static_slice(x, tuple(key))


def reverse(x: Array, axes: Sequence[int]) -> Array:
    """Reverse the order along distinct axes from 0 on."""
    key: list[Any] = [(0, n, 1) for n in x.shape]
    for axis in axes:
        key[axis] = triple(builtins.slice(None, None, -1), x.shape[axis])
    return static_slice(x, tuple(key))


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Array:
    """Read one index of an axis. Source: `jax.lax.index_in_dim`.

    Raises IndexError if it is out of range.

    >>> from arrayport import lax
    >>> lax.index_in_dim(lax.iota("int32", 5), -1)
    Array([4], dtype=int32)
    """
    x = lift(operand)
    axis = normalize_axis_index(axis, len(x.shape))
    size = x.shape[axis]
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of range for axis {axis} of size {size}")
    key: list[Any] = [(0, n, 1) for n in x.shape]
    index %= size
    key[axis] = (index, index + 1, 1) if keepdims else index
    return static_slice(x, tuple(key))


def _slice_transpose(g: Array, x: Aval, key: Key) -> Sparse:
    return Sparse(slice_add_p, Aval(x.shape, x.dtype), (g,), {"key": key})


def _slice_divide(entries: Any, xs: Any, _outs: Any, key: Key) -> list[Entries]:
    """Axes that are kept whole are divided as they were; new ones and those cut are not."""
    found: list[tuple[Any, ...]] = []
    axes = iter(zip(entries[0], xs[0].shape, strict=True))
    for k in key:
        entry, extent = ((), 0) if k is None else next(axes)
        if k is None or isinstance(k, tuple):
            found.append(entry if k == (0, extent, 1) else ())
    return [tuple(found)]


slice_p: Unary = Unary(
    "slice",
    lambda x, key: Aval(sliced_shape(x.shape, key), x.dtype, x.weak),
    lambda n, xs, dims, /, key: (
        slice_p.bind(move_axis(xs[0], dims[0], 0), key=((0, n, 1), *key)),
        0,
    ),
    transposes=(_slice_transpose,),
    divide=_slice_divide,
)


def _slice_write_abstract(base: Aval, value: Aval, key: Key) -> Aval:
    _same_shape("slice", value.shape, sliced_shape(base.shape, key))
    return Aval(base.shape, base.dtype, base.weak and value.weak)


def slice_add_batched(size: int, xs: Any, dims: Any, key: Key) -> Batched:
    """Say what adds a batch of values to a batch of bases."""
    return slice_add_p, in_front(size, xs, dims), {"key": ((0, size, 1), *key)}


def _slice_write(name: str, transpose: Callable[..., Array]) -> Binary:
    """State a write of a value into a slice; `transpose` gives the base's cotangent."""
    prim: Binary = Binary(
        name,
        _slice_write_abstract,
        lambda n, xs, dims, /, key: (prim.bind(*in_front(n, xs, dims), key=((0, n, 1), *key)), 0),
        jvp=lambda ts, _ans, x, y, key: prim.bind(*tangents_of(ts, (x, y)), key=key),
        transposes=(transpose, lambda g, _base, _value, key: slice_p.bind(g, key=key)),
    )
    return prim


slice_add_p: Binary = _slice_write(
    "slice_add",
    lambda g, _base, _value, key: g,  # noqa: ARG005 - a rule takes all parameters
)
slice_set_p: Binary = _slice_write(
    "slice_set",
    lambda g, _base, value, key: slice_set_p.bind(g, full_like(g, 0, value.shape), key=key),
)


def _same_shape(what: str, got: Shape, want: Shape) -> None:
    if got != want:
        raise TypeError(f"the part that {what} writes to has shape {want}, the values {got}")


def stack_last(xs: Sequence[Array]) -> Array:
    """Stack arrays of one shape along a new last axis."""
    if len(xs) == 1:
        return reshape(xs[0], (*xs[0].shape, 1))
    out = full_like(xs[0], 0, (*xs[0].shape, len(xs)))
    rest = tuple((0, n, 1) for n in xs[0].shape)
    for i, x in enumerate(xs):
        out = slice_set_p.bind(out, x, key=(*rest, i))
    return out
