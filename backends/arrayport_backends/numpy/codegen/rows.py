"""Rows: nests that go through the same rows take turns on a few, which stay in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from arrayport.core.program import Atom, Eqn
from arrayport.passes.fuse import lanes_of
from arrayport_backends.numpy.codegen.emitters import LINE, nbytes, shifted
from arrayport_backends.numpy.codegen.nests import NestEmitter
from arrayport_backends.numpy.codegen.values import WORD
from arrayport_backends.numpy.llvm import ir

CACHED = 1 << 18  # bytes that stay in the cache by themselves
TURN = 1 << 15  # bytes that the rows of one turn take


def grouped(makers: Sequence[NestEmitter | Eqn]) -> list[list[NestEmitter] | Eqn]:
    """Runs of nests that go through the same rows, each reading of the others only its own row."""
    groups: list[list[NestEmitter] | Eqn] = []
    for maker in makers:
        last = groups[-1] if groups else None
        if isinstance(maker, Eqn):
            groups.append(maker)
        elif isinstance(last, list) and together(last, maker):
            last.append(maker)
        else:
            groups.append([maker])
    return [part for group in groups for part in worthwhile(group)]


def worthwhile(group: list[NestEmitter] | Eqn) -> list[list[NestEmitter] | Eqn]:
    """A run as it is, or one by one if all that it touches stays in the cache anyway."""
    if isinstance(group, Eqn) or len(group) == 1 or sum(map(nbytes, touched(group))) > CACHED:
        return [group]
    return [[one] for one in group]


def together(group: list[NestEmitter], one: NestEmitter) -> bool:
    """Whether a nest can take turns with others, row by row."""
    if not (group[0].by_rows and one.by_rows and group[0].nest.lanes[0] == one.nest.lanes[0]):
        return False
    made = {v for maker in group for v in maker.nest.stored}
    return made & set(one.reads) <= one.local


def touched(group: Sequence[NestEmitter]) -> list[Atom]:
    """The values of which every row is read or stored."""
    count = group[0].nest.lanes[0]
    found = dict.fromkeys(a for m in group for a in (*m.reads, *m.nest.stored))
    return [a for a in found if (lanes := lanes_of(a.shape)) and a.shape[lanes[0]] == count]


class Rows:
    """The turns of a group of nests; values that only they need have room for one turn's rows."""

    def __init__(self, group: Sequence[NestEmitter], needed: AbstractSet[Atom]) -> None:
        self.group = group
        self.count = group[0].nest.lanes[0]
        made = dict.fromkeys(v for m in group for v in m.nest.stored)
        self.reads = list(dict.fromkeys(a for m in group for a in m.reads if a not in made))
        self.stores = [v for v in made if v in needed]
        self.between = [v for v in made if v not in needed]
        row = sum(nbytes(a) for a in touched(group)) // self.count
        self.turn = min(max(TURN // max(row, 1), 1), self.count)
        self.offsets = []
        self.scratch = 0
        for v in self.between:
            self.offsets.append(self.scratch)
            self.scratch += -(-nbytes(v) // self.count * self.turn // LINE) * LINE

    def emit(self, function: Any, b: Any) -> None:
        """The loop over turns, in a function of pointers to what is read, stored, and scratch."""
        word = ir.IntType(WORD)
        pointers: dict[Atom, Any] = dict(
            zip([*self.reads, *self.stores], function.args, strict=False)
        )
        functions = [m.build(ranged=True) for m in self.group]
        before, block = b.block, function.append_basic_block("turn")
        b.branch(block)
        b.position_at_end(block)
        start = b.phi(word)
        start.add_incoming(word(0), before)
        following = b.add(start, word(self.turn))
        more = b.icmp_signed("<", following, word(self.count))
        end = b.select(more, following, word(self.count))
        for v, offset in zip(self.between, self.offsets, strict=True):
            back = b.mul(start, word(-nbytes(v) // self.count))
            pointers[v] = shifted(b, shifted(b, function.args[-1], offset), back)
        for m, nest in zip(self.group, functions, strict=True):
            b.call(nest, [*[pointers[a] for a in (*m.reads, *m.nest.stored)], start, end])
        start.add_incoming(following, block)
        after = function.append_basic_block("after")
        b.cbranch(more, block, after)
        b.position_at_end(after)
        b.ret_void()
