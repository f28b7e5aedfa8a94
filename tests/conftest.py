"""The backends on which tests run: those of ARRAYPORT_TEST_BACKENDS, else all that are present."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

import arrayport as ap

ASKED = os.environ.get("ARRAYPORT_TEST_BACKENDS", "")
PRESENT = ["numpy", "cupy-sim", *(["jax"] if find_spec("jax") else [])]
BACKENDS = [name.strip() for name in ASKED.split(",")] if ASKED else PRESENT


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Send the work of a test to one backend after the other."""
    with ap.use_backend(request.param):
        yield request.param
