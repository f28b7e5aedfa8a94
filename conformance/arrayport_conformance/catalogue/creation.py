"""Rows of functions that make arrays."""

from __future__ import annotations

from arrayport_conformance.catalogue.rows import ANY, FLOATS, Row, X, case, rows

NOTHING = "it has no operands that it depends on"

ROWS = (
    *rows(
        "numpy.zeros numpy.ones",
        (case(3), case((2, 3)), case((2,), "int32"), case((), "complex64")),
        dtypes=("float32",),
        ulps=0,
        not_differentiable=NOTHING,
    ),
    Row(
        "numpy.full",
        (case((2, 3), 2), case(3, 1.5), case((2,), 1, "float32")),
        ("float32",),
        0,
        not_differentiable=NOTHING,
    ),
    *rows(
        "numpy.zeros_like numpy.ones_like",
        (case(X(2, 3)), case(X(3), "int32")),
        dtypes=ANY,
        ulps=0,
        not_differentiable=NOTHING,
    ),
    Row(
        "numpy.empty_like",
        (case(X(2, 3)), case(X(3), "int32")),
        ANY,
        not_differentiable=NOTHING,
        no_reference="what is in it is open",
    ),
    Row("numpy.full_like", (case(X(2, 3), 2),), ANY, 0, not_differentiable=NOTHING),
    Row(
        "numpy.empty",
        (case((2, 3)),),
        ("float32",),
        0,
        not_differentiable=NOTHING,
        no_reference="what is in it is open",
    ),
    *rows(
        "numpy.eye numpy.identity",
        (case(3), case(2, dtype="int32")),
        dtypes=("float32",),
        ulps=0,
        not_differentiable=NOTHING,
    ),
    Row("numpy.tri", (case(3), case(3, 4, 1)), ("float32",), 0, not_differentiable=NOTHING),
    Row(
        "numpy.arange",
        (case(5), case(2, 9, 3), case(0.0, 1.0, 0.25), case(5, dtype="float32"), case(5, 0, -2)),
        ("float32",),
        0,
        not_differentiable=NOTHING,
    ),
    Row(
        "numpy.linspace",
        (case(0.0, 1.0, 5), case(0, 10, 4, endpoint=False), case(X(), X(), 4)),
        FLOATS,
        8,
        of_largest=True,
    ),
    *rows(
        "numpy.logspace numpy.geomspace",
        (case(1.0, 3.0, 5),),
        dtypes=("float32",),
        ulps=256,
        not_differentiable=NOTHING,
    ),
    *rows(
        "numpy.bartlett numpy.blackman numpy.hamming numpy.hanning",
        (case(5), case(1)),
        dtypes=("float32",),
        ulps=64,
        of_largest=True,
        not_differentiable=NOTHING,
    ),
    Row("numpy.vander", (case(X(3)), case(X(3), 4, increasing=True)), FLOATS, 16, of_largest=True),
    *rows("numpy.asarray numpy.array", (case(X(2, 3)), case([X(3), X(3)])), dtypes=FLOATS, ulps=0),
    Row("lax.full", (case((2, 3), 1.5), case((), 2)), ("float32",), 0, not_differentiable=NOTHING),
    Row(
        "lax.empty",
        (case((2, 3), "float32"),),
        ("float32",),
        0,
        not_differentiable=NOTHING,
        no_reference="what is in it is open",
    ),
    Row("lax.iota", (case("int32", 4),), ("float32",), 0, not_differentiable=NOTHING),
    Row(
        "lax.broadcasted_iota",
        (case("int32", (2, 3), 1),),
        ("float32",),
        0,
        not_differentiable=NOTHING,
    ),
    Row(
        "nn.one_hot",
        (case(X(3, domain="nonzero", dtype="int32"), 4),),
        ("float32",),
        0,
        not_differentiable="its operand is an index",
    ),
)
