"""checkify: a function whose failed checks are a value, made by interpreting its Program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import update_wrapper
from typing import Any

from arrayport.control.checkpoint import checkpoint_p
from arrayport.control.checks import (
    NONE,
    CheckError,
    DivisionByZeroError,
    Error,
    NaNError,
    OOBError,
    Site,
    Slot,
    check_p,
    code_of,
    functional,
    user_checks,
)
from arrayport.control.conditionals import cond_p
from arrayport.control.custom_batching import custom_vmap_p
from arrayport.control.custom_jvp import custom_jvp_p
from arrayport.control.custom_vjp import custom_vjp_p
from arrayport.control.flat import Staged, split
from arrayport.control.jit import jit_p
from arrayport.control.linear_calls import linear_call_p
from arrayport.control.loops import while_p
from arrayport.control.scanning import scan_p
from arrayport.control.solves import linear_solve_p, root_p
from arrayport.core import dtypes, lines
from arrayport.core.array import Array, Aval, aval_of
from arrayport.core.errors import replaying, user_line
from arrayport.core.primitive import Collective, Holder, Primitive
from arrayport.core.program import Eqn, Literal, PlacedEqn, Program, eval_program, inner_programs
from arrayport.core.trace import route
from arrayport.core.tree import tree_leaves, tree_structure, tree_unflatten
from arrayport.ops.elementwise import div_p, equal, floor_divide_p, not_equal, select, stop_gradient
from arrayport.ops.indexing import (
    gather_p,
    scatter_add_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_set_p,
    window_sizes,
)
from arrayport.ops.reductions import argmax, reduce_or
from arrayport.ops.structure import convert, reshape, zeros
from arrayport.ops.windows import dynamic_slice_p, dynamic_update_slice_p
from arrayport.transforms.staging import restage

State = list[Array]  # of an error: its code, then the values of its slots
DIVISIONS = (div_p, floor_divide_p)
SCATTERS = (scatter_set_p, scatter_add_p, scatter_mul_p, scatter_min_p, scatter_max_p)
# What only moves, chooses or rounds elements: a NaN that it gives came from elsewhere.
MOVES = frozenset(
    {
        *("neg", "abs", "sign", "floor", "ceil", "round", "nextafter", "reduce_precision"),
        *("max", "min", "clamp", "select", "sort", "top_k", "cummax", "cummin", "reduce_max"),
        *("reduce_min", "real", "imag", "conj", "complex", "convert_element_type", "iota", "full"),
        *("bitcast_convert_type", "broadcast_in_dim", "reshape", "transpose", "concatenate"),
        *("slice", "slice_set", "dynamic_slice", "dynamic_update_slice", "gather", "scatter_set"),
        *("scatter_min", "scatter_max", "all_gather", "all_to_all", "ppermute", "pmax", "pmin"),
        *("pbroadcast", "pure_callback", "io_callback", "stop_gradient", "name"),
    }
)


def checkify(
    f: Callable[..., Any], errors: Iterable[type[CheckError]] = user_checks
) -> Callable[..., tuple[Error, Any]]:
    """Make a function that gives an `Error` beside its result, instead of raising.

    Source: `jax.experimental.checkify.checkify`.

    `errors`, a union of sets, says what counts: `user_checks` (calls of `check`), `nan_checks`,
    `div_checks`, `index_checks`; `float_checks`, `automatic_checks` and `all_checks` join some.
    `err.get()` is the message of the first that failed, with the user's line, or None;
    `err.throw()` raises. Checks work under `jit`, `vmap`, `grad` and in loops and branches, inside
    and outside of `checkify`. A `vmap` inside of it keeps one error for all examples, and looks at
    those too whose `while_loop` has ended: map the checkified function to have one each. The rules
    of custom derivatives are not looked into. A Python-int index that is out of range raises
    IndexError while it is traced, here as everywhere.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> from arrayport.experimental import checkify
    >>> f = ap.jit(checkify.checkify(lambda x: 1 / x, errors=checkify.div_checks))
    >>> err, _ = f(anp.array(0.0))
    >>> err.get().partition(" at ")[0]
    'division by zero'
    """
    enabled = frozenset(errors)

    def checked(*args: Any, **kwargs: Any) -> tuple[Error, Any]:
        _, engine = route(tree_leaves((args, kwargs)))
        if engine is not None:
            kinds = {kind.__name__ for kind in enabled}
            return engine.checkify(f, kinds, args, kwargs)
        with lines.asked(), functional():
            traced = Staged(lambda: f(*args, **kwargs), tree_structure(()), (), "an output")
            checker = _Checker(enabled, traced.program)
            state, outs = checker.run(traced.program, checker.start(), traced.captured)
        return checker.error(state), tree_unflatten(traced.out_tree, outs)

    return update_wrapper(checked, f) if hasattr(f, "__name__") else checked


class _Checker:
    """Interprets a Program, an error's state passed along; what fails first stays in it."""

    def __init__(self, enabled: frozenset[type[CheckError]], program: Program) -> None:
        self.enabled = enabled
        self.sites: list[Site] = []
        found: dict[Slot, None] = {}
        if enabled & {NaNError, DivisionByZeroError}:
            found[()] = None
        if OOBError in enabled:
            found[(Aval((), dtypes.default_int()),)] = None  # the index that is told
        self.slots = tuple(dict.fromkeys([*found, *_slots(program)]))
        self.avals = [Aval((), dtypes.int32), *[a for slot in self.slots for a in slot]]

    def start(self) -> State:
        """The state before anything happened."""
        return [code_of(NONE), *map(zeros, self.avals[1:])]

    def error(self, state: State) -> Error:
        """A state as an Error."""
        values = iter(state[1:])
        by_slot = tuple([[next(values) for _ in slot] for slot in self.slots])
        return Error(state[0], by_slot, tuple(self.sites), self.slots)

    def run(self, program: Program, state: State, args: Sequence[Array]) -> tuple[State, Any]:
        """Run a Program as `eval_program` does."""
        env: dict[Any, Array] = dict(zip(program.ins, args, strict=True))
        for eqn in program.eqns:
            xs = [a.value if type(a) is Literal else env[a] for a in eqn.ins]
            with replaying(eqn.line if isinstance(eqn, PlacedEqn) else user_line()):
                state, outs = RULES.get(eqn.prim, _plain)(self, state, xs, eqn)
            env.update(zip(eqn.outs, outs, strict=True))
        return state, [a.value if type(a) is Literal else env[a] for a in program.outs]

    def inner(self, program: Program, front: Sequence[Any] = ()) -> Program:
        """A Program over (front, state, the other inputs) that gives (state, outputs)."""
        n, end = len(front), len(front) + len(self.avals)

        def f(*args: Array) -> list[Array]:
            given = [*args[:n], *args[end:]]
            state, outs = self.run(program, list(args[n:end]), given)
            return [*state, *outs]

        return restage(f, [*front, *self.avals, *program.ins[n:]])

    def parted(self, made: Sequence[Array]) -> tuple[State, list[Array]]:
        """The outputs of such a Program."""
        return list(made[: len(self.avals)]), list(made[len(self.avals) :])

    def note(
        self,
        state: State,
        happened: Array,
        kind: type[CheckError],
        text: str,
        values: Sequence[Array] = (),
    ) -> State:
        """Add a check that fails if something happened."""
        slot = tuple(map(aval_of, values))
        self.sites.append(Site(kind, text, tree_structure((tuple(values), {})), slot, user_line()))
        return self.first(state, happened, code_of(len(self.sites) - 1), {slot: values})

    def first(
        self, state: State, happened: Array, code: Array, values: Mapping[Slot, Sequence[Array]]
    ) -> State:
        """An error that happens now counts if none happened before."""
        now = happened & (state[0] < 0)
        new, i = [code], 1
        for slot in self.slots:
            old = state[i : i + len(slot)]
            new += [stop_gradient(x) for x in values.get(slot, old)]
            i += len(slot)
        return [old if n is old else select(now, n, old) for n, old in zip(new, state, strict=True)]


def _slots(program: Program) -> list[Slot]:
    """The slots that the checks in a Program need."""
    found: list[Slot] = []
    for eqn in program.eqns:
        if eqn.prim is check_p:
            found += tree_unflatten(eqn.params["tree"], eqn.ins).slots
        for inner in inner_programs(eqn.params):
            found += _slots(inner)
    return found


# ---- what is looked at: rules (checker, state, operands, equation) -> (state, outputs)

Rule = Callable[[_Checker, State, list[Array], Eqn], tuple[State, list[Array]]]


def _plain(checker: _Checker, state: State, xs: list[Array], eqn: Eqn) -> tuple[State, list[Array]]:
    """An operation: what it divides by, where it reads or writes, what it gives."""
    prim, params = eqn.prim, eqn.params
    if prim in DIVISIONS and DivisionByZeroError in checker.enabled:
        zero = reduce_or(equal(xs[1], 0))
        state = checker.note(state, zero, DivisionByZeroError, "division by zero")
    if OOBError in checker.enabled:
        for start, axis, limit in _starts(prim, xs, params):
            state = _bound(checker, state, xs[0], start, axis, limit)
    made = prim.bind(*xs, **params)
    outs = made if prim.many else [made]
    if NaNError in checker.enabled and prim.name not in MOVES and not isinstance(prim, Holder):
        found = [reduce_or(not_equal(o, o)) for o in outs if dtypes.is_inexact(o.dtype)]
        for happened in found:
            text = f"nan generated by primitive: {prim.name}"
            state = checker.note(state, happened, NaNError, text)
    return state, outs


def _starts(
    prim: Primitive, xs: Sequence[Array], params: Mapping[str, Any]
) -> list[tuple[Array, int, int]]:
    """Where windows of the first operand start along which axis, and the last place to start."""
    x = xs[0] if xs else None
    if x is None or isinstance(prim, Collective):
        return []
    if prim is dynamic_slice_p:
        starts, sizes = xs[1:], params["sizes"]
    elif prim is dynamic_update_slice_p:
        starts, sizes = xs[2:], xs[1].shape
    elif prim is gather_p or prim in SCATTERS:
        numbers = params["dimension_numbers"]
        axes = numbers[2]
        sizes = (
            params["slice_sizes"]
            if prim is gather_p
            else window_sizes(len(x.shape), numbers, xs[2].shape)
        )
        return [(xs[1][..., i], d, x.shape[d] - sizes[d]) for i, d in enumerate(axes)]
    else:
        return []
    return [(s, d, x.shape[d] - sizes[d]) for d, s in enumerate(starts)]


def _bound(checker: _Checker, state: State, x: Array, start: Array, axis: int, limit: int) -> State:
    if not start.size:
        return state
    outside = (start < 0) | (start > limit)
    place = argmax(convert(reshape(outside, (start.size,)), dtypes.int32), 0, dtypes.int32)
    index = convert(reshape(start, (start.size,))[place], dtypes.default_int())
    text = (
        f"out-of-bounds indexing for array of shape {x.shape}: index {{}} is out of bounds for "
        f"axis {axis} with size {x.shape[axis]}"
    )
    return checker.note(state, reduce_or(outside), OOBError, text, [index])


def _check(checker: _Checker, state: State, xs: list[Array], eqn: Eqn) -> tuple[State, list[Array]]:
    """A user's check, or an error that another `checkify` gave."""
    error: Error = tree_unflatten(eqn.params["tree"], xs)
    kept = [i for i, site in enumerate(error.sites) if site.kind in checker.enabled]
    values = dict(zip(error.slots, error.values, strict=True))
    base = len(checker.sites)
    checker.sites += error.sites
    happened = [equal(error.code, i) for i in kept]
    if kept:
        any_of = happened[0]
        for more in happened[1:]:
            any_of = any_of | more
        state = checker.first(state, any_of, error.code + base, values)
    return state, []


# ---- what holds Programs


def _silent(program: Program) -> Program:
    """A Program without its checks, which are looked at apart and must not raise here."""
    if not _slots(program):
        return program
    checker = _Checker(frozenset(), program)

    def f(*args: Array) -> list[Array]:
        return list(checker.run(program, checker.start(), args)[1])

    return restage(f, program.ins)


def _held(checker: _Checker, state: State, xs: list[Array], eqn: Eqn) -> tuple[State, list[Array]]:
    """What just runs a Program."""
    params = {**eqn.params, "program": checker.inner(eqn.params["program"])}
    return checker.parted(eqn.prim.bind(*state, *xs, **params))


def _cond(checker: _Checker, state: State, xs: list[Array], eqn: Eqn) -> tuple[State, list[Array]]:
    branches = tuple([checker.inner(b) for b in eqn.params["branches"]])
    return checker.parted(cond_p.bind(xs[0], *state, *xs[1:], branches=branches))


def _scan(checker: _Checker, state: State, xs: list[Array], eqn: Eqn) -> tuple[State, list[Array]]:
    n, m = eqn.params["counts"]
    body = eqn.params["body"]
    new = {"body": checker.inner(body, body.ins[:n]), "counts": (n, m + len(state))}
    return checker.parted(scan_p.bind(*xs[:n], *state, *xs[n:], **eqn.params | new))


def _while(checker: _Checker, state: State, xs: list[Array], eqn: Eqn) -> tuple[State, list[Array]]:
    """The condition is looked at where it starts, and then in the body, which ends with it."""
    cond, body, counts = eqn.params["cond"], eqn.params["body"], eqn.params["counts"]
    n, m = counts
    cond_xs, body_xs, carry = split(xs, counts)
    state, _ = checker.run(cond, state, [*cond_xs, *carry])
    k = len(state)

    def next_body(*args: Array) -> list[Array]:
        consts, rest, given = args[:n], args[n : n + m], args[n + m :]
        after, outs = checker.run(body, list(given[:k]), [*rest, *given[k:]])
        after, _ = checker.run(cond, after, [*consts, *outs])
        return [*after, *outs]

    silent = _silent(cond)

    def next_cond(*args: Array) -> list[Array]:
        return eval_program(silent, [*args[:n], *args[n + k :]])

    consts, carried = cond.ins[:n], [*checker.avals, *body.ins[m:]]
    made = while_p.bind(
        *cond_xs,
        *cond_xs,
        *body_xs,
        *state,
        *carry,
        cond=restage(next_cond, [*consts, *carried]),
        body=restage(next_body, [*consts, *body.ins[:m], *carried]),
        counts=(n, n + m),
    )
    return checker.parted(made)


def _custom(
    checker: _Checker, state: State, xs: list[Array], eqn: Eqn
) -> tuple[State, list[Array]]:
    """What has rules of its own keeps them: its function is looked at apart."""
    assert isinstance(eqn.prim, Holder)
    held, params = eqn.params[eqn.prim.runs], eqn.params
    if isinstance(held, Program):
        params = {**params, eqn.prim.runs: _silent(held)}
    outs = eqn.prim.bind(*xs, **params)
    if isinstance(held, Program):
        state, _ = checker.run(held, state, [stop_gradient(x) for x in xs])
    return state, outs


RULES: Mapping[Primitive, Rule] = {
    check_p: _check,
    jit_p: _held,
    checkpoint_p: _held,
    cond_p: _cond,
    scan_p: _scan,
    while_p: _while,
    custom_jvp_p: _custom,
    custom_vjp_p: _custom,
    custom_vmap_p: _custom,
    linear_call_p: _custom,
    linear_solve_p: _custom,
    root_p: _custom,
}
