"""The smoothers under transformations: alike on every backend, smooth, compiled once."""

from __future__ import annotations

from typing import Any

import pytest
import smoothers
from hypothesis import strategies as st

import arrayport as ap
from arrayport.testing import (
    assert_equivalent,
    assert_max_traces,
    assert_no_transfer,
    check_grads,
    strategies,
)

SERIES = strategies.arrays("float32", shape=(6,), elements=st.floats(-4, 4, width=16))


def test_every_backend_agrees() -> None:
    """Eager, compiled, batched and differentiated, on whichever backends are installed."""
    assert_equivalent(lambda s: smoothers.exponential(s, 0.25), SERIES, max_examples=5)
    laws = ["value", "jit", "vmap"]  # equal values in a window: a median has no one gradient
    assert_equivalent(lambda s: smoothers.median(s, 3), SERIES, laws=laws, max_examples=5)


def test_the_derivative_is_right(xp: Any) -> None:
    check_grads(lambda s: smoothers.exponential(s, 0.3), (xp.linspace(-1, 1, 5),), order=1)


def test_one_compilation_serves_all_series(xp: Any) -> None:
    smooth = ap.jit(assert_max_traces(lambda s: smoothers.exponential(s, 0.3), 1))
    for start in (0.0, 1.0, 2.0):
        smooth(xp.linspace(start, 1, 5))


def test_nothing_waits_for_the_device(xp: Any) -> None:
    with assert_no_transfer():
        smoothers.median(xp.linspace(-1, 1, 7), 3)
        smoothers.line(xp.linspace(-1, 1, 7), xp.linspace(1, 3, 7))


@pytest.mark.requires(backend="cupy-sim")
def test_simulated_cupy_is_a_gpu(xp: Any) -> None:
    assert smoothers.median(xp.ones(3), 3).device.platform == "gpu"
