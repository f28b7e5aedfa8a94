"""How a program is run: as it stands, and compiled; on every backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import arrayport as ap

Run = Callable[[Callable[..., Any]], Callable[..., Any]]


def eager(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


@pytest.fixture(params=[eager, ap.jit], ids=["eager", "jit"])
def run(request: pytest.FixtureRequest) -> Run:
    """Leave a function as it is, or compile it."""
    return request.param


@pytest.fixture
def close() -> Callable[..., None]:
    """Compare each leaf with its place among what is expected, by shape and by value."""

    def compare(found: Any, expected: Any, rtol: float = 1e-5, atol: float = 1e-5) -> None:
        leaves, structure = ap.tree.flatten(found)
        assert leaves
        for x, y in zip(leaves, structure.flatten_up_to(expected), strict=True):
            assert np.shape(x) == np.shape(y)
            np.testing.assert_allclose(np.asarray(x), y, rtol=rtol, atol=atol)

    return compare


@pytest.fixture
def run_heavy(run: Run) -> Run:
    """Do the same, where a program has so many operations that JAX had better compile them all."""
    return run


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave heavy programs out that JAX would run, and so compile, operation by operation."""
    given = {id(item): getattr(item, "callspec", None) for item in items}
    left_out = [
        item
        for item in items
        if "run_heavy" in getattr(item, "fixturenames", ())
        and (given[id(item)].params["backend"], given[id(item)].params["run"]) == ("jax", eager)
    ]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def digits() -> tuple[np.ndarray, ...]:
    """Give 1,437 training images in [0, 1], (n, 64), and their labels; then 360 for testing."""
    images, labels = load_digits(return_X_y=True)
    images, labels = (images / 16).astype(np.float32), labels.astype(np.int32)
    image, test_image, label, test_label = train_test_split(
        images, labels, test_size=0.2, random_state=0
    )
    return image, label, test_image, test_label
