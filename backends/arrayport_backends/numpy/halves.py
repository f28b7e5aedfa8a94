"""Halves: what a library computes of 16-bit floats it is given wide, by conversions of their own.

These are equations, so that they become code with what is around them; the numbers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from arrayport.core import dtypes
from arrayport.core.program import Atom, Eqn, Program, Var
from arrayport.ops.convolution import conv_general_dilated_p
from arrayport.ops.products import dot_general_p
from arrayport.ops.structure import convert_p
from arrayport_backends.ndarray.scalars import HALVES

WIDENED = frozenset({dot_general_p, conv_general_dilated_p})


def without_halves(program: Program, fusable: Callable[[Eqn], bool]) -> Program:
    """The Program with products and convolutions in 32 bits instead, if no nest computes them."""
    found = [
        list(_wide(eqn)) if _halves(eqn) and not fusable(eqn) else [eqn] for eqn in program.eqns
    ]
    if len(program.eqns) == sum(map(len, found)):
        return program
    return Program(program.ins, [eqn for eqns in found for eqn in eqns], program.outs)


def _halves(eqn: Eqn) -> bool:
    """Whether a call computes only 16-bit floats, of the dtype that it is given."""
    return (
        eqn.prim in WIDENED
        and eqn.params["preferred_element_type"] is None
        and all(a.dtype in HALVES for a in (*eqn.ins, *eqn.outs))
    )


def _wide(eqn: Eqn) -> Iterator[Eqn]:
    """The conversions, the call, and the conversion of its answer."""
    (out,) = eqn.outs
    ins = [Var(a.shape, dtypes.float32, a.weak) for a in eqn.ins]
    answer = Var(out.shape, dtypes.float32, out.weak)
    for a, wide in zip(eqn.ins, ins, strict=True):
        yield _converted(a, wide)
    yield Eqn(eqn.prim, tuple(ins), eqn.params, (answer,))
    yield _converted(answer, out)


def _converted(a: Atom, to: Var) -> Eqn:
    return Eqn(convert_p, (a,), {"dtype": to.dtype, "weak": to.weak}, (to,))
