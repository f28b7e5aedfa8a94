"""The graph of a differentiated computation, run backwards or forwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from arrayport.core import lines
from arrayport.core.array import Array, Aval, Tracer
from arrayport.core.backend import Backend
from arrayport.core.dtypes import is_inexact
from arrayport.core.errors import replaying, user_line
from arrayport.core.primitive import Binary, Holder, Primitive, Unary
from arrayport.core.quiet import QUIET, error_state
from arrayport.core.sparse import Sparse
from arrayport.core.trace import EVAL, Trace, backend_of, current_stage
from arrayport.ops.elementwise import add
from arrayport.ops.structure import broadcast_in_dim, reduce_sum, zeros
from arrayport.ops.windows import scatter_all
from arrayport.transforms.forward import no_derivative, push_forward, push_many
from arrayport.transforms.slopes import pull_line, pull_slope, push_line, push_slope

BOTH = 3  # the bits of two operands
new = tuple.__new__  # a NamedTuple's own constructor is twice as slow

# One traced operation: its number, its operands' nodes (None: constant), how it pulls cotangents
# back and pushes tangents forward, what that reads, and the user's line if somebody asks for it.
# Only tracers hold their node and only nodes hold their operands', so what no longer leads to an
# output is freed during the forward pass, and what the backward pass has used is freed as it goes:
# no tape keeps it. (A class of its own takes five times as long to make as a tuple.)
Node = tuple[int, Sequence[Any], Any, Any, Any, str]


class GradTracer(Tracer):
    """A value with the node that made it."""

    __slots__ = ("node", "value")

    def __init__(self, trace: Trace, value: Array, node: Node) -> None:
        self.owner = trace
        self.value = value
        self.node = node
        if type(value) is Array:
            raw = value.raw
            self.shape = raw.shape
            self.dtype = raw.dtype
        else:
            self.shape = value.shape
            self.dtype = value.dtype
        self.weak = value.weak

    def concrete(self, *use: Any) -> Any:
        return self.value.concrete(*use)


class GradTrace(Trace):
    """Records nodes, whose linear maps run later: forwards (linearize) or backwards (vjp)."""

    def __init__(self, forward: bool = False) -> None:
        super().__init__()
        self.count = 0
        self.forward = forward

    def backend(self, x: Tracer) -> Backend:
        return backend_of(x.value)  # type: ignore[attr-defined, return-value]

    def input(self, x: Array) -> GradTracer:
        """Make a value with respect to which derivatives are taken."""
        self.count = order = self.count + 1
        return GradTracer(self, x, (order, (), None, None, None, ""))

    def owns(self, x: Any) -> bool:
        """Whether x is a tracer of this trace."""
        return type(x) is GradTracer and x.owner is self

    def node(self, parents: Sequence[Node | None], pull: Any, push: Any, saved: Any) -> Node:
        """Make the next node."""
        self.count = order = self.count + 1
        return order, parents, pull, push, saved, user_line() if lines.on else ""

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
        value, parents = x.value, (x.node,)  # type: ignore[attr-defined]
        pull: Any
        push: Any
        saved: Any
        if prim.smooth:
            slope = prim.slopes.at(1, params) if params else prim.slopes[1]
            raw = value.raw if type(value) is Array and current_stage() is EVAL else None
            kernel = prim.quick.get(raw.dtype) if type(raw) is ndarray else None
            if kernel is not None and prim.keeps_weak and error_state() is QUIET:  # quickly
                out = kernel(raw, **params) if params else kernel(raw)
                if type(out) is not ndarray:
                    out = np.asarray(out)
                ans = Array(out, value.weak)
                pull, push = pull_line, push_line
                saved = slope, slope.keep((None, out, raw)), value.weak
            else:
                ans = prim.apply(value, params)
                pull, push, saved = pull_slope, push_slope, (slope, slope.keep((None, ans, value)))
        else:
            ans = prim.apply(value, params)
            dtype = ans.raw.dtype if type(ans) is Array else ans.dtype
            if not prim.linear or not (dtype.kind == "f" or is_inexact(dtype)):
                return self.recorded(prim, ans, (value,), parents, params)
            pull, push = pull_rule, push_linear
            saved = prim.transposes, (new(Aval, (x.shape, x.dtype, x.weak)),), params, prim
        self.count = order = self.count + 1
        line = user_line() if lines.on else ""
        return GradTracer(self, ans, (order, parents, pull, push, saved, line))

    def process_binary(self, prim: Binary, x: Array, y: Array, params: dict[str, Any]) -> Any:
        node_x = node_y = None
        if type(x) is GradTracer and x.owner is self:
            node_x, x = x.node, x.value
        if type(y) is GradTracer and y.owner is self:
            node_y, y = y.node, y.value
        a: Any = x.raw if type(x) is Array and current_stage() is EVAL else None
        b: Any = y.raw if type(y) is Array else None
        kernel = prim.quick.get(b.dtype) if type(b) is ndarray and type(a) is ndarray else None
        if not prim.keeps_weak or error_state() is not QUIET:
            kernel = None
        one, two = (a.shape, b.shape) if kernel is not None else (x.shape, y.shape)
        # Where they differ, one is of rank 0; if it is differentiated its node is a stretched one.
        stretch = one != two and (node_y if one else node_x) is not None
        if prim.smooth != BOTH or stretch:
            return self.recorded(prim, prim.apply(x, y, params), (x, y), (node_x, node_y), params)
        parents: Any
        if node_y is None:
            traced, parents = 1, (node_x,)
        elif node_x is None:
            traced, parents = 2, (node_y,)
        else:
            traced, parents = BOTH, (node_x, node_y)
        slope = prim.slopes.at(traced, params) if params else prim.slopes[traced]
        pull: Any
        push: Any
        saved: Any
        if kernel is not None:
            out = kernel(a, b, **params) if params else kernel(a, b)
            if type(out) is not ndarray:
                out = np.asarray(out)
            ans = Array(out, x.weak and y.weak)
            pull, push = pull_line, push_line
            saved = slope, slope.keep((None, out, a, b)), ans.weak
        else:
            ans = prim.apply(x, y, params)
            pull, push, saved = pull_slope, push_slope, (slope, slope.keep((None, ans, x, y)))
        self.count = order = self.count + 1
        line = user_line() if lines.on else ""
        return GradTracer(self, ans, (order, parents, pull, push, saved, line))

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
            alone = prim.jvp or sum([p is not None for p in parents]) == 1
            kept = [
                x if p is None or not alone else Aval(x.shape, x.dtype, x.weak)
                for x, p in zip(xs, parents, strict=True)
            ]
            rules = [p and prim.transpose_rule(i) for i, p in enumerate(parents)]
            saved, pull, push = (rules, kept, params, prim), pull_rules, push_linear
        elif prim.jvp:
            saved = prim, ans, xs, params, [p is not None for p in parents]
            pull, push = pull_general, push_general
        else:
            raise no_derivative(prim)
        return GradTracer(self, ans, self.node(parents, pull, push, saved))

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
            GradTracer(self, o, self.node((node,), pull_pick, push_pick, i)) if nz else o
            for i, (o, nz) in enumerate(zip(outs, nonzero, strict=True))
        ]


# The rules by kind. A pull maps the node's cotangent to its parents'; a push maps its parents'
# tangents to its own.

Cotangent = Any  # Array | Sparse | None, or (number, Array) from a pick
Params = dict[str, Any]
# What nodes keep for their rules, by kind; those of elementwise operations stand in `slopes`.
ByOperand = tuple[Sequence[Any], Sequence[Any], Params, Primitive]  # rules, operands
WithJvp = Any  # a Primitive whose jvp is not None
ByJvp = tuple[WithJvp, Array, Sequence[Array], Params, list[bool]]  # answer, operands, traced
# Of several outputs, which the last counts.
ManyByJvp = tuple[WithJvp, Sequence[Array], Sequence[Array], Params, list[bool], int]
Linear = tuple[Callable[[Sequence[Array | None]], Any], int]


def pull_rules(parents: Sequence[Node | None], saved: ByOperand, g: Array) -> Sequence[Cotangent]:
    """Each operand's own transpose."""
    rules, kept, params, _ = saved
    return [
        None if p is None or rule is None else rule(g, *kept, **params)
        for p, rule in zip(parents, rules)  # noqa: B905 - of one length; the check costs
    ]


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


class Sum:
    """Contributions to a cotangent: what is added up here is ours to add to in place.

    Sparse ones wait until the sum is needed.
    """

    __slots__ = ("dense", "owned", "parts")

    def __init__(self, dense: Array | None = None) -> None:
        self.dense = dense
        self.owned = dense is not None
        self.parts: list[Sparse] = []

    def add(self, ct: Array | Sparse) -> None:
        """Add a contribution."""
        if type(ct) is Sparse:
            self.parts.append(ct)
        elif self.dense is None:
            self.dense = ct
        elif self.owned and _plain(ct) and _plain(self.dense) and current_stage() is EVAL:
            np.add(self.dense.raw, ct.raw, out=self.dense.raw)
        else:
            self.dense = add(self.dense, ct)
            self.owned = True


def _plain(x: Any) -> bool:
    return type(x) is Array and type(x.raw) is ndarray


def joined(old: Any, ct: Cotangent) -> Any:
    """What was gathered of a cotangent so far, and one more contribution to it."""
    if type(ct) is tuple:  # from a pick: one of several outputs
        several = old if type(old) is dict else {old[0]: old[1]}
        i, part = ct
        several[i] = joined(several[i], part) if i in several else part
        return several
    if type(old) is Array and type(ct) is Array:
        return Sum(add(old, ct))
    held = old if type(old) is Sum else _held(old)
    held.add(ct)
    return held


def _held(first: Array | Sparse) -> Sum:
    held = Sum()
    held.add(first)
    return held


def summed(gathered: Any) -> Array | None:
    """What was gathered of one cotangent, as one Array."""
    if type(gathered) is Sparse:
        gathered = _held(gathered)
    if type(gathered) is Sum:
        parts = gathered.parts
        return scatter_all(gathered.dense, parts) if parts else gathered.dense
    return gathered


def backward(
    seeds: list[tuple[Node, Array]], inputs: Sequence[Node], initial: Sequence[Array | None] = ()
) -> list[Array | None]:
    """Cotangents of the inputs, given the outputs'; empties `seeds` and drops what it visited."""
    # By their numbers, the nodes that cotangents have reached, and what was gathered of these: one
    # contribution as it is, several as a Sum; of a node with several outputs a dictionary, by the
    # outputs' numbers.
    nodes: dict[int, Any] = {}
    gathered: dict[int, Any] = {}
    for leaf, start in zip(inputs, initial, strict=False):
        if start is not None:
            gathered[leaf[0]] = start
    node: Any
    ct: Any
    while seeds:
        node, ct = seeds.pop()
        order = node[0]
        nodes[order] = node
        gathered[order] = joined(gathered[order], ct) if order in gathered else ct
    node = ct = g = saved = parents = cts = parent = None
    for order in range(max(nodes, default=0), 0, -1):
        node = nodes.pop(order, None)
        if node is None:
            continue
        _, parents, pull, _, saved, line = node
        node = None
        if pull is None:  # an input
            continue
        g = gathered.pop(order)
        if type(g) is not Array:
            if type(g) is tuple or type(g) is dict:
                several = g if type(g) is dict else {g[0]: g[1]}
                g = [summed(several.pop(i, None)) for i in range(saved[-1])]  # counts the outputs
            else:
                g = summed(g)
        cts = pull(parents, saved, g) if not line else _pulled(line, pull, parents, saved, g)
        saved = g = None  # nothing holds it now but its users' own references
        for parent, ct in zip(parents, cts):  # noqa: B905 - of one length; the check costs
            if parent is not None and ct is not None:
                key = parent[0]
                nodes[key] = parent
                gathered[key] = joined(gathered[key], ct) if key in gathered else ct
        parents = cts = parent = ct = None
    return [summed(gathered.get(leaf[0])) for leaf in inputs]


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
    for number in sorted(seen):
        if number not in tangents:
            _, parents, _, push, saved, _ = seen[number]
            ts = [None if p is None else tangents[p[0]] for p in parents]
            tangents[number] = push(saved, ts) if push is not None else None
    return [tangents[node[0]] for node in outs]
