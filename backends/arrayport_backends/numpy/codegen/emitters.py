"""Emitters: a function in the making, and its loops."""

from __future__ import annotations

import sys
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heappop, heappush
from math import prod
from typing import Any

from arrayport.core.program import Atom
from arrayport.passes.indices import Axis, Index, of
from arrayport_backends.ndarray.elements import Body
from arrayport_backends.numpy.codegen.values import WORD, Values
from arrayport_backends.numpy.llvm import LLVMBuilder, ir, vector_bytes

HEAVY = 64  # instructions of a body that keep the processor busy by themselves
LIGHT = 8  # instructions of a body of which LLVM makes more copies than its vectors need
SHORT = 64  # steps of a loop that may well become one piece
LONG = 256  # instructions of a body of which copies take long to compile
COMPACT = (("llvm.loop.interleave.count", 32), ("llvm.loop.vectorize.predicate.enable", 1))
SUMS = 4  # vectors of a light reduction, whose sums wait for one another
MASKED = 64  # bytes of a vector of which processors have masks
LINE = 64  # bytes of a line of the cache, to which memory of our own is aligned


@dataclass(frozen=True)
class End:
    """An end of a range that only a run knows, and the greatest that it can be."""

    code: Any
    most: int


class Emitter:
    """Emits a function of pointers."""

    length = 0  # instructions of the loops' bodies
    lanes = 0  # elements of a vector, if LLVM is not to look for the best
    together = 0  # vectors that a step of a long loop takes, if LLVM is not to choose

    def begin(self, module: Any, name: str, body: Body, pointers: int, numbers: int = 0) -> None:
        """Start."""
        args = [ir.PointerType()] * pointers + [ir.IntType(WORD)] * numbers
        self.function = internal(module, name, ir.FunctionType(ir.VoidType(), args))
        self.function.attributes.add("nounwind")
        self.entry = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.start = self.function.append_basic_block("start")
        self.b = LLVMBuilder(ir.IRBuilder(self.start))
        self.values = Values(body, self.b)

    def end(self) -> None:
        """Finish."""
        self.b.ir.ret_void()
        self.entry.branch(self.start)

    @contextmanager
    def loop(self, low: int, end: int | End) -> Iterator[Index]:
        """A loop that is never empty, or nothing but its body if that runs once."""
        if end == low + 1:
            with self.values.scope():
                yield Index(low)
            return
        word = ir.IntType(WORD)
        end = End(word(end), end) if isinstance(end, int) else end
        with self.counting(word(low), end.code, Axis(end.most, low)) as index:
            yield index

    @contextmanager
    def counting(self, low: Any, end: Any, axis: Axis, step: int = 1) -> Iterator[Index]:
        """A loop over a part, never empty, of an axis."""
        b, word = self.b.ir, ir.IntType(WORD)
        before, block = b.block, self.function.append_basic_block("loop")
        b.branch(block)
        b.position_at_end(block)
        counter = b.phi(word)
        counter.add_incoming(low, before)
        self.values.axes[axis] = counter
        with self.values.scope():
            yield of(axis)
        following = b.add(counter, word(step), flags=("nuw", "nsw"))
        counter.add_incoming(following, b.block)
        after = self.function.append_basic_block("after")
        done = "==" if step == 1 else ">="
        again = b.cbranch(b.icmp_signed(done, following, end), after, block)
        long = axis.end - axis.low > SHORT
        if self.length >= HEAVY:
            lanes = self.lanes if long else 0
            again.set_metadata("llvm.loop", compact(b.module, self.length, lanes))
        elif self.together and long:
            again.set_metadata("llvm.loop", unrepeated(b.module, self.together))
        b.position_at_end(after)


def compact(module: Any, length: int, lanes: int) -> Any:
    """What says of a loop that it is to be little code: its steps are not interleaved.

    If it is very long, what does not fill a vector takes no loops of its own, where processors
    have masks for it: in a short one these would take a tenth of the time. `lanes`: what a vector
    holds, if that is known, for LLVM takes long to weigh all that it could hold.
    """
    words = COMPACT[: 2 if length >= LONG and vector_bytes() == MASKED else 1]
    made = [[text, ir.IntType(bits)(1)] for text, bits in words]
    if lanes:
        made.append(["llvm.loop.vectorize.width", ir.IntType(32)(lanes)])
    return hints(module, made)


def unrepeated(module: Any, together: int) -> Any:
    """What says of a loop that its body is so many vectors, and no more copies of these.

    A step of the next one costs the processor nothing, but a copy takes long to compile.
    """
    count = ["llvm.loop.interleave.count", ir.IntType(32)(together)]
    return hints(module, [count, ["llvm.loop.unroll.disable"]])


def hints(module: Any, words: Sequence[Sequence[Any]]) -> Any:
    """What LLVM is told about a loop."""
    options = [
        module.add_metadata([ir.MetaDataString(module, text), *values]) for text, *values in words
    ]
    node = module.add_metadata(options)
    node.operands = (node, *options)  # as LLVM knows a loop's
    return node


def internal(module: Any, name: str, kind: Any) -> Any:
    """A function that only its module knows."""
    function = ir.Function(module, kind, module.get_unique_name(name))
    function.linkage = "internal"
    return function


def disjoint(pointers: Iterable[Any]) -> None:
    """Let LLVM know that what these arguments point to does not overlap."""
    for arg in pointers:
        arg.add_attribute("noalias")


def as_it_stands(function: Any) -> None:
    """Have a function compiled without passes, which is quick: its time is in what it calls."""
    for attribute in ("noinline", "optnone"):
        function.attributes.add(attribute)


def whole(ranged: Any, extent: int) -> Any:
    """A function that takes a range last, as one without it."""
    kind = ir.FunctionType(ir.VoidType(), [a.type for a in ranged.args[:-2]])
    function = internal(ranged.module, "all", kind)
    as_it_stands(function)
    b = ir.IRBuilder(function.append_basic_block("entry"))
    b.call(ranged, [*function.args, *map(ir.IntType(WORD), (0, extent))])
    b.ret_void()
    return function


def room(b: Any, kind: Any, count: int, align: int = 0) -> Any:
    """A pointer to room on the stack for some values of a type."""
    made = b.alloca(ir.ArrayType(kind, count))
    if align:
        made.align = align
    made.type = ir.PointerType()  # llvmlite gives allocations pointers of the older, typed kind
    return made


def nbytes(a: Atom) -> int:
    """The bytes of a value."""
    return prod(a.shape) * a.dtype.itemsize


def shifted(b: Any, pointer: Any, offset: Any) -> Any:
    """A pointer some bytes further on."""
    if isinstance(offset, int):
        offset = ir.IntType(WORD)(offset)
    return b.gep(pointer, [offset], source_etype=ir.IntType(8))


def packed(sizes: Sequence[int], spans: Sequence[tuple[int, int]]) -> tuple[int, list[int]]:
    """Places in one buffer, apart where they are needed at the same time, and its size.

    Each goes to the first gap that takes it; time grows with what there is, not with its square.
    """
    offsets, whole = [0] * len(sizes), 0
    gaps = [(0, sys.maxsize)]  # in order, none beside another
    busy: list[tuple[int, int, int]] = []  # a heap: the last need of a place, its start and end
    for i in sorted(range(len(sizes)), key=lambda i: spans[i][0]):
        first, last = spans[i]
        while busy and busy[0][0] < first:
            _, start, end = heappop(busy)
            give_back(gaps, start, end)
        size = -(-sizes[i] // LINE) * LINE
        k = next(k for k, (start, end) in enumerate(gaps) if end - start >= size)
        start, end = gaps[k]
        gaps[k : k + 1] = [(start + size, end)] if start + size < end else []
        offsets[i], whole = start, max(whole, start + size)
        if size:
            heappush(busy, (last, start, start + size))
    return whole, offsets


def give_back(gaps: list[tuple[int, int]], start: int, end: int) -> None:
    """Add a gap, and join those beside it."""
    k = bisect(gaps, (start, end))
    low, high = k, k
    if k and gaps[k - 1][1] == start:
        low, start = k - 1, gaps[k - 1][0]
    if k < len(gaps) and gaps[k][0] == end:
        high, end = k + 1, gaps[k][1]
    gaps[low:high] = [(start, end)]
