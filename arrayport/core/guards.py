"""Transfer guards: arrays that move between host and device are let through, logged or refused."""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

from arrayport.core.config import config
from arrayport.core.contexts import within
from arrayport.core.errors import user_line
from arrayport.core.lazy import Lazy

logs = Lazy("logging")
_explicit: ContextVar[bool] = ContextVar("explicit_transfer", default=False)
_notes: ContextVar[list[str] | None] = ContextVar("noted_transfers", default=None)


def explicit() -> AbstractContextManager[bool]:
    """What moves within it was asked for: `device_put`, `device_get`."""
    return within(_explicit, True)


def asked() -> bool:
    """Whether what moves here was asked for."""
    return _explicit.get()


def noted() -> AbstractContextManager[Any]:
    """Give the list of what moves from device to host within it, asked for or not."""
    return within(_notes, [])


def transfer(way: str, backend: Any, what: object) -> None:
    """Let an array of type `what` move that way, to or from a backend; JAX guards itself.

    Raises RuntimeError where the guard disallows it.
    """
    if backend.name == "numpy":
        return
    notes = _notes.get()
    if notes is not None and way == "device_to_host":
        notes.append(f"{what} at {user_line()}")
    rule = config.__getattr__(f"transfer_guard_{way}")
    if rule == "allow" or backend.native is not None:
        return
    if rule == "disallow_explicit" or (rule == "disallow" and not asked()):
        raise RuntimeError(
            f"transfer_guard: an array of {what} was to move from {way.replace('_', ' ')} at "
            f"{user_line()}: move it with device_put or device_get, or allow it"
        )
    if rule == "log_explicit" or (rule == "log" and not asked()):
        logs.getLogger("arrayport.transfers").warning(
            "an array of %s moves from %s at %s", what, way.replace("_", " "), user_line()
        )
