"""Distances between arrays, by numbers computed by hand."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from arrayport.testing.agreement import Tolerance, Ulps, compare, largest_ulps, ulps


@pytest.mark.parametrize(
    ("found", "expected", "distance"),
    [
        (np.float32(1) + np.float32(2**-23), np.float32(1), 1),
        (np.float32(1) - np.float32(2**-24), np.float32(1), 0.5),
        (np.nextafter(1e300, 2e300), 1e300, 1),
        (np.float32(2**-149), np.float32(0), 1),
        (np.float32(np.nan), np.float32(np.nan), 0),
        (np.float32(np.inf), np.float32(np.inf), 0),
        (np.float32(np.inf), np.float32(1), np.inf),
        (np.float32(np.nan), np.float32(1), np.inf),
        (np.float32(1), np.float32(-np.inf), np.inf),
        (ml_dtypes.bfloat16(1.0078125), ml_dtypes.bfloat16(1), 1),
        (np.int32(3), np.int32(3), 0),
        (np.int32(3), np.int32(4), 1),
        (np.complex64(1 + 2**-23 * 1j), np.complex64(1), 1),
    ],
)
def test_ulps(found: np.generic, expected: np.generic, distance: float):
    assert float(ulps(np.asarray(found), np.asarray(expected))) == distance


def test_of_largest():
    found, expected = np.float32([1 + 2**-10, 1024]), np.float32([1, 1024])
    # An ulp of 1024 is 2**-13.
    assert largest_ulps(found, expected) == 8


def test_compare():
    a = [np.zeros(2), np.ones(3)]
    assert compare(a, [np.zeros(2), np.ones(3)], Ulps(0)).agrees
    assert "structure" in compare(a, a[:1], Ulps(0)).problem
    assert "output 1" in compare(a, [np.zeros(2), np.ones(2)], Ulps(0)).problem
    assert not compare(a, [np.zeros(2), np.full(3, 1 + 1e-10)], Tolerance(rtol=1e-11)).agrees
    assert compare(a, [np.zeros(2), np.full(3, 1 + 1e-10)], Tolerance(rtol=1e-9)).agrees
    assert not compare(np.ones(1), np.ones(1) * np.nan, Tolerance(rtol=1, atol=1)).agrees
    assert compare(np.zeros(0), np.zeros(0), Ulps(0)).agrees
