"""Rows of signal processing, which SciPy itself is the reference of."""

from __future__ import annotations

from typing import Any

from arrayport_conformance.catalogue.rows import Case, Row, X, case


def _signal(name: str, *cases: Case, **about: Any) -> Row:
    """State a row of scipy.signal."""
    name = f"scipy.signal.{name}"
    return Row(name, cases, reference=name, **{"ulps": 64, "of_largest": True, **about})


MIXED = ("float32", "complex128")
ROWS = (
    _signal("convolve", case(X(4), X(3)), case(X(3, 4), X(2, 3), "same"), dtypes=MIXED),
    _signal("correlate", case(X(4), X(3)), case(X(3, 4), X(2, 3), "valid"), dtypes=MIXED),
    _signal("convolve2d", case(X(3, 4), X(2, 2)), dtypes=MIXED),
    _signal("correlate2d", case(X(3, 4), X(2, 2), "same"), dtypes=MIXED),
    _signal("fftconvolve", case(X(3, 4), X(3, 2), axes=1), dtypes=MIXED),
    _signal("detrend", case(X(3, 6)), case(X(6, 2), axis=0, bp=3)),
    _signal("stft", case(X(2, 12), nperseg=4)),
    _signal("istft", case(X(3, 5), nperseg=4), dtypes=("complex64",)),
    _signal("csd", case(X(12), X(12), nperseg=4)),
    _signal("welch", case(X(12), nperseg=4, fs=2.0)),
)
