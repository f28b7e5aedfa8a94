"""Rows of linear algebra."""

from __future__ import annotations

from typing import Any

from arrayport_conformance.catalogue.rows import (
    ABOVE_ONE,
    DEFINITE,
    FLOATS,
    INEXACT,
    LOWER,
    NONZERO,
    REGULAR,
    SIGNS,
    SYMMETRIC,
    Case,
    I,
    Row,
    X,
    case,
    double,
    rows,
)

ABOUT: dict[str, Any] = {"ulps": 512, "of_largest": True}
ORDER = "the order of the eigenvalues is the algorithm's choice"
FLAT = "JAX has no derivative of it: {}"


def _scipy(name: str, *cases: Case, **about: Any) -> Row:
    """State a row of scipy.linalg, which SciPy itself is the reference of."""
    name = f"scipy.linalg.{name}"
    return Row(name, cases, **{"reference": name, **ABOUT, **about})


FIXED: dict[str, Any] = {"not_differentiable": "it has no operands", "reference": ""}
SCIPY = (
    _scipy("block_diag", case(X(2, 3), X(2))),
    _scipy("circulant", case(X(4))),
    _scipy("companion", case(X(4, domain=NONZERO))),
    _scipy("convolution_matrix", case(X(3), 4), case(X(4), 3, "same")),
    _scipy("fiedler", case(X(4))),
    _scipy("fiedler_companion", case(X(5, domain=NONZERO))),
    _scipy("hankel", case(X(3)), case(X(3), X(2))),
    _scipy("leslie", case(X(3), X(2))),
    _scipy("toeplitz", case(X(3)), case(X(3), X(2))),
    *[
        _scipy(name, case(4), dtypes=("float32",), **FIXED)
        for name in ("hilbert", "invhilbert", "invpascal", "pascal", "helmert", "dft", "hadamard")
    ],
    _scipy("cholesky", case(X(3, 3, domain=DEFINITE), lower=True), order=1),
    _scipy("cho_solve", case((X(3, 3, domain=LOWER), True), X(3))),
    _scipy("det", case(X(3, 3, domain=REGULAR))),
    _scipy("inv", case(X(3, 3, domain=REGULAR))),
    _scipy("eigh", case(X(3, 3, domain=SYMMETRIC), eigvals_only=True)),
    _scipy("eigh_tridiagonal", case(X(4), X(3), eigvals_only=True)),
    _scipy("expm", case(X(3, 3))),
    _scipy("expm_frechet", case(X(3, 3), X(3, 3)), order=1),
    _scipy("funm", case(X(3, 3), double), not_differentiable=ORDER),
    _scipy("hessenberg", case(X(3, 3)), not_differentiable=ORDER),
    _scipy("lu", case(X(3, 3, domain=REGULAR))),
    _scipy("lu_factor", case(X(3, 3, domain=REGULAR))),
    _scipy("lu_solve", case((X(3, 3, domain=REGULAR), I(3, below=3)), X(3, 2))),
    _scipy("polar", case(X(3, 3, domain=REGULAR)), order=1),
    _scipy("qr", case(X(3, 3, domain=REGULAR))),
    _scipy("qr_multiply", case(X(3, 3, domain=REGULAR), X(2, 3))),
    _scipy("rsf2csf", case(X(3, 3), X(3, 3)), not_differentiable=ORDER, no_reference=SIGNS),
    _scipy("schur", case(X(3, 3)), not_differentiable=ORDER, no_reference=SIGNS),
    _scipy("solve", case(X(3, 3, domain=REGULAR), X(3))),
    _scipy(
        "solve_sylvester",
        case(X(3, 3, domain=DEFINITE), X(2, 2, domain=DEFINITE), X(3, 2)),
        order=1,
    ),
    _scipy("solve_triangular", case(X(3, 3, domain=LOWER), X(3), lower=True)),
    _scipy("sqrtm", case(X(3, 3, domain=DEFINITE)), order=1),
    _scipy("svd", case(X(3, 3, domain=REGULAR), compute_uv=False)),
)

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
        no_reference=FLAT.format("tests/numpy/test_polar.py"),
        **ABOUT | {"dtypes": ("float32",)},  # its Program is long to compile
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
    *SCIPY,
)
