"""Rows: nests and products of the same rows take turns on a few, which stay in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from arrayport.core.program import Atom, Eqn
from arrayport.passes.fuse import lanes_of
from arrayport_backends.numpy.codegen.emitters import (
    LINE,
    as_it_stands,
    internal,
    nbytes,
    packed,
    shifted,
    whole,
)
from arrayport_backends.numpy.codegen.nests import NestEmitter
from arrayport_backends.numpy.codegen.products import LEAST, ProductEmitter
from arrayport_backends.numpy.codegen.streams import fetch, settle, stream
from arrayport_backends.numpy.codegen.values import WORD
from arrayport_backends.numpy.llvm import ir

CACHED = 1 << 18  # bytes that stay in the cache by themselves
TURN = 1 << 15  # bytes that the rows of one turn take
STREAM = 1 << 14  # the same where what is stored is streamed
CALLS = 1 << 17  # the same where BLAS is called, which takes some time to begin

Member = NestEmitter | ProductEmitter


def grouped(makers: Sequence[Member | Eqn]) -> list[list[Member] | Eqn]:
    """Runs of nests that go through the same rows, each reading of the others only its own row."""
    groups: list[list[Member] | Eqn] = []
    made: set[Atom] = set()  # by the last group
    for maker in makers:
        last = groups[-1] if groups else None
        if isinstance(maker, Eqn):
            groups.append(maker)
            continue
        if isinstance(last, list) and together(last[0], made, maker):
            last.append(maker)
        else:
            groups.append([maker])
            made = set()
        made.update(maker.stores)
    return [part for group in groups for part in worthwhile(group)]


def worthwhile(group: list[Member] | Eqn) -> list[list[Member] | Eqn]:
    """A run as it is, or one by one if all that it touches stays in the cache anyway."""
    if isinstance(group, Eqn) or len(group) == 1 or sum(map(nbytes, touched(group))) > CACHED:
        return [group]
    return [[one] for one in group]


def together(first: Member, made: AbstractSet[Atom], one: Member) -> bool:
    """Whether a nest can take turns, row by row, with the first of others and what these made."""
    if not (first.by_rows and one.by_rows and first.extent == one.extent):
        return False
    return made & set(one.reads) <= one.local


def touched(group: Sequence[Member]) -> list[Atom]:
    """The values of which every row is read or stored."""
    count = group[0].extent
    found = dict.fromkeys(a for m in group for a in (*m.reads, *m.stores))
    return [a for a in found if (lanes := lanes_of(a.shape)) and a.shape[lanes[0]] == count]


class RowsEmitter:
    """The turns of a group of nests; values that only they need have room for one turn's rows.

    So do those that are streamed to where they belong when a turn is over.
    """

    lane = 0

    def __init__(
        self,
        module: Any,
        group: Sequence[Member],
        needed: AbstractSet[Atom],
        streamed: Sequence[Atom],
    ) -> None:
        self.module = module
        self.group = group
        self.extent = group[0].extent
        self.cost = sum(m.cost for m in group)
        made = dict.fromkeys(v for m in group for v in m.stores)
        self.reads = list(dict.fromkeys(a for m in group for a in m.reads if a not in made))
        self.stores = [v for v in made if v in needed]
        self.streamed = streamed
        self.held = [v for v in made if v not in needed or v in streamed]
        self.row = sum(map(nbytes, touched(group))) // self.extent
        calls = [m for m in group if isinstance(m, ProductEmitter)]
        unit = (CALLS if calls else STREAM if streamed else TURN) // max(self.row, 1)
        unit = max(unit // LINE * LINE or unit, LEAST if calls else 1)
        self.unit = min([unit, self.extent, *[m.unit for m in calls]])
        sizes = [nbytes(v) // self.extent * self.unit for v in self.held]
        firsts, lasts = dict[Atom, int](), dict[Atom, int]()
        for k, m in enumerate(group):
            for a in (*m.reads, *m.stores):
                firsts.setdefault(a, k)
                lasts[a] = k
        lasts.update(dict.fromkeys(streamed, len(group)))
        spans = [(firsts[v], lasts[v]) for v in self.held]
        self.scratch, self.offsets = packed(sizes, spans)

    @property
    def each(self) -> int:
        """The bytes of scratch that a range needs."""
        return self.scratch

    def ahead(self) -> list[Atom]:
        """What the processor does not expect by itself: it begins anew at each page."""
        if len(self.group) == 1 or self.row * self.unit > TURN:
            return []
        local = set[Atom]().union(*[m.local for m in self.group])
        least = LINE * len(self.group) * self.extent
        return [a for a in self.reads if a in local and nbytes(a) * self.unit >= least]

    def build_ranged(self) -> Any:
        """The function of pointers to what is read, stored, and scratch, and of a range of rows."""
        word, pointer = ir.IntType(WORD), ir.PointerType()
        functions = [m.build(m.lane, self.unit, single=self.unit == 1) for m in self.group]
        count = len(self.reads) + len(self.stores) + (self.scratch > 0)
        kind = ir.FunctionType(ir.VoidType(), [pointer] * count + [word] * 2)
        function = internal(self.module, "rows", kind)
        as_it_stands(function)
        b = ir.IRBuilder(function.append_basic_block("entry"))
        *given, first, stop = function.args
        pointers: dict[Atom, Any] = dict(zip([*self.reads, *self.stores], given, strict=False))
        before, block = b.block, function.append_basic_block("turn")
        b.branch(block)
        b.position_at_end(block)
        start = b.phi(word)
        start.add_incoming(first, before)
        later = b.add(start, word(self.unit))
        more = b.icmp_signed("<", later, stop)
        end = b.select(more, later, stop)
        offsets = dict(zip(self.held, self.offsets, strict=True))
        sizes = {nbytes(v) // self.extent for v in self.held}
        zeros = {n: shifted(b, given[-1], b.mul(start, word(-n))) for n in sizes}  # the first rows

        def place(a: Atom) -> Any:
            if a not in offsets:
                return pointers[a]
            return shifted(b, zeros[nbytes(a) // self.extent], offsets[a])

        ahead = self.ahead()
        for k, (m, nest) in enumerate(zip(self.group, functions, strict=True)):
            # Blocks of their own, and nothing that lives from one to another: the time that a
            # block takes to compile is not linear.
            following = function.append_basic_block("nest")
            b.branch(following)
            b.position_at_end(following)
            for a in ahead:  # a part of what the next turn reads, while this one computes
                row = nbytes(a) // self.extent
                share = row * self.unit // len(self.group)
                at = b.add(b.mul(later, word(row)), word(k * share))
                b.call(fetch(self.module), [shifted(b, pointers[a], at), word(share)])
            b.call(nest, [*map(place, (*m.reads, *m.stores)), start, end])
        for v in self.streamed:
            bytes_of_row = word(nbytes(v) // self.extent)
            at, size = (b.mul(rows, bytes_of_row) for rows in (start, b.sub(end, start)))
            to, source = (shifted(b, p, at) for p in (pointers[v], place(v)))
            b.call(stream(self.module), [to, source, size])
        start.add_incoming(later, b.block)
        after = function.append_basic_block("after")
        b.cbranch(more, block, after)
        b.position_at_end(after)
        if self.streamed:
            settle(b)
        b.ret_void()
        return function

    def build(self) -> Any:
        """The same of all rows, without a range."""
        return whole(self.build_ranged(), self.extent)
