"""The graph of a differentiated computation, run backwards or forwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import Any

import numpy as np
from numpy import ndarray

from arrayport.core import lines
from arrayport.core.array import Array, Aval, Tracer, aval_of, new
from arrayport.core.backend import Backend
from arrayport.core.dtypes import is_inexact
from arrayport.core.errors import replaying, user_line
from arrayport.core.primitive import ERRORS, Binary, Holder, Primitive, Unary
from arrayport.core.quiet import QUIET, error_state
from arrayport.core.sparse import Sparse
from arrayport.core.trace import EVAL, Trace, backend_of, current_stage
from arrayport.ops.elementwise import add
from arrayport.ops.structure import broadcast_in_dim, reduce_sum, zeros
from arrayport.ops.windows import scatter_all
from arrayport.transforms.forward import no_derivative, push_forward, push_many
from arrayport.transforms.slopes import pull_line, pull_slope, push_line, push_slope

BOTH = 3  # the bits of two operands

# One traced operation: its number (they descend), its operands' nodes (None: constant), how it
# pulls cotangents back and pushes tangents forward, and what that reads.
# Only tracers hold their node and only nodes hold their operands', so what no longer leads to an
# output is freed during the forward pass, and what the backward pass has used is freed as it goes:
# no tape keeps it. (A class of its own takes five times as long to make as a tuple.)
Node = tuple[int, Sequence[Any], Any, Any, Any]


class GradTracer(Tracer):
    """A value with the node that made it.

    `plain` is the value's NumPy array if operations may take it at once, without an Array around
    it: one is made when it is asked for.
    """

    __slots__ = ("held", "node", "plain")

    def __init__(
        self, trace: Trace, node: Node, held: Any, plain: ndarray | None, weak: bool
    ) -> None:
        self.owner = trace
        self.node = node
        self.held = held
        self.plain = plain
        self.weak = weak
        known = held if plain is None else plain
        self.shape = known.shape
        self.dtype = known.dtype

    @property
    def value(self) -> Array:
        """What is differentiated, as the trace below sees it."""
        held = self.held
        return Array(self.plain, self.weak) if held is None else held

    def concrete(self, *use: Any) -> Any:
        return self.value.concrete(*use)


class GradTrace(Trace):
    """Records nodes, whose linear maps run later: forwards (linearize) or backwards (vjp)."""

    def __init__(self, forward: bool = False) -> None:
        super().__init__()
        self.numbers = count(0, -1)
        self.forward = forward
        self.eager = current_stage() is EVAL  # a Program begun later is of a higher level

    def backend(self, x: Tracer) -> Backend:
        return backend_of(x.value)  # type: ignore[attr-defined, return-value]

    def input(self, x: Array) -> GradTracer:
        """Make a value with respect to which derivatives are taken."""
        return self.tracer(x, (), None, None, None)

    def owns(self, x: Any) -> bool:
        """Whether x is a tracer of this trace."""
        return type(x) is GradTracer and x.owner is self

    def node(self, parents: Sequence[Node | None], pull: Any, push: Any, saved: Any) -> Node:
        """Make the next node; what it pulls stands at the line of the operation, if asked for."""
        if lines.on:
            pull = partial(_pulled, user_line(), pull)
        return next(self.numbers), parents, pull, push, saved

    def tracer(
        self, value: Array, parents: Sequence[Node | None], pull: Any, push: Any, saved: Any
    ) -> GradTracer:
        """Make a value's tracer, and its node."""
        raw = value.raw if self.eager and type(value) is Array else None
        node = self.node(parents, pull, push, saved)
        return GradTracer(self, node, value, raw if type(raw) is ndarray else None, value.weak)

    def process(self, prim: Primitive, args: Sequence[Array], params: dict[str, Any]) -> Any:
        xs: list[Any] = []
        parents: list[Any] = []
        for a in args:
            if type(a) is GradTracer and a.owner is self:
                xs.append(a.value)
                parents.append(a.node)
            else:
                xs.append(a)
                parents.append(None)
        if prim.many:
            return self.process_many(prim, xs, parents, params)
        return self.recorded(prim, prim.bind(*xs, **params), xs, parents, params)

    def process_unary(self, prim: Unary, x: Array, params: dict[str, Any]) -> Any:
        if not prim.smooth:
            return self.process_linear(prim, x, params)
        parents = (x.node,)  # type: ignore[attr-defined]
        slope = prim.slopes.at(1, params) if params else prim.slopes[1]
        raw = x.plain  # type: ignore[attr-defined]
        if raw is not None and error_state() is QUIET:
            kernel = prim.quick.get(raw.dtype)
            if kernel is not None:
                out = kernel(raw, **params) if params else kernel(raw)
                if type(out) is not ndarray:
                    out = np.asarray(out)
                saved: Any = slope, slope.keep((None, out, raw)), x.weak
                node = next(self.numbers), parents, pull_line, push_line, saved
                return GradTracer(self, node, None, out, x.weak)
        value = x.value  # type: ignore[attr-defined]
        ans = prim.apply(value, params)
        saved = slope, slope.keep((None, ans, value))
        return self.tracer(ans, parents, pull_slope, push_slope, saved)

    def process_linear(self, prim: Unary, x: Array, params: dict[str, Any]) -> Any:
        """Apply a primitive of one operand without partials: most are linear."""
        parents = (x.node,)  # type: ignore[attr-defined]
        saved: Any = prim.transposes, (new(Aval, (x.shape, x.dtype, x.weak)),), params, prim
        raw = x.plain  # type: ignore[attr-defined]
        if raw is not None and prim.linear and prim.keeps_weak and not x.weak:
            kernel = prim.quick.get(raw.dtype) if error_state() is QUIET else None
            if kernel is not None:
                try:
                    out = kernel(raw, **params)
                except ERRORS:
                    pass  # the general way says what is wrong
                else:
                    out = out if type(out) is ndarray else np.asarray(out)
                    node = next(self.numbers), parents, pull_rule, push_linear, saved
                    return GradTracer(self, node, None, out, False)
        value = x.value  # type: ignore[attr-defined]
        ans = prim.apply(value, params)
        if not prim.linear or not is_inexact(ans.dtype):
            return self.recorded(prim, ans, (value,), parents, params)
        return self.tracer(ans, parents, pull_rule, push_linear, saved)

    def process_binary(self, prim: Binary, x: Array, y: Array, params: dict[str, Any]) -> Any:
        node_x: Any
        node_y: Any
        a: Any
        b: Any
        if type(x) is GradTracer and x.owner is self:
            node_x, a = x.node, x.plain
        else:
            node_x, a = None, x.raw if type(x) is Array else None
        if type(y) is GradTracer and y.owner is self:
            node_y, b = y.node, y.plain
        else:
            node_y, b = None, y.raw if type(y) is Array else None
        # Where shapes differ, one is (); if that is differentiated its node is a stretched one.
        if prim.smooth != BOTH or (
            x.shape != y.shape and (node_y if x.shape else node_x) is not None
        ):
            return self.process(prim, (x, y), params)
        parents: Any
        if node_y is None:
            traced, parents = 1, (node_x,)
        elif node_x is None:
            traced, parents = 2, (node_y,)
        else:
            traced, parents = BOTH, (node_x, node_y)
        slope = prim.slopes.at(traced, params) if params else prim.slopes[traced]
        if type(a) is ndarray and type(b) is ndarray and error_state() is QUIET:
            kernel = prim.quick.get(b.dtype)
            if kernel is not None:
                out = kernel(a, b, **params) if params else kernel(a, b)
                if type(out) is not ndarray:
                    out = np.asarray(out)
                weak = x.weak and y.weak
                saved: Any = slope, slope.keep((None, out, a, b)), weak
                node = next(self.numbers), parents, pull_line, push_line, saved
                return GradTracer(self, node, None, out, weak)
        if node_x is not None:
            x = x.value  # type: ignore[attr-defined]
        if node_y is not None:
            y = y.value  # type: ignore[attr-defined]
        ans = prim.apply(x, y, params)
        saved = slope, slope.keep((None, ans, x, y))
        return self.tracer(ans, parents, pull_slope, push_slope, saved)

    def recorded(
        self,
        prim: Primitive,
        ans: Array,
        xs: Sequence[Array],
        parents: Sequence[Any],
        params: dict[str, Any],
    ) -> Array:
        """The answer of an operation with its node."""
        if not is_inexact(ans.dtype):
            return ans
        if prim.partials:
            shape = ans.shape
            smooth = [i for i, p in enumerate(parents) if p is not None and prim.smooth >> i & 1]
            if not smooth:
                return ans
            slope = prim.slopes.at(sum([1 << i for i in smooth]), params)
            if all(type(v) is Array and type(v.raw) is ndarray for v in (ans, *xs)):
                raws = [v.raw for v in xs]
                saved: Any = slope, slope.keep((None, ans.raw, *raws)), ans.weak
                pull: Any = pull_line
                push: Any = push_line
            else:
                saved, pull, push = (slope, slope.keep((None, ans, *xs))), pull_slope, push_slope
            parents = [
                parents[i] if xs[i].shape == shape else self.stretched(parents[i], shape)
                for i in smooth
            ]
        elif prim.transposes and (prim.jvp is None or prim.transposable(parents)):
            # Then no rule reads its operand's value.
            alone = prim.jvp or len(parents) - parents.count(None) == 1
            kept = [
                xs[i] if p is None or not alone else aval_of(xs[i]) for i, p in enumerate(parents)
            ]
            rules = [p and prim.transpose_rule(i) for i, p in enumerate(parents)]
            saved, pull, push = (rules, kept, params, prim), pull_rules, push_linear
        elif prim.jvp:
            saved = prim, ans, xs, params, [p is not None for p in parents]
            pull, push = pull_general, push_general
        else:
            raise no_derivative(prim)
        return self.tracer(ans, parents, pull, push, saved)

    def stretched(self, node: Node, shape: tuple[int, ...]) -> Node:
        """The node of an operand of rank 0 as elementwise operations take it, beside others."""
        return self.node((node,), pull_stretched, push_stretched, shape)

    def process_many(
        self, prim: Primitive, xs: list[Array], parents: list[Node | None], params: dict[str, Any]
    ) -> list[Array]:
        """An operation with several outputs: a node for it, and one for each output."""
        if isinstance(prim, Holder):
            outs, nonzero, linear = prim.linearize(
                [p is not None for p in parents], xs, params, self.forward
            )
            parents = [p for p in parents if p is not None]
            node = self.node(parents, pull_linearized, push_linearized, (linear, len(outs)))
        else:
            outs = prim.bind(*xs, **params)
            nonzero = [is_inexact(o.dtype) for o in outs]
            if not any(nonzero):
                return outs
            if prim.jvp is None:
                raise no_derivative(prim)
            traced = [p is not None for p in parents]
            node = self.node(
                parents, pull_many, push_node_many, (prim, outs, xs, params, traced, len(outs))
            )
        return [
            self.tracer(o, (node,), pull_pick, push_pick, i) if nz else o
            for i, (o, nz) in enumerate(zip(outs, nonzero, strict=True))
        ]


# The rules by kind. A pull maps the node's cotangent to its parents'; a push maps its parents'
# tangents to its own.

# Array | Sparse | None, or (number, Array) from a pick; or, from a straight line, NumPy's own
# array, which stands for a strong Array: it becomes one where a rule reads it.
Cotangent = Any
Params = dict[str, Any]
# What nodes keep for their rules, by kind; those of elementwise operations stand in `slopes`.
ByOperand = tuple[Sequence[Any], Sequence[Any], Params, Primitive]  # rules, operands
WithJvp = Any  # a Primitive whose jvp is not None
ByJvp = tuple[WithJvp, Array, Sequence[Array], Params, list[bool]]  # answer, operands, traced
# Of several outputs, which the last counts.
ManyByJvp = tuple[WithJvp, Sequence[Array], Sequence[Array], Params, list[bool], int]
Linear = tuple[Callable[[Sequence[Array | None]], Any], int]


def pull_rules(_parents: Any, saved: ByOperand, g: Array) -> Sequence[Cotangent]:
    """Each operand's own transpose."""
    rules, kept, params, _ = saved
    return [None if rule is None else rule(g, *kept, **params) for rule in rules]


def pull_rule(_parents: Sequence[Node], saved: ByOperand, g: Array) -> Sequence[Cotangent]:
    """The same for one operand, quicker."""
    (rule,), kept, params, _ = saved
    return (rule(g, *kept, **params),)


def pull_stretched(_parents: Sequence[Node], _shape: Any, g: Array) -> Sequence[Cotangent]:
    return (reduce_sum(g),)


def push_stretched(shape: Any, ts: Sequence[Array | None]) -> Array | None:
    return None if ts[0] is None else broadcast_in_dim(ts[0], shape, ())


def push_linear(saved: ByOperand, ts: Sequence[Array | None]) -> Array | None:
    _, xs, params, prim = saved
    return push_forward(prim, ts, None, xs, params)


def pull_general(_parents: Sequence[Node | None], saved: ByJvp, g: Array) -> Sequence[Cotangent]:
    """The transpose of a jvp rule: it is linear, so its vjp at zero is its transpose."""
    prim, ans, xs, params, traced = saved
    return _transpose(lambda ts: [prim.jvp(ts, ans, *xs, **params)], [g], xs, traced)


def push_general(saved: ByJvp, ts: Sequence[Array | None]) -> Array | None:
    prim, ans, xs, params, _ = saved
    return prim.jvp(ts, ans, *xs, **params)


def pull_many(
    _parents: Sequence[Node | None], saved: ManyByJvp, cts: Sequence[Array | None]
) -> Sequence[Cotangent]:
    prim, outs, xs, params, traced, _ = saved
    return _transpose(lambda ts: prim.jvp(ts, outs, *xs, **params), cts, xs, traced)


def push_node_many(saved: ManyByJvp, ts: Sequence[Array | None]) -> Any:
    prim, outs, xs, params, _, _ = saved
    return push_many(prim, ts, outs, xs, params)


def _transpose(
    push: Callable[[Sequence[Array | None]], Sequence[Array | None]],
    cts: Sequence[Array | None],
    xs: Sequence[Array],
    traced: Sequence[bool],
) -> list[Array | None]:
    trace = GradTrace()
    ts = [
        trace.input(zeros(x)) if t and is_inexact(x.dtype) else None
        for x, t in zip(xs, traced, strict=True)
    ]
    pairs = zip(push(ts), cts, strict=True)
    seeds = [(out.node, ct) for out, ct in pairs if ct is not None and trace.owns(out)]  # type: ignore[union-attr]
    found = iter(backward(seeds, [t.node for t in ts if t is not None]))
    return [None if t is None else next(found) for t in ts]


def pull_linearized(
    _parents: Sequence[Node], saved: Linear, cts: Sequence[Array | None]
) -> Sequence[Cotangent]:
    return saved[0](cts)


def push_linearized(saved: Linear, ts: Sequence[Array | None]) -> Any:
    return saved[0](ts)


def pull_pick(_parents: Sequence[Node], saved: int, g: Array) -> Sequence[Cotangent]:
    return ((saved, g),)


def push_pick(saved: int, ts: Sequence[Any]) -> Array | None:
    return None if ts[0] is None else ts[0][saved]


def _plain(x: Any) -> bool:
    return type(x) is Array and type(x.raw) is ndarray and not x.weak and current_stage() is EVAL


def _array(ct: Any) -> Any:
    return Array(ct) if type(ct) is ndarray else ct


def _own(ct: Any) -> Any:
    """A cotangent as an Array that nobody else has: to delete or donate it takes it from no one."""
    if type(ct) is ndarray:
        return Array(ct)
    return Array(ct.raw, ct.weak) if type(ct) is Array else ct


def _sum(one: Any, two: Any) -> Any:
    """The sum of two cotangents, a new one: a NumPy array where it can be."""
    if type(one) is ndarray and type(two) is ndarray:
        out = one + two
        return out if type(out) is ndarray else np.asarray(out)
    found = add(_array(one), _array(two))
    return found.raw if _plain(found) else found


def joined(old: Any, ct: Cotangent) -> Any:
    """What was gathered of a cotangent so far, and one more contribution to it.

    Several are a list: the sum of the dense ones (if any), then the sparse ones, which wait until
    all is needed. To a sum that is NumPy's own array others are added in place, for it is ours.
    """
    if old is None:
        return ct
    if type(ct) is tuple:  # from a pick: one of several outputs
        several = old if type(old) is dict else {old[0]: old[1]}
        i, part = ct
        several[i] = joined(several[i], part) if i in several else part
        return several
    if type(old) is not list:
        if type(old) is not Sparse and type(ct) is not Sparse:
            found = _sum(old, ct)
            return [found] if type(found) is ndarray else found
        old = [None, old] if type(old) is Sparse else [_array(old)]
    dense = old[0]
    if type(ct) is Sparse:
        old.append(ct)
    elif type(dense) is ndarray and (type(ct) is ndarray or _plain(ct)):
        dense += ct if type(ct) is ndarray else ct.raw
    else:
        old[0] = _array(ct) if dense is None else _sum(dense, ct)
    return old


UNSETTLED = frozenset({list, Sparse, tuple, dict})


def settled(gathered: Any, saved: Any) -> Any:
    """What was gathered of a node's cotangents, as its rules take it."""
    if type(gathered) is list or type(gathered) is Sparse:
        return summed(gathered)
    several = gathered if type(gathered) is dict else {gathered[0]: gathered[1]}
    # The last that such a node saved counts the outputs.
    return [_array(summed(several.pop(i, None))) for i in range(saved[-1])]


def summed(gathered: Any) -> Any:
    """What was gathered of one cotangent, as one."""
    if type(gathered) is Sparse:
        gathered = [None, gathered]
    if type(gathered) is not list:
        return gathered
    dense, *parts = gathered
    return scatter_all(_array(dense), parts) if parts else dense


def backward(
    seeds: list[tuple[Node, Cotangent]], inputs: Sequence[Node | None]
) -> list[Array | None]:
    """Cotangents of the inputs, given the outputs'; empties `seeds` and drops what it visited."""
    # By the nodes' numbers, what was gathered of their cotangents: one contribution as it is,
    # several as a list; of a node with several outputs a dictionary, by the outputs' numbers.
    gathered: dict[int, Any] = {leaf[0]: None for leaf in inputs if leaf is not None}
    reached: list[Node] = []  # a heap, the latest first
    parents: Any = [node for node, _ in seeds]
    cts: Any = [ct for _, ct in seeds]
    seeds.clear()
    while True:
        i = 0
        for parent in parents:
            ct = cts[i]
            i += 1  # noqa: SIM113 - with zip or enumerate the loop takes three times as long
            if parent is not None and ct is not None:
                order = parent[0]
                if order in gathered:
                    gathered[order] = joined(gathered[order], ct)
                else:
                    gathered[order] = ct
                    heappush(reached, parent)
        parents = cts = parent = ct = None  # nothing holds it now but its users' own references
        if not reached:
            return [None if leaf is None else _own(summed(gathered[leaf[0]])) for leaf in inputs]
        order, parents, pull, _, saved = heappop(reached)
        g = gathered.pop(order)
        if type(g) in UNSETTLED:
            g = settled(g, saved)
        if type(g) is ndarray and pull is not pull_line:
            g = Array(g)
        cts = pull(parents, saved, g)
        saved = g = None


def _pulled(
    line: str, pull: Callable[..., Any], parents: Sequence[Any], saved: Any, g: Any
) -> Sequence[Cotangent]:
    """Pull back; what that does stands at the line of the operation itself."""
    with replaying(line):
        return pull(parents, saved, g)


def forward(outs: Sequence[Node], inputs: Sequence[tuple[Node, Array]]) -> list[Array | None]:
    """Tangents of the outputs, given the inputs'."""
    todo = list(outs)
    seen: dict[int, Node] = {}
    while todo:
        node = todo.pop()
        if node[0] not in seen:
            seen[node[0]] = node
            todo += [p for p in node[1] if p is not None]
    tangents: dict[int, Any] = {node[0]: t for node, t in inputs}
    for number in sorted(seen, reverse=True):
        if number not in tangents:
            _, parents, _, push, saved = seen[number]
            ts = [None if p is None else tangents[p[0]] for p in parents]
            tangents[number] = push(saved, ts) if push is not None else None
    return [tangents[node[0]] for node in outs]
