"""Recording what runs while a profile is taken: spans of time with names, a thread at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

now = time.perf_counter_ns


class Span(NamedTuple):
    """Something that ran: its name, of what kind, in which thread, from when to when (ns)."""

    name: str
    kind: str
    thread: int
    start: int
    end: int
    details: Mapping[str, Any]


class Recording:
    """The spans of one profile."""

    def __init__(self) -> None:
        self.start = now()
        self.spans: list[Span] = []

    def add(self, name: str, kind: str, start: int, **details: Any) -> None:
        """Note something that ran from `start` until now."""
        self.spans.append(Span(name, kind, threading.get_native_id(), start, now(), details))


recording: Recording | None = None
listeners: list[Callable[[], None]] = []


def record(new: Recording | None) -> None:
    """Begin a recording, or end it (None)."""
    global recording  # noqa: PLW0603 - one profile is taken at a time
    recording = new
    for listener in listeners:
        listener()


@contextmanager
def span(name: str, kind: str, **details: Any) -> Iterator[None]:
    """Record a block, if a profile is being taken."""
    start = now()
    try:
        yield
    finally:
        if recording is not None:
            recording.add(name, kind, start, **details)


def timed(function: Callable[..., Any], name: str, kind: str) -> Callable[..., Any]:
    """A function whose calls are recorded."""

    def run(*args: Any, **kwargs: Any) -> Any:
        start = now()
        try:
            return function(*args, **kwargs)
        finally:
            if recording is not None:
                recording.add(name, kind, start)

    return run
