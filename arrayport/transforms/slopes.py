"""Slopes: derivatives of elementwise operations, as straight lines of kernels where met often."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from arrayport.core.array import Array, Aval
from arrayport.core.primitive import Slope
from arrayport.core.program import Atom, Literal, Program, Var
from arrayport.ops.structure import total
from arrayport.passes.share import share
from arrayport.passes.source import Step, straight
from arrayport.transforms.staging import restage

WARM = 10  # uses after which a slope is written as a straight line: that takes as long as forty
SOME = (2,)  # stands for every shape; a rule that asks for it is not written so

# The answer and the operands, None for what no rule reads: Arrays, or NumPy's.
Kept = Sequence[Any]
Line = Callable[..., list[Any]]  # of a raw cotangent and what is kept, if NumPy's


def learn(slope: Slope, dtype: np.dtype[Any], kept: Kept) -> None:
    """Count a use on NumPy's arrays, and after some write the rules as a straight line."""
    slope.uses += 1
    if slope.uses > WARM and dtype not in slope.lines and dtype in slope.prim.quick:
        avals = [Aval(SOME, dtype), *[Aval(SOME, dtype if k is None else k.dtype) for k in kept]]
        program = restage(lambda g, *all_kept: slope.pulled(g, all_kept), avals)
        slope.lines[dtype] = line(share(program))


def line(program: Program) -> Line | None:
    """A Program of elementwise operations on NumPy arrays of any one shape; None for others."""
    slots: dict[Atom, int] = {v: i for i, v in enumerate(program.ins)}
    last: dict[Atom, int] = {a: i for i, eqn in enumerate(program.eqns) for a in eqn.ins}
    last.update(dict.fromkeys(program.outs, len(program.eqns)))
    steps = []
    for i, (prim, ins, params, outs) in enumerate(program.eqns):
        kernel = prim.quick.get(ins[-1].dtype) if prim.partials else None
        if kernel is None:
            return None
        for a in (*ins, *outs):
            slots.setdefault(a, len(slots))
        dead = [slots[a] for a in {*ins} if last[a] == i and type(a) is Var]
        steps.append(Step(kernel, params, [slots[a] for a in ins], [slots[a] for a in outs], dead))
    for a in program.outs:
        slots.setdefault(a, len(slots))
    literals = {i: a.value.raw for a, i in slots.items() if type(a) is Literal}
    answers = [slots[a] for a in program.outs]
    return straight(len(program.ins), literals, steps, answers, ndarray, np.asarray)


def pull_slope(_parents: Any, saved: tuple[Slope, Kept], g: Array) -> list[Array]:
    """Pull a cotangent back by an elementwise operation."""
    slope, kept = saved
    return slope.pulled(g, kept)


def pull_line(_parents: Any, saved: tuple[Slope, Kept, bool], g: Any) -> list[Any]:
    """The same where NumPy's arrays are kept: by the straight line, if that is written.

    The cotangent may be NumPy's own array, for a strong Array: then so are those of the operands.
    """
    slope, kept, weak = saved
    if type(g) is ndarray:
        run = slope.lines.get(g.dtype)
        if run is not None:
            return run(g, *kept)
    raw = g.raw if type(g) is Array else g
    if type(raw) is ndarray:
        run = slope.lines.get(raw.dtype)
        if run is not None:
            cts = run(raw, *kept)
            return [Array(ct, True) for ct in cts] if g.weak else cts
        learn(slope, raw.dtype, kept)
    return slope.pulled(g if isinstance(g, Array) else Array(g), _arrays(kept, weak))


def _arrays(kept: Kept, weak: bool) -> list[Array | None]:
    """What was kept of NumPy's, as weak as the answer: beside strong arrays, numbers are strong."""
    return [None if k is None else Array(k, weak) for k in kept]


def push_slope(saved: tuple[Slope, Kept], ts: Sequence[Array | None]) -> Array | None:
    """Push the operands' tangents forward."""
    slope, kept = saved
    params = slope.params
    pairs = zip(slope.rules, ts, strict=True)
    return total([rule(t, *kept, **params) for rule, t in pairs if t is not None])


def push_line(saved: tuple[Slope, Kept, bool], ts: Sequence[Array | None]) -> Array | None:
    """The same where NumPy's arrays are kept."""
    slope, kept, weak = saved
    return push_slope((slope, _arrays(kept, weak)), ts)
