"""Nests as CUDA kernels: a thread for some elements, teams of threads for reductions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

from arrayport.core import dtypes
from arrayport.core.program import Atom, Var
from arrayport.ops.reductions import IDENTITIES
from arrayport.passes.forms import Piecewise, Place
from arrayport.passes.fuse import Nest
from arrayport.passes.indices import Axis, Index, Shape, flat, of
from arrayport_backends.cupy.cuda import CudaBuilder, Source, register, storage
from arrayport_backends.ndarray.elements import (
    COMBINE,
    Body,
    Code,
    Elements,
    Lanes,
    Survey,
    folded,
    runs,
)
from arrayport_backends.ndarray.scalars import PARTS, DType, Scalar
from arrayport_backends.ndarray.targets import Target, target

BLOCK = 256  # threads
WARP = 32
WARPS = BLOCK // WARP
BLOCKS = 1024  # of a grid, at most along its first axis: then each thread takes several elements
SHORT = 1 << 30  # indices below which words of 32 bits will do
SERIAL = 32  # elements that a thread adds up by itself, at least, before a reduction is cut

Buffer = Atom | int  # a value of the Program, or a number of scratch memory


@dataclass(frozen=True)
class Call:
    """One kernel, and on what it is launched."""

    name: str
    grid: tuple[int, int]
    buffers: Sequence[Buffer]


@dataclass(frozen=True)
class Launches:
    """The kernels of a nest: what they read, store, and leave to one another."""

    reads: Sequence[Atom]
    stores: Sequence[Atom]
    scratch: Sequence[tuple[Shape, DType]]
    calls: Sequence[Call]


class Values(Elements):
    """Elements as CUDA C++; indices are words of 32 bits where all of them are short."""

    builder: CudaBuilder
    index = dtypes.int64

    def loaded(self, place: Place) -> Scalar:
        index = self.code(flat(place.at, place.atom.shape))
        return self.builder.load(self.body.buffers[place.atom], index, place.atom.dtype)

    def chosen(self, place: Place, form: Piecewise) -> Scalar:
        b, at, (end, *rest) = self.builder, self.code(form.index), form.ends
        others = Piecewise(form.index, tuple(rest), form.parts[1:]) if rest else form.parts[-1]
        made = variable(b, place.atom.dtype)
        for head, part in ((f"if ({at} < {self.word(end)})", form.parts[0]), ("else", others)):
            with b.block(head), self.scope():
                assign(b, made, self.branch(place, part))
        return made

    def word(self, n: int) -> str:
        text = f"{n}" if abs(n) < 1 << 31 else f"{n}ll"
        return f"({text})" if n < 0 else text

    def arithmetic(self, name: str, x: str, n: str) -> str:
        if x == "0":
            return n if name == "add" else x
        b, kind = self.builder, register(self.index)
        match name:
            case "add":
                return str(b.named(self.index, f"{x} + {n}").code)
            case "mul":
                return str(b.named(self.index, f"{x} * {n}").code)
            case _:
                sign = "/" if name == "div" else "%"
                code = f"({kind})((u{kind[1:]}){x} {sign} {n})"
                return str(b.named(self.index, code).code)


def variable(b: CudaBuilder, dtype: DType, value: Scalar | None = None) -> Scalar:
    """A value that may change, or is not known yet."""
    if dtype.kind == "c":
        parts = value.code if value is not None else (None, None)
        return b.complex(*[variable(b, PARTS[dtype], p) for p in parts])
    name = b.fresh()
    b.line(f"{register(dtype)} {name}{'' if value is None else f' = {value.code}'};")
    return Scalar(dtype, name, b)


def assign(b: CudaBuilder, to: Scalar, x: Scalar) -> None:
    """Change a value."""
    for one, other in zip(parts_of(to), parts_of(x), strict=True):
        b.line(f"{one.code} = {other.code};")


def parts_of(x: Scalar) -> Sequence[Scalar]:
    """The real numbers that make one."""
    return x.code if x.kind == "c" else (x,)


def whole(b: CudaBuilder, parts: Sequence[Scalar]) -> Scalar:
    """The number that has these parts."""
    return b.complex(*parts) if len(parts) > 1 else parts[0]


@dataclass(frozen=True)
class Team:
    """How the threads of a block share reductions: of each, every `step`-th element is one's own.

    A warp puts its sums together by shuffles, a block then by shared memory; columns that lie side
    by side have a thread of every warp each.
    """

    rows: int  # reductions of a block
    row: str  # which of them is this thread's
    start: str
    step: int
    shuffles: bool
    shares: bool


WARP_TEAM = Team(WARPS, f"threadIdx.x / {WARP}", f"threadIdx.x % {WARP}", WARP, True, False)
BLOCK_TEAM = Team(1, "0", "threadIdx.x", BLOCK, True, True)
COLUMN_TEAM = Team(WARP, f"threadIdx.x % {WARP}", f"threadIdx.x / {WARP}", WARPS, False, True)


class Kernel:
    """A kernel in the making."""

    def __init__(self, source: Source, name: str, index: DType) -> None:
        self.source = source
        self.name = name
        self.b = CudaBuilder(source)
        self.word = register(index)
        self.index = index
        self.args: list[str] = []
        self.buffers: list[Buffer] = []

    def buffer(self, a: Buffer, dtype: DType, *, reads: bool) -> str:
        """A pointer, as an argument."""
        name = f"{'in' if reads else 'out'}{len(self.args)}"
        self.args.append(f"{'const ' if reads else ''}{storage(dtype)}* __restrict__ {name}")
        self.buffers.append(a)
        return name

    def call(self, *grid: int) -> Call:
        """The kernel, done, with the grid it is launched on."""
        head = f'extern "C" __global__ void __launch_bounds__({BLOCK}) {self.name}'
        text = f"{head}({', '.join(self.args)}) {{"
        self.source.definitions[self.name] = "\n".join([text, *self.b.lines, "}"])
        across, *down = grid
        return Call(self.name, (min(across, BLOCKS), *(down or (1,))), tuple(self.buffers))

    @contextmanager
    def strided(self, start: str, end: str, step: str) -> Iterator[str]:
        """A loop of some of a range's numbers."""
        i = self.b.fresh()
        with self.b.block(f"for ({self.word} {i} = {start}; {i} < {end}; {i} += {step})"):
            yield i

    def reduce(
        self,
        team: Team,
        kept: int,
        piece: tuple[int, int],
        sums: Sequence[tuple[str, DType]],
        elements: Callable[[str, str], Sequence[Scalar]],
        write: Callable[[str, Sequence[Scalar]], None],
    ) -> None:
        """Reductions: `elements` gives what a place of a row adds, `write` stores what came of it.

        `piece`: of how many elements a block of the grid's second axis takes how many.
        """
        b, (size, each) = self.b, piece
        rooms = {d: self.room(d) for d in dict.fromkeys(d for _, d in sums) if team.shares}
        start, end = team.start, f"{size}"
        if each < size:
            low = b.named(self.index, f"blockIdx.y * {each}").code
            end = b.named(self.index, f"{size} - {low} < {each} ? {size} : {low} + {each}").code
            start = f"{low} + {start}"
        rows = f"blockIdx.x * {team.rows}", f"{kept}", f"gridDim.x * {team.rows}"
        with self.strided(*rows) as first:
            row, stop, tests = first, end, [f"{team.start} == 0"]
            if team.rows > 1:
                row = b.named(self.index, f"{first} + {team.row}").code
            if kept % team.rows:  # a thread beyond the last row still meets the others
                stop = b.named(self.index, f"{row} < {kept} ? {end} : 0").code
                tests.append(f"{row} < {kept}")
            totals = [
                variable(b, dtype, b.constant(IDENTITIES[how](dtype), dtype)) for how, dtype in sums
            ]
            with self.strided(start, stop, f"{team.step}") as j:
                for (how, _), total, x in zip(sums, totals, elements(row, j), strict=True):
                    assign(b, total, COMBINE[how](b, total, x))
            for (how, dtype), total in zip(sums, totals, strict=True):
                if team.shuffles:
                    self.shuffle(how, total)
                if team.shares:
                    self.gather(how, total, rooms[dtype], team)
            with b.block(f"if ({' && '.join(tests)})"):
                write(row, totals)

    def room(self, dtype: DType) -> Sequence[str]:
        """Shared memory for a number of each thread, or of the parts of a complex one."""
        names = []
        for part in [PARTS[dtype]] * 2 if dtype.kind == "c" else [dtype]:
            names.append(self.b.fresh())
            self.b.line(f"__shared__ {register(part)} {names[-1]}[{BLOCK}];")
        return names

    def shuffle(self, how: str, total: Scalar) -> None:
        """Combine the totals of a warp's threads, in pairs: all of them get the same."""
        b = self.b
        with b.block(f"for (u32 far = {WARP // 2}; far; far /= 2)"):
            others = [self.of_another(x) for x in parts_of(total)]
            assign(b, total, COMBINE[how](b, total, whole(b, others)))

    def of_another(self, x: Scalar) -> Scalar:
        """The value that another thread of the warp has; short ones go as words."""
        kind = register(x.dtype)
        code = f"(i32){x.code}" if x.dtype.itemsize < 4 and x.kind != "f" else x.code
        return self.b.named(x.dtype, f"({kind})__shfl_xor_sync(0xffffffffu, {code}, far)")

    def gather(self, how: str, total: Scalar, room: Sequence[str], team: Team) -> None:
        """Combine the totals of a block's warps, one after the other, in its first threads."""
        b, parts = self.b, parts_of(total)
        for name, x in zip(room, parts, strict=True):
            b.line(f"{name}[threadIdx.x] = {x.code};")
        b.line("__syncthreads();")
        with (
            b.block(f"if (threadIdx.x < {team.rows})"),
            b.block(f"for (u32 k = threadIdx.x + {WARP}; k < {BLOCK}; k += {WARP})"),
        ):
            others = [b.named(x.dtype, f"{name}[k]") for name, x in zip(room, parts, strict=True)]
            assign(b, total, COMBINE[how](b, total, whole(b, others)))
        b.line("__syncthreads();")


class NestPrinter:
    """Prints the kernels of one nest."""

    def __init__(self, source: Source, nest: Nest, code: Code, name: str) -> None:
        self.source = source
        self.nest = nest
        self.name = name
        self.targets = [target(v, code.eqns[v], code.language) for v in nest.stored]
        self.body = Body(code, set(nest.stored))
        self.axes = [Axis(n) for n in nest.lanes]
        self.at = [of(a) for a in self.axes]
        survey = Survey(self.body)
        survey.visit([q for t in self.targets for q in t.sources(self.at)])
        for t in self.targets:
            for at in t.spaces(self.at):
                survey.compute(flat(t.own(at), t.var.shape))
        self.reads = list(survey.read)
        self.runs = runs(self.axes, survey.indices, self.joins)
        ends = [end for index in survey.indices for end in index.bounds]
        short = max([prod(nest.lanes), *map(abs, ends)]) < SHORT
        self.index = dtypes.int32 if short else dtypes.int64

    def joins(self, k: int) -> bool:
        """Whether a lane may be gone through as one with that before it."""
        return (k in self.nest.reduced) == (k - 1 in self.nest.reduced)

    def kernel(self, name: str, reads: Sequence[Atom]) -> tuple[Kernel, Values]:
        """Begin a kernel, and give what reads elements in it."""
        kernel = Kernel(self.source, name, self.index)
        values = Values(self.body, kernel.b)
        values.index = self.index
        for a in reads:
            self.body.buffers[a] = kernel.buffer(a, a.dtype, reads=True)
        return kernel, values

    def launches(self) -> Launches:
        """The kernels, printed."""
        return self.reduced() if self.nest.reduced else self.plain()

    def place(self, values: Values, lanes: Sequence[Lanes], number: str) -> None:
        """Tell where along some runs of lanes the element of a number is."""
        for run in reversed(lanes):
            *outer, last = run
            here = number
            if run is not lanes[0]:
                extent = values.word(prod(self.nest.lanes[k] for k in run))
                here = values.arithmetic("rem", number, extent)
                number = values.arithmetic("div", number, extent)
            values.axes[self.axes[last]] = here
            values.axes.update(dict.fromkeys([self.axes[k] for k in outer], "0"))

    # ---- elements by themselves

    def plain(self) -> Launches:
        """A kernel whose threads take elements a grid apart."""
        kernel, values = self.kernel(self.name, self.reads)
        outputs = {v: kernel.buffer(v, v.dtype, reads=False) for v in self.nest.stored}
        total = prod(self.nest.lanes)
        start = f"blockIdx.x * {BLOCK} + threadIdx.x"
        with kernel.strided(start, f"{total}", f"gridDim.x * {BLOCK}") as i:
            self.place(values, self.runs, i)
            self.store(values, outputs)
        call = kernel.call(-(-total // BLOCK))
        return Launches(self.reads, self.nest.stored, (), (call,))

    def store(self, values: Values, outputs: Mapping[Var, str]) -> None:
        """Store the values that are not reductions, all of them computed before."""
        plain = [t for t in self.targets if t.fold is None]
        pairs = [(t, q) for t in plain for q in t.sources(self.at)]
        for (t, q), x in [((t, q), values.value(q)) for t, q in pairs]:
            put(values, outputs[t.var], t, flat(q.at, t.var.shape), x)

    # ---- reductions

    def reduced(self) -> Launches:
        """A kernel, or one that reduces pieces and one that puts them together."""
        nest = self.nest
        kept = prod(n for k, n in enumerate(nest.lanes) if k not in nest.reduced)
        size = prod(nest.lanes) // kept
        team = self.team(size)
        blocks = -(-kept // team.rows)
        each = -(-size // max(1, min(BLOCKS // blocks, size // (team.step * SERIAL))))
        pieces = -(-size // each)
        sums = [(t, own) for t in self.folds for own in t.groups(self.at)]
        kinds = [(t.combine, t.dtype) for t, _ in sums]
        kernel, values = self.kernel(self.name, self.reads)
        plain = [t.var for t in self.targets if t.fold is None]
        outputs = {v: kernel.buffer(v, v.dtype, reads=False) for v in plain}
        if pieces == 1:
            results = {t.var: kernel.buffer(t.var, t.var.dtype, reads=False) for t in self.folds}
            kernel.reduce(
                team,
                kept,
                (size, each),
                kinds,
                self.elements(values, outputs),
                self.results(values, results),
            )
            return Launches(self.reads, nest.stored, (), (kernel.call(blocks),))

        left = [kernel.buffer(n, dtype, reads=False) for n, (_, dtype) in enumerate(kinds)]

        def leave(row: str, totals: Sequence[Scalar]) -> None:
            for name, x in zip(left, totals, strict=True):
                kernel.b.store(name, f"{row} * {pieces} + blockIdx.y", x)

        kernel.reduce(team, kept, (size, each), kinds, self.elements(values, outputs), leave)
        first = kernel.call(blocks, pieces)
        kernel, values = self.kernel(f"{self.name}_joined", ())
        ins = [kernel.buffer(n, dtype, reads=True) for n, (_, dtype) in enumerate(kinds)]
        results = {t.var: kernel.buffer(t.var, t.var.dtype, reads=False) for t in self.folds}

        def found(row: str, j: str) -> list[Scalar]:
            at = f"{row} * {pieces} + {j}"
            return [kernel.b.load(name, at, d) for name, (_, d) in zip(ins, kinds, strict=True)]

        kernel.reduce(
            WARP_TEAM, kept, (pieces, pieces), kinds, found, self.results(values, results)
        )
        scratch = [((kept * pieces,), dtype) for _, dtype in kinds]
        calls = first, kernel.call(-(-kept // WARP_TEAM.rows))
        return Launches(self.reads, nest.stored, scratch, calls)

    def elements(
        self, values: Values, outputs: Mapping[Var, str]
    ) -> Callable[[str, str], list[Scalar]]:
        """What stores the values that are not reductions, and gives what is added to those."""

        def at(row: str, j: str) -> list[Scalar]:
            found = []
            with values.scope():
                self.place(values, self.along(reduced=False), row)
                self.place(values, self.along(reduced=True), j)
                for t in self.folds:
                    assert t.fold is not None
                    for elements in t.groups(self.at).values():
                        xs = [values.value(Place(t.fold.place.atom, q)) for q in elements]
                        found.append(folded(values.builder, t.combine, xs, t.dtype))
                self.store(values, outputs)
            return found

        return at

    def results(
        self, values: Values, outputs: Mapping[Var, str]
    ) -> Callable[[str, Sequence[Scalar]], None]:
        """What stores reductions."""

        def at(row: str, totals: Sequence[Scalar]) -> None:
            sums = [(t, own) for t in self.folds for own in t.groups(self.at)]
            with values.scope():
                self.place(values, self.along(reduced=False), row)
                for (t, own), x in zip(sums, totals, strict=True):
                    put(values, outputs[t.var], t, flat(own, t.var.shape), x)

        return at

    def along(self, *, reduced: bool) -> list[Lanes]:
        """The runs of lanes that are reduced, or that are not."""
        return [run for run in self.runs if (run[0] in self.nest.reduced) == reduced]

    @property
    def folds(self) -> list[Target]:
        """The targets that are reductions."""
        return [t for t in self.targets if t.fold is not None]

    def team(self, size: int) -> Team:
        """Who puts reductions of so many elements together."""
        if len(self.nest.lanes) - 1 not in self.nest.reduced:
            return COLUMN_TEAM
        return WARP_TEAM if size <= WARP * SERIAL else BLOCK_TEAM


def put(values: Values, pointer: str, t: Target, at: Index, x: Scalar) -> None:
    """Write an element of a stored value."""
    b = values.builder
    b.store(pointer, values.code(at), b.cast(x, t.var.dtype))
