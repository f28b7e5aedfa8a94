"""Schedules: what a Program just runs, and words for what its nests and calls compute."""

from __future__ import annotations

from collections.abc import Sequence

from arrayport.control.checkpoint import checkpoint_p
from arrayport.core.array import aval_of
from arrayport.core.primitive import Holder
from arrayport.core.program import Eqn, Program
from arrayport.passes.fuse import Nest
from arrayport_backends.ndarray.elements import Code


def held(eqn: Eqn) -> Program | None:
    """The Program that an equation just runs."""
    if not isinstance(eqn.prim, Holder) or eqn.prim is checkpoint_p:
        return None
    program = eqn.params.get(eqn.prim.runs)
    return program if isinstance(program, Program) else None


def named(units: Sequence[Nest | Eqn], code: Code) -> str:
    """A name for what units compute."""
    eqns = [
        eqn for u in units for eqn in ([u] if isinstance(u, Eqn) else map(code.eqns.get, u.stored))
    ]
    return "_".join([*dict.fromkeys(eqn.prim.name for eqn in eqns if eqn is not None), "fusion"])


def described(unit: Nest | Eqn, code: Code) -> str:
    """A line on a unit."""
    if isinstance(unit, Eqn):
        return f"{unit.prim.name} -> {', '.join(str(aval_of(v)) for v in unit.outs)}"
    over = " x ".join(map(str, unit.lanes)) or "one"
    stored = ", ".join(f"{code.eqns[v].prim.name} -> {aval_of(v)}" for v in unit.stored)
    return f"nest over {over}: {stored}"
