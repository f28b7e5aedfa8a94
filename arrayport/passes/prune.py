"""Dropping the equations that no output depends on and that have no effect."""

from __future__ import annotations

from arrayport.core.program import Atom, Program


def prune(program: Program) -> Program:
    """Keep the equations that the outputs or an effect depend on, in order."""
    live: set[Atom] = set(program.outs)
    kept = []
    for eqn in reversed(program.eqns):
        if not live.isdisjoint(eqn.outs) or eqn.effect:
            kept.append(eqn)
            live.update(eqn.ins)
    if len(kept) == len(program.eqns):
        return program
    return Program(program.ins, reversed(kept), program.outs)
