"""The catalogue: a row for every public callable, or the reason why it has none."""

from __future__ import annotations

from arrayport_conformance.catalogue import (
    bits,
    control,
    convolution,
    creation,
    elementwise,
    fft,
    indexing,
    linalg,
    products,
    random,
    reductions,
    samples,
    shapes,
    signal,
    sorting,
    special,
    stats,
)
from arrayport_conformance.catalogue.exclusions import EXCLUDED, NEWER
from arrayport_conformance.catalogue.rows import Row

FAMILIES = (
    bits,
    elementwise,
    reductions,
    samples,
    shapes,
    creation,
    indexing,
    products,
    sorting,
    special,
    stats,
    linalg,
    fft,
    signal,
    convolution,
    random,
    control,
)
ROWS: tuple[Row, ...] = tuple(row for family in FAMILIES for row in family.ROWS)

__all__ = ["EXCLUDED", "FAMILIES", "NEWER", "ROWS", "Row"]
