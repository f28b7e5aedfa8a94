"""Signatures: all that a Program computes, as bytes alike everywhere, and who else has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar

import numpy as np

from arrayport.core import lines
from arrayport.core.array import Array
from arrayport.core.primitive import Primitive
from arrayport.core.program import Atom, Literal, Program, inner_programs

T = TypeVar("T")

RECENT = 64  # Programs that are at hand
LARGEST = 1 << 20  # bytes of one of them
_first: dict[bytes, Program] = {}

PLAIN = (bool, int, float, complex, str, bytes, type(None))


def signature(program: Program) -> bytes | None:
    """Write a Program; None if it holds what only this process has, as a function of Python."""

    def written() -> tuple[bytes | None]:
        words: list[bytes] = []
        try:
            _program(program, words)
        except TypeError:
            return (None,)
        return (b"\n".join(words),)

    return program.derive("signature", written)[0]


def large(program: Program) -> bool:
    """Whether it holds arrays that take long to write."""
    return program.derive("large", lambda: (_held(program) > LARGEST,))[0]


def _held(program: Program) -> int:
    """Bytes of the arrays that a Program holds, and those in it."""
    return sum(
        sum(a.value.nbytes for a in eqn.ins if type(a) is Literal)
        + sum(map(_held, inner_programs(eqn.params)))
        for eqn in program.eqns
    )


def first_like(program: Program) -> Program:
    """The first Program that was written so, of the last ones, with all that it is known by."""
    written = None if lines.on else signature(program)  # each has lines of its own
    if written is None or len(written) > LARGEST:
        return program
    return recent(_first, written, lambda: program, RECENT)


def recent(kept: dict[bytes, T], name: bytes, make: Callable[[], T], most: int) -> T:
    """Give what is kept under a name, or is made; the last ones that were asked for stay."""
    found = kept.pop(name, None)
    kept[name] = found = make() if found is None else found
    names = list(kept)
    for old in names[: max(len(names) - most, 0)]:
        kept.pop(old, None)
    return found


@cache
def _named(dtype: np.dtype[Any]) -> str:
    """A dtype's name, which NumPy puts together each time."""
    return str(dtype)


def _program(program: Program, words: list[bytes]) -> None:
    numbers: dict[Atom, int] = {}

    def atoms(found: tuple[Atom, ...]) -> None:
        for a in found:
            known = numbers.get(a)
            if known is not None:
                words.append(b"%d" % known)
                continue
            number = numbers[a] = len(numbers)
            words.append(f"{number} {_named(a.dtype)} {a.shape} {a.weak}".encode())
            if type(a) is Literal:
                _value(a.value, words)

    words.append(b"program")
    atoms(program.ins)
    for prim, ins, params, outs in program.eqns:
        _value(prim, words)
        atoms(ins)
        _value(params, words)
        atoms(outs)
    words.append(b"gives")
    atoms(program.outs)


def _value(value: Any, words: list[bytes]) -> None:
    """Write a parameter, or raise TypeError."""
    kind = type(value)
    words.append(kind.__qualname__.encode())
    if kind in PLAIN:
        words.append(repr(value).encode())
    elif isinstance(value, tuple | list):
        words.append(b"%d" % len(value))
        for v in value:
            _value(v, words)
    elif isinstance(value, dict):
        for k, v in value.items():
            _value(k, words)
            _value(v, words)
        words.append(b"end")
    elif isinstance(value, Program):
        _program(value, words)
    elif isinstance(value, Primitive):
        words.append(value.name.encode())
    elif isinstance(value, np.dtype):
        words.append(_named(value).encode())
    elif isinstance(value, np.ndarray | np.generic):
        words += f"{_named(value.dtype)} {value.shape}".encode(), value.tobytes()
    elif isinstance(value, Array):
        raw = np.ascontiguousarray(value.raw)
        words += f"{_named(raw.dtype)} {value.shape} {value.weak}".encode(), raw.tobytes()
    elif isinstance(value, Enum):
        words.append(value.name.encode())
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            _value(getattr(value, field.name), words)
    else:
        raise TypeError(f"{kind} has no signature")
