"""The compiler of Programs for this processor: nests become machine code, the rest stays calls."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import Any

from arrayport.control.checkpoint import checkpoint_p
from arrayport.control.loops import while_p
from arrayport.core.primitive import Callback, Holder, Primitive
from arrayport.core.program import Atom, Eqn, Program, Var, inner_programs
from arrayport.passes.fuse import Nest, fuse
from arrayport.passes.inline import inline
from arrayport_backends.ndarray import special
from arrayport_backends.ndarray.backend import ArrayBackend
from arrayport_backends.ndarray.control import trips
from arrayport_backends.ndarray.costs import PATIENCE
from arrayport_backends.ndarray.elements import Code, code_of
from arrayport_backends.ndarray.executor import Executor, Routine
from arrayport_backends.ndarray.kernels import Kernel
from arrayport_backends.ndarray.schedules import described, held, named
from arrayport_backends.numpy import blas, llvm, objects
from arrayport_backends.numpy.blocks import blocked, space
from arrayport_backends.numpy.codegen.convolutions import CONVOLUTIONS
from arrayport_backends.numpy.codegen.emitters import nbytes
from arrayport_backends.numpy.codegen.entry import Entry, Layout, builtin
from arrayport_backends.numpy.codegen.loops import HOLDERS
from arrayport_backends.numpy.codegen.matrices import STACKS
from arrayport_backends.numpy.codegen.segments import Maker, Translation, Unit
from arrayport_backends.numpy.codegen.updates import UPDATES
from arrayport_backends.numpy.llvm import ir
from arrayport_backends.numpy.pool import LARGE
from arrayport_backends.numpy.terms import in_other_terms, in_sums
from arrayport_backends.numpy.workers import SHARE, share

# Nanoseconds.
CALL = 1_000  # of an interpreted equation
COMPILING = 10_000_000
INSTRUCTION = 0.02  # of that
LOADING = 100_000_000  # SciPy's special functions, if they are not there yet

SPECIAL = "scipy.special"

# What is otherwise a call of a library.
OWN: Mapping[Primitive, Maker] = {**STACKS, **CONVOLUTIONS}
MAKERS: Mapping[Primitive, Maker] = {**HOLDERS, **UPDATES, **OWN}


class NumpyExecutor(Executor):
    """An executor that is interpreted until machine code has become worth making."""

    waits = False  # whether a loop in it goes on until its condition fails

    def __init__(self, backend: ArrayBackend, program: Program, owned: Sequence[Var] = ()) -> None:
        self.language = backend.language
        super().__init__(backend, program, owned)

    def plan(self, program: Program) -> None:
        super().plan(program)
        if not llvm.installed():
            if any(space(eqn, self.backend) for eqn in self.program.eqns):
                self.warm = 0
            return
        if objects.known(self.program, self.owned):
            self.warm = 0
            return
        self.reckon()

    def reckon(self) -> None:
        """Decide how often to interpret before machine code is made."""
        price, size = self.estimate(self.program)
        if price:
            self.warm = int(PATIENCE * COMPILING * (1 + INSTRUCTION * size) / price)

    def interpret(self, *raws: Any) -> list[Any]:
        outs = super().interpret(*raws)
        if self.waits and self.runs < self.warm and self.runs.bit_count() == 1:
            self.reckon()  # a loop told how long it is, which no Program says
        return outs

    def estimate(self, program: Program) -> tuple[float, float]:
        """Nanoseconds that a run takes, interpreted, of what could be compiled; its instructions.

        The instructions are counted as in the costs of equations.
        """
        price = size = 0.0
        for eqn in program.eqns:
            fusable = self.language.fusable(eqn)
            if fusable or eqn.prim in OWN:
                most = max(prod(a.shape) for a in (*eqn.ins, *eqn.outs))
                price += CALL + most * self.language.price(eqn)
                if eqn.prim in special.ROWS and SPECIAL not in sys.modules:
                    price += LOADING
            size += self.language.cost(eqn) if fusable else 0
            times = eqn.params.get("length", 1)
            if eqn.prim is while_p:
                self.waits, times = True, trips(eqn.params["body"]).mean
            for inner in inner_programs(eqn.params):
                found = self.estimate(inner)
                price += found[0] * times
                size += found[1]
        return price, size

    def compiled(self) -> Callable[..., list[Any]]:
        if not llvm.available():
            super().plan(blocked(self.program, self.backend))
        else:
            program = compiled(self.program, self)
            super().plan(program)
            if len(self.steps) == 1 and isinstance(program.eqns[0].prim, Routine):
                (step,) = self.steps
                self.silent = True
                if step.outs == tuple(self.outs) and step.ins == tuple(range(self.n_ins)):
                    return step.kernel
        return super().compiled()

    def prepare(self, program: Program) -> Program:
        def prepared() -> Program:
            whole = in_other_terms(inline(program, held), self.language.fusable)
            found = super(NumpyExecutor, self).prepare(whole)
            if llvm.installed():
                found = in_sums(found, self.language.fusable)
            return inline(found, self.run_again)

        return program.derive(("prepared", self.backend), prepared)

    def run_again(self, eqn: Eqn) -> Program | None:
        """What an equation runs that is not to share results with what is around it."""
        return self.prepare(eqn.params["program"]) if eqn.prim is checkpoint_p else None


@dataclass(frozen=True)
class Group:
    """Units that follow one another: all of them code, or all of them calls."""

    units: Sequence[Unit]
    native: bool
    wanted: AbstractSet[Atom]  # what of their answers is read after them


def groups(program: Program, executor: NumpyExecutor) -> tuple[list[Group], Code]:
    """The units of a Program, in order, and what they compute."""
    units = fuse(program, executor.language)
    code = code_of(program, units, executor.language)
    probe = translation(executor)
    runs = [
        (native, list(run))
        for native, run in groupby(units, lambda u: isinstance(u, Nest) or probe.native(u))
    ]
    found: list[Group] = []
    wanted: frozenset[Atom] = frozenset(program.outs)
    for native, run in reversed(runs):
        found.append(Group(run, native, wanted))
        wanted = wanted.union(*[u.reads if isinstance(u, Nest) else u.ins for u in run])
    return found[::-1], code


def compiled(program: Program, executor: NumpyExecutor) -> Program:
    """The Program with its nests and loops as compiled equations."""
    atoms = list(
        dict.fromkeys([*program.ins, *[a for e in program.eqns for a in (*e.ins, *e.outs)]])
    )

    def make() -> list[int | Piece]:
        parts = objects.kept(program, executor.owned, lambda: made(program, atoms, executor))
        return [part if isinstance(part, int) else loaded(atoms, *part) for part in parts]

    eqns = [
        program.eqns[part] if isinstance(part, int) else part.equation(atoms)
        for part in objects.again(program, executor.owned, make)
    ]
    return Program(program.ins, eqns, program.outs)


def made(program: Program, atoms: Sequence[Atom], executor: NumpyExecutor) -> list[Any]:
    """What becomes of a Program: numbers of its equations, and what `loaded` takes."""
    equations = {id(eqn): i for i, eqn in enumerate(program.eqns)}
    numbers = {a: i for i, a in enumerate(atoms)}
    found, code = groups(program, executor)
    free = overwritable(program, found, executor)
    last = unread(program, found)
    parts: list[Any] = []
    for group in found:
        if not group.native:
            parts += [equations[id(u)] for u in group.units]
            continue
        t = translation(executor)
        segment = t.segment(group.units, code, group.wanted, free, last)
        Entry(t.module, segment)
        ins, outs = ([numbers[a] for a in atoms] for atoms in (segment.reads, segment.stores))
        machine_code = llvm.assemble(str(t.module))
        calls = [name for name in (SHARE, *blas.CALLED) if name in t.module.globals]
        over = [(segment.reads.index(a), segment.stores.index(v)) for a, v in segment.over.items()]
        parts.append(
            (named(group.units, code), machine_code, ins, outs, segment.scratch, calls, over)
        )
    return parts


def unread(program: Program, found: Sequence[Group]) -> set[Atom]:
    """The answers that nothing in the Program reads."""
    units = [u for group in found for u in group.units]
    return set(program.outs).difference(*[u.reads if isinstance(u, Nest) else u.ins for u in units])


def overwritable(program: Program, found: Sequence[Group], executor: NumpyExecutor) -> list[Atom]:
    """The large owned inputs whose memory no call of a library keeps, or gives back."""
    calls = [u for group in found if not group.native for u in group.units if isinstance(u, Eqn)]
    seen = {a for eqn in calls if shows(eqn, executor) for a in eqn.ins}
    free = set(executor.owned) - seen
    return [v for v in program.ins if v in free and nbytes(v) >= LARGE]


def shows(eqn: Eqn, executor: NumpyExecutor) -> bool:
    """Whether a call may keep its operands' memory, or give it back."""
    row = executor.backend.rows.get(eqn.prim)
    return isinstance(eqn.prim, Holder | Callback) or (isinstance(row, Kernel) and row.view)


@dataclass(frozen=True)
class Piece:
    """Machine code as a primitive, and the numbers of the atoms that it reads and makes."""

    prim: Routine
    ins: Sequence[int]
    outs: Sequence[int]

    def equation(self, atoms: Sequence[Atom]) -> Eqn:
        """The equation that runs it on a Program's atoms."""
        ins, outs = (tuple([atoms[i] for i in numbers]) for numbers in (self.ins, self.outs))
        return Eqn(self.prim, ins, {}, outs)  # type: ignore[arg-type]


def loaded(
    atoms: Sequence[Atom],
    name: str,
    machine_code: bytes,
    ins: Sequence[int],
    outs: Sequence[int],
    scratch: int,
    calls: Sequence[str],
    over: Sequence[tuple[int, int]],
) -> Piece:
    """Bring machine code that reads and makes atoms of these numbers into memory."""
    known = {name: share() if name == SHARE else blas.address(name) for name in calls}
    library = llvm.load(machine_code, ("entry", "segment", "table"), known)
    layout = Layout([atoms[i] for i in outs], scratch)
    run = builtin(library, layout, [atoms[i].dtype for i in ins], over)
    return Piece(Routine(run, name), ins, outs)


def translation(executor: NumpyExecutor) -> Translation:
    """A module to be filled."""
    return Translation(ir.Module(), executor.language, MAKERS, executor.prepare)


def text(program: Program, backend: ArrayBackend, dialect: str) -> str:
    """What a Program is compiled to: its "schedule", LLVM's text of that, or "asm"."""
    executor = NumpyExecutor(backend, program)
    found, code = groups(executor.program, executor)
    if dialect == "schedule":
        lines = []
        for g in found:
            lines += [
                "code" if g.native else "calls",
                *[f"  {described(u, code)}" for u in g.units],
            ]
        return "\n".join(lines)
    made = []
    for group in found:
        if group.native:
            t = translation(executor)
            t.segment(group.units, code, group.wanted, last=unread(program, found))
            module = llvm.optimised(str(t.module))
            made.append(str(module) if dialect == "llvm" else llvm.machine().emit_assembly(module))
    return "\n".join(made)
