"""Streams: large answers go past the cache, which then need not read what they overwrite."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from arrayport_backends.numpy.codegen.emitters import LINE, as_it_stands, internal, shifted
from arrayport_backends.numpy.codegen.values import WORD
from arrayport_backends.numpy.llvm import binding, ir

STREAMED = 6 << 20  # bytes from which an answer has left the cache before anybody reads it
MEMORY_BOUND = 50  # instructions of a body up to which its time is memory's
NEAR = 2  # how near fetched memory is brought, on LLVM's scale: to the second cache


def stream(module: Any) -> Any:
    """The function of where to, where from, and how many bytes to write past the cache."""
    known = module.globals.get("stream")
    if known is not None:
        return known
    pointer, word = ir.PointerType(), ir.IntType(WORD)
    function = internal(module, "stream", ir.FunctionType(ir.VoidType(), [pointer, pointer, word]))
    as_it_stands(function)
    to, source, size = function.args
    b = ir.IRBuilder(function.append_basic_block("entry"))
    before = b.and_(b.neg(b.ptrtoint(to, word)), word(LINE - 1))
    before = b.select(b.icmp_unsigned("<", before, size), before, size)
    rest = b.sub(size, before)
    whole = b.and_(rest, word(-LINE))
    copy(b, to, source, before)
    to, source = shifted(b, to, before), shifted(b, source, before)
    kind, past = ir.VectorType(ir.IntType(32), LINE // 4), module.add_metadata([ir.IntType(32)(1)])
    with b.if_then(b.icmp_unsigned("!=", whole, word(0))), lines(b, whole) as at:
        line = b.load(shifted(b, source, at), typ=kind, align=1)
        b.store(line, shifted(b, to, at), align=LINE).set_metadata("nontemporal", past)
    copy(b, shifted(b, to, whole), shifted(b, source, whole), b.sub(rest, whole))
    b.ret_void()
    return function


def fetch(module: Any) -> Any:
    """The function of where from and how many bytes, never none, will soon be read."""
    known = module.globals.get("fetch")
    if known is not None:
        return known
    pointer, word, number = ir.PointerType(), ir.IntType(WORD), ir.IntType(32)
    function = internal(module, "fetch", ir.FunctionType(ir.VoidType(), [pointer, word]))
    as_it_stands(function)
    source, size = function.args
    b = ir.IRBuilder(function.append_basic_block("entry"))
    kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
    hint = ir.Function(module, kind, "llvm.prefetch.p0")
    with lines(b, size) as at:
        b.call(hint, [shifted(b, source, at), number(0), number(NEAR), number(1)])
    b.ret_void()
    return function


@contextmanager
def lines(b: Any, size: Any) -> Iterator[Any]:
    """A loop over the first bytes of a size's lines."""
    word, before, block = ir.IntType(WORD), b.block, b.append_basic_block("line")
    b.branch(block)
    b.position_at_end(block)
    at = b.phi(word)
    at.add_incoming(word(0), before)
    yield at
    following = b.add(at, word(LINE), flags=("nuw", "nsw"))
    at.add_incoming(following, block)
    after = b.append_basic_block("after")
    b.cbranch(b.icmp_unsigned("<", following, size), block, after)
    b.position_at_end(after)


def copy(b: Any, to: Any, source: Any, size: Any) -> None:
    """Copy the part of a line, if there is one."""
    pointer, word, bit = ir.PointerType(), ir.IntType(WORD), ir.IntType(1)
    kind = ir.FunctionType(ir.VoidType(), [pointer, pointer, word, bit])
    name = "llvm.memcpy.p0.p0.i64"
    function = b.module.globals.get(name) or ir.Function(b.module, kind, name)
    with b.if_then(b.icmp_unsigned("!=", size, word(0)), likely=False):
        b.call(function, [to, source, size, bit(0)])


def settle(b: Any) -> None:
    """Have other threads see what was streamed before anything that is written later."""
    if not binding.get_process_triple().startswith("x86"):
        b.fence("seq_cst")
        return
    name, kind = "llvm.x86.sse.sfence", ir.FunctionType(ir.VoidType(), [])
    b.call(b.module.globals.get(name) or ir.Function(b.module, kind, name), [])
