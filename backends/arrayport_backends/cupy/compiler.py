"""The compiler of Programs for CUDA devices: nests become kernels, the rest stays CuPy's calls."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from arrayport.core.program import Atom, Eqn, Program
from arrayport.ops.slices import slice_p
from arrayport.ops.structure import broadcast_in_dim_p, reshape_p, transpose_p
from arrayport.passes.forms import Form
from arrayport.passes.fuse import Nest, fuse
from arrayport.passes.indices import Indices
from arrayport.passes.inline import inline
from arrayport_backends.cupy.cuda import Source
from arrayport_backends.cupy.keys import Keys
from arrayport_backends.cupy.nests import BLOCK, Launches, NestPrinter
from arrayport_backends.ndarray.costs import PATIENCE
from arrayport_backends.ndarray.elements import Code, code_of
from arrayport_backends.ndarray.executor import Executor, Routine
from arrayport_backends.ndarray.language import KernelLanguage
from arrayport_backends.ndarray.schedules import described, held, named

if TYPE_CHECKING:
    from arrayport_backends.cupy.backend import CupyBackend

# Nanoseconds.
COMPILING = 200_000_000
CALL = 10_000  # of one of CuPy's functions
BYTE = 0.001  # that one of them reads or writes

VIEWS = frozenset({slice_p, broadcast_in_dim_p, reshape_p, transpose_p})
NAME = 60  # letters of a kernel's name

Function = Callable[[tuple[int, int], tuple[int], tuple[Any, ...]], None]


class NotCompiledError(RuntimeError):
    """The compiler of kernels is missing, or refuses one."""


class CupyExecutor(Executor):
    """An executor that makes calls until kernels have become worth making."""

    backend: CupyBackend

    def plan(self, program: Program) -> None:
        super().plan(program)
        if self.backend.module is None:
            return
        price = sum(map(nanoseconds, filter(self.backend.language.fusable, program.eqns)))
        if price:
            self.warm = int(PATIENCE * COMPILING / price)

    def prepare(self, program: Program) -> Program:
        return super().prepare(program if self.backend.module is None else inline(program, held))

    def compiled(self) -> Callable[..., list[Any]]:
        if self.backend.module is not None:
            super().plan(compiled(self.program, self.backend))
        return super().compiled()


def nanoseconds(eqn: Eqn) -> float:
    """How long CuPy takes for an equation, roughly."""
    return CALL + BYTE * sum(prod(a.shape) * a.dtype.itemsize for a in (*eqn.ins, *eqn.outs))


class WithViews(KernelLanguage):
    """A language in which some equations are left to the library, which gives views."""

    def __init__(self, language: KernelLanguage, left: set[int]) -> None:
        super().__init__(language.rows)
        self.fused, self.costs = language.fused, language.costs
        self.left = left

    def form(self, eqn: Eqn, at: Indices) -> Form | None:
        return None if id(eqn) in self.left else super().form(eqn, at)


def views(program: Program, language: KernelLanguage) -> set[int]:
    """The equations, by identity, that would only copy what calls, or nobody, read as a view."""
    users: dict[Atom, list[Eqn]] = defaultdict(list)
    made = {v for eqn in program.eqns if language.fusable(eqn) for v in eqn.outs}
    left: set[int] = set()
    for eqn in reversed(program.eqns):
        if (
            eqn.prim in VIEWS
            and all(id(user) in left or not language.fusable(user) for user in users[eqn.outs[0]])
            and (eqn.ins[0] not in made or prod(eqn.ins[0].shape) <= prod(eqn.outs[0].shape))
        ):
            left.add(id(eqn))
        for a in eqn.ins:
            users[a].append(eqn)
    return left


def printed(program: Program, language: KernelLanguage) -> tuple[list[Any], Code, Source]:
    """The nests and calls of a Program, the nests with their launches, and the kernels' source."""
    language = WithViews(language, views(program, language))
    units = fuse(program, language)
    code, source = code_of(program, units, language), Source()
    found: list[Any] = []
    for number, unit in enumerate(units):
        if isinstance(unit, Nest):
            name = f"{named([unit], code)[:NAME]}_{number}"
            found.append((unit, NestPrinter(source, unit, code, name).launches()))
        else:
            found.append((unit, None))
    return found, code, source


def compiled(program: Program, backend: CupyBackend) -> Program:
    """The Program with its nests as compiled equations; as it is where the compiler refuses."""
    assert backend.module is not None
    units, code, source = printed(program, backend.language)
    if not any(launches for _, launches in units):
        return program
    try:
        module = backend.module(str(source))
    except NotCompiledError as error:
        _warn(backend, error)
        return program
    eqns = [
        unit if launches is None else equation(backend, module, launches, named([unit], code))
        for unit, launches in units
    ]
    return Program(program.ins, eqns, program.outs)


def _warn(backend: CupyBackend, error: Exception) -> None:
    """Say, the first time, that there are no kernels."""
    if not backend.warned:
        backend.warned = True
        text = f"jit on {backend.name!r} goes on with CuPy's own functions: {error}"
        warnings.warn(text, RuntimeWarning, stacklevel=2)


def equation(backend: CupyBackend, module: Any, launches: Launches, name: str) -> Eqn:
    """An equation that launches kernels."""
    prim: Any = Routine(Launcher(backend, module, launches), name)
    stores: Any = tuple(launches.stores)
    return Eqn(prim, tuple(launches.reads), {}, stores)


class Launcher:
    """Launches the kernels of a nest on raw arrays."""

    def __init__(self, backend: CupyBackend, module: Any, launches: Launches) -> None:
        self.lib = backend.lib
        self.made = [(v.shape, v.dtype) for v in launches.stores] + list(launches.scratch)
        self.stores = len(launches.stores)
        atoms: list[Atom] = [*launches.reads, *launches.stores]
        slots: Mapping[Any, int] = {
            **{a: k for k, a in enumerate(atoms)},
            **{n: len(atoms) + n for n in range(len(launches.scratch))},
        }
        self.calls: Sequence[tuple[Function, tuple[int, int], Sequence[int]]] = [
            (module.get_function(call.name), call.grid, [slots[b] for b in call.buffers])
            for call in launches.calls
        ]

    def __call__(self, *raws: Any) -> list[Any]:
        """Give what is stored."""
        made = [self.lib.empty(*kind) for kind in self.made]
        buffers = [x.bits if isinstance(x, Keys) else x for x in (*raws, *made)]
        for k in range(len(raws)):
            if not buffers[k].flags.c_contiguous:
                buffers[k] = self.lib.xp.ascontiguousarray(buffers[k])
        for function, grid, slots in self.calls:
            function(grid, (BLOCK,), tuple([buffers[k] for k in slots]))
        return made[: self.stores]


def text(program: Program, backend: CupyBackend, dialect: str) -> str:
    """What a Program is compiled to: its "schedule", or the kernels' source in "cuda"."""
    executor = CupyExecutor(backend, inline(program, held))
    units, code, source = printed(executor.program, backend.language)
    if dialect == "cuda":
        return str(source)
    kinds = ("calls", "kernel")
    return "\n".join(f"{kinds[isinstance(u, Nest)]}  {described(u, code)}" for u, _ in units)
