"""Constants: an equation whose operands are all known is computed at compile time."""

from __future__ import annotations

from math import prod

from arrayport.core.array import Array
from arrayport.core.backend import Backend, enter, leave
from arrayport.core.primitive import Callback, Collective, Holder
from arrayport.core.program import Atom, Eqn, Literal, Program
from arrayport.core.trace import EVAL, stage_into

LATER = (Holder, Collective, Callback)  # what is not computed ahead
LARGEST = 4096  # elements: a larger constant is cheaper made again than kept


def fold(program: Program, backend: Backend) -> Program:
    """Compute what depends on literals alone, on the backend that will run the Program."""
    known: dict[Atom, Literal] = {}
    eqns: list[Eqn] = []
    token = enter(backend)
    try:
        for eqn in program.eqns:
            ins = tuple([known.get(a, a) for a in eqn.ins])
            small = all(prod(v.shape) <= LARGEST for v in eqn.outs)
            if small and not isinstance(eqn.prim, LATER) and all(type(a) is Literal for a in ins):
                with stage_into(EVAL):
                    out = eqn.prim.bind(*[a.value for a in ins if type(a) is Literal], **eqn.params)
                values: list[Array] = list(out) if eqn.prim.many else [out]
                known.update({v: Literal(x) for v, x in zip(eqn.outs, values, strict=True)})
            else:
                eqns.append(Eqn(eqn.prim, ins, eqn.params, eqn.outs))
    finally:
        leave(token)
    if len(eqns) == len(program.eqns):
        return program
    return Program(program.ins, eqns, [known.get(a, a) for a in program.outs])
