"""JAX's own transformations of functions, for functions of arrayport's Arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.custom_batching
import jax.numpy as jnp
import numpy as np
from jax import custom_derivatives
from jax.tree_util import tree_map, tree_structure

from arrayport.control.custom_rules import SymbolicZero, pair_of
from arrayport.control.custom_vjp import CustomVJPPrimal
from arrayport.core.arguments import numbers_of, of_chosen
from arrayport.core.array import Aval
from arrayport.core.dtypes import float0
from arrayport.core.likenesses import wraps
from arrayport_backends.jax.faults import translating
from arrayport_backends.jax.leaves import Kinds, Seen, call, is_array, rewrap, unwrap, wrap

Function = Callable[..., Any]
theirs: Any = jax  # whose overloads tell has_aux by literals
Partial: Any = jax.tree_util.Partial

# ---- gradients and jacobians


def grad(fun: Function, argnums: int | Sequence[int] = 0, **options: Any) -> Function:
    """Make the gradient; the options are `jax.grad`'s."""
    return _derivative(jax.grad, fun, argnums, options)


def value_and_grad(fun: Function, argnums: int | Sequence[int] = 0, **options: Any) -> Function:
    """Make the value and the gradient; the options are `jax.value_and_grad`'s."""
    return _derivative(jax.value_and_grad, fun, argnums, options)


def jacfwd(fun: Function, argnums: int | Sequence[int] = 0, **options: Any) -> Function:
    """Make the Jacobian by forward mode; the options are `jax.jacfwd`'s."""
    return _derivative(jax.jacfwd, fun, argnums, options)


def jacrev(fun: Function, argnums: int | Sequence[int] = 0, **options: Any) -> Function:
    """Make the Jacobian by reverse mode; the options are `jax.jacrev`'s."""
    return _derivative(jax.jacrev, fun, argnums, options)


def hessian(fun: Function, argnums: int | Sequence[int] = 0, **options: Any) -> Function:
    """Make the Hessian; the options are `jax.hessian`'s."""
    return _derivative(jax.hessian, fun, argnums, options)


def _derivative(
    transform: Function, fun: Function, argnums: int | Sequence[int], options: dict[str, Any]
) -> Function:
    """Differentiate by the chosen arguments; the others reach the function untouched."""
    has_aux = options.get("has_aux", False)
    numbers = numbers_of(argnums)
    own = 0 if isinstance(argnums, int) else tuple(range(len(numbers)))

    @wraps(fun)
    @translating
    def derivative(*args: Any, **kwargs: Any) -> Any:
        if any(not -len(args) <= n < len(args) for n in numbers):
            raise TypeError(
                f"{transform.__name__} has argnums={argnums}, but the function was called with "
                f"{len(args)} positional arguments"
            )
        raws, kinds = unwrap([args[n] for n in numbers])
        seen = Seen(partial(of_chosen(fun, numbers, args), **kwargs), kinds, has_aux=has_aux)
        out = transform(seen, own, **options)(*raws)
        if transform is jax.value_and_grad:
            value, found = out
            value = (seen.wrap(value[0]), seen.wrap(value[1], 1)) if has_aux else seen.wrap(value)
            return value, rewrap(found, kinds)
        return (rewrap(out[0], kinds), seen.wrap(out[1], 1)) if has_aux else rewrap(out, kinds)

    return derivative


# ---- products with the jacobian


@translating
def jvp(fun: Function, primals: Any, tangents: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Give the value and its tangent, as `jax.jvp` does."""
    raws, kinds = unwrap(primals)
    seen = Seen(fun, kinds, has_aux=has_aux)
    value, tangent, *aux = theirs.jvp(seen, raws, unwrap(tangents)[0], has_aux=has_aux)
    return seen.wrap(value), seen.wrap(tangent), *[seen.wrap(a, 1) for a in aux]


@translating
def vjp(fun: Function, *primals: Any, has_aux: bool = False, **options: Any) -> tuple[Any, ...]:
    """Give the value and the function that pulls cotangents back, as `jax.vjp` does."""
    raws, kinds = unwrap(primals)
    seen = Seen(fun, kinds, has_aux=has_aux)
    value, pull, *aux = theirs.vjp(seen, *raws, has_aux=has_aux, **options)
    return seen.wrap(value), Partial(Linear(kinds), pull), *[seen.wrap(a, 1) for a in aux]


@translating
def linearize(fun: Function, *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Give the value and the function that pushes tangents, as `jax.linearize` does."""
    raws, kinds = unwrap(primals)
    seen = Seen(fun, kinds, has_aux=has_aux)
    value, push, *aux = theirs.linearize(seen, *raws, has_aux=has_aux)
    out_kinds = seen.outs[0, tree_structure(value)]
    return seen.wrap(value), Partial(Linear(out_kinds), push), *[seen.wrap(a, 1) for a in aux]


@translating
def linear_transpose(fun: Function, *primals: Any, **options: Any) -> Function:
    """Make the transpose of a linear function, as `jax.linear_transpose` does."""
    raws, kinds = unwrap(primals)
    return Partial(Linear(kinds), jax.linear_transpose(Seen(fun, kinds), *raws, **options))


@dataclass(frozen=True)
class Linear:
    """Applies one of JAX's linear maps to Arrays; the results' leaves are of these kinds."""

    kinds: Kinds

    @translating
    def __call__(self, function: Function, *given: Any) -> Any:
        return rewrap(function(*unwrap(given)[0]), self.kinds)


# ---- batched


def vmap(fun: Function, *axes: Any, **options: Any) -> Function:
    """Map over axes of the arguments; the options are `jax.vmap`'s."""

    @wraps(fun)
    @translating
    def mapped(*args: Any, **kwargs: Any) -> Any:
        (raw_args, raw_kwargs), kinds = unwrap((args, kwargs))
        seen = Seen(fun, kinds)
        return seen.wrap(jax.vmap(seen, *axes, **options)(*raw_args, **raw_kwargs))

    return mapped


# ---- with rules of the user's


@translating
def custom_jvp_call(
    fun: Function,
    jvp: Function,
    nondiff_argnums: Sequence[int],
    symbolic_zeros: bool,
    args: Sequence[Any],
) -> Any:
    """Call a function whose derivative is `jvp(*nondiff_args, primals, tangents)`."""
    split = Split(fun, nondiff_argnums, args)
    raws, kinds = unwrap(split.chosen)
    seen = Seen(split.function, kinds)
    function = jax.custom_jvp(seen)

    def rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
        given = rewrap(tuple(primals), kinds), rewrap(tree_map(_seen_zero, tuple(tangents)), kinds)
        found = call(jvp, [*split.fixed, *given], {})
        value, tangent = pair_of(found, "the jvp rule", fun, "output, tangent")
        return seen.note(value), unwrap(tree_map(_own_zero, tangent, is_leaf=is_array))[0]

    function.defjvp(rule, symbolic_zeros=symbolic_zeros)
    return seen.wrap(function(*raws))


@translating
def custom_vjp_call(
    fun: Function,
    fwd: Function,
    bwd: Function,
    nondiff_argnums: Sequence[int],
    args: Sequence[Any],
    **options: Any,
) -> Any:
    """Call a function with rules `fwd(*args)` and `bwd(*nondiff_args, residuals, ct)`."""
    split = Split(fun, nondiff_argnums, args)
    raws, kinds = unwrap(split.chosen)
    seen = Seen(split.function, kinds)
    function = jax.custom_vjp(seen)
    saved: dict[Any, Kinds] = {}

    def forward(*chosen: Any) -> tuple[Any, Any]:
        given = rewrap(chosen, kinds)
        if options.get("symbolic_zeros"):
            flags = tree_map(lambda x: x.perturbed, chosen)
            values = rewrap(tree_map(lambda x: x.value, chosen), kinds)
            given = tree_map(CustomVJPPrimal, values, flags, is_leaf=is_array)
        found = call(fwd, split.full(given), {})
        value, residuals = pair_of(found, "fwd", fun, "output, residuals")
        raw, saved_kinds = unwrap(residuals)
        saved[tree_structure(raw)] = saved_kinds
        return seen.note(value), raw

    def backward(residuals: Any, ct: Any) -> Any:
        found = saved[tree_structure(residuals)]
        given = rewrap(residuals, found), seen.wrap(tree_map(_seen_zero, ct))
        return unwrap(call(bwd, [*split.fixed, *given], {}))[0]

    function.defvjp(forward, backward, **options)
    return seen.wrap(function(*raws))


def _seen_zero(x: Any) -> Any:
    """Give JAX's symbolic zero as ours."""
    if not isinstance(x, custom_derivatives.SymbolicZero):
        return x
    return SymbolicZero(Aval(x.shape, np.dtype(x.dtype), getattr(x.aval, "weak_type", False)))


def _own_zero(x: Any) -> Any:
    """Give our symbolic zero as JAX takes it: as zeros."""
    if not isinstance(x, SymbolicZero):
        return x
    return np.zeros(x.shape, x.dtype) if x.dtype == float0 else jnp.zeros(x.shape, x.dtype)


@translating
def custom_vmap_call(fun: Function, rule: Function, args: Sequence[Any]) -> Any:
    """Call a function with its own rule for vmap, `rule(size, in_batched, *args)`."""
    raws, kinds = unwrap(tuple(args))
    seen = Seen(fun, kinds)
    function = jax.custom_batching.custom_vmap(seen)

    @function.def_vmap
    def mapped(size: int, in_batched: Any, *given: Any) -> Any:
        out, out_batched = call(rule, [size, in_batched, *rewrap(given, kinds)], {})
        raw = unwrap(out)[0]
        return raw, theirs.tree_util.tree_broadcast(out_batched, raw)

    return seen.wrap(function(*raws))


@translating
def linear_call(
    fun: Function, fun_transpose: Function, residual_args: Any, linear_args: Any
) -> Any:
    """Call a linear function with its own transpose, as `jax` does."""
    (residuals, fixed), (xs, kinds) = unwrap(residual_args), unwrap(linear_args)
    seen = Seen(fun, fixed + kinds)

    def transposed(residuals: Any, ct: Any) -> Any:
        given = rewrap(residuals, fixed), seen.wrap(ct)
        return unwrap(call(fun_transpose, given, {}))[0]

    return seen.wrap(custom_derivatives.linear_call(seen, transposed, residuals, xs))


def custom_gradient(fun: Function) -> Function:
    """Make a function whose gradient it gives itself, as `jax.custom_gradient` does."""

    @wraps(fun)
    @translating
    def with_gradient(*args: Any) -> Any:
        raws, kinds = unwrap(args)
        seen = Seen(fun, kinds)

        def pair(*chosen: Any) -> Any:
            value, pull = call(fun, rewrap(chosen, kinds), {})
            return seen.note(value), lambda ct: unwrap(call(pull, [seen.wrap(ct)], {}))[0]

        return seen.wrap(theirs.custom_gradient(pair)(*raws))

    return with_gradient


@translating
def closure_convert(fun: Function, *example_args: Any) -> tuple[Function, list[Any]]:
    """Make captured values arguments, as `jax.closure_convert` does."""
    raws, kinds = unwrap(example_args)
    seen = Seen(fun, kinds)
    converted, captured = theirs.closure_convert(seen, *raws)

    def function(*given: Any) -> Any:
        return seen.wrap(converted(*unwrap(given)[0]))

    return function, [wrap(x) for x in captured]


class Split:
    """The arguments of one call, those to differentiate apart from the fixed ones."""

    def __init__(self, fun: Function, nondiff_argnums: Sequence[int], args: Sequence[Any]) -> None:
        self.fun = fun
        self.args = args
        fixed = {n % len(args) for n in nondiff_argnums}
        self.places = [i for i in range(len(args)) if i not in fixed]
        self.fixed = [args[i] for i in sorted(fixed)]
        self.chosen = tuple([args[i] for i in self.places])

    def full(self, chosen: Sequence[Any]) -> list[Any]:
        """Give all arguments, the chosen ones replaced."""
        args = list(self.args)
        for i, x in zip(self.places, chosen, strict=True):
            args[i] = x
        return args

    def function(self, *chosen: Any) -> Any:
        """Call the function with the chosen arguments replaced."""
        return self.fun(*self.full(chosen))
