"""Jacobians and Hessians: the derivative of every output with respect to every input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayport.core.arguments import numbers_of, of_chosen
from arrayport.core.array import Array, aval_of
from arrayport.core.dtypes import kind
from arrayport.core.trace import backend_of
from arrayport.core.tree import tree_flatten, tree_map, tree_unflatten
from arrayport.ops.creation import eye
from arrayport.ops.promotion import lift
from arrayport.ops.structure import constant, full_like, move_axis, reshape
from arrayport.transforms.batching import in_batch
from arrayport.transforms.engines import by_engine
from arrayport.transforms.reverse import jvp, vjp


def jacfwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """Make the Jacobian of a function by forward mode, a column at a time. Source: `jax.jacfwd`.

    Each output leaf holds, for each input leaf, an array of shape (*output.shape, *input.shape).
    Best for functions with fewer inputs than outputs. Raises TypeError for inputs that are not real
    (complex if `holomorphic`).

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.jacfwd(lambda x: x * x)(anp.array([1.0, 2.0]))
    Array([[2., 0.],
           [0., 4.]], dtype=float32)
    """

    def own(*args: Any, **kwargs: Any) -> Any:
        partial_fun, leaves, tree = _split(fun, argnums, args, kwargs)
        for x in leaves:
            _check(x, "c" if holomorphic else "f", "jacfwd", "input")
        pushed = [_columns(partial_fun, leaves, i, has_aux) for i in range(len(leaves))]
        out_tree, aux = pushed[0][1], pushed[0][2]
        # Output leaf -> input leaf.
        rows = list(zip(*[columns for columns, _, _ in pushed], strict=True))
        jacobian = tree_unflatten(out_tree, [_shape_argument(tree, row, argnums) for row in rows])
        return (jacobian, aux) if has_aux else jacobian

    return by_engine(own, "jacfwd", fun, argnums=argnums, has_aux=has_aux, holomorphic=holomorphic)


def jacrev(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """Make the Jacobian of a function by reverse mode, a row at a time; see `jacfwd`.

    Source: `jax.jacrev`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.jacrev(lambda x: x.sum())(anp.array([1.0, 2.0]))
    Array([1., 1.], dtype=float32)
    """

    def own(*args: Any, **kwargs: Any) -> Any:
        partial_fun, leaves, tree = _split(fun, argnums, args, kwargs)
        for x in leaves:
            if not allow_int or kind(x.dtype) in "fc":
                _check(x, "c" if holomorphic else "fc", "jacrev", "input")
        out, pull, *aux = vjp(partial_fun, *leaves, has_aux=has_aux)
        outs, out_tree = tree_flatten(out)
        rows = [_rows(pull, outs, i, out_tree, holomorphic) for i in range(len(outs))]
        jacobian = tree_unflatten(out_tree, [_shape_argument(tree, row, argnums) for row in rows])
        return (jacobian, *aux) if has_aux else jacobian

    options = {
        "argnums": argnums,
        "has_aux": has_aux,
        "holomorphic": holomorphic,
        "allow_int": allow_int,
    }
    return by_engine(own, "jacrev", fun, **options)


jacobian = jacrev


def hessian(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """Make the Hessian of a function, forward over reverse. Source: `jax.hessian`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.hessian(lambda x: (x**3).sum())(anp.array([1.0, 2.0]))
    Array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)
    """
    first = jacrev(fun, argnums, has_aux=has_aux, holomorphic=holomorphic)
    return jacfwd(first, argnums, has_aux=has_aux, holomorphic=holomorphic)


def _split(
    fun: Callable[..., Any],
    argnums: int | Sequence[int],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Callable[..., Any], list[Array], Any]:
    """The function of the flat leaves of the chosen arguments, those leaves, and their tree."""
    numbers = numbers_of(argnums)
    leaves, tree = tree_flatten(tuple([args[n] for n in numbers]))
    chosen = of_chosen(fun, numbers, args)

    def partial_fun(*xs: Array) -> Any:
        return chosen(*tree_unflatten(tree, xs), **kwargs)

    return partial_fun, [lift(x, None, "an argument to differentiate") for x in leaves], tree


def _columns(
    fun: Callable[..., Any], leaves: list[Array], i: int, has_aux: bool
) -> tuple[list[Array], Any, Any]:
    """The Jacobian of all outputs with respect to leaf i, its axes last."""
    x = leaves[i]

    def push(t: Array) -> Any:
        def alone(y: Array) -> Any:
            return fun(*leaves[:i], y, *leaves[i + 1 :])

        return jvp(alone, (x,), (t,), has_aux=has_aux)[1:]

    if not x.shape:  # one column; a number stays neutral, so that it meets any backend's arrays
        pushed, *aux = push(full_like(x, 1) if backend_of(x) else constant(1, x))
        outs, out_tree = tree_flatten(pushed)
        return outs, out_tree, aux[0] if aux else None
    basis = reshape(eye(x.size, like=x), (x.size, *x.shape))
    trace, (pushed, *aux) = in_batch(x.size, push, [basis], [0])
    wrapped, out_tree = tree_flatten(pushed)
    outs = [trace.output(lift(o), 0) for o in wrapped]
    aux = tree_map(lambda a: trace.output(a, None) if isinstance(a, Array) else a, aux)
    columns = [reshape(move_axis(o, 0, len(o.shape) - 1), (*o.shape[1:], *x.shape)) for o in outs]
    return columns, out_tree, aux[0] if aux else None


def _rows(
    pull: Callable[..., Any], outs: list[Array], i: int, out_tree: Any, holomorphic: bool
) -> list[Array]:
    """The Jacobian of output i with respect to all leaves, the output's axes first."""
    out = lift(outs[i])
    _check(out, "c" if holomorphic else "f", "jacrev", "output")
    basis = reshape(eye(out.size, like=out), (out.size, *out.shape))

    def one(g: Array) -> Any:
        cts = [g if j == i else full_like(lift(o), 0) for j, o in enumerate(outs)]
        return pull(tree_unflatten(out_tree, cts))

    trace, cts = in_batch(out.size, one, [basis], [0])
    rows = [trace.output(lift(c), 0) for c in cts]
    return [reshape(r, (*out.shape, *r.shape[1:])) for r in rows]


def _shape_argument(tree: Any, row: Sequence[Any], argnums: int | Sequence[int]) -> Any:
    given = tree_unflatten(tree, row)
    return given[0] if isinstance(argnums, int) else given


def _check(x: Array, wanted: str, name: str, what: str) -> None:
    if kind(x.dtype) not in wanted:
        need = "complex (holomorphic=True)" if wanted == "c" else "real floating"
        raise TypeError(f"{name} needs {need} {what}s, got {aval_of(x)}")
