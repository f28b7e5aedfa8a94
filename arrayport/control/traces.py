"""What is kept of a traced function, as long as the function lives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any
from weakref import WeakSet

from arrayport.control.explaining import Signature, noting
from arrayport.core.program import Program

KEPT = "__arrayport_traces__"  # where a function holds what is kept of it


class Traces:
    """What `jit` keeps of a function."""

    __slots__ = ("__weakref__", "fast", "natives", "noted", "programs", "quick", "signatures")

    def __init__(self, fun: Callable[..., Any]) -> None:
        # Of NumPy Arrays as positional arguments.
        self.fast: dict[Any, tuple[Any, Any, Any, Sequence[int]]] = {}
        self.programs: dict[Any, tuple[Program, Any]] = {}
        self.natives: dict[Any, Any] = {}
        self.quick: dict[type, Callable[..., Any]] = {}  # of these by classes of raw arrays
        self.signatures: list[Signature] = []
        self.noted = noting(fun, self.signatures)
        living.add(self)

    def clear(self) -> None:
        """Forget what was traced."""
        self.fast.clear()
        self.programs.clear()
        self.natives.clear()
        self.quick.clear()
        self.signatures.clear()


living: WeakSet[Traces] = WeakSet()


def traces(fun: Callable[..., Any], options: dict[str, Any]) -> Traces:
    """One for all that `jit` makes of a function with equal options."""
    key = tuple([(k, tuple(v) if isinstance(v, list) else v) for k, v in options.items()])
    try:
        hash(key)
    except TypeError:  # such as shardings of a dict of arguments
        return Traces(fun)
    if type(fun) is not FunctionType:
        return Traces(fun)
    owner, found = vars(fun).setdefault(KEPT, (fun, {}))
    if owner is not fun:  # a wrapper was given all that its function holds
        owner, found = vars(fun)[KEPT] = fun, {}
    made = found.get(key)
    return made if made is not None else found.setdefault(key, Traces(fun))
