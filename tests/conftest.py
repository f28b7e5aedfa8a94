"""The backends on which tests run: those of ARRAYPORT_TEST_BACKENDS, else all that are present."""

from __future__ import annotations

import os
import sys
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


KEPT = 400  # tests after which JAX forgets what it compiled, which would fill the memory
_ran = 0


def pytest_runtest_teardown() -> None:
    """Let JAX forget its compiled programs from time to time."""
    global _ran  # noqa: PLW0603 - a count over the whole run
    _ran += 1
    if _ran % KEPT == 0 and "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
