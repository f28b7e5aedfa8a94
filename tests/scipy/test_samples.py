"""Grids and coordinates against SciPy and JAX, on every backend."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import interpolate, ndimage

import arrayport as ap
import arrayport.numpy as anp
from arrayport.scipy.interpolate import RegularGridInterpolator
from arrayport.scipy.ndimage import map_coordinates

RNG = np.random.default_rng(0)
pytestmark = pytest.mark.usefixtures("wide", "backend")


@pytest.mark.parametrize("mode", ["constant", "nearest", "wrap", "mirror", "reflect"])
def test_coordinates(mode: str) -> None:
    x = RNG.normal(size=(4, 5))
    at = RNG.uniform(-6, 9, (2, 3, 7))
    # SciPy's "wrap" joins the outer elements, JAX's puts them side by side, as SciPy's "grid-wrap".
    theirs = {"wrap": "grid-wrap", "constant": "grid-constant"}.get(mode, mode)
    for order in (0, 1):
        expected = ndimage.map_coordinates(x, at, order=order, mode=theirs, cval=2.5)
        found = map_coordinates(anp.asarray(x), [anp.asarray(c) for c in at], order, mode, 2.5)
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-9, atol=1e-9)


def test_coordinates_of_integers_and_slopes() -> None:
    x = anp.asarray([10, 20, 40])
    found = map_coordinates(x, [anp.asarray([0.26, 1.5])], 1)
    assert found.dtype == x.dtype
    assert np.asarray(found).tolist() == [13, 30]
    slope = ap.grad(lambda c: map_coordinates(x.astype(float), [c], 1)[0])(anp.asarray([1.25]))
    assert float(slope[0]) == 20
    with pytest.raises(ValueError, match="each of 1 axes"):
        map_coordinates(x, [x, x], 1)
    with pytest.raises(NotImplementedError, match="orders 0 and 1"):
        map_coordinates(x, [x], 3)
    with pytest.raises(ValueError, match="unknown"):
        map_coordinates(x, [x], 1, "mirrored")


@pytest.mark.parametrize("method", ["linear", "nearest"])
def test_grids(method: str) -> None:
    points = (np.array([0.0, 1.0, 3.0]), np.array([-1.0, 0.5, 2.0, 2.5]))
    values = RNG.normal(size=(3, 4, 2))
    at = RNG.uniform(-0.5, 3.2, (6, 5, 2))
    for fill in (np.nan, 7.0, None):
        theirs = interpolate.RegularGridInterpolator(points, values, method, False, fill)
        own = RegularGridInterpolator([anp.asarray(p) for p in points], values, method, False, fill)
        np.testing.assert_allclose(np.asarray(own(anp.asarray(at))), theirs(at), rtol=1e-10)
    pair = own((anp.asarray(0.5), anp.asarray([0.0, 1.0])))
    np.testing.assert_allclose(np.asarray(pair), theirs((0.5, np.array([0.0, 1.0]))))
    slope = ap.grad(lambda x: own(x)[0, 0])(anp.asarray([[0.25, 1.0]]))
    assert np.asarray(slope).any() == (method == "linear")


def test_grids_that_do_not_fit() -> None:
    x = anp.arange(3.0)
    with pytest.raises(ValueError, match="their first axes"):
        RegularGridInterpolator((x,), anp.ones(4))
    with pytest.raises(ValueError, match="linear, nearest"):
        RegularGridInterpolator((x,), x, "cubic")
    with pytest.raises(NotImplementedError, match="bounds_error"):
        RegularGridInterpolator((x,), x, bounds_error=True)
    with pytest.raises(ValueError, match="2 coordinates"):
        RegularGridInterpolator((x,), x)(anp.ones((4, 2)))
