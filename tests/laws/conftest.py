"""How long the laws look: `--hypothesis-profile=deep` multiplies their examples."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

import arrayport as ap

ALWAYS = {
    "deadline": None,
    "derandomize": True,
    "database": None,
    "suppress_health_check": [HealthCheck.too_slow],
}
settings.register_profile("laws", max_examples=10, **ALWAYS)
settings.register_profile("deep", max_examples=100, **ALWAYS)


def pytest_configure(config: pytest.Config) -> None:
    """Take the short profile, unless the command line names one."""
    if not config.getoption("--hypothesis-profile"):
        settings.load_profile("laws")


@pytest.fixture(autouse=True)
def _wide() -> Iterator[None]:
    with ap.config.override("enable_x64", True):
        yield
