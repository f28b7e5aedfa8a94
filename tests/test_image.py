"""Images: resampled as JAX resamples them, by every method, with derivatives of scale and place."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import image

METHODS = ["nearest", "linear", "lanczos3", "lanczos5", "cubic", "cubic-pytorch", "area"]
X = np.random.default_rng(0).normal(size=(2, 5, 4)).astype("float32")
pytestmark = pytest.mark.usefixtures("backend")


@pytest.mark.parametrize("method", METHODS)
def test_resized_as_jax_does(method: str) -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    for shape, antialias in product([(2, 3, 9), (2, 8, 1)], [True, False]):
        expected = np.asarray(jax.image.resize(X, shape, method, antialias))
        found = np.asarray(image.resize(anp.asarray(X), shape, method, antialias))
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("method", METHODS[1:])
def test_scaled_as_jax_does(method: str) -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    scale, shift = np.float32([1.3, 0.6]), np.float32([-0.4, 1.7])
    # JAX wants a known scale for the one method that pads edges.
    antialias = method != "cubic-pytorch"

    def f(library: Any, x: Any, s: Any, t: Any) -> Any:
        return library.image.scale_and_translate(x, (2, 6, 5), (1, 2), s, t, method, antialias)

    expected = f(jax, X, scale, shift)
    given = [anp.asarray(v) for v in (X, scale, shift)]
    np.testing.assert_allclose(np.asarray(f(ap, *given)), expected, rtol=1e-5, atol=3e-6)
    if antialias:
        slopes = ap.grad(lambda *v: (f(ap, *v) ** 2).sum(), (0, 1, 2))(*given)
        known = jax.grad(lambda *v: (f(jax, *v) ** 2).sum(), (0, 1, 2))(X, scale, shift)
        for a, b in zip(slopes, known, strict=True):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-3, atol=1e-4)


def test_integers_and_nothing() -> None:
    x = anp.asarray(np.arange(6).reshape(2, 3))
    assert image.resize(x, (2, 3), "linear").dtype == "float32"
    assert image.resize(x, (4, 3), "nearest").dtype == x.dtype
    assert image.resize(x, (0, 3), "cubic").shape == (0, 3)
    assert image.ResizeMethod.from_string("bicubic") is image.ResizeMethod.CUBIC
    assert ap.jit(lambda v: image.resize(v, (1, 1), image.ResizeMethod.AREA))(x)[0, 0] == 2.5


def test_messages() -> None:
    x = anp.ones((2, 3))
    with pytest.raises(ValueError, match="unknown: use one of"):
        image.resize(x, (2, 2), "best")
    with pytest.raises(ValueError, match="each axis"):
        image.resize(x, (2,), "linear")
    with pytest.raises(ValueError, match="nearest"):
        image.scale_and_translate(x, (2, 2), (0,), anp.ones(1), anp.ones(1), "nearest")
    with pytest.raises(ValueError, match="one element for each"):
        image.scale_and_translate(x, (2, 2), (0, 1), anp.ones(1), anp.ones(2), "cubic")
