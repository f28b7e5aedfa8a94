"""Units: functions of many operations that a native engine runs as one compiled program."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from numpy import ndarray

from arrayport.control.jit import jit
from arrayport.core import memory
from arrayport.core.array import Array, Tracer
from arrayport.core.backend import Backend, ambient
from arrayport.core.tree import tree_leaves
from arrayport.transforms.engines import route

P = ParamSpec("P")
R = TypeVar("R")


class _Ours(dict[type, bool]):
    """Whether a class is of what our engine is given while nothing else is ambient."""

    def __missing__(self, cls: type) -> bool:
        found = self[cls] = issubclass(cls, HOST)
        return found


HOST = (Tracer, ndarray, bool, int, float, complex, str, type(None))
OURS = _Ours()
TAKEN = frozenset({Array, ndarray, bool, float, complex, type(None)})
INTEGERS = range(-(2**31), 2**31)  # those that need no check of what they are to become


def unit(*operands: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a backend with an engine of its own do all that a function does in one eager call.

    Step by step each operation would be a call of that engine, which costs as much as the whole.
    `operands` names the parameters that a program takes, sequences of arrays and the last, starred
    one among them; it is a program for the values of the others.
    In a trace of that engine the program is called, too, as JAX's own functions do. On other
    backends and for a call that no program can take, the function runs as it is.
    """

    def of(fun: Callable[P, R]) -> Callable[P, R]:
        @wraps(fun)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if ambient().native is None:  # the common case, quickly
                for x in args:
                    if not OURS[type(x.raw) if type(x) is Array else type(x)]:
                        break
                else:
                    return fun(*args, **kwargs)
            numbers, rest, program = _whole(fun, operands)
            given = [a for i, a in enumerate(args) if i in numbers or i >= rest]
            given += [a for name, a in kwargs.items() if name in operands]
            given = tree_leaves(given)
            backend, engine = route(given)
            if (
                engine is None
                or memory.on  # which notes what each operation makes
                or kwargs.get("device") is not None  # which may be another backend's
                or not _taken(given, backend)
            ):
                return fun(*args, **kwargs)
            fixed = [a for i, a in enumerate(args[:rest]) if i not in numbers]
            fixed += [a for name, a in kwargs.items() if name not in operands]
            return (program if _hashable(fixed) else fun)(*args, **kwargs)

        return call

    return of


@cache
def _whole(fun: Callable[P, R], operands: tuple[str, ...]) -> tuple[set[int], int, Callable[P, R]]:
    """Where a function's operands stand, from where on there are no others, and its program."""
    parameters = inspect.signature(fun).parameters
    names = list(parameters)
    numbers = {names.index(name) for name in operands}
    last = parameters[names[max(numbers)]]
    rest = max(numbers) if last.kind is last.VAR_POSITIONAL else sys.maxsize
    program = jit(fun, static_argnames=[name for name in names if name not in operands])
    return numbers, rest, program


def _taken(given: Sequence[Any], backend: Backend) -> bool:
    return all(
        x in INTEGERS if type(x) is int else type(x) in TAKEN or backend.owns(type(x))
        for x in given
    )


def _hashable(values: Sequence[Any]) -> bool:
    try:
        hash(tuple(values))
    except TypeError:
        return False
    return True
