"""What is kept of a traced function, as long as the function lives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any
from weakref import WeakSet, ref

from arrayport.control.explaining import Signature
from arrayport.core.program import Program

KEPT = "__arrayport_traces__"  # where a function holds what is kept of it


class Traces:
    """What `jit` keeps of a function."""

    __slots__ = ("__weakref__", "fast", "natives", "programs", "quick", "signatures")

    def __init__(self) -> None:
        # Of NumPy Arrays as positional arguments.
        self.fast: dict[Any, tuple[Any, Any, Any, Sequence[int]]] = {}
        self.programs: dict[Any, tuple[Program, Any]] = {}
        self.natives: dict[Any, Any] = {}
        self.quick: dict[type, Callable[..., Any]] = {}  # of these by classes of raw arrays
        self.signatures: list[Signature] = []
        living.add(self)

    def clear(self) -> None:
        """Forget what was traced."""
        self.fast.clear()
        self.programs.clear()
        self.natives.clear()
        self.quick.clear()
        self.signatures.clear()


living: WeakSet[Traces] = WeakSet()


class Kept(dict[Any, Traces]):
    """What is kept of one function by options of `jit`; a copy, as of a pickle, is of none.

    The function is not held, so that it goes, with what it captured, when its last user does.
    """

    __slots__ = ("owner",)

    def __init__(self, owner: Callable[..., Any] | None = None) -> None:
        self.owner = None if owner is None else ref(owner)

    def __reduce__(self) -> tuple[type[Kept], tuple[()]]:
        return Kept, ()


def traces(fun: Callable[..., Any], options: dict[str, Any]) -> Traces:
    """One for all that `jit` makes of a function with equal options."""
    key = tuple([(k, tuple(v) if isinstance(v, list) else v) for k, v in options.items()])
    try:
        hash(key)
    except TypeError:  # such as shardings of a dict of arguments
        return Traces()
    if type(fun) is not FunctionType:
        return Traces()
    kept = vars(fun).setdefault(KEPT, Kept(fun))
    if kept.owner is None or kept.owner() is not fun:  # given with all that another one holds
        kept = vars(fun)[KEPT] = Kept(fun)
    made = kept.get(key)
    return made if made is not None else kept.setdefault(key, Traces())
