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


LAYOUTS = {  # of input, window and output; window, features of input and output, groups, stride
    "last": (("NHWC", "HWIO", "NHWC"), (3, 3), 4, 21, 1, 1),
    "apart": (("NHWC", "OIHW", "NHWC"), (3, 2), 3, 40, 1, 2),
    "groups": (("NHWC", "HWIO", "NHWC"), (2, 3), 4, 20, 2, 1),
    "single": (("NHWC", "HWIO", "NHWC"), (1, 1), 6, 5, 1, 1),
    "first": (("NCHW", "OIHW", "NCHW"), (3, 3), 3, 7, 1, 1),
    "strides": (("NCHW", "OIHW", "NCHW"), (3, 4), 3, 5, 1, 3),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_and_the_derivatives(name):
    numbers, window, ins, outs, groups, stride = LAYOUTS[name]
    extents = [
        {"N": 5, "C": ins, "H": 9, "W": 23},
        {"O": outs, "I": ins // groups, "H": window[0], "W": window[1]},
    ]
    x, w = drawn(*[[n[c] for c in spec] for n, spec in zip(extents, numbers, strict=False)])

    def convolve(x, w):
        pads = ((1, 1), (2, 0))
        return lax.conv_general_dilated(
            x, w, (stride,) * 2, pads, dimension_numbers=numbers, feature_group_count=groups
        )

    def both(x, w, g):
        y, pull = ap.vjp(convolve, x, w)
        return y, *pull(g)

    (g,) = drawn(convolve(x, w).shape)
    schedule = ap.jit(both).lower(x, w, g).as_text("schedule")
    assert schedule.count("conv_general_dilated") == 3
    # Groups of the batch, and weights whose features are apart, are derived by the library.
    assert ("calls" in schedule) == (name in {"groups", "apart"})
    for found, expected in zip(ap.jit(both)(x, w, g), both(x, w, g), strict=True):
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), 1e-4, 1e-4)


def test_what_a_vector_has_beyond_a_row_counts_for_nothing():
    """The last vector of a row has lanes in common with the one before; NaN is not spread."""
    x, g = (np.asarray(a).copy() for a in drawn((1, 1, 1, 22), (1, 2, 1, 20)))
    x[..., 0] = np.inf
    g[..., 1, :, 19] = np.nan

    def pulled(x, g):
        w = anp.zeros((2, 1, 1, 3), "float32")
        return ap.vjp(lambda w: lax.conv(x, w, (1, 1), "VALID"), w)[1](g)[0]

    x, g = anp.asarray(x), anp.asarray(g)
    assert is_direct(pulled, x, g)
    found = np.asarray(ap.jit(pulled)(x, g)).reshape(2, 3)
    assert np.isinf(found[0, 0])
    assert np.isfinite(found[0, 1:]).all()
    assert np.isnan(found[1]).all()


def test_short_rows_and_other_dtypes_stay_with_the_library():
    x, w = drawn((2, 3, 6, 20), (5, 3, 3, 3))
    assert not is_direct(lambda x, w: lax.conv(x, w, (1, 1), "SAME"), x[..., :5], w)
    whole = [anp.asarray(np.asarray(a).astype(np.int32)) for a in (x, w)]
    assert not is_direct(lambda x, w: lax.conv(x, w, (1, 1), "SAME"), *whole)
