"""The compiler of Programs for this processor: nests become machine code, the rest stays calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from math import prod
from typing import Any

from arrayport.core.program import Atom, Eqn, Program
from arrayport.passes.fuse import Nest, axes_over, fuse
from arrayport_backends.ndarray.executor import Compiled, Executor
from arrayport_backends.ndarray.language import KernelLanguage
from arrayport_backends.numpy import llvm
from arrayport_backends.numpy.codegen.entry import Entry, builtin
from arrayport_backends.numpy.codegen.segments import Segment
from arrayport_backends.numpy.codegen.values import Code
from arrayport_backends.numpy.llvm import ir

# What interpreting costs, in nanoseconds, and what compiling does: a Program is compiled when its
# runs so far have cost as much, so that at worst both are paid once.
CALL = 1_000
INSTRUCTION = 0.3
COMPILING = 10_000_000


class NumpyExecutor(Executor):
    """An executor that is interpreted until machine code has become worth making."""

    def plan(self, program: Program) -> None:
        super().plan(program)
        self.language = KernelLanguage(self.backend.rows)
        if llvm.available():
            self.warm = int(COMPILING / max(self.price(program), 1))

    def price(self, program: Program) -> float:
        """Nanoseconds that a run takes while it is interpreted, of what could be compiled."""
        total = 0.0
        for eqn in program.eqns:
            if self.fusable(eqn):
                size = max(prod(a.shape) for a in (*eqn.ins, *eqn.outs))
                total += CALL + INSTRUCTION * size * max(self.language.cost(eqn), 1)
        return total

    def fusable(self, eqn: Eqn) -> bool:
        """Whether kernels can compute an equation."""
        shapes = [a.shape for a in (*eqn.ins, *eqn.outs)]
        if len(eqn.outs) != 1 or any(0 in shape for shape in shapes):
            return False
        return self.language.form(eqn, axes_over(eqn.outs[0].shape)) is not None

    def compiled(self) -> Callable[..., list[Any]]:
        if llvm.available() and any(map(self.fusable, self.program.eqns)):
            super().plan(compiled(self.program, self.language))
            (step, *more), outs = self.steps, self.outs
            if not more and step.outs == tuple(outs) and step.ins == tuple(range(self.n_ins)):
                return step.kernel
        return super().compiled()


def compiled(program: Program, language: KernelLanguage) -> Program:
    """The Program with its nests as compiled equations."""
    units = fuse(program, language)
    calls = {id(u) for u in units}
    eqns: dict[Atom, Eqn] = {eqn.outs[0]: eqn for eqn in program.eqns if id(eqn) not in calls}
    stored = {v for unit in units if isinstance(unit, Nest) for v in unit.stored}
    code = Code(program.ins, eqns, stored, language)
    made: list[Eqn] = []
    wanted: set[Atom] = set(program.outs)
    groups = [list(group) for _, group in groupby(units, lambda u: isinstance(u, Nest))]
    for group in reversed(groups):
        nests = [u for u in group if isinstance(u, Nest)]
        if nests:
            made.append(segment_equation(nests, code, wanted))
        else:
            made += [u for u in reversed(group) if isinstance(u, Eqn)]
        for u in group:
            wanted.update(u.reads if isinstance(u, Nest) else u.ins)
    return Program(program.ins, reversed(made), program.outs)


def segment_equation(nests: Sequence[Nest], code: Code, wanted: set[Atom]) -> Eqn:
    """An equation that runs nests as one function."""
    module = ir.Module()
    segment = Segment(module, nests, code, wanted)
    entry = Entry(module, segment)
    library = llvm.load(llvm.assemble(str(module)), ("entry", "segment", "table"))
    run = builtin(library, entry.dtypes, [a.dtype for a in segment.ins])
    return Eqn(Compiled(run), tuple(segment.ins), {}, tuple(segment.outs))  # type: ignore[arg-type]
