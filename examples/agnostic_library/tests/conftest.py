"""A fixture that gives each test the arrays of every backend present."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import arrayport as ap
import arrayport.numpy as anp

BACKENDS = sorted({device.backend for device in anp.__array_namespace_info__().devices()})


@pytest.fixture(params=BACKENDS)
def asarray(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """Make a backend's own array, as a caller who has never heard of arrayport would hold it."""

    def make(values: Any) -> Any:
        with ap.use_backend(request.param):
            return anp.asarray(values, dtype=anp.float32).native

    return make
