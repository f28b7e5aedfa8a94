"""Rows of functions of random keys."""

from __future__ import annotations

import numpy as np

from arrayport_conformance.catalogue.rows import Operand, Row, X, case, rows

NOTHING = "its operand is a key"
REJECTED = "a rounding may accept another draw than JAX's: tests/random/test_distributions.py"
KEY = Operand((2,), dtype="uint32", below=2**31)

ROWS = (
    Row(
        "random.PRNGKey",
        (case(0), case(2**31 - 1), case(-1)),
        ("float32",),
        0,
        not_differentiable=NOTHING,
    ),
    Row("random.split", (case(KEY), case(KEY, 3)), ("float32",), 0, not_differentiable=NOTHING),
    Row("random.fold_in", (case(KEY, 7),), ("float32",), 0, not_differentiable=NOTHING),
    Row(
        "random.bits",
        (case(KEY, (5,)), case(KEY, (2, 3), "uint8"), case(KEY, (3,), "uint64")),
        ("float32",),
        0,
        not_differentiable=NOTHING,
    ),
    Row(
        "random.uniform",
        (case(KEY, (5,)), case(KEY, (2, 3), "float32", -1.0, 2.0), case(KEY, (), "float16")),
        ("float32",),
        0,
        not_differentiable=NOTHING,
    ),
    Row(
        "random.randint",
        (case(KEY, (5,), 0, 10), case(KEY, (2, 3), -5, 6, "int32")),
        ("float32",),
        0,
        not_differentiable=NOTHING,
    ),
    Row(
        "random.permutation",
        (case(KEY, 6), case(KEY, np.arange(10.0))),
        ("float32",),
        0,
        not_differentiable=NOTHING,
    ),
    Row("random.bernoulli", (case(KEY, 0.3, (5,)),), ("float32",), 0, not_differentiable=NOTHING),
    *rows(
        "random.normal random.exponential random.gumbel",
        (case(KEY, (5,)), case(KEY, (2, 3), "float32")),
        dtypes=("float32",),
        ulps=16,
        not_differentiable=NOTHING,
    ),
    Row(
        "random.truncated_normal",
        (case(KEY, -1.0, 2.0, (5,)),),
        ("float32",),
        64,
        not_differentiable=NOTHING,
    ),
    Row(
        "random.categorical",
        (case(KEY, X(4, fixed=True)), case(KEY, X(3, 4, fixed=True))),
        ("float32",),
        0,
        not_differentiable=NOTHING,
    ),
    Row(
        "random.choice",
        (case(KEY, 5, (3,)), case(KEY, np.arange(4.0), (2,), False)),
        ("float32",),
        0,
        not_differentiable=NOTHING,
    ),
    *rows(
        "random.cauchy random.laplace random.logistic random.maxwell random.rademacher",
        (case(KEY, (5,)),),
        dtypes=("float32",),
        ulps=128,  # before 0.12 JAX's logarithm is up to 98 off in float64
        not_differentiable=NOTHING,
    ),
    *rows(
        "random.lognormal random.pareto random.rayleigh random.wald",
        (case(KEY, 0.5, (5,)), case(KEY, X(3, domain="positive", fixed=True), (2, 3))),
        dtypes=("float32",),
        ulps=256,
        not_differentiable=NOTHING,
    ),
    Row("random.geometric", (case(KEY, 0.3, (5,)),), ("float32",), 0, not_differentiable=NOTHING),
    Row(
        "random.triangular",
        (case(KEY, -1.0, 0.5, 2.0, (5,)),),
        ("float32",),
        64,
        not_differentiable=NOTHING,
    ),
    *rows(
        "random.weibull_min random.double_sided_maxwell",
        (case(KEY, 2.0, 1.5, (5,)),),
        dtypes=("float32",),
        ulps=64,
        not_differentiable=NOTHING,
    ),
    Row("random.orthogonal", (case(KEY, 3),), ("float32",), 64, not_differentiable=NOTHING),
    *rows(
        "random.gamma random.poisson",
        (case(KEY, 3.0, (3,)),),
        dtypes=("float32",),
        ulps=256,
        not_differentiable=NOTHING,
        no_reference=REJECTED,
    ),
    Row(
        "random.multivariate_normal",
        (case(KEY, np.ones(2, np.float32), np.eye(2, dtype=np.float32)),),
        ("float32",),
        64,
        not_differentiable=NOTHING,
    ),
)
