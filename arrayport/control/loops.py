"""while_loop and fori_loop: a Program that runs while another says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from arrayport.control.flat import Counts, Staged, check_same, flatten, split, trace_carry
from arrayport.control.scanning import scan
from arrayport.core import dtypes
from arrayport.core.array import Array, Aval, aval_of
from arrayport.core.config import jit_disabled
from arrayport.core.errors import (
    ConcretizationTypeError,
    NotDifferentiableError,
    TracerBoolConversionError,
)
from arrayport.core.primitive import Holder
from arrayport.core.program import Program, eval_program
from arrayport.core.tree import tree_structure, tree_unflatten
from arrayport.ops.elementwise import select
from arrayport.ops.promotion import lift
from arrayport.ops.reductions import reduce_or
from arrayport.ops.structure import batch_to_front, broadcast_in_dim, convert, mapped_in_front
from arrayport.transforms.derived import batch_program, instantiate, jvp_program, marked, spread
from arrayport.transforms.engines import run_on_engine
from arrayport.transforms.staging import avals_with, restage
from arrayport.transforms.varying import UntoldError

# Operands: the condition's captures, the body's captures, the carry. `counts`: how many of the
# first two.


def _while_jvp(
    ts: Sequence[Any], xs: Sequence[Array], params: dict[str, Any]
) -> tuple[list[Array], list[Any]]:
    cond, body, counts = params["cond"], params["body"], params["counts"]
    _, body_ts, carry_ts = split(ts, counts)
    consts = tuple([t is not None for t in body_ts])
    carry = tuple([t is not None for t in carry_ts])
    while True:
        pushed, mask = jvp_program(body, (*consts, *carry), carry)
        if mask == carry:
            break
        carry = tuple([a or b for a, b in zip(carry, mask, strict=True)])
    cond_xs, body_xs, carry_xs = split(xs, counts)
    n_cond, n_body, n_carry = len(cond_xs), len(body_xs), len(carry_xs)
    body_tangents = marked(body_ts, consts)
    carry_tangents = instantiate(carry_ts, carry_xs, carry)

    # The body's inputs come as (constants, carry, tangents of both): bring the constants'
    # tangents before the carry.
    order = [*range(n_body), *range(n_body + n_carry, n_body + n_carry + len(body_tangents))]
    order += [*range(n_body, n_body + n_carry)]
    order += [*range(n_body + n_carry + len(body_tangents), len(pushed.ins))]
    new_body = Program([pushed.ins[i] for i in order], pushed.eqns, pushed.outs)
    new_cond = restage(
        lambda *a: eval_program(cond, a[: n_cond + n_carry]),
        [*cond.ins, *map(aval_of, carry_tangents)],
    )
    outs = while_p.bind(
        *cond_xs,
        *body_xs,
        *body_tangents,
        *carry_xs,
        *carry_tangents,
        cond=new_cond,
        body=new_body,
        counts=(n_cond, n_body + len(body_tangents)),
    )
    return outs[:n_carry], spread(outs[n_carry:], carry)


def _while_linearize(
    nonzero: Sequence[bool], xs: Sequence[Array], params: dict[str, Any], forward: bool
) -> Any:
    body, counts = params["body"], params["counts"]
    if not forward:
        if any(nonzero[counts[0] :]):
            raise NotDifferentiableError(
                "reverse-mode derivatives of while_loop, and of fori_loop with traced bounds, "
                "need the values of an unknown number of steps: use scan, a fori_loop with "
                "Python-int bounds, or forward mode (jvp, jacfwd)"
            )
        return (
            while_p.bind(*xs, **params),
            [False] * len(body.outs),
            lambda _cts: [None] * sum(nonzero),
        )
    # Any value serves as a tangent here: only which are zero matters.
    ts = [x if nz else None for x, nz in zip(xs, nonzero, strict=True)]
    outs, out_ts = _while_jvp(ts, xs, params)

    def linear(given: Sequence[Array | None]) -> list[Array | None]:
        return _while_jvp(spread(given, nonzero), xs, params)[1]

    return outs, [t is not None for t in out_ts], linear


def _while_batch(
    size: int,
    xs: Sequence[Array],
    dims: Sequence[int | None],
    /,
    cond: Program,
    body: Program,
    counts: Counts,
) -> tuple[list[Array], list[int | None]]:
    cond_d, body_d, carry_d = (tuple([d is not None for d in part]) for part in split(dims, counts))
    cond_b: Program = cond
    while True:
        cond_b, (each,) = batch_program(cond, size, (*cond_d, *carry_d), (False,))
        forced = (True,) * len(carry_d) if each else carry_d
        body_b, mask = batch_program(body, size, (*body_d, *carry_d), forced)
        if mask == carry_d:
            break
        carry_d = tuple([a or b for a, b in zip(carry_d, mask, strict=True)])
    cond_xs, body_xs, carry_xs = split(xs, counts)
    held = [*cond_xs, *body_xs]
    front = mapped_in_front(held, dims[: len(held)])
    start = [
        batch_to_front(size, x, d) if b else x
        for x, d, b in zip(carry_xs, split(dims, counts)[2], carry_d, strict=True)
    ]
    if not each:
        outs = while_p.bind(*front, *start, cond=cond_b, body=body_b, counts=counts)
        return outs, [0 if b else None for b in carry_d]
    carry_avals = avals_with(body.outs, carry_d, size)
    any_cond, kept_body = _while_any(cond_b, body_b, counts, carry_avals)
    n_cond, n_body = counts
    outs = while_p.bind(
        *front[:n_cond],
        *front,
        *start,
        cond=any_cond,
        body=kept_body,
        counts=(n_cond, n_cond + n_body),
    )
    return outs, [0 if b else None for b in carry_d]


def _while_any(
    cond: Program, body: Program, counts: Counts, carry_avals: Sequence[Aval]
) -> tuple[Program, Program]:
    """Run while any example goes on, and keep the carry of those that are done."""
    n_cond, n_body = counts
    cond_avals = [aval_of(v) for v in cond.ins[:n_cond]]

    def any_cond(*a: Array) -> list[Array]:
        return [reduce_or(eval_program(cond, a)[0], (0,))]

    def kept_body(*a: Array) -> list[Array]:
        consts, rest, carry = a[:n_cond], a[n_cond : n_cond + n_body], a[n_cond + n_body :]
        going = eval_program(cond, [*consts, *carry])[0]
        made = eval_program(body, [*rest, *carry])
        return [
            select(broadcast_in_dim(going, m.shape, (0,)), m, c)
            for m, c in zip(made, carry, strict=True)
        ]

    return (
        restage(any_cond, [*cond_avals, *carry_avals]),
        restage(kept_body, [*cond_avals, *body.ins[:n_body], *carry_avals]),
    )


while_p = Holder(
    "while",
    lambda *_xs, cond, body, counts: body.out_avals,  # noqa: ARG005 - all of its parameters
    _while_batch,
    jvp=_while_jvp,
    linearize=_while_linearize,
)


def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any
) -> Any:
    """Apply `body_fun` to a carry while `cond_fun` of it is true. Source: `jax.lax.while_loop`.

    The carry is a pytree whose structure, shapes and dtypes `body_fun` must keep (TypeError
    otherwise); `cond_fun` gives a scalar bool. Forward-mode derivatives only.

    >>> while_loop(lambda i: i < 10, lambda i: i * 2, 1)
    Array(16, dtype=int32, weak_type=True)
    """
    return run_on_engine("while_loop", _while_loop, init_val, cond_fun, body_fun, init_val)


def _while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any
) -> Any:
    carry, tree = flatten(init_val, "init_val of while_loop")
    if jit_disabled():
        with suppress(TracerBoolConversionError):  # of a condition without a value: it is traced
            return _in_python(cond_fun, body_fun, carry, tree)
    whole = tree_structure((init_val,))
    start = carry
    try:
        carry, body = trace_carry(
            carry, lambda avals: Staged(body_fun, whole, avals, "an output of body_fun", like=avals)
        )
    except UntoldError as e:
        try:
            return _in_python(cond_fun, body_fun, start, tree)
        except TracerBoolConversionError:  # the places differ in when they end, or are staged
            raise e from None
    avals = [aval_of(x) for x in carry]
    advice = "body_fun must give back what it takes; cast with .astype where dtypes differ"
    check_same(
        "while_loop: body_fun changed the carry", body.out_tree, body.out_avals, tree, avals, advice
    )
    cond = Staged(cond_fun, whole, avals, "the output of cond_fun")
    if len(cond.out_avals) != 1 or cond.out_avals[0][:2] != ((), dtypes.bool_):
        got = ", ".join(map(str, cond.out_avals))
        raise TypeError(f"while_loop needs cond_fun to give one scalar bool, it gave ({got})")
    counts = (len(cond.captured), len(body.captured))
    outs = while_p.bind(
        *cond.captured, *body.captured, *carry, cond=cond.program, body=body.program, counts=counts
    )
    return tree_unflatten(tree, outs)


def _in_python(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], carry: list[Array], tree: Any
) -> Any:
    """Call the functions themselves for each step, so that they see values, and what varies."""
    state = tree_unflatten(tree, carry)
    while cond_fun(state):
        state = tree_unflatten(tree, flatten(body_fun(state), "an output of body_fun")[0])
    return state


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init_val: Any,
    *,
    unroll: Any = None,
) -> Any:
    """Apply `body_fun(i, carry)` for i in range(lower, upper). Source: `jax.lax.fori_loop`.

    With bounds known when it is traced it is a `scan`, and has derivatives in both modes; with
    traced bounds it is a `while_loop`, and has forward ones. `unroll` is accepted for JAX's sake.

    >>> fori_loop(0, 5, lambda i, total: total + i, 0)
    Array(10, dtype=int32, weak_type=True)
    """
    operands = (lower, upper, init_val)
    return run_on_engine(
        "fori_loop", _fori_loop, operands, lower, upper, body_fun, init_val, unroll=unroll
    )


def _fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init_val: Any,
    *,
    unroll: Any = None,  # noqa: ARG001 - a hint
) -> Any:
    start, stop = lift(lower, None, "lower"), lift(upper, None, "upper")
    for name, bound in (("lower", start), ("upper", stop)):
        if bound.shape != () or not dtypes.is_integer(bound.dtype):
            raise TypeError(f"fori_loop needs {name} to be a scalar integer, got {aval_of(bound)}")
    dtype, weak = dtypes.promote(start.dtype, start.weak, stop.dtype, stop.weak)
    start, stop = convert(start, dtype, weak), convert(stop, dtype, weak)
    known = [_known(start), _known(stop)]
    if None not in known:

        def step(carry: tuple[Any, Any], _: None) -> tuple[tuple[Any, Any], None]:
            i, value = carry
            return (i + 1, body_fun(i, value)), None

        length = max(known[1] - known[0], 0)
        return scan(step, (start, init_val), None, length)[0][1]

    def going(carry: tuple[Any, Any, Any]) -> Any:
        return carry[0] < carry[1]

    def body(carry: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        i, end, value = carry
        return i + 1, end, body_fun(i, value)

    return while_loop(going, body, (start, stop, init_val))[2]


def _known(bound: Array) -> Any:
    """The value of a bound, None if it is traced."""
    try:
        return int(bound)
    except ConcretizationTypeError:
        return None
