"""Context variables that have a value within a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def within(variable: ContextVar[T], value: T) -> Iterator[T]:
    """Give a context variable a value within a block."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)
