"""NumPy's and CuPy's kernels for sorting, which are stable whatever the library's are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayport.ops.sorting import sort_p, top_k_p
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows

Raw = Any
Order = Callable[[Lib, Raw, int], Raw]  # indices that sort an array along an axis, stably
QUICK = 2048  # elements from which NumPy's vectorised sort, made stable, beats its stable one


def sort(lib: Lib, *xs: Raw, dimension: int, num_keys: int) -> list[Raw]:
    """Sort one real operand at once, any others by the order that the keys give."""
    if len(xs) == 1 and xs[0].dtype.kind != "c" and not _zeros_differ(xs[0]):
        return [lib.xp.sort(xs[0], axis=dimension)]
    return by_keys(stable_order, lib, xs, dimension, num_keys)


def by_keys(
    argsort: Order, lib: Lib, xs: Sequence[Raw], dimension: int, num_keys: int
) -> list[Raw]:
    """Put all operands in the order of the first ones, complex ones by their parts."""
    keys = [
        part for x in xs[:num_keys] for part in ((x.real, x.imag) if x.dtype.kind == "c" else (x,))
    ]
    order = argsort(lib, keys[-1], dimension)
    for key in reversed(keys[:-1]):
        again = argsort(lib, taken(lib, key, order, dimension), dimension)
        order = taken(lib, order, again, dimension)
    return [taken(lib, x, order, dimension) for x in xs]


def _zeros_differ(x: Raw) -> bool:
    """Whether a zero may be negative: an unstable sort could change the order of zeros."""
    if x.dtype.kind in "biu":
        return False
    return bool((x.view(f"i{x.itemsize}") == np.iinfo(f"i{x.itemsize}").min).any())


def taken(lib: Lib, x: Raw, order: Raw, axis: int) -> Raw:
    """The elements in an order."""
    return x[order] if x.ndim == 1 else lib.xp.take_along_axis(x, order, axis)


def stable_order(lib: Lib, key: Raw, axis: int) -> Raw:
    """Indices that sort; equal elements, and NaNs among themselves, keep their order."""
    if key.size < QUICK or key.itemsize < 4:
        return key.argsort(axis, kind="stable")
    order = key.argsort(axis)
    ranked = taken(lib, key, order, axis).swapaxes(axis, -1)
    new = (ranked[..., 1:] != ranked[..., :-1]) & (ranked[..., :-1] == ranked[..., :-1])
    if new.all():
        return order
    runs = np.zeros(ranked.shape, np.int64)  # equal elements are a run, and a run is put in order
    np.cumsum(new, axis=-1, out=runs[..., 1:])
    runs *= ranked.shape[-1]
    return (np.sort(runs + order.swapaxes(axis, -1), axis=-1) - runs).swapaxes(axis, -1)


def top_k(lib: Lib, x: Raw, k: int, axis: int) -> list[Raw]:
    """Take the first k of the order that sorts descending."""
    key = descending(x)
    order = _smallest(lib, key, k, axis) if 0 < 8 * k <= key.shape[axis] else None
    if order is None:
        order = stable_order(lib, key, axis)[first(k, axis)]
    return [taken(lib, x, order, axis), order.astype(np.int32)]


def descending(x: Raw) -> Raw:
    """Integers or booleans that sort as x does from its largest element on, NaN before all."""
    if x.dtype.kind != "f":
        return ~x
    bits = x.view(f"i{x.itemsize}")
    size = 8 * x.itemsize - 1
    return ~(bits ^ ((bits >> size) & np.iinfo(bits.dtype).max))


def first(k: int, axis: int) -> tuple[slice, ...]:
    """The key of the first k along an axis."""
    return (slice(None),) * axis + (slice(k),)


def _smallest(lib: Lib, key: Raw, k: int, axis: int) -> Raw | None:
    """Indices of the k smallest elements by partition; None where a tie leaves the choice open."""
    places = np.sort(key.argpartition(k - 1, axis)[first(k, axis)], axis)
    chosen = taken(lib, key, places, axis)
    if ((key <= chosen.max(axis, keepdims=True)).sum(axis) > k).any():
        return None
    return taken(lib, places, chosen.argsort(axis, kind="stable"), axis)


ROWS: Rows = {sort_p: Kernel(sort), top_k_p: Kernel(top_k)}
