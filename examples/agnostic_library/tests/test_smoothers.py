"""Every smoother, on every backend's arrays, against plain Python, NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import smoothers
from scipy import ndimage, optimize

import arrayport as ap
import arrayport.numpy as anp

AsArray = Callable[[Any], Any]


@pytest.fixture
def series() -> np.ndarray:
    """Make a wave with noise and a few wild values."""
    rng = np.random.default_rng(0)
    values = np.sin(np.linspace(0, 6, 80)) + 0.1 * rng.normal(size=80)
    values[[7, 30, 31, 62]] += 8
    return values


def host(array: Any) -> np.ndarray:
    """Bring a result to NumPy, from whichever backend."""
    return np.asarray(anp.asarray(array))


def test_exponential(asarray: AsArray, series: np.ndarray) -> None:
    given = asarray(series)
    result = smoothers.exponential(given, 0.3)
    expected = [series[0]]
    for value in series[1:]:
        expected.append(0.3 * value + 0.7 * expected[-1])
    assert type(result) is type(given)
    np.testing.assert_allclose(host(result), expected, rtol=1e-5, atol=1e-6)


def test_as_wide_as_given(series: np.ndarray) -> None:
    """Float64 is computed and given back as such, and so is int64: nothing is rounded or wraps."""
    result = smoothers.exponential(series, 0.3)
    expected = [series[0]]
    for value in series[1:]:
        expected.append(0.3 * value + 0.7 * expected[-1])
    assert result.dtype == np.float64
    np.testing.assert_allclose(result, expected, rtol=1e-13)
    counts = np.array([2**40, 2**40 + 2, 2**40 + 1])
    np.testing.assert_array_equal(smoothers.median(counts, 3), [2**40, 2**40 + 1, 2**40 + 1])
    assert smoothers.median(np.float32(series), 3).dtype == np.float32


def test_exponential_smooths_each_column(asarray: AsArray, series: np.ndarray) -> None:
    columns = host(smoothers.exponential(asarray(np.stack([series, 2 * series], axis=1)), 0.3))
    alone = host(smoothers.exponential(asarray(series), 0.3))
    np.testing.assert_allclose(columns, np.stack([alone, 2 * alone], axis=1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("width", [1, 3, 7])
def test_median(asarray: AsArray, series: np.ndarray, width: int) -> None:
    given = asarray(series)
    result = smoothers.median(given, width)
    assert type(result) is type(given)
    np.testing.assert_array_equal(
        host(result), ndimage.median_filter(np.float32(series), width, mode="nearest")
    )


@pytest.mark.parametrize("width", [-1, 0, 4])
def test_median_refuses_a_window_without_a_middle(
    asarray: AsArray, series: np.ndarray, width: int
) -> None:
    with pytest.raises(ValueError, match=f"width must be odd and positive, not {width}"):
        smoothers.median(asarray(series), width)


def test_line(asarray: AsArray) -> None:
    rng = np.random.default_rng(1)
    x = np.linspace(-2, 2, 60)
    y = 3 * x - 1 + 0.1 * rng.normal(size=60)
    y[::9] += 40
    given = asarray(x)
    slope, intercept = smoothers.line(given, asarray(y), threshold=0.5)

    def residuals(fit: np.ndarray) -> np.ndarray:
        return fit[0] * x + fit[1] - y

    expected = optimize.least_squares(residuals, [0, 0], loss="huber", f_scale=0.5, xtol=1e-12).x
    assert type(slope) is type(intercept) is type(given)
    np.testing.assert_allclose([host(slope), host(intercept)], expected, rtol=1e-3)


def test_line_has_a_gradient(asarray: AsArray) -> None:
    """Where no point is beyond the threshold the slope is linear in y, with a known derivative."""
    x = np.linspace(-1, 1, 9)
    given = asarray(x)
    derivative = ap.grad(lambda y: smoothers.line(given, y, steps=3)[0])(asarray(0.1 * x))
    np.testing.assert_allclose(host(derivative), x / np.sum(x * x), rtol=1e-4, atol=1e-6)
