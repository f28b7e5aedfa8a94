"""Sharing: a loop that is long enough, in pieces that threads take as they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from arrayport.core.program import Atom
from arrayport_backends.numpy.codegen.emitters import as_it_stands, internal, nbytes, room, shifted
from arrayport_backends.numpy.codegen.nests import NestEmitter
from arrayport_backends.numpy.codegen.values import WORD
from arrayport_backends.numpy.llvm import ir
from arrayport_backends.numpy.workers import SHARE

GRAIN = 200_000  # nanoseconds from which a loop is shared
PIECE = 50_000  # nanoseconds of a piece
MOST = 64  # pieces
TOUCHED = 0.015  # nanoseconds that a byte takes that is read or stored
COMPUTED = 0.003  # nanoseconds that an instruction takes for each byte of an element


class Maker(Protocol):
    """What can emit a function with a range of what it loops over.

    Its arguments are pointers to what is read and stored, to `each` bytes of scratch if it needs
    any, and the range, of multiples of `unit` below `extent`.
    """

    module: Any

    @property
    def reads(self) -> Sequence[Atom]:
        """What is read."""

    @property
    def stores(self) -> Sequence[Atom]:
        """What is stored."""

    @property
    def cost(self) -> float:
        """The instructions of all of it."""

    @property
    def lane(self) -> int | None:
        """The lane of which ranges can be computed apart, if there is one."""

    @property
    def extent(self) -> int:
        """The extent of that lane."""

    @property
    def unit(self) -> int:
        """What of that lane stays together."""

    @property
    def each(self) -> int:
        """The bytes of scratch that a range needs."""

    def build_ranged(self) -> Any:
        """The function."""


def work(maker: Maker) -> float:
    """Estimate the nanoseconds that one thread takes."""
    touched = [*maker.reads, *maker.stores]
    width = max(a.dtype.itemsize for a in touched)
    return TOUCHED * sum(map(nbytes, touched)) + COMPUTED * width * maker.cost


def piece(maker: Maker) -> int:
    """Give the extent of the pieces of a loop, none if it is not shared.

    It depends on nothing but the loop: sums are the same however many threads there are.
    """
    if maker.lane is None or (time := work(maker)) < GRAIN:
        return 0
    extent, unit = maker.extent, maker.unit
    count = min(int(time / PIECE), MOST, extent // unit)
    return -(-extent // (count * unit)) * unit if count > 1 else 0


def shared(maker: Maker, size: int) -> tuple[Any, int]:
    """The function of the pointers to what is read, stored, and scratch; and that one's bytes."""
    word, pointer = ir.IntType(WORD), ir.PointerType()
    count, each = -(-maker.extent // size), maker.each
    ranged = maker.build_ranged()
    arguments = len(maker.reads) + len(maker.stores) + (each > 0)
    kind = ir.FunctionType(ir.VoidType(), [pointer, word])
    function = internal(maker.module, "piece", kind)
    as_it_stands(function)
    b = ir.IRBuilder(function.append_basic_block("entry"))
    context, number = function.args
    given = [b.load(shifted(b, context, 8 * i), typ=pointer) for i in range(arguments)]
    if each:
        given[-1] = shifted(b, given[-1], b.mul(number, word(each)))
    start = b.mul(number, word(size))
    end = b.add(start, word(size))
    last = b.icmp_signed("<", end, word(maker.extent))
    b.call(ranged, [*given, start, b.select(last, end, word(maker.extent))])
    b.ret_void()

    outer = internal(maker.module, "shared", ir.FunctionType(ir.VoidType(), [pointer] * arguments))
    as_it_stands(outer)
    b = ir.IRBuilder(outer.append_basic_block("entry"))
    context = room(b, pointer, arguments)
    for i, arg in enumerate(outer.args):
        b.store(arg, shifted(b, context, 8 * i))
    share = maker.module.globals.get(SHARE) or ir.Function(
        maker.module, ir.FunctionType(ir.VoidType(), [pointer, pointer, word]), SHARE
    )
    b.call(share, [function, context, word(count)])
    if isinstance(maker, NestEmitter) and each:
        b.call(maker.build_joining(count), outer.args[len(maker.reads) :])
    b.ret_void()
    return outer, each * count
