"""custom_jvp: a function that brings its own forward-mode derivative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayport.control.custom_rules import (
    Custom,
    Flat,
    Marks,
    SymbolicZero,
    avals_given,
    batched,
    call,
    linearized,
    pair_of,
    plain,
    refuse_free,
    staged,
    symbolic,
)
from arrayport.control.flat import flatten
from arrayport.core.array import Array
from arrayport.core.dtypes import float0, is_inexact
from arrayport.core.primitive import Holder
from arrayport.core.trace import route
from arrayport.core.tree import tree_flatten, tree_leaves, tree_unflatten
from arrayport.ops.promotion import lift
from arrayport.ops.structure import zeros
from arrayport.transforms.staging import StagingTrace

# Operands: free, then primals. `rule` maps (free, primals, tangents) to outputs, then tangents of
# the outputs; a tangent may be a SymbolicZero on the way in and None on the way out.


def _push(
    ts: Sequence[Any], xs: Sequence[Array], params: dict[str, Any]
) -> tuple[list[Array], list[Any]]:
    free = params["free"]
    refuse_free(ts, free, "custom_jvp")
    tangents = [symbolic(t, x) for t, x in zip(ts[free:], xs[free:], strict=True)]
    outs = call(params["rule"], *xs, *tangents)
    n = len(outs) // 2
    return outs[:n], [
        t if is_inexact(o.dtype) else None for o, t in zip(outs[:n], outs[n:], strict=True)
    ]


def _linearize(
    nonzero: Sequence[bool], xs: Sequence[Array], params: dict[str, Any], forward: bool
) -> Any:
    refuse_free(nonzero, params["free"], "custom_jvp")
    return linearized(_push, nonzero, xs, params, forward)


def _batch(size: int, xs: Any, dims: Any, /, fun: Flat, rule: Flat, free: int, avals: Any) -> Any:  # noqa: ARG001
    marks = Marks()

    def pairs(found: list[bool]) -> list[bool]:
        """An output is batched if its tangent is."""
        n = len(found) // 2
        return marks.settle([a or b for a, b in zip(found[:n], found[n:], strict=True)]) * 2

    outs = custom_jvp_p.bind(
        *xs,
        fun=batched(fun, size, dims, marks.settle),
        rule=batched(rule, size, [*dims, *dims[free:]], pairs),
        free=free,
        avals=None,
    )
    return outs, marks.dims


def _stage(trace: StagingTrace, xs: Sequence[Array], params: dict[str, Any]) -> list[Array]:
    run, free = staged(params["fun"], xs)
    n, rule = len(free), params["rule"]
    new = {
        "fun": run,
        "rule": (lambda *given: call(rule, *given[n:])) if n else rule,
        "free": n + params["free"],
        "avals": tuple(run.out_avals),
    }
    return trace.emit(custom_jvp_p, [*free, *xs], new)


custom_jvp_p = Holder(
    "custom_jvp", avals_given, _batch, jvp=_push, linearize=_linearize, stage=_stage, runs="fun"
)


def _tangent(t: Any) -> Array | None:
    """What a rule gave as a tangent; None for zero."""
    zero = isinstance(t, SymbolicZero) or getattr(t, "dtype", None) == float0
    return None if zero else lift(t, None, "a tangent")


class custom_jvp(Custom):  # noqa: N801 - JAX's name
    """A function with its own forward-mode rule, from which reverse mode follows.

    Source: `jax.custom_jvp`.

    The rule, given by `defjvp`, maps (*nondiff arguments, primals, tangents) to (output, its
    tangent). With `symbolic_zeros` a tangent that is zero comes as a `SymbolicZero`.

    >>> import arrayport as ap
    >>> @ap.custom_jvp
    ... def double(x):
    ...     return x * 2.0
    >>> @double.defjvp
    ... def rule(primals, tangents):
    ...     return double(*primals), tangents[0] * 3.0
    >>> ap.grad(double)(1.0)
    Array(3., dtype=float32, weak_type=True)
    """

    jvp: Callable[..., Any] | None = None
    symbolic_zeros = False

    def defjvp(self, jvp: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Set the rule; gives it back, to be used as a decorator."""
        self.symbolic_zeros = symbolic_zeros
        self.jvp = jvp
        return jvp

    def defjvps(self, *rules: Callable[..., Any] | None) -> None:
        """Set a rule an argument: `rule(tangent, output, *primals)`; None for a zero derivative."""

        def jvp(primals: Any, tangents: Any) -> Any:
            out = self(*primals)
            terms = [
                r(t, out, *primals) for r, t in zip(rules, tangents, strict=True) if r is not None
            ]
            total = terms[0] if terms else zeros(lift(out))
            for t in terms[1:]:
                total = total + t
            return out, total

        self.jvp = jvp

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.jvp is None:
            raise AttributeError(
                f"{self.__name__} is a custom_jvp function without a rule: give it one with defjvp"
            )
        given = self.bound(args, kwargs)
        static, dynamic = self.split(given)
        _, engine = route(tree_leaves(dynamic))
        if engine is not None:
            return engine.custom_jvp_call(
                self.fun, self.jvp, self.nondiff, self.symbolic_zeros, given
            )
        leaves, tree = flatten(dynamic, f"an argument of {self.__name__}")
        if plain(leaves):
            return self.fun(*self.merged(static, tree_unflatten(tree, leaves)))
        out_tree: Any = None

        def fun(*xs: Array) -> list[Array]:
            nonlocal out_tree
            outs, out_tree = flatten(
                self.fun(*self.merged(static, tree_unflatten(tree, xs))),
                f"an output of {self.__name__}",
            )
            return outs

        def rule(*xs: Any) -> list[Any]:
            nonlocal out_tree
            n = len(xs) // 2
            if not self.symbolic_zeros:
                xs = tuple([x.instantiate() if type(x) is SymbolicZero else x for x in xs])
            primals, tangents = (tuple(tree_unflatten(tree, part)) for part in (xs[:n], xs[n:]))
            found = self.jvp(*static, primals, tangents)  # type: ignore[misc]
            pair = pair_of(found, "the jvp rule", self, "output, tangent")
            outs, out_tree = flatten(pair[0], f"an output of {self.__name__}")
            ts, t_tree = tree_flatten(pair[1])
            if t_tree != out_tree or any(np.shape(t) != o.shape for t, o in zip(ts, outs)):  # noqa: B905 - the trees agree
                raise TypeError(
                    f"the jvp rule of {self.__name__} gave an output {pair[0]} but a tangent "
                    f"{pair[1]}: they must match"
                )
            return [*outs, *map(_tangent, ts)]

        outs = custom_jvp_p.bind(*leaves, fun=fun, rule=rule, free=0, avals=None)
        return tree_unflatten(out_tree, outs)
