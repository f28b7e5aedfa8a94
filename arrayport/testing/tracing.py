"""How often a function is traced: each time anew costs a compilation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def assert_max_traces(function: Callable[..., Any], n: int = 1) -> Callable[..., Any]:
    """Make a function that raises AssertionError when Python runs it more than n times.

    What `jit` makes of it runs as Python only to be traced, so that arguments which make it trace
    again, such as a new shape or a Python number that should be an array, are found.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> f = ap.jit(assert_max_traces(lambda x: x + 1))
    >>> f(anp.zeros(2)), f(anp.ones(2))
    (Array([1., 1.], dtype=float32), Array([2., 2.], dtype=float32))
    """
    seen: list[str] = []

    @functools.wraps(function)
    def counted(*args: Any, **kwargs: Any) -> Any:
        seen.append(", ".join(map(repr, args)))
        if len(seen) > n:
            raise AssertionError(
                f"{getattr(function, '__name__', 'the function')} was traced {len(seen)} times, "
                f"with {'; then '.join(seen)}: at most {n} were expected"
            )
        return function(*args, **kwargs)

    return counted
