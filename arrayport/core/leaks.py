"""check_tracer_leaks: traced values that outlive their function are found, with where they rose."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

from arrayport.core.array import Tracer, aval_of
from arrayport.core.config import config
from arrayport.core.errors import UnexpectedTracerError, user_line
from arrayport.core.trace import Trace

on = False  # whether leaks are looked for
_made: dict[int, tuple[str, str]] = {}  # of the tracers made meanwhile: by what, and where
_traces: list[weakref.ref[Trace]] = []


def _switch() -> None:
    global on  # noqa: PLW0603 - read at every call of a transformed function
    on = bool(config.check_tracer_leaks)


config.listen("check_tracer_leaks", _switch)


def _record(trace: Trace) -> None:
    """Note of each value of a trace which operation and line made it."""
    _traces.append(weakref.ref(trace))
    cls = type(trace)

    def noting(name: str) -> Callable[..., Any]:
        process = getattr(cls, name)

        def run(prim: Any, *args: Any) -> Any:
            out = process(trace_of(), prim, *args)
            for o in out if isinstance(out, list) else (out,):
                _made[id(o)] = prim.name, user_line()
            return out

        return run

    trace_of = weakref.ref(trace)
    for name in ("process", "process_unary", "process_binary"):
        vars(trace)[name] = noting(name)


def checked(name: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a transformed function; raise UnexpectedTracerError if a traced value is left over."""
    before, Trace.opened = Trace.opened, staticmethod(_record)  # type: ignore[assignment]
    start = len(_traces)
    try:
        out = call(*args, **kwargs)
        gc.collect()
        for trace in [t for t in (ref() for ref in _traces[start:]) if t is not None]:
            _raise(trace, name)
        return out
    finally:
        del _traces[start:]
        Trace.opened = before
        if before is None:
            _made.clear()


def _raise(trace: Trace, name: str) -> None:
    left = [x for x in gc.get_objects() if isinstance(x, Tracer) and x.owner is trace]
    told = []
    for x in left:
        prim, line = _made.get(id(x), ("", ""))
        told.append(
            f"{aval_of(x)} made by {prim} at {line}" if prim else f"an argument {aval_of(x)}"
        )
    if told:
        raise UnexpectedTracerError(
            f"{name} left traced values over, which something still refers to: {'; '.join(told)}: "
            "return them from the function instead of storing them"
        )
