"""Polynomials: roots give the polynomial again, quotients and fits what NumPy says."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp

ROOTS = np.array([-2.0, 0.5, 3.0], np.float32)


@pytest.mark.usefixtures("backend")
def test_roots_are_those_that_made_it() -> None:
    made = anp.poly(anp.asarray(ROOTS))
    np.testing.assert_allclose(np.asarray(made), [1, -1.5, -5.5, 3], rtol=1e-6)
    np.testing.assert_allclose(np.sort(np.asarray(anp.roots(made)).real), ROOTS, atol=1e-4)
    # Zeros in front are none, zeros at the back are roots at 0.
    padded = anp.concatenate([anp.zeros(2), made, anp.zeros(1)])
    found = np.sort(np.asarray(anp.roots(padded)).real)
    np.testing.assert_allclose(found, [-2, 0, 0.5, 3], atol=1e-4)
    assert anp.roots(anp.zeros(2)).shape == (0,)
    compiled = ap.jit(lambda p: anp.roots(p, strip_zeros=False))(made)
    np.testing.assert_allclose(np.sort(np.asarray(compiled).real), ROOTS, atol=1e-4)
    with ap.use_backend("numpy"):  # another than that of the coefficients
        found = np.sort(np.asarray(anp.roots(made)).real)
    np.testing.assert_allclose(found, ROOTS, atol=1e-4)


@pytest.mark.usefixtures("backend")
def test_characteristic_polynomial() -> None:
    found = anp.poly(anp.array([[2.0, 1.0], [1.0, 2.0]]))
    np.testing.assert_allclose(np.asarray(found), [1, -4, 3], atol=1e-5)


@pytest.mark.usefixtures("backend")
def test_fit_is_numpys() -> None:
    x, w = np.arange(6, dtype=np.float32), np.array([1, 2, 1, 2, 1, 2], np.float32)
    y = np.stack([x**2 - x, np.cos(x)], 1)
    wanted, spread = np.polyfit(x, y[:, 1], 2, w=w, cov=True)
    found, ours = anp.polyfit(anp.asarray(x), anp.asarray(y[:, 1]), 2, w=anp.asarray(w), cov=True)
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(np.asarray(ours), spread, rtol=1e-2)
    both = anp.polyfit(anp.asarray(x), anp.asarray(y), 2)
    np.testing.assert_allclose(np.asarray(both), np.polyfit(x, y, 2), atol=1e-3)
    with pytest.raises(ValueError, match="more points than coefficients"):
        anp.polyfit(anp.asarray(x[:3]), anp.asarray(x[:3]), 2, cov=True)


@pytest.mark.usefixtures("backend")
def test_sums_of_polynomials_of_different_degrees() -> None:
    x, y = anp.array([1, 2, 3]), anp.array([10])
    assert anp.polyadd(y, x).tolist() == [1, 2, 13]
    assert anp.polysub(y, x).tolist() == [-1, -2, 7]
    assert anp.polysub(x, anp.array([True])).tolist() == [1, 2, 2]
