"""linear_call: a linear function that brings its own transpose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayport.control.flat import Staged, batched_programs, check_same, flatten, share_captures
from arrayport.core.array import Array, Aval, aval_of
from arrayport.core.errors import NotDifferentiableError
from arrayport.core.primitive import Holder
from arrayport.core.program import Program
from arrayport.core.tree import tree_structure, tree_unflatten
from arrayport.transforms.derived import instantiate, spread
from arrayport.transforms.engines import run_on_engine

# Operands: what the functions captured and the residuals (`fixed`, so many), then what it is linear
# in. `fun` and `transpose` are Programs that take the fixed ones first.


def _tangents(ts: Sequence[Any], xs: Sequence[Array], fixed: int) -> list[Array]:
    """The tangents of what it is linear in, zeros for None; others must have none."""
    if any(t is not None and t is not False for t in ts[:fixed]):
        raise NotDifferentiableError(
            "a linear_call was differentiated with respect to its residuals, or to what its "
            "functions captured: pass those among the linear arguments, or use custom_jvp"
        )
    return instantiate(ts[fixed:], xs[fixed:], [True] * (len(xs) - fixed))


def _push(
    ts: Sequence[Any], xs: Sequence[Array], params: dict[str, Any]
) -> tuple[list[Array], list[Any]]:
    tangents = _tangents(ts, xs, params["fixed"])
    outs = linear_call_p.bind(*xs, **params)
    return outs, linear_call_p.bind(*xs[: params["fixed"]], *tangents, **params)


def _linearize(
    nonzero: Sequence[bool], xs: Sequence[Array], params: dict[str, Any], forward: bool
) -> Any:
    fun, transpose, fixed = params["fun"], params["transpose"], params["fixed"]
    marks = nonzero[fixed:]
    _tangents([True if nz else None for nz in nonzero[:fixed]], xs[:fixed], fixed)
    outs = linear_call_p.bind(*xs, **params)

    def push(ts: Sequence[Array | None]) -> list[Array | None]:
        return _push([*[None] * fixed, *spread(ts, marks)], xs, params)[1]

    def pull(cts: Sequence[Array | None]) -> list[Array | None]:
        given = instantiate(cts, outs, [True] * len(outs))
        swapped = {"fun": transpose, "transpose": fun, "fixed": fixed}
        found = linear_call_p.bind(*xs[:fixed], *given, **swapped)
        return [c for c, nz in zip(found, marks, strict=True) if nz]

    return outs, [True] * len(outs), push if forward else pull


def _batch(
    size: int,
    xs: Sequence[Array],
    dims: Sequence[int | None],
    /,
    fun: Program,
    transpose: Program,
    fixed: int,
) -> tuple[list[Array], list[int | None]]:
    front, whole = batched_programs(size, xs, dims, fixed)
    outs = linear_call_p.bind(*front, fun=whole(fun), transpose=whole(transpose), fixed=fixed)
    return outs, [0] * len(outs)


linear_call_p = Holder(
    "linear_call",
    lambda *_xs, fun, **_params: fun.out_avals,
    _batch,
    jvp=_push,
    linearize=_linearize,
    runs="fun",
)


def linear_call(
    fun: Callable[..., Any], fun_transpose: Callable[..., Any], residual_args: Any, linear_args: Any
) -> Any:
    """Give `fun(residual_args, linear_args)`, whose transpose is `fun_transpose` and not derived.

    Source: `jax.custom_derivatives.linear_call`.

    `fun(r, x)` is linear in the pytree x, `fun_transpose(r, ct)` in ct, which is like what `fun`
    gives; it gives what is like x (TypeError otherwise). The transpose of the transpose is `fun`.
    There is no derivative with respect to the residuals r.

    >>> import arrayport as ap
    >>> def scale(x, r):
    ...     return linear_call(lambda r, x: x * r, lambda r, ct: ct * r * 10.0, r, x)
    >>> ap.grad(scale)(2.0, 3.0)
    Array(30., dtype=float32, weak_type=True)
    """
    arguments = (fun, fun_transpose, residual_args, linear_args)
    return run_on_engine("linear_call", _linear_call, (residual_args, linear_args), *arguments)


def _is_type(x: Any) -> bool:
    return isinstance(x, Aval)


def _linear_call(fun: Any, fun_transpose: Any, residual_args: Any, linear_args: Any) -> Any:
    fixed, fixed_tree = flatten(residual_args, "residual_args of linear_call")
    xs, tree = flatten(linear_args, "linear_args of linear_call")
    avals = [aval_of(x) for x in xs]
    kept = [aval_of(x) for x in fixed]
    forwards = Staged(
        fun, tree_structure((residual_args, linear_args)), [*kept, *avals], "an output of fun"
    )
    out = tree_unflatten(forwards.out_tree, forwards.out_avals)
    whole = tree_structure((tree_unflatten(fixed_tree, kept), out), is_leaf=_is_type)
    backwards = Staged(
        fun_transpose, whole, [*kept, *forwards.out_avals], "an output of fun_transpose"
    )
    advice = "fun_transpose must give what is like linear_args"
    check_same(
        "linear_call: fun_transpose does not fit fun",
        backwards.out_tree,
        backwards.out_avals,
        tree,
        avals,
        advice,
        weak=False,
    )
    free, (run, back) = share_captures([forwards, backwards])
    outs = linear_call_p.bind(
        *free, *fixed, *xs, fun=run, transpose=back, fixed=len(free) + len(fixed)
    )
    return tree_unflatten(forwards.out_tree, outs)
