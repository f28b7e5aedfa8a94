"""Inlining: a Program that another just runs becomes part of it."""

from __future__ import annotations

from collections.abc import Callable

from arrayport.core.program import Atom, Eqn, Program

Inner = Callable[[Eqn], Program | None]


def inline(program: Program, inner: Inner) -> Program:
    """Put the equations of inner Programs, at any depth, in the place of those that run them."""
    if all(inner(eqn) is None for eqn in program.eqns):
        return program
    eqns: list[Eqn] = []
    same = _spliced(program, inner, {}, eqns)
    return Program(program.ins, eqns, [same.get(a, a) for a in program.outs])


def _spliced(
    program: Program, inner: Inner, same: dict[Atom, Atom], eqns: list[Eqn]
) -> dict[Atom, Atom]:
    """Append a Program's equations, under names of their own: it may be run more than once."""
    for eqn in program.eqns:
        ins = tuple([same.get(a, a) for a in eqn.ins])
        held = inner(eqn)
        if held is None:
            outs = tuple([type(v)(v.shape, v.dtype, v.weak) for v in eqn.outs])
            eqns.append(Eqn(eqn.prim, ins, eqn.params, outs))
        else:
            names = _spliced(held, inner, dict(zip(held.ins, ins, strict=True)), eqns)
            outs = tuple([names.get(a, a) for a in held.outs])  # type: ignore[misc]
        same.update(zip(eqn.outs, outs, strict=True))
    return same
