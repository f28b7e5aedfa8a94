"""The choice of engine: a call goes to the backend's own transformations, or is traced by ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from arrayport.core import leaks
from arrayport.core.array import Array
from arrayport.core.backend import ambient, enter, leave
from arrayport.core.trace import route
from arrayport.core.tree import tree_leaves

LOOPS = frozenset({"scan", "while_loop", "fori_loop", "cond", "switch", "map"})


def by_engine(
    own: Callable[..., Any], name: str, fun: Callable[..., Any], **options: Any
) -> Callable[..., Any]:
    """Make a transformed function that a native engine's `name` runs where there is one."""
    if not callable(fun):
        raise TypeError(f"{name} needs a function, not {type(fun).__name__}")
    natives: dict[Any, Callable[..., Any]] = {}

    def call(*args: Any, **kwargs: Any) -> Any:
        run = partial(leaks.checked, name, own) if leaks.on else own
        x = args[0] if len(args) == 1 and not kwargs else None
        if type(x) is Array and type(x.raw) is np.ndarray and ambient().name == "numpy":
            return run(x)  # the common case, quickly
        backend, engine = route(args if isinstance(x, Array) else tree_leaves((args, kwargs)))
        if engine is not None:
            made = natives.get(engine)
            if made is None:
                made = natives[engine] = getattr(engine, name)(fun, **options)
            return made(*args, **kwargs)
        token = enter(backend)
        try:
            return run(*args, **kwargs)
        finally:
            leave(token)

    call.__wrapped__ = fun  # type: ignore[attr-defined]  # functools.wraps costs four times this
    call.__name__ = str(getattr(fun, "__name__", name))
    call.__doc__ = getattr(fun, "__doc__", None)
    return call


def run_on_engine(
    name: str, own: Callable[..., Any], operands: Any, *args: Any, **options: Any
) -> Any:
    """Call a native engine's function `name` where the operands have one, else our own."""
    backend, engine = route(tree_leaves(operands))
    if engine is not None:
        return getattr(engine, name)(*args, **options)
    token = enter(backend)
    try:
        if leaks.on and name in LOOPS:
            return leaks.checked(name, own, *args, **options)
        return own(*args, **options)
    finally:
        leave(token)
