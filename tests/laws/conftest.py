"""Laws hold with 64-bit types on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import arrayport as ap


@pytest.fixture(autouse=True)
def _wide() -> Iterator[None]:
    with ap.config.override("enable_x64", True):
        yield
