"""NumPy's and CuPy's kernels for reading and writing parts of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from math import prod
from typing import Any, NamedTuple

import numpy as np

from arrayport.core import dtypes
from arrayport.ops import indexing, slices, windows
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows

Raw = Any
Shape = tuple[int, ...]
Arrays = tuple[Raw, ...]  # an index, one for each indexed axis


def writes(into: Callable[..., Raw], *, moves: bool = False) -> Kernel:
    """The row of a kernel that writes into its base: into a copy, unless the base may go."""

    def run(lib: Lib, base: Raw, *rest: Raw, **params: Any) -> Raw:
        return into(lib, lib.xp.array(base, order="C"), *rest, **params)

    def inplace(lib: Lib, base: Raw, *rest: Raw, **params: Any) -> Raw:
        # without axes it may be a scalar of NumPy's, which cannot be written to
        return (into if base.shape else run)(lib, base, *rest, **params)

    return Kernel(run, moves=moves, inplace=inplace)


# ---------------------------------------------------------------------------------------- slices


def slice_add(_lib: Lib, base: Raw, value: Raw, key: slices.Key) -> Raw:
    """Add to what a key chooses."""
    base[slices.basic(key)] += value
    return base


def slice_set(_lib: Lib, base: Raw, value: Raw, key: slices.Key) -> Raw:
    """Replace what a key chooses."""
    base[slices.basic(key)] = value
    return base


def window(shape: Shape, starts: Sequence[Raw], sizes: Shape) -> tuple[slice, ...]:
    """The slices of a window that starts where it is told, or as near as it fits."""
    return tuple(
        slice(at := min(max(int(s), 0), n - k), at + k)
        for s, n, k in zip(starts, shape, sizes, strict=True)
    )


def dynamic_slice(_lib: Lib, x: Raw, *starts: Raw, sizes: Shape) -> Raw:
    """Copy a window: a view would keep the whole operand from being overwritten."""
    return x[window(x.shape, starts, sizes)].copy()


def dynamic_update_slice(_lib: Lib, base: Raw, update: Raw, *starts: Raw) -> Raw:
    """Replace a window."""
    base[(*window(base.shape, starts, update.shape), ...)] = update
    return base


def dynamic_slice_add(_lib: Lib, base: Raw, *rest: Raw) -> Raw:
    """Add to a window."""
    *starts, value = rest
    base[(*window(base.shape, starts, value.shape), ...)] += value
    return base


# ---------------------------------------------------------------------------------------- plans


class Plan(NamedTuple):
    """How to find the windows that a gather or scatter means, by NumPy's indexing.

    An axis of the operand is `whole` where its window spans it, else `indexed`: by a component of
    the index vector, by an array added to that, or both. Windows come out with the axes (example,
    indexed axes of the window, whole axes), `unordered`; `places` says which axis of the output
    each of those is, the examples' axes being apart again, and `order` is its inverse.
    """

    examples: int  # index vectors
    limits: Shape  # the largest start that fits, by component of the index vector
    indexed: Shape
    whole: Shape
    components: tuple[int | None, ...]  # of each indexed axis
    offsets: tuple[Any, ...]  # of each indexed axis
    inner: Shape  # of the window
    unordered: Shape
    places: Shape
    order: Shape
    shape: Shape  # of the output
    axis: int | None  # the indexed axis, if plain `take` along it gives the windows
    one: tuple[tuple[int, int, int, bool], ...]  # by axis: component or -1, limit, size, is it kept


@lru_cache(1 << 12)
def plan(shape: Shape, index_shape: Shape, numbers: Sequence[Shape], sizes: Shape) -> Plan:
    """Work out, once for each set of shapes, how to find the windows."""
    offset_dims, _, mapped, batching, index_batching = numbers
    batch = index_shape[:-1]
    rank = len(batch) + len(offset_dims)
    kept = indexing.windows(len(shape), numbers)
    whole = tuple(d for d in kept if sizes[d] == shape[d])
    indexed = tuple(d for d in range(len(shape)) if d not in whole)
    partial = [d for d in indexed if d in kept]
    component = {d: i for i, d in enumerate(mapped)}
    offsets: list[Any] = []
    for d in indexed:
        if d in batching:
            along = [1] * len(batch)
            along[index_batching[batching.index(d)]] = -1
            line = np.broadcast_to(np.arange(shape[d]).reshape(along), batch)
            offsets.append(line.reshape(-1, *[1] * len(partial)))
        elif d in partial:
            along = [1] * (len(partial) + 1)
            along[partial.index(d) + 1] = -1
            offsets.append(np.arange(sizes[d]).reshape(along))
        else:
            offsets.append(None)
    inner = tuple(sizes[d] for d in (*partial, *whole))
    examples = [d for d in range(rank) if d not in offset_dims]
    places = (*examples, *[offset_dims[kept.index(d)] for d in (*partial, *whole)])
    order = tuple(places.index(d) for d in range(rank))
    axis = indexed[0] if len(indexed) == 1 and offsets[0] is None and indexed[0] in mapped else None
    return Plan(
        examples=prod(batch),
        limits=tuple(shape[d] - sizes[d] for d in mapped),
        indexed=indexed,
        whole=whole,
        components=tuple(component.get(d) for d in indexed),
        offsets=tuple(offsets),
        inner=inner,
        unordered=(*batch, *inner),
        places=places,
        order=order,
        shape=tuple((*batch, *inner)[i] for i in order),
        axis=axis
        if axis is not None and examples == list(range(axis, axis + len(batch)))
        else None,
        one=tuple(
            (component.get(d, -1), n - k, k, d in kept)
            for d, (n, k) in enumerate(zip(shape, sizes, strict=True))
        ),
    )


def one_window(p: Plan, starts: Sequence[int]) -> tuple[Any, ...]:
    """The basic index of the window, if there is only one: reading or writing it costs no more."""
    key: list[Any] = []
    for component, limit, size, kept in p.one:
        at = min(max(starts[component], 0), limit) if component >= 0 else 0
        key.append(slice(at, at + size) if kept else at)
    return (*key, ...)


def fits(p: Plan, starts: Sequence[int]) -> bool:
    """Whether the only window is inside the operand."""
    return all(0 <= s <= limit for s, limit in zip(starts, p.limits, strict=True))


def index_vectors(lib: Lib, indices: Raw, p: Plan) -> Raw:
    """All index vectors, shape (count, components), in a signed type that holds them."""
    if indices.dtype == np.uint64:
        indices = lib.xp.minimum(indices, np.uint64(np.iinfo(np.int64).max))
    return indices.reshape(p.examples, len(p.limits)).astype(np.int64, copy=False)


def index_arrays(
    lib: Lib, starts: Raw, p: Plan, chosen: Raw | None = None, *, clamp: bool = True
) -> tuple[Raw, ...]:
    """An array for each indexed axis, broadcasting together; of the `chosen` examples only."""
    xp = lib.xp
    extra = len(p.inner) - len(p.whole)
    arrays = []
    for component, offset in zip(p.components, p.offsets, strict=True):
        at = None if offset is None else xp.asarray(offset)
        if at is not None and chosen is not None and len(at) == p.examples > 1:
            at = at[chosen]
        if component is not None:
            start = starts[:, component]
            if clamp:
                start = xp.minimum(xp.maximum(start, 0), p.limits[component])
            start = start.reshape(-1, *[1] * extra)
            at = start if at is None else start + at
        arrays.append(xp.zeros((1,) * (extra + 1), np.int64) if at is None else at)
    return tuple(arrays)


def filler(dtype: np.dtype[Any], value: Any) -> Any:
    """What a read outside the operand gives unless told: NaN, the least integer, or the largest.

    Of keys the one whose bits are all set.
    """
    if value is not None:
        return value
    kind = dtypes.kind(dtype)
    if kind == "k":
        return np.array(-1).view(dtypes.key)
    if kind in "iu":
        info = dtypes.iinfo(dtype)
        return int(info.min if kind == "i" else info.max)
    return True if kind == "b" else float("nan")


# ---------------------------------------------------------------------------------------- accesses


class Accesses:
    """Gathers and scatters; what libraries do in ways of their own are methods of their own."""

    def gather(
        self,
        lib: Lib,
        x: Raw,
        indices: Raw,
        dimension_numbers: indexing.GatherDimensionNumbers,
        slice_sizes: Shape,
        mode: str,
        fill_value: Any,
        **_flags: bool,
    ) -> Raw:
        """Read windows: one as a slice, rows of one axis by `take`, others by index arrays."""
        p = plan(x.shape, indices.shape, dimension_numbers, slice_sizes)
        if 0 in p.shape:
            return lib.xp.empty(p.shape, x.dtype)
        if p.examples == 1:
            starts = indices.ravel().tolist()
            if mode == "fill" and not fits(p, starts):
                return lib.xp.full(p.shape, filler(x.dtype, fill_value), x.dtype)
            return x[one_window(p, starts)].reshape(p.shape).copy()
        starts = index_vectors(lib, indices, p)
        lead = p.axis or 0
        if p.axis is not None:
            out = self.take(lib, x, starts[:, p.components[0]], p.axis)
        elif p.indexed:
            out = x.transpose(p.indexed + p.whole)[index_arrays(lib, starts, p)]
        else:
            out = x[None][lib.xp.zeros(p.examples, np.int64)]
        if len(out) == 1 != p.examples and p.axis is None:  # no index varies between examples
            out = lib.xp.repeat(out, p.examples, axis=0)
        if mode == "fill":
            lost = self.outside(starts, p)
            if lost is not None:
                out[(slice(None),) * lead + (lost,)] = filler(x.dtype, fill_value)
        if p.axis is not None:
            return out.reshape(p.shape)
        return out.reshape(p.unordered).transpose(p.order)

    def scatter(self, combine: str) -> Callable[..., Raw]:
        """Make the kernel that writes windows into a base by a binary function, or replaces."""

        def run(
            lib: Lib,
            base: Raw,
            indices: Raw,
            updates: Raw,
            dimension_numbers: indexing.ScatterDimensionNumbers,
            mode: str,
            unique_indices: bool,
            **_flags: bool,
        ) -> Raw:
            sizes = indexing.window_sizes(base.ndim, dimension_numbers, updates.shape)
            p = plan(base.shape, indices.shape, dimension_numbers, sizes)
            if not updates.size:
                return base
            if p.examples == 1:
                starts = indices.ravel().tolist()
                if mode == "clip" or fits(p, starts):
                    view = base[one_window(p, starts)]
                    values = updates.reshape(view.shape)
                    if combine:
                        getattr(lib.xp, combine)(view, values, out=view)
                    else:
                        view[...] = values
                return base
            starts = index_vectors(lib, indices, p)
            values = updates.transpose(p.places).reshape(p.examples, *p.inner)
            chosen = None
            if mode != "clip":
                lost = self.outside(starts, p)
                if lost is not None:
                    (chosen,) = (~lost).nonzero()
                    starts, values = starts[chosen], values[chosen]
                    if not len(starts):
                        return base
            target = base.transpose(p.indexed + p.whole)
            arrays = index_arrays(lib, starts, p, chosen, clamp=mode == "clip")
            if all(len(a) == 1 for a in arrays):  # all examples have the same window
                first = (len(starts), *[1] * (len(p.inner) - len(p.whole)))
                target, arrays = target[None], (lib.xp.zeros(first, np.int64), *arrays)
            if not unique_indices:
                self.write(lib, combine, base, target, arrays, values)
            elif combine:
                target[arrays] = getattr(lib.xp, combine)(target[arrays], values)
            else:
                target[arrays] = values
            return base

        return run

    def take(self, _lib: Lib, x: Raw, index: Raw, axis: int) -> Raw:
        """Read along one axis, the index clamped."""
        return x.take(index, axis, mode="clip")

    def inside(self, start: Raw, limit: int) -> bool:
        """Whether it is quickly seen that all windows are inside the operand."""
        return bool(start.min() >= 0 and start.max() <= limit)

    def outside(self, starts: Raw, p: Plan) -> Raw | None:
        """Of each index vector, whether its window is outside the operand; None if none is."""
        lost = None
        for component, limit in enumerate(p.limits):
            start = starts[:, component]
            if self.inside(start, limit):
                continue
            bad = (start < 0) | (start > limit)
            lost = bad if lost is None else lost | bad
        return lost if lost is not None and lost.any() else None

    def write(
        self, _lib: Lib, combine: str, base: Raw, target: Raw, arrays: Arrays, values: Raw
    ) -> None:
        """Write values one after another to elements that may repeat."""
        if not combine:
            target[arrays] = values
            return
        at = getattr(np, combine).at
        if not base.flags.c_contiguous:
            at(target, arrays, values)
            return
        # A flat index is three to thirty times quicker than a tuple of arrays.
        steps = [s // base.itemsize for s in target.strides]
        flat = reduce(np.add, [a if s == 1 else a * s for a, s in zip(arrays, steps, strict=False)])
        for n, s in zip(target.shape[len(arrays) :], steps[len(arrays) :], strict=True):
            flat = flat[..., None] + np.arange(n) * s
        if flat.shape != values.shape:
            flat = np.broadcast_to(flat, values.shape)
        at(base.reshape(-1), flat.ravel(), values.ravel())

    def rows(self) -> Rows:
        """The rows of all that reads and writes at indices."""
        add = {
            slices.slice_add_p: slice_add,
            indexing.scatter_add_p: self.scatter("add"),
            windows.dynamic_slice_add_p: dynamic_slice_add,
        }

        def scatter_all(lib: Lib, base: Raw, *args: Raw, entries: windows.Entries) -> Raw:
            for write, own, params in windows.split(args, entries):
                add[write](lib, base, *own, **params)
            return base

        return {
            indexing.gather_p: Kernel(self.gather, moves=True),
            indexing.scatter_set_p: writes(self.scatter(""), moves=True),
            indexing.scatter_mul_p: writes(self.scatter("multiply")),
            indexing.scatter_min_p: writes(self.scatter("minimum")),
            indexing.scatter_max_p: writes(self.scatter("maximum")),
            windows.scatter_all_p: writes(scatter_all),
            **{prim: writes(kernel) for prim, kernel in add.items()},
        }


ROWS: Rows = {
    slices.slice_p: Kernel(lambda _lib, x, key: x[slices.basic(key)], view=True, moves=True),
    slices.slice_set_p: writes(slice_set, moves=True),
    windows.dynamic_slice_p: Kernel(dynamic_slice, moves=True),
    windows.dynamic_update_slice_p: writes(dynamic_update_slice, moves=True),
    **Accesses().rows(),
}
