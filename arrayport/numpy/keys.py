"""What a NumPy key chooses: a static slice, or windows at index vectors made of its arrays."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy import ndarray

from arrayport.core import dtypes
from arrayport.core.array import Array, aval_of
from arrayport.core.errors import (
    NonConcreteBooleanIndexError,
    TracerArrayConversionError,
    TracerIntegerConversionError,
    user_line,
)
from arrayport.core.trace import neutral
from arrayport.ops.elementwise import minimum, select
from arrayport.ops.indexing import GatherDimensionNumbers
from arrayport.ops.promotion import common_shape, from_host, home_of, lift, unmasked
from arrayport.ops.shapes import concatenate
from arrayport.ops.slices import Key, Triple, triple
from arrayport.ops.structure import Shape, broadcast_to, convert, reshape

Host = ndarray[Any, Any]
# An entry of a key without the values of its arrays: int, None, ..., ("slice", start, stop, step),
# ("truth", bool), ("index", shape), ("mask", shape, number of true elements).
Sign = Any
PICKS = "picks"


@dataclass(frozen=True)
class Layout:
    """Which windows a key with arrays chooses, but for the values of the arrays."""

    thin: Key | None  # read first, where the key has slices with a step
    components: tuple[int | None, ...]  # of the index vectors; None: the next array's elements
    extents: Shape  # of the axes that the arrays index
    batch: Shape  # to which the arrays broadcast
    numbers: GatherDimensionNumbers
    sizes: Shape
    flat: Shape  # of what is chosen
    shape: Shape  # the same, with the new axes
    empty: int | None  # an axis in which no index fits

    @property
    def single(self) -> bool:
        """Whether the arrays hold one index, so that no element is chosen twice."""
        return all(n == 1 for n in self.batch)


@dataclass(frozen=True)
class Choice:
    """What a key with arrays chooses: the windows of a gather or scatter."""

    layout: Layout
    indices: Array


def choose(x: Array, key: Any, lenient: bool = False, wrap: bool = True) -> Key | Choice:
    """Understand a key of x: a canonical static key where it holds no arrays, else a Choice.

    `lenient`: Python ints may be out of range. `wrap`: negative indices count from the end.
    """
    if isinstance(key, list):
        raise TypeError(
            "a list is no key, since NumPy and Python disagree on what it means: write "
            f"x[arrayport.numpy.array({key})] for an index array, x[tuple(...)] for a key by axis"
        )
    arrays: list[Any] = []
    parts = key if isinstance(key, tuple) else (key,)
    signs = tuple([k if type(k) is int or k is None else _sign(k, arrays) for k in parts])
    layout = _layout(x.shape, signs, lenient, wrap)
    if not isinstance(layout, Layout):
        return layout
    if wrap:
        arrays = [wrapped(a, n) for a, n in zip(arrays, layout.extents, strict=True)]
    return Choice(layout, _vectors(x, layout, arrays))


# ---------------------------------------------------------------------------------------- entries


def _sign(k: Any, arrays: list[Any]) -> Sign:
    """Describe an entry; its index arrays join `arrays`."""
    if k is Ellipsis:
        return k
    if isinstance(k, slice):
        return ("slice", *[_bound(b) for b in (k.start, k.stop, k.step)])
    if isinstance(k, bool | np.bool_):
        return "truth", bool(k)
    if isinstance(k, int | np.integer):
        return int(k)
    if isinstance(k, list | tuple):
        k = np.asarray(k) if k else np.zeros(0, np.int64)
    elif not isinstance(k, ndarray | Array):
        if isinstance(k, str | bytes | dict | float | complex | np.generic):
            raise TypeError(f"a key holds integers, slices, None, ... and arrays, not {k!r}")
        k = lift(k, None, "an entry of a key")
    elif isinstance(k, ndarray):
        k = unmasked(k, "an entry of a key")
    if k.dtype == bool:
        host = _known_mask(k)
        if not host.shape:
            return "truth", bool(host)
        true = host.nonzero()
        arrays += true
        return "mask", host.shape, len(true[0])
    if not dtypes.is_integer(k.dtype):
        raise TypeError(
            f"an array of {k.dtype} cannot index: use astype('int32'), or astype(bool) for a mask"
        )
    arrays.append(k)
    return "index", k.shape


def _bound(b: Any) -> int | None:
    try:
        return None if b is None else operator.index(b)
    except TracerIntegerConversionError as e:
        raise IndexError(
            f"a slice was given a traced bound at {user_line()}, but its length must be known: use "
            "lax.dynamic_slice(x, starts, sizes), or for an update lax.dynamic_update_slice"
        ) from e


def _known_mask(mask: Any) -> Host:
    try:
        return np.asarray(mask)
    except TracerArrayConversionError as e:
        raise NonConcreteBooleanIndexError(
            f"a traced mask of {aval_of(mask)} was used as an index at {user_line()}, but how many "
            "elements it chooses is not known: use numpy.where(mask, x, other), or "
            "numpy.nonzero(mask, size=...) for indices of a fixed number"
        ) from e


# ---------------------------------------------------------------------------------------- layout


@lru_cache(1 << 12)
def _layout(shape: Shape, signs: tuple[Sign, ...], lenient: bool, wrap: bool) -> Key | Layout:
    entries = _by_axis(shape, signs)
    ints = [(axis, k) for axis, k in entries if type(k) is int]
    least = -1 if wrap else 0  # of each extent
    outside = [(axis, k) for axis, k in ints if not least * shape[axis] <= k < shape[axis]]
    if outside and not lenient:
        axis, k = outside[0]
        raise IndexError(
            f"index {k} is out of range for axis {axis} of size {shape[axis]} (the array has shape "
            f"{shape}) at {user_line()}"
        )
    if outside or any(_is_array(k) for _, k in entries):
        return _windows(shape, entries, wrap)
    return tuple(
        k + shape[axis] if type(k) is int and k < 0 else k
        for axis, k in entries
        if k is not Ellipsis
    )


def _is_array(k: Sign) -> bool:
    return type(k) is tuple and type(k[0]) is str


def _by_axis(shape: Shape, signs: Sequence[Sign]) -> list[tuple[Any, Sign]]:
    """Give each entry its axis; slices become triples, and those for an ellipsis follow it.

    None, truth values and the ellipsis have no axis; a mask becomes an index for each of its axes.
    """
    used = 0
    for k in signs:
        if type(k) is tuple:
            used += len(k[1]) if k[0] == "mask" else k[0] != "truth"
        else:
            used += type(k) is int
    if used > len(shape):
        raise IndexError(
            f"too many indices: the array of shape {shape} has {len(shape)} axes, the key at "
            f"{user_line()} is about {used}"
        )
    dots = signs.count(Ellipsis)
    if dots > 1:
        raise IndexError("a key can have one ellipsis (...) only")
    out: list[tuple[Any, Sign]] = []
    axis = 0
    for k in signs if dots else (*signs, Ellipsis):
        if k is Ellipsis:
            new: list[Sign] = [(0, n, 1) for n in shape[axis : axis + len(shape) - used]]
            out.append((None, k))
        elif k is None or (type(k) is tuple and k[0] == "truth"):
            out.append((None, k))
            continue
        elif type(k) is int or k[0] == "index":
            new = [k]
        elif k[0] == "slice":
            new = [triple(slice(*k[1:]), shape[axis])]
        else:
            _, mask, count = k
            check_mask(mask, shape, axis)
            new = [("index", (count,))] * len(mask)
        out += [(axis + i, k) for i, k in enumerate(new)]
        axis += len(new)
    return out


def check_mask(mask: Shape, shape: Shape, axis: int = 0) -> None:
    """Raise IndexError unless a mask has, from `axis` on, the array's extents, or 0 for some."""
    own = shape[axis : axis + len(mask)]
    if len(mask) != len(own) or any(n not in (0, m) for n, m in zip(mask, own, strict=True)):
        raise IndexError(
            f"a boolean mask of shape {mask} does not fit an array of shape {shape} at axis "
            f"{axis}: it must have shape {own}, or be empty"
        )


def _windows(shape: Shape, entries: Sequence[tuple[Any, Sign]], wrap: bool) -> Layout:
    """Lay out windows over the sliced axes; arrays, ints and slices' starts say where they are."""
    thin, sizes, starts = _along(shape, entries, wrap)
    places = [place for place, (_, k) in enumerate(entries) if _picks(k)]
    batch = common_shape(*[_picked_shape(entries[place][1]) for place in places])
    adjacent = places == list(range(places[0], places[0] + len(places)))
    layout = _not_picked(entries)
    layout.insert(len(_not_picked(entries[: places[0]])) if adjacent else 0, PICKS)
    offsets: list[int] = []
    flat: list[int] = []
    full: list[int] = []
    for entry in layout:
        if entry is None:
            full.append(1)
            continue
        if entry is not PICKS:
            offsets.append(len(flat))
        new = batch if entry is PICKS else (sizes[entry],)
        flat += new
        full += new
    collapsed = tuple(d for d in range(len(shape)) if d not in layout)
    return Layout(
        thin=tuple(thin) if any(step != 1 for *_, step in thin) else None,
        components=tuple(starts.values()),
        extents=tuple(shape[axis] for axis, start in starts.items() if start is None),
        batch=batch,
        numbers=GatherDimensionNumbers(tuple(offsets), collapsed, tuple(starts)),
        sizes=tuple(sizes),
        flat=tuple(flat),
        shape=tuple(full),
        empty=next((axis for axis in starts if sizes[axis] > shape[axis]), None),
    )


def _along(
    shape: Shape, entries: Sequence[tuple[Any, Sign]], wrap: bool
) -> tuple[list[Triple], list[int], dict[int, int | None]]:
    """Say what is read of each axis, what of that a window takes, and where those that move start.

    A start is a component of the index vectors: None is the next array's elements.
    """
    thin: list[Triple] = [(0, n, 1) for n in shape]
    sizes = [1] * len(shape)
    starts: dict[int, int | None] = {}
    for axis, k in entries:
        if axis is None:
            continue
        extent = shape[axis]
        if type(k) is int:
            starts[axis] = k + extent if k < 0 and wrap else k
        elif _is_array(k):
            starts[axis] = None
        else:
            start, stop, step = k
            if step != 1:
                thin[axis] = k
                start, stop = 0, len(range(extent)[slice(*k)])
                extent = stop
            sizes[axis] = stop - start
            if sizes[axis] != extent:
                starts[axis] = start
    return thin, sizes, starts


def _picks(k: Sign) -> bool:
    """Whether an entry is of those that broadcast together, in whose place their batch stands."""
    return type(k) is int or _is_array(k)


def _picked_shape(k: Sign) -> Shape:
    if type(k) is int:
        return ()
    return (int(k[1]),) if k[0] == "truth" else k[1]


def _not_picked(entries: Sequence[tuple[Any, Sign]]) -> list[Any]:
    """List the axes that are sliced, and None for each new one."""
    return [axis for axis, k in entries if k is not Ellipsis and not _picks(k)]


# ---------------------------------------------------------------------------------------- vectors


def wrapped(index: Any, size: int) -> Any:
    """Count an index's negative elements from the end; what is known is computed on the host."""
    default = dtypes.default_int()
    host = _host(index)
    if host is not None:
        if host.dtype.kind == "u":
            host = np.minimum(host.astype(np.uint64), np.uint64(size))
        wide = host if host.dtype == default else host.astype(np.int64)
        if (wide < 0).any():
            wide = np.where(wide < 0, wide + size, wide)
        if wide.dtype != default:  # what is outside must stay so
            limits = np.iinfo(default)
            wide = wide.clip(limits.min, limits.max).astype(default)
        return wide if isinstance(index, ndarray) or neutral(index) else Array(np.asarray(wide))
    if dtypes.kind(index.dtype) == "u":
        return convert(minimum(index, size) if index.dtype.itemsize >= 4 else index, default)
    if index.dtype.itemsize < 4:
        index = convert(index, dtypes.int32)
    return select(index < 0, index + size, index)


def _host(index: Any) -> Host | None:
    if isinstance(index, ndarray):
        return index
    return index.raw if type(index) is Array and type(index.raw) is ndarray else None


def _vectors(x: Array, layout: Layout, arrays: Sequence[Any]) -> Array:
    """Stack the components of the index vectors along a last axis."""
    given = iter(arrays)
    components = [next(given) if c is None else c for c in layout.components]
    batch, default = layout.batch, dtypes.default_int()
    known = [c if type(c) is int else _host(c) for c in components]
    if all([k is not None for k in known]):  # noqa: C419 - quicker than a generator
        out = np.empty((*batch, len(known)), default)
        for i, k in enumerate(known):
            out[..., i] = k
        ours = any(type(a) is Array and not neutral(a) for a in arrays)
        return Array(out) if ours else from_host(out, home_of(x))
    home = home_of(*arrays, x)
    columns = [c if isinstance(c, Array) else lift(np.asarray(c), home) for c in components]
    dtype = next((c.dtype for c in columns if c.dtype.itemsize > 4), dtypes.int32)
    columns = [reshape(broadcast_to(convert(c, dtype), batch), (*batch, 1)) for c in columns]
    return concatenate(columns, len(batch))
