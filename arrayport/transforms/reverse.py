"""Derivatives of functions: grad, value_and_grad, vjp, linearize, jvp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from arrayport.core.arguments import numbers_of
from arrayport.core.array import Array, aval_of
from arrayport.core.dtypes import float0, is_complex, is_inexact, kind
from arrayport.core.errors import user_line
from arrayport.core.quiet import QUIET, error_state, quiet, reset_errors, set_errors
from arrayport.core.trace import backend_of, finish
from arrayport.core.tree import tree_flatten, tree_map, tree_unflatten
from arrayport.ops.promotion import lift, settle
from arrayport.ops.structure import convert, full_like
from arrayport.transforms.engines import by_engine, run_on_engine
from arrayport.transforms.forward import JVPTrace, JVPTracer
from arrayport.transforms.graph import GradTrace, GradTracer, Node, backward, forward
from arrayport.transforms.varying import grad_trace

# ---------------------------------------------------------------------------------------- grad


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Any] = (),  # noqa: ARG001 - JAX's signature
) -> Callable[..., Any]:
    """Make a function that gives the value of a scalar function and its gradient.

    Source: `jax.value_and_grad`.

    `argnums`: the argument, or several; each a pytree of real floating arrays (complex ones if
    `holomorphic`, integers too if `allow_int`). `has_aux`: `fun` returns (value, anything). Raises
    TypeError for other inputs and for a value that is not a real scalar.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.value_and_grad(lambda x: (x**2).sum())(anp.array([1.0, 2.0]))
    (Array(5., dtype=float32), Array([2., 4.], dtype=float32))
    """
    return by_engine(
        _differentiated(fun, argnums, has_aux, holomorphic, allow_int, with_value=True),
        "value_and_grad",
        fun,
        argnums=argnums,
        has_aux=has_aux,
        holomorphic=holomorphic,
        allow_int=allow_int,
    )


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Any] = (),  # noqa: ARG001 - JAX's signature
) -> Callable[..., Any]:
    """Make the gradient of a scalar function; see `value_and_grad`. Source: `jax.grad`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.grad(lambda x: anp.sin(x).sum())(anp.zeros(2))
    Array([1., 1.], dtype=float32)
    """
    return by_engine(
        _differentiated(fun, argnums, has_aux, holomorphic, allow_int, with_value=False),
        "grad",
        fun,
        argnums=argnums,
        has_aux=has_aux,
        holomorphic=holomorphic,
        allow_int=allow_int,
    )


def _differentiated(
    fun: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool,
    *,
    with_value: bool,
) -> Callable[..., Any]:
    alone = argnums if isinstance(argnums, int) else None
    numbers = numbers_of(argnums)
    at = -1 if alone is None or has_aux or holomorphic else alone  # the one array, quickly

    def own(*args: Any, **kwargs: Any) -> Any:
        trace = grad_trace()
        x = args[at] if 0 <= at < len(args) else None
        if isinstance(x, Array) and x.dtype.kind == "f":
            inputs: list[Any] = [trace.input(x)]
            full = inputs
            if len(args) > 1:
                full = list(args)
                full[at] = inputs[0]
            value, (ct,) = _pull_back(trace, inputs, fun, full, kwargs)
            found = ct if ct is not None and ct.weak is x.weak else _gradient(ct, x)
            return (value, found) if with_value else found
        leaves, tree = tree_flatten(_chosen(args, numbers))
        inputs = [_input(trace, x, holomorphic, allow_int) for x in leaves]
        full_list = list(args)
        for n, t in zip(numbers, tree_unflatten(tree, inputs), strict=True):
            full_list[n] = t
        value, cts = _pull_back(trace, inputs, fun, full_list, kwargs, has_aux, holomorphic)
        given = tree_unflatten(tree, [_gradient(ct, x) for ct, x in zip(cts, leaves, strict=True)])
        found = tuple(given) if alone is None else given[0]
        return (value, found) if with_value else (found, value[1]) if has_aux else found

    return own


def _chosen(args: Sequence[Any], numbers: Sequence[int]) -> list[Any]:
    try:
        return [args[n] for n in numbers]
    except IndexError:
        raise TypeError(
            f"grad has argnums={numbers} but the function was called with {len(args)} positional "
            "arguments"
        ) from None


def _input(trace: GradTrace, x: Any, holomorphic: bool, allow_int: bool) -> Array:
    x = lift(x, None, "an argument to differentiate")
    k = x.dtype.kind if x.dtype.kind in "fc" else kind(x.dtype)
    if k == "f" and not holomorphic:
        return trace.input(x)
    if k == "c":  # a function with a real value too has a gradient: df/dre - i df/dim
        return trace.input(x)
    if k == "f":
        raise TypeError(f"grad with holomorphic=True needs complex inputs, got {aval_of(x)}")
    if allow_int:
        return x
    raise TypeError(
        f"grad needs floating inputs, got {aval_of(x)} at {user_line()}: cast it "
        "(x.astype('float32')), choose other argnums, or pass allow_int=True"
    )


def _pull_back(
    trace: GradTrace,
    inputs: Sequence[Any],
    fun: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    has_aux: bool = False,
    holomorphic: bool = False,
) -> tuple[Any, Sequence[Array | None]]:
    token = None if error_state() is QUIET else set_errors(QUIET)
    try:
        out, aux = fun(*args, **kwargs), None
        if has_aux:
            out, aux = _with_aux(out)
        if type(out) is not GradTracer or out.owner is not trace:
            several = isinstance(out, tuple | list | dict)
            whole = out if several else lift(out, None, "the value of a function to differentiate")
            value = _scalar(whole, holomorphic)
            cts: Sequence[Array | None] = [None] * len(inputs)
        else:
            if out.shape or out.dtype.kind != "f" or holomorphic:  # else it is a real scalar
                _scalar(out, holomorphic)
            value = out.value
            seeds = [(out.node, _seed(value))]
            out = None  # the graph is held by the seeds alone, which backward empties
            cts = backward(seeds, [t.node if type(t) is GradTracer else None for t in inputs])
        return ((value, tree_map(lambda x: _unwrap(trace, x), aux)) if has_aux else value), cts
    finally:
        finish(trace)
        if token is not None:
            reset_errors(token)


def _with_aux(out: Any) -> Any:
    if not isinstance(out, tuple | list) or len(out) != 2:
        raise TypeError(
            "with has_aux=True the function must return a pair (value, aux), not "
            f"{type(out).__name__}"
        )
    return out


def _unwrap(trace: GradTrace, x: Any) -> Any:
    return x.value if trace.owns(x) else x


def _scalar(out: Any, holomorphic: bool) -> Any:
    if not isinstance(out, Array) or out.shape != ():
        array = isinstance(out, Array)
        what = aval_of(out) if array else f"a {type(out).__name__}"
        cure = "sum it" if array else "return (value, the rest) with has_aux=True"
        raise TypeError(
            f"grad needs a function with a scalar value, this one gave {what}: {cure}, or use "
            "jacrev, vjp"
        )
    if kind(out.dtype) != ("c" if holomorphic else "f"):
        wanted = "complex with holomorphic=True" if holomorphic else "real floating"
        raise TypeError(
            f"grad needs a function whose value is {wanted}, this one gave {aval_of(out)}"
        )
    return out


def _seed(value: Array) -> Any:
    """The cotangent of a scalar value with respect to itself: as it is where only values count."""
    while type(value) is GradTracer:  # a constant of every trace: the values alone are asked
        value = value.value
    raw = value.raw if type(value) is Array else None
    if type(raw) is np.ndarray:
        return Array(_one(raw.dtype), True) if value.weak else _one(raw.dtype)
    return Array(_one(value.dtype), True) if value.weak else full_like(value, 1)


@cache
def _one(dtype: np.dtype[Any]) -> Any:
    return np.ones((), dtype)


def _gradient(ct: Array | None, x: Any) -> Any:
    """What the caller gets for x: zeros if nothing arrived, and as weak as x."""
    x = lift(x)
    if ct is None:
        return full_like(x, 0, weak=x.weak) if is_inexact(x.dtype) else np.zeros(x.shape, float0)
    return ct if ct.weak is x.weak else convert(ct, x.dtype, x.weak)


# ---- vjp, linearize, jvp


class Linear:
    """The map that `vjp` or `linearize` gives, of what is like `likes`; a node of pytrees.

    Its leaves are the traced values that it captured (`control/closures.py`).
    """

    __slots__ = ("function", "likes")

    def __init__(self, function: Callable[..., Any], likes: tuple[Any, ...]) -> None:
        self.function = function
        self.likes = likes

    def __call__(self, *given: Any) -> Any:
        return self.function(*given)


def vjp(
    fun: Callable[..., Any],
    *primals: Any,
    has_aux: bool = False,
    reduce_axes: Sequence[Any] = (),  # noqa: ARG001 - JAX's signature
) -> Any:
    """Value of a function, and the map from cotangents of its output to those of its inputs.

    Source: `jax.vjp`.

    The map gives a tuple with a cotangent an input, and may be called often. Raises TypeError or
    ValueError for a cotangent that does not match the output.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> value, pull = ap.vjp(lambda x, y: x * y, 3.0, 4.0)
    >>> pull(1.0)
    (Array(4., dtype=float32, weak_type=True), Array(3., dtype=float32, weak_type=True))
    """
    return run_on_engine("vjp", _vjp, primals, fun, *primals, has_aux=has_aux)


def _vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    out_tree, outs, nodes, inputs, tree, aux = _trace(
        fun, primals, forward_mode=False, has_aux=has_aux
    )

    @quiet
    def pull(ct: Any) -> Any:
        cts, ct_tree = tree_flatten(ct)
        if ct_tree != out_tree:
            raise ValueError(
                f"the cotangent given to a vjp has structure {ct_tree}, the output has {out_tree}"
            )
        pairs = [
            (n, _matching(c, o, "cotangent", "output"))
            for n, c, o in zip(nodes, cts, outs, strict=True)
        ]
        found = backward(
            [(n, c) for n, c in pairs if n is not None],
            [t.node if type(t) is GradTracer else None for t in inputs],
        )
        return tree_unflatten(tree, [_gradient(c, t) for c, t in zip(found, inputs, strict=True)])

    out = tree_unflatten(out_tree, outs)
    return (out, Linear(pull, (out,)), aux) if has_aux else (out, Linear(pull, (out,)))


def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Value of a function and its derivative there, a linear function of tangents.

    Source: `jax.linearize`.

    >>> import arrayport as ap
    >>> value, push = ap.linearize(lambda x: x * x, 3.0)
    >>> push(1.0)
    Array(6., dtype=float32, weak_type=True)
    """
    return run_on_engine("linearize", _linearize, primals, fun, *primals, has_aux=has_aux)


def _linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    out_tree, outs, nodes, inputs, tree, aux = _trace(
        fun, primals, forward_mode=True, has_aux=has_aux
    )

    @quiet
    def push(*tangents: Any) -> Any:
        ts, given = tree_flatten(tangents)
        if given != tree:
            raise ValueError(
                f"the tangents given to a linearized function have structure {given}, its inputs "
                f"have {tree}"
            )
        pairs = [
            (x.node, _matching(t, x, "tangent", "input"))
            for x, t in zip(inputs, ts, strict=True)
            if type(x) is GradTracer
        ]
        found = iter(forward([n for n in nodes if n is not None], pairs))
        pushed = [None if n is None else next(found) for n in nodes]
        return tree_unflatten(
            out_tree, [_gradient(t, o) for t, o in zip(pushed, outs, strict=True)]
        )

    out = tree_unflatten(out_tree, outs)
    linear = Linear(push, primals)
    return (out, linear, aux) if has_aux else (out, linear)


def _matching(t: Any, x: Array, what: str, of: str) -> Any:
    """A tangent or cotangent as an Array, checked against the value it belongs to."""
    if isinstance(t, np.ndarray) and t.dtype == float0:
        return None
    t = settle([lift(t, backend_of(x), f"a {what}"), x])[0]  # a rule may spread it, with no home
    if t.shape != x.shape:
        raise ValueError(f"a {what} has shape {t.shape}, the {of} it belongs to has {x.shape}")
    if t.dtype != x.dtype:
        if t.weak and is_inexact(x.dtype) and (is_complex(x.dtype) or not is_complex(t.dtype)):
            return convert(t, x.dtype, True)
        error = TypeError if of == "primal" else ValueError
        raise error(f"a {what} has dtype {t.dtype}, the {of} it belongs to has {x.dtype}")
    return t


@quiet
def _trace(fun: Callable[..., Any], primals: Any, *, forward_mode: bool, has_aux: bool) -> Any:
    leaves, tree = tree_flatten(primals)
    trace = grad_trace(forward_mode)
    values = [lift(x, None, "a primal") for x in leaves]
    inputs = [trace.input(x) if is_inexact(x.dtype) else x for x in values]
    out = fun(*tree_unflatten(tree, inputs))
    aux = None
    if has_aux:
        out, aux = _with_aux(out)
        aux = tree_map(lambda x: _unwrap(trace, x), aux)
    outs, out_tree = tree_flatten(out)
    own = [trace.owns(o) for o in outs]
    primals_out = [o.value if m else lift(o) for o, m in zip(outs, own, strict=True)]
    nodes: list[Node | None] = [o.node if m else None for o, m in zip(outs, own, strict=True)]
    finish(trace)
    return out_tree, primals_out, nodes, inputs, tree, aux


def jvp(fun: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """Value of a function and its derivative along tangents. Source: `jax.jvp`.

    `primals` and `tangents` are tuples or lists, an entry an argument. Raises TypeError or
    ValueError where a tangent does not match its primal in structure, shape or dtype.

    >>> import arrayport as ap
    >>> ap.jvp(lambda x: x * x, (3.0,), (1.0,))[1]
    Array(6., dtype=float32, weak_type=True)
    """
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        raise TypeError(
            "jvp needs primals and tangents as tuples or lists, with an entry an argument of the "
            "function"
        )
    return run_on_engine("jvp", _jvp, (primals, tangents), fun, primals, tangents, has_aux=has_aux)


@quiet
def _jvp(fun: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    leaves, tree = tree_flatten(tuple(primals))
    ts, t_tree = tree_flatten(tuple(tangents))
    if tree != t_tree:
        raise TypeError(f"jvp got primals of structure {tree} but tangents of {t_tree}")
    trace = JVPTrace()
    ins: list[Array] = []
    for x, t in zip(leaves, ts, strict=True):
        value = lift(x, None, "a primal")
        if is_inexact(value.dtype):
            ins.append(JVPTracer(trace, value, _matching(t, value, "tangent", "primal")))
        elif getattr(t, "dtype", None) == float0:
            ins.append(value)
        else:
            raise TypeError(
                f"the primal {aval_of(value)} of an integer or bool dtype needs a tangent of dtype "
                f"float0, not {t!r}"
            )
    out = fun(*tree_unflatten(tree, ins))
    aux = None
    if has_aux:
        out, aux = _with_aux(out)
        aux = tree_map(lambda x: trace.pair(x)[0] if isinstance(x, Array) else x, aux)
    outs, out_tree = tree_flatten(out)
    pairs = [trace.pair(lift(o)) for o in outs]
    value = tree_unflatten(out_tree, [v for v, _ in pairs])
    tangent = tree_unflatten(out_tree, [_gradient(t, v) for v, t in pairs])
    finish(trace)
    return (value, tangent, aux) if has_aux else (value, tangent)
