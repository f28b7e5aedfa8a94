"""Transposes: beside a product of matrices none is made, for BLAS reads either order of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from arrayport.core.program import Atom, Eqn, Program
from arrayport.ops.products import dot_general_p, free_axes
from arrayport.ops.structure import transpose_p

KINDS = frozenset("fdFD")  # the characters of BLAS's element types


def without_transposes(program: Program) -> Program:
    """The Program with products of what was transposed, and in the order that is wanted of them."""
    if all(eqn.prim is not dot_general_p for eqn in program.eqns):
        return program
    readers = Counter([*[a for eqn in program.eqns for a in eqn.ins], *program.outs])
    made: dict[Atom, Eqn] = {}
    for eqn in program.eqns:
        found = eqn
        if _product(eqn):
            found = _of_sources(eqn, made)
        elif eqn.prim is transpose_p and readers[eqn.ins[0]] == 1:
            found = _turned(eqn, made)
        made.update(dict.fromkeys(eqn.outs, found))
    eqns = [made[eqn.outs[0]] if eqn.outs else eqn for eqn in program.eqns]
    return Program(program.ins, eqns, program.outs)


def _product(eqn: Eqn | None) -> bool:
    """Whether BLAS computes an equation."""
    if eqn is None or eqn.prim is not dot_general_p:
        return False
    return all(a.dtype.char in KINDS for a in (*eqn.ins, *eqn.outs))


def _of_sources(eqn: Eqn, made: Mapping[Atom, Eqn]) -> Eqn:
    """A product that reads what its operands are transposes of, if its answer stays as it is."""
    ins, contract, batch = list(eqn.ins), list(eqn.params["contract"]), list(eqn.params["batch"])
    for k, a in enumerate(eqn.ins):
        source = made.get(a)
        if source is None or source.prim is not transpose_p:
            continue
        perm = source.params["perm"]
        free = [perm[d] for d in free_axes(len(a.shape), contract[k], batch[k])]
        if free == sorted(free):
            ins[k] = source.ins[0]
            contract[k] = tuple([perm[d] for d in contract[k]])
            batch[k] = tuple([perm[d] for d in batch[k]])
    params = {**eqn.params, "contract": tuple(contract), "batch": tuple(batch)}
    return Eqn(eqn.prim, tuple(ins), params, eqn.outs)


def _turned(eqn: Eqn, made: Mapping[Atom, Eqn]) -> Eqn:
    """The product of the operands exchanged, for a transpose of a product's rows and columns."""
    source = made.get(eqn.ins[0])
    if source is None or not _product(source):
        return eqn
    (x, y), (cx, cy), (bx, by) = source.ins, source.params["contract"], source.params["batch"]
    lead, end = len(bx), len(eqn.ins[0].shape)
    rows = lead + len(free_axes(len(x.shape), cx, bx))
    if eqn.params["perm"] != (*range(lead), *range(rows, end), *range(lead, rows)):
        return eqn
    params = {**source.params, "contract": (cy, cx), "batch": (by, bx)}
    return Eqn(source.prim, (y, x), params, eqn.outs)
