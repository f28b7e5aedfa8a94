"""Nests: the loops over a nest's lanes, its reductions, and what they store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise, product
from math import gcd, prod
from typing import Any

from arrayport.core.program import Atom, Var
from arrayport.passes.forms import Place
from arrayport.passes.fuse import Nest, lanes_of
from arrayport.passes.indices import ZERO, Axis, Index, Indices, flat, of
from arrayport_backends.ndarray.elements import FLOATS, Body, Code, Lanes, Survey, folded, runs
from arrayport_backends.ndarray.scalars import Scalar
from arrayport_backends.ndarray.targets import Target, target
from arrayport_backends.numpy.codegen.emitters import (
    LIGHT,
    LINE,
    MASKED,
    SUMS,
    Emitter,
    End,
    as_it_stands,
    disjoint,
    internal,
    shifted,
)
from arrayport_backends.numpy.codegen.sums import ROWS, RUN, STATE, STATES, Sum
from arrayport_backends.numpy.codegen.values import WORD
from arrayport_backends.numpy.llvm import ir, vector_bytes

PIECES = 27  # copies of the body, one for each way its choices can fall
COLUMNS = 512  # columns that are added up at once
REPEATED = 4  # extent of lanes up to which the body is repeated rather than looped over
BODY = 128  # cost of the body up to which it is repeated


def power_of_two(n: int) -> int:
    """The largest that divides a number."""
    return n & -n


def start_of(found: Sequence[Place]) -> int:
    """The element of a value from which on its elements are read, as far as constants tell."""
    start = min(flat(place.at, place.atom.shape).constant for place in found)
    return start if 0 < start < prod(found[0].atom.shape) else 0


class NestEmitter(Emitter):
    """Emits one nest as a function of the pointers to what it reads and then what it stores.

    Given a lane it takes a range of that as well; where it folds that lane, it leaves the sums as
    they then are, at one more pointer, for another function to put together.
    """

    scratch = 0

    def __init__(self, module: Any, nest: Nest, code: Code, texts: dict[str, Any]) -> None:
        self.module = module
        self.texts = texts  # of functions of the module, without their names
        self.nest = nest
        self.length = nest.cost
        if nest.cost <= LIGHT:
            self.together = SUMS if nest.reduced else 2
        elif not nest.reduced:
            self.together = 1
        self.targets = [target(v, code.eqns[v], code.language) for v in nest.stored]
        self.body = Body(code, set(nest.stored))
        axes = [Axis(n) for n in self.nest.lanes]
        lanes = [of(a) for a in axes]
        survey = Survey(self.body)
        survey.visit([q for t in self.targets for q in t.sources(lanes)])
        for t in self.targets:
            for at in t.spaces(lanes):
                survey.compute(flat(t.own(at), t.var.shape))
        self.reads = list(survey.read)
        kinds = {a.dtype for a in (*self.reads, *nest.stored)}
        if len(kinds) == 1 and kinds <= FLOATS and vector_bytes() == MASKED:
            self.lanes = MASKED // kinds.pop().itemsize
        self.taken: dict[Atom, Var] = {}
        self.places = {a: {flat(q.at, a.shape) for q in found} for a, found in survey.read.items()}
        self.stored = {
            t.var: {flat(at, t.var.shape) for at in t.spaces(lanes)}
            for t in self.targets
            if t.fold is None
        }
        if nest.lanes:
            self.body.starts = {a: k for a, found in survey.read.items() if (k := start_of(found))}
        self.ranges = self.pieces([sorted(survey.breaks.get(a, ())) for a in axes])
        self.merged = runs(axes, survey.indices, self.joins)
        # Reads of these are at the nest's own place in their first lane.
        self.local = {
            a
            for a, found in survey.read.items()
            if lanes and (own := lanes_of(a.shape)) and all(q.at[own[0]] == lanes[0] for q in found)
        }

    def pieces(self, breaks: list[list[int]]) -> list[list[tuple[int, int]]]:
        """For each lane the ranges in which no choice changes, as long as they are few."""
        for lane in range(len(breaks)):
            if prod(len(found) + 1 for found in breaks) > PIECES:
                breaks[lane] = []
        return [
            list(pairwise([0, *found, n])) for found, n in zip(breaks, self.nest.lanes, strict=True)
        ]

    def joins(self, k: int) -> bool:
        """Whether a lane may be gone through as one with that before it."""
        return not self.nest.reduced and len(self.ranges[k - 1]) == len(self.ranges[k]) == 1

    @property
    def by_rows(self) -> bool:
        """Whether ranges of the first lane can be computed apart, and lie apart in memory."""
        if not self.nest.lanes or 0 in self.nest.reduced or len(self.ranges[0]) > 1:
            return False
        firsts = [(v.shape, lanes_of(v.shape)[:1]) for v in self.nest.stored]
        return all(first and prod(shape[: first[0]]) == 1 for shape, first in firsts)

    @property
    def stores(self) -> Sequence[Var]:
        """What is stored."""
        return self.nest.stored

    @property
    def cost(self) -> float:
        """The instructions of all of it."""
        return self.nest.cost * prod(self.nest.lanes)

    @property
    def lane(self) -> int | None:
        """The lane of which ranges can be computed apart; a nest of one element has none."""
        if self.width > 1:
            return 0
        lanes = range(len(self.nest.lanes))
        return next((k for k in lanes if k not in self.nest.reduced), 0 if lanes else None)

    @property
    def width(self) -> int:
        """How many sums a range leaves of each reduction: columns too few to be shared, else 1."""
        last, folds = len(self.nest.lanes) - 1, self.nest.reduced
        few = folds and folds == tuple(range(last)) and self.nest.lanes[last] < 2 * COLUMNS
        return self.nest.lanes[last] if few else 1

    @property
    def extent(self) -> int:
        """The extent of that lane."""
        return 1 if self.lane is None else self.nest.lanes[self.lane]

    @property
    def unit(self) -> int:
        """What of that lane stays together."""
        last, folds = len(self.nest.lanes) - 1, self.nest.reduced
        if self.lane != last:
            return ROWS if folds == (self.lane,) else 1
        if not folds:
            return LINE
        return RUN if last in folds else COLUMNS

    @property
    def each(self) -> int:
        """The bytes of what a range of that lane leaves, if the sums run over it."""
        if self.lane not in self.nest.reduced:
            return 0
        return STATES * STATE * self.width * len(self.sums_left(ZERO))

    def sums_left(self, column: Index) -> list[tuple[Target, Indices]]:
        """The reductions of which ranges leave sums, at a column if they leave several."""
        kept = {} if self.width == 1 else {len(self.nest.lanes) - 1: column}
        return self.groups({**dict.fromkeys(self.nest.reduced, ZERO), **kept})

    def left_at(self, left: Any, number: int, column: Index) -> Any:
        """Where a range leaves one sum."""
        offset = (column + number * self.width) * (STATES * STATE)
        return shifted(self.b.ir, left, self.values.code(offset))

    def overwrite(self, a: Atom, values: Iterable[Var]) -> None:
        """Store one of these values where another is, if each step reads only what it stores."""
        for v in values:
            if v not in self.taken.values() and self.places[a] <= self.stored.get(v, set()):
                self.taken[a] = v
                self.body.starts.pop(a, None)
                return

    def groups(self, lanes: dict[int, Index]) -> list[tuple[Target, Indices]]:
        """The reductions, and of each the elements of its answer, at an index of the lanes."""
        at = [lanes[k] for k in sorted(lanes)]
        return [(t, own) for t in self.folds for own in t.groups(at)]

    def build(self, lane: int | None = None, unit: int = 1, *, single: bool = False) -> Any:
        """The function; ranges of the lane go from multiples of a unit to such, or to its end.

        `single`: each range is one step of the lane, which takes no loop.
        """
        pointers = len(self.reads) + len(self.nest.stored)
        partial = lane in self.nest.reduced
        self.begin(self.module, "nest", self.body, pointers + partial, 0 if lane is None else 2)
        args = self.function.args
        disjoint(args[: pointers + partial])
        self.split, self.range, self.single = lane, args[pointers + partial :], single
        if single:
            self.range = args[-2], self.b.ir.add(args[-2], ir.IntType(WORD)(1))
        elif lane is not None:
            undivided = len(self.ranges[lane]) == 1
            self.multiple = power_of_two(gcd(unit, self.nest.lanes[lane])) if undivided else 1
            start, stop = self.range
            self.range = start, self.b.ir.add(start, self.whole(self.b.ir.sub(stop, start)))
        self.left = args[pointers] if partial else None
        self.function.attributes.add("noinline" if self.nest.lanes else "alwaysinline")
        self.outputs = dict(zip(self.nest.stored, args[len(self.reads) :], strict=False))
        self.body.buffers.update(zip(self.reads, args, strict=False))
        self.body.buffers.update({a: self.outputs[v] for a, v in self.taken.items()})
        self.emit()
        self.end()
        return self.once() if self.nest.lanes else self.function

    def once(self) -> Any:
        """The function, by way of one that others have as well if there is such a one.

        Nests that differ in nothing but what part of a value they read are alike: what is called
        gets pointers to the first elements that are read.
        """
        text = str(self.function).replace(self.function.name, "", 1)
        known = self.texts.setdefault(text, self.function)
        if known is not self.function:
            del self.module.globals[self.function.name]
        starts = self.body.starts
        if not starts:
            return known
        function = internal(self.module, "part", known.function_type)
        function.attributes.add("alwaysinline")
        b = ir.IRBuilder(function.append_basic_block("entry"))
        given = [
            shifted(b, arg, starts[a] * a.dtype.itemsize) if a in starts else arg
            for a, arg in zip(self.reads, function.args, strict=False)
        ]
        b.call(known, [*given, *function.args[len(given) :]])
        b.ret_void()
        return function

    # ---- loops over lanes

    def over(self, order: Sequence[Lanes], lanes: dict[int, Index]) -> Iterator[dict[int, Index]]:
        """Loops over these lanes, piece by piece, and inside them the body, once for each piece."""
        if not order:
            yield lanes
            return
        (*outer, first), *rest = order
        found = {**lanes, **{k: self.fixed(Axis(self.nest.lanes[k])) for k in outer}}
        rows = prod([self.nest.lanes[k] for k in (*outer[1:], first)])
        if outer:
            word = ir.IntType(WORD)
            everything = word(0), word(self.nest.lanes[outer[0]])
            bounds = self.range if self.split == outer[0] else everything
            low, high = (self.b.ir.mul(bound, word(rows)) for bound in bounds)
            with self.counting(low, high, Axis(self.nest.lanes[first])) as index:
                yield from self.over(rest, {**found, first: index})
            return
        for low, high in self.ranges[first]:
            part = self.part if first == self.split else self.loop
            with part(low, high) as index:
                yield from self.over(rest, {**found, first: index})

    def fixed(self, axis: Axis) -> Index:
        """A loop variable that stays 0."""
        self.values.axes[axis] = ir.IntType(WORD)(0)
        return of(axis)

    def unrolled(self) -> tuple[list[Lanes], list[Lanes]]:
        """Runs of lanes to be looped over, and those so short that the body is repeated instead."""
        looped: list[Lanes] = []
        short: list[Lanes] = []
        count = 1
        for run in self.merged:
            n = prod(self.nest.lanes[k] for k in run)
            if (
                n <= REPEATED
                and len(self.merged) > len(short) + 1
                and all(len(self.ranges[k]) == 1 for k in run)
                and self.split not in run
                and count * n * self.nest.cost <= BODY
            ):
                short.append(run)
                count *= n
            else:
                looped.append(run)
        return looped, short

    def repeats(self, short: Sequence[Lanes]) -> Iterator[dict[int, Index]]:
        """The places along short lanes."""
        lanes = [k for run in short for k in run]
        for at in product(*[range(self.nest.lanes[k]) for k in lanes]):
            yield dict(zip(lanes, map(Index, at), strict=True))

    def whole(self, count: Any) -> Any:
        """A count, never 0, which LLVM sees to be a multiple: whole vectors leave nothing over."""
        b, least = self.b.ir, ir.IntType(WORD)(self.multiple)
        if self.multiple > 1:
            count = b.and_(count, ir.IntType(WORD)(-self.multiple))
        return b.select(b.icmp_unsigned("<", count, least), least, count)

    @contextmanager
    def part(self, low: int, high: int, step: int = 1) -> Iterator[Index]:
        """A loop over what the range that is given has of this one, which may be nothing."""
        b, word, axis = self.b.ir, ir.IntType(WORD), Axis(high, low)
        start, self.stop = self.range
        if self.single:
            self.values.axes[axis] = start
            with self.values.scope():
                yield of(axis)
            return
        if (low, high) == (0, self.extent):
            with self.counting(start, self.stop, axis, step) as index:
                yield index
            return
        start = b.select(b.icmp_signed("<", start, word(low)), word(low), start)
        self.stop = b.select(b.icmp_signed("<", self.stop, word(high)), self.stop, word(high))
        with (
            b.if_then(b.icmp_signed("<", start, self.stop)),
            self.counting(start, self.stop, axis, step) as index,
        ):
            yield index

    def runs(self, lane: int, size: int) -> Iterator[tuple[Index, int, int | End]]:
        """Loops over runs of a lane: where each begins, and the range that it counts from there."""
        for low, end in self.ranges[lane]:
            if lane == self.split:
                with self.part(low, end, size) as first:
                    b, word = self.b.ir, ir.IntType(WORD)
                    rest = b.sub(self.stop, self.values.code(first))
                    count = b.select(b.icmp_signed("<", word(size), rest), word(size), rest)
                    yield first, 0, End(self.whole(count), size)
                continue
            count = (end - low) // size if end - low > size else 0
            if count:
                with self.loop(0, count) as number:
                    yield number * size + low, 0, size
            if low + count * size < end:
                yield Index(), low + count * size, end

    def emit(self) -> None:
        """The nest: as its reductions lie, if it has any."""
        lanes = range(len(self.nest.lanes))
        kept = [(k,) for k in lanes if k not in self.nest.reduced]
        if not self.nest.reduced:
            looped, short = self.unrolled()
            for found in self.over(looped, {}):
                for rest in self.repeats(short):
                    self.store({**found, **rest})
        elif lanes[-1] in self.nest.reduced:
            for found in self.over(kept, {}):
                self.fold_rows(found)
        else:
            for found in self.over(kept[:-1], {}):
                self.fold_columns(found, kept[-1][0])

    def store(self, lanes: dict[int, Index]) -> None:
        """Store the values that are not reductions, all of them computed before."""
        at = [lanes[k] for k in sorted(lanes)]
        pairs = [(t, q) for t in self.targets if t.fold is None for q in t.sources(at)]
        for (t, q), x in [((t, q), self.values.value(q)) for t, q in pairs]:
            self.write(t, q.at, x)

    def write(self, t: Target, at: Indices, x: Scalar) -> None:
        """Write an element of a stored value."""
        x = self.b.cast(x, t.var.dtype)
        index = flat(at, t.var.shape)
        self.b.store(self.values.at(self.outputs[t.var], index, t.var.dtype), x)

    # ---- reductions

    @property
    def folds(self) -> list[Target]:
        """The targets that are reductions."""
        return [t for t in self.targets if t.fold is not None]

    def fold_rows(self, outer: dict[int, Index]) -> None:
        """Reductions whose innermost lane is folded: their sums are in registers."""
        *before, last = self.nest.reduced
        groups = self.groups({**outer, **dict.fromkeys(self.nest.reduced, ZERO)})
        sums = [Sum(self, t, 1) for t, _ in groups]
        for s in sums:
            s.begin(ZERO)
        for found in self.over([(k,) for k in before], outer):
            for start, low, end in self.runs(last, RUN):
                for s in sums:
                    s.begin_run(ZERO)
                with self.loop(low, end) as index:
                    self.gather(sums, {**found, last: start + index}, ZERO)
                for s in sums:
                    s.settle(ZERO)
        for k, (s, (t, own)) in enumerate(zip(sums, groups, strict=True)):
            if self.left is None:
                self.write(t, own, s.result(ZERO))
            else:
                s.leave(self.left_at(self.left, k, ZERO), ZERO)

    def build_ranged(self) -> Any:
        """The function with a range of its lane."""
        return self.build(self.lane, self.unit)

    def build_joining(self, pieces: int) -> Any:
        """The function of the pointers to what is stored, and to what ranges left of the sums."""
        self.begin(self.module, "joining", self.body, len(self.nest.stored) + 1)
        as_it_stands(self.function)
        *outs, left = self.function.args
        self.outputs = dict(zip(self.nest.stored, outs, strict=True))
        sums = [Sum(self, t, self.width) for t, _ in self.sums_left(ZERO)]
        with self.loop(0, self.width) as column:
            for s in sums:
                s.begin(column)
        with self.loop(0, pieces) as piece, self.loop(0, self.width) as column:
            start = shifted(self.b.ir, left, self.values.code(piece * self.each))
            for k, s in enumerate(sums):
                s.join(self.left_at(start, k, column), column)
        with self.loop(0, self.width) as column:
            for s, (t, own) in zip(sums, self.sums_left(column), strict=True):
                self.write(t, own, s.result(column))
        self.end()
        return self.function

    def fold_columns(self, outer: dict[int, Index], column: int) -> None:
        """Reductions that leave the innermost lane: their sums are rows, a block at a time."""
        *before, last = self.nest.reduced
        width = min(COLUMNS if self.left is None else self.width, self.nest.lanes[column])
        for first, from_, to in self.runs(column, width):
            zero = {**outer, **dict.fromkeys((*self.nest.reduced, column), ZERO)}
            sums = [Sum(self, t, width) for t, _ in self.groups(zero)]
            with self.loop(from_, to) as index:
                for s in sums:
                    s.begin(index + -from_)
            for found in self.over([(k,) for k in before], outer):
                for start, low, end in self.runs(last, ROWS):
                    with self.loop(from_, to) as index:
                        for s in sums:
                            s.begin_run(index + -from_)
                    with self.loop(low, end) as row, self.loop(from_, to) as index:
                        lanes = {**found, last: start + row, column: first + index}
                        self.gather(sums, lanes, index + -from_)
                    with self.loop(from_, to) as index:
                        for s in sums:
                            s.settle(index + -from_)
            with self.loop(from_, to) as index:
                groups = self.groups({**zero, column: first + index})
                for k, (s, (t, own)) in enumerate(zip(sums, groups, strict=True)):
                    if self.left is None:
                        self.write(t, own, s.result(index + -from_))
                    else:
                        s.leave(self.left_at(self.left, k, index), index)

    def gather(self, sums: list[Sum], lanes: dict[int, Index], place: Index) -> None:
        """The innermost body: store what is stored, and add to the sums."""
        at = [lanes[k] for k in sorted(lanes)]
        found = []
        for t in self.folds:
            assert t.fold is not None
            for elements in t.groups(at).values():
                xs = [self.values.value(Place(t.fold.place.atom, q)) for q in elements]
                found.append(folded(self.b, t.fold.combine, xs, t.dtype))
        self.store(lanes)
        for s, x in zip(sums, found, strict=True):
            s.add(x, place)
