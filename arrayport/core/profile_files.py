"""What profiles are written as: Chrome's trace events, and the XSpace that XProf reads."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

from arrayport.core.lazy import Lazy
from arrayport.core.messages import message
from arrayport.core.profile import Recording, Span, now

json = Lazy("json")


def _threads(recording: Recording) -> dict[int, str]:
    """The threads that ran something, with names."""
    found = list(dict.fromkeys(s.thread for s in recording.spans))
    return {thread: "main" if i == 0 else f"thread {i}" for i, thread in enumerate(found)}


def chrome(recording: Recording) -> str:
    """Give Chrome's trace events as JSON: complete events, times in microseconds."""
    process = os.getpid()
    named: list[dict[str, Any]] = [
        {"ph": "M", "pid": process, "name": "process_name", "args": {"name": "arrayport"}}
    ]
    for thread, name in _threads(recording).items():
        about = {"ph": "M", "pid": process, "tid": thread, "name": "thread_name"}
        named.append({**about, "args": {"name": name}})
    events = [
        {
            "ph": "X",
            "pid": process,
            "tid": s.thread,
            "ts": (s.start - recording.start) / 1000,
            "dur": (s.end - s.start) / 1000,
            "name": s.name,
            "cat": s.kind,
            "args": {k: str(v) for k, v in s.details.items()},
        }
        for s in sorted(recording.spans, key=lambda s: s.start)
    ]
    whole = {"displayTimeUnit": "ns", "metadata": {}, "traceEvents": named + events}
    return json.dumps(whole)


def xspace(recording: Recording, host: str) -> bytes:
    """Give the XSpace of one plane, the host's, with a line a thread, times in picoseconds.

    The numbers of the fields are those of XPlane's definition in OpenXLA.
    """
    began = time.time_ns() - (now() - recording.start)  # by the clock on the wall
    names: dict[str, int] = {}
    stats: dict[str, int] = {}

    def event(span: Span) -> list[tuple[int, Any]]:
        details = {"kind": span.kind, **span.details}
        told = [
            (4, [(1, stats.setdefault(key, len(stats) + 1)), (5, str(value))])
            for key, value in details.items()
        ]
        metadata = names.setdefault(span.name, len(names) + 1)
        start, duration = span.start - recording.start, span.end - span.start
        return [(1, metadata), (2, start * 1000), (3, duration * 1000), *told]

    lines = []
    for thread, name in _threads(recording).items():
        own: Sequence[Span] = [s for s in recording.spans if s.thread == thread]
        events = [(4, event(s)) for s in sorted(own, key=lambda s: (s.start, -s.end))]
        lines.append((3, [(1, thread), (2, name), (3, began), *events]))
    metadata = [
        (field, [(1, i), (2, [(1, i), (2, name)])])
        for field, table in ((4, names), (5, stats))
        for name, i in table.items()
    ]
    plane = [(1, 1), (2, "/host:CPU"), *lines, *metadata]
    return message([(1, plane), (4, host)])
