"""How the primitives that hold Programs run on NumPy and CuPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayport.control.checkpoint import checkpoint_p
from arrayport.control.conditionals import cond_p
from arrayport.control.custom_batching import custom_vmap_p
from arrayport.control.custom_jvp import custom_jvp_p
from arrayport.control.custom_vjp import custom_vjp_p
from arrayport.control.jit import jit_p
from arrayport.control.linear_calls import linear_call_p
from arrayport.control.loops import while_p
from arrayport.control.policies import name_p
from arrayport.control.scanning import scan_p
from arrayport.control.solves import linear_solve_p, root_p
from arrayport.core import profile
from arrayport.core.array import Array
from arrayport.core.primitive import Holder
from arrayport.core.program import Program, Var, interprets
from arrayport_backends.ndarray.backend import ArrayBackend
from arrayport_backends.ndarray.kernels import Kernel, Rows

Raw = Any


def cond(backend: ArrayBackend, index: Raw, *raws: Raw, branches: Sequence[Program]) -> list[Raw]:
    """Run the Program that the index names."""
    return branches[int(index)].run(backend)(*raws)


def loop_body(
    backend: ArrayBackend, body: Program, carry: Sequence[Var], key: Any
) -> tuple[Any, bool]:
    """The executor of a loop's body, and whether it overwrites the dying carry.

    It is safe if the new carry comes in buffers that the body made or was given, one for each part.
    """
    if interprets():
        return body.run(backend), False

    def make() -> tuple[Any, bool]:
        owning = backend.compile(body, carry)
        if owning.separate:
            return owning, True
        return body.run(backend), False

    return body.derive(("loop", backend, key, profile.recording is not None), make)


class Trips:
    """How many steps a body made, in how many loops: what the next one is reckoned to cost."""

    __slots__ = ("loops", "steps")

    def __init__(self) -> None:
        self.loops = self.steps = 0

    @property
    def mean(self) -> float:
        """Steps in a loop; one where none has run."""
        return self.steps / self.loops if self.loops else 1.0


def trips(body: Program) -> Trips:
    """What is known of a loop's body."""
    found: Trips = body.derive("trips", Trips)
    return found


def while_loop(
    backend: ArrayBackend, *raws: Raw, cond: Program, body: Program, counts: tuple[int, int]
) -> list[Raw]:
    """Run the body while the condition holds."""
    n, m = counts
    cond_consts, body_consts, carry = raws[:n], raws[n : n + m], list(raws[n + m :])
    test = cond.run(backend)
    step, owned = loop_body(backend, body, body.ins[m:], counts)
    if owned:
        carry = [c.copy() for c in carry]
    counted = trips(body)
    counted.loops += 1
    while test.run(*cond_consts, *carry)[0]:  # type: ignore[attr-defined]
        carry = step.run(*body_consts, *carry)
        counted.steps += 1
    return carry


def scan(
    backend: ArrayBackend,
    *raws: Raw,
    body: Program,
    counts: tuple[int, int],
    length: int,
    reverse: bool,
) -> list[Raw]:
    """Run the body for each slice, stacking what it gives besides the carry."""
    n, m = counts
    consts, carry, xs = raws[:n], list(raws[n : n + m]), raws[n + m :]
    step, owned = loop_body(backend, body, body.ins[n : n + m], counts)
    if owned:
        carry = [c.copy() for c in carry]
    ys = [backend.lib.empty((length, *v.shape), v.dtype) for v in body.outs[m:]]
    for i in reversed(range(length)) if reverse else range(length):
        outs = step.run(*consts, *carry, *[x[i, ...] for x in xs])
        carry = outs[:m]
        for y, out in zip(ys, outs[m:], strict=True):
            y[i, ...] = out
    return [*carry, *ys]


def applied(prim: Holder) -> Kernel:
    """Apply what a holder just runs; a function that was not staged gives Arrays."""

    def run(backend: ArrayBackend, *raws: Raw, **params: Any) -> list[Raw]:
        held = params[prim.runs]
        if isinstance(held, Program):
            return held.run(backend)(*raws)
        return held(*[Array(r) for r in raws])

    return Kernel(run, moves=True, programs=True)


ROWS: Rows = {
    **{p: applied(p) for p in (jit_p, checkpoint_p, custom_jvp_p, custom_vjp_p, custom_vmap_p)},
    **{p: applied(p) for p in (linear_call_p, linear_solve_p, root_p)},
    name_p: Kernel(
        lambda _lib, x, name: x,  # noqa: ARG005 - all of its parameters
        view=True,
        moves=True,
        scalar=lambda _b, x, name: x,  # noqa: ARG005 - all of its parameters
        kinds="biufck",
    ),
    cond_p: Kernel(cond, moves=True, programs=True),
    while_p: Kernel(while_loop, moves=True, programs=True),
    scan_p: Kernel(scan, moves=True, programs=True),
}
