"""Functions whose captured values become arguments: closure_convert and what is built on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from arrayport.control.custom_vjp import custom_vjp
from arrayport.control.flat import Staged, flatten
from arrayport.control.jit import jit, jit_p
from arrayport.core.arguments import numbers_of, of_chosen
from arrayport.core.array import aval_of
from arrayport.core.dtypes import float0, is_inexact
from arrayport.core.nodes import register_pytree_node
from arrayport.core.program import Program
from arrayport.core.tree import Partial, tree_flatten, tree_map, tree_unflatten
from arrayport.ops.promotion import lift
from arrayport.transforms.engines import by_engine, run_on_engine
from arrayport.transforms.inspection import typed
from arrayport.transforms.reverse import Linear, vjp


@dataclass(frozen=True, eq=False)
class Converted:
    """A function as a Program: its call takes the arguments, then what it captured."""

    program: Program
    in_tree: Any
    out_tree: Any
    count: int  # of what it captured

    def __call__(self, *args: Any) -> Any:
        given, captured = args[: len(args) - self.count], args[len(args) - self.count :]
        leaves, tree = flatten(given, "an argument of a converted function")
        if tree != self.in_tree:
            raise TypeError(
                f"a function converted for arguments of structure {self.in_tree} was called with "
                f"{tree}"
            )
        outs = jit_p.bind(*[lift(c) for c in captured], *leaves, program=self.program)
        return tree_unflatten(self.out_tree, outs)


def _converted(fun: Callable[..., Any], avals: Sequence[Any], tree: Any) -> tuple[Any, list[Any]]:
    traced = Staged(fun, tree, avals)
    count = len(traced.captured)
    return Converted(traced.program, tree, traced.out_tree, count), list(traced.captured)


def closure_convert(fun: Callable[..., Any], *example_args: Any) -> tuple[Any, list[Any]]:
    """Give a function that takes what `fun` captured as further arguments, and these values.

    Source: `jax.closure_convert`.

    Only traced values are captured; constants stay in the function, which works for arguments of
    the types of `example_args`.

    >>> import arrayport as ap
    >>> def f(y):
    ...     g, captured = ap.closure_convert(lambda x: x * y, 2.0)
    ...     return g(2.0, *captured)
    >>> ap.grad(f)(3.0)
    Array(2., dtype=float32, weak_type=True)
    """
    return run_on_engine("closure_convert", _closure_convert, example_args, fun, *example_args)


def _closure_convert(fun: Callable[..., Any], *example_args: Any) -> tuple[Any, list[Any]]:
    leaves, tree = tree_flatten(example_args)
    return _converted(fun, [typed(x) for x in leaves], tree)


@dataclass(frozen=True, eq=False)
class _CapturedFirst:
    """A converted function whose captured values come before its arguments, for a Partial."""

    function: Converted

    def __call__(self, *given: Any) -> Any:
        n = self.function.count
        return self.function(*given[n:], *given[:n])


def as_tree(fun: Callable[..., Any], *likes: Any) -> Partial:
    """A function as a pytree of the traced values that it captured, for arguments like these."""
    leaves, tree = flatten(likes, "an example of an argument")
    converted, captured = _converted(fun, [aval_of(x) for x in leaves], tree)
    return Partial(_CapturedFirst(converted), *captured)


def _flat(linear: Linear) -> tuple[tuple[Any, ...], Any]:
    found = as_tree(linear.function, *tree_map(_moving, linear.likes))
    return found.args, found.func


def _moving(x: Any) -> Any:
    """What is like a value's tangent: zeros of float0 for what has none."""
    x = lift(x)
    return x if is_inexact(x.dtype) else np.zeros(x.shape, float0)


register_pytree_node(Linear, _flat, lambda function, captured: Partial(function, *captured))


def custom_gradient(
    fun: Callable[..., Any] | None = None,
    *,
    with_logs: bool = False,
    remat: bool = False,
    with_accums: Any = None,
) -> Callable[..., Any]:
    """Give a function a gradient of its own: `fun(*args)` returns (value, pull).

    Source: `jax.custom_gradient`.

    `pull` maps the cotangent of the value to a tuple of those of the arguments, or to the one there
    is. `with_logs`, `remat` and `with_accums`, of newer versions of JAX, raise NotImplementedError.

    >>> import arrayport as ap
    >>> @ap.custom_gradient
    ... def f(x):
    ...     return x**2, lambda g: g * 7.0
    >>> ap.grad(f)(3.0)
    Array(7., dtype=float32, weak_type=True)
    """
    if with_logs or remat or with_accums is not None:
        raise NotImplementedError(
            "custom_gradient has no with_logs, remat or with_accums here: return cotangents alone"
        )
    if fun is None:
        return custom_gradient

    def value(*args: Any) -> Any:
        return _pair(fun(*args))[0]

    def fwd(*args: Any) -> tuple[Any, Any]:
        found, pull = _pair(fun(*args))
        return found, as_tree(pull, found)

    def bwd(pull: Any, ct: Any) -> Any:
        found = pull(ct)
        return tuple(found) if isinstance(found, tuple | list) else (found,)

    wrapped = custom_vjp(value)
    wrapped.defvjp(fwd, bwd)
    return by_engine(wrapped, "custom_gradient", fun)


def _pair(out: Any) -> Any:
    if not isinstance(out, tuple | list) or len(out) != 2 or not callable(out[1]):
        raise TypeError(
            "a custom_gradient function must give a pair (value, function of its cotangent), not "
            f"{type(out).__name__}"
        )
    return out


def fwd_and_bwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool = False,
    jitted: bool = True,
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Split a gradient in two functions, the second of which may run later.

    Source: `jax.fwd_and_bwd`.

    `forward(*args)` gives (value, pull), and aux if there is any; `backward(pull, cotangent)` the
    gradients of the arguments `argnums`. Both are compiled if `jitted`.

    >>> import arrayport as ap
    >>> forward, backward = ap.fwd_and_bwd(lambda x, y: x * y, argnums=(0, 1))
    >>> value, pull = forward(2.0, 3.0)
    >>> [float(g) for g in backward(pull, 1.0)]
    [3.0, 2.0]
    """
    numbers = numbers_of(argnums)

    def forward(*args: Any, **kwargs: Any) -> Any:
        chosen = partial(of_chosen(fun, numbers, args), **kwargs)
        value, pull, *aux = vjp(chosen, *[args[n] for n in numbers], has_aux=has_aux)
        return value, pull, *aux

    def backward(pull: Any, ct: Any) -> Any:
        found = pull(ct)
        return found[0] if isinstance(argnums, int) else found

    return (jit(forward), jit(backward)) if jitted else (forward, backward)
