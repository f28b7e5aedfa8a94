"""The table of JAX's kernels: one function of raw JAX values for each primitive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from arrayport.core.backend import Refusal
from arrayport.core.primitive import Primitive
from arrayport_backends.jax import (
    bits,
    callbacks,
    checks,
    collectives,
    convolution,
    creation,
    elementwise,
    fft,
    indexing,
    linalg,
    pooling,
    products,
    programs,
    random,
    reductions,
    reflections,
    shapes,
    sorting,
    special,
    spectra,
    structure,
    tridiagonal,
)

FAMILIES: tuple[Mapping[Any, Any], ...] = (
    bits.ROWS,
    callbacks.ROWS,
    checks.ROWS,
    collectives.ROWS,
    convolution.ROWS,
    pooling.ROWS,
    creation.ROWS,
    elementwise.ROWS,
    fft.ROWS,
    indexing.ROWS,
    linalg.ROWS,
    reflections.ROWS,
    spectra.ROWS,
    tridiagonal.ROWS,
    products.ROWS,
    programs.ROWS,
    random.ROWS,
    reductions.ROWS,
    shapes.ROWS,
    sorting.ROWS,
    special.ROWS,
    structure.ROWS,
)
TABLE: Mapping[Primitive, Callable[..., Any] | Refusal] = {
    prim: row for rows in FAMILIES for prim, row in rows.items()
}
