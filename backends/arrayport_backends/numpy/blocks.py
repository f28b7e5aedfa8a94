"""Blocks: without machine code, elementwise operations go through the cache a part at a time."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby
from math import prod
from typing import Any

from arrayport.core.program import Atom, Eqn, Program, Var
from arrayport.passes.indices import Shape
from arrayport_backends.ndarray.backend import ArrayBackend
from arrayport_backends.ndarray.executor import Executor, Routine
from arrayport_backends.numpy.pool import empty

BLOCK = 1 << 14  # elements of a part
WORTH = 4 * BLOCK  # elements from which parts are taken


def space(eqn: Eqn, backend: ArrayBackend) -> Shape | None:
    """The shape of an elementwise equation, if it is large and its operands have it, or no axes."""
    if len(eqn.outs) != 1 or prod(shape := eqn.outs[0].shape) < WORTH:
        return None
    alike = all(a.shape in {shape, ()} for a in eqn.ins)
    return shape if alike and backend.language.elementwise(eqn) else None


def blocked(program: Program, backend: ArrayBackend) -> Program:
    """The Program, equations that follow one another over the same elements being one each."""
    runs = [(at, list(run)) for at, run in groupby(program.eqns, lambda e: space(e, backend))]
    made: list[Eqn] = []
    wanted: set[Atom] = set(program.outs)
    for at, run in reversed(runs):
        together = at is not None and len(run) > 1
        made = [*([block(run, backend, wanted)] if together else run), *made]
        wanted.update(a for eqn in run for a in eqn.ins)
    return Program(program.ins, made, program.outs)


def block(eqns: Sequence[Eqn], backend: ArrayBackend, wanted: AbstractSet[Atom]) -> Eqn:
    """An equation that computes others, of which only what is wanted is stored."""
    made = [eqn.outs[0] for eqn in eqns]
    inner = set(made)
    reads = [a for eqn in eqns for a in eqn.ins if a not in inner and (a.shape or type(a) is Var)]
    reads = list(dict.fromkeys(reads))
    stores = [v for v in made if v in wanted]
    part: dict[Atom, Var] = {
        a: Var((BLOCK,) if a.shape else (), a.dtype, a.weak) for a in (*reads, *made)
    }
    steps = [
        Eqn(e.prim, tuple([part.get(a, a) for a in e.ins]), e.params, (part[e.outs[0]],))
        for e in eqns
    ]
    program = Program([part[a] for a in reads], steps, [part[v] for v in stores])
    run = Blocks(Executor(backend, program), stores)
    return Eqn(Routine(run, "blocks"), tuple(reads), {}, tuple(stores))  # type: ignore[arg-type]


class Blocks:
    """What computes some values of one shape, part by part."""

    def __init__(self, executor: Executor, stores: Sequence[Var]) -> None:
        self.executor = executor
        self.stores = stores

    def __call__(self, *raws: Any) -> list[Any]:
        """Give the values."""
        outs = [empty(v.shape, v.dtype) for v in self.stores]
        given = [raw.reshape(-1) if raw.ndim else raw for raw in raws]
        flat = [out.reshape(-1) for out in outs]
        for start in range(0, flat[0].size, BLOCK):
            at = slice(start, start + BLOCK)
            made = self.executor(*[x[at] if x.ndim else x for x in given])
            for out, x in zip(flat, made, strict=True):
                out[at] = x
        return outs
