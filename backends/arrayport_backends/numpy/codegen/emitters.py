"""Emitters: a function in the making, and its loops."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from arrayport.passes.indices import Axis, Index, of
from arrayport_backends.numpy.codegen.values import WORD, Body, Values
from arrayport_backends.numpy.llvm import LLVMBuilder, ir


class Emitter:
    """Emits a function of pointers."""

    def __init__(self, module: Any, name: str, body: Body, count: int) -> None:
        kind = ir.FunctionType(ir.VoidType(), [ir.PointerType()] * count)
        self.function = ir.Function(module, kind, name)
        self.function.linkage = "internal"
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
    def loop(self, low: int, end: int) -> Iterator[Index]:
        """A loop, or nothing but its body if that runs once."""
        if end - low == 1:
            with self.values.scope():
                yield Index(low)
            return
        b, word = self.b.ir, ir.IntType(WORD)
        before, block = b.block, self.function.append_basic_block("loop")
        b.branch(block)
        b.position_at_end(block)
        counter = b.phi(word)
        counter.add_incoming(word(low), before)
        axis = Axis(end, low)
        self.values.axes[axis] = counter
        with self.values.scope():
            yield of(axis)
        following = b.add(counter, word(1), flags=("nuw", "nsw"))
        counter.add_incoming(following, b.block)
        after = self.function.append_basic_block("after")
        b.cbranch(b.icmp_signed("==", following, word(end)), after, block)
        b.position_at_end(after)


def room(b: Any, kind: Any, count: int, align: int = 0) -> Any:
    """A pointer to room on the stack for some values of a type."""
    made = b.alloca(ir.ArrayType(kind, count))
    if align:
        made.align = align
    made.type = ir.PointerType()  # llvmlite gives allocations pointers of the older, typed kind
    return made
