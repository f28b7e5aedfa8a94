"""Images: what a direct convolution reads, brought into memory of its own with its padding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import prod
from typing import Any

from arrayport.core.program import Eqn
from arrayport.ops.convolution import Convolution, dilated, ordered
from arrayport.passes.indices import ZERO, Axis, Index, strides
from arrayport_backends.ndarray.elements import bare
from arrayport_backends.ndarray.scalars import Scalar
from arrayport_backends.numpy.codegen.emitters import LINE, Emitter, disjoint, room, shifted, whole
from arrayport_backends.numpy.codegen.segments import Part, Translation
from arrayport_backends.numpy.codegen.sharing import piece, shared
from arrayport_backends.numpy.codegen.values import WORD
from arrayport_backends.numpy.codegen.vectors import VectorBuilder, lanes
from arrayport_backends.numpy.llvm import ir, vector_bytes

WIDEST = 64  # bytes of the vectors of which there are 32 registers, else 16
VECTORS = 4  # of an axis in a block, where there are 32

# Numbers of axes in the order of a specification, of the window's two as well.
BATCH, FEATURES, SPACE = 0, 1, 2
OUTS, INS = 0, 1


def wide(count: int) -> int:
    """So many vectors, or half of them where there are 16 registers."""
    return count if vector_bytes() == WIDEST else count // 2


class ImageEmitter(Emitter):
    """Emits a function of the pointers to input, window, output, and memory, and of a range.

    The range is of examples, if each is brought to memory when its turn comes; else it is all.
    The memory has the axes `order` of the input, outermost first; `skip`: places of the last one
    that lie so far apart follow one another there, one phase after the other.
    """

    sums: list[list[Any]]

    def __init__(self, t: Translation, eqn: Eqn) -> None:
        self.begin(t.module, "convolution", bare(t.language), 4, 2)
        self.lhs, self.rhs, self.out, self.memory, *self.range = self.function.args
        disjoint(self.function.args[:4])
        self.module = t.module
        self.reads, self.stores = eqn.ins, eqn.outs
        (lhs, rhs), (out,) = eqn.ins, eqn.outs
        self.eqn = eqn
        self.conv = conv = Convolution(**eqn.params)
        self.dtype = out.dtype
        specs = conv.dimension_numbers
        self.sizes = ordered(lhs.shape, specs.lhs_spec)
        self.outs, self.ins, *self.window = ordered(rhs.shape, specs.rhs_spec)
        self.places = ordered(out.shape, specs.out_spec)[SPACE:]
        self.own = self.outs // conv.groups  # output features of a group
        self.lhs_steps = ordered(strides(lhs.shape), specs.lhs_spec)
        self.rhs_steps = ordered(strides(rhs.shape), specs.rhs_spec)
        self.out_steps = ordered(strides(out.shape), specs.out_spec)
        self.spread = (1, 1, *conv.lhs_dilation)
        self.low = (0, 0, *[low for low, _ in conv.padding])
        high = (0, 0, *[high for _, high in conv.padding])
        self.full = [
            dilated(n, d) + lo + hi
            for n, d, lo, hi in zip(self.sizes, self.spread, self.low, high, strict=True)
        ]
        self.padded = any(self.low) or any(high) or any(d > 1 for d in self.spread)

    def arrange(self, order: Sequence[int], skip: int, *, moved: bool) -> None:
        """Decide where the input is read: in memory of its own if it is to be moved."""
        self.order, self.skip, self.moved = order, skip, moved
        self.run = -(-self.full[order[-1]] // skip)
        extents = [*[self.full[a] for a in order[:-1]], skip * self.run]
        own = dict(zip(order, strides(tuple(extents)), strict=True))
        self.steps = [own.get(a, 0) for a in range(len(self.full))] if moved else self.lhs_steps
        self.size = prod(extents) if moved else 0

    def arrange_rows(self, skip: int) -> None:
        """Read one example at a time; `skip` is along the rows."""
        moved = self.padded or skip > 1 or self.lhs_steps[-1] != 1
        self.arrange(range(FEATURES, len(self.full)), skip, moved=moved)

    def columns(self, extent: int) -> int:
        """Choose vectors for an axis, and how many of them are a block's."""
        self.v = VectorBuilder(self.b.ir, lanes(self.dtype, extent))
        vectors = -(-extent // self.v.count)
        self.turns = -(-vectors // wide(VECTORS))
        return -(-vectors // self.turns)

    def starts(self, turn: Index, extent: int) -> list[Any]:
        """Where the vectors of a block begin on that axis."""
        width, count = self.v.count, len(self.sums[0])
        return [
            self.limited(turn * (count * width) + k * width, extent - width) for k in range(count)
        ]

    def registers(self, rows: int, columns: int) -> list[list[Any]]:
        """Rows of vectors for sums, which stay in registers."""
        kind = self.v.kind(self.dtype)
        return [[room(self.entry, kind, 1, LINE) for _ in range(columns)] for _ in range(rows)]

    @property
    def cost(self) -> float:
        """The instructions of all of it."""
        return prod(self.eqn.outs[0].shape) * self.ins * prod(self.window)

    @property
    def lane(self) -> int | None:
        """The examples, which is no lane if all are brought to memory before."""
        return None if BATCH in self.order else BATCH

    @property
    def extent(self) -> int:
        """How many examples there are."""
        return self.sizes[BATCH]

    unit = 1

    @property
    def each(self) -> int:
        """The bytes of memory."""
        return -(-max(self.size, 1) * self.dtype.itemsize // LINE) * LINE

    def part(self) -> Part:
        """All of it, its examples shared among threads if that takes long."""
        if size := piece(self):
            function, scratch = shared(self, size)
        else:
            function, scratch = whole(self.build_ranged(), self.extent), self.each
        return Part(function, self.reads, self.stores, scratch, self.cost)

    def build_ranged(self) -> Any:
        """The function."""
        if self.moved:
            with self.loop(0, self.size) as i:
                self.b.store(self.at(self.memory, i), self.b.constant(0, self.dtype))
        self.build()
        self.end()
        return self.function

    def build(self) -> None:
        """The sums of products."""
        raise NotImplementedError

    # ---- loops

    @contextmanager
    def loops(self, extents: Iterable[int]) -> Iterator[list[Index]]:
        """Loops inside one another."""
        with ExitStack() as stack:
            yield [stack.enter_context(self.loop(0, n)) for n in extents]

    @contextmanager
    def examples(self) -> Iterator[Index]:
        """A loop over the examples, each brought to where it is read; 0 if all are, before it."""
        if BATCH in self.order:
            self.move(ZERO)
            yield ZERO
            return
        first, stop = self.range
        with self.counting(first, stop, Axis(self.extent)) as n:
            self.move(n)
            yield n

    # ---- places

    @property
    def image(self) -> Any:
        """What is read."""
        return self.memory if self.moved else self.lhs

    def at(self, base: Any, index: Index, *more: Any) -> Any:
        """Where an element is, by the sum of indices."""
        code = self.values.code(index)
        for other in more:
            code = self.b.ir.add(code, other)
        return shifted(self.b.ir, base, self.b.ir.mul(code, ir.IntType(WORD)(self.dtype.itemsize)))

    def limited(self, index: Index, most: int) -> Any:
        """An index, or the last one at which a whole block fits."""
        code, limit = self.values.code(index), ir.IntType(WORD)(most)
        return self.b.ir.select(self.b.ir.icmp_signed("<", code, limit), code, limit)

    def times(self, code: Any, step: int) -> Any:
        """A multiple of an index."""
        return self.b.ir.mul(code, ir.IntType(WORD)(step))

    def load(self, base: Any, index: Index, *more: Any) -> Scalar:
        """A vector."""
        return self.v.load(self.at(base, index, *more), self.dtype)

    def factor(self, base: Any, index: Index, *more: Any) -> Scalar:
        """A number, for every lane."""
        return self.v.spread(self.b.load(self.at(base, index, *more), self.dtype))

    def source(
        self, n: Index, group: Index, k: Index, at: Sequence[Index], window: Sequence[Index]
    ) -> Index:
        """Where the window reads, as far as the axes of space are given."""
        index = n * self.steps[BATCH] + (group * self.ins + k) * self.steps[FEATURES]
        for d, (i, w) in enumerate(zip(at, window, strict=False)):
            place = i * self.conv.window_strides[d] + w * self.conv.rhs_dilation[d]
            index = index + place * self.steps[SPACE + d]
        return index

    def weight(self, group: Index, k: Index, window: Sequence[Index]) -> Index:
        """Where the window is, as far as its axes are given."""
        index = group * (self.own * self.rhs_steps[OUTS]) + k * self.rhs_steps[INS]
        for w, step in zip(window, self.rhs_steps[SPACE:], strict=False):
            index = index + w * step
        return index

    def target(self, n: Index, feature: Index, at: Sequence[Index]) -> Index:
        """Where an answer is, as far as its axes of space are given."""
        index = n * self.out_steps[BATCH] + feature * self.out_steps[FEATURES]
        for i, step in zip(at, self.out_steps[SPACE:], strict=False):
            index = index + i * step
        return index

    # ---- sums

    def clear(self, sums: Sequence[Sequence[Any]]) -> None:
        """Begin sums."""
        zero = self.v.constant(0, self.dtype)
        for row in sums:
            for slot in row:
                self.v.store(slot, zero)

    def add(self, slot: Any, x: Scalar, y: Scalar) -> None:
        """Add a product to a sum."""
        self.v.store(slot, self.v.fma(x, y, self.v.load(slot, self.dtype)))

    # ---- memory

    def move(self, n: Index) -> None:
        """Bring the input there: one example, or all if the memory has an axis for them."""
        if not self.moved:
            return
        ranges = [
            kept(self.sizes[a], self.spread[a], self.low[a], self.full[a]) for a in self.order
        ]
        if any(low >= end for low, end in ranges):
            return
        with ExitStack() as loops:
            source, target = n * self.lhs_steps[BATCH], Index()
            for a, (low, end) in zip(self.order[:-1], ranges, strict=False):
                i = loops.enter_context(self.loop(low, end))
                source = source + i * self.lhs_steps[a]
                target = target + (i * self.spread[a] + self.low[a]) * self.steps[a]
            for i, place in self.row(*ranges[-1]):
                index = source + i * self.lhs_steps[self.order[-1]]
                x = self.b.load(self.at(self.lhs, index), self.dtype)
                self.b.store(self.at(self.memory, target + place), x)

    def row(self, low: int, end: int) -> Iterator[tuple[Index, Index]]:
        """Loops over a row of the input: the number of an element, and its place in memory."""
        last = self.order[-1]
        first = self.low[last]
        if self.skip == 1:
            with self.loop(low, end) as i:
                yield i, i * self.spread[last] + first
            return
        for phase in range(self.skip):
            start = -((phase - low - first) // self.skip)
            stop = -((phase - end - first) // self.skip)
            if start < stop:
                with self.loop(start, stop) as k:
                    yield k * self.skip + (phase - first), k + phase * self.run

    def skipped(self, place: Index) -> Index:
        """Where a place of the last axis is in memory."""
        if self.skip == 1:
            return place
        far, phase = place.divide(self.skip)
        return far + phase * self.run


def kept(size: int, dilation: int, low: int, full: int) -> tuple[int, int]:
    """Which elements of an axis padding leaves, if it is negative."""
    return max(0, -(low // dilation)), min(size, (full - 1 - low) // dilation + 1)
