"""Convolutions: direct ones, the sums of a block in registers while the window goes over the input.

Vectors are of what follows one another in memory: places where rows of the output do, features
where those do, and the window where that is as long as a row: a derivative by the weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

from arrayport.core import dtypes
from arrayport.core.primitive import Primitive
from arrayport.core.program import Eqn
from arrayport.ops.convolution import Convolution, conv_general_dilated_p, ordered
from arrayport.passes.indices import ZERO, Index, strides
from arrayport_backends.ndarray.scalars import Scalar
from arrayport_backends.numpy.codegen.emitters import nbytes
from arrayport_backends.numpy.codegen.images import (
    BATCH,
    FEATURES,
    INS,
    OUTS,
    SPACE,
    ImageEmitter,
    wide,
)
from arrayport_backends.numpy.codegen.segments import Maker, Part, Translation

SUMS = 28  # vectors of a block, where there are 32
BLOCK = (6, 5, 4)  # features of a block: the more the better, but the fewer twice the better
WINDOW = 8  # extent of the window's last axis up to which it is unrolled
POINTS = 9  # places in a block of a derivative by the weights
WEIGHTS = 1 << 18  # bytes of the window up to which the cache holds it beside the input
NARROW = 8  # numbers in a row below which a product of matrices is quicker
OWN = 4  # features of a group below which they fill no vectors


class RowEmitter(ImageEmitter):
    """Vectors of places in a row of the output: some features, each with some vectors."""

    def __init__(self, t: Translation, eqn: Eqn) -> None:
        super().__init__(t, eqn)
        self.arrange_rows(self.conv.window_strides[-1])
        most = [min(u, self.own) for u in BLOCK]
        self.block = min(most, key=lambda u: (-(-self.own // u) * u, -u))
        self.sums = self.registers(self.block, self.columns(self.places[-1]))

    def build(self) -> None:
        extents = (self.conv.groups, *self.places[:-1], -(-self.own // self.block), self.turns)
        with self.examples() as n, self.loops(extents) as (group, *at, block, turn):
            feature = self.limited(block * self.block, self.own - self.block)
            starts = self.starts(turn, self.places[-1])
            self.clear(self.sums)
            self.gather(n, group, at, feature, starts)
            row = self.times(feature, self.out_steps[FEATURES])
            for u, slots in enumerate(self.sums):
                index = self.target(n, group * self.own + u, at)
                for slot, start in zip(slots, starts, strict=True):
                    total = self.v.load(slot, self.dtype)
                    self.v.store(self.at(self.out, index, row, start), total)

    def gather(
        self, n: Index, group: Index, at: Sequence[Index], feature: Any, starts: Sequence[Any]
    ) -> None:
        """Add up the products of a block."""
        row = self.times(feature, self.rhs_steps[OUTS])
        with self.loops((self.ins, *self.window[:-1])) as (k, *window):
            source = self.source(n, group, k, at, window)
            weight = self.weight(group, k, window)
            for last in self.last():
                place = self.skipped((ZERO + last) * self.conv.rhs_dilation[-1])
                xs = [self.load(self.image, source + place, start) for start in starts]
                for u, slots in enumerate(self.sums):
                    index = weight + (ZERO + last) * self.rhs_steps[-1] + u * self.rhs_steps[OUTS]
                    factor = self.factor(self.rhs, index, row)
                    for slot, x in zip(slots, xs, strict=True):
                        self.add(slot, x, factor)

    def last(self) -> Iterator[Index | int]:
        """The last axis of the window."""
        if self.window[-1] <= WINDOW:
            yield from range(self.window[-1])
            return
        with self.loop(0, self.window[-1]) as index:
            yield index


class FeatureEmitter(ImageEmitter):
    """Vectors of features: some places of a row, each with some vectors.

    Where places are few and the window is large, it is examples instead of places.
    """

    def __init__(self, t: Translation, eqn: Eqn) -> None:
        super().__init__(t, eqn)
        batch = self.sizes[BATCH]
        few = prod(self.places) < prod(self.window) and self.places[-1] < batch
        self.along = BATCH if few else len(self.full) - 1
        axes = range(BATCH if few else FEATURES, len(self.full))
        self.arrange(sorted(axes, key=lambda a: -self.lhs_steps[a]), 1, moved=self.padded)
        self.packed = self.rhs_steps[OUTS] != 1
        self.summed = sorted(range(INS, len(self.rhs_steps)), key=lambda a: -self.rhs_steps[a])
        self.extents = (self.outs, self.ins, *self.window)
        if self.packed:
            self.first, order = self.size, (*self.summed, OUTS)
            found = strides(tuple([self.extents[a] for a in order]))
            self.given = self.rhs_steps
            self.rhs_steps = tuple(found[order.index(a)] for a in range(len(order)))
            self.size += prod(self.extents)
        count = self.columns(self.own)
        self.line = batch if few else self.places[-1]
        blocks = -(-self.line // (wide(SUMS) // count))
        self.block = -(-self.line // blocks)
        self.sums = self.registers(self.block, count)

    def build(self) -> None:
        if self.packed:
            self.pack()
        outer = self.places if self.along == BATCH else self.places[:-1]
        extents = (self.conv.groups, self.turns, *outer, -(-self.line // self.block))
        with self.examples() as n, self.loops(extents) as (group, turn, *at, block):
            first = self.limited(block * self.block, self.line - self.block)
            starts = self.starts(turn, self.own)
            self.clear(self.sums)
            self.gather(n, group, at, first, starts)
            step = self.out_steps[self.along]
            index = self.target(n, group * self.own, at)
            for p, slots in enumerate(self.sums):
                for slot, start in zip(slots, starts, strict=True):
                    place = self.at(self.out, index + p * step, self.times(first, step), start)
                    self.v.store(place, self.v.load(slot, self.dtype))

    def pack(self) -> None:
        """Bring the window to where its features follow one another."""
        order = (*self.summed, OUTS)
        with self.loops([self.extents[a] for a in order]) as indices:
            source, target = ZERO, Index(self.first)
            for a, i in zip(order, indices, strict=True):
                source = source + i * self.given[a]
                target = target + i * self.rhs_steps[a]
            x = self.b.load(self.at(self.rhs, source), self.dtype)
            self.b.store(self.at(self.memory, target), x)

    def gather(
        self, n: Index, group: Index, at: Sequence[Index], first: Any, starts: Sequence[Any]
    ) -> None:
        """Add up the products of a block."""
        with self.loops([self.extents[a] for a in self.summed]) as indices:
            found = dict(zip(self.summed, indices, strict=True))
            window = [found[a] for a in range(SPACE, len(self.extents))]
            source = self.source(n, group, found[INS], at, window)
            weight = self.weight(group, found[INS], window)
            step = self.steps[self.along]
            if self.along != BATCH:
                source = source + window[-1] * (self.conv.rhs_dilation[-1] * step)
                step *= self.conv.window_strides[-1]
            base, offset = (self.memory, self.first) if self.packed else (self.rhs, 0)
            ws = [self.load(base, weight + offset, start) for start in starts]
            far = self.times(first, step)
            for p, slots in enumerate(self.sums):
                factor = self.factor(self.image, source + p * step, far)
                for slot, w in zip(slots, ws, strict=True):
                    self.add(slot, w, factor)


class WindowEmitter(ImageEmitter):
    """Vectors of the window's last axis: some places, each with some features."""

    def __init__(self, t: Translation, eqn: Eqn) -> None:
        super().__init__(t, eqn)
        self.arrange_rows(self.conv.rhs_dilation[-1])
        self.outer = () if prod(self.places) <= wide(POINTS) else self.places[:-1]
        points = prod(self.places[len(self.outer) :])
        self.block = max(1, min(self.own, wide(SUMS) // points))
        self.columns(self.window[-1])
        self.sums = self.registers(points, self.block)

    def build(self) -> None:
        extents = (self.conv.groups, *self.outer, -(-self.own // self.block))
        with self.examples() as n, self.loops(extents) as (group, *at, block):
            feature = self.limited(block * self.block, self.own - self.block)
            self.clear(self.sums)
            self.gather(n, group, at, feature)
            row = self.times(feature, self.out_steps[FEATURES])
            for place, slots in zip(self.points(at), self.sums, strict=True):
                for u, slot in enumerate(slots):
                    index = self.target(n, group * self.own + u, place)
                    total = self.v.total(self.v.load(slot, self.dtype))
                    self.b.store(self.at(self.out, index, row), total)

    def points(self, at: Sequence[Index]) -> list[tuple[Index, ...]]:
        """The places of a block."""
        rest = self.places[len(at) :]
        return [(*at, *map(Index, found)) for found in product(*map(range, rest))]

    def gather(self, n: Index, group: Index, at: Sequence[Index], feature: Any) -> None:
        """Add up the products of a block."""
        row = self.times(feature, self.rhs_steps[OUTS])
        with self.loops((self.ins, *self.window[:-1])) as (k, *window):
            weight = self.weight(group, k, window)
            for start, known in self.pieces():
                ys = [
                    self.since(known, self.load(self.rhs, weight + start + offset, row))
                    for offset in [u * self.rhs_steps[OUTS] for u in range(self.block)]
                ]
                for place, slots in zip(self.points(at), self.sums, strict=True):
                    source = self.source(n, group, k, place[:-1], window)
                    last = self.skipped(place[-1] * self.conv.window_strides[-1])
                    x = self.since(known, self.load(self.image, source + last + start))
                    for slot, y in zip(slots, ys, strict=True):
                        self.add(slot, x, y)

    def pieces(self) -> Iterator[tuple[Index, int]]:
        """Vectors of the window's last axis, and how many of their lanes others had before."""
        width, extent = self.v.count, self.window[-1]
        with self.loop(0, extent // width) as number:
            yield number * width, 0
        if extent % width:
            yield Index(extent - width), width - extent % width

    def since(self, known: int, x: Scalar) -> Scalar:
        """A vector without its first lanes."""
        return self.v.without(known, x) if known else x


def emitter(eqn: Eqn) -> type[ImageEmitter] | None:
    """What is quicker than a product of matrices, if anything is."""
    (lhs, rhs), (out,) = eqn.ins, eqn.outs
    conv = Convolution(**eqn.params)
    specs, last = conv.dimension_numbers, len(out.shape) - 1
    if (
        last < SPACE
        or out.dtype != lhs.dtype
        or out.dtype not in {dtypes.float32, dtypes.float64}
        or conv.batch_group_count > 1
    ):
        return None
    outs, _, *window = ordered(rhs.shape, specs.rhs_spec)
    *_, row = ordered(out.shape, specs.out_spec)
    small = nbytes(rhs) <= WEIGHTS
    if specs.out_spec[-1] == last and row >= NARROW and small:
        return RowEmitter if 1 in {conv.window_strides[-1], conv.lhs_dilation[-1]} else None
    if specs.out_spec[FEATURES] == last and outs // conv.groups >= OWN:
        return FeatureEmitter if small or specs.rhs_spec[OUTS] == last else None
    if specs.rhs_spec[-1] == last and window[-1] >= NARROW:
        return WindowEmitter if 1 in {conv.rhs_dilation[-1], conv.lhs_dilation[-1]} else None
    return None


def convolve(t: Translation, eqn: Eqn) -> Part:
    """A convolution as a part."""
    chosen = emitter(eqn)
    assert chosen is not None
    return chosen(t, eqn).part()


def direct(eqn: Eqn) -> bool:
    """Whether a convolution is quicker so than as a product of matrices."""
    return emitter(eqn) is not None


CONVOLUTIONS: Mapping[Primitive, Maker] = {conv_general_dilated_p: Maker(convolve, direct)}
