"""Rows of special functions: gamma and its kin, errors, integrals, Bessel functions, entropies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from arrayport_conformance.catalogue.elementwise import one, same, two
from arrayport_conformance.catalogue.rows import (
    ABOVE_ONE,
    APART,
    BELOW_HALF,
    FLOATS,
    FRACTION,
    INEXACT,
    NONZERO,
    POSITIVE,
    REAL,
    UNIT,
    Case,
    I,
    Row,
    X,
    case,
    rows,
)

STEPS = "its derivative is zero wherever it has one"
KNOWN = "its argument is a number known in advance, and its answer constant"


def parted(first: str, second: str) -> tuple[Case, ...]:
    """State calls of two operands, of which only the second has derivatives."""
    return (
        case(X(2, 3, domain=first, fixed=True), X(2, 3, domain=second)),
        case(X(3, domain=first, fixed=True), X(domain=second)),
    )


def three(first: str, second: str, third: str, *, fixed: bool) -> tuple[Case, ...]:
    """State calls of three operands; `fixed`: only the last has derivatives."""
    return (
        case(
            X(2, 3, domain=first, fixed=fixed),
            X(2, 3, domain=second, fixed=fixed),
            X(2, 3, domain=third),
        ),
    )


def four(*domains: str) -> tuple[Case, ...]:
    """State a call of four operands."""
    return (case(*[X(3, domain=domain) for domain in domains]),)


def by_scipy(names: str, cases: tuple[Case, ...], **about: Any) -> list[Row]:
    """State rows of which SciPy knows more digits than JAX, and for which JAX compiles long."""
    found = rows(" ".join(f"scipy.special.{name}" for name in names.split()), cases, **about)
    return [replace(row, reference=row.function, heavy=True) for row in found]


ORDERS = (case(I(2, 3, below=4), X(2, 3, domain=ABOVE_ONE)), case(2, X(3, domain=ABOVE_ONE)))
DIGITS = "JAX's has three digits: tests/scipy/test_special.py holds it against mpmath"

ROWS = (
    # ---- error functions
    *rows("lax.erf lax.erfc", one(), dtypes=FLOATS, ulps=64, special=True),
    *rows("scipy.special.erf scipy.special.erfc", one(), dtypes=FLOATS, ulps=64),
    *rows("lax.erf_inv scipy.special.erfinv", one(UNIT), dtypes=FLOATS, ulps=256),
    *by_scipy("erfcinv ndtri", one(FRACTION), ulps=256, of_largest=True),
    *rows("scipy.special.erfcx", one(), ulps=64),
    *rows("scipy.special.dawsn", one(), ulps=256),  # in its slope, 1 - 2x dawsn(x), terms cancel
    # Its derivative, 2i / sqrt(pi) - 2 z w, cancels away from 0; on CuPy it is a composition.
    *by_scipy("wofz", one(), dtypes=("float32", "complex64", "complex128"), ulps=2048),
    Row("scipy.special.ndtr", one(), ulps=128),
    *by_scipy("log_ndtr", one(), ulps=512),
    *by_scipy("owens_t", two(), dtypes=("float32",), ulps=256, of_largest=True),
    # ---- gamma and its kin
    *rows(
        "lax.lgamma lax.digamma scipy.special.gammaln scipy.special.digamma",
        one(ABOVE_ONE),
        ulps=256,
        of_largest=True,
    ),
    Row("scipy.special.loggamma", one(ABOVE_ONE), ulps=256, of_largest=True),
    *rows("scipy.special.gamma scipy.special.factorial", one(POSITIVE), ulps=256),
    Row("scipy.special.gammasgn", one(NONZERO), not_differentiable=STEPS),
    *by_scipy("polygamma", ORDERS, ulps=512),
    Row(
        "lax.polygamma",
        (case(2.0, X(3, domain=POSITIVE)),),
        ulps=512,
        reference="scipy.special.polygamma",
    ),
    *by_scipy("zeta", parted(ABOVE_ONE, POSITIVE), ulps=512),
    Row("lax.zeta", parted(ABOVE_ONE, POSITIVE)[:1], ulps=512, reference="scipy.special.zeta"),
    *by_scipy("poch beta betaln", two(POSITIVE, POSITIVE), ulps=512),
    Row("scipy.special.multigammaln", (case(X(3, domain=ABOVE_ONE), 3),), ulps=256),
    Row(
        "lax.igamma",
        same(POSITIVE, POSITIVE),
        ulps=512,
        of_largest=True,
        order=1,
        reference="scipy.special.gammainc",
    ),
    Row(
        "lax.igammac",
        same(POSITIVE, POSITIVE),
        ulps=512,
        of_largest=True,
        order=1,
        reference="scipy.special.gammaincc",
    ),
    *by_scipy("gammainc gammaincc", two(POSITIVE, POSITIVE), ulps=512, of_largest=True, order=1),
    *rows(
        "lax.igamma_grad_a lax.random_gamma_grad",
        (case(X(2, 3, domain=POSITIVE, fixed=True), X(2, 3, domain=POSITIVE)),),
        ulps=512,
        no_reference=DIGITS,
    ),
    *by_scipy("betainc", three(POSITIVE, POSITIVE, FRACTION, fixed=True), ulps=512),
    Row(
        "lax.betainc",
        three(POSITIVE, POSITIVE, FRACTION, fixed=True),
        ulps=512,
        reference="scipy.special.betainc",
    ),
    *by_scipy("comb", (case(X(3, domain=ABOVE_ONE), X(domain=FRACTION)),), ulps=512),
    Row(
        "scipy.special.bernoulli",
        (case(6),),
        not_differentiable=KNOWN,
        no_reference="others round it: tests/scipy/test_special.py has the fractions",
    ),
    # ---- integrals
    *by_scipy("exp1", one(POSITIVE), ulps=64),
    *by_scipy("expi", one(NONZERO), ulps=256, of_largest=True),
    *by_scipy("expn", ORDERS, ulps=256),
    *by_scipy("sici fresnel", one(POSITIVE), ulps=256, of_largest=True),
    *by_scipy("spence", one(POSITIVE), ulps=64, of_largest=True),
    # ---- Bessel functions
    *rows("lax.bessel_i0e lax.bessel_i1e", one(NONZERO), ulps=64, special=True),
    *rows(
        "scipy.special.i0 scipy.special.i0e scipy.special.i1 scipy.special.i1e numpy.i0",
        one(NONZERO),
        ulps=64,
    ),
    Row("numpy.kaiser", (case(5, X(domain=POSITIVE)),), ulps=128, reference="numpy.kaiser"),
    Row(
        "scipy.special.bessel_jn",
        (case(X(3, domain=POSITIVE), v=2),),
        ulps=256,
        of_largest=True,
        no_reference="SciPy has another of that kind: tests/scipy/test_special.py",
    ),
    # ---- hypergeometric functions
    *by_scipy("hyp1f1", three(POSITIVE, ABOVE_ONE, UNIT, fixed=False), ulps=512, order=1),
    # Near 1 JAX's has seven digits.
    *by_scipy("hyp2f1", four(POSITIVE, POSITIVE, ABOVE_ONE, BELOW_HALF), ulps=512, order=1),
    *by_scipy(
        "sph_harm_y",
        (case(I(3, below=4), I(3, below=4), X(3, domain=FRACTION), X(3, domain=FRACTION)),),
        ulps=256,
        of_largest=True,
    ),
    # ---- entropies
    Row("scipy.special.entr", one(POSITIVE), ulps=16, of_largest=True),
    *rows(
        "scipy.special.rel_entr scipy.special.kl_div",
        two(POSITIVE, POSITIVE),
        ulps=256,
        of_largest=True,
    ),
    *rows("scipy.special.xlogy", two(REAL, POSITIVE), dtypes=INEXACT, ulps=64, of_largest=True),
    *rows("scipy.special.xlog1py", two(REAL, POSITIVE), ulps=64),
    Row("scipy.special.logit", one(FRACTION), INEXACT, ulps=64, of_largest=True),
    Row("scipy.special.expit", one(), INEXACT, ulps=64),
    *by_scipy("boxcox boxcox1p", two(POSITIVE, NONZERO), ulps=512),
    *rows(
        "scipy.special.softmax scipy.special.log_softmax",
        (case(X(2, 3)), case(X(2, 3), axis=1)),
        ulps=64,
        of_largest=True,
    ),
    Row(
        "scipy.special.logsumexp",
        (case(X(2, 3, domain=APART)), case(X(2, 3, domain=APART), 1)),
        ulps=32,
        of_largest=True,
    ),
)
