"""Gathers and scatters on the device: indices are clamped first, and writes have no order."""

from __future__ import annotations

from typing import Any

from arrayport_backends.ndarray.indexing import Accesses, Arrays
from arrayport_backends.ndarray.kernels import Lib, Rows

Raw = Any
# what CuPy adds atomically, complex numbers by their parts
ADDED_AT = {"float32", "float64", "complex64", "complex128", "int32", "int64", "uint32", "uint64"}


class DeviceAccesses(Accesses):
    """Gathers and scatters on a device, which to ask for two numbers would be to wait for."""

    def take(self, lib: Lib, x: Raw, index: Raw, axis: int) -> Raw:
        return x.take(lib.xp.minimum(lib.xp.maximum(index, 0), x.shape[axis] - 1), axis)

    def inside(self, _start: Raw, _limit: int) -> bool:
        return False

    def write(
        self, lib: Lib, combine: str, base: Raw, target: Raw, arrays: Arrays, values: Raw
    ) -> None:
        if combine != "add" or base.dtype.name not in ADDED_AT:
            in_rounds(lib, combine, target, arrays, values)
        elif base.dtype.kind == "c":
            lib.xp.add.at(target.real, arrays, values.real)
            lib.xp.add.at(target.imag, arrays, values.imag)
        else:
            lib.xp.add.at(target, arrays, values)


def in_rounds(lib: Lib, combine: str, target: Raw, arrays: Arrays, values: Raw) -> None:
    """Write to elements that may repeat in rounds, each of which writes once to an element."""
    xp = lib.xp
    places = xp.arange(target.size).reshape(target.shape)[arrays]
    places, values = xp.broadcast_to(places, values.shape).ravel(), values.ravel()
    order = xp.argsort(places)
    places, values = places[order], values[order]
    flat = target.ravel()
    while places.size:
        last = xp.ones(places.shape, bool)
        last[:-1] = places[1:] != places[:-1]
        at, new = places[last], values[last]
        flat[at] = getattr(xp, combine)(flat[at], new) if combine else new
        if not combine:
            break
        places, values = places[~last], values[~last]
    target[...] = flat.reshape(target.shape)


ROWS: Rows = DeviceAccesses().rows()
