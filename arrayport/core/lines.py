"""The user's lines that wrote a Program's equations: noted while something asks, for they cost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_asking = 0
on = False  # whether equations are written with their lines


def ask(wanted: bool) -> None:
    """Ask for lines from now on, or no longer; they are noted while anybody asks."""
    global _asking, on  # noqa: PLW0603 - read at every equation
    _asking += 1 if wanted else -1
    on = _asking > 0


@contextmanager
def asked() -> Iterator[None]:
    """Ask for lines within a block."""
    ask(True)
    try:
        yield
    finally:
        ask(False)
