"""The three packages are strictly typed, by mypy."""

from __future__ import annotations

from collections.abc import Callable


def test_mypy_is_content(passes: Callable[..., str]):
    passes("-m", "mypy")
