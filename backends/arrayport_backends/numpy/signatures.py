"""Signatures: all that a Program computes, as bytes that are the same in every process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from arrayport.core.array import Array
from arrayport.core.primitive import Primitive
from arrayport.core.program import Atom, Literal, Program

PLAIN = (bool, int, float, complex, str, bytes, type(None))


def signature(program: Program) -> bytes | None:
    """Write a Program; None if it holds what only this process has, as a function of Python."""

    def written() -> tuple[bytes | None]:
        try:
            return (b"\n".join(_program(program)),)
        except TypeError:
            return (None,)

    return program.derive("signature", written)[0]


def _program(program: Program) -> Iterator[bytes]:
    numbers: dict[Atom, int] = {}

    def atoms(found: tuple[Atom, ...]) -> Iterator[bytes]:
        for a in found:
            new = a not in numbers
            number = numbers.setdefault(a, len(numbers))
            yield f"{number} {a.dtype} {a.shape} {a.weak}".encode()
            if new and type(a) is Literal:
                yield from _value(a.value)

    yield b"program"
    yield from atoms(program.ins)
    for prim, ins, params, outs in program.eqns:
        yield from _value(prim)
        yield from atoms(ins)
        yield from _value(params)
        yield from atoms(outs)
    yield b"gives"
    yield from atoms(program.outs)


def _value(value: Any) -> Iterator[bytes]:
    """Write a parameter, or raise TypeError."""
    kind = type(value)
    yield kind.__qualname__.encode()
    if kind in PLAIN:
        yield repr(value).encode()
    elif isinstance(value, Program):
        yield from _program(value)
    elif isinstance(value, Primitive):
        yield value.name.encode()
    elif isinstance(value, np.dtype):
        yield str(value).encode()
    elif isinstance(value, np.ndarray | np.generic):
        yield f"{value.dtype} {value.shape}".encode()
        yield value.tobytes()
    elif isinstance(value, Array):
        raw = np.ascontiguousarray(value.raw)
        yield f"{raw.dtype} {value.shape} {value.weak}".encode()
        yield raw.tobytes()
    elif isinstance(value, Enum):
        yield value.name.encode()
    elif isinstance(value, tuple | list):
        yield str(len(value)).encode()
        for v in value:
            yield from _value(v)
    elif isinstance(value, dict):
        for k, v in value.items():
            yield from _value(k)
            yield from _value(v)
        yield b"end"
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _value(getattr(value, field.name))
    else:
        raise TypeError(f"{kind} has no signature")
