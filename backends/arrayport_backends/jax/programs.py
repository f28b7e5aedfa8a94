"""How primitives that hold Programs run on JAX, where arrayport's own engine made them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jax import lax
from jax.ad_checkpoint import checkpoint_name

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
from arrayport.core.primitive import Holder, Primitive
from arrayport.core.program import Program, eval_program
from arrayport_backends.jax.leaves import bare, wrap


def run(function: Program | Callable[..., Any], raws: Sequence[Any]) -> list[Any]:
    """Apply a Program, or a function of flat Arrays, to raw values."""
    xs = [wrap(raw) for raw in raws]
    outs = eval_program(function, xs) if isinstance(function, Program) else function(*xs)
    return [bare(out) for out in outs]


def cond(index: Any, *operands: Any, branches: Sequence[Program]) -> list[Any]:
    """Run the branch at an index."""
    return lax.switch(index, [lambda *xs, b=b: run(b, xs) for b in branches], *operands)


def scan(
    *operands: Any, body: Program, counts: tuple[int, int], length: int, reverse: bool
) -> list[Any]:
    """Run `body(*constants, *carry, *xs)` along the leading axis of the xs."""
    start, end = counts[0], sum(counts)

    def step(carry: Any, xs: Any) -> tuple[Any, Any]:
        outs = run(body, [*operands[:start], *carry, *xs])
        return outs[: counts[1]], outs[counts[1] :]

    carry, ys = lax.scan(step, list(operands[start:end]), operands[end:], length, reverse=reverse)
    return [*carry, *ys]


def while_loop(*operands: Any, cond: Program, body: Program, counts: tuple[int, int]) -> list[Any]:
    """Run `body(*its constants, *carry)` while `cond(*its constants, *carry)`."""
    start, end = counts[0], sum(counts)
    return lax.while_loop(
        lambda carry: run(cond, [*operands[:start], *carry])[0],
        lambda carry: run(body, [*operands[start:end], *carry]),
        list(operands[end:]),
    )


def applied(prim: Holder) -> Callable[..., Any]:
    """Apply what a holder just runs."""
    return lambda *xs, **params: run(params[prim.runs], xs)


ROWS: Mapping[Primitive, Callable[..., Any]] = {
    **{p: applied(p) for p in (jit_p, checkpoint_p, custom_jvp_p, custom_vjp_p, custom_vmap_p)},
    **{p: applied(p) for p in (linear_call_p, linear_solve_p, root_p)},
    name_p: checkpoint_name,
    cond_p: cond,
    scan_p: scan,
    while_p: while_loop,
}
