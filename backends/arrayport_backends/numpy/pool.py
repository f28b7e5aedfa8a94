"""The pool: memory of large answers is used again, since the system's first touch of it is dear."""

from __future__ import annotations

import sys
from collections import deque
from contextlib import suppress
from math import prod
from typing import Any

import numpy as np

from arrayport.core.array import Array

LARGE = 1 << 18  # bytes from which an array's memory comes from the pool
KEPT = 1 << 28  # bytes that the pool holds at most
TRIES = 8  # buffers of the wanted size that are looked at
LINE = 64  # bytes of a line of the cache, at whose beginning arrays start


class Buffer(np.ndarray[Any, Any]):
    """Memory, and where its first line begins."""

    start: int


_buffers: dict[int, deque[Buffer]] = {}  # by their sizes, those not looked at for longest first
_counts = sys.implementation.name == "cpython" and getattr(sys, "_is_gil_enabled", lambda: True)()


def _buffer(size: int) -> Buffer:
    buffer = Buffer(size + LINE, np.uint8)
    buffer.start = -buffer.ctypes.data % LINE
    return buffer


def _popped(buffers: deque[Buffer]) -> tuple[Buffer, int]:
    """Take a buffer out, so that no other thread sees it meanwhile, and count its references."""
    buffer = buffers.popleft()
    return buffer, sys.getrefcount(buffer)


# What is counted of memory that no array is over: it differs between versions of Python.
FREE = _popped(deque([_buffer(1)]))[1]


# The same of an Array's memory that only the Array refers to, and of a buffer below such memory.
def _references(array: Array) -> tuple[int, int]:
    """Count who refers to an Array's memory, and to what is below that."""
    return sys.getrefcount(array.raw), sys.getrefcount(array.raw.base)


_only = deque([_buffer(8)])
ALONE = _references(Array(np.ndarray((1,), np.float64, _only[0]), False))


def alone(array: Array) -> bool:
    """Whether nobody but this Array sees its memory; where references are not counted, none is."""
    if not _counts or type(array.raw) is not np.ndarray:
        return False
    counts = _references(array)
    if counts[0] > ALONE[0] or not array.raw.flags.carray:
        return False
    if array.raw.base is None:
        return bool(array.raw.flags.owndata)
    buffers = [id(b) for b in list(_buffers.get(array.raw.nbytes, ()))]
    return id(array.raw.base) in buffers and counts[1] <= ALONE[1]


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Give an array of any contents.

    An array over a buffer of the pool holds a reference to it, as do all views of the array; so a
    buffer to which nobody else refers is free.
    """
    size = prod(shape) * dtype.itemsize
    if not _counts or size > KEPT:
        return np.empty(shape, dtype)
    known = _buffers.setdefault(size, deque())
    for _ in range(min(len(known), TRIES)):
        try:
            buffer, references = _popped(known)
        except IndexError:  # another thread took the last one
            break
        made = np.ndarray(shape, dtype, buffer, buffer.start) if references == FREE else None
        known.append(buffer)
        if made is not None:
            return made
    buffer = _buffer(size)
    known.append(buffer)
    _forget()
    return np.ndarray(shape, dtype, buffer, buffer.start)


def _forget() -> None:
    """Let go of the oldest sizes' buffers while there is too much."""
    held = {size: len(known) for size, known in list(_buffers.items())}
    excess = sum((size + LINE) * count for size, count in held.items()) - KEPT
    for size, count in held.items():
        for _ in range(min(count, -(-excess // size)) if excess > 0 else 0):
            with suppress(KeyError, IndexError):  # another thread let go of it
                _buffers[size].popleft()
                excess -= size
        if not _buffers.get(size):
            _buffers.pop(size, None)
