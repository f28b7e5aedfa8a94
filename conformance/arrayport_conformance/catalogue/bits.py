"""Rows of bits, and of hints that change no value."""

from __future__ import annotations

from arrayport_conformance.catalogue.rows import FLOATS, INTEGERS, Row, X, case, rows

STEPS = "it steps from one number to the next"

ROWS = (
    *rows("lax.clz", (case(X(3, 2)),), dtypes=INTEGERS, ulps=0, not_differentiable=STEPS),
    *rows("lax.mulhi", (case(X(3), X(3)),), dtypes=INTEGERS, ulps=0, not_differentiable=STEPS),
    Row(
        "lax.bitcast_convert_type",
        (case(X(3, 2), "int32"), case(X(2), "uint8")),
        ("float32", "int32", "uint32"),
        0,
        not_differentiable=STEPS,
    ),
    Row("lax.reduce_precision", (case(X(3), 5, 4),), FLOATS, 0, not_differentiable=STEPS),
    Row("lax.optimization_barrier", (case(X(3)), case([X(2), X(2, 1)])), FLOATS, 0),
)
