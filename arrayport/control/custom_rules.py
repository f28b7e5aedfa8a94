"""custom_jvp and custom_vjp: functions that bring their own derivative."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

from arrayport.control.flat import flatten
from arrayport.core.array import Array, Aval, Tracer, aval_of
from arrayport.core.dtypes import is_inexact
from arrayport.core.errors import NotDifferentiableError
from arrayport.core.primitive import Holder
from arrayport.core.program import Program, eval_program
from arrayport.core.trace import EVAL, is_staging
from arrayport.core.tree import tree_flatten, tree_leaves, tree_structure, tree_unflatten
from arrayport.ops.promotion import lift
from arrayport.ops.structure import move_axis, reduce_sum, zeros
from arrayport.transforms.batching import BatchTrace, BatchTracer
from arrayport.transforms.engines import route
from arrayport.transforms.graph import GradTrace, backward
from arrayport.transforms.staging import StagingTrace, stage

# The function itself becomes a Program when it is staged, and takes what it captured first (`free`
# operands). Its rules stay callables of flat Arrays, traced when a derivative is taken: a rule
# may call the function itself.
Flat = Callable[..., list[Array]] | Program


def call(f: Flat, *xs: Array) -> list[Array]:
    """Run a rule in either form."""
    return eval_program(f, xs) if isinstance(f, Program) else f(*xs)


def _avals(*_xs: Any, avals: Sequence[Aval], **_params: Any) -> Sequence[Aval]:
    return avals


def _batched(f: Flat, size: int, dims: Sequence[int | None]) -> Callable[..., list[Array]]:
    """A rule over arguments batched at `dims`; every output is batched at 0."""

    def run(*xs: Array) -> list[Array]:
        trace = BatchTrace(size)
        ins = [x if d is None else BatchTracer(trace, x, d) for x, d in zip(xs, dims, strict=True)]
        return [trace.output(o, 0) for o in call(f, *ins)]

    return run


def _batched_avals(avals: Sequence[Aval] | None, size: int) -> list[Aval] | None:
    return None if avals is None else [Aval((size, *a.shape), a.dtype, a.weak) for a in avals]


def _staged(fun: Flat, xs: Sequence[Array]) -> tuple[Program, list[Tracer]]:
    """The function as a Program, and what it captured of enclosing traces."""
    return (fun, []) if isinstance(fun, Program) else stage(fun, [aval_of(x) for x in xs])


def _without(n: int, rule: Flat) -> Flat:
    """A rule that is given n operands more, which it does not need."""
    return (lambda *xs: call(rule, *xs[n:])) if n else rule


def _refuse_free(traced: Sequence[Any], free: int, name: str) -> None:
    if any(t is not None and t is not False for t in traced[:free]):
        raise NotDifferentiableError(
            f"a {name} function was differentiated with respect to a value that it captured from "
            "outside, for which it has no rule: pass the value as an argument"
        )


# ---- custom_jvp
# Operands: free, then primals. `rule` maps (free, primals, tangents) to outputs, then tangents of
# the outputs.


def _jvp_jvp(
    ts: Sequence[Any], xs: Sequence[Array], params: dict[str, Any]
) -> tuple[list[Array], list[Any]]:
    free = params["free"]
    _refuse_free(ts, free, "custom_jvp")
    tangents = [zeros(x) if t is None else t for t, x in zip(ts[free:], xs[free:], strict=True)]
    outs = call(params["rule"], *xs, *tangents)
    n = len(outs) // 2
    return outs[:n], [
        t if is_inexact(o.dtype) else None for o, t in zip(outs[:n], outs[n:], strict=True)
    ]


def _jvp_linearize(
    nonzero: Sequence[bool], xs: Sequence[Array], params: dict[str, Any], forward: bool
) -> Any:
    trace, free = GradTrace(), params["free"]
    _refuse_free(nonzero, free, "custom_jvp")
    ts: list[Any] = [
        trace.input(zeros(x)) if nz else None for x, nz in zip(xs, nonzero, strict=True)
    ]
    outs, out_ts = _jvp_jvp(ts, xs, params)
    outs = [o.value if trace.owns(o) else o for o in outs]  # type: ignore[attr-defined]
    inputs = [t.node for t in ts if t is not None]

    def push(given: Sequence[Array | None]) -> list[Array | None]:
        it = iter(given)
        return _jvp_jvp([next(it) if nz else None for nz in nonzero], xs, params)[1]

    def pull(cts: Sequence[Array | None]) -> list[Array | None]:
        pairs = zip(out_ts, cts, strict=True)
        return backward([(t.node, c) for t, c in pairs if trace.owns(t) and c is not None], inputs)

    return outs, [t is not None for t in out_ts], push if forward else pull


def _jvp_batch(
    size: int, xs: Any, dims: Any, /, fun: Flat, rule: Flat, free: int, avals: Any
) -> Any:
    outs = custom_jvp_p.bind(
        *xs,
        fun=_batched(fun, size, dims),
        rule=_batched(rule, size, [*dims, *[0 if d is not None else None for d in dims[free:]]])
        if all(d in (None, 0) for d in dims)
        else _batched(rule, size, [*dims, *dims[free:]]),
        free=free,
        avals=_batched_avals(avals, size),
    )
    return outs, [0] * len(outs)


def _jvp_stage(trace: StagingTrace, xs: Sequence[Array], params: dict[str, Any]) -> list[Array]:
    run, free = _staged(params["fun"], xs)
    new = {
        "fun": run,
        "rule": _without(len(free), params["rule"]),
        "free": len(free) + params["free"],
        "avals": tuple(run.out_avals),
    }
    return trace.emit(custom_jvp_p, [*free, *xs], new)


custom_jvp_p = Holder(
    "custom_jvp", _avals, _jvp_batch, jvp=_jvp_jvp, linearize=_jvp_linearize, stage=_jvp_stage
)

# ---- custom_vjp
# Operands: free, then primals. `fwd` gives outputs, then residuals; `bwd` maps (free, residuals,
# cotangents) to cotangents of the primals.


def _vjp_jvp(_ts: Any, _xs: Any, _params: Any) -> Any:
    raise NotDifferentiableError(
        "a custom_vjp function has no forward-mode derivative (jvp, jacfwd, hessian): use "
        "custom_jvp"
    )


def _vjp_linearize(
    nonzero: Sequence[bool], xs: Sequence[Array], params: dict[str, Any], forward: bool
) -> Any:
    free = params["free"]
    _refuse_free(nonzero, free, "custom_vjp")
    if forward:
        _vjp_jvp(None, None, None)
    made = call(params["fwd"], *xs)
    n = params["n_outs"](made) if callable(params["n_outs"]) else params["n_outs"]
    outs, residuals = made[:n], made[n:]

    def pull(cts: Sequence[Array | None]) -> list[Array | None]:
        full = [zeros(o) if c is None else c for o, c in zip(outs, cts, strict=True)]
        found = call(params["bwd"], *xs[:free], *residuals, *full)
        return [c for c, nz in zip(found, nonzero[free:], strict=True) if nz]

    return outs, [is_inexact(o.dtype) for o in outs], pull


def _vjp_batch(
    size: int,
    xs: Any,
    dims: Any,
    /,
    fun: Flat,
    fwd: Flat,
    bwd: Flat,
    free: int,
    n_outs: Any,
    avals: Any,
) -> Any:
    def pull(*given: Array) -> list[Array]:
        """Sum the cotangents of a primal that was not batched; all but free operands are, at 0."""
        front = [*dims[:free], *[0] * (len(given) - free)]
        found = _batched(bwd, size, front)(*given)
        return [
            reduce_sum(c, (0,)) if d is None else move_axis(c, 0, d)
            for c, d in zip(found, dims[free:], strict=True)
        ]

    outs = custom_vjp_p.bind(
        *xs,
        fun=_batched(fun, size, dims),
        fwd=_batched(fwd, size, dims),
        bwd=pull,
        free=free,
        n_outs=n_outs,
        avals=_batched_avals(avals, size),
    )
    return outs, [0] * len(outs)


def _vjp_stage(trace: StagingTrace, xs: Sequence[Array], params: dict[str, Any]) -> list[Array]:
    run, free = _staged(params["fun"], xs)
    new = {
        "fun": run,
        "fwd": _without(len(free), params["fwd"]),
        "bwd": _without(len(free), params["bwd"]),
        "free": len(free) + params["free"],
        "n_outs": len(run.outs),
        "avals": tuple(run.out_avals),
    }
    return trace.emit(custom_vjp_p, [*free, *xs], new)


custom_vjp_p = Holder(
    "custom_vjp", _avals, _vjp_batch, jvp=_vjp_jvp, linearize=_vjp_linearize, stage=_vjp_stage
)

# ---- the functions


class _Custom:
    """A function with a rule of its own."""

    __name__: str

    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ) -> None:
        update_wrapper(self, fun)
        self.fun = fun
        names = list(inspect.signature(fun).parameters) if nondiff_argnames else []
        self.nondiff = tuple(
            sorted({*nondiff_argnums, *[names.index(n) for n in nondiff_argnames]})
        )

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments by position, defaults filled in."""
        try:
            given = inspect.signature(self.fun).bind(*args, **kwargs)
        except ValueError:  # a function whose signature Python does not know
            return args
        given.apply_defaults()
        return given.args

    def split(self, args: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
        """The arguments without and with derivatives."""
        static = [args[i] for i in self.nondiff]
        return static, [a for i, a in enumerate(args) if i not in self.nondiff]

    def merged(self, static: Sequence[Any], dynamic: Sequence[Any]) -> list[Any]:
        """Undo `split`."""
        full = list(dynamic)
        for i, s in zip(self.nondiff, static, strict=True):
            full.insert(i, s)
        return full

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else lambda *args, **kwargs: self(instance, *args, **kwargs)


def _plain(leaves: Sequence[Any]) -> bool:
    return is_staging() is EVAL and all(type(x) is Array for x in leaves)


class custom_jvp(_Custom):  # noqa: N801 - JAX's name
    """A function with its own forward-mode rule, from which reverse mode follows.

    Source: `jax.custom_jvp`.

    The rule, given by `defjvp`, maps (*nondiff arguments, primals, tangents) to (output, its
    tangent).

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

    def defjvp(self, jvp: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Set the rule; gives it back, to be used as a decorator."""
        if symbolic_zeros:
            raise NotImplementedError(
                "custom_jvp with symbolic_zeros is not there yet: leave it out, zero tangents come "
                "as arrays"
            )
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
        static, dynamic = self.split(self.bound(args, kwargs))
        _, engine = route(tree_leaves(dynamic))
        if engine is not None:
            return engine.custom_jvp_call(
                self.fun, self.jvp, self.nondiff, False, self.bound(args, kwargs)
            )
        leaves, tree = flatten(dynamic, f"an argument of {self.__name__}")
        if _plain(leaves):
            return self.fun(*self.merged(static, tree_unflatten(tree, leaves)))
        out_tree: Any = None

        def fun(*xs: Array) -> list[Array]:
            nonlocal out_tree
            outs, out_tree = flatten(
                self.fun(*self.merged(static, tree_unflatten(tree, xs))),
                f"an output of {self.__name__}",
            )
            return outs

        def rule(*xs: Array) -> list[Array]:
            nonlocal out_tree
            n = len(xs) // 2
            primals, tangents = (tuple(tree_unflatten(tree, part)) for part in (xs[:n], xs[n:]))
            pair = self.jvp(*static, primals, tangents)  # type: ignore[misc]
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise TypeError(
                    f"the jvp rule of {self.__name__} must give a pair (output, tangent), not "
                    f"{type(pair).__name__}"
                )
            outs, out_tree = flatten(pair[0], f"an output of {self.__name__}")
            ts, t_tree = flatten(pair[1], f"a tangent of {self.__name__}")
            if t_tree != out_tree or any(t.shape != o.shape for t, o in zip(ts, outs, strict=True)):
                raise TypeError(
                    f"the jvp rule of {self.__name__} gave an output {pair[0]} but a tangent "
                    f"{pair[1]}: they must match"
                )
            return [*outs, *ts]

        outs = custom_jvp_p.bind(*leaves, fun=fun, rule=rule, free=0, avals=None)
        return tree_unflatten(out_tree, outs)


class custom_vjp(_Custom):  # noqa: N801 - JAX's name
    """A function with its own reverse-mode rule. Source: `jax.custom_vjp`.

    `defvjp(fwd, bwd)`: `fwd(*args)` gives (output, residuals), `bwd(*nondiff arguments, residuals,
    cotangent)` a tuple with a cotangent an argument, None for zero. It has no forward-mode
    derivative.

    >>> import arrayport as ap
    >>> @ap.custom_vjp
    ... def double(x):
    ...     return x * 2.0
    >>> double.defvjp(lambda x: (x * 2.0, None), lambda _, g: (g * 3.0,))
    >>> ap.grad(double)(1.0)
    Array(3., dtype=float32, weak_type=True)
    """

    fwd: Callable[..., Any] | None = None
    bwd: Callable[..., Any] | None = None

    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Set the two halves of the rule."""
        if symbolic_zeros or optimize_remat:
            raise NotImplementedError(
                "custom_vjp with symbolic_zeros or optimize_remat is not there yet: leave them out"
            )
        self.fwd, self.bwd = fwd, bwd

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.fwd is None or self.bwd is None:
            raise AttributeError(
                f"{self.__name__} is a custom_vjp function without a rule: give it one with defvjp"
            )
        static, dynamic = self.split(self.bound(args, kwargs))
        _, engine = route(tree_leaves(dynamic))
        if engine is not None:
            return engine.custom_vjp_call(
                self.fun, self.fwd, self.bwd, self.nondiff, self.bound(args, kwargs)
            )
        leaves, tree = flatten(dynamic, f"an argument of {self.__name__}")
        if _plain(leaves):
            return self.fun(*self.merged(static, tree_unflatten(tree, leaves)))
        rule = _VjpRule(self, static, tree, leaves)
        outs = custom_vjp_p.bind(
            *leaves,
            fun=rule.run,
            fwd=rule.first,
            bwd=rule.back,
            free=0,
            n_outs=rule.count,
            avals=None,
        )
        return tree_unflatten(rule.out_tree, outs)


class _VjpRule:
    """The three functions of a custom_vjp call, on flat Arrays."""

    def __init__(self, custom: custom_vjp, static: Any, tree: Any, leaves: Sequence[Array]) -> None:
        self.custom = custom
        self.static = static
        self.tree = tree
        self.dynamic = tree_unflatten(tree, list(range(len(leaves))))
        self.avals = [aval_of(x) for x in leaves]
        self.out_tree: Any = None
        self.residual_tree: Any = None

    def count(self, _made: Sequence[Array]) -> int:
        """How many of what `first` makes are outputs."""
        return self.out_tree.num_leaves

    def run(self, *xs: Array) -> list[Array]:
        out = self.custom.fun(*self.custom.merged(self.static, tree_unflatten(self.tree, xs)))
        outs, self.out_tree = flatten(out, f"an output of {self.custom.__name__}")
        return outs

    def first(self, *xs: Array) -> list[Array]:
        pair = self.custom.fwd(*self.custom.merged(self.static, tree_unflatten(self.tree, xs)))  # type: ignore[misc]
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(
                f"fwd of {self.custom.__name__} must give a pair (output, residuals), not "
                f"{type(pair).__name__}"
            )
        outs, self.out_tree = flatten(pair[0], f"an output of {self.custom.__name__}")
        residuals, self.residual_tree = flatten(pair[1], f"a residual of {self.custom.__name__}")
        return [*outs, *residuals]

    def back(self, *given: Array) -> list[Array]:
        n = self.residual_tree.num_leaves
        residuals, cts = (
            tree_unflatten(self.residual_tree, given[:n]),
            tree_unflatten(self.out_tree, given[n:]),
        )
        found = self.custom.bwd(*self.static, residuals, cts)  # type: ignore[misc]
        if not isinstance(found, tuple | list) or len(found) != len(self.dynamic):
            got = (
                f"{len(found)} values" if isinstance(found, tuple | list) else type(found).__name__
            )
            raise TypeError(
                f"bwd of {self.custom.__name__} must give a tuple with a cotangent for each of "
                f"{len(self.dynamic)} arguments, not {got}"
            )
        flat: list[Array] = []
        for c, argument in zip(found, self.dynamic, strict=True):
            places = tree_leaves(argument)
            if c is None:
                flat += [zeros(self.avals[i]) for i in places]
                continue
            leaves, tree = tree_flatten(c)
            if tree != tree_structure(argument):
                raise TypeError(
                    f"bwd of {self.custom.__name__} gave a cotangent of structure {tree} for an "
                    f"argument of {tree_structure(argument)}"
                )
            for x, i in zip(leaves, places, strict=True):
                flat.append(self.matched(lift(x), self.avals[i]))
        return flat

    def matched(self, ct: Array, aval: Aval) -> Array:
        """A cotangent, checked against its argument."""
        if ct.shape != aval.shape:
            raise ValueError(
                f"bwd of {self.custom.__name__} gave a cotangent of shape {ct.shape} for an "
                f"argument of shape {aval.shape}"
            )
        return ct
