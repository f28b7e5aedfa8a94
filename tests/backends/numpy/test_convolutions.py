"""Direct convolutions are those of the library, which multiplies matrices, and of their formula."""

from __future__ import annotations

import numpy as np
import pytest
from arrayport_backends.numpy import llvm

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax

pytestmark = [
    pytest.mark.skipif(not llvm.available(), reason="there is nothing to test without LLVM"),
    pytest.mark.usefixtures("at_once"),
]


def drawn(*shapes):
    draws = np.random.default_rng(7)
    return [anp.asarray(draws.standard_normal(shape).astype(np.float32)) for shape in shapes]


def is_direct(function, *args):
    return "calls" not in ap.jit(function).lower(*args).as_text("schedule")


CASES = {  # input, window, strides, padding, dilations of both, groups
    "same": ((2, 3, 6, 20), (5, 3, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), (1, 1), 1),
    "valid": ((2, 3, 6, 37), (7, 3, 2, 3), (1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1), 1),
    "line": ((1, 2, 200), (3, 2, 9), (1,), ((4, 4),), (1,), (1,), 1),
    "strides": ((1, 2, 9, 41), (4, 2, 3, 4), (2, 3), ((1, 2), (2, 0)), (1, 1), (2, 2), 1),
    "spread": ((1, 2, 4, 9), (4, 2, 3, 3), (1, 1), ((2, 1), (2, 2)), (2, 2), (1, 1), 1),
    "groups": ((2, 6, 5, 16), (9, 2, 3, 3), (1, 1), ((1, 1), (-1, 1)), (1, 1), (1, 1), 3),
    "cube": ((1, 2, 3, 4, 12), (2, 2, 2, 2, 3), (1, 2, 1), ((0, 1),) * 3, (1,) * 3, (1,) * 3, 1),
}


@pytest.mark.parametrize("name", CASES)
def test_direct_convolutions(name):
    image, window, *params = CASES[name]
    x, w = drawn(image, window)
    strides, padding, spread, dilation, groups = params

    def convolve(x, w):
        return lax.conv_general_dilated(
            x, w, strides, padding, spread, dilation, feature_group_count=groups
        )

    assert is_direct(convolve, x, w)
    found, expected = ap.jit(convolve)(x, w), convolve(x, w)
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), 1e-4, 1e-5)


def test_rows_of_the_input_may_lie_anyhow():
    x, w = drawn((2, 5, 19, 3), (3, 3, 3, 4))
    numbers = ("NHWC", "HWIO", "NCHW")

    def convolve(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=numbers)

    assert is_direct(convolve, x, w)
    padded = np.pad(np.asarray(x), ((0, 0), (1, 1), (1, 1), (0, 0)))
    seen = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
    expected = np.einsum("nyxchw,hwco->noyx", seen, np.asarray(w))
    np.testing.assert_allclose(np.asarray(ap.jit(convolve)(x, w)), expected, 1e-4, 1e-5)


def test_the_derivative_by_the_input_is_direct_as_well():
    x, w, g = drawn((2, 3, 6, 20), (5, 3, 3, 3), (2, 5, 6, 20))

    def pulled(x, w, g):
        return ap.vjp(lambda x: lax.conv(x, w, (1, 1), "SAME"), x)[1](g)[0]

    assert is_direct(pulled, x, w, g)
    padded = np.pad(np.asarray(g), ((0, 0), (0, 0), (1, 1), (1, 1)))
    seen = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    expected = np.einsum("noyxhw,oihw->niyx", seen, np.asarray(w)[:, :, ::-1, ::-1])
    np.testing.assert_allclose(np.asarray(ap.jit(pulled)(x, w, g)), expected, 1e-4, 1e-5)


def test_short_rows_and_other_dtypes_stay_with_the_library():
    x, w = drawn((2, 3, 6, 20), (5, 3, 3, 3))
    assert not is_direct(lambda x, w: lax.conv(x, w, (1, 1), "SAME"), x[..., :5], w)
    whole = [anp.asarray(np.asarray(a).astype(np.int32)) for a in (x, w)]
    assert not is_direct(lambda x, w: lax.conv(x, w, (1, 1), "SAME"), *whole)
