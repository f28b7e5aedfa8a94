"""Arguments that are chosen by number: `argnums` and its kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def numbers_of(argnums: int | Sequence[int]) -> tuple[int, ...]:
    """Give the numbers as a tuple."""
    return (argnums,) if isinstance(argnums, int) else tuple(argnums)


def of_chosen(
    fun: Callable[..., Any], numbers: Sequence[int], args: Sequence[Any]
) -> Callable[..., Any]:
    """Make the function of the arguments with these numbers; the others are given."""

    def function(*chosen: Any, **kwargs: Any) -> Any:
        full = list(args)
        for n, x in zip(numbers, chosen, strict=True):
            full[n] = x
        return fun(*full, **kwargs)

    return function
