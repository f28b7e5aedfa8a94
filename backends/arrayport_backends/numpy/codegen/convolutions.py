"""Convolutions: direct ones, a block of output features by some vectors of places at a time.

The sums of a block stay in registers while the window goes over the input, of which one example at
a time lies in memory of its own with its padding, unless it has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from math import prod
from typing import Any

from arrayport.core import dtypes
from arrayport.core.primitive import Primitive
from arrayport.core.program import Eqn
from arrayport.ops.convolution import Convolution, conv_general_dilated_p, dilated, ordered
from arrayport.passes.indices import ZERO, Index, strides
from arrayport_backends.ndarray.scalars import Scalar
from arrayport_backends.numpy.codegen.emitters import LINE, Emitter, nbytes, room, shifted
from arrayport_backends.numpy.codegen.segments import Maker, Part, Translation
from arrayport_backends.numpy.codegen.values import WORD, Body, Code
from arrayport_backends.numpy.codegen.vectors import VectorBuilder, lanes
from arrayport_backends.numpy.llvm import ir, vector_bytes

VECTORS = 4  # of places, where there are 32 registers; else half of it
FEATURES = (6, 5, 4)  # of a block: the more the better, but the fewer computed twice the better
WIDEST = 64  # bytes of the vectors of which there are 32
WINDOW = 8  # extent of the window's last axis up to which it is unrolled
WEIGHTS = 1 << 18  # bytes of the window up to which the cache holds it beside the input
NARROW = 8  # places in a row below which a product of matrices is quicker


def direct(eqn: Eqn) -> bool:
    """Whether a convolution is quicker so than as a product of matrices."""
    (lhs, rhs), (out,) = eqn.ins, eqn.outs
    conv = Convolution(**eqn.params)
    last = conv.dimension_numbers.out_spec[-1]
    return (
        len(out.shape) > 2
        and out.dtype == lhs.dtype
        and out.dtype in {dtypes.float32, dtypes.float64}
        and conv.batch_group_count == 1
        and last == len(out.shape) - 1
        and out.shape[last] >= NARROW
        and (conv.window_strides[-1] == 1 or conv.lhs_dilation[-1] == 1)
        and nbytes(rhs) <= WEIGHTS
    )


class ConvolutionEmitter(Emitter):
    """Emits a function of the pointers to input, window, output, and memory for an example."""

    def __init__(self, t: Translation, eqn: Eqn) -> None:
        self.begin(t.module, "convolution", Body(Code((), {}, (), t.language), ()), 4)
        for arg in self.function.args:
            arg.add_attribute("noalias")
        self.lhs, self.rhs, self.out, self.memory = self.function.args
        (lhs, rhs), (out,) = eqn.ins, eqn.outs
        self.conv = conv = Convolution(**eqn.params)
        self.dtype = out.dtype
        specs = conv.dimension_numbers
        self.batch, self.features, *self.space = ordered(lhs.shape, specs.lhs_spec)
        self.outs, self.ins, *self.window = ordered(rhs.shape, specs.rhs_spec)
        self.places = ordered(out.shape, specs.out_spec)[2:]
        self.lhs_steps = ordered(strides(lhs.shape), specs.lhs_spec)
        self.rhs_steps = ordered(strides(rhs.shape), specs.rhs_spec)
        self.out_steps = ordered(strides(out.shape), specs.out_spec)

        # The example in memory of its own: places that the last stride skips lie apart.
        pairs = zip(self.space, conv.lhs_dilation, conv.padding, strict=True)
        self.full = [dilated(n, d) + lo + hi for n, d, (lo, hi) in pairs]
        self.skip = conv.window_strides[-1]
        self.run = -(-self.full[-1] // self.skip)
        extents = (self.features, *self.full[:-1], self.skip * self.run)
        self.moved = (
            any(lo or hi for lo, hi in conv.padding)
            or any(d > 1 for d in conv.lhs_dilation)
            or self.skip > 1
            or self.lhs_steps[-1] != 1
        )
        self.steps = (0, *strides(extents)) if self.moved else self.lhs_steps
        self.size = prod(extents) if self.moved else 0

        self.v = VectorBuilder(self.b.ir, lanes(self.dtype, self.places[-1]))
        vectors = -(-self.places[-1] // self.v.count)
        self.turns = -(-vectors // (VECTORS if vector_bytes() == WIDEST else VECTORS // 2))
        self.vectors = -(-vectors // self.turns)
        own = self.outs // conv.groups
        most = [min(u, own) for u in FEATURES]
        self.block = min(most, key=lambda u: (-(-own // u) * u, -u))
        kind = self.v.kind(self.dtype)
        self.sums = [
            [room(self.entry, kind, 1, LINE) for _ in range(self.vectors)]
            for _ in range(self.block)
        ]

    def build(self) -> None:
        """All of it."""
        if self.moved:
            with self.loop(0, self.size) as i:
                self.b.store(self.at(self.memory, i), self.b.constant(0, self.dtype))
        with self.loop(0, self.batch) as n:
            if self.moved:
                self.move(n)
            with ExitStack() as loops:
                group = loops.enter_context(self.loop(0, self.conv.groups))
                at = [loops.enter_context(self.loop(0, size)) for size in self.places[:-1]]
                self.rows(n, group, at)
        self.end()

    def at(self, base: Any, index: Index, *more: Any) -> Any:
        """Where an element is, by the sum of indices."""
        code = self.values.code(index)
        for other in more:
            code = self.b.ir.add(code, other)
        return shifted(self.b.ir, base, self.b.ir.mul(code, ir.IntType(WORD)(self.dtype.itemsize)))

    # ---- the example in memory of its own

    def move(self, n: Index) -> None:
        """Bring an example there."""
        spans = zip(self.space, self.conv.lhs_dilation, self.conv.padding, self.full, strict=True)
        ranges = [kept(size, d, lo, full) for size, d, (lo, _), full in spans]
        if any(low >= end for low, end in ranges):
            return
        with ExitStack() as loops:
            feature = loops.enter_context(self.loop(0, self.features))
            at = [loops.enter_context(self.loop(low, end)) for low, end in ranges[:-1]]
            source = n * self.lhs_steps[0] + feature * self.lhs_steps[1]
            target = feature * self.steps[1]
            for d, i in enumerate(at):
                place = i * self.conv.lhs_dilation[d] + self.conv.padding[d][0]
                source, target = (
                    source + i * self.lhs_steps[2 + d],
                    target + place * self.steps[2 + d],
                )
            for i, place in self.row(*ranges[-1]):
                x = self.b.load(self.at(self.lhs, source + i * self.lhs_steps[-1]), self.dtype)
                self.b.store(self.at(self.memory, target + place), x)

    def row(self, low: int, end: int) -> Iterator[tuple[Index, Index]]:
        """Loops over a row of the input: the number of an element, and its place in memory."""
        first = self.conv.padding[-1][0]
        if self.skip == 1:
            with self.loop(low, end) as i:
                yield i, i * self.conv.lhs_dilation[-1] + first
            return
        for phase in range(self.skip):
            start = -((phase - low - first) // self.skip)
            stop = -((phase - end - first) // self.skip)
            if start < stop:
                with self.loop(start, stop) as k:
                    yield k * self.skip + (phase - first), k + phase * self.run

    # ---- sums

    def rows(self, n: Index, group: Index, at: Sequence[Index]) -> None:
        """A row of places, for all output features of a group."""
        own = self.outs // self.conv.groups
        with (
            self.loop(0, -(-own // self.block)) as block,
            self.loop(0, self.turns) as turn,
        ):
            feature = self.limited(block * self.block, own - self.block)
            width = self.v.count
            starts = [
                self.limited(turn * (self.vectors * width) + k * width, self.places[-1] - width)
                for k in range(self.vectors)
            ]
            zero = self.v.constant(0, self.dtype)
            for slots in self.sums:
                for slot in slots:
                    self.v.store(slot, zero)
            self.gather(n, group, at, feature, starts)
            for u, slots in enumerate(self.sums):
                index = n * self.out_steps[0] + (group * own + u) * self.out_steps[1]
                for i, step in zip(at, self.out_steps[2:], strict=False):
                    index = index + i * step
                row = self.b.ir.mul(feature, ir.IntType(WORD)(self.out_steps[1]))
                for slot, start in zip(slots, starts, strict=True):
                    total = self.v.load(slot, self.dtype)
                    self.v.store(self.at(self.out, index, row, start), total)

    def limited(self, index: Index, most: int) -> Any:
        """An index, or the last one at which a whole block fits."""
        code, limit = self.values.code(index), ir.IntType(WORD)(most)
        return self.b.ir.select(self.b.ir.icmp_signed("<", code, limit), code, limit)

    def gather(
        self, n: Index, group: Index, at: Sequence[Index], feature: Any, starts: Sequence[Any]
    ) -> None:
        """Add up the products of a block."""
        conv, own = self.conv, self.outs // self.conv.groups
        base = self.memory if self.moved else self.lhs
        row = self.b.ir.mul(feature, ir.IntType(WORD)(self.rhs_steps[0]))
        with ExitStack() as loops:
            k = loops.enter_context(self.loop(0, self.ins))
            window = [loops.enter_context(self.loop(0, size)) for size in self.window[:-1]]
            source = n * self.steps[0] + (group * self.ins + k) * self.steps[1]
            weight = group * (own * self.rhs_steps[0]) + k * self.rhs_steps[1]
            for d, (i, w) in enumerate(zip(at, window, strict=True)):
                place = i * conv.window_strides[d] + w * conv.rhs_dilation[d]
                source, weight = (
                    source + place * self.steps[2 + d],
                    weight + w * self.rhs_steps[2 + d],
                )
            for last in self.last():
                place = (ZERO + last) * conv.rhs_dilation[-1]
                if self.skip > 1:
                    far, phase = place.divide(self.skip)
                    place = far + phase * self.run
                xs = [self.load(base, source + place, start) for start in starts]
                for u, slots in enumerate(self.sums):
                    index = weight + (ZERO + last) * self.rhs_steps[-1] + u * self.rhs_steps[0]
                    one = self.b.load(self.at(self.rhs, index, row), self.dtype)
                    factor = self.v.spread(one)
                    for slot, x in zip(slots, xs, strict=True):
                        total = self.v.load(slot, self.dtype)
                        self.v.store(slot, self.v.fma(x, factor, total))

    def last(self) -> Iterator[Index | int]:
        """The last axis of the window."""
        if self.window[-1] <= WINDOW:
            yield from range(self.window[-1])
            return
        with self.loop(0, self.window[-1]) as index:
            yield index

    def load(self, base: Any, index: Index, start: Any) -> Scalar:
        """A vector of the input."""
        return self.v.load(self.at(base, index, start), self.dtype)


def kept(size: int, dilation: int, low: int, full: int) -> tuple[int, int]:
    """Which elements of an axis padding leaves, if it is negative."""
    return max(0, -(low // dilation)), min(size, (full - 1 - low) // dilation + 1)


def convolve(t: Translation, eqn: Eqn) -> Part:
    """A convolution as a part."""
    made = ConvolutionEmitter(t, eqn)
    made.build()
    scratch = -(-max(made.size, 1) * made.dtype.itemsize // LINE) * LINE
    cost = prod(eqn.outs[0].shape) * made.ins * prod(made.window)
    return Part(made.function, eqn.ins, eqn.outs, scratch, cost)


CONVOLUTIONS: Mapping[Primitive, Maker] = {conv_general_dilated_p: Maker(convolve, direct)}
