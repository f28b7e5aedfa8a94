"""Style and format hold everywhere, by ruff."""

from __future__ import annotations

from collections.abc import Callable


def test_ruff_finds_nothing(passes: Callable[..., str]):
    passes("-m", "ruff", "check")


def test_files_are_formatted(passes: Callable[..., str]):
    passes("-m", "ruff", "format", "--check")
