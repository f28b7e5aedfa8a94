"""The pool: memory of large answers is used again, since the system's first touch of it is dear."""

from __future__ import annotations

import sys
from math import prod
from typing import Any

import numpy as np

LARGE = 1 << 18  # bytes from which an array's memory comes from the pool
KEPT = 1 << 28  # bytes that the pool holds at most
FREE = 2  # references that remain to memory that no array is over: ours, and the count's argument

_buffers: list[np.ndarray[Any, Any]] = []
_counts = sys.implementation.name == "cpython" and getattr(sys, "_is_gil_enabled", lambda: True)()


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Give an array of any contents.

    An array over a buffer of the pool holds a reference to it, as do all views of the array; so a
    buffer to which nobody else refers is free.
    """
    size = prod(shape) * dtype.itemsize
    if not _counts or size > KEPT:
        return np.empty(shape, dtype)
    for _ in range(len(_buffers)):
        try:
            buffer = _buffers.pop(0)  # so that no other thread sees it meanwhile
        except IndexError:
            break
        free = buffer.nbytes == size and sys.getrefcount(buffer) == FREE
        made = np.ndarray(shape, dtype, buffer) if free else None
        _buffers.append(buffer)
        if made is not None:
            return made
    buffer = np.empty(size, np.uint8)
    _buffers.append(buffer)
    total = sum(b.nbytes for b in list(_buffers))
    while total > KEPT and _buffers:
        total -= _buffers.pop(0).nbytes
    return np.ndarray(shape, dtype, buffer)
