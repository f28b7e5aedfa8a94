"""scan: a Program run once for each slice of its inputs, a carry passed along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from arrayport.control.flat import Counts, Staged, check_same, flatten, split, trace_carry
from arrayport.core.array import Array, Aval, aval_of
from arrayport.core.config import jit_disabled
from arrayport.core.primitive import Holder
from arrayport.core.program import Program
from arrayport.core.tree import tree_leaves, tree_structure, tree_unflatten
from arrayport.ops.shapes import stack
from arrayport.ops.structure import batch_to_front, move_axis, zeros
from arrayport.transforms.derived import (
    Linearized,
    Mask,
    batch_program,
    instantiate,
    jvp_program,
    linearize_program,
    spread,
)
from arrayport.transforms.engines import run_on_engine
from arrayport.transforms.varying import UntoldError, asked, told

# Operands: constants, carry, xs; `counts` says how many of the first two. The body: (constants,
# carry, x) -> (carry, y).


def _some(values: Sequence[Any]) -> list[Any]:
    return [v for v in values if v is not None]


def _abstract(*_xs: Any, body: Program, counts: Counts, length: int, reverse: bool) -> list[Aval]:  # noqa: ARG001
    avals = body.out_avals
    stacked = [Aval((length, *a.shape), a.dtype, a.weak) for a in avals[counts[1] :]]
    return avals[: counts[1]] + stacked


def _fixpoint(
    mask: Sequence[bool],
    counts: Counts,
    n_outs: int,
    attempt: Callable[[Mask, Mask], tuple[Any, Mask]],
) -> tuple[Any, Mask, Mask]:
    """Grow the marks of the carry until the body's outputs carry no more marks than its inputs."""
    consts, carry, xs = split(mask, counts)
    while True:
        marks = (*consts, *carry, *xs)
        result, out = attempt(marks, (*carry, *[False] * (n_outs - counts[1])))
        if list(out[: counts[1]]) == carry:
            return result, marks, out
        carry = [a or b for a, b in zip(carry, out[: counts[1]], strict=True)]


def _scan_jvp(
    ts: Sequence[Any], xs: Sequence[Array], params: dict[str, Any]
) -> tuple[list[Array], list[Any]]:
    body, counts = params["body"], params["counts"]

    def attempt(nonzero: Mask, forced: Mask) -> tuple[Any, Mask]:
        pushed, mask = jvp_program(body, nonzero, forced)
        return pushed, mask

    pushed, nonzero, mask = _fixpoint([t is not None for t in ts], counts, len(body.outs), attempt)
    (c, k, x), (tc, tk, tx) = (
        split(xs, counts),
        split(spread(instantiate(ts, xs, nonzero), nonzero), counts),
    )
    n, nk = len(xs), counts[1]
    in_c, in_k, in_x = split(pushed.ins[:n], counts)
    t_c, t_k, t_x = split(spread(pushed.ins[n:], nonzero), counts)
    outs, t_outs = pushed.outs[: len(mask)], spread(pushed.outs[len(mask) :], mask)
    new = Program(
        [*in_c, *_some(t_c), *in_k, *_some(t_k), *in_x, *_some(t_x)],
        pushed.eqns,
        [*outs[:nk], *_some(t_outs[:nk]), *outs[nk:], *_some(t_outs[nk:])],
    )
    n_tk = len(_some(tk))
    operands = [*c, *_some(tc), *k, *_some(tk), *x, *_some(tx)]
    made = scan_p.bind(
        *operands, **params | {"body": new, "counts": (len(c) + len(_some(tc)), nk + n_tk)}
    )
    n_ys = len(mask) - nk
    primal = made[:nk] + made[nk + n_tk : nk + n_tk + n_ys]
    return primal, spread(made[nk : nk + n_tk] + made[nk + n_tk + n_ys :], mask)


def _scan_linearize(
    nonzero: Sequence[bool], xs: Sequence[Array], params: dict[str, Any], forward: bool
) -> Any:
    body, counts = params["body"], params["counts"]
    started = list(nonzero)
    nc, nk = counts
    n_outs = len(body.outs)

    def attempt(nz: Mask, forced: Mask) -> tuple[Linearized, Mask]:
        accumulate = () if forward else tuple([i < nc for i, m in enumerate(nz) if m])
        lin = linearize_program(body, nz, forced, forward_mode=forward, accumulate=accumulate)
        return lin, lin.nonzero_out

    lin, marks, mask = _fixpoint(nonzero, counts, n_outs, attempt)
    lin = _with_stacked_carries(lin, counts)
    outs = scan_p.bind(*xs, **params | {"body": lin.first})
    residuals = lin.residuals(xs, outs)
    n_res = len(residuals)
    # The others are stacked: an x, or made by the scan.
    invariant = [i is not None and i < nc for i in lin.forwarded]
    consts, slices = _apart(residuals, invariant)
    consts_in, slices_in = _apart(lin.linear.ins[:n_res], invariant)
    nz_c, nz_k, _ = (sum(part) for part in split(marks, counts))
    # Forward: tangents of constants, carry, xs -> of carry, ys. Else: cotangents of constants so
    # far, of carry, of ys -> of constants, carry, xs; and the last step comes first.
    fixed, carried = (nz_c, nz_k) if forward else (0, nz_c + sum(mask[:nk]))
    n, ins = fixed + carried, lin.linear.ins[n_res:]
    linear = params | {
        "body": Program(
            [*consts_in, *ins[:n], *slices_in, *ins[n:]], lin.linear.eqns, lin.linear.outs
        ),
        "counts": (len(consts) + fixed, carried),
        "reverse": params["reverse"] if forward else not params["reverse"],
    }

    def run(values: Sequence[Array]) -> list[Array]:
        return scan_p.bind(*consts, *values[:n], *slices, *values[n:], **linear)

    def push(ts: Sequence[Array | None]) -> list[Array | None]:
        return spread(run(instantiate(spread(ts, started), xs, marks)), mask)

    def pull(cts: Sequence[Array | None]) -> list[Array | None]:
        avals = _abstract(body=body, counts=counts, length=params["length"], reverse=False)
        start = [zeros(x) for x, nz in zip(xs[:nc], marks[:nc], strict=True) if nz]
        found = spread(run([*start, *instantiate(cts, avals, mask)]), marks)
        return [c for c, nz in zip(found, started, strict=True) if nz]

    return outs[:n_outs], mask, push if forward else pull


def _apart(values: Sequence[Any], chosen: Sequence[bool]) -> tuple[list[Any], list[Any]]:
    """Those chosen, and the others."""
    pairs = list(zip(values, chosen, strict=True))
    return [v for v, c in pairs if c], [v for v, c in pairs if not c]


def _with_stacked_carries(lin: Linearized, counts: Counts) -> Linearized:
    """Let `first` return residuals that are carry inputs: they change every step."""
    nc, nk = counts
    carried = [i is not None and nc <= i < nc + nk for i in lin.forwarded]
    if not any(carried):
        return lin
    n = len(lin.nonzero_out)
    made = iter(lin.first.outs[n:])
    outs = []
    for i, c in zip(lin.forwarded, carried, strict=True):
        if i is not None and c:
            outs.append(lin.first.ins[i])
        elif i is None:
            outs.append(next(made))  # type: ignore[arg-type]
    first = Program(lin.first.ins, lin.first.eqns, [*lin.first.outs[:n], *outs])
    forwarded = [None if c else i for i, c in zip(lin.forwarded, carried, strict=True)]
    return Linearized(first, forwarded, lin.linear, lin.nonzero_out)


def _scan_batch(
    size: int,
    xs: Sequence[Array],
    dims: Sequence[int | None],
    /,
    body: Program,
    counts: Counts,
    length: int,
    reverse: bool,
) -> tuple[list[Array], list[int | None]]:
    def attempt(batched: Mask, forced: Mask) -> tuple[Any, Mask]:
        return batch_program(body, size, batched, forced)

    made, marks, mask = _fixpoint([d is not None for d in dims], counts, len(body.outs), attempt)
    n = sum(counts)
    operands = []
    for i, (x, d, m) in enumerate(zip(xs, dims, marks, strict=True)):
        if d is not None:
            operands.append(move_axis(x, d, 0 if i < n else 1))
        else:
            operands.append(batch_to_front(size, x, None) if m else x)
    outs = scan_p.bind(*operands, body=made, counts=counts, length=length, reverse=reverse)
    return outs, [(0 if i < counts[1] else 1) if m else None for i, m in enumerate(mask)]


scan_p = Holder("scan", _abstract, _scan_batch, jvp=_scan_jvp, linearize=_scan_linearize)


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
) -> tuple[Any, Any]:
    """Run `carry, y = f(carry, x)` over the leading axis of xs; give the last carry and all ys.

    Source: `jax.lax.scan`. `xs` may be None with a `length`; `unroll` is accepted for JAX's sake.
    The carry must keep its structure, shapes and dtypes (TypeError otherwise).

    >>> import arrayport.numpy as anp
    >>> scan(lambda c, x: (c + x, c * x), 0, anp.array([1, 2, 3]))
    (Array(6, dtype=int32), Array([0, 2, 9], dtype=int32))
    """
    return run_on_engine(
        "scan", _scan, (init, xs), f, init, xs, length, reverse=reverse, unroll=unroll
    )


def _scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    *,
    reverse: bool = False,
    unroll: int | bool = 1,  # noqa: ARG001 - a hint
) -> tuple[Any, Any]:
    carry, carry_tree = flatten(init, "init of scan")
    stacked, _ = flatten(xs, "xs of scan")
    length = _length(stacked, length)
    whole = tree_structure((init, xs))
    slices = [Aval(x.shape[1:], x.dtype, x.weak) for x in stacked]
    pair = partial(_pair, f)
    order = range(length)[::-1] if reverse else range(length)
    if jit_disabled() and length:
        return _in_python(pair, carry_tree, carry, whole, stacked, order)
    start = carry
    try:
        carry, body = trace_carry(
            carry,
            lambda avals: Staged(pair, whole, [*avals, *slices], "an output of f", like=avals),
        )
    except UntoldError:
        if not length:
            raise
        return _in_python(pair, carry_tree, start, whole, stacked, order)
    if length and told(body.program.axes) and asked([*body.captured, *carry, *stacked]):
        return _in_python(pair, carry_tree, start, whole, stacked, order)
    out_c, out_y = tree_unflatten(body.out_tree, list(range(len(body.out_avals))))
    n = len(carry)
    check_same(
        "scan: f changed the carry",
        tree_structure(out_c),
        body.out_avals[: len(tree_leaves(out_c))],
        carry_tree,
        [aval_of(x) for x in carry],
        "the carry that f gives must be as the one it takes; cast with .astype where dtypes differ",
    )
    counts = (len(body.captured), n)
    operands = [*body.captured, *carry, *stacked]
    outs = scan_p.bind(
        *operands, body=body.program, counts=counts, length=length, reverse=bool(reverse)
    )
    return tree_unflatten(carry_tree, outs[:n]), tree_unflatten(tree_structure(out_y), outs[n:])


def _pair(f: Callable[[Any, Any], Any], carry: Any, x: Any) -> tuple[Any, Any]:
    """Call a function of one step, which must give two things."""
    out = f(carry, x)
    if not isinstance(out, tuple | list) or len(out) != 2:
        raise TypeError(
            "scan needs a function that gives a pair (carry, y), this one gave a "
            f"{type(out).__name__}"
        )
    return tuple(out)


def _in_python(
    pair: Callable[[Any, Any], tuple[Any, Any]],
    carry_tree: Any,
    carry: list[Array],
    whole: Any,
    stacked: list[Array],
    order: Sequence[int],
) -> tuple[Any, Any]:
    """Call the function itself for each slice, so that it sees values, and what varies."""
    made: dict[int, list[Array]] = {}
    for i in order:
        out_c, out_y = pair(*tree_unflatten(whole, [*carry, *[x[i] for x in stacked]]))
        carry, _ = flatten(out_c, "the carry that f gives")
        made[i], tree = flatten(out_y, "an output of f")
    ys = [stack(parts) for parts in zip(*[made[i] for i in sorted(made)], strict=True)]
    return tree_unflatten(carry_tree, carry), tree_unflatten(tree, ys)


def _length(stacked: Sequence[Array], length: int | None) -> int:
    for x in stacked:
        if not x.shape:
            raise ValueError("scan needs every leaf of xs to have a leading axis, one is a scalar")
    found = {x.shape[0] for x in stacked}
    if length is not None:
        found.add(int(length))
    if len(found) != 1:
        raise ValueError(
            f"scan got leading axes of different lengths in xs and length: {sorted(found)}"
            if found
            else "scan needs xs or a length"
        )
    return found.pop()
