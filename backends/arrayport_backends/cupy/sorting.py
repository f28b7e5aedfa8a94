"""Sorting by CuPy's own functions, which are stable."""

from __future__ import annotations

from typing import Any

from arrayport.ops.sorting import sort_p, top_k_p
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows
from arrayport_backends.ndarray.sorting import by_keys, descending, first, taken

Raw = Any


def argsort(lib: Lib, key: Raw, axis: int) -> Raw:
    """Indices that sort."""
    return lib.xp.argsort(key, axis=axis)


def sort(lib: Lib, *xs: Raw, dimension: int, num_keys: int) -> list[Raw]:
    """Sort one real operand at once, any others by the order that the keys give."""
    if len(xs) == 1 and xs[0].dtype.kind != "c":
        return [lib.xp.sort(xs[0], axis=dimension)]
    return by_keys(argsort, lib, xs, dimension, num_keys)


def top_k(lib: Lib, x: Raw, k: int, axis: int) -> list[Raw]:
    """Take the first k of the order that sorts descending."""
    order = argsort(lib, descending(x), axis)[first(k, axis)]
    return [taken(lib, x, order, axis), order.astype(lib.xp.int32)]


ROWS: Rows = {sort_p: Kernel(sort), top_k_p: Kernel(top_k)}
