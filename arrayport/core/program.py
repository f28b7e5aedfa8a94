"""Program, the typed SSA form that tracing makes: its printer, checker and interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arrayport.core import profile
from arrayport.core.array import Array, Aval, aval_of
from arrayport.core.backend import use_backend
from arrayport.core.contexts import within
from arrayport.core.errors import ProgramError, replaying
from arrayport.core.primitive import (
    Callback,
    Collective,
    Holder,
    Primitive,
    axes_named,
    out_avals,
)
from arrayport.core.trace import EVAL, stage_into

if TYPE_CHECKING:
    from arrayport.core.backend import Backend


class Var:
    """A value that a Program names: known by its shape, dtype and weakness."""

    __slots__ = ("dtype", "shape", "weak")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], weak: bool = False) -> None:
        self.shape = shape
        self.dtype = dtype
        self.weak = weak

    aval = property(aval_of)


class Literal:
    """A concrete array in a Program."""

    __slots__ = ("value",)

    def __init__(self, value: Array) -> None:
        self.value = value

    @property
    def shape(self) -> tuple[int, ...]:
        """Extent of each axis."""
        return self.value.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type."""
        return self.value.dtype

    @property
    def weak(self) -> bool:
        """Whether the dtype is weak."""
        return self.value.weak

    aval = property(aval_of)


Atom = Var | Literal


class Eqn(NamedTuple):
    """One application of a primitive."""

    prim: Primitive
    ins: tuple[Atom, ...]
    params: dict[str, Any]
    outs: tuple[Var, ...]

    @property
    def primitive(self) -> Primitive:
        """What a jaxpr's equation calls its primitive."""
        return self.prim

    @property
    def invars(self) -> tuple[Atom, ...]:
        """What a jaxpr's equation calls its operands."""
        return self.ins

    @property
    def outvars(self) -> tuple[Var, ...]:
        """What a jaxpr's equation calls its answers."""
        return self.outs

    @property
    def effect(self) -> bool:
        """Whether it does something besides making its outputs."""
        if isinstance(self.prim, Callback):
            return self.prim.effect
        return isinstance(self.prim, Holder) and any(
            program.effect for program in inner_programs(self.params)
        )


class PlacedEqn(Eqn):
    """An equation that knows the user's line that wrote it."""

    line: str = ""


class Program:
    """Equations in order, without free variables; what is made from a Program is kept with it.

    `eval_program` is its definition; a backend's `compile` makes the same function of raw values
    quick.
    """

    __slots__ = ("derived", "eqns", "ins", "outs")

    def __init__(self, ins: Iterable[Var], eqns: Iterable[Eqn], outs: Iterable[Atom]) -> None:
        self.ins = tuple(ins)
        self.eqns = tuple(eqns)
        self.outs = tuple(outs)
        self.derived: dict[Any, Any] = {}

    # What a jaxpr, closed or not, calls them.
    invars = property(attrgetter("ins"))
    outvars = property(attrgetter("outs"))
    constvars = consts = ()

    @property
    def jaxpr(self) -> Program:
        """Itself: its constants are literals."""
        return self

    @property
    def in_avals(self) -> list[Aval]:
        """Types of the inputs."""
        return [aval_of(v) for v in self.ins]

    @property
    def out_avals(self) -> list[Aval]:
        """Types of the outputs."""
        return [aval_of(v) for v in self.outs]

    @property
    def axes(self) -> frozenset[Any]:
        """Names of the mapped axes that its collectives use."""
        return self.derive("axes", self._axes)

    def _axes(self) -> frozenset[Any]:
        own = [e.params["axes"] for e in self.eqns if isinstance(e.prim, Collective)]
        held = [axes_named(e.params) for e in self.eqns if isinstance(e.prim, Holder)]
        return frozenset().union(*own, *held)

    @property
    def effect(self) -> bool:
        """Whether one of its equations has an effect."""
        return self.derive("effect", lambda: (any(e.effect for e in self.eqns),))[0]

    def derive(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` gives, made once: executors, derivatives, batched versions."""
        found = self.derived.get(key)
        if found is None:
            found = self.derived[key] = make()
        return found

    def run(self, backend: Backend) -> Callable[..., list[Any]]:
        """The executor of this Program on a backend: raw values in, raw values out."""
        if _interpreting.get():
            return Interpreter(self, backend)
        if profile.recording is not None:
            return self.derive(("recorded", backend), lambda: backend.compile(self))
        found = self.derived.get(backend)
        if found is None:
            found = self.derived[backend] = backend.compile(self)
        return found

    def __str__(self) -> str:
        return show(self)

    __repr__ = __str__


def eval_program(program: Program, args: Sequence[Array]) -> list[Array]:
    """The meaning of a Program: bind its equations one by one."""
    env: dict[Atom, Array] = dict(zip(program.ins, args, strict=True))

    def read(a: Atom) -> Array:
        return a.value if type(a) is Literal else env[a]

    for eqn in program.eqns:
        prim, ins, params, outs = eqn
        if type(eqn) is PlacedEqn:
            with replaying(eqn.line):
                out = prim.bind(*[read(a) for a in ins], **params)
        else:
            out = prim.bind(*[read(a) for a in ins], **params)
        env.update(zip(outs, out if prim.many else (out,), strict=True))
    return [read(a) for a in program.outs]


_interpreting: ContextVar[bool] = ContextVar("interpreting", default=False)


def interpreting() -> AbstractContextManager[bool]:
    """Let Programs run by their definition, one operation after the other, as eager calls do."""
    return within(_interpreting, True)


def interprets() -> bool:
    """Whether Programs run by their definition."""
    return _interpreting.get()


class Interpreter:
    """A Program by its definition, in the place of an executor."""

    separate = False  # it overwrites nothing
    silent = False

    def __init__(self, program: Program, backend: Backend) -> None:
        self.program = program
        self.backend = backend

    def run(self, *raws: Any) -> list[Any]:
        """Give raw outputs for raw inputs."""
        given = zip(raws, self.program.ins, strict=True)
        with use_backend(self.backend), stage_into(EVAL):
            outs = eval_program(self.program, [Array(raw, v.weak) for raw, v in given])
        return [out.raw for out in outs]

    __call__ = run


def check_program(program: Program) -> Program:
    """Raise ProgramError unless names are made once, before they are read, as typed."""
    known: set[Atom] = set(program.ins)
    if len(known) != len(program.ins):
        raise ProgramError("an input is named twice")
    for prim, ins, params, outs in program.eqns:
        for a in ins:
            if type(a) is Var and a not in known:
                raise ProgramError(f"{prim.name} reads a value that nothing before it makes")
        said, made = out_avals(prim, ins, params), [aval_of(v) for v in outs]
        if said != made:
            raise ProgramError(
                f"{prim.name} states {[str(a) for a in said]} but its equation has "
                f"{[str(a) for a in made]}"
            )
        for v in outs:
            if v in known:
                raise ProgramError(f"{prim.name} makes a value that is there already")
            known.add(v)
        for inner in inner_programs(params):
            check_program(inner)
    for a in program.outs:
        if type(a) is Var and a not in known:
            raise ProgramError("an output is made by nothing")
    return program


def inner_programs(params: dict[str, Any]) -> list[Program]:
    """The Programs among a primitive's parameters."""
    found = []
    for value in params.values():
        if isinstance(value, Program):
            found.append(value)
        elif isinstance(value, tuple):
            found += [v for v in value if isinstance(v, Program)]
    return found


def show(program: Program, indent: str = "") -> str:
    """Print a Program, one equation a line."""
    names: dict[Atom, str] = {}

    def name(a: Atom) -> str:
        if type(a) is Literal:
            raw = a.value.__array__()
            return str(raw.item()) if not raw.shape else f"constant:{aval_of(a)}"
        if a not in names:
            names[a] = _letters(len(names))
        return names[a]

    def typed(v: Atom) -> str:
        return f"{name(v)}:{aval_of(v)}"

    def param(value: Any) -> str:
        if isinstance(value, Program):
            return "{\n" + show(value, indent + "    ") + f"\n{indent}  }}"
        if isinstance(value, tuple) and any(isinstance(v, Program) for v in value):
            return "(" + ", ".join(map(param, value)) + ")"
        return getattr(value, "__name__", None) or str(value)

    lines = [f"{indent}lambda {' '.join(map(typed, program.ins))}:"]
    for prim, ins, params, outs in program.eqns:
        inside = f"[{' '.join(f'{k}={param(v)}' for k, v in params.items())}]" if params else ""
        made, read = " ".join(map(typed, outs)), " ".join(map(name, ins))
        lines.append(f"{indent}  {made} = {prim.name}{inside} {read}".rstrip())
    return "\n".join([*lines, f"{indent}  return {', '.join(map(name, program.outs))}"])


def _letters(n: int) -> str:
    text = ""
    n += 1
    while n:
        n, digit = divmod(n - 1, 26)
        text = chr(97 + digit) + text
    return text
