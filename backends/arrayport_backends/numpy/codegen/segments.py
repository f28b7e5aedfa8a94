"""Segments: nests and loops that run one after another, and the memory between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from arrayport.core.primitive import Primitive
from arrayport.core.program import Atom, Eqn, Literal, Program, Var, inner_programs
from arrayport.ops.products import dot_general_p
from arrayport.passes.fuse import Nest, fuse
from arrayport_backends.ndarray.elements import Code, code_of
from arrayport_backends.ndarray.language import KernelLanguage
from arrayport_backends.ndarray.scalars import DTYPES
from arrayport_backends.numpy.codegen.emitters import (
    LINE,
    as_it_stands,
    internal,
    nbytes,
    packed,
    room,
    shifted,
)
from arrayport_backends.numpy.codegen.nests import NestEmitter
from arrayport_backends.numpy.codegen.products import ProductEmitter, blocked
from arrayport_backends.numpy.codegen.rows import STREAM, Member, RowsEmitter, grouped
from arrayport_backends.numpy.codegen.sharing import piece, shared
from arrayport_backends.numpy.codegen.streams import MEMORY_BOUND, STREAMED
from arrayport_backends.numpy.llvm import ir

ON_STACK = 1024  # bytes up to which a value between nests is on the stack
KEPT = 65_536  # bytes of the largest constant that is part of the code

Unit = Nest | Eqn


@dataclass(frozen=True)
class Part:
    """A function of the pointers to what it reads, what it stores and, if it needs any, scratch.

    What it stores may be in the buffer of `base`, which it then overwrites. `over`: operands that
    must be in the buffers of these answers.
    """

    function: Any
    reads: Sequence[Atom]
    stores: Sequence[Atom]
    scratch: int = 0
    cost: float = 0
    base: Atom | None = None
    over: Mapping[Atom, Atom] = field(default_factory=dict)


@dataclass(frozen=True)
class Maker:
    """How an equation that no nest computes becomes code, and which ones do."""

    part: Callable[[Translation, Eqn], Part]
    fits: Callable[[Eqn], bool] = bool


class Translation:
    """One module in the making, and how equations that no nest computes become code in it."""

    def __init__(
        self,
        module: Any,
        language: KernelLanguage,
        makers: Mapping[Primitive, Maker],
        prepare: Callable[[Program], Program],
    ) -> None:
        self.module = module
        self.language = language
        self.makers = makers
        self.texts: dict[str, Any] = {}
        self.prepare = prepare

    def name(self, what: str) -> str:
        """Give a name that the module does not have."""
        return str(self.module.get_unique_name(what))

    def native(self, eqn: Eqn) -> bool:
        """Whether an equation that no nest computes becomes code, with all that it holds."""
        sound = all(a.dtype in DTYPES and 0 not in a.shape for a in (*eqn.ins, *eqn.outs))
        return (
            sound
            and (blocked(eqn) if eqn.prim is dot_general_p else self.makes(eqn))
            and all(map(self.whole, inner_programs(eqn.params)))
        )

    def makes(self, eqn: Eqn) -> bool:
        """Whether one of the makers takes an equation."""
        return eqn.prim in self.makers and self.makers[eqn.prim].fits(eqn)

    def whole(self, program: Program) -> bool:
        """Whether all of a Program becomes code."""
        return bool(
            program.derive(("native", self.language), lambda: [self.translatable(program)])[0]
        )

    def translatable(self, program: Program) -> bool:
        """The same, not looked up."""
        program = self.prepare(program)
        kept = [a for eqn in program.eqns for a in eqn.ins if type(a) is Literal]
        kept += [a for a in program.outs if type(a) is Literal]
        return all(nbytes(a) <= KEPT for a in kept) and all(
            self.language.fusable(eqn) or self.native(eqn) for eqn in program.eqns
        )

    def function(self, what: str, count: int) -> tuple[Any, Any]:
        """A function of some pointers, and what builds it."""
        kind = ir.FunctionType(ir.VoidType(), [ir.PointerType()] * count)
        function = internal(self.module, what, kind)
        return function, ir.IRBuilder(function.append_basic_block("entry"))

    def parts(
        self,
        units: Sequence[Unit],
        code: Code,
        wanted: AbstractSet[Atom],
        free: Sequence[Atom] = (),
        last: AbstractSet[Atom] = frozenset(),
    ) -> list[Part]:
        """The functions of nests and loops; nests that go through the same rows go together.

        `free`: what may be overwritten; `last`: what nothing reads that follows.
        """
        makers = [self.maker(u, code) for u in units]
        parts = []
        groups = grouped(makers)
        readers = Counter(a for m in makers for a in reads(m))
        overwrite(groups, wanted, [a for a in free if a not in wanted])
        for group in groups:
            if isinstance(group, Eqn):
                parts.append(self.makers[group.prim].part(self, group))
                continue
            own = Counter(a for m in group for a in reads(m))
            made = [v for m in group for v in m.stores]
            needed = {v for v in made if v in wanted or readers[v] > own[v]}
            parts.append(self.nests(group, needed, last))
        return parts

    def maker(self, unit: Unit, code: Code) -> Member | Eqn:
        """What emits a nest or a product; another equation as it is."""
        if isinstance(unit, Nest):
            return NestEmitter(self.module, unit, code, self.texts)
        return ProductEmitter(self.module, unit) if unit.prim is dot_general_p else unit

    def nests(
        self, group: Sequence[Member], needed: AbstractSet[Atom], last: AbstractSet[Atom]
    ) -> Part:
        """Nests and products of the same rows as one function; a single nest is its own."""
        maker: Member | RowsEmitter = group[0]
        streamed = [v for m in group for v in m.stores if v in last and streams(m, v)]
        if len(group) > 1 or streamed or isinstance(maker, ProductEmitter):
            maker = RowsEmitter(self.module, group, needed, streamed)
        if size := piece(maker):
            function, scratch = shared(maker, size)
        else:
            function, scratch = maker.build(), maker.scratch
        over = {a: v for m in group for a, v in m.taken.items()}
        return Part(function, maker.reads, maker.stores, scratch, maker.cost, over=over)

    def procedure(self, program: Program, owned: Mapping[int, int] | None = None) -> Part:
        """A whole Program as a function.

        `owned`: inputs that may be overwritten, each only by one output, by their numbers.
        """
        program = self.prepare(program)
        units = fuse(program, self.language)
        code = code_of(program, units, self.language)
        made = {v for u in units for v in stored(u)}
        first = {a: i for i, a in reversed(list(enumerate(program.outs))) if a in made}
        parts = self.parts(units, code, set(program.outs))
        n = len(program.ins)
        pairs: dict[Atom, Atom] = {
            program.ins[k]: program.outs[j] for k, j in (owned or {}).items()
        }
        overwriting = Overwriting(parts, set(program.outs), pairs)
        over = {a: pairs[a] for a in overwriting.taken}
        memory = Memory(parts, set(first), overwriting)
        function, b = self.function("program", n + len(program.outs) + (memory.size > 0))
        function.attributes.add("alwaysinline")
        pointers: dict[Atom, Any] = dict(zip(program.ins, function.args, strict=False))
        results = function.args[n : n + len(program.outs)]
        pointers.update({a: results[i] for a, i in first.items()})
        for a in [a for p in parts for a in p.reads] + list(program.outs):
            if type(a) is Literal:
                pointers[a] = self.constant(a)
        memory.run(b, pointers, function.args[-1])
        for i, a in enumerate(program.outs):
            if first.get(a) != i:
                copy(b, results[i], pointers[a], nbytes(a))
        b.ret_void()
        cost = sum(p.cost for p in parts)
        return Part(function, program.ins, program.outs, memory.size, cost, over=over)

    def segment(
        self,
        units: Sequence[Unit],
        code: Code,
        wanted: AbstractSet[Atom],
        free: Sequence[Atom] = (),
        last: AbstractSet[Atom] = frozenset(),
    ) -> Part:
        """Units as the function that the outside calls; `free` and `last` as for `parts`."""
        parts = self.parts(units, code, wanted, free, last)
        made = dict.fromkeys(a for p in parts for a in p.stores)
        read = dict.fromkeys(a for p in parts for a in p.reads if a not in made)
        ins = list(dict.fromkeys([*[a for a in code.ins if a in read], *read]))
        outs = [v for v in made if v in wanted]
        over = {a: v for p in parts for a, v in p.over.items()}
        for base in [a for a in free if a not in {*wanted, *over}]:
            for v in [v for v in outs if alike(base, v) and v not in over.values()]:
                if Overwriting(parts, set(outs), {base: v}).taken:
                    over[base] = v
                    break
        memory = Memory(parts, set(outs), Overwriting(parts, set(outs), over))
        function, b = self.function("segment", len(ins) + len(outs) + (memory.size > 0))
        function.linkage = ""
        as_it_stands(function)
        pointers = dict(zip([*ins, *outs], function.args, strict=False))
        memory.run(b, pointers, function.args[-1])
        b.ret_void()
        cost = sum(p.cost for p in parts)
        return Part(function, ins, outs, memory.size, cost, over=over)

    def constant(self, a: Literal) -> Any:
        """A pointer to a constant."""
        raw = a.value.raw.tobytes()
        data = ir.GlobalVariable(
            self.module, ir.ArrayType(ir.IntType(8), len(raw)), self.name("constant")
        )
        data.initializer = ir.Constant(data.value_type, bytearray(raw))
        data.global_constant, data.linkage, data.align = True, "internal", LINE
        data.type = ir.PointerType()  # as in `room`
        return data


def alike(a: Atom, v: Atom) -> bool:
    """Whether a value can be where another was."""
    return a.shape == v.shape and a.dtype == v.dtype


def streams(maker: Member, v: Var) -> bool:
    """Whether a value goes past the cache: it is large, its rows are not, its memory is new."""
    return (
        maker.by_rows
        and maker.length <= MEMORY_BOUND
        and nbytes(v) >= STREAMED
        and nbytes(v) // maker.extent <= STREAM
        and v not in maker.taken.values()
    )


def overwrite(
    groups: Sequence[list[Member] | Eqn], wanted: AbstractSet[Atom], free: Sequence[Atom]
) -> None:
    """Let nests store values over such as nothing else reads any more."""
    later: set[Atom] = set()
    for group in reversed(groups):
        found = [] if isinstance(group, Eqn) else group
        for maker in [m for m in found if isinstance(m, NestEmitter)]:
            others = {a for m in found if m is not maker for a in m.reads}
            for a in free:
                if a in maker.reads and a not in later | others:
                    maker.overwrite(a, [v for v in maker.stores if v in wanted and alike(a, v)])
        later.update(group.ins if isinstance(group, Eqn) else (a for m in group for a in m.reads))


class Overwriting:
    """Which updates write into their base's buffer: where nothing reads the base after them."""

    def __init__(
        self, parts: Sequence[Part], outside: set[Atom], owned: Mapping[Atom, Atom]
    ) -> None:
        self.taken: set[Atom] = set()  # owned values that are overwritten
        made = {v for p in parts for v in p.stores}
        last = {a: i for i, p in enumerate(parts) for a in p.reads}
        # From the last update backwards: which buffer its answer goes to is known by then.
        self.homes: dict[Atom, Atom] = {}  # a base, and the value whose buffer it is in
        for i, p in reversed(list(enumerate(parts))):
            base = p.base
            if base is None or last[base] != i or base in outside:
                continue
            (answer,) = p.stores
            home = self.homes.get(answer, answer)
            if base in made:
                self.homes[base] = home
            elif owned.get(base) is home:
                self.taken.add(base)


class Memory:
    """Where values between parts are: small ones on the stack, the others in one buffer."""

    def __init__(self, parts: Sequence[Part], outside: set[Atom], overwriting: Overwriting) -> None:
        self.parts = parts
        self.homes = overwriting.homes
        self.between = [
            v for p in parts for v in p.stores if v not in outside and v not in self.homes
        ]
        large = [v for v in self.between if nbytes(v) > ON_STACK]
        spans: dict[Atom, list[int]] = {}
        for i, p in enumerate(parts):
            for a in (*p.reads, *p.stores):
                spans.setdefault(self.homes.get(a, a), []).append(i)
        whole = [(min(spans[v]), max(spans[v])) for v in large]
        end, offsets = packed([nbytes(v) for v in large], whole)
        self.offsets = dict(zip(large, offsets, strict=True))
        self.end = end
        self.size = end + max((p.scratch for p in parts), default=0)

    def run(self, b: Any, pointers: dict[Atom, Any], scratch: Any) -> None:
        """Call the parts in order."""
        for v in self.between:
            if v in self.offsets:
                pointers[v] = shifted(b, scratch, self.offsets[v])
            else:
                pointers[v] = room(b, ir.IntType(8), nbytes(v), LINE)
        pointers.update({base: pointers[home] for base, home in self.homes.items()})
        rest = shifted(b, scratch, self.end) if self.size > self.end else None
        for p in self.parts:
            own = [rest] if p.scratch else []
            b.call(p.function, [*[pointers[a] for a in (*p.reads, *p.stores)], *own])


def reads(maker: Member | Eqn) -> Sequence[Atom]:
    """What a nest or an equation reads."""
    return maker.ins if isinstance(maker, Eqn) else maker.reads


def stored(unit: Unit) -> Sequence[Atom]:
    """What a unit makes."""
    return unit.stored if isinstance(unit, Nest) else unit.outs


def copy(b: Any, to: Any, source: Any, count: int) -> None:
    """Copy bytes between places that are apart or the same."""
    pointer, word = ir.PointerType(), ir.IntType(64)
    kind = ir.FunctionType(ir.VoidType(), [pointer, pointer, word, ir.IntType(1)])
    name = "llvm.memcpy.p0.p0.i64"
    function = b.module.globals.get(name) or ir.Function(b.module, kind, name)
    b.call(function, [to, source, word(count), ir.IntType(1)(0)])
