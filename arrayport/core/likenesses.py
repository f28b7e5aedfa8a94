"""How a function that calls another comes to look like it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

_NAMES = ("__name__", "__qualname__")


def wraps(fun: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Do as `functools.wraps`, where an object's own names need not be strings either.

    >>> class Module:
    ...     __name__ = None
    >>> wraps(Module())(lambda x: x).__name__
    '<lambda>'
    """
    odd = [name for name in _NAMES if not isinstance(getattr(fun, name, ""), str)]
    assigned = [name for name in functools.WRAPPER_ASSIGNMENTS if name not in odd]
    return functools.partial(functools.update_wrapper, wrapped=fun, assigned=assigned)
