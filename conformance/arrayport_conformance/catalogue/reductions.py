"""Rows of functions that reduce or accumulate along axes."""

from __future__ import annotations

import numpy as np

from arrayport_conformance.catalogue.rows import (
    ANY,
    APART,
    FLOATS,
    NUMBERS,
    REALS,
    B,
    Case,
    Row,
    X,
    add,
    case,
    double,
    rows,
)

CHOICE = "its output is boolean"
PLACES = "its output is an index"


def over(domain: str) -> tuple[Case, ...]:
    """State calls over all axes, one axis, two axes, and with the axes kept."""
    x = X(2, 3, domain=domain)
    return (
        case(x),
        case(x, axis=1),
        case(x, axis=(0, 1), keepdims=True),
        case(X(4, domain=domain), axis=-1),
    )


def along(domain: str) -> tuple[Case, ...]:
    """State calls along one axis, and over the flattened array."""
    return case(X(2, 3, domain=domain)), case(X(2, 3, domain=domain), axis=0), case(X(4), axis=-1)


def lax_over(domain: str) -> tuple[Case, ...]:
    """State calls of lax's reductions."""
    return case(X(2, 3, domain=domain), axes=(0,)), case(X(2, 3, domain=domain), axes=(0, 1))


ZERO = np.float32(0)

ROWS = (
    # Terms cancel, and JAX adds them in another order: of 6 it is 16 ulps off where ours is exact.
    *rows("numpy.sum", over(APART), dtypes=ANY, ulps=16, of_largest=True),
    *rows("numpy.mean", over(APART), dtypes=NUMBERS, ulps=16, of_largest=True),
    Row("numpy.prod", over(APART), NUMBERS, ulps=16),
    *rows("numpy.max numpy.min numpy.amax numpy.amin", over(APART), dtypes=REALS),
    *rows("numpy.ptp", over(APART), dtypes=REALS),
    *rows("numpy.var numpy.std", over(APART), dtypes=FLOATS, ulps=64, of_largest=True),
    *rows("numpy.all numpy.any", over(APART), dtypes=ANY, not_differentiable=CHOICE),
    *rows("numpy.argmax numpy.argmin", along(APART), dtypes=REALS, not_differentiable=PLACES),
    *rows("numpy.count_nonzero", over(APART), dtypes=ANY, not_differentiable=PLACES),
    *rows("numpy.cumsum", along(APART), dtypes=NUMBERS, ulps=8, of_largest=True),
    Row("numpy.cumprod", along(APART), NUMBERS, ulps=16),
    Row("numpy.cumulative_sum", (case(X(4)), case(X(2, 3), axis=1)), REALS, 8, of_largest=True),
    Row(
        "numpy.cumulative_prod",
        (case(X(4)), case(X(2, 3), axis=1)),
        REALS,
        16,
        contract="default_integers",
    ),
    *rows(
        "numpy.nansum numpy.nanmean numpy.nanmax numpy.nanmin numpy.nanprod numpy.nanvar "
        "numpy.nanstd",
        over(APART),
        ulps=64,
        of_largest=True,
    ),
    *rows(
        "numpy.nanmedian numpy.nancumsum numpy.nancumprod",
        (case(X(2, 3, domain=APART)), case(X(4, domain=APART), axis=0)),
        ulps=16,
        of_largest=True,
    ),
    *rows(
        "numpy.nanargmax numpy.nanargmin", along(APART), dtypes=FLOATS, not_differentiable=PLACES
    ),
    *rows("numpy.nanquantile", (case(X(5, domain=APART), 0.3),), ulps=16, of_largest=True),
    *rows("numpy.nanpercentile", (case(X(5, domain=APART), 30.0),), ulps=16, of_largest=True),
    Row("numpy.minmax", over(APART)[:2], REALS, only_jax=True),
    *rows("numpy.median", over(APART)[:2], ulps=8),
    Row("numpy.quantile", (case(X(5, domain=APART), 0.3),), ulps=16, of_largest=True),
    Row("numpy.percentile", (case(X(5, domain=APART), 30.0),), ulps=16, of_largest=True),
    Row("numpy.average", (case(X(2, 3)), case(X(2, 3), 1)), ulps=16, of_largest=True),
    Row("numpy.diff", (case(X(2, 4)), case(X(5), 2)), REALS, of_largest=True),
    Row("numpy.ediff1d", (case(X(5)),), FLOATS, of_largest=True),
    Row("numpy.trapezoid", (case(X(5)),), FLOATS, 16, of_largest=True),
    Row("numpy.gradient", (case(X(5)),), FLOATS, 16, of_largest=True),
    Row("numpy.cov", (case(X(2, 5)),), FLOATS, 64, of_largest=True),
    Row("numpy.corrcoef", (case(X(2, 5)),), FLOATS, 64, of_largest=True),
    # ---- lax
    *rows("lax.reduce_sum", lax_over(APART), dtypes=NUMBERS, ulps=8, of_largest=True),
    *rows("lax.reduce_max lax.reduce_min", lax_over(APART), dtypes=REALS),
    *rows("lax.reduce_prod", lax_over(APART), dtypes=NUMBERS, ulps=16),
    *rows(
        "lax.reduce_and lax.reduce_or",
        (case(B(2, 3), axes=(0,)),),
        dtypes=("bool",),
        not_differentiable=CHOICE,
    ),
    Row(
        "lax.reduce_xor",
        (case(X(2, 3), axes=(0,)),),
        ("int32", "uint8"),
        not_differentiable="it works on integers",
    ),
    *rows(
        "lax.argmax lax.argmin",
        (case(X(2, 3, domain=APART), 1, "int32"),),
        dtypes=REALS,
        not_differentiable=PLACES,
    ),
    *rows("lax.cumsum", (case(X(2, 3), axis=1), case(X(4), reverse=True)), ulps=8, of_largest=True),
    *rows("lax.cumprod", (case(X(2, 3), axis=1), case(X(4), reverse=True)), ulps=16),
    *rows("lax.cummax lax.cummin", (case(X(2, 3, domain=APART), axis=1), case(X(4, domain=APART)))),
    *rows(
        "lax.cumlogsumexp",
        (case(X(2, 3), axis=1), case(X(4), reverse=True)),
        ulps=32,
        of_largest=True,
    ),
    Row("numpy.unwrap", (case(X(5)), case(X(2, 4), axis=0)), FLOATS, 16, of_largest=True),
    Row(
        "numpy.apply_along_axis",
        (case(double, 1, X(2, 3)), case(double, 0, X(2, 3))),
        FLOATS,
    ),
    Row(
        "lax.reduce_window",
        (
            case(X(2, 5, domain=APART), ZERO, add, (1, 3), (1, 2)),
            case(X(4, 3), ZERO, add, (2, 2), (1, 1), "SAME", (2, 1), (1, 2)),
        ),
        ("float32",),
        16,
        of_largest=True,
        not_differentiable="its initial value is of one dtype: tests/ops/test_pooling.py does it",
    ),
    Row("lax.reduce", (case(X(2, 3), X(fixed=True), add, (1,)),), FLOATS, 8, of_largest=True),
    # ---- neural
    Row("nn.logmeanexp", over(APART), ulps=32, of_largest=True),
    *rows(
        "nn.softmax nn.log_softmax",
        (case(X(2, 3)), case(X(2, 3), axis=0)),
        ulps=64,
        of_largest=True,
    ),
    Row("nn.logsumexp", over(APART), ulps=32, of_largest=True),
    Row("nn.standardize", (case(X(2, 5)),), ulps=256, of_largest=True),
    Row("nn.glu", (case(X(2, 4)),), ulps=64, of_largest=True),
)
