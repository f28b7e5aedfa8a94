"""Rows of functions between samples: coordinates of images, integrals, codes."""

from __future__ import annotations

from arrayport_conformance.catalogue.rows import APART, FLOATS, POSITIVE, UNIT, Row, X, case

ROWS = (
    Row(
        "scipy.ndimage.map_coordinates",
        (
            case(X(4, 3), (X(5, domain=POSITIVE), X(5, domain=UNIT)), 1),
            case(X(4), (X(5),), 1, "reflect"),
            case(X(4), (X(2, 2),), 0, "wrap"),
        ),
        FLOATS,
        64,
        of_largest=True,
        order=1,
    ),
    Row(
        "scipy.integrate.trapezoid",
        (case(X(2, 5)), case(X(4), X(4)), case(X(3, 2), dx=0.5, axis=0)),
        FLOATS,
        64,
        of_largest=True,
    ),
    Row(
        "scipy.cluster.vq.vq",
        (case(X(4, 3, domain=APART), X(2, 3)), case(X(3, domain=APART), X(2))),
        FLOATS,
        16,
        of_largest=True,
        order=1,
    ),
)
