"""The table of kernels that NumPy and CuPy share, of all families."""

from __future__ import annotations

from arrayport_backends.ndarray import (
    bits,
    callbacks,
    collectives,
    control,
    convolution,
    creation,
    elementwise,
    fft,
    indexing,
    linalg,
    pooling,
    products,
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
from arrayport_backends.ndarray.kernels import Rows, merged

ROWS: Rows = merged(
    structure.ROWS,
    elementwise.ROWS,
    special.ROWS,
    bits.ROWS,
    reductions.ROWS,
    shapes.ROWS,
    creation.ROWS,
    indexing.ROWS,
    products.ROWS,
    sorting.ROWS,
    linalg.ROWS,
    reflections.ROWS,
    spectra.ROWS,
    tridiagonal.ROWS,
    fft.ROWS,
    convolution.ROWS,
    pooling.ROWS,
    random.ROWS,
    callbacks.ROWS,
    collectives.ROWS,
    control.ROWS,
)
