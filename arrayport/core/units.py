"""Units: functions of many operations that a native engine runs as one compiled program."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from numpy import ndarray

from arrayport.core import dtypes, memory
from arrayport.core.array import Array, Tracer
from arrayport.core.backend import Backend, ambient, by_type
from arrayport.core.trace import EVAL, current_stage, route
from arrayport.core.tree import tree_leaves

P = ParamSpec("P")
R = TypeVar("R")


# How NumPy's functions, asked on Arrays, make operands of lists and what else has numbers in it.
converter: ContextVar[Callable[[Any], Array] | None] = ContextVar("converter", default=None)


class _Ours(dict[type, bool]):
    """Whether a class is of what our engine is given while no other is ambient."""

    def __missing__(self, cls: type) -> bool:
        found = issubclass(cls, HOST)
        if not found:
            backend = by_type(cls)
            found = backend is not None and backend.native is None
        self[cls] = found
        return found


HOST = (Tracer, ndarray, bool, int, float, complex, str, type(None))
OURS = _Ours()
TAKEN = frozenset({Array, ndarray, bool, int, float, complex, type(None)})
FIXED = frozenset({bool, int, str, type(None)})  # the usual classes of what is no operand
INTEGERS = range(-(2**31), 2**31)  # of 32 bits, and floats of 64
SMALL = range(2**7)  # the integers that every dtype holds


class Program:
    """A function as one program of a backend's engine: which calls it takes, and the call."""

    def __init__(
        self, fun: Callable[..., Any], operands: tuple[str, ...], backend: Backend, *, inline: bool
    ) -> None:
        parameters = inspect.signature(fun).parameters
        names = list(parameters)
        last = max(map(names.index, operands))
        starred = parameters[names[last]].kind is inspect.Parameter.VAR_POSITIONAL
        self.backend = backend
        self.operands = frozenset(operands)
        self.numbers = frozenset(map(names.index, operands))
        self.rest = last if starred else sys.maxsize  # from where on all are operands
        fixed = [name for name in names if name not in operands]
        self.call: Callable[..., Any] = backend.native.unit(fun, fixed, inline=inline)
        self.classes: set[type] = set()  # of its arrays, so far

    def is_usual(self, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
        """Whether it takes a call, quickly: no for one that `takes` has to look at."""
        numbers, rest, classes = self.numbers, self.rest, self.classes
        for i, x in enumerate(args):
            cls = type(x)
            if i in numbers or i >= rest:
                if cls is Array:
                    cls = type(x.raw)
                if cls not in classes and cls is not float and (cls is not int or x not in SMALL):
                    return False
            elif cls not in FIXED:
                return False
        for name, x in kwargs.items():
            if type(x) not in FIXED or name in self.operands:
                return False
        return True

    def takes(self, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
        """Whether it takes a call; remembers the classes of the arrays if so."""
        numbers, rest, operands = self.numbers, self.rest, self.operands
        given = [a for i, a in enumerate(args) if i in numbers or i >= rest]
        given += [a for name, a in kwargs.items() if name in operands]
        if converter.get() and any(isinstance(x, list | tuple) for x in given):
            return False  # a program for lists of arrays is not one for lists as arrays
        given = tree_leaves(given)
        fixed = [a for i, a in enumerate(args) if i not in numbers and i < rest]
        fixed += [a for name, a in kwargs.items() if name not in operands]
        arrays = [x for x in given if type(x) is Array]
        if (
            kwargs.get("device") is not None  # which may be another backend's
            or not all(type(x) in TAKEN or self.backend.owns(type(x)) for x in given)
            or not all(_fits(x, arrays) for x in given if type(x) is int)
            or not _hashable(fixed)
        ):
            return False
        found = {type(x.raw) if type(x) is Array else type(x) for x in given}
        self.classes.update(cls for cls in found if self.backend.owns(cls))
        return True


def unit(*operands: str, inline: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a backend with an engine of its own do all that a function does in one eager call.

    Step by step each operation would be a call of that engine, which costs as much as the whole.
    `operands` names the parameters that a program takes, sequences of arrays and the last, starred
    one among them; it is a program for the values of the others.
    In a trace of that engine the program is called, too, as JAX's own functions do, or with
    `inline` is part of what is traced. On other backends and for a call that no program can take,
    the function runs as it is.
    """

    def of(fun: Callable[P, R]) -> Callable[P, R]:
        programs: dict[Backend, Program] = {}
        usual: dict[type, Program] = {}  # by the class of the first argument

        @wraps(fun)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if ambient().native is None:  # the common case, quickly
                for x in args:
                    if not OURS[type(x.raw) if type(x) is Array else type(x)]:
                        break
                else:
                    return fun(*args, **kwargs)
            if current_stage() is not EVAL or memory.on:  # which notes what each operation makes
                return fun(*args, **kwargs)
            first = args[0] if args else None
            cls = type(first.raw) if type(first) is Array else type(first)
            program = usual.get(cls)
            if program is not None and program.is_usual(args, kwargs):
                return program.call(args, kwargs)
            backend, engine = route(tree_leaves((args, kwargs)))
            if engine is None:
                return fun(*args, **kwargs)
            program = programs.get(backend)
            if program is None:
                program = programs[backend] = Program(fun, operands, backend, inline=inline)
            if not program.takes(args, kwargs):
                return fun(*args, **kwargs)
            if backend.owns(cls):
                usual[cls] = program
            return program.call(args, kwargs)

        return call

    return of


def _fits(number: int, arrays: Sequence[Array]) -> bool:
    """Whether an integer may become one of 32 bits, and then one of the arrays' dtypes."""
    if number in SMALL:
        return True
    own = [dtypes.iinfo(x.dtype) for x in arrays if dtypes.is_integer(x.dtype)]
    return number in INTEGERS and all(i.min <= number <= i.max for i in own)


def _hashable(values: Sequence[Any]) -> bool:
    try:
        hash(tuple(values))
    except TypeError:
        return False
    return True
