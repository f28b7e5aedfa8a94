"""Updates: functions that write parts of a base, in place where it may go."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from math import prod
from typing import Any

from arrayport.core import dtypes
from arrayport.core.primitive import Primitive
from arrayport.core.program import Eqn
from arrayport.passes.indices import ZERO, flat
from arrayport_backends.ndarray.elements import COMBINE, bare
from arrayport_backends.ndarray.language import KernelLanguage, combines
from arrayport_backends.ndarray.scalars import HALVES
from arrayport_backends.ndarray.writes import WRITES, Write, update_of
from arrayport_backends.numpy.codegen.emitters import Emitter, disjoint, nbytes
from arrayport_backends.numpy.codegen.segments import Maker, Part, Translation, copy
from arrayport_backends.numpy.codegen.values import WORD
from arrayport_backends.numpy.llvm import ir


class UpdateEmitter(Emitter):
    """Emits a function of the pointers to the operands, the base first, and the answer.

    The base may be in the answer's own buffer; else it is copied first.
    """

    def __init__(self, module: Any, name: str, eqn: Eqn, language: KernelLanguage) -> None:
        body = bare(language)
        self.begin(module, name, body, len(eqn.ins) + 1)
        base, *others, out = self.function.args
        disjoint((*others, out))
        body.buffers.update(zip(eqn.ins[1:], others, strict=True))
        b, word = self.b.ir, ir.IntType(WORD)
        apart = b.icmp_unsigned("!=", b.ptrtoint(base, word), b.ptrtoint(out, word))
        with b.if_then(apart):
            copy(b, out, base, nbytes(eqn.outs[0]))
        with ExitStack() as blocks:
            at = tuple([blocks.enter_context(self.loop(0, n)) for n in update_of(eqn).shape])
            self.write(WRITES[eqn.prim](eqn, at), eqn, out, blocks)
        self.end()

    def write(self, w: Write, eqn: Eqn, out: Any, blocks: ExitStack) -> None:
        """Write one element, if it is to be."""
        b, v = self.b, self.values
        for index, end in w.tests:
            inside = b.ir.icmp_unsigned("<", v.code(index), ir.IntType(WORD)(end))
            blocks.enter_context(b.ir.if_then(inside))
        (answer,) = eqn.outs
        place = v.at(out, flat(w.target, answer.shape), answer.dtype)
        new = v.value(w.source)
        if w.combine:
            wide = dtypes.float32 if answer.dtype in HALVES else answer.dtype
            old = b.cast(b.load(place, answer.dtype), wide)
            new = b.cast(COMBINE[w.combine](b, old, b.cast(new, wide)), answer.dtype)
        b.store(place, new)


def update(t: Translation, eqn: Eqn) -> Part:
    """An update as a part, whose base may go."""
    emitted = UpdateEmitter(t.module, "update", eqn, t.language)
    size = prod(update_of(eqn).shape)
    base = eqn.ins[0] if eqn.ins[0] not in eqn.ins[1:] else None
    return Part(emitted.function, eqn.ins, eqn.outs, 0, 10 * size, base)


def fits(eqn: Eqn) -> bool:
    """Whether kernels combine what is written with what is there."""
    first = WRITES[eqn.prim](eqn, (ZERO,) * len(update_of(eqn).shape))
    return combines(first.combine, eqn.outs[0].dtype)


UPDATES: Mapping[Primitive, Maker] = dict.fromkeys(WRITES, Maker(update, fits))
