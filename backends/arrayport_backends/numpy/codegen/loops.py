"""Loops and branches: equations that hold Programs as native control flow around their code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from arrayport.control.conditionals import cond_p
from arrayport.control.loops import while_p
from arrayport.control.scanning import scan_p
from arrayport.core.primitive import Primitive
from arrayport.core.program import Atom, Eqn, Program
from arrayport_backends.numpy.codegen.emitters import LINE, nbytes, room, shifted
from arrayport_backends.numpy.codegen.segments import Maker, Part, Translation, copy
from arrayport_backends.numpy.codegen.values import WORD
from arrayport_backends.numpy.llvm import ir, storage

IN_REGISTERS = 128  # bytes of a carry up to which it is copied, so that registers can hold it
STEPS = 1000  # of a loop whose length is not known, when its cost is estimated


@dataclass
class Carry:
    """Where one part of a carry is: a step reads `now` and writes `next`.

    Where it is small, the step's answer is copied back, and LLVM keeps both in registers. Else
    the buffers take turns, the first step reading what was given: `now`, `next` and `then` are
    the loop's variables.
    """

    size: int
    kept: bool  # a step gives it on as it is
    inplace: bool  # a step writes into it
    given: Any = None
    out: Any = None
    now: Any = None
    next: Any = None
    then: Any = None

    @property
    def small(self) -> bool:
        """Whether it is copied back."""
        return self.size <= IN_REGISTERS and not self.inplace

    @property
    def turns(self) -> bool:
        """Whether its buffers take turns."""
        return not (self.small or self.kept or self.inplace)


class Loop:
    """The part that a loop becomes, in the making."""

    def __init__(self, t: Translation, eqn: Eqn, what: str, parts: Sequence[Part]) -> None:
        self.eqn = eqn
        self.parts = parts
        self.inner = max(p.scratch for p in parts)
        self.scratch = self.inner
        self.t = t
        self.what = what

    def begin(self, carries: list[Carry], first: int, turn: int) -> None:
        """Start the function; the first step's answer goes to the result's buffer if `turn`."""
        eqn, spare = self.eqn, {}
        for k, c in enumerate(carries):
            if c.turns:
                spare[k] = self.scratch
                self.scratch += -(-c.size // LINE) * LINE
        n_in, n_out = len(eqn.ins), len(eqn.outs)
        self.function, self.b = self.t.function(self.what, n_in + n_out + (self.scratch > 0))
        self.ins, self.outs = self.function.args[:n_in], self.function.args[n_in : n_in + n_out]
        self.room = self.function.args[-1]
        self.carries = carries
        for k, c in enumerate(carries):
            c.given, c.out = self.ins[first + k], self.outs[k]
            if c.kept:
                c.now = c.given
            elif c.inplace:
                c.now = c.next = c.out
                copy(self.b, c.out, c.given, c.size)
            elif c.small:
                c.now, c.next = (room(self.b, ir.IntType(8), c.size, LINE) for _ in range(2))
                copy(self.b, c.now, c.given, c.size)
            else:
                other = shifted(self.b, self.room, spare[k])
                c.next, c.then = (c.out, other) if turn else (other, c.out)

    @contextmanager
    def turns(self) -> Iterator[Any]:
        """Let the buffers take turns in the block that begins here; gives its counter."""
        b = self.b
        self.before = b.block
        self.block = self.function.append_basic_block("step")
        b.branch(self.block)
        b.position_at_end(self.block)
        self.counter = b.phi(ir.IntType(WORD))
        self.counter.add_incoming(ir.IntType(WORD)(0), self.before)
        for c in self.turning:
            start = (c.given, c.next, c.then)
            c.now, c.next, c.then = (b.phi(ir.PointerType()) for _ in range(3))
            for phi, value in zip((c.now, c.next, c.then), start, strict=True):
                phi.add_incoming(value, self.before)
        yield self.counter
        after = self.b.add(self.counter, ir.IntType(WORD)(1))
        self.counter.add_incoming(after, b.block)
        for c in self.turning:
            for phi, value in zip((c.now, c.next, c.then), (c.next, c.then, c.next), strict=True):
                phi.add_incoming(value, b.block)
        self.following = after

    @property
    def turning(self) -> list[Carry]:
        """The parts of the carry whose buffers take turns."""
        return [c for c in self.carries if c.turns]

    def places(self) -> tuple[list[Any], list[Any]]:
        """Where a step reads the carry, and where it writes what changes of it."""
        return [c.now for c in self.carries], [c.next for c in self.carries if not c.kept]

    def call(self, part: Part, pointers: Sequence[Any]) -> None:
        """Call what the loop holds."""
        own = [self.room] if part.scratch else []
        self.b.call(part.function, [*pointers, *own])

    def advance(self) -> None:
        """After a step."""
        for c in self.carries:
            if c.small and not c.kept:
                copy(self.b, c.now, c.next, c.size)

    def end(self, cost: float) -> Part:
        """Finish."""
        self.b.ret_void()
        return Part(self.function, self.eqn.ins, self.eqn.outs, self.scratch, cost)


def stepping(t: Translation, body: Program, first: int, count: int) -> tuple[Part, list[Carry]]:
    """The function of a step, without those outputs that give the carry on as it is."""
    carried = body.ins[first : first + count]
    kept = [a is v for a, v in zip(body.outs[:count], carried, strict=True)]
    outs = [a for i, a in enumerate(body.outs) if i >= count or not kept[i]]
    numbers = iter(range(count))
    owned = {first + k: next(numbers) for k in range(count) if not kept[k]}
    step = t.procedure(Program(body.ins, body.eqns, outs), owned)
    carries = [
        Carry(nbytes(v), same, step.reads[first + k] in step.over)
        for k, (v, same) in enumerate(zip(carried, kept, strict=True))
    ]
    return step, carries


def scan(t: Translation, eqn: Eqn) -> Part:
    """Steps along the leading axis of some operands."""
    (n, m), length = eqn.params["counts"], eqn.params["length"]
    body = t.prepare(eqn.params["body"])
    step, carries = stepping(t, body, n, m)
    loop = Loop(t, eqn, "scan", [step])
    loop.begin(carries, n, length % 2)
    b, word = loop.b, ir.IntType(WORD)
    if length:
        with loop.turns() as counter:
            i = b.sub(word(length - 1), counter) if eqn.params["reverse"] else counter
            xs = zip(loop.ins[n + m :], body.ins[n + m :], strict=True)
            ys = zip(loop.outs[m:], body.outs[m:], strict=True)
            along = [
                [shifted(b, p, b.mul(i, word(nbytes(v)))) for p, v in pairs] for pairs in (xs, ys)
            ]
            now, following = loop.places()
            loop.call(step, [*loop.ins[:n], *now, *along[0], *following, *along[1]])
            loop.advance()
        done = loop.function.append_basic_block("done")
        b.cbranch(b.icmp_signed("==", loop.following, word(length)), done, loop.block)
        b.position_at_end(done)
    for c in loop.carries:
        if c.kept or (c.turns and not length):
            copy(b, c.out, c.given, c.size)
        elif c.small:
            copy(b, c.out, c.now, c.size)
    return loop.end(step.cost * length)


def while_loop(t: Translation, eqn: Eqn) -> Part:
    """Steps while a condition holds."""
    n, m = eqn.params["counts"]
    body = t.prepare(eqn.params["body"])
    test = t.procedure(eqn.params["cond"])
    step, carries = stepping(t, body, m, len(body.outs))
    loop = Loop(t, eqn, "while", [test, step])
    loop.begin(carries, n + m, 1)
    b, byte = loop.b, ir.IntType(8)
    flag = room(b, byte, 1)
    going, done = (loop.function.append_basic_block(name) for name in ("going", "done"))
    with loop.turns():
        now, following = loop.places()
        loop.call(test, [*loop.ins[:n], *now, flag])
        b.cbranch(b.icmp_unsigned("!=", b.load(flag, typ=byte), byte(0)), going, done)
        b.position_at_end(going)
        loop.call(step, [*loop.ins[n : n + m], *now, *following])
        loop.advance()
    b.branch(loop.block)
    b.position_at_end(done)
    for c, current in zip(loop.carries, now, strict=True):
        if not c.inplace:
            copy(b, c.out, current, c.size)
    return loop.end((test.cost + step.cost) * STEPS)


def cond(t: Translation, eqn: Eqn) -> Part:
    """One of several Programs."""
    branches = [t.procedure(p) for p in eqn.params["branches"]]
    scratch = max(p.scratch for p in branches)
    count = len(eqn.ins) + len(eqn.outs)
    function, b = t.function("cond", count + (scratch > 0))
    kind = storage(eqn.ins[0].dtype)
    index = b.load(function.args[0], typ=kind)
    blocks = [function.append_basic_block("branch") for _ in branches]
    done = function.append_basic_block("done")
    choice = b.switch(index, blocks[-1])
    for i, (block, part) in enumerate(zip(blocks, branches, strict=True)):
        if i < len(blocks) - 1:
            choice.add_case(kind(i), block)
        b.position_at_end(block)
        own = [function.args[-1]] if part.scratch else []
        b.call(part.function, [*function.args[1:count], *own])
        b.branch(done)
    b.position_at_end(done)
    b.ret_void()
    cost = max(p.cost for p in branches)
    reads: Sequence[Atom] = eqn.ins
    return Part(function, reads, eqn.outs, scratch, cost)


HOLDERS: Mapping[Primitive, Maker] = {
    scan_p: Maker(scan),
    while_p: Maker(while_loop),
    cond_p: Maker(cond),
}
