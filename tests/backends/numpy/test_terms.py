"""Calls in other terms: of 16-bit floats in 32 bits, rounded once; of complex numbers by parts."""

from __future__ import annotations

import numpy as np
import pytest
from arrayport_backends.numpy import llvm

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax

pytestmark = pytest.mark.skipif(not llvm.available(), reason="there is nothing to do without LLVM")

RNG = np.random.default_rng(0)
X, W, B = (RNG.standard_normal(shape) for shape in ((20, 50), (50, 30), (30,)))
IMAGE, WINDOW = RNG.standard_normal((2, 3, 9, 20)), RNG.standard_normal((5, 3, 3, 3))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_products(dtype, agree):
    x, w, b = (anp.asarray(a, "float32").astype(dtype) for a in (X, W, B))
    (got,), _ = agree(lambda x, w: x @ w, x, w, whole=False)
    wide = np.asarray(x).astype(np.float32) @ np.asarray(w).astype(np.float32)
    np.testing.assert_allclose(
        got.astype(np.float32),
        wide.astype(got.dtype).astype(np.float32),
        float(anp.finfo(dtype).eps),
    )

    def layer(x, w, b):
        return anp.maximum(x @ w + b, 0)

    agree(layer, x, w, b, whole=False, ulps=4)
    agree(ap.grad(lambda w, x, b: anp.sum(layer(x, w, b))), w, x, b, whole=False, ulps=16)
    schedule = ap.jit(layer).lower(x, w, b).as_text("schedule")
    assert "dot_general -> float32[20,30]" in schedule
    assert f"max -> {dtype}[20,30]" in schedule


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_convolutions_are_code(dtype, agree):
    image, window = (anp.asarray(a, "float32").astype(dtype) for a in (IMAGE, WINDOW))
    agree(lambda x, w: lax.conv(x, w, (1, 1), "SAME"), image, window, ulps=2)


def test_what_states_its_own_sum_stays(agree):
    x, w = (anp.asarray(a, "float32").astype("bfloat16") for a in (X, W))
    (got,), _ = agree(
        lambda x, w: anp.matmul(x, w, preferred_element_type="float32") * 2, x, w, whole=False
    )
    assert got.dtype == np.float32


@pytest.mark.parametrize(
    ("layout", "options"),
    [
        (("NCHW", "OIHW", "NCHW"), {}),
        (("NHWC", "HWIO", "NHWC"), {"window_strides": (2, 1), "padding": ((1, 0), (2, 1))}),
        (("CNHW", "IOHW", "NHCW"), {"rhs_dilation": (2, 2)}),
    ],
)
def test_complex_convolutions_are_code(layout, options, agree):
    options = {"window_strides": (1, 1), "padding": "SAME", **options}

    def moved(a, order, to):
        return anp.transpose(a, [order.index(c) for c in to])

    image, window = (anp.asarray(a + 1j * a[..., ::-1], "complex64") for a in (IMAGE, WINDOW))
    x, w = moved(image, "NCHW", layout[0]), moved(window, "OIHW", layout[1])

    def convolve(x, w):
        return lax.conv_general_dilated(x, w, dimension_numbers=layout, **options)

    agree(convolve, x, w, ulps=50)


def test_grouped_complex_convolutions_stay(agree):
    image = anp.asarray(IMAGE + 1j, "complex64")
    window = anp.asarray(np.ones((6, 1, 3, 3)) * 1j, "complex64")

    def convolve(x, w):
        return 2 * lax.conv_general_dilated(x, w, (1, 1), "SAME", feature_group_count=3)

    agree(convolve, image, window, whole=False)
