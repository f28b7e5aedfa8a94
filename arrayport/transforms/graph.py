"""The graph of a differentiated computation, run backwards or forwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from arrayport.core import lines
from arrayport.core.array import Array, Aval, Tracer
from arrayport.core.backend import Backend
from arrayport.core.dtypes import is_inexact
from arrayport.core.errors import replaying, user_line
from arrayport.core.primitive import Binary, Holder, Primitive, Unary
from arrayport.core.sparse import Sparse
from arrayport.core.trace import EVAL, Trace, backend_of, current_stage
from arrayport.ops.elementwise import add
from arrayport.ops.structure import broadcast_in_dim, reduce_sum, total, zeros
from arrayport.ops.windows import scatter_all
from arrayport.transforms.forward import no_derivative, push_forward, push_many

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
        return GradTracer(self, x, self.node((), None, None, None))

    def owns(self, x: Any) -> bool:
        """Whether x is a tracer of this trace."""
        return type(x) is GradTracer and x.owner is self

    def node(self, parents: Sequence[Node | None], pull: Any, push: Any, saved: Any) -> Node:
        """Make the next node."""
        self.count = order = self.count + 1
        return order, parents, pull, push, saved, user_line() if lines.on else ""

    def process(self, prim: Primitive, args: Sequence[Array], params: dict[str, Any]) -> Any:
        xs: list[Any] = []
        parents: list[Node | None] = []
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
        value = x.value  # type: ignore[attr-defined]
        ans = prim.apply(value, params)
        rules: Any = prim.partials
        kept: Any
        if rules:
            if rules[0] is None:
                return ans
            need, push = prim.needs[0], push_partials
            kept = ans if need & 1 else None, value if need & 2 else None
        elif prim.linear and is_inexact(ans.dtype):
            rules, push = prim.transposes, push_linear
            kept = (new(Aval, (x.shape, x.dtype, x.weak)),)
        else:
            return self.recorded(prim, ans, (value,), (x.node,), params)  # type: ignore[attr-defined]
        self.count = order = self.count + 1
        pull = pull_rules if params else pull_rule
        line = user_line() if lines.on else ""
        node = order, (x.node,), pull, push, (rules, kept, params, prim), line  # type: ignore[attr-defined]
        return GradTracer(self, ans, node)

    def process_binary(self, prim: Binary, x: Array, y: Array, params: dict[str, Any]) -> Any:
        node_x = node_y = None
        if type(x) is GradTracer and x.owner is self:
            node_x, x = x.node, x.value
        if type(y) is GradTracer and y.owner is self:
            node_y, y = y.node, y.value
        ans = prim.apply(x, y, params)
        rules = prim.partials
        if not rules or rules[0] is None or x.shape != y.shape:
            return self.recorded(prim, ans, (x, y), (node_x, node_y), params)
        need_x, need_y = prim.needs
        need = (need_x if node_x is not None else 0) | (need_y if node_y is not None else 0)
        kept = ans if need & 1 else None, x if need & 2 else None, y if need & 4 else None
        self.count = order = self.count + 1
        line = user_line() if lines.on else ""
        saved = rules, kept, params, prim
        pull = pull_rules if params else pull_two
        node = order, (node_x, node_y), pull, push_partials, saved, line
        return GradTracer(self, ans, node)

    def recorded(
        self,
        prim: Primitive,
        ans: Array,
        xs: Sequence[Array],
        parents: Sequence[Node | None],
        params: dict[str, Any],
    ) -> Array:
        """The answer of an operation with its node."""
        if not is_inexact(ans.dtype):
            return ans
        if prim.partials:
            shape = ans.shape
            parents = [
                p if p is None or x.shape == shape else self.stretched(p, shape)
                for p, x in zip(parents, xs, strict=True)
            ]
            pairs = zip(parents, prim.needs, strict=True)
            need = reduce(or_, [bits for p, bits in pairs if p is not None], 0)
            kept: list[Any] = [a if need >> i & 1 else None for i, a in enumerate((ans, *xs))]
            saved: Any = prim.partials, kept, params, prim
            pull: Any = pull_rules
            push: Any = push_partials
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


def pull_rules(parents: Sequence[Node | None], saved: Any, g: Array) -> Sequence[Cotangent]:
    """Each operand's own rule: a partial, or a transpose."""
    rules, kept, params, _ = saved
    return [
        None if p is None or rule is None else rule(g, *kept, **params)
        for p, rule in zip(parents, rules)  # noqa: B905 - of one length; the check costs
    ]


def pull_rule(_parents: Sequence[Node], saved: Any, g: Array) -> Sequence[Cotangent]:
    """The same for one operand and no parameters, quicker."""
    (rule,), kept, _, _ = saved
    return (rule(g, *kept),)


def pull_two(parents: Sequence[Node | None], saved: Any, g: Array) -> Sequence[Cotangent]:
    """The same for two operands and no parameters, quicker."""
    (rule_x, rule_y), (ans, x, y), _, _ = saved
    node_x, node_y = parents
    return (
        None if node_x is None or rule_x is None else rule_x(g, ans, x, y),
        None if node_y is None or rule_y is None else rule_y(g, ans, x, y),
    )


def push_partials(saved: Any, ts: Sequence[Array | None]) -> Array | None:
    rules, kept, params, _ = saved
    pairs = zip(rules, ts, strict=True)
    return total([rule(t, *kept, **params) for rule, t in pairs if rule and t is not None])


def pull_stretched(_parents: Sequence[Node], _shape: Any, g: Array) -> Sequence[Cotangent]:
    return (reduce_sum(g),)


def push_stretched(shape: Any, ts: Sequence[Array | None]) -> Array | None:
    return None if ts[0] is None else broadcast_in_dim(ts[0], shape, ())


def push_linear(saved: Any, ts: Sequence[Array | None]) -> Array | None:
    _, xs, params, prim = saved
    return push_forward(prim, ts, None, xs, params)


def pull_general(_parents: Sequence[Node | None], saved: Any, g: Array) -> Sequence[Cotangent]:
    """The transpose of a jvp rule: it is linear, so its vjp at zero is its transpose."""
    prim, ans, xs, params, traced = saved
    return _transpose(lambda ts: [prim.jvp(ts, ans, *xs, **params)], [g], xs, traced)


def push_general(saved: Any, ts: Sequence[Array | None]) -> Array | None:
    prim, ans, xs, params, _ = saved
    return prim.jvp(ts, ans, *xs, **params)


def pull_many(
    _parents: Sequence[Node | None], saved: Any, cts: Sequence[Array | None]
) -> Sequence[Cotangent]:
    prim, outs, xs, params, traced, _ = saved
    return _transpose(lambda ts: prim.jvp(ts, outs, *xs, **params), cts, xs, traced)


def push_node_many(saved: Any, ts: Sequence[Array | None]) -> Any:
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
    _parents: Sequence[Node], saved: Any, cts: Sequence[Array | None]
) -> Sequence[Cotangent]:
    return saved[0](cts)


def push_linearized(saved: Any, ts: Sequence[Array | None]) -> Any:
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

    def __init__(self, first: Array | None) -> None:
        self.dense = first
        self.owned = False
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

    def total(self) -> Array:
        """The sum, dense."""
        return scatter_all(self.dense, self.parts) if self.parts else self.dense  # type: ignore[return-value]


def _plain(x: Any) -> bool:
    return type(x) is Array and type(x.raw) is np.ndarray


def joined(old: Any, ct: Array | Sparse) -> Any:
    """A cotangent so far, if any, and one more contribution to it."""
    if old is None and type(ct) is not Sparse:
        return ct
    held = old if type(old) is Sum else Sum(old)
    held.add(ct)
    return held


def summed(ct: Any) -> Array | None:
    """What was gathered, as one Array."""
    return ct.total() if type(ct) is Sum else ct


def backward(
    seeds: list[tuple[Node, Array]], inputs: Sequence[Node], initial: Sequence[Array | None] = ()
) -> list[Array | None]:
    """Cotangents of the inputs, given the outputs'; empties `seeds` and drops what it visited."""
    # By their numbers, the nodes that cotangents have reached, and what was gathered of these: of a
    # node with several outputs a dictionary, by the outputs' numbers.
    top = max([node[0] for node in inputs] + [node[0] for node, _ in seeds], default=0)
    nodes: list[Any] = [None] * (top + 1)
    gathered: list[Any] = [None] * (top + 1)
    for leaf, start in zip(inputs, initial, strict=False):
        gathered[leaf[0]] = start
    node: Any
    ct: Any
    while seeds:
        node, ct = seeds.pop()
        nodes[node[0]] = node
        gathered[node[0]] = joined(gathered[node[0]], ct)
    node = ct = g = saved = parents = cts = parent = None
    for order in range(top, 0, -1):
        if nodes[order] is None:
            continue
        _, parents, pull, _, saved, line = nodes[order]
        if pull is None:  # an input
            continue
        g, nodes[order], gathered[order] = gathered[order], None, None
        if type(g) is not Array:
            if type(g) is Sum:
                g = g.total()
            elif type(g) is dict:
                g = [summed(g.pop(i, None)) for i in range(saved[-1])]  # which counts the outputs
        cts = pull(parents, saved, g) if not line else _pulled(line, pull, parents, saved, g)
        saved = g = None  # nothing holds it now but its users' own references
        for parent, ct in zip(parents, cts):  # noqa: B905 - of one length; the check costs
            if parent is None or ct is None:
                continue
            key = parent[0]
            nodes[key] = parent
            if gathered[key] is None and isinstance(ct, Array):
                gathered[key] = ct
            elif type(ct) is tuple:  # from a pick: one of several outputs
                several = gathered[key] = gathered[key] or {}
                several[ct[0]] = joined(several.get(ct[0]), ct[1])
            else:
                gathered[key] = joined(gathered[key], ct)
        parents = cts = parent = ct = None
    return [summed(gathered[leaf[0]]) for leaf in inputs]


def _pulled(
    line: str, pull: Callable[..., Any], parents: Sequence[Any], saved: Any, g: Any
) -> Sequence[Cotangent]:
    """Pull back; what that does stands at the line of the operation itself."""
    with replaying(line):
        return pull(parents, saved, g)  # type: ignore[no-any-return]


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
