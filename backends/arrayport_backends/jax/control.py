"""JAX's own control flow, for functions of arrayport's Arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax
from jax.tree_util import tree_map, tree_structure

from arrayport_backends.jax.faults import translating
from arrayport_backends.jax.leaves import OURS, RAW, Seen, bare, kept, rewrap, unwrap

Function = Callable[..., Any]
ABSENT = object()


@translating
def cond(
    pred: Any, true_fun: Function, false_fun: Function, *operands: Any, operand: Any = ABSENT
) -> Any:
    """Run one of two functions, as `jax.lax.cond` does."""
    operands = operands if operand is ABSENT else (operand,)
    raws, kinds = unwrap(operands)
    branches = [kept(true_fun, kinds), kept(false_fun, kinds)]
    return met(branches, lax.cond(bare(pred), *branches, *raws))


@translating
def switch(index: Any, branches: Sequence[Function], *operands: Any, operand: Any = ABSENT) -> Any:
    """Run one of several functions, as `jax.lax.switch` does."""
    operands = operands if operand is ABSENT else (operand,)
    raws, kinds = unwrap(operands)
    seen = [kept(branch, kinds) for branch in branches]
    return met(seen, lax.switch(bare(index), seen, *raws))


def met(branches: Sequence[Seen], out: Any) -> Any:
    """Wrap what one of the branches gave: a leaf is raw only if all agree on it."""
    structure = tree_structure(out)
    known = [b.outs[0, structure] for b in branches if (0, structure) in b.outs]
    return rewrap(out, [all(raw) for raw in zip(*known, strict=True)] or OURS)


@translating
def while_loop(cond_fun: Function, body_fun: Function, init_val: Any) -> Any:
    """Repeat while a condition holds, as `jax.lax.while_loop` does."""
    raws, kinds = unwrap(init_val)
    return rewrap(lax.while_loop(kept(cond_fun, kinds), kept(body_fun, kinds), raws), kinds)


@translating
def fori_loop(lower: Any, upper: Any, body_fun: Function, init_val: Any, **options: Any) -> Any:
    """Repeat for a range of integers, as `jax.lax.fori_loop` does."""
    raws, kinds = unwrap(init_val)
    body = kept(body_fun, (RAW[type(lower)] or RAW[type(upper)], *kinds))
    return rewrap(lax.fori_loop(bare(lower), bare(upper), body, raws, **options), kinds)


@translating
def scan(f: Function, init: Any, xs: Any = None, length: Any = None, **options: Any) -> Any:
    """Carry a value along the leading axis, as `jax.lax.scan` does."""
    raw_init, carried = unwrap(init)
    raw_xs, given = unwrap(xs)
    step = kept(f, carried + given)
    out = lax.scan(step, raw_init, raw_xs, bare(length), **options)
    made = step.outs.get((0, tree_structure(out)), OURS)
    return rewrap(out[0], carried or OURS), rewrap(out[1], made[len(carried) :] or OURS)


@translating
def map(f: Function, xs: Any, **options: Any) -> Any:
    """Apply a function to one element after the other, as `jax.lax.map` does."""
    raws, kinds = unwrap(xs)
    seen = kept(f, kinds)
    return seen.wrap(lax.map(seen, raws, **options))


@translating
def associative_scan(fn: Function, elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """Combine ever longer prefixes, as `jax.lax.associative_scan` does."""
    raws, kinds = unwrap(elems)
    return rewrap(lax.associative_scan(Seen(fn, kinds * 2), raws, reverse, axis), kinds or OURS)


@translating
def reduce(operands: Any, init_values: Any, computation: Function, dimensions: Any) -> Any:
    """Combine along axes by any function, as `jax.lax.reduce` does."""
    raws, starts, seen = _monoid(operands, init_values, computation)
    return rewrap(lax.reduce(raws, starts, seen, tuple(dimensions)), seen.kinds)


@translating
def reduce_window(
    operands: Any, init_values: Any, computation: Function, *places: Any, **options: Any
) -> Any:
    """Combine within sliding windows by any function, as `jax.lax.reduce_window` does."""
    raws, starts, seen = _monoid(operands, init_values, computation)
    return rewrap(lax.reduce_window(raws, starts, seen, *places, **options), seen.kinds)


def _monoid(operands: Any, init_values: Any, computation: Function) -> tuple[Any, Any, Seen]:
    """Give operands, initial values of their dtypes, and the function of two trees of scalars."""
    raws, kinds = unwrap(operands)
    raws = tree_map(jnp.asarray, raws)
    starts = tree_map(lambda x, v: jnp.asarray(v, x.dtype), raws, unwrap(init_values)[0])
    return raws, starts, Seen(computation, kinds)
