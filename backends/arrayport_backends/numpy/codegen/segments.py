"""Segments: nests that run one after another as one function, and the memory between them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from arrayport.core.program import Atom, Var
from arrayport.passes.fuse import Nest
from arrayport_backends.numpy.codegen.nests import NestEmitter, room
from arrayport_backends.numpy.codegen.values import Code
from arrayport_backends.numpy.llvm import ir

ON_STACK = 1024  # bytes up to which a value between nests is on the stack
LINE = 64  # bytes to which the others are aligned


class Segment:
    """One function of the pointers to what is read, what is stored for others, and scratch."""

    def __init__(
        self,
        module: Any,
        nests: Sequence[Nest],
        code: Code,
        wanted: set[Atom],
    ) -> None:
        emitted = [NestEmitter(module, f"nest{i}", nest, code) for i, nest in enumerate(nests)]
        made = dict.fromkeys(v for nest in nests for v in nest.stored)
        read = dict.fromkeys(a for e in emitted for a in e.reads if a not in made)
        given = [a for a in code.ins if a in read]
        self.ins: list[Atom] = list(dict.fromkeys([*given, *read]))
        self.outs: list[Var] = [v for v in made if v in wanted]
        self.cost = sum(nest.cost * prod(nest.lanes) for nest in nests)
        between = [v for v in made if v not in wanted]
        large = [v for v in between if nbytes(v) > ON_STACK]
        spans = self.spans(large, emitted, nests)
        self.scratch, offsets = packed([nbytes(v) for v in large], spans)
        count = len(self.ins) + len(self.outs) + (self.scratch > 0)
        kind = ir.FunctionType(ir.VoidType(), [ir.PointerType()] * count)
        self.function = ir.Function(module, kind, "segment")
        b = ir.IRBuilder(self.function.append_basic_block("entry"))
        pointers: dict[Atom, Any] = dict(
            zip([*self.ins, *self.outs], self.function.args, strict=False)
        )
        for v in between:
            if nbytes(v) <= ON_STACK:
                pointers[v] = room(b, ir.IntType(8), nbytes(v), LINE)
        for v, offset in zip(large, offsets, strict=True):
            pointers[v] = b.gep(
                self.function.args[-1],
                [ir.IntType(64)(offset)],
                inbounds=True,
                source_etype=ir.IntType(8),
            )
        for e, nest in zip(emitted, nests, strict=True):
            b.call(e.function, [pointers[a] for a in (*e.reads, *nest.stored)])
        b.ret_void()

    def spans(
        self, values: Sequence[Atom], emitted: Sequence[NestEmitter], nests: Sequence[Nest]
    ) -> list[tuple[int, int]]:
        """From which nest to which each value is needed."""
        first: dict[Atom, int] = {v: i for i, nest in enumerate(nests) for v in nest.stored}
        last = {a: i for i, e in enumerate(emitted) for a in e.reads}
        return [(first[v], last.get(v, first[v])) for v in values]


def nbytes(a: Atom) -> int:
    """The bytes of a value."""
    return prod(a.shape) * a.dtype.itemsize


def packed(sizes: Sequence[int], spans: Sequence[tuple[int, int]]) -> tuple[int, list[int]]:
    """Places in one buffer, apart where they are needed at the same time, and its size."""
    placed: list[tuple[int, int, tuple[int, int]]] = []
    offsets = []
    for exact, (first, last) in zip(sizes, spans, strict=True):
        size = -(-exact // LINE) * LINE
        at = 0
        for start, end, (one, other) in sorted(placed):
            if first <= other and one <= last and start < at + size and at < end:
                at = end
        placed.append((at, at + size, (first, last)))
        offsets.append(at)
    return max((end for _, end, _ in placed), default=0), offsets
