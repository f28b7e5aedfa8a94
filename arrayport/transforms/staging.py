"""Staging: tracing a function of arrays into a Program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayport.core import backend as backends
from arrayport.core import lines
from arrayport.core.array import Array, Aval, Tracer, aval_of, new
from arrayport.core.backend import Backend
from arrayport.core.config import config
from arrayport.core.errors import BackendMismatchError, UnexpectedTracerError, user_line
from arrayport.core.primitive import Holder, Primitive
from arrayport.core.program import Atom, Eqn, Literal, PlacedEqn, Program, Var, check_program
from arrayport.core.trace import Trace, backend_of, complete, finish, stage_into
from arrayport.passes.prune import prune


class StagingTracer(Tracer):
    """A value of the Program under construction."""

    __slots__ = ("variable",)

    def __init__(self, trace: StagingTrace, var: Var) -> None:
        self.owner = trace
        self.variable = var
        self.shape = var.shape
        self.dtype = var.dtype
        self.weak = var.weak

    def __repr__(self) -> str:
        """Show it as JAX shows its own: `~` stands for a weak type."""
        return f"JitTracer({'~' if self.weak else ''}{aval_of(self)._replace(weak=False)})"


class StagingTrace(Trace):
    """Writes a Program; while it is the `staging` trace every operation lands in it."""

    def __init__(self) -> None:
        super().__init__()
        self.eqns: list[Eqn] = []
        self.captured: dict[int, tuple[Tracer, Var]] = {}
        self.home = backends.ambient()

    def backend(self, x: Tracer) -> Backend:
        return self.home

    def input(self, aval: Any) -> StagingTracer:
        """Make an input of the Program."""
        return StagingTracer(self, Var(aval.shape, aval.dtype, aval.weak))

    def atom(self, x: Array) -> Var | Literal:
        """What stands for x: its variable, a literal, or a new input for another trace's tracer."""
        if type(x) is StagingTracer and x.owner is self:
            return x.variable
        if not isinstance(x, Tracer):
            own = backend_of(x)
            if own is not None and own is not self.home:
                raise BackendMismatchError(
                    f"a function traced for backend {self.home.name!r} uses an array of "
                    f"{own.name!r} at {user_line()}: move it first with "
                    "arrayport.device_put(x, device)"
                )
            return Literal(x)
        if id(x) not in self.captured:
            self.captured[id(x)] = x, Var(x.shape, x.dtype, x.weak)
        return self.captured[id(x)][1]

    def process(self, prim: Primitive, args: Sequence[Array], params: dict[str, Any]) -> Any:
        if isinstance(prim, Holder) and prim.stage:
            return prim.stage(self, args, params)
        return self.emit(prim, args, params)

    def emit(self, prim: Primitive, args: Sequence[Array], params: dict[str, Any]) -> Any:
        """Write one equation."""
        out = prim.abstract(*args, **params)
        if not prim.many:
            var = Var(*out)
            ins = tuple([self.atom(a) for a in args])
            self.write(new(Eqn, (prim, ins, params, (var,))))
            return StagingTracer(self, var)
        outs = tuple([Var(*a) for a in out])
        self.write(Eqn(prim, tuple([self.atom(a) for a in args]), params, outs))
        return [StagingTracer(self, v) for v in outs]

    def write(self, eqn: Eqn) -> None:
        """Add an equation, with the user's line if lines are asked for."""
        if lines.on:
            eqn = PlacedEqn(*eqn)
            eqn.line = user_line()
        self.eqns.append(eqn)

    def close(
        self, ins: Sequence[StagingTracer], outs: Sequence[Array]
    ) -> tuple[Program, list[Tracer]]:
        """The Program and the captured tracers, which are its first inputs.

        It is pruned, unless all is looked at.
        """
        atoms: list[Atom] = [self.atom(o) for o in outs]
        captured = list(self.captured.values())
        program = Program([*[v for _, v in captured], *[t.variable for t in ins]], self.eqns, atoms)
        finish(self)
        if config.enable_checks:
            check_program(program)
        return program if complete.get() else prune(program), [x for x, _ in captured]


def stage(f: Callable[..., Sequence[Array]], avals: Sequence[Any]) -> tuple[Program, list[Tracer]]:
    """Trace a function of flat Arrays; what it captured comes first among the inputs."""
    trace = StagingTrace()
    ins = [trace.input(a) for a in avals]
    with stage_into(trace):
        outs = f(*ins)
    return trace.close(ins, outs)


def restage(f: Callable[..., Sequence[Array]], avals: Sequence[Any]) -> Program:
    """Trace a function of flat Arrays that must capture nothing."""
    program, captured = stage(f, avals)
    if captured:
        raise UnexpectedTracerError(
            f"a derivative rule captured a traced {aval_of(captured[0])} from outside, which is "
            "gone by the time the rule is used: pass it as an argument"
        )
    return program


def avals_with(avals: Sequence[Any], chosen: Sequence[bool], size: int) -> list[Aval]:
    """The avals, those chosen with an axis of `size` in front."""
    return [
        Aval((size, *v.shape) if c else v.shape, v.dtype, v.weak)
        for v, c in zip(avals, chosen, strict=True)
    ]
