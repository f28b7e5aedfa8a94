"""Values: elements as LLVM's code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayport.core.program import Eqn
from arrayport.ops.elementwise import div_p
from arrayport.passes.forms import Form, Piecewise, Place
from arrayport.passes.indices import Index, flat
from arrayport_backends.ndarray.elements import FLOATS, Elements, decided, depends
from arrayport_backends.ndarray.mathematics.quotients import quotient
from arrayport_backends.ndarray.scalars import Scalar
from arrayport_backends.numpy.llvm import LLVMBuilder, ir, storage

WORD = 64  # bits of an index


class Values(Elements):
    """Emits elements where an LLVMBuilder stands."""

    builder: LLVMBuilder

    def loaded(self, place: Place) -> Scalar:
        return self.builder.load(self.pointer(place), place.atom.dtype)

    def computed(self, eqn: Eqn, at: Sequence[Place], xs: Sequence[Scalar]) -> list[Scalar]:
        if self.by_one(eqn, at):
            return [quotient(self.builder, *xs)]
        return super().computed(eqn, at, xs)

    def by_one(self, eqn: Eqn, operands: Sequence[Place]) -> bool:
        """Whether an equation divides, each time that the innermost loop goes on, by the same."""
        if eqn.prim is not div_p or eqn.outs[0].dtype not in FLOATS or not self.axes:
            return False
        inner = next(reversed(self.axes))
        x, y = [any(depends(i, inner) for i in self.source(q).at) for q in operands]
        return x and not y

    def source(self, place: Place) -> Place:
        """The element that one is, if it is but another's."""
        while isinstance(form := decided(self.body.form(place)), Place):
            place = form
        return place

    def chosen(self, place: Place, form: Piecewise) -> Scalar:
        b, at = self.builder, self.code(form.index)
        end, *rest = form.ends
        below = b.ir.icmp_signed("<", at, ir.IntType(WORD)(end))
        others: Form = form.parts[-1]
        if rest:
            others = Piecewise(form.index, tuple(rest), form.parts[1:])
        results: list[tuple[Scalar, Any]] = []
        with b.ir.if_else(below) as (then, otherwise):
            for block, part in ((then, form.parts[0]), (otherwise, others)):
                with block, self.scope():
                    results.append((self.branch(place, part), b.ir.block))
        return joined(b, results)

    def pointer(self, place: Place) -> Any:
        """Where an element is in memory."""
        index = flat(place.at, place.atom.shape) + -self.body.starts.get(place.atom, 0)
        return self.at(self.body.buffers[place.atom], index, place.atom.dtype)

    def at(self, base: Any, index: Index, dtype: Any) -> Any:
        """Where an element of a number is."""
        return self.builder.ir.gep(
            base, [self.code(index)], inbounds=True, source_etype=storage(dtype)
        )

    def word(self, n: int) -> Any:
        return ir.IntType(WORD)(n)

    def arithmetic(self, name: str, x: Any, n: Any) -> Any:
        b = self.builder.ir
        match name:
            case "add":
                return b.add(x, n, flags=("nsw",))
            case "mul":
                return b.mul(x, n, flags=("nsw",))
            case "div":
                return b.udiv(x, n)
            case _:
                return b.urem(x, n)


def joined(b: LLVMBuilder, results: list[tuple[Scalar, Any]]) -> Scalar:
    """What the branches gave, where they meet."""
    first = results[0][0]
    if first.kind == "c":
        parts = [
            joined(b, [(x.code[i], block) for x, block in results])  # a part at a time
            for i in (0, 1)
        ]
        return b.complex(*parts)
    phi = b.ir.phi(first.code.type)
    for x, block in results:
        phi.add_incoming(x.code, block)
    return Scalar(first.dtype, phi, b)
