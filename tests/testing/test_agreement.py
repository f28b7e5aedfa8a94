"""Distances between arrays, by numbers computed by hand."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from arrayport.testing.agreement import Tolerance, Ulps, compare, ulps


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
        (np.int32(3), np.int32(4), np.inf),
        (np.int64(2**60), np.int64(2**60 + 1), np.inf),
        (np.bool_(True), np.bool_(False), np.inf),
        (np.uint8(255), np.uint8(255), 0),
        (np.complex64(1 + 2**-23 * 1j), np.complex64(1), 1),
    ],
)
def test_ulps(found: np.generic, expected: np.generic, distance: float):
    assert float(ulps(np.asarray(found), np.asarray(expected))) == distance


def test_of_largest():
    found, expected = np.float32([1 + 2**-10, 1024]), np.float32([1, 1024])
    # An ulp of 1024 is 2**-13.
    assert compare(found, expected, Ulps(8, of_largest=True)).error == 8


def test_compare():
    a = [np.zeros(2), np.ones(3)]
    assert compare(a, [np.zeros(2), np.ones(3)], Ulps(0)).agrees
    assert "structure" in compare(a, a[:1], Ulps(0)).problem
    assert "output 1" in compare(a, [np.zeros(2), np.ones(2)], Ulps(0)).problem
    assert not compare(a, [np.zeros(2), np.full(3, 1 + 1e-10)], Tolerance(rtol=1e-11)).agrees
    assert compare(a, [np.zeros(2), np.full(3, 1 + 1e-10)], Tolerance(rtol=1e-9)).agrees
    assert not compare(np.ones(1), np.ones(1) * np.nan, Tolerance(rtol=1, atol=1)).agrees
    assert compare(np.zeros(0), np.zeros(0), Ulps(0)).agrees


def test_whole_numbers_have_no_ulps():
    for limit in (Ulps(64), Ulps(64, of_largest=True), Tolerance(rtol=0.1)):
        assert not compare(np.int8([3, 100]), np.int8([4, 100]), limit).agrees
        assert not compare(np.array([True]), np.array([False]), limit).agrees
        assert compare(np.int8([3]), np.int8([3]), limit).agrees
    assert compare(np.int32([3]), np.int32([4]), Tolerance(atol=1)).agrees
    assert str(compare(np.int32([3]), np.int32([8]), Ulps(64))) == "5 apart"


def test_what_is_flushed_counts_as_zero():
    tiny, zero, normal = np.float32([1e-40, 1]), np.float32([0, 1]), np.float32([2e-38, 1])
    assert not compare(zero, tiny, Ulps(64)).agrees
    assert compare(zero, tiny, Ulps(0, flush=True)).agrees
    assert compare(np.complex64([1e-40j]), np.complex64([0]), Ulps(0, flush=True)).agrees
    assert not compare(zero, normal, Ulps(64, flush=True)).agrees
    assert tiny[0] > 0  # what is compared stays as it is


def test_a_difference_that_ulps_do_not_tell_is_told_itself():
    assert str(compare(np.float32([2.5]), np.float32([0]), Ulps(64))) == "2.5 apart"
    assert str(compare(np.float32([np.inf]), np.float32([0]), Ulps(64))) == "inf apart"
    assert str(compare(np.float32([1 + 2**-20]), np.float32([1]), Ulps(4))) == "8 ulp"
