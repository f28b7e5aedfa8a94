"""cond and switch: one primitive that runs one of several Programs by an index."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arrayport.control.flat import Staged, check_same, flatten, share_captures
from arrayport.control.jit import jit_p
from arrayport.core import dtypes
from arrayport.core.array import Array, Aval, Tracer, aval_of
from arrayport.core.primitive import Holder
from arrayport.core.program import Program, eval_program
from arrayport.core.trace import EVAL, current_stage
from arrayport.core.tree import tree_unflatten
from arrayport.ops.elementwise import clamp, equal, select, stop_gradient
from arrayport.ops.promotion import lift
from arrayport.ops.structure import broadcast_in_dim, convert, mapped_in_front, zeros
from arrayport.transforms.derived import (
    Linearized,
    Mask,
    batch_program,
    instantiate,
    jvp_program,
    linearize_program,
    marked,
    spread,
)
from arrayport.transforms.engines import run_on_engine
from arrayport.transforms.staging import restage

_NONE_GIVEN: Any = object()
EACH_ITS_OWN = 2  # arguments after the first function, where each is given its own operand


def _agree(
    make: Callable[[Mask], list[Any]], mask_of: Callable[[Any], Mask], n_outs: int
) -> tuple[list[Any], Mask]:
    """Make something of every branch, twice if need be, until all mark the same outputs."""
    made = make((False,) * n_outs)
    mask = tuple([any(m) for m in zip(*map(mask_of, made), strict=True)])
    if any(mask_of(m) != mask for m in made):
        made = make(mask)
    return made, mask


def _cond_jvp(
    ts: Sequence[Any], xs: Sequence[Array], params: dict[str, Any]
) -> tuple[list[Array], list[Any]]:
    branches: tuple[Program, ...] = params["branches"]
    nonzero = tuple([t is not None for t in ts[1:]])
    pushed, mask = _agree(
        lambda forced: [jvp_program(b, nonzero, forced) for b in branches],
        lambda p: p[1],
        len(branches[0].outs),
    )
    outs = cond_p.bind(*xs, *marked(ts[1:], nonzero), branches=tuple([p for p, _ in pushed]))
    return outs[: len(mask)], spread(outs[len(mask) :], mask)


def _cond_linearize(
    nonzero: Sequence[bool], xs: Sequence[Array], params: dict[str, Any], forward: bool
) -> Any:
    branches: tuple[Program, ...] = params["branches"]
    n = len(branches[0].outs)
    inputs = tuple(nonzero[1:])
    lins, mask = _agree(
        lambda forced: [
            linearize_program(b, inputs, forced, forward_mode=forward) for b in branches
        ],
        lambda lin: lin.nonzero_out,
        n,
    )
    # Every branch returns the residuals of all branches, zeros for the others'.
    kinds = [lin.first.out_avals[n:] for lin in lins]
    firsts = [_padded(lin.first, n, kinds, i) for i, lin in enumerate(lins)]
    outs = cond_p.bind(*xs, branches=tuple(firsts))
    made = outs[n:]
    reads = sorted({i for lin in lins for i in lin.forwarded if i is not None})
    saved = {i: xs[1 + i] for i in reads}
    linears = []
    start = 0
    for lin, kind in zip(lins, kinds, strict=True):
        linears.append(_selecting(lin, start, [*map(aval_of, made)], saved))
        start += len(kind)
    likes = [aval_of(x) for x in marked(xs[1:], inputs)]
    given_always = [xs[0], *made, *saved.values()]

    def linear(given: Sequence[Array | None]) -> list[Array | None]:
        if forward:
            ts = instantiate(given, likes, [True] * len(likes))
            return spread(cond_p.bind(*given_always, *ts, branches=tuple(linears)), mask)
        cts = instantiate(given, branches[0].out_avals, mask)
        return cond_p.bind(*given_always, *cts, branches=tuple(linears))

    return outs[:n], mask, linear


def _padded(first: Program, n: int, kinds: Sequence[Sequence[Aval]], own: int) -> Program:
    def f(*xs: Array) -> list[Array]:
        outs = eval_program(first, xs)
        rest = [outs[n:] if i == own else [zeros(a) for a in kind] for i, kind in enumerate(kinds)]
        return [*outs[:n], *[r for part in rest for r in part]]

    return restage(f, first.ins)


def _selecting(
    lin: Linearized, start: int, made: Sequence[Aval], saved: Mapping[int, Array]
) -> Program:
    """A branch's linear Program over (all branches' residuals, saved operands, (co)tangents)."""
    end = len(made) + len(saved)

    def f(*args: Array) -> list[Array]:
        own = iter(args[start : len(made)])
        operands = dict(zip(saved, args[len(made) : end], strict=True))
        residuals = [next(own) if i is None else operands[i] for i in lin.forwarded]
        return eval_program(lin.linear, [*residuals, *args[end:]])

    likes = map(aval_of, saved.values())
    return restage(f, [*made, *likes, *lin.linear.ins[len(lin.forwarded) :]])


def _cond_batch(
    size: int, xs: Sequence[Array], dims: Sequence[int | None], /, branches: tuple[Program, ...]
) -> tuple[list[Array], list[int | None]]:
    operands = mapped_in_front(xs[1:], dims[1:])
    marks = tuple([d is not None for d in dims[1:]])
    made, mask = _agree(
        lambda forced: [batch_program(b, size, marks, forced or ()) for b in branches],
        lambda p: p[1],
        len(branches[0].outs),
    )
    if dims[0] is None:
        outs = cond_p.bind(xs[0], *operands, branches=tuple([p for p, _ in made]))
        return outs, [0 if m else None for m in mask]
    made = [batch_program(b, size, marks, (True,) * len(mask)) for b in branches]
    index = xs[0]
    chosen: list[Array] | None = None
    for i, (program, _) in enumerate(made):
        taken = equal(index, i)
        # Cotangents of the branches not taken stop here, NaNs and all.
        own = [
            x if d is None else _where(taken, x, stop_gradient(x))
            for x, d in zip(operands, dims[1:], strict=True)
        ]
        outs = jit_p.bind(*own, program=program)
        chosen = (
            outs
            if chosen is None
            else [_where(taken, n, o) for n, o in zip(outs, chosen, strict=True)]
        )
    return chosen or [], [0] * len(mask)


def _where(taken: Array, x: Array, y: Array) -> Array:
    return select(broadcast_in_dim(taken, x.shape, (0,)), x, y)


cond_p = Holder(
    "cond",
    lambda _index, *_xs, branches: branches[0].out_avals,
    _cond_batch,
    jvp=_cond_jvp,
    linearize=_cond_linearize,
)


def cond(
    pred: Any,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: Any,
    operand: Any = _NONE_GIVEN,
) -> Any:
    """Give `true_fun(*operands)` if `pred` else `false_fun(*operands)`. Source: `jax.lax.cond`.

    `pred`: a scalar bool or number. A traced predicate traces both functions, whose outputs must
    have the same structure, shapes and dtypes (TypeError otherwise); a concrete one calls the
    chosen function only. `operand` is another way to give one, be it None. Older programs give
    each function its own: `cond(pred, true_operand, true_fun, false_operand, false_fun)`.

    >>> cond(True, lambda x: x + 1, lambda x: x - 1, 3)
    Array(4, dtype=int32, weak_type=True)
    """
    if callable(false_fun) and not callable(true_fun) and len(operands) == EACH_ITS_OWN:
        return _cond_of_each(pred, true_fun, false_fun, *operands)
    operands = _given(operands, operand)
    if not callable(true_fun) or not callable(false_fun):
        raise TypeError(
            "cond needs true_fun and false_fun to be functions: cond(pred, true_fun, false_fun, "
            "*operands)"
        )
    return run_on_engine("cond", _cond, (pred, operands), pred, true_fun, false_fun, *operands)


def _cond_of_each(
    pred: Any,
    true_operand: Any,
    true_fun: Callable[..., Any],
    false_operand: Any,
    false_fun: Callable[..., Any],
) -> Any:
    """Give each function its own operand."""
    if not callable(false_fun):
        raise TypeError(
            "cond needs functions: cond(pred, true_fun, false_fun, *operands), or an operand of "
            "each before it"
        )

    def on_true(operand: Any, _other: Any) -> Any:
        return true_fun(operand)

    def on_false(_other: Any, operand: Any) -> Any:
        return false_fun(operand)

    return cond(pred, on_true, on_false, true_operand, false_operand)


def _given(operands: tuple[Any, ...], operand: Any) -> tuple[Any, ...]:
    """The operands, by whichever way they came."""
    if operand is _NONE_GIVEN:
        return operands
    if operands:
        raise TypeError("operands are given in their places or as operand=, not both")
    return (operand,)


def _cond(
    pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any
) -> Any:
    value = lift(pred, None, "pred")
    if value.shape != ():
        raise TypeError(
            f"cond needs a scalar pred, got {aval_of(value)}: reduce it (.any(), .all()) or use "
            "vmap"
        )
    if dtypes.is_complex(value.dtype):
        raise TypeError(f"cond needs a bool or a real number as pred, got {aval_of(value)}")
    if not isinstance(value, Tracer) and current_stage() is EVAL:
        return _chosen(true_fun if value else false_fun, operands, "cond")
    if value.dtype != dtypes.bool_:
        value = value != 0
    return _branch(
        convert(value, dtypes.int32),
        (false_fun, true_fun),
        operands,
        "cond",
        ("false_fun", "true_fun"),
    )


def switch(
    index: Any,
    branches: Sequence[Callable[..., Any]],
    *operands: Any,
    operand: Any = _NONE_GIVEN,
) -> Any:
    """Give `branches[index](*operands)`; the index, a scalar integer, is clamped.

    Source: `jax.lax.switch`.

    >>> switch(5, [lambda x: x, lambda x: -x], 3)
    Array(-3, dtype=int32, weak_type=True)
    """
    operands = _given(operands, operand)
    if not branches:
        raise ValueError("switch needs at least one branch")
    return run_on_engine("switch", _switch, (index, operands), index, branches, *operands)


def _switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    value = lift(index, None, "index")
    if value.shape != () or not dtypes.is_integer(value.dtype):
        raise TypeError(f"switch needs a scalar integer index, got {aval_of(value)}")
    if not isinstance(value, Tracer) and current_stage() is EVAL:
        taken = branches[min(max(int(value), 0), len(branches) - 1)]
        return _chosen(taken, operands, "switch")
    value = convert(clamp(0, value, len(branches) - 1), dtypes.int32)
    return _branch(
        value, branches, operands, "switch", [f"branch {i}" for i in range(len(branches))]
    )


def _chosen(taken: Callable[..., Any], operands: Any, name: str) -> Any:
    """Call one branch: it is given Arrays and gives Arrays, as when it is traced."""
    leaves, tree = flatten(operands, f"an operand of {name}")
    out = taken(*tree_unflatten(tree, leaves))
    if isinstance(out, Array):
        return out
    outs, out_tree = flatten(out, f"an output of {name}")
    return tree_unflatten(out_tree, outs)


def _branch(
    index: Array,
    functions: Sequence[Callable[..., Any]],
    operands: Any,
    name: str,
    names: Sequence[str],
) -> Any:
    leaves, tree = flatten(operands, f"an operand of {name}")
    avals = [aval_of(x) for x in leaves]
    traced = [
        Staged(lambda *xs, f=f: f(*xs), tree, avals, f"an output of {name}") for f in functions
    ]
    first = traced[-1]
    weak = [
        any(t.program.outs[i].weak is False for t in traced if len(t.program.outs) > i)
        for i in range(len(first.program.outs))
    ]
    for t, own in zip(traced[:-1], names[:-1], strict=True):
        advice = "branches must give the same structure, shapes and dtypes; cast with .astype"
        check_same(
            f"{name} has unequal branches, {own} and {names[-1]}",
            t.out_tree,
            t.out_avals,
            first.out_tree,
            first.out_avals,
            advice,
            weak=False,
        )
    free, programs = share_captures(traced)
    programs = [_with_weakness(p, weak) for p in programs]
    return tree_unflatten(
        first.out_tree, cond_p.bind(index, *free, *leaves, branches=tuple(programs))
    )


def _with_weakness(program: Program, strong: Sequence[bool]) -> Program:
    """A branch whose weak outputs become strong where another branch's are."""
    if not any(s and o.weak for s, o in zip(strong, program.outs, strict=True)):
        return program

    def f(*xs: Array) -> list[Array]:
        outs = eval_program(program, xs)
        return [convert(o, o.dtype, False) if s else o for o, s in zip(outs, strong, strict=True)]

    return restage(f, program.ins)
