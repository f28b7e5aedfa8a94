"""Rows of linear algebra."""

from __future__ import annotations

from typing import Any

from arrayport_conformance.catalogue.rows import (
    DEFINITE,
    FLOATS,
    INEXACT,
    REGULAR,
    SYMMETRIC,
    Row,
    X,
    case,
    rows,
)

ABOUT: dict[str, Any] = {"ulps": 512, "of_largest": True}
SIGNS = "the signs of vectors are free"

ROWS = (
    Row(
        "numpy.linalg.cholesky",
        (case(X(3, 3, domain=DEFINITE)), case(X(2, 3, 3, domain=DEFINITE))),
        INEXACT,
        **ABOUT,
    ),
    Row(
        "numpy.linalg.solve",
        (case(X(3, 3, domain=REGULAR), X(3)), case(X(2, 3, 3, domain=REGULAR), X(2, 3, 2))),
        INEXACT,
        **ABOUT,
    ),
    Row(
        "numpy.linalg.inv",
        (case(X(3, 3, domain=REGULAR)), case(X(2, 2, 2, domain=REGULAR))),
        INEXACT,
        **ABOUT,
    ),
    Row(
        "numpy.linalg.det",
        (case(X(3, 3, domain=REGULAR)), case(X(4, 4, domain=REGULAR))),
        INEXACT,
        **ABOUT,
    ),
    Row("numpy.linalg.slogdet", (case(X(3, 3, domain=REGULAR)),), INEXACT, **ABOUT),
    Row(
        "numpy.linalg.eigh", (case(X(3, 3, domain=SYMMETRIC)),), FLOATS, no_reference=SIGNS, **ABOUT
    ),
    Row("numpy.linalg.eigvalsh", (case(X(3, 3, domain=SYMMETRIC)),), FLOATS, **ABOUT),
    Row("numpy.linalg.qr", (case(X(3, 3, domain=REGULAR)),), FLOATS, no_reference=SIGNS, **ABOUT),
    Row("numpy.linalg.svd", (case(X(3, 3, domain=REGULAR)),), FLOATS, no_reference=SIGNS, **ABOUT),
    Row("numpy.linalg.svdvals", (case(X(3, 2)),), FLOATS, **ABOUT),
    Row("numpy.linalg.pinv", (case(X(3, 2)),), FLOATS, **ABOUT),
    Row("numpy.linalg.norm", (case(X(3)), case(X(2, 3)), case(X(2, 3), axis=1)), FLOATS, **ABOUT),
    *rows("numpy.linalg.vector_norm numpy.linalg.matrix_norm", (case(X(2, 3)),), **ABOUT),
    Row("numpy.linalg.matrix_power", (case(X(3, 3), 3), case(X(2, 2), 0)), FLOATS, **ABOUT),
    *rows("numpy.linalg.trace", (case(X(3, 3)),), **ABOUT),
    *rows("numpy.linalg.diagonal numpy.linalg.matrix_transpose", (case(X(3, 3)),), ulps=0),
    Row("numpy.linalg.cond", (case(X(3, 3, domain=REGULAR)), case(X(3, 2))), FLOATS, **ABOUT),
    Row("numpy.linalg.lstsq", (case(X(4, 2), X(4)), case(X(4, 2), X(4, 3))), FLOATS, **ABOUT),
    Row(
        "numpy.linalg.matrix_rank",
        (case(X(3, 3, domain=REGULAR)), case(X(3, 2))),
        FLOATS,
        not_differentiable="its output is a count",
    ),
    Row("numpy.linalg.tensorinv", (case(X(3, 3, domain=REGULAR), 1),), FLOATS, **ABOUT),
    Row("numpy.linalg.tensorsolve", (case(X(3, 3, domain=REGULAR), X(3)),), FLOATS, **ABOUT),
    Row("numpy.linalg.multi_dot", (case([X(2, 3), X(3, 4), X(4)]),), FLOATS, **ABOUT),
)
