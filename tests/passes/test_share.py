"""Equations are shared only if they mean the same."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp

pytestmark = pytest.mark.usefixtures("own_backend")  # XLA loses the sign of a zero constant


def test_zeros_of_both_signs_are_two_constants():
    zero, minus = ap.jit(lambda: (anp.full(5000, 0.0), anp.full(5000, -0.0)))()
    assert not np.signbit(np.asarray(zero)).any()
    assert np.signbit(np.asarray(minus)).all()


def test_fill_values_of_both_signs():
    @ap.jit
    def read(x):
        outside = anp.asarray([9])
        return [x.at[outside].get(mode="fill", fill_value=v) for v in (0.0, -0.0, np.nan)]

    zero, minus, nan = map(np.asarray, read(anp.arange(3.0)))
    assert not np.signbit(zero).any()
    assert np.signbit(minus).all()
    assert np.isnan(nan).all()
