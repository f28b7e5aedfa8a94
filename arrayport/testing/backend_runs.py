"""On which backends a test runs, by its markers, for the pytest plugin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from arrayport.core import backend as backends
from arrayport.core import dtypes
from arrayport.core.errors import BackendNotFoundError
from arrayport.testing.equivalence import present


class WrongCallError(Exception):
    """The option or a marker says what cannot be; the message says what can."""


class Marker(Protocol):
    """What pytest keeps of a marker: how it was called."""

    @property
    def args(self) -> tuple[Any, ...]:
        """Give the arguments by position."""

    @property
    def kwargs(self) -> Mapping[str, Any]:
        """Give the arguments by name."""


@dataclass(frozen=True)
class Run:
    """A test on one backend: what it lacks there, and why it must fail there, if anything."""

    name: str
    lacks: str = ""
    fails: str = ""


def runs(asked: Sequence[str], requires: Sequence[Marker], xfails: Sequence[Marker]) -> list[Run]:
    """List a test's runs: on the backends asked for, else on all that are present.

    Raises WrongCallError for a backend that does not run here, and for a marker that is none.
    """
    for name in asked:
        try:
            backends.get(name)
        except BackendNotFoundError as error:
            raise WrongCallError(f"--arrayport-backends: {error}") from None
    reasons = dict(_failing(marker) for marker in xfails)
    return [
        Run(
            name,
            "; ".join(filter(None, (_lacking(marker, name) for marker in requires))),
            reasons.get(name, ""),
        )
        for name in asked or present()
    ]


def _failing(marker: Marker) -> tuple[str, str]:
    words = {**dict(zip(("backend", "reason"), marker.args, strict=False)), **marker.kwargs}
    known = sorted(backends.entry_points())
    if len(marker.args) > 2 or set(words) != {"backend", "reason"} or words["backend"] not in known:
        raise WrongCallError(
            f"xfail_on needs a backend ({', '.join(known)}) and a reason, not "
            f"{marker.args} {marker.kwargs}"
        )
    return str(words["backend"]), str(words["reason"])


def _lacking(marker: Marker, name: str) -> str:
    """Say what a backend lacks that a test requires; empty if nothing."""
    wanted = dict(marker.kwargs)
    backend, dtype = wanted.pop("backend", None), wanted.pop("dtype", None)
    known = sorted(backends.entry_points())
    if marker.args or wanted or (backend is not None and backend not in known):
        raise WrongCallError(
            f"requires takes dtype= and backend= ({', '.join(known)}), not "
            f"{marker.args} {marker.kwargs}"
        )
    if backend is not None and name != backend:
        return f"it is about the backend {backend}"
    if dtype is not None and dtypes.canonicalize(dtype) != dtypes.promote_types(dtype, dtype):
        return f"{dtype} needs 64-bit types: config.update('enable_x64', True)"
    return ""
