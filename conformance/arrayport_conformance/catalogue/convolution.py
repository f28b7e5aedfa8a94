"""Rows of convolutions."""

from __future__ import annotations

import numpy as np

from arrayport_conformance.catalogue.rows import FLOATS, Row, X, case, rows

ENLARGED, SHIFTED = np.array([1.25]), np.array([0.5])
NHWC = ("NHWC", "HWIO", "NHWC")

ROWS = (
    Row(
        "lax.conv",
        (
            case(X(2, 3, 5, 5), X(4, 3, 3, 3), (1, 1), "SAME"),
            case(X(1, 2, 5, 4), X(2, 2, 2, 3), (2, 1), "VALID"),
        ),
        FLOATS,
        64,
        of_largest=True,
    ),
    Row(
        "lax.conv_general_dilated",
        (
            case(X(1, 2, 5, 5), X(4, 1, 3, 3), (2, 1), ((1, 1), (0, 2)), feature_group_count=2),
            case(X(1, 2, 7), X(3, 2, 3), (1,), "VALID", rhs_dilation=(2,)),
            case(X(1, 2, 4), X(3, 2, 3), (1,), ((2, 2),), lhs_dilation=(2,)),
            case(
                X(1, 5, 4, 2),
                X(2, 2, 2, 3),
                (1, 1),
                "SAME",
                dimension_numbers=NHWC,
            ),
        ),
        FLOATS,
        64,
        of_largest=True,
    ),
    Row(
        "lax.conv_with_general_padding",
        (case(X(1, 2, 5), X(3, 2, 3), (1,), ((1, 1),), None, None),),
        FLOATS,
        64,
        of_largest=True,
    ),
    Row(
        "lax.conv_transpose",
        (case(X(1, 4, 2), X(3, 2, 3), (2,), "SAME"),),
        FLOATS,
        64,
        of_largest=True,
    ),
    Row(
        "lax.conv_general_dilated_patches",
        (
            case(X(2, 3, 5), (2,), (2,), ((1, 0),), rhs_dilation=(2,)),
            case(X(1, 4, 5, 2), (2, 3), (1, 2), "SAME", dimension_numbers=NHWC),
        ),
        FLOATS,
        0,
    ),
    Row(
        "lax.conv_general_dilated_local",
        (
            case(X(2, 3, 5), X(4, 6, 4), (1,), "VALID", (2,)),
            case(X(1, 4, 5, 2), X(3, 2, 12, 3), (1, 2), "VALID", (2, 3), dimension_numbers=NHWC),
        ),
        FLOATS,
        64,
        of_largest=True,
    ),
    Row(
        "image.resize",
        (
            case(X(3, 5), (4, 3), "linear"),
            case(X(6), (4,), "cubic", antialias=False),
            case(X(4), (6,), "lanczos3"),
        ),
        FLOATS,
        256,
        of_largest=True,
    ),
    Row(
        "image.scale_and_translate",
        (case(X(3, 5), (4, 5), (0,), ENLARGED, SHIFTED, "cubic"),),
        FLOATS,
        256,
        of_largest=True,
    ),
    *rows(
        "numpy.convolve numpy.correlate",
        (case(X(5), X(3)), case(X(5), X(3), mode="same")),
        ulps=64,
        of_largest=True,
    ),
)
