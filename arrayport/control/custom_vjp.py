"""custom_vjp: a function that brings its own reverse-mode derivative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from arrayport.control.custom_rules import (
    Custom,
    Flat,
    Marks,
    SymbolicZero,
    avals_given,
    batched,
    pair_of,
    plain,
    refuse_free,
    staged,
    symbolic,
)
from arrayport.control.flat import flatten
from arrayport.core.array import Array, Aval, aval_of
from arrayport.core.dtypes import float0, is_inexact
from arrayport.core.errors import NotDifferentiableError
from arrayport.core.primitive import Holder
from arrayport.core.trace import route
from arrayport.core.tree import tree_flatten, tree_leaves, tree_map, tree_structure, tree_unflatten
from arrayport.ops.promotion import lift
from arrayport.ops.structure import batch_to_front, move_axis, reduce_sum, zeros
from arrayport.transforms.batching import in_batch
from arrayport.transforms.staging import StagingTrace

# Operands: free, then primals. `fwd` takes which primals are differentiated and the operands, and
# gives outputs, then residuals; `bwd` maps (free, residuals, cotangents) to cotangents of the
# primals, where a cotangent may be a SymbolicZero on the way in.


def _push(_ts: Any, _xs: Any, _params: Any) -> Any:
    raise NotDifferentiableError(
        "a custom_vjp function has no forward-mode derivative (jvp, jacfwd, hessian): use "
        "custom_jvp"
    )


def _linearize(
    nonzero: Sequence[bool], xs: Sequence[Array], params: dict[str, Any], forward: bool
) -> Any:
    free = params["free"]
    refuse_free(nonzero, free, "custom_vjp")
    if forward:
        _push(None, None, None)
    outs, residuals = params["fwd"](tuple(nonzero[free:]), *xs)

    def pull(cts: Sequence[Array | None]) -> list[Array | None]:
        full = [symbolic(c, o) for o, c in zip(outs, cts, strict=True)]
        found = params["bwd"](*xs[:free], *residuals, *full)
        return [c for c, nz in zip(found, nonzero[free:], strict=True) if nz]

    return outs, [is_inexact(o.dtype) for o in outs], pull


def _batch(
    size: int,
    xs: Any,
    dims: Any,
    /,
    fun: Flat,
    fwd: Callable[..., Any],
    bwd: Callable[..., Any],
    free: int,
    avals: Any,  # noqa: ARG001
) -> Any:
    marks = Marks()
    kept: list[int | None] = []  # the batch axes of the residuals

    def first(perturbed: Sequence[bool], *given: Array) -> tuple[list[Array], list[Array]]:
        trace, made = in_batch(size, lambda *ins: fwd(perturbed, *ins), given, dims)
        outs, residuals = ([trace.pair(x) for x in part] for part in made)
        marks.settle([d is not None for _, d in outs])
        kept[:] = [d for _, d in residuals]
        placed = [trace.output(o, d) for o, d in zip(made[0], marks.dims, strict=True)]
        return placed, [value for value, _ in residuals]

    def pull(*given: Any) -> list[Array]:
        """Sum the cotangents of a primal that was not batched."""
        found: list[bool] = []

        def note(marks: list[bool]) -> list[bool]:
            found[:] = marks
            return marks

        run = batched(bwd, size, [*dims[:free], *kept, *marks.dims], note)
        cts = []
        for c, m, d in zip(run(*given), found, dims[free:], strict=True):
            if d is None:
                cts.append(reduce_sum(c, (0,)) if m else c)
            else:
                cts.append(move_axis(batch_to_front(size, c, 0 if m else None), 0, d))
        return cts

    outs = custom_vjp_p.bind(
        *xs,
        fun=batched(fun, size, dims, marks.settle),
        fwd=first,
        bwd=pull,
        free=free,
        avals=None,
    )
    return outs, marks.dims


def _stage(trace: StagingTrace, xs: Sequence[Array], params: dict[str, Any]) -> list[Array]:
    run, free = staged(params["fun"], xs)
    n, fwd, bwd = len(free), params["fwd"], params["bwd"]
    new = {
        "fun": run,
        "fwd": (lambda perturbed, *given: fwd(perturbed, *given[n:])) if n else fwd,
        "bwd": (lambda *given: bwd(*given[n:])) if n else bwd,
        "free": n + params["free"],
        "avals": tuple(run.out_avals),
    }
    return trace.emit(custom_vjp_p, [*free, *xs], new)


custom_vjp_p = Holder(
    "custom_vjp", avals_given, _batch, jvp=_push, linearize=_linearize, stage=_stage, runs="fun"
)


@dataclass(frozen=True)
class CustomVJPPrimal:
    """What `fwd` is given for each array where symbolic zeros are asked for.

    Source: `jax.custom_derivatives.CustomVJPPrimal`.
    """

    value: Any
    perturbed: bool


def custom_vjp_primal_tree_values(tree: Any) -> Any:
    """Replace every CustomVJPPrimal of a pytree by its value.

    Source: `jax.custom_derivatives.custom_vjp_primal_tree_values`.

    >>> custom_vjp_primal_tree_values({"x": CustomVJPPrimal(2.0, True), "n": 3})
    {'n': 3, 'x': 2.0}
    """
    return tree_map(lambda x: x.value if type(x) is CustomVJPPrimal else x, tree)


class custom_vjp(Custom):  # noqa: N801 - JAX's name
    """A function with its own reverse-mode rule. Source: `jax.custom_vjp`.

    `defvjp(fwd, bwd)`: `fwd(*args)` gives (output, residuals), `bwd(*nondiff arguments, residuals,
    cotangent)` a tuple with a cotangent an argument, None for zero. It has no forward-mode
    derivative. With `symbolic_zeros`, `fwd` is given a `CustomVJPPrimal` for each array, and `bwd`
    a `SymbolicZero` for a cotangent that is zero. `optimize_remat` is a hint to JAX.

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
    symbolic_zeros = False
    optimize_remat = False

    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Set the two halves of the rule."""
        self.fwd, self.bwd = fwd, bwd
        self.symbolic_zeros, self.optimize_remat = symbolic_zeros, optimize_remat

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.fwd is None or self.bwd is None:
            raise AttributeError(
                f"{self.__name__} is a custom_vjp function without a rule: give it one with defvjp"
            )
        given = self.bound(args, kwargs)
        static, dynamic = self.split(given)
        _, engine = route(tree_leaves(dynamic))
        if engine is not None:
            options = {
                "symbolic_zeros": self.symbolic_zeros,
                "optimize_remat": self.optimize_remat,
            }
            return engine.custom_vjp_call(
                self.fun, self.fwd, self.bwd, self.nondiff, given, **options
            )
        leaves, tree = flatten(dynamic, f"an argument of {self.__name__}")
        if plain(leaves):
            return self.fun(*self.merged(static, tree_unflatten(tree, leaves)))
        rule = _VjpRule(self, static, tree, leaves)
        outs = custom_vjp_p.bind(
            *leaves,
            fun=rule.run,
            fwd=rule.first,
            bwd=rule.back,
            free=0,
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

    def run(self, *xs: Array) -> list[Array]:
        out = self.custom.fun(*self.custom.merged(self.static, tree_unflatten(self.tree, xs)))
        outs, self.out_tree = flatten(out, f"an output of {self.custom.__name__}")
        return outs

    def first(self, perturbed: Sequence[bool], *xs: Array) -> tuple[list[Array], list[Array]]:
        if self.custom.symbolic_zeros:
            xs = tuple(map(CustomVJPPrimal, xs, perturbed))  # type: ignore[arg-type]
        found = self.custom.fwd(*self.custom.merged(self.static, tree_unflatten(self.tree, xs)))  # type: ignore[misc]
        pair = pair_of(found, "fwd", self.custom, "output, residuals")
        outs, self.out_tree = flatten(pair[0], f"an output of {self.custom.__name__}")
        residuals, self.residual_tree = flatten(pair[1], f"a residual of {self.custom.__name__}")
        return outs, residuals

    def back(self, *given: Any) -> list[Array]:
        n = self.residual_tree.num_leaves
        if not self.custom.symbolic_zeros:
            given = tuple([x.instantiate() if type(x) is SymbolicZero else x for x in given])
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
                zero = getattr(x, "dtype", None) == float0
                aval = self.avals[i]
                flat.append(zeros(aval) if zero else self.matched(lift(x), aval))
        return flat

    def matched(self, ct: Array, aval: Aval) -> Array:
        """A cotangent, checked against its argument."""
        if ct.shape != aval.shape:
            raise ValueError(
                f"bwd of {self.custom.__name__} gave a cotangent of shape {ct.shape} for an "
                f"argument of shape {aval.shape}"
            )
        return ct
