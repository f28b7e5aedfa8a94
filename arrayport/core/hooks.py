"""The one typed hook by which core reaches what lies above it: Array's operators."""

from __future__ import annotations

from typing import Any, Protocol


class Operators(Protocol):
    """The functions that Array's operators and methods call by name: `arrayport.numpy`'s."""

    def __getattr__(self, name: str) -> Any: ...


operators: Operators


def install(namespace: Operators) -> None:
    """Set the hook; the NumPy face does so once, when it is imported."""
    global operators  # noqa: PLW0603 - this is the hook
    operators = namespace
