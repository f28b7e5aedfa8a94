"""What a NumPy key chooses: a static slice, or windows at index vectors made of its arrays."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

import numpy as np
from arrayport.core import dtypes
from arrayport.core.array import Array, aval_of
from arrayport.core.errors import (
    NonConcreteBooleanIndexError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    user_line,
)
from arrayport.ops.elementwise import minimum, select
from arrayport.ops.indexing import GatherDimensionNumbers
from arrayport.ops.promotion import common_shape, from_host, home_of, lift
from arrayport.ops.shapes import concatenate
from arrayport.ops.slices import Key, triple
from arrayport.ops.structure import Shape, broadcast_to, convert, reshape
from numpy import ndarray

WHOLE = slice(None)
Host = ndarray[Any, Any]


@dataclass(frozen=True)
class Choice:
    """What a key with arrays chooses: the windows of a gather or scatter."""

    thin: Key | None  # read first, where the key has slices with a step
    indices: Array
    numbers: GatherDimensionNumbers
    sizes: Shape
    flat: Shape  # of what is chosen
    shape: Shape  # the same, with the new axes
    single: bool  # no element is chosen twice, since the key's arrays hold one index


def choose(x: Array, key: Any, lenient: bool = False, wrap: bool = True) -> Key | Choice:
    """Understand a key of x: a canonical static key where it holds no arrays, else a Choice.

    `lenient`: Python ints may be out of range. `wrap`: negative indices count from the end.
    """
    entries = _entries(x, key)
    shape = x.shape
    if not any(isinstance(k, bool | ndarray | Array) for _, k in entries):
        ints = [(a, k) for a, k in entries if type(k) is int]
        if not lenient or all(-shape[a] <= k < shape[a] for a, k in ints):
            return tuple(_static(shape, a, k) for a, k in entries if k is not Ellipsis)
    return _choice(x, entries, lenient, wrap)


def _static(shape: Shape, axis: Any, k: Any) -> Any:
    if type(k) is slice:
        return triple(k, shape[axis])
    return None if k is None else _in_range(k, axis, shape)


def _in_range(k: int, axis: int, shape: Shape) -> int:
    size = shape[axis]
    if not -size <= k < size:
        raise IndexError(
            f"index {k} is out of range for axis {axis} of size {size} of an array of shape {shape}"
        )
    return k + size if k < 0 else k


def _entries(x: Array, key: Any) -> list[tuple[Any, Any]]:
    """List the entries of a key, each with its axis: ints, slices, integer arrays, a mask's.

    None, truth values and the ellipsis have no axis; the slices it stands for follow it.
    """
    if isinstance(key, list):
        raise TypeError(
            "a list is no key, since NumPy and Python disagree on what it means: write "
            f"x[arrayport.numpy.array({key})] for an index array, x[tuple(...)] for a key by axis"
        )
    parts = [_entry(k) for k in (key if isinstance(key, tuple) else (key,))]
    masks = [isinstance(k, ndarray | Array) and k.dtype == bool for k in parts]
    used = 0
    for k, mask in zip(parts, masks, strict=True):
        used += len(k.shape) if mask else k is not None and not isinstance(k, bool | EllipsisType)
    rank = len(x.shape)
    if used > rank:
        raise IndexError(f"too many indices: the array has {rank} axes, the key is about {used}")
    dots = sum(k is Ellipsis for k in parts)
    if dots > 1:
        raise IndexError("a key can have one ellipsis (...) only")
    if not dots:
        parts.append(Ellipsis)
        masks.append(False)
    out: list[tuple[Any, Any]] = []
    axis = 0
    for k, mask in zip(parts, masks, strict=True):
        if k is Ellipsis:
            out.append((None, k))
            new = [(axis + i, WHOLE) for i in range(rank - used)]
        elif k is None or isinstance(k, bool):
            out.append((None, k))
            continue
        elif mask:
            new = [(axis + i, index) for i, index in enumerate(_where_true(x, k, axis))]
        else:
            new = [(axis, k)]
        out += new
        axis += len(new)
    return out


def _entry(k: Any) -> Any:
    """Bring an entry to an int, bool, None, ..., a slice of ints, an array of ints or bools."""
    if k is None or k is Ellipsis or type(k) is int:
        return k
    if isinstance(k, slice):
        return slice(*[_bound(b) for b in (k.start, k.stop, k.step)])
    if isinstance(k, bool | np.bool_):
        return bool(k)
    if isinstance(k, int | np.integer):
        return int(k)
    if isinstance(k, list | tuple):
        k = np.asarray(k) if k else np.zeros(0, np.int64)
    elif not isinstance(k, ndarray | Array):
        if isinstance(k, str | bytes | dict | float | complex | np.generic):
            raise TypeError(f"a key holds integers, slices, None, ... and arrays, not {k!r}")
        k = lift(k, None, "an entry of a key")
    if k.dtype.kind != "b" and not dtypes.is_integer(k.dtype):
        raise TypeError(
            f"an array of {k.dtype} cannot index: use astype('int32'), or astype(bool) for a mask"
        )
    if k.dtype.kind == "b" and not k.shape:
        return _truth(k)
    return k.raw if type(k) is Array and type(k.raw) is ndarray and k.dtype.kind == "b" else k


def _bound(b: Any) -> int | None:
    try:
        return None if b is None else operator.index(b)
    except TracerIntegerConversionError as e:
        raise IndexError(
            f"a slice was given a traced bound at {user_line()}, but its length must be known: use "
            "lax.dynamic_slice(x, starts, sizes), or for an update lax.dynamic_update_slice"
        ) from e


def _truth(k: Any) -> bool:
    try:
        return bool(k)
    except TracerBoolConversionError as e:
        raise _unknown_mask(k) from e


def _where_true(x: Array, mask: Any, axis: int) -> Sequence[Host]:
    """Find a mask's true elements: an array for each of its axes."""
    try:
        known = np.asarray(mask)
    except TracerArrayConversionError as e:
        raise _unknown_mask(mask) from e
    own = x.shape[axis : axis + known.ndim]
    if known.shape != own:
        raise IndexError(
            f"a boolean mask of shape {known.shape} does not fit axes {axis} to "
            f"{axis + known.ndim - 1} of an array of shape {x.shape}: it must have shape {own}"
        )
    return known.nonzero()


def _unknown_mask(mask: Any) -> NonConcreteBooleanIndexError:
    return NonConcreteBooleanIndexError(
        f"a traced mask of {aval_of(mask)} was used as an index at {user_line()}, but how many "
        "elements it chooses is not known: use numpy.where(mask, x, other), or "
        "numpy.nonzero(mask, size=...) for indices of a fixed number"
    )


def _choice(x: Array, entries: Sequence[tuple[Any, Any]], lenient: bool, wrap: bool) -> Choice:
    """Windows over the sliced axes, at index vectors made of ints, arrays and slices' starts."""
    shape = list(x.shape)
    thin: list[Key] = [(0, n, 1) for n in shape]  # type: ignore[misc]
    sizes = [1] * len(shape)
    starts: dict[int, Any] = {}  # component of the index vector, by axis
    layout: list[Any] = []  # of the answer: an axis, None where it is new, or "picks"
    places = []
    picks: list[Shape] = []
    for place, (axis, k) in enumerate(entries):
        if k is Ellipsis:
            continue
        if k is None:
            layout.append(None)
            continue
        if type(k) is slice:
            start, stop, step = part = triple(k, shape[axis])
            if step != 1:
                thin[axis] = part  # type: ignore[call-overload]
                shape[axis] = len(range(shape[axis])[slice(*part)])
                start, stop = 0, shape[axis]
            sizes[axis] = stop - start  # type: ignore[operator]
            if sizes[axis] != shape[axis]:
                starts[axis] = start
            layout.append(axis)
            continue
        if not places:
            first = len(layout)
        places.append(place)
        if isinstance(k, bool):
            picks.append((int(k),))
            continue
        if type(k) is int:
            index = _in_range(k, axis, x.shape) if not lenient else k
            picks.append(())
        else:
            index = k
            picks.append(k.shape)
        starts[axis] = wrapped(index, shape[axis]) if wrap else index
    batch = common_shape(*picks)
    for axis in starts:
        if not shape[axis] and 0 not in batch and sizes[axis]:
            raise IndexError(
                f"axis {axis} of an array of shape {x.shape} is empty: nothing to index"
            )
    adjacent = places == list(range(places[0], places[0] + len(places)))
    layout.insert(first if adjacent else 0, "picks")
    offsets, full = [], []
    at = 0
    for entry in layout:
        if entry == "picks":
            full += batch
            at += len(batch)
        elif entry is None:
            full.append(1)
        else:
            full.append(sizes[entry])
            offsets.append(at)
            at += 1
    kept = {e for e in layout if type(e) is int}
    collapsed = tuple(d for d in range(len(shape)) if d not in kept)
    numbers = GatherDimensionNumbers(tuple(offsets), collapsed, tuple(starts))
    return Choice(
        thin=tuple(thin) if tuple(shape) != x.shape else None,  # type: ignore[arg-type]
        indices=_vectors(x, list(starts.values()), batch),
        numbers=numbers,
        sizes=tuple(sizes),
        flat=tuple(
            n for n, e in zip(full, _axes(layout, len(batch)), strict=True) if e is not None
        ),
        shape=tuple(full),
        single=all(n == 1 for n in batch),
    )


def _axes(layout: Sequence[Any], rank: int) -> list[Any]:
    return [e for entry in layout for e in ([entry] * rank if entry == "picks" else [entry])]


def wrapped(index: Any, size: int) -> Any:
    """Count an index's negative elements from the end; what is known is computed on the host."""
    if type(index) is int:
        return index + size if index < 0 else index
    host = _host(index)
    if host is not None:
        if host.dtype == np.uint64:
            host = np.minimum(host, np.uint64(size))
        wide = np.minimum(host.astype(np.int64), size)
        wide = np.maximum(np.where(wide < 0, wide + size, wide), -1)
        return wide if isinstance(index, ndarray) else Array(wide)
    default = dtypes.default_int()
    if dtypes.kind(index.dtype) == "u":
        return convert(minimum(index, size) if index.dtype.itemsize >= 4 else index, default)
    if index.dtype.itemsize < 4:
        index = convert(index, dtypes.int32)
    return select(index < 0, index + size, index)


def _host(index: Any) -> Host | None:
    if isinstance(index, ndarray):
        return index
    return index.raw if type(index) is Array and type(index.raw) is ndarray else None


def _vectors(x: Array, components: Sequence[Any], batch: Shape) -> Array:
    """Stack the components of index vectors along a last axis."""
    default = dtypes.default_int()
    known = [np.asarray(c) if type(c) is int else _host(c) for c in components]
    if all(k is not None for k in known):
        out = np.empty((*batch, len(known)), default)
        for i, k in enumerate(known):
            out[..., i] = k
        return (
            Array(out) if any(type(c) is Array for c in components) else from_host(out, home_of(x))
        )
    home = home_of(*components, x)
    arrays = [c if isinstance(c, Array) else lift(np.asarray(c), home) for c in components]
    dtype = next((a.dtype for a in arrays if a.dtype.itemsize > 4), dtypes.int32)
    columns = [broadcast_to(convert(a, dtype), batch) for a in arrays]
    return concatenate([reshape(c, (*batch, 1)) for c in columns], len(batch))
