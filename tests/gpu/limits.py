"""A pytest plugin: once the time is up no further test begins, and those left out are counted."""

from __future__ import annotations

import os
import time

import pytest

SECONDS = float(os.environ.get("STOP_AFTER", "inf"))
_end = float("inf")


def pytest_collection_finish() -> None:
    """Count from here on: how long imports and collection take says nothing of the device."""
    global _end  # noqa: PLW0603 - a clock for the whole run
    _end = time.monotonic() + SECONDS


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Leave a test out that would begin too late."""
    if time.monotonic() > _end:
        pytest.skip("out of time")
