"""What functions make of no elements: an answer where NumPy or JAX has one, else an error."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import random, scipy

pytestmark = pytest.mark.usefixtures("backend")


def test_what_is_read_of_an_empty_axis_is_nothing() -> None:
    none, rows = anp.zeros(0), anp.zeros((0, 3))
    assert anp.take_along_axis(rows.T, anp.zeros((3, 0), int), 1).shape == (3, 0)
    assert ap.grad(lambda x: anp.sort(x).sum())(none).shape == (0,)
    assert random.permutation(random.key(0), rows).shape == (0, 3)
    square = anp.zeros((0, 0))
    assert scipy.linalg.lu_solve(scipy.linalg.lu_factor(square), square).shape == (0, 0)


def test_what_is_written_to_an_empty_axis_is_dropped() -> None:
    places = np.array([0, 5])
    for x, key in ((anp.zeros((0, 3)), places), (anp.zeros((2, 0)), (np.array([0, 1]), places))):
        part = x.at[key]
        for out in (part.set(1.0), part.add(1.0), part.power(2.0), ap.jit(part.max)(1.0)):
            np.testing.assert_array_equal(out, x, strict=True)
        assert part.apply(anp.sin).shape == x.shape
    with pytest.raises(ValueError, match="broadcast"):
        anp.zeros((0, 3)).at[places].set(np.ones(7))
    assert ap.ops.segment_sum(anp.ones(2), places, num_segments=0).shape == (0,)


def test_quantiles_of_nothing() -> None:
    none, columns = anp.zeros(0), anp.zeros((3, 0))
    assert anp.median(columns, axis=0, keepdims=True).shape == (1, 0)
    assert anp.quantile(columns, np.array([0.1, 0.5], np.float32), axis=0).shape == (2, 0)
    assert anp.isnan(anp.nanmedian(none))
    assert anp.isnan(anp.nanpercentile(columns, 30, axis=1, keepdims=True)).tolist() == [[True]] * 3
    for function in (anp.median, lambda x: anp.percentile(x, 30)):
        with pytest.raises(ValueError, match="no elements"):
            function(none)


def test_statistics_and_sets_of_nothing() -> None:
    assert np.isnan(anp.cov(anp.zeros((2, 0)))).all()
    assert anp.unique(anp.zeros((3, 0)), size=2, axis=0).shape == (2, 0)
    np.testing.assert_array_equal(anp.polyval(anp.zeros((0, 3)), 2.0), np.zeros(3, np.float32))
    with pytest.raises(ValueError, match="empty"):
        anp.fft.rfft(anp.zeros((3, 0)))
