"""The compiler of Programs for this processor: nests become machine code, the rest stays calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from math import prod
from typing import Any

from arrayport.control.checkpoint import checkpoint_p
from arrayport.control.custom_batching import custom_vmap_p
from arrayport.control.custom_jvp import custom_jvp_p
from arrayport.control.custom_vjp import custom_vjp_p
from arrayport.control.jit import jit_p
from arrayport.core.primitive import Primitive
from arrayport.core.program import Atom, Eqn, Program, Var, inner_programs
from arrayport.passes.fuse import Nest, fuse
from arrayport.passes.inline import inline
from arrayport_backends.ndarray.backend import ArrayBackend
from arrayport_backends.ndarray.executor import Compiled, Executor
from arrayport_backends.numpy import llvm
from arrayport_backends.numpy.codegen.entry import Entry, builtin
from arrayport_backends.numpy.codegen.loops import HOLDERS
from arrayport_backends.numpy.codegen.segments import Translation, Unit, code_of
from arrayport_backends.numpy.codegen.values import Code
from arrayport_backends.numpy.llvm import ir
from arrayport_backends.numpy.objects import assembled

# What interpreting costs, in nanoseconds, and what compiling does: a Program is compiled when its
# runs so far have cost as much, so that at worst both are paid once.
CALL = 1_000
INSTRUCTION = 0.3
COMPILING = 10_000_000
PART = 0.05  # of that, for every instruction

HELD: Mapping[Primitive, str] = {
    jit_p: "program",
    custom_vmap_p: "program",
    custom_jvp_p: "fun",
    custom_vjp_p: "fun",
}


class NumpyExecutor(Executor):
    """An executor that is interpreted until machine code has become worth making."""

    def __init__(self, backend: ArrayBackend, program: Program, owned: Sequence[Var] = ()) -> None:
        self.language = backend.language
        super().__init__(backend, program, owned)

    def plan(self, program: Program) -> None:
        super().plan(program)
        if llvm.available():
            effort = COMPILING * (1 + PART * self.size(program))
            self.warm = int(effort / max(self.price(program), 1))

    def price(self, program: Program) -> float:
        """Nanoseconds that a run takes while it is interpreted, of what could be compiled."""
        total = 0.0
        for eqn in program.eqns:
            if self.language.fusable(eqn):
                size = max(prod(a.shape) for a in (*eqn.ins, *eqn.outs))
                total += CALL + INSTRUCTION * size * max(self.language.cost(eqn), 1)
            for inner in inner_programs(eqn.params):
                total += self.price(inner) * eqn.params.get("length", 1)
        return total

    def size(self, program: Program) -> int:
        """The instructions of the code, as in the costs of equations."""
        inner = [p for eqn in program.eqns for p in inner_programs(eqn.params)]
        own = [self.language.cost(eqn) for eqn in program.eqns if self.language.fusable(eqn)]
        return sum(own) + sum(map(self.size, inner))

    def compiled(self) -> Callable[..., list[Any]]:
        if llvm.available():
            program = compiled(self.program, self)
            super().plan(program)
            if len(self.steps) == 1 and isinstance(program.eqns[0].prim, Compiled):
                (step,) = self.steps
                self.silent = True
                if step.outs == tuple(self.outs) and step.ins == tuple(range(self.n_ins)):
                    return step.kernel
        return super().compiled()

    def prepare(self, program: Program) -> Program:
        def prepared() -> Program:
            found = super(NumpyExecutor, self).prepare(inline(program, run))
            return inline(found, self.run_again)

        return program.derive(("prepared", self.backend), prepared)  # type: ignore[no-any-return]

    def run_again(self, eqn: Eqn) -> Program | None:
        """What an equation runs that is not to share results with what is around it."""
        return self.prepare(eqn.params["program"]) if eqn.prim is checkpoint_p else None


def run(eqn: Eqn) -> Program | None:
    """The Program that an equation just runs."""
    held = eqn.params.get(HELD.get(eqn.prim, ""))
    return held if isinstance(held, Program) else None


def compiled(program: Program, executor: NumpyExecutor) -> Program:
    """The Program with its nests and loops as compiled equations."""
    language = executor.language
    units = fuse(program, language)
    code = code_of(program, units, language)
    made: list[Eqn] = []
    wanted: set[Atom] = set(program.outs)
    probe = translation(executor)
    groups = [
        (native, list(group))
        for native, group in groupby(units, lambda u: isinstance(u, Nest) or probe.native(u))
    ]
    for native, group in reversed(groups):
        if native:
            made.append(segment_equation(group, code, wanted, translation(executor)))
        else:
            made += [u for u in reversed(group) if isinstance(u, Eqn)]
        for u in group:
            wanted.update(u.reads if isinstance(u, Nest) else u.ins)
    return Program(program.ins, reversed(made), program.outs)


def translation(executor: NumpyExecutor) -> Translation:
    """A module to be filled."""
    return Translation(ir.Module(), executor.language, HOLDERS, executor.prepare)


def segment_equation(units: Sequence[Unit], code: Code, wanted: set[Atom], t: Translation) -> Eqn:
    """An equation that runs units as one function."""
    segment = t.segment(units, code, wanted)
    entry = Entry(t.module, segment)
    library = llvm.load(assembled(str(t.module)), ("entry", "segment", "table"))
    run = builtin(library, entry, [a.dtype for a in segment.reads])
    eqns = [
        eqn for u in units for eqn in ([u] if isinstance(u, Eqn) else map(code.eqns.get, u.stored))
    ]
    names = dict.fromkeys(eqn.prim.name for eqn in eqns if eqn is not None)
    made = Compiled(run, "_".join([*names, "fusion"]))
    return Eqn(made, tuple(segment.reads), {}, tuple(segment.stores))  # type: ignore[arg-type]
