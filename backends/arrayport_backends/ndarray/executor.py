"""Executor: a Program as straight-line calls of kernels that reuse dead buffers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

from arrayport.core import profile
from arrayport.core.config import config
from arrayport.core.lazy import Lazy
from arrayport.core.primitive import UNCOMMON, Callback, Holder, Primitive
from arrayport.core.program import Atom, Literal, Program, Var
from arrayport.passes.optimise import optimise
from arrayport.passes.source import Step, straight
from arrayport_backends.ndarray.bases import without_bases
from arrayport_backends.ndarray.kernels import Kernel, widened
from arrayport_backends.ndarray.transposes import without_transposes

if TYPE_CHECKING:
    from arrayport_backends.ndarray.backend import ArrayBackend

logs = Lazy("logging")
# Runs after which Python source pays: it costs 15 us an equation and saves 0.3 us a run.
WARM = 20
WORTH_REUSE = 16384  # bytes from which writing into a dead buffer beats a new one


@dataclass(frozen=True, eq=False)
class Routine:
    """Equations that became one function, in the place of a primitive: it makes its own buffers."""

    run: Callable[..., list[Any]]
    name: str = "compiled"


class Executor:
    """A compiled Program: `run(*raws)` gives raw outputs; `owned` inputs may be overwritten."""

    warm = WARM
    silent = False  # whether a run calls nothing that could warn

    def __init__(self, backend: ArrayBackend, program: Program, owned: Sequence[Var] = ()) -> None:
        self.backend = backend
        self.owned = owned
        known = program.derived.get(backend) if profile.recording is not None else None
        self.runs: int = known.runs if isinstance(known, Executor) else 0
        self.run: Callable[..., list[Any]] = self.interpret
        self.plan(self.prepare(program))

    def prepare(self, program: Program) -> Program:
        """The Program, or one that it holds, as it is run."""
        return optimise(without_transposes(without_bases(program)), self.backend)

    def plan(self, program: Program) -> None:
        """Decide on the steps."""
        self.program = program
        self.numbers: dict[Atom, int] = {}
        self.literals: dict[int, Any] = {}
        self.n_ins = len(program.ins)
        for v in program.ins:
            self.number(v)
        planner = Planner(self, self.owned)
        self.steps = planner.steps
        self.separate = planner.separate(self.owned)
        self.outs = [self.number(a) for a in program.outs]

    def __call__(self, *raws: Any) -> list[Any]:
        return self.run(*raws)

    def number(self, a: Atom) -> int:
        """The slot of a value."""
        found = self.numbers.get(a)
        if found is None:
            found = self.numbers[a] = len(self.numbers)
            if type(a) is Literal:
                self.literals[found] = self.backend.operand(a.value.raw)
        return found

    def interpret(self, *raws: Any) -> list[Any]:
        """Run step by step; after some runs, compile to source."""
        self.runs += 1
        if self.runs > self.warm:
            start = time.perf_counter()
            with profile.span("compile", "compiler"):
                self.run = self.compiled()
            if config.log_compiles:
                took = time.perf_counter() - start
                logs.getLogger("arrayport.jit").warning(
                    "compiled %d equations in %.2g s", len(self.program.eqns), took
                )
            return self.run(*raws)
        values: list[Any] = [None] * len(self.numbers)
        values[: self.n_ins] = raws
        for i, raw in self.literals.items():
            values[i] = raw
        for step in self.steps:
            args = [values[i] for i in step.ins]
            if step.into is None:
                made = step.kernel(*args, **step.params)
            else:
                made = step.kernel(*args, out=values[step.into], **step.params)
            if step.many:
                for i, m in zip(step.outs, made, strict=True):
                    values[i] = m
            else:
                values[step.outs[0]] = made
            for i in step.dead:
                values[i] = None
        array = self.backend.array
        return [array(values[i]) for i in self.outs]

    def compiled(self) -> Callable[..., list[Any]]:
        """The same steps as Python source: nothing is paid for an equation but its kernel."""
        backend = self.backend
        return straight(
            self.n_ins, self.literals, self.steps, self.outs, backend.raw_type, backend.array
        )


class Planner:
    """Decides, once, what each step calls and where it writes.

    A buffer is ours if an elementwise or an in-place kernel of this Program made it, or if an owned
    input brought it. Views share their operand's buffer. One that is ours and that nothing reads
    after a step may take its answer.
    """

    def __init__(self, executor: Executor, owned: Sequence[Var]) -> None:
        self.executor = executor
        self.rows = executor.backend.rows
        program = executor.program
        self.ours: set[Atom] = {v for v in owned if v in program.ins}
        self.roots: dict[Atom, Atom] = {}  # a view -> the value whose buffer it shares
        self.repeats: set[Atom] = set()  # views whose elements may share their places
        self.last_read: dict[Atom, int] = {}
        # Of a buffer: the last step that reads it or a view of it.
        self.last_alive: dict[Atom, int] = {}
        for i, (prim, ins, _, outs) in enumerate(program.eqns):
            if ins and getattr(self.rows.get(prim), "view", False):
                self.roots.update(dict.fromkeys(outs, self.root(ins[0])))
                if ins[0] in self.repeats or prod(outs[0].shape) > prod(ins[0].shape):
                    self.repeats.update(outs)
            for a in (*ins, *outs):
                self.last_read[a] = self.last_alive[self.root(a)] = i
        for a in program.outs:
            self.last_read[a] = self.last_alive[self.root(a)] = len(program.eqns)
        self.steps = [self.step(i, *eqn) for i, eqn in enumerate(program.eqns)]

    def separate(self, owned: Sequence[Var]) -> bool:
        """Whether the outputs in place of the owned inputs come in buffers of ours, one each."""
        outs = self.executor.program.outs
        buffers = [self.root(o) for o in outs]
        return self.repeats.isdisjoint(outs[: len(owned)]) and all(
            buffers.count(b) == 1 and b in self.ours for b in buffers[: len(owned)]
        )

    def root(self, a: Atom) -> Atom:
        """The value whose buffer a value shares: its own, unless it is a view."""
        return self.roots.get(a, a)

    def step(
        self,
        i: int,
        prim: Primitive | Routine,
        ins: Sequence[Atom],
        params: dict[str, Any],
        outs: Sequence[Var],
    ) -> Step:
        """The step of equation i."""
        if isinstance(prim, Routine):
            self.ours.update(outs)
            return self.made(i, prim.name, prim.run, ins, {}, outs, many=True)
        backend = self.executor.backend
        kernel = backend.kernel(prim)
        row = self.rows[prim]
        assert isinstance(row, Kernel)  # a Refusal has no kernel
        into = None
        if isinstance(prim, Holder | Callback):  # what it runs may keep an operand, or give it back
            self.ours.difference_update(map(self.root, ins))
        found = [a.dtype for a in (*ins, *outs)]
        if any(d.num >= UNCOMMON for d in found) and backend.widens(prim, found):
            kernel = widened(backend.lib, kernel, [v.dtype for v in outs], prim.many)
        elif row.inplace is not None:
            if self.may_overwrite(ins[0], ins[1:], i):
                kernel = partial(row.inplace, backend.lib)
            self.ours.update(outs)
        elif row.ufunc:
            into = next(
                (a for a in ins if self.fits(a, outs[0]) and self.may_overwrite(a, (), i)), None
            )
            self.ours.update(outs)
        return self.made(i, prim.name, kernel, ins, params, outs, many=prim.many, into=into)

    def made(
        self,
        i: int,
        name: str,
        kernel: Callable[..., Any],
        ins: Sequence[Atom],
        params: dict[str, Any],
        outs: Sequence[Var],
        *,
        many: bool,
        into: Atom | None = None,
    ) -> Step:
        """Step i, by slots."""
        if profile.recording is not None:
            kernel = profile.timed(kernel, name, "kernel")
        dead = {a for a in (*ins, *outs) if type(a) is Var and self.last_read[a] == i}
        number = self.executor.number
        return Step(
            kernel=kernel,
            params=params,
            ins=tuple(map(number, ins)),
            outs=tuple(map(number, outs)),
            dead=tuple(map(number, dead)),
            many=many,
            into=None if into is None else number(into),
        )

    def may_overwrite(self, a: Atom, others: Sequence[Atom], i: int) -> bool:
        """Whether a's buffer is ours, dies at step i, and no other operand shares it."""
        r = self.root(a)
        return (
            r in self.ours
            and a not in self.repeats
            and self.last_alive[r] == i
            and all(self.root(o) is not r for o in others)
        )

    def fits(self, a: Atom, out: Var) -> bool:
        """Whether a's buffer, whole, can take an answer, and is large enough for that to pay."""
        whole = a.shape == out.shape and a.dtype == out.dtype and self.root(a) is a
        return whole and prod(a.shape) * a.dtype.itemsize >= WORTH_REUSE
