"""Rows of control flow: the functions that they call are written with operators, for any array."""

from __future__ import annotations

from typing import Any

from arrayport_conformance.catalogue.rows import FLOATS, B, I, Row, X, add, case, rows


def step(carry: Any, x: Any) -> tuple[Any, Any]:
    """Take one step of a recurrence."""
    return carry * x + 0.5, carry * carry


def grow(x: Any) -> Any:
    """Double and add."""
    return x * 2.0 + 0.25


def shrink(x: Any) -> Any:
    """Square and halve."""
    return x * x * 0.5


def small(x: Any) -> Any:
    """Say whether to go on."""
    return x < 50.0


def turn(i: Any, x: Any) -> Any:
    """Take a step that knows its number."""
    return x * 0.5 + i


FORWARD_ONLY = "a loop whose length is found as it runs has no reverse mode"

ROWS = (
    Row("lax.cond", (case(B(), grow, shrink, X(3)),), FLOATS),
    Row("lax.switch", (case(I(below=3), (grow, shrink, grow), X(3)),), FLOATS),
    Row(
        "lax.scan",
        (case(step, X(), X(4)), case(step, X(2), X(3, 2), reverse=True)),
        FLOATS,
        32,
        of_largest=True,
    ),
    Row("lax.fori_loop", (case(0, 4, turn, X(3)),), FLOATS),
    Row(
        "lax.while_loop",
        (case(small, grow, X(domain="positive")),),
        FLOATS,
        16,
        forward_only=FORWARD_ONLY,
    ),
    *rows(
        "lax.associative_scan",
        (case(add, X(5)), case(add, X(4), reverse=True), case(add, X(2, 3), axis=1)),
        ulps=8,
        of_largest=True,
    ),
    Row("lax.map", (case(shrink, X(3, 2)),), FLOATS),
)
