"""Rows of functions that read and write parts of arrays."""

from __future__ import annotations

import numpy as np

from arrayport_conformance.catalogue.rows import (
    APART,
    FLOATS,
    REALS,
    B,
    I,
    Row,
    X,
    case,
    double,
    made,
    rows,
)

SIZES = "its output's shape depends on values"
ROWS_OF = made("lax.GatherDimensionNumbers", (1,), (0,), (0,))
INTO = made("lax.ScatterDimensionNumbers", (), (0,), (0,))
ROWS_TO = made("lax.ScatterDimensionNumbers", (1,), (0,), (0,))
PLACES = np.array([[3], [1]], np.int32)  # no row twice: which write wins is open
ALL = np.array([1, 0, 1])
A_FEW = ("float32", "float64", "int32")

ROWS = (
    Row(
        "numpy.take",
        (
            case(X(4, 3), I(2, below=4), axis=0),
            case(X(5), I(2, 2, below=5)),
            case(X(4, 3), I(below=3), axis=1),
        ),
        A_FEW,
        0,
    ),
    Row(
        "numpy.take_along_axis",
        (case(X(3, 4), I(3, 2, below=4), 1), case(X(3, 4), I(1, 4, below=3), 0)),
        A_FEW,
        0,
    ),
    Row(
        "numpy.where",
        (case(B(2, 3), X(2, 3), X(2, 3)), case(B(3), X(2, 3), 1.5), case(B(2, 1), X(3), X(2, 3))),
        REALS,
        0,
    ),
    Row("numpy.choose", (case(I(3, below=2), [X(3), X(3)], mode="clip"),), A_FEW, 0),
    Row("numpy.select", (case([B(3), B(3)], [X(3), X(3)], 0),), A_FEW, 0),
    Row("numpy.compress", (case(B(3), X(3)),), A_FEW, 0, not_batchable=SIZES),
    Row("numpy.extract", (case(B(3), X(3)),), A_FEW, 0, not_batchable=SIZES),
    Row("numpy.delete", (case(X(5), 1),), A_FEW, 0),
    Row("numpy.put", (case(X(5), I(2, below=5), X(2), inplace=False),), A_FEW, 0, only_jax=True),
    Row(
        "numpy.put_along_axis",
        (case(X(3, 4), I(3, 1, below=4), X(3, 1), 1, inplace=False),),
        A_FEW,
        0,
        only_jax=True,
    ),
    Row("numpy.place", (case(X(5), B(5), X(2), inplace=False),), A_FEW, 0, only_jax=True),
    *rows(
        "numpy.trim_zeros",
        (case(X(5)),),
        dtypes=A_FEW,
        ulps=0,
        not_batchable=SIZES,
        not_differentiable=SIZES,
    ),
    Row("numpy.fill_diagonal", (case(X(3, 3), 2.0, inplace=False),), FLOATS, 0, only_jax=True),
    *rows(
        "numpy.diag_indices",
        (case(3),),
        dtypes=("float32",),
        ulps=0,
        not_differentiable="its output is indices",
    ),
    *rows(
        "numpy.diag_indices_from numpy.tril_indices_from numpy.triu_indices_from",
        (case(X(3, 3)),),
        dtypes=("float32",),
        ulps=0,
        not_differentiable="its output is indices",
    ),
    Row(
        "numpy.indices",
        (case((2, 3)),),
        ("float32",),
        0,
        not_differentiable="its output is indices",
    ),
    Row("numpy.insert", (case(X(4), 1, X()), case(X(2, 3), 1, X(2), axis=1)), A_FEW, 0),
    Row(
        "numpy.ravel_multi_index",
        (case((I(3, below=2), I(3, below=4)), (2, 4), mode="clip"),),
        ("float32",),
        0,
        contract="default_integers",
        not_differentiable="its output is indices",
    ),
    Row(
        "numpy.unravel_index",
        (case(I(3, below=8), (2, 4)),),
        ("float32",),
        0,
        contract="default_integers",
        not_differentiable="its output is indices",
    ),
    Row(
        "numpy.ix_",
        (case(I(3, below=8), I(2, below=4)),),
        ("float32",),
        0,
        not_differentiable="its output is indices",
    ),
    Row("lax.slice", (case(X(4, 5), (1, 0), (3, 5)), case(X(6), (0,), (6,), (2,))), A_FEW, 0),
    Row("lax.slice_in_dim", (case(X(4, 5), 1, 3), case(X(4, 5), 0, 5, 2, 1)), A_FEW, 0),
    Row("lax.dynamic_slice", (case(X(4, 5), (I(below=3), I(below=3)), (2, 3)),), A_FEW, 0),
    Row("lax.dynamic_slice_in_dim", (case(X(4, 5), I(below=4), 2),), A_FEW, 0),
    Row(
        "lax.dynamic_index_in_dim",
        (case(X(4, 5), I(below=4)), case(X(4, 5), I(below=5), 1, False)),
        A_FEW,
        0,
    ),
    Row("lax.index_in_dim", (case(X(4, 5), 2), case(X(4, 5), 1, 1, False)), A_FEW, 0),
    Row(
        "lax.dynamic_update_slice",
        (case(X(4, 5), X(2, 3), (I(below=3), I(below=3))),),
        A_FEW,
        0,
    ),
    Row("lax.gather", (case(X(5, 3), I(2, 1, below=5), ROWS_OF, (1, 3)),), A_FEW, 0),
    *rows(
        "lax.scatter lax.scatter_add lax.scatter_mul lax.scatter_min lax.scatter_max "
        "lax.scatter_sub",
        (case(X(5, 3), PLACES, X(2, 3), ROWS_TO, unique_indices=True),),
        ulps=4,
    ),
    *rows(
        "ops.segment_sum ops.segment_max ops.segment_min",
        (
            case(X(5, 2, domain=APART), np.array([0, 2, 1, 5, 1]), 3),
            case(X(3, domain=APART), ALL, 2),
        ),
        dtypes=(*FLOATS, "int32"),
        ulps=4,
    ),
    Row(
        "ops.segment_prod",
        (case(X(5, 2), np.array([0, 3, 2, 5, -1]), 4, unique_indices=True),),
        FLOATS,
    ),
    Row("lax.index_take", (case(X(4, 5), (I(3, below=4), I(3, below=5)), (0, 1)),), A_FEW, 0),
    Row(
        "lax.scatter_apply",
        (case(X(5), I(2, 1, below=5), double, INTO, update_shape=(2,)),),
        FLOATS,
        0,
        forward_only="how often an index repeats is known at run time",
    ),
    *rows("lax.dynamic_update_slice_in_dim", (case(X(4, 5), X(2, 5), I(below=3), 0),), ulps=0),
    *rows("lax.dynamic_update_index_in_dim", (case(X(4, 5), X(1, 5), I(below=4), 0),), ulps=0),
    Row(
        "numpy.tril_indices",
        (case(3),),
        ("float32",),
        0,
        not_differentiable="its output is indices",
    ),
    Row(
        "numpy.triu_indices",
        (case(3),),
        ("float32",),
        0,
        not_differentiable="its output is indices",
    ),
    Row(
        "numpy.nonzero",
        (case(X(2, 3)),),
        REALS,
        0,
        not_differentiable="its output is indices",
        not_batchable=SIZES,
    ),
    Row(
        "numpy.argwhere",
        (case(X(2, 3)),),
        REALS,
        0,
        not_differentiable="its output is indices",
        not_batchable=SIZES,
    ),
    Row(
        "numpy.flatnonzero",
        (case(X(2, 3)),),
        REALS,
        0,
        not_differentiable="its output is indices",
        not_batchable=SIZES,
    ),
    *rows(
        "numpy.interp",
        (case(X(3), X(4, domain="sorted"), X(4)),),
        dtypes=FLOATS,
        ulps=64,
        of_largest=True,
    ),
)
