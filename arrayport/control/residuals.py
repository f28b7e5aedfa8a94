"""print_saved_residuals: what a function keeps between its forward and its backward pass."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from arrayport.control.checkpoint import checkpoint_p
from arrayport.control.flat import Staged, flatten
from arrayport.control.policies import parted
from arrayport.core.array import aval_of
from arrayport.core.dtypes import is_inexact
from arrayport.core.nodes import keystr
from arrayport.core.program import Atom, Literal, Program
from arrayport.core.trace import route
from arrayport.core.tree import tree_flatten_with_path
from arrayport.transforms.derived import linearize_program


def print_saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print the values that the backward pass of a function will read, and where they come from.

    Source: `jax.ad_checkpoint.print_saved_residuals`.

    >>> import arrayport.numpy as anp
    >>> print_saved_residuals(lambda x: anp.sum(anp.sin(x)), anp.ones(3))
    float32[3] from the argument [0][0]
    """
    leaves, tree = flatten((args, kwargs), "an argument")
    _, engine = route(leaves)
    if engine is not None:
        engine.print_saved_residuals(f, *args, **kwargs)
        return
    traced = Staged(lambda given, named: f(*given, **named), tree, [aval_of(x) for x in leaves])
    names = [f"the argument {keystr(p)}" for p, _ in tree_flatten_with_path((args, kwargs))[0]]
    names = ["a captured value"] * len(traced.captured) + names
    sys.stdout.write("".join(f"{line}\n" for line in _saved(traced.program, names)))


def _saved(program: Program, names: list[str]) -> list[str]:
    """The residuals of a Program, described."""
    if [eqn.prim for eqn in program.eqns] == [checkpoint_p]:  # its policy decides
        (eqn,) = program.eqns
        inner, policy = eqn.params["program"], eqn.params["policy"]
        lin = _linear(inner)
        saving, _, count = parted(lin, policy)
        kept = saving.outs[len(saving.outs) - count :]
        operands = [f"{aval_of(v)} from {n}" for v, n in zip(program.ins, names, strict=True)]
        return [*operands, *[_described(v, saving) for v in kept]]
    lin = _linear(program)
    made = iter(lin.first.outs[len(lin.nonzero_out) :])
    lines = []
    for i in lin.forwarded:
        if i is not None:
            lines.append(f"{aval_of(program.ins[i])} from {names[i]}")
        elif type(atom := next(made)) is not Literal:
            lines.append(_described(atom, lin.first))
    return lines


def _linear(program: Program) -> Any:
    marks = tuple([is_inexact(v.dtype) for v in program.ins])
    return linearize_program(program, marks, (False,) * len(program.outs))


def _described(atom: Atom, program: Program) -> str:
    maker = next((e.prim.name for e in program.eqns if atom in e.outs), "an argument")
    return f"{aval_of(atom)} output of {maker}"
