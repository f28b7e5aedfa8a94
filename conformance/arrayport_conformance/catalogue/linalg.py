"""Rows of linear algebra."""

from __future__ import annotations

from typing import Any

from arrayport_conformance.catalogue.rows import (
    ABOVE_ONE,
    DEFINITE,
    FLOATS,
    INEXACT,
    LOWER,
    REGULAR,
    SYMMETRIC,
    I,
    Row,
    X,
    case,
    rows,
)

ABOUT: dict[str, Any] = {"ulps": 512, "of_largest": True}
SIGNS = "the signs of vectors are free"
FLAT = "JAX has no derivative of it: {}"

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
    Row(
        "numpy.linalg.eig",
        (case(X(3, 3, domain=SYMMETRIC)),),
        FLOATS,
        no_reference=SIGNS,
        not_differentiable="vectors of a general matrix are no smooth function of it",
        **ABOUT,
    ),
    Row("numpy.linalg.eigvals", (case(X(3, 3, domain=SYMMETRIC)),), FLOATS, **ABOUT),
    # ---- lax.linalg
    Row("lax.linalg.cholesky", (case(X(3, 3, domain=DEFINITE)),), INEXACT, **ABOUT),
    Row(
        "lax.linalg.cholesky_update",
        (case(X(3, 3, domain=DEFINITE), X(3)),),
        no_reference="JAX reads below the diagonal: tests/ops/test_reflections.py",
        **ABOUT,
    ),
    Row(
        "lax.linalg.eig",
        (case(X(3, 3, domain=SYMMETRIC), enable_eigvec_derivs=True),),
        no_reference=SIGNS,
        order=1,
        **ABOUT,
    ),
    Row("lax.linalg.eigh", (case(X(3, 3, domain=SYMMETRIC)),), no_reference=SIGNS, **ABOUT),
    *rows(
        "lax.linalg.hessenberg lax.linalg.tridiagonal",
        (case(X(4, 4, domain=SYMMETRIC)),),
        not_differentiable="the reflections are not unique",
        **ABOUT,
    ),
    Row(
        "lax.linalg.schur",
        (case(X(3, 3)),),
        no_reference=SIGNS,
        not_differentiable="the order of the eigenvalues is the algorithm's choice",
        **ABOUT,
    ),
    Row(
        "lax.linalg.householder_product",
        (case(X(4, 2), X(2)),),
        INEXACT,
        not_differentiable="qr has the derivative",
        **ABOUT,
    ),
    Row(
        "lax.linalg.ormqr",
        (case(X(4, 2, fixed=True), X(2, fixed=True), X(4, 3)),),
        ("float64", "complex64"),
        order=1,
        no_reference=FLAT.format("tests/ops/test_reflections.py"),
        **ABOUT,
    ),
    Row("lax.linalg.lu", (case(X(3, 3, domain=REGULAR)), case(X(4, 2))), INEXACT, **ABOUT),
    Row(
        "lax.linalg.lu_pivots_to_permutation",
        (case(I(2, 3, below=3), 4),),
        ("int32",),
        not_differentiable="its output is an integer",
    ),
    Row(
        "lax.linalg.qdwh",
        (case(X(3, 3, domain=REGULAR)),),
        not_batchable="it takes one matrix",
        no_reference=FLAT.format("tests/numpy/test_polar.py"),
        **ABOUT,
    ),
    Row(
        "lax.linalg.qr",
        (case(X(3, 3, domain=REGULAR)), case(X(3, 4), full_matrices=False, pivoting=True)),
        no_reference=SIGNS,
        **ABOUT,
    ),
    Row(
        "lax.linalg.svd",
        (case(X(3, 3, domain=REGULAR)), case(X(3, 2), full_matrices=False)),
        no_reference=SIGNS,
        **ABOUT,
    ),
    Row(
        "lax.linalg.symmetric_product",
        (case(X(3, 2), X(3, 3, domain=SYMMETRIC)),),
        no_reference=FLAT.format("tests/ops/test_reflections.py"),
        **ABOUT,
    ),
    Row(
        "lax.linalg.triangular_solve",
        (case(X(3, 3, domain=LOWER), X(3, 2), left_side=True, lower=True),),
        INEXACT,
        **ABOUT,
    ),
    Row(
        "lax.linalg.tridiagonal_solve",
        (case(X(3), X(3, domain=ABOVE_ONE), X(3), X(3, 2)),),
        **{**ABOUT, "ulps": 4096},
    ),
)
