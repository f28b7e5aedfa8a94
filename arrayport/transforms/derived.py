"""Programs from Programs, each made once: derivative, linearization, batched form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayport.core.array import Array
from arrayport.core.dtypes import is_inexact
from arrayport.core.program import Program, eval_program
from arrayport.core.trace import stage_into
from arrayport.ops.structure import zeros
from arrayport.transforms.batching import in_batch
from arrayport.transforms.forward import JVPTrace, JVPTracer
from arrayport.transforms.graph import GradTrace, backward, forward
from arrayport.transforms.staging import StagingTrace, avals_with, restage, stage

Mask = tuple[bool, ...]


def spread(values: Sequence[Any], mask: Sequence[bool]) -> list[Any]:
    """Values at the marked places, None at the others."""
    it = iter(values)
    return [next(it) if m else None for m in mask]


def marked(values: Sequence[Any], mask: Sequence[bool]) -> list[Any]:
    """The values at the marked places."""
    return [v for v, m in zip(values, mask, strict=True) if m]


def instantiate(
    ts: Sequence[Array | None], likes: Sequence[Any], mask: Sequence[bool]
) -> list[Array]:
    """The values at the marked places, zeros for None."""
    return [zeros(x) if t is None else t for t, x, m in zip(ts, likes, mask, strict=True) if m]


def jvp_program(program: Program, nonzero: Mask, forced: Mask) -> tuple[Program, Mask]:
    """Inputs, tangents of the nonzero ones -> outputs, tangents of those nonzero or forced."""

    def make() -> tuple[Program, Mask]:
        mask: list[bool] = []

        def f(*args: Array) -> list[Array]:
            xs, ts = args[: len(nonzero)], iter(args[len(nonzero) :])
            trace = JVPTrace()
            ins = [
                JVPTracer(trace, x, next(ts)) if nz else x
                for x, nz in zip(xs, nonzero, strict=True)
            ]
            pairs = [trace.pair(o) for o in eval_program(program, ins)]
            mask.extend(
                (t is not None or force) and is_inexact(v.dtype)
                for (v, t), force in zip(pairs, forced, strict=True)
            )
            values = [v for v, _ in pairs]
            return values + instantiate([t for _, t in pairs], values, mask)

        staged = restage(f, [*program.ins, *marked(program.ins, nonzero)])
        return staged, tuple(mask)

    return program.derive(("jvp", nonzero, forced), make)


class Linearized:
    """A Program split in two: `first` gives residuals too, which `linear` takes with (co)tangents.

    A residual that is an input of `first`, unchanged, is not returned: `forwarded` gives its
    number, else None.
    """

    __slots__ = ("first", "forwarded", "linear", "nonzero_out")

    def __init__(
        self, first: Program, forwarded: list[int | None], linear: Program, nonzero_out: Mask
    ) -> None:
        self.first = first
        self.forwarded = forwarded
        self.linear = linear
        self.nonzero_out = nonzero_out

    def residuals(self, xs: Sequence[Array], outs: Sequence[Array]) -> list[Array]:
        """What `linear` takes first, from the inputs and outputs of `first`."""
        made = iter(outs[len(self.nonzero_out) :])
        return [next(made) if i is None else xs[i] for i in self.forwarded]


def linearize_program(
    program: Program,
    nonzero: Mask,
    forced: Mask,
    *,
    forward_mode: bool = False,
    accumulate: Mask = (),
) -> Linearized:
    """Split a Program; `linear` takes residuals, `accumulate`d cotangents, (co)tangents."""

    def make() -> Linearized:
        outer, tape = StagingTrace(), GradTrace(forward_mode)
        ins = [outer.input(v) for v in program.ins]
        with stage_into(outer):
            inputs = [tape.input(x) if nz else x for x, nz in zip(ins, nonzero, strict=True)]
            outs = eval_program(program, inputs)
            own = [tape.owns(o) for o in outs]
            values = [o.value if m else o for o, m in zip(outs, own, strict=True)]  # type: ignore[attr-defined]
            mask = tuple(
                [
                    (m or force) and is_inexact(v.dtype)
                    for m, v, force in zip(own, values, forced, strict=True)
                ]
            )
            leaves: list[Any] = marked(inputs, nonzero)
            carried = marked(leaves, accumulate) if accumulate else []

            def pull(*cts: Array) -> list[Array]:
                pairs = zip([*carried, *marked(outs, mask)], cts, strict=True)
                found = backward(
                    [(o.node, c) for o, c in pairs if tape.owns(o)], [t.node for t in leaves]
                )
                return [zeros(t) if c is None else c for c, t in zip(found, leaves, strict=True)]

            def push(*ts: Array) -> list[Array]:
                pairs = [(x.node, t) for x, t in zip(leaves, ts, strict=True)]
                made = spread(forward([o.node for o in marked(outs, own)], pairs), own)
                return instantiate(made, values, mask)

            avals = leaves if forward_mode else [*carried, *marked(values, mask)]
            linear, residuals = stage(push if forward_mode else pull, avals)
            position = {id(t): i for i, t in enumerate(ins)}
            forwarded = [position.get(id(r)) for r in residuals]
            kept = [r for r, i in zip(residuals, forwarded, strict=True) if i is None]
            first, _ = outer.close(ins, [*values, *kept])
        return Linearized(first, forwarded, linear, mask)

    return program.derive(("linearize", nonzero, forced, forward_mode, accumulate), make)


def batch_program(program: Program, size: int, batched: Mask, forced: Mask) -> tuple[Program, Mask]:
    """The Program over inputs batched at axis 0, and which outputs are (some are forced)."""

    def make() -> tuple[Program, Mask]:
        mask: list[bool] = []

        def f(*xs: Array) -> list[Array]:
            dims = [0 if b else None for b in batched]
            trace, outs = in_batch(size, lambda *ins: eval_program(program, ins), xs, dims)
            mask.extend(
                trace.pair(o)[1] is not None or force for o, force in zip(outs, forced, strict=True)
            )
            return [trace.output(o, 0 if m else None) for o, m in zip(outs, mask, strict=True)]

        return restage(f, avals_with(program.ins, batched, size)), tuple(mask)

    name = getattr(size, "name", None)
    return program.derive(("batch", size, name, batched, forced), make)
