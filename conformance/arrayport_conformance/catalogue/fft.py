"""Rows of Fourier and cosine transforms."""

from __future__ import annotations

from typing import Any

from arrayport_conformance.catalogue.rows import FLOATS, Row, X, case, rows

ABOUT: dict[str, Any] = {"ulps": 32, "of_largest": True}
NOTHING = "it has no operands that vary"
LINEAR: dict[str, Any] = {**ABOUT, "order": 1}  # the second derivative is zero

ROWS = (
    *rows(
        "numpy.fft.fft numpy.fft.ifft",
        (case(X(5)), case(X(2, 4), n=5, axis=0, norm="ortho")),
        dtypes=("float32", "complex128", "int8"),
        **LINEAR,
    ),
    *rows("numpy.fft.rfft numpy.fft.ihfft", (case(X(5)), case(X(2, 4), 6)), **LINEAR),
    *rows(
        "numpy.fft.irfft numpy.fft.hfft",
        (case(X(4)), case(X(4, 3), 5, norm="forward")),
        dtypes=("float32", "complex128"),
        **LINEAR,
    ),
    *rows(
        "numpy.fft.fftn numpy.fft.ifftn numpy.fft.fft2 numpy.fft.ifft2",
        (case(X(3, 4)), case(X(2, 2, 3), (3, 2), (2, 0))),
        dtypes=("complex64",),
        **LINEAR,
    ),
    *rows("numpy.fft.rfftn numpy.fft.rfft2", (case(X(3, 4)), case(X(3, 5), (2, 4))), **LINEAR),
    *rows(
        "numpy.fft.irfftn numpy.fft.irfft2",
        (case(X(3, 3), (2, 5)),),
        dtypes=("complex64",),
        **LINEAR,
    ),
    *rows("numpy.fft.fftshift numpy.fft.ifftshift", (case(X(3, 4)), case(X(5), 0)), ulps=0),
    *rows(
        "numpy.fft.fftfreq numpy.fft.rfftfreq",
        (case(4), case(5, 0.5)),
        dtypes=("float32",),
        not_differentiable=NOTHING,
    ),
    Row(
        "lax.fft",
        (case(X(3, 4), "FFT", (3, 4)), case(X(3, 3), "irfft", (4,))),
        ("complex64", "complex128"),
        **LINEAR,
    ),
    *(
        Row(
            f"scipy.fft.{name}",
            (case(X(5)), case(X(4, 3), 2, n=6, axis=0, norm="ortho")),
            (*FLOATS, "complex64"),
            reference=f"scipy.fft.{name}",
            **LINEAR,
        )
        for name in ("dct", "idct")
    ),
    *(
        Row(
            f"scipy.fft.{name}",
            (case(X(3, 4)), case(X(3, 4), s=(3, 2), norm="ortho")),
            reference=f"scipy.fft.{name}",
            **LINEAR,
        )
        for name in ("dctn", "idctn")
    ),
)
