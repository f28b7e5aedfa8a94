"""The arrays that tests of linear algebra draw, and what is close in which precision."""

from __future__ import annotations

from typing import Any

import numpy as np


def random(*shape: int, dtype: str = "float64", seed: int = 0) -> Any:
    """Draw a NumPy array."""
    parts = np.random.default_rng(seed).normal(size=(2, *shape))
    return (parts[0] + 1j * parts[1] if dtype[0] == "c" else parts[0]).astype(dtype)


def adjoint(x: Any) -> Any:
    """Transpose and conjugate a stack of NumPy's matrices."""
    return np.swapaxes(np.conj(x), -1, -2)


def close(found: Any, expected: Any, *, narrow: float, wide: float) -> None:
    """Require equal shapes, and values within the tolerance of the narrower dtype."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    single = {"float32", "complex64"} & {found.dtype.name, expected.dtype.name}
    tolerance = narrow if single else wide
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def same_type_and_close(found: Any, expected: Any, **tolerances: float) -> None:
    """Require equal dtypes too."""
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    close(found, expected, **tolerances)
