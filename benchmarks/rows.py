"""What is timed: a row of contenders with its goal, and what was found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

OURS = "arrayport"


@dataclass(frozen=True)
class Contender:
    """A call to time.

    `per`: what one call counts for; `wait` returns when a call's result is there; `clock`, in
    seconds, where the work is not this process's own.
    """

    call: Callable[[], Any]
    per: int = 1
    wait: Callable[[Any], Any] | None = None
    clock: Callable[[], float] | None = None


@dataclass(frozen=True)
class Row:
    """Contenders by library, ours under `OURS`, made by `make` when the row's turn comes.

    The goal is in seconds, or in seconds beyond the contender `beyond`, or, with `of`, a ratio to
    that contender of this row or to our time in the row of that id. Results must agree to `ulps`
    of the largest element; None: they are not numbers. `call` says what a contender does, to
    whoever reads the table.
    """

    id: str
    call: str
    make: Callable[[], dict[str, Contender]]
    goal: float | None = None
    of: str = ""
    beyond: str = ""
    ulps: float | None = 1e3


@dataclass
class Finding:
    """What a row gave: seconds by library (least, and of the first call), or why it has none.

    `absent`: why a peer has no time.
    """

    row: Row
    least: dict[str, float] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    problem: str = ""
    absent: dict[str, str] = field(default_factory=dict)
