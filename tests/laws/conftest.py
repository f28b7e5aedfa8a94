"""Laws hold with 64-bit types on, and for machine code: it is made at the first run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from arrayport_backends.numpy import compiler

import arrayport as ap


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(compiler, "COMPILING", 0)
    with ap.config.override("enable_x64", True):
        yield
