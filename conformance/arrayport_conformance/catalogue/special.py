"""Rows of special functions: gamma and its kin, errors, integrals, Bessel functions, entropies."""

from __future__ import annotations

from arrayport_conformance.catalogue.rows import (
    APART,
    Row,
    X,
    case,
)

ROWS = (
    # ---- sums of exponentials
    Row(
        "scipy.special.logsumexp",
        (case(X(2, 3, domain=APART)), case(X(2, 3, domain=APART), 1)),
        ulps=32,
        of_largest=True,
    ),
)
