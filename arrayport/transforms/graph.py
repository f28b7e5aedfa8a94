"""The graph of a differentiated computation, run backwards or forwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
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


class Node:
    """One traced operation: what its rules will read, and its operands' nodes (None: constant).

    Only tracers hold their node and only nodes hold their operands', so what no longer leads to an
    output is freed during the forward pass, and what the backward pass has used is freed as it
    goes: no tape keeps it.
    """

    __slots__ = ("line", "order", "parents", "pull", "push", "saved")

    def __init__(
        self, order: int, parents: Sequence[Node | None], pull: Any, push: Any, saved: Any
    ) -> None:
        self.order = order
        self.parents = parents
        self.pull = pull
        self.push = push
        self.saved = saved
        if lines.on:
            self.line = user_line()


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
        return Node(order, parents, pull, push, saved)

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
        ans = prim.bind(*xs, **params)
        if not is_inexact(ans.dtype):
            return ans
        if prim.partials:
            saved: Any = prim, ans, xs, params, ans.shape
            pull, push = pull_elementwise, push_elementwise
        elif prim.transposes and (prim.jvp is None or prim.transposable(parents)):
            # Then no rule reads its operand's value.
            alone = prim.jvp or sum(p is not None for p in parents) == 1
            kept = [
                x if p is None or not alone else Aval(x.shape, x.dtype, x.weak)
                for x, p in zip(xs, parents, strict=True)
            ]
            saved, pull, push = (prim, kept, params), pull_linear, push_linear
        elif prim.jvp:
            saved = prim, ans, xs, params, [p is not None for p in parents]
            pull, push = pull_general, push_general
        else:
            raise no_derivative(prim)
        return GradTracer(self, ans, self.node(parents, pull, push, saved))

    def process_unary(self, prim: Unary, x: Array, params: dict[str, Any]) -> Any:
        node, x = x.node, x.value  # type: ignore[attr-defined]
        ans = prim.apply(x, params)
        out = GradTracer(self, ans, None)  # type: ignore[arg-type]
        if out.dtype.kind not in "fc" and not is_inexact(out.dtype):
            return ans
        if prim.partials:
            (rule,) = prim.partials
            if rule is None:
                return ans
            (need,) = prim.needs
            bound = partial(rule, **params) if params else rule
            saved: Any = bound, ans if need & 1 else None, x if need & 2 else None
            pull, push = pull_unary, push_unary
        elif prim.transposes:
            saved = prim, prim.transposes[0], new(Aval, (x.shape, x.dtype, x.weak)), params  # type: ignore[index]
            pull, push = pull_unary_linear, push_unary_linear
        elif prim.jvp:
            saved, pull, push = (prim, ans, (x,), params, (True,)), pull_general, push_general
        else:
            raise no_derivative(prim)
        self.count = order = self.count + 1
        out.node = Node(order, (node,), pull, push, saved)
        return out

    def process_binary(self, prim: Binary, x: Array, y: Array, params: dict[str, Any]) -> Any:
        node_x = node_y = None
        if type(x) is GradTracer and x.owner is self:
            node_x, x = x.node, x.value
        if type(y) is GradTracer and y.owner is self:
            node_y, y = y.node, y.value
        ans = prim.apply(x, y, params)
        out = GradTracer(self, ans, None)  # type: ignore[arg-type]
        if out.dtype.kind not in "fc" and not is_inexact(out.dtype):
            return ans
        if prim.partials:
            rules = (
                tuple([r and partial(r, **params) for r in prim.partials])
                if params
                else prim.partials
            )
            need_x, need_y = prim.needs
            need = (need_x if node_x is not None else 0) | (need_y if node_y is not None else 0)
            saved: Any = (
                rules,
                ans if need & 1 else None,
                x if need & 2 else None,
                y if need & 4 else None,
                x.shape,
                y.shape,
            )
            pull, push = pull_binary, push_binary
        elif prim.transposes and (prim.jvp is None or prim.transposable((node_x, node_y))):
            # Then no rule reads its operand's value.
            alone = prim.jvp or node_x is None or node_y is None
            kept = [
                Aval(a.shape, a.dtype, a.weak) if alone and p else a
                for a, p in ((x, node_x), (y, node_y))
            ]
            saved, pull, push = (prim, kept, params), pull_linear, push_linear
        elif prim.jvp:
            saved = prim, ans, (x, y), params, (node_x is not None, node_y is not None)
            pull, push = pull_general, push_general
        else:
            raise no_derivative(prim)
        self.count = order = self.count + 1
        out.node = Node(order, (node_x, node_y), pull, push, saved)
        return out

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


def pull_unary(node: Node, g: Array) -> Sequence[Cotangent]:
    rule, ans, x = node.saved
    return (rule(g, ans, x),)


def push_unary(node: Node, ts: Sequence[Array | None]) -> Array | None:
    rule, ans, x = node.saved
    return rule(ts[0], ans, x) if ts[0] is not None else None


def pull_binary(node: Node, g: Array) -> Sequence[Cotangent]:
    (rule_x, rule_y), ans, x, y, shape_x, shape_y = node.saved
    node_x, node_y = node.parents
    ct_x = rule_x(g, ans, x, y) if node_x is not None and rule_x is not None else None
    ct_y = rule_y(g, ans, x, y) if node_y is not None and rule_y is not None else None
    if shape_x != shape_y:  # one is of rank 0
        if not shape_x and ct_x is not None:
            ct_x = reduce_sum(ct_x)
        elif not shape_y and ct_y is not None:
            ct_y = reduce_sum(ct_y)
    return ct_x, ct_y


def push_binary(node: Node, ts: Sequence[Array | None]) -> Array | None:
    rules, ans, x, y, shape_x, shape_y = node.saved
    t = total(
        [rule(t, ans, x, y) for rule, t in zip(rules, ts, strict=True) if rule and t is not None]
    )
    shape = shape_x or shape_y
    return t if t is None or t.shape == shape else broadcast_in_dim(t, shape, ())


def pull_elementwise(node: Node, g: Array) -> Sequence[Cotangent]:
    prim, ans, xs, params, shape = node.saved
    cts = [
        rule(g, ans, *xs, **params) if p is not None and rule is not None else None
        for rule, p in zip(prim.partials, node.parents, strict=True)
    ]
    return [
        reduce_sum(c) if c is not None and x.shape != shape else c
        for c, x in zip(cts, xs, strict=True)
    ]


def push_elementwise(node: Node, ts: Sequence[Array | None]) -> Array | None:
    prim, ans, xs, params, _ = node.saved
    return push_forward(prim, ts, ans, xs, params)


def pull_unary_linear(node: Node, g: Array) -> Sequence[Cotangent]:
    _, rule, x, params = node.saved
    return (rule(g, x, **params),)


def push_unary_linear(node: Node, ts: Sequence[Array | None]) -> Array | None:
    prim, _, _, params = node.saved
    return None if ts[0] is None else prim.bind(ts[0], **params)


def pull_linear(node: Node, g: Array) -> Sequence[Cotangent]:
    prim, xs, params = node.saved
    return [
        None if p is None else prim.transpose_rule(i)(g, *xs, **params)
        for i, p in enumerate(node.parents)
    ]


def push_linear(node: Node, ts: Sequence[Array | None]) -> Array | None:
    prim, xs, params = node.saved
    return push_forward(prim, ts, None, xs, params)


def pull_general(node: Node, g: Array) -> Sequence[Cotangent]:
    """The transpose of a jvp rule: it is linear, so its vjp at zero is its transpose."""
    prim, ans, xs, params, traced = node.saved
    return _transpose(lambda ts: [prim.jvp(ts, ans, *xs, **params)], [g], xs, traced)


def push_general(node: Node, ts: Sequence[Array | None]) -> Array | None:
    prim, ans, xs, params, _ = node.saved
    return prim.jvp(ts, ans, *xs, **params)


def pull_many(node: Node, cts: Sequence[Array | None]) -> Sequence[Cotangent]:
    prim, outs, xs, params, traced, _ = node.saved
    return _transpose(lambda ts: prim.jvp(ts, outs, *xs, **params), cts, xs, traced)


def push_node_many(node: Node, ts: Sequence[Array | None]) -> Any:
    prim, outs, xs, params, _, _ = node.saved
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


def pull_linearized(node: Node, cts: Sequence[Array | None]) -> Sequence[Cotangent]:
    return node.saved[0](cts)


def push_linearized(node: Node, ts: Sequence[Array | None]) -> Any:
    return node.saved[0](ts)


def pull_pick(node: Node, g: Array) -> Sequence[Cotangent]:
    return ((node.saved, g),)


def push_pick(node: Node, ts: Sequence[Any]) -> Array | None:
    return None if ts[0] is None else ts[0][node.saved]


class Parts:
    """A cotangent with sparse contributions, which wait until it is needed."""

    __slots__ = ("dense", "parts")

    def __init__(self, dense: Array | None, parts: list[Sparse]) -> None:
        self.dense = dense
        self.parts = parts

    def total(self) -> Array:
        """The dense sum."""
        return scatter_all(self.dense, self.parts)


class Cotangents(dict[Any, Any]):
    """Cotangents by key, summed; sums made here are ours to add to in place."""

    __slots__ = ("owned",)

    def __init__(self) -> None:
        self.owned: set[Any] = set()

    def add(self, key: Any, ct: Array | Sparse) -> None:
        """Add a contribution."""
        old = self.get(key)
        if type(ct) is Sparse:
            if type(old) is Parts:
                old.parts.append(ct)
            else:
                self[key] = Parts(old, [ct])
        elif old is None:
            self[key] = ct
        elif type(old) is Parts:
            old.dense = ct if old.dense is None else add(old.dense, ct)
        elif key in self.owned and _plain(ct) and _plain(old) and current_stage() is EVAL:
            np.add(old.raw, ct.raw, out=old.raw)  # type: ignore[union-attr]
        else:
            self[key] = add(old, ct)
            self.owned.add(key)

    def take(self, key: Any) -> Array | None:
        """Remove and give the sum."""
        ct = self.pop(key, None)
        return ct.total() if type(ct) is Parts else ct


def _plain(x: Any) -> bool:
    return type(x) is Array and type(x.raw) is np.ndarray


def backward(
    seeds: list[tuple[Node, Array]], inputs: Sequence[Node], initial: Sequence[Array | None] = ()
) -> list[Array | None]:
    """Cotangents of the inputs, given the outputs'; empties `seeds` and drops what it visited."""
    pending = Cotangents()
    nodes: dict[int, Any] = {}
    ct: Any
    for leaf, start in zip(inputs, initial, strict=False):
        if start is not None:
            pending[leaf.order] = start
    while seeds:
        seed, ct = seeds.pop()
        nodes[seed.order] = seed
        pending.add(seed.order, ct)
    for leaf in inputs:
        nodes.pop(leaf.order, None)
    seed = node = ct = g = parents = cts = parent = None  # type: ignore[assignment]
    for order in range(max(nodes, default=0), 0, -1):
        node = nodes.pop(order, None)
        if node is None:
            continue
        g = pending.pop(order)
        if type(g) is not Array and not isinstance(g, Array):
            # Parts, or the cotangents of a node with several outputs, by number.
            several = type(g) is Cotangents
            g = [g.take(i) for i in range(node.saved[-1])] if several else g.total()
        parents, cts = node.parents, _pulled(node, g) if lines.on else node.pull(node, g)
        node = g = None  # nothing holds it now but its users' own references
        for parent, ct in zip(parents, cts):  # noqa: B905 - of one length; the check costs
            if parent is None or ct is None:
                continue
            key = parent.order
            if parent.pull is not None:  # else an input
                nodes[key] = parent
            if type(ct) is tuple:  # from a pick: one of several outputs
                if key not in pending:
                    pending[key] = Cotangents()
                pending[key].add(*ct)
            elif key in pending or type(ct) is Sparse:
                pending.add(key, ct)
            else:
                pending[key] = ct
        parents = cts = parent = ct = None
    return [pending.take(leaf.order) for leaf in inputs]


def _pulled(node: Node, g: Any) -> Sequence[Cotangent]:
    """Pull back; what that does stands at the line of the operation itself."""
    with replaying(getattr(node, "line", "")):
        return node.pull(node, g)  # type: ignore[no-any-return]


def forward(outs: Sequence[Node], inputs: Sequence[tuple[Node, Array]]) -> list[Array | None]:
    """Tangents of the outputs, given the inputs'."""
    todo = list(outs)
    seen: dict[int, Node] = {}
    while todo:
        node = todo.pop()
        if node.order not in seen:
            seen[node.order] = node
            todo += [p for p in node.parents if p is not None]
    tangents: dict[int, Any] = {node.order: t for node, t in inputs}
    for order in sorted(seen):
        if order not in tangents:
            node = seen[order]
            parents = [None if p is None else tangents[p.order] for p in node.parents]
            tangents[order] = node.push(node, parents) if node.push is not None else None
    return [tangents[node.order] for node in outs]
