"""Common subexpressions: an equation that repeats an earlier one gives way to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.core.primitive import params_key
from arrayport.core.program import Atom, Eqn, Literal, Program

SMALL = 64  # bytes up to which equal literals are recognised


def share(program: Program) -> Program:
    """Compute each value once."""
    same: dict[Atom, Atom] = {}
    seen: dict[Any, tuple[Atom, ...]] = {}
    eqns = []
    for eqn in program.eqns:
        ins = tuple([same.get(a, a) for a in eqn.ins])
        key = (eqn.prim, tuple([_identity(a) for a in ins]), _hashable(eqn.params))
        known = None if eqn.effect else seen.get(key)
        if known is None:
            seen[key] = eqn.outs
            eqns.append(Eqn(eqn.prim, ins, eqn.params, eqn.outs))
        else:
            same.update(zip(eqn.outs, known, strict=True))
    if len(eqns) == len(program.eqns):
        return program
    return Program(program.ins, eqns, [same.get(a, a) for a in program.outs])


def _identity(a: Atom) -> Any:
    if type(a) is not Literal:
        return id(a)
    if type(a.value.raw) is np.ndarray and a.value.nbytes <= SMALL:
        return a.dtype, a.weak, a.shape, a.value.tobytes()
    return id(a.value)  # to read a device's memory would make the host wait


def _hashable(params: dict[str, Any]) -> Any:
    key = params_key(params)
    try:
        hash(key)
    except TypeError:  # what cannot be compared is itself only
        return id(params)
    return key
