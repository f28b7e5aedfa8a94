"""Rows of functions that order, search and count."""

from __future__ import annotations

from arrayport_conformance.catalogue.rows import APART, FLOATS, REALS, SORTED, Row, X, case, rows

PLACES = "its output is indices"
SIZES = "its output's shape depends on values"

ROWS = (
    Row("numpy.sort", (case(X(5)), case(X(3, 4), axis=0), case(X(5), descending=True)), REALS, 0),
    Row(
        "numpy.argsort",
        (case(X(5)), case(X(3, 4), axis=0), case(X(5), descending=True)),
        REALS,
        0,
        not_differentiable=PLACES,
    ),
    Row("numpy.lexsort", (case([X(4), X(4)]),), REALS, 0, not_differentiable=PLACES),
    Row("lax.sort", (case(X(5)), case(X(3, 4), dimension=0)), REALS, 0),
    Row("lax.sort_key_val", (case(X(5), X(5)), case(X(3, 4), X(3, 4), 0)), REALS, 0),
    *rows("lax.approx_max_k lax.approx_min_k", (case(X(5, domain=APART), 2),), ulps=0),
    Row("lax.top_k", (case(X(5, domain=APART), 2),), FLOATS, 0),
    Row(
        "numpy.searchsorted",
        (
            case(X(5, domain=SORTED, fixed=True), X(3)),
            case(X(5, domain=SORTED, fixed=True), X(), side="right"),
        ),
        REALS,
        0,
        contract="default_integers",
        not_differentiable=PLACES,
    ),
    Row(
        "numpy.digitize",
        (case(X(3), X(5, domain=SORTED, fixed=True)),),
        FLOATS,
        0,
        contract="default_integers",
        not_differentiable=PLACES,
    ),
    Row(
        "numpy.partition",
        (case(X(5, domain=APART), 2),),
        FLOATS,
        0,
        no_reference="any order within parts is right",
    ),
    *rows(
        "numpy.unique numpy.unique_values",
        (case(X(5)),),
        dtypes=REALS,
        ulps=0,
        only_jax=True,  # NumPy promises no order
        not_differentiable="it merges elements",
        not_batchable=SIZES,
    ),
    Row(
        "numpy.bincount",
        (case(X(5, domain="positive", dtype="int32"), length=12),),
        ("float32",),
        0,
        only_jax=True,
        not_differentiable=PLACES,
    ),
    Row(
        "numpy.argpartition",
        (case(X(5, domain=APART), 2),),
        FLOATS,
        0,
        not_differentiable=PLACES,
        no_reference="any order within parts is right",
    ),
    Row(
        "numpy.top_k",
        (case(X(5, domain=APART), 2), case(X(2, 5, domain=APART), 3)),
        FLOATS,
        0,
        only_jax=True,
    ),
    Row("numpy.sort_complex", (case(X(5)),), ("complex64", "float32"), 0),
    *rows(
        "numpy.unique_all numpy.unique_counts numpy.unique_inverse",
        (case(X(5)),),
        dtypes=REALS,
        ulps=0,
        not_differentiable="it merges elements",
        not_batchable=SIZES,
    ),
    *rows(
        "numpy.intersect1d numpy.setdiff1d numpy.setxor1d numpy.union1d",
        (case(X(5), X(4)),),
        dtypes=("int32", "uint8"),
        ulps=0,
        not_differentiable="it merges elements",
        not_batchable=SIZES,
    ),
    *rows(
        "numpy.histogram numpy.histogram_bin_edges",
        (case(X(9), 4),),
        ulps=8,
        of_largest=True,
        not_differentiable="it counts",
    ),
    Row(
        "numpy.histogram2d",
        (case(X(9), X(9), (3, 2)),),
        ulps=8,
        of_largest=True,
        not_differentiable="it counts",
        only_jax=True,  # NumPy counts in floats
    ),
    Row(
        "numpy.histogramdd",
        (case(X(9, 2), 3, weights=X(9)),),
        ulps=8,
        of_largest=True,
        not_differentiable="it counts",
    ),
    *rows(
        "numpy.array_equiv",
        (case(X(3), X(2, 3)),),
        dtypes=REALS,
        ulps=0,
        not_differentiable="its output is boolean",
    ),
    *rows(
        "numpy.isin",
        (case(X(5), X(3)),),
        dtypes=("int32",),
        ulps=0,
        not_differentiable="its output is boolean",
    ),
    *rows(
        "numpy.array_equal numpy.allclose",
        (case(X(3), X(3)),),
        dtypes=REALS,
        ulps=0,
        not_differentiable="its output is boolean",
    ),
)
