"""Protocol buffers as they are written: messages of fields, each a number and a value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Field = tuple[int, Any]


def message(fields: Iterable[Field]) -> bytes:
    """Encode fields whose values are integers from 0 on, texts, bytes or fields of their own.

    >>> message([(1, 300), (2, "hi"), (3, [(1, 1)])]).hex(" ")
    '08 ac 02 12 02 68 69 1a 02 08 01'
    """
    out = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
            continue
        body = value.encode() if isinstance(value, str) else value
        body = body if isinstance(body, bytes) else message(body)
        out += varint(number << 3 | 2) + varint(len(body)) + body
    return bytes(out)


def packed(values: Sequence[int]) -> bytes:
    """Encode the values of a repeated field of integers."""
    return b"".join(map(varint, values))


def varint(value: int) -> bytes:
    """Encode an integer from 0 on, seven bits a byte, the lowest first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
