"""Terms: what a library computes slowly of some dtypes, in terms of others, as equations.

A small product with a vector is a sum: calling BLAS takes longer, and makes of a loop around it one
in Python. Products and convolutions of 16-bit floats are widened and rounded by what then becomes
code with what is around it; the numbers are the same. A complex convolution is a real one whose
features are real and imaginary parts, if that one becomes code.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from arrayport.core import dtypes
from arrayport.core.primitive import Primitive
from arrayport.core.program import Atom, Eqn, Program, Var
from arrayport.ops.convolution import Convolution, conv_general_dilated_p
from arrayport.ops.elementwise import complex_p, imag_p, mul_p, neg_p, real_p
from arrayport.ops.products import dot_general_p, free_axes
from arrayport.ops.shapes import concatenate_p
from arrayport.ops.slices import slice_p
from arrayport.ops.structure import broadcast_in_dim_p, convert_p, reduce_sum_p, transpose_p
from arrayport_backends.ndarray.elements import FLOATS
from arrayport_backends.ndarray.scalars import HALVES
from arrayport_backends.numpy.codegen.convolutions import direct

WIDENED = frozenset({dot_general_p, conv_general_dilated_p})
BEGUN = 1 << 14  # products of numbers that are done while a library begins


def in_other_terms(program: Program, fusable: Callable[[Eqn], bool]) -> Program:
    """The Program with such equations in other terms, unless a nest computes them."""
    return _rewritten(program, lambda eqn: eqn.prim in WIDENED and not fusable(eqn), _terms)


def in_sums(program: Program, fusable: Callable[[Eqn], bool]) -> Program:
    """The Program with sums for small products with vectors, unless a nest computes them."""
    return _rewritten(program, lambda eqn: _of_vectors(eqn) and not fusable(eqn), _summed)


def _rewritten(
    program: Program, these: Callable[[Eqn], bool], terms: Callable[[Eqn], list[Eqn]]
) -> Program:
    """The Program with some of its equations in other terms."""
    found = [terms(eqn) if these(eqn) else [eqn] for eqn in program.eqns]
    if len(program.eqns) == sum(map(len, found)):
        return program
    return Program(program.ins, [eqn for eqns in found for eqn in eqns], program.outs)


class Writer:
    """Equations that make the answer of one."""

    def __init__(self, eqn: Eqn) -> None:
        self.eqn = eqn
        self.eqns: list[Eqn] = []

    def write(self, prim: Primitive, *ins: Atom, **params: Any) -> Var:
        """One more equation; gives its answer."""
        made = prim.abstract(*ins, **params)
        out = Var(made.shape, made.dtype, made.weak)
        self.eqns.append(Eqn(prim, ins, params, (out,)))
        return out

    def end(self, prim: Primitive, *ins: Atom, **params: Any) -> list[Eqn]:
        """The last equation, which makes the answer itself; gives all."""
        return [*self.eqns, Eqn(prim, ins, params, self.eqn.outs)]


def _terms(eqn: Eqn) -> list[Eqn]:
    """What says the same as an equation."""
    kinds = {a.dtype for a in (*eqn.ins, *eqn.outs)}
    if eqn.params["preferred_element_type"] is None and kinds <= HALVES:
        return _widened(eqn)
    if eqn.prim is conv_general_dilated_p and all(d.kind == "c" for d in kinds):
        return _of_parts(eqn)
    return [eqn]


def _of_vectors(eqn: Eqn) -> bool:
    """Whether an equation is a small product with a vector, or with a stack of them."""
    kinds = {a.dtype for a in (*eqn.ins, *eqn.outs)}
    if eqn.prim is not dot_general_p or len(kinds) > 1 or not kinds <= FLOATS:
        return False
    (x, y), (cx, _), (bx, _) = eqn.ins, eqn.params["contract"], eqn.params["batch"]
    few = min(len(a.shape) for a in (x, y)) == len(cx) + len(bx)
    return few and max(prod(x.shape), prod(y.shape)) <= BEGUN


def _summed(eqn: Eqn) -> list[Eqn]:
    """The sum of the products of numbers, which is code with what is around it.

    It goes through the larger operand as that lies in memory.
    """
    w = Writer(eqn)
    sides = list(zip(eqn.ins, eqn.params["contract"], eqn.params["batch"], strict=True))
    (large, c, b), (small, *own) = sorted(sides, key=lambda side: -len(side[0].shape))
    pairs = sorted(zip((*c, *b), (*own[0], *own[1]), strict=True))
    perm, dims = tuple(k for _, k in pairs), tuple(k for k, _ in pairs)
    if perm != tuple(range(len(perm))):
        small = w.write(transpose_p, small, perm=perm)
    if small.shape != large.shape:
        small = w.write(broadcast_in_dim_p, small, shape=large.shape, dims=dims)
    product, axes = w.write(mul_p, large, small), tuple(sorted(c))
    kept = [k for k in range(len(large.shape)) if k not in c]
    perm = tuple(kept.index(k) for k in (*b, *free_axes(len(large.shape), c, b)))
    if perm == tuple(range(len(perm))):
        return w.end(reduce_sum_p, product, axes=axes)
    return w.end(transpose_p, w.write(reduce_sum_p, product, axes=axes), perm=perm)


def _widened(eqn: Eqn) -> list[Eqn]:
    """The product, or the convolution, of wider numbers."""
    w, (out,) = Writer(eqn), eqn.outs
    wide = [w.write(convert_p, a, dtype=dtypes.float32, weak=a.weak) for a in eqn.ins]
    answer = w.write(eqn.prim, *wide, **eqn.params)
    return w.end(convert_p, answer, dtype=out.dtype, weak=out.weak)


def _of_parts(eqn: Eqn) -> list[Eqn]:
    """The real convolution of a complex one, if that becomes code.

    Real parts and then imaginary ones are features of what is read and of what is made.
    """
    conv = Convolution(**eqn.params)
    if conv.groups > 1 or conv.preferred_element_type is not None:
        return [eqn]
    numbers, (x, y), (out,) = conv.dimension_numbers, eqn.ins, eqn.outs
    w = Writer(eqn)
    parts = [w.write(p, a) for a in (x, y) for p in (real_p, imag_p)]
    image = w.write(concatenate_p, *parts[:2], dimension=numbers.lhs_spec[1])
    left, right = parts[2:]
    rows = [
        w.write(concatenate_p, *pair, dimension=numbers.rhs_spec[1])
        for pair in ((left, w.write(neg_p, right)), (right, left))
    ]
    window = w.write(concatenate_p, *rows, dimension=numbers.rhs_spec[0])
    both = w.write(eqn.prim, image, window, **eqn.params)
    if not direct(w.eqns[-1]):
        return [eqn]
    features = numbers.out_spec[1]
    count = out.shape[features]
    halves = []
    for first in (0, count):
        key = [(0, n, 1) for n in out.shape]
        key[features] = (first, first + count, 1)
        halves.append(w.write(slice_p, both, key=tuple(key)))
    return w.end(complex_p, *halves)
