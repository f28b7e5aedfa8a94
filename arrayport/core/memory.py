"""Who made which array: noted while somebody asks, for it costs."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from arrayport.core.errors import Place, user_places


class Made(NamedTuple):
    """By which operation an array was made, and where: the user's frames, innermost first."""

    by: str
    places: tuple[Place, ...]


on = False
listeners: list[Callable[[], None]] = []
made: dict[int, Made] = {}  # by the raw value, while that lives


def note(raw: Any, by: str) -> None:
    """Note that an operation made a raw value, unless that was there before."""
    if id(raw) not in made:
        try:
            weakref.finalize(raw, made.pop, id(raw), None)
        except TypeError:  # a class that cannot be referred to weakly
            return
        made[id(raw)] = Made(by, user_places())


@contextmanager
def tracking_memory() -> Iterator[None]:
    """Note within a `with` block which line makes each array, for `memory_report`.

    Every operation is noted, which makes eager calls some times slower.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> with ap.tracking_memory():
    ...     x = anp.ones((1000, 1000)) * 2
    >>> ap.memory_report().arrays[0].by
    'mul'
    """
    before = on
    _switch(True)
    try:
        yield
    finally:
        _switch(before)


def _switch(value: bool) -> None:
    global on  # noqa: PLW0603 - read where arrays are made
    on = value
    for listener in listeners:
        listener()
