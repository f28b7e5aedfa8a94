"""Rows of products of arrays."""

from __future__ import annotations

from arrayport_conformance.catalogue.rows import (
    APART,
    FLOATS,
    INEXACT,
    NUMBERS,
    POSITIVE,
    Row,
    X,
    case,
    rows,
)

ROWS = (
    *rows(
        "numpy.matmul numpy.linalg.matmul",
        (
            case(X(2, 3), X(3, 4)),
            case(X(3), X(3)),
            case(X(2, 2, 3), X(3)),
            case(X(2, 1, 2, 3), X(3, 3, 2)),
        ),
        dtypes=NUMBERS,
        ulps=16,
        of_largest=True,
    ),
    Row(
        "numpy.dot",
        (case(X(2, 3), X(3, 4)), case(X(3), X(3)), case(X(), X(3)), case(X(2, 3), X(2, 3, 2))),
        NUMBERS,
        16,
        of_largest=True,
    ),
    *rows(
        "numpy.tensordot numpy.linalg.tensordot",
        (
            case(X(2, 3, 4), X(3, 4, 2)),
            case(X(2, 3), X(4, 2), axes=([0], [1])),
            case(X(2), X(3), axes=0),
        ),
        dtypes=NUMBERS,
        ulps=16,
        of_largest=True,
    ),
    *rows(
        "numpy.inner",
        (case(X(3), X(3)), case(X(2, 3), X(4, 3))),
        dtypes=NUMBERS,
        ulps=16,
        of_largest=True,
    ),
    *rows("numpy.outer", (case(X(2), X(3)),), dtypes=NUMBERS),
    Row("numpy.linalg.outer", (case(X(2), X(3)),), NUMBERS),
    *rows("numpy.vdot", (case(X(3), X(3)),), dtypes=INEXACT, ulps=16, of_largest=True),
    *rows(
        "numpy.vecdot numpy.linalg.vecdot",
        (case(X(2, 3), X(3)),),
        dtypes=INEXACT,
        ulps=16,
        of_largest=True,
    ),
    *rows("numpy.matvec", (case(X(2, 3), X(3)),), dtypes=INEXACT, ulps=16, of_largest=True),
    *rows("numpy.vecmat", (case(X(2), X(2, 3)),), dtypes=INEXACT, ulps=16, of_largest=True),
    *rows("numpy.kron", (case(X(2), X(3)), case(X(2, 2), X(1, 3))), dtypes=FLOATS),
    *rows("numpy.cross numpy.linalg.cross", (case(X(2, 3), X(3)),), ulps=8, of_largest=True),
    Row(
        "numpy.einsum",
        (
            case("ij,jk->ik", X(2, 3), X(3, 4)),
            case("ii->i", X(3, 3)),
            case("bij,bj->b", X(2, 3, 4), X(2, 4)),
            case("i,j", X(2), X(3)),
        ),
        INEXACT,
        32,
        of_largest=True,
    ),
    *rows("numpy.polyadd numpy.polysub", (case(X(3), X(4)),)),
    *rows("numpy.polymul", (case(X(3), X(4)),), ulps=16, of_largest=True),
    Row("numpy.poly", (case(X(3)),), INEXACT, 16, of_largest=True),
    Row(
        "numpy.roots",
        (case(X(3, domain=POSITIVE)),),
        no_reference="the roots are in no order: tests/numpy/test_polynomials.py",
        not_batchable="its output's shape depends on values",
        not_differentiable="zeros are looked for among the values",
    ),
    Row("numpy.polydiv", (case(X(4), X(2, domain=POSITIVE)),), ulps=64, of_largest=True),
    Row("numpy.polyfit", (case(X(6, domain=APART), X(6), 2),), ulps=4096, of_largest=True),
    *rows("numpy.polyder numpy.polyint", (case(X(4)),)),
    *rows("numpy.polyval", (case(X(4), X(3)),), ulps=32, of_largest=True),
    Row("lax.dot", (case(X(2, 3), X(3, 4)), case(X(3), X(3))), NUMBERS, 16, of_largest=True),
    Row(
        "lax.dot_general",
        (
            case(X(2, 3, 4), X(2, 4, 5), (((2,), (1,)), ((0,), (0,)))),
            case(X(2, 3), X(4, 3), (((1,), (1,)), ((), ()))),
        ),
        NUMBERS,
        16,
        of_largest=True,
    ),
    Row("lax.batch_matmul", (case(X(2, 3, 4), X(2, 4, 2)),), NUMBERS, 16, of_largest=True),
)
