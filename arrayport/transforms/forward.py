"""Forward mode: traces that carry a tangent with each value, and jvp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayport.core.array import Array, Tracer
from arrayport.core.backend import Backend
from arrayport.core.dtypes import is_inexact
from arrayport.core.errors import NotDifferentiableError, user_line
from arrayport.core.primitive import Holder, Primitive
from arrayport.core.trace import Trace, backend_of
from arrayport.ops.structure import broadcast_in_dim, total


class JVPTracer(Tracer):
    """A value with its tangent."""

    __slots__ = ("tangent", "value")

    def __init__(self, trace: Trace, value: Array, tangent: Array) -> None:
        self.owner = trace
        self.value = value
        self.tangent = tangent
        self.shape = value.shape
        self.dtype = value.dtype
        self.weak = value.weak

    def concrete(self, *use: Any) -> Any:
        return self.value.concrete(*use)


class JVPTrace(Trace):
    """Pushes tangents through every operation; a value whose tangent is zero leaves the trace."""

    def backend(self, x: Tracer) -> Backend:
        return backend_of(x.value)  # type: ignore[attr-defined, return-value]

    def pair(self, x: Array) -> tuple[Array, Array | None]:
        """A value and its tangent, None for zero."""
        return (x.value, x.tangent) if type(x) is JVPTracer and x.owner is self else (x, None)

    def process(self, prim: Primitive, args: Sequence[Array], params: dict[str, Any]) -> Any:
        xs, ts = zip(*map(self.pair, args), strict=True)
        if isinstance(prim, Holder):
            outs, out_ts = prim.jvp(ts, xs, params)  # type: ignore[misc]
        elif prim.many:
            outs = prim.bind(*xs, **params)
            out_ts = push_many(prim, ts, outs, xs, params)
        else:
            ans = prim.bind(*xs, **params)
            t = push_forward(prim, ts, ans, xs, params) if is_inexact(ans.dtype) else None
            return ans if t is None else JVPTracer(self, ans, t)
        return [
            o if t is None else JVPTracer(self, o, t) for o, t in zip(outs, out_ts, strict=True)
        ]


def push_forward(
    prim: Primitive, ts: Sequence[Array | None], ans: Any, xs: Sequence[Any], params: dict[str, Any]
) -> Array | None:
    """The tangent of a primitive's one output; None is zero."""
    if prim.partials:
        rules = zip(prim.partials, ts, strict=True)
        t = total([rule(t, ans, *xs, **params) for rule, t in rules if rule and t is not None])
        return t if t is None or t.shape == ans.shape else broadcast_in_dim(t, ans.shape, ())
    if prim.jvp:
        return prim.jvp(ts, ans, *xs, **params)
    if prim.transposes:
        pushed = [
            prim.bind(*xs[:i], t, *xs[i + 1 :], **params) for i, t in enumerate(ts) if t is not None
        ]
        return total(pushed)
    raise no_derivative(prim)


def push_many(
    prim: Primitive,
    ts: Sequence[Array | None],
    outs: Sequence[Array],
    xs: Sequence[Any],
    params: dict[str, Any],
) -> list[Array | None]:
    """The tangents of a primitive's several outputs; None is zero."""
    if not any(is_inexact(o.dtype) for o in outs):
        return [None] * len(outs)
    if prim.jvp is None:
        raise no_derivative(prim)
    return list(prim.jvp(ts, outs, *xs, **params))


def no_derivative(prim: Primitive) -> Exception:
    """The error for an operation without a derivative, with its reason."""
    return NotDifferentiableError(
        f"{prim.name} has no derivative (at {user_line()}): {prim.not_differentiable}"
    )
