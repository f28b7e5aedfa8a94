"""A fixture that gives each test the arrays of every backend, as callers hold them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def asarray(xp: Any) -> Callable[[Any], Any]:
    """Make a backend's own array, as a caller who has never heard of arrayport would hold it."""

    def make(values: Any) -> Any:
        return xp.asarray(values, dtype=xp.float32).native

    return make
