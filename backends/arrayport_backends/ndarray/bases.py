"""Bases: a product with the identity matrix, by whose rows a Jacobian is found, is a transpose.

Only a Jacobian writes that matrix as a comparison of its own axes' indices. Where what it is
multiplied by is infinite, the product's NaN beside that does not arise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from arrayport.core.array import Array
from arrayport.core.program import Atom, Eqn, Literal, Program, Var
from arrayport.ops.creation import iota_p
from arrayport.ops.elementwise import add_p, eq_p
from arrayport.ops.products import NO_AXES, dot_general_p
from arrayport.ops.structure import convert_p, transpose_p


def without_bases(program: Program) -> Program:
    """The Program with transposes instead of such products."""
    if all(eqn.prim is not dot_general_p for eqn in program.eqns):
        return program
    made: dict[Atom, Eqn] = {v: eqn for eqn in program.eqns for v in eqn.outs}
    eqns = [one for eqn in program.eqns for one in _moved(eqn, made)]
    return Program(program.ins, eqns, program.outs)


def _moved(eqn: Eqn, made: Mapping[Atom, Eqn]) -> Iterator[Eqn]:
    """An equation, or the two that say the same."""
    side = _side(eqn, made)
    if side is None:
        yield eqn
        return
    x, (out,) = eqn.ins[side], eqn.outs
    (axis,) = eqn.params["contract"][side]
    others = [d for d in range(len(x.shape)) if d != axis]
    moved = Var(out.shape, out.dtype, out.weak)
    yield Eqn(
        transpose_p, (x,), {"perm": tuple([axis, *others] if side else [*others, axis])}, (moved,)
    )
    zero = Literal(Array(np.zeros((), out.dtype), weak=True))  # sums are never -0
    yield Eqn(add_p, (moved, zero), {}, (out,))


def _side(eqn: Eqn, made: Mapping[Atom, Eqn]) -> int | None:
    """Which operand of a product is multiplied by a basis."""
    if eqn.prim is not dot_general_p or eqn.params["batch"] != NO_AXES:
        return None
    if len(eqn.params["contract"][0]) != 1 or len({a.dtype for a in (*eqn.ins, *eqn.outs)}) != 1:
        return None
    return next((1 - k for k, a in enumerate(eqn.ins) if _basis(a, made)), None)


def _basis(a: Atom, made: Mapping[Atom, Eqn]) -> bool:
    """Whether a value is the identity matrix as a Jacobian makes it."""
    cast = made.get(a)
    if cast is None or cast.prim is not convert_p or len(a.shape) != 2:
        return False
    equal = made.get(cast.ins[0])
    if equal is None or equal.prim is not eq_p:
        return False
    counts = [made.get(i) for i in equal.ins]
    return [c.params["dimension"] for c in counts if c is not None and c.prim is iota_p] == [0, 1]
