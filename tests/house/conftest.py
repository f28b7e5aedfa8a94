"""How the tests of the house run its tools and find its files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("arrayport", "backends", "conformance")
ROOMS = (*PACKAGES, "tests", "benchmarks", "docs", "examples")


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def sources() -> list[Path]:
    """List every Python file of the house."""
    return sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


@pytest.fixture(scope="session")
def passes() -> Callable[..., str]:
    """Run Python at the root with these arguments: what it printed, or a failure that says so."""

    def run(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.fail(f"{' '.join(arguments)}\n{done.stdout}{done.stderr}", pytrace=False)
        return done.stdout

    return run
