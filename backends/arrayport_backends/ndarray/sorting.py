"""NumPy's and CuPy's kernels for sorting, which are stable whatever the library's are."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.ops.sorting import sort_p, top_k_p
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows

Raw = Any
QUICK = 2048  # elements from which NumPy's vectorised sort, made stable, beats its stable one


def sort(lib: Lib, *xs: Raw, dimension: int, num_keys: int) -> list[Raw]:
    """Sort one real operand at once, any others by the order that the keys give."""
    if len(xs) == 1 and xs[0].dtype.kind != "c" and not _zeros_differ(xs[0]):
        return [lib.xp.sort(xs[0], axis=dimension)]
    keys = [
        part for x in xs[:num_keys] for part in ((x.real, x.imag) if x.dtype.kind == "c" else (x,))
    ]
    order = stable_order(lib, keys[-1], dimension)
    for key in reversed(keys[:-1]):
        again = stable_order(lib, _taken(lib, key, order, dimension), dimension)
        order = _taken(lib, order, again, dimension)
    return [_taken(lib, x, order, dimension) for x in xs]


def _zeros_differ(x: Raw) -> bool:
    """Whether a zero may be negative: an unstable sort could change the order of zeros."""
    if type(x) is not np.ndarray or x.dtype.kind in "biu":
        return False
    return bool((x.view(f"i{x.itemsize}") == np.iinfo(f"i{x.itemsize}").min).any())


def _taken(lib: Lib, x: Raw, order: Raw, axis: int) -> Raw:
    return x[order] if x.ndim == 1 else lib.xp.take_along_axis(x, order, axis)


def stable_order(lib: Lib, key: Raw, axis: int) -> Raw:
    """Indices that sort; equal elements, and NaNs among themselves, keep their order."""
    if lib.name != "numpy":
        return lib.xp.argsort(key, axis=axis)
    if key.size < QUICK or key.itemsize < 4:
        return key.argsort(axis, kind="stable")
    order = key.argsort(axis)
    ranked = _taken(lib, key, order, axis).swapaxes(axis, -1)
    new = (ranked[..., 1:] != ranked[..., :-1]) & (ranked[..., :-1] == ranked[..., :-1])
    if new.all():
        return order
    runs = np.zeros(ranked.shape, np.int64)  # equal elements are a run, and a run is put in order
    np.cumsum(new, axis=-1, out=runs[..., 1:])
    runs *= ranked.shape[-1]
    return (np.sort(runs + order.swapaxes(axis, -1), axis=-1) - runs).swapaxes(axis, -1)


def top_k(lib: Lib, x: Raw, k: int, axis: int) -> list[Raw]:
    """Take the first k of the order that sorts descending."""
    key = x
    if x.dtype.kind == "f":
        bits = x.view(f"i{x.itemsize}")
        size = 8 * x.itemsize - 1
        key = bits ^ ((bits >> size) & np.iinfo(bits.dtype).max)
    key = ~key
    few = lib.name == "numpy" and 0 < 8 * k <= key.shape[axis]
    order = _smallest(lib, key, k, axis) if few else None
    if order is None:
        order = stable_order(lib, key, axis)[_first(k, axis)]
    return [_taken(lib, x, order, axis), order.astype(np.int32)]


def _first(k: int, axis: int) -> tuple[slice, ...]:
    return (slice(None),) * axis + (slice(k),)


def _smallest(lib: Lib, key: Raw, k: int, axis: int) -> Raw | None:
    """Indices of the k smallest elements by partition; None where a tie leaves the choice open."""
    places = np.sort(key.argpartition(k - 1, axis)[_first(k, axis)], axis)
    chosen = _taken(lib, key, places, axis)
    if ((key <= chosen.max(axis, keepdims=True)).sum(axis) > k).any():
        return None
    return _taken(lib, places, chosen.argsort(axis, kind="stable"), axis)


ROWS: Rows = {sort_p: Kernel(sort), top_k_p: Kernel(top_k)}
