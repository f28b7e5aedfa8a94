"""JAX's own transformations of functions, for functions of arrayport's Arrays."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.ad_checkpoint
import jax.custom_batching
import jax.numpy as jnp
import numpy as np
from jax import custom_derivatives
from jax.tree_util import tree_map, tree_structure

from arrayport.control.custom_rules import SymbolicZero
from arrayport.control.custom_vjp import CustomVJPPrimal
from arrayport.control.policies import Policy
from arrayport.core.arguments import numbers_of, of_chosen
from arrayport.core.array import Array, Aval
from arrayport.core.backend import ambient, get
from arrayport.core.dtypes import float0
from arrayport.core.likenesses import wraps
from arrayport_backends.jax import shardings
from arrayport_backends.jax.faults import CAUGHT, translated, translating
from arrayport_backends.jax.leaves import (
    CONCRETE,
    NEUTRAL,
    RAW,
    Kinds,
    Raw,
    Seen,
    call,
    decode,
    encode,
    flatten,
    is_array,
    is_raw,
    noded,
    rewrap,
    unwrap,
    wrap,
)

Function = Callable[..., Any]
theirs: Any = jax  # whose overloads tell has_aux by literals
Partial: Any = jax.tree_util.Partial
is_known = RAW.__getitem__

# ---- compiled, checkpointed, looked at


class Arguments:
    """How the arguments of a function are encoded: all but the static ones."""

    def __init__(
        self,
        fun: Function,
        static_argnums: int | Sequence[int] | None = None,
        static_argnames: str | Iterable[str] | None = None,
        **_other: Any,
    ) -> None:
        numbers = numbers_of(() if static_argnums is None else static_argnums)
        names = (static_argnames,) if isinstance(static_argnames, str) else static_argnames or ()
        self.numbers, self.names = set(numbers), set(names)
        self.known: dict[int, frozenset[int]] = {}
        if numbers or names:  # each completed from the other, by the signature
            parameters = inspect.signature(fun).parameters.values()
            places = [p.name for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD]
            self.numbers |= {places.index(name) for name in self.names if name in places}
            self.names |= {places[n] for n in self.numbers if -len(places) <= n < len(places)}

    @property
    def static(self) -> dict[str, Any]:
        """The static arguments as options of `jax.jit`."""
        if not (self.numbers or self.names):
            return {}
        return {"static_argnums": sorted(self.numbers), "static_argnames": sorted(self.names)}

    def places(self, count: int) -> frozenset[int]:
        """The positions of the static ones among so many arguments, which may be given by name."""
        found = self.known.get(count)
        if found is None:
            found = frozenset([n % count for n in self.numbers if -count <= n < count])
            self.known[count] = found
        return found

    def dynamic(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Give a pytree of the arguments that are not static."""
        if not (self.numbers or self.names):
            return (args, kwargs) if kwargs else args
        static = self.places(len(args))
        rest = [a for i, a in enumerate(args) if i not in static]
        return rest, {k: v for k, v in kwargs.items() if k not in self.names}

    def encode(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """Give positional and keyword arguments as JAX sees them."""
        return self.each(encode, args, kwargs)

    def decode(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """Give positional and keyword arguments as the user's function sees them."""
        return self.each(decode, args, kwargs)

    def each(
        self, code: Function, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Code all arguments but the static ones."""
        static, names = self.places(len(args)), self.names
        return (
            [a if i in static else code(a) for i, a in enumerate(args)],
            {k: v if k in names else code(v) for k, v in kwargs.items()} if kwargs else kwargs,
        )


def coded(fun: Function, arguments: Arguments) -> Function:
    """Make a user's function one of encoded arguments and results."""

    @wraps(fun)
    def coded(*args: Any, **kwargs: Any) -> Any:
        return encode(call(fun, *arguments.decode(args, kwargs)))

    return coded


def plain(fun: Function) -> Function:
    """Make a user's function one of raw values, which it sees as JAX gives them."""

    @wraps(fun)
    def plain(*args: Any, **kwargs: Any) -> Any:
        return noded(call(fun, args, kwargs))

    return plain


def jit(fun: Function, /, **options: Any) -> Jitted:
    """Compile by XLA; the options are `jax.jit`'s."""
    arguments = Arguments(fun, **options)
    for name in ("in_shardings", "out_shardings"):
        if name in options:
            options[name] = shardings.all_of(options[name])
    options |= arguments.static
    return Jitted(
        jax.jit(coded(fun, arguments), **options), jax.jit(plain(fun), **options), arguments
    )


class Jitted:
    """What `jit` gives: `jax.jit`'s function for Arrays, with its methods; quickest as `call`."""

    def __init__(self, jitted: Any, bare: Any, arguments: Arguments) -> None:
        self.jitted = jitted
        self.bare = bare
        self.arguments = arguments
        self.call = _caller(jitted, arguments)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        out = self.decided(args, kwargs)
        return self.call(args, kwargs) if out is NotImplemented else out

    def decided(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Call if the arguments, or what is ambient, say that it is here; else NotImplemented.

        Raw values alone are handed to JAX, and come back, as they are.
        """
        leaves, _ = flatten(self.arguments.dynamic(args, kwargs), is_array)
        if leaves and all(map(is_known, map(type, leaves))):
            try:
                return self.bare(*args, **kwargs)
            except CAUGHT as error:
                raise translated(error) from error
        here = ambient() is get("jax")
        for x in leaves:
            if RAW[type(x.raw if type(x) is Array else x)]:
                here = True
            elif type(x) not in NEUTRAL:
                return NotImplemented
        return self.call(args, kwargs) if here else NotImplemented

    @translating
    def lower(self, *args: Any, **kwargs: Any) -> Stage:
        """Lower ahead of time for arguments or ShapeDtypeStructs."""
        args, kwargs = self.arguments.encode(args, kwargs)
        return Stage(self.jitted.lower(*args, **kwargs))

    @translating
    def trace(self, *args: Any, **kwargs: Any) -> Stage:
        """Trace ahead of time for arguments or ShapeDtypeStructs."""
        args, kwargs = self.arguments.encode(args, kwargs)
        return Stage(self.jitted.trace(*args, **kwargs))

    @translating
    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Give the types of the results."""
        args, kwargs = self.arguments.encode(args, kwargs)
        return _types(self.jitted.eval_shape(*args, **kwargs))

    def clear_cache(self) -> None:
        """Forget what was traced and compiled."""
        self.jitted.clear_cache()
        self.bare.clear_cache()

    def _cache_size(self) -> int:  # how users of JAX count retraces
        return self.jitted._cache_size() + self.bare._cache_size()  # noqa: SLF001


def _caller(jitted: Function, arguments: Arguments) -> Function:
    """Make the calls of a compiled function: a closure, since every look-up shows in their time."""
    static, names = arguments.numbers, arguments.names

    def call(args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        try:
            if static:
                args, kwargs = arguments.encode(args, kwargs)
                out = jitted(*args, **kwargs)
            else:
                given = [
                    a.raw if type(a) is Array and RAW[type(a.raw)] else encode(a) for a in args
                ]
                if kwargs:
                    named = {k: v if k in names else encode(v) for k, v in kwargs.items()}
                    out = jitted(*given, **named)
                else:
                    out = jitted(*given)
        except CAUGHT as error:
            raise translated(error) from error
        return Array(out, out.weak_type) if CONCRETE[type(out)] else decode(out)

    return call


class Stage:
    """A step of ahead-of-time compilation: what `jax.stages` has for it, for Arrays."""

    def __init__(self, stage: Any) -> None:
        self.stage = stage

    def lower(self, *args: Any, **kwargs: Any) -> Stage:
        """Go from traced to lowered."""
        return Stage(self.stage.lower(*args, **kwargs))

    def compile(self, *args: Any, **kwargs: Any) -> Stage:
        """Go from lowered to compiled."""
        return Stage(self.stage.compile(*args, **kwargs))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        named = {k: encode(v) for k, v in kwargs.items()}
        return decode(self.stage(*map(encode, args), **named))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stage, name)


def checkpoint(fun: Function, **options: Any) -> Function:
    """Recompute in the backward pass instead of saving; the options are `jax.checkpoint`'s."""
    numbers, names = (options.pop(f"static_{kind}", ()) for kind in ("argnums", "argnames"))
    arguments = Arguments(fun, numbers, names)
    options["policy"] = _policy(options.get("policy"))
    saved = jax.checkpoint(coded(fun, arguments), **options)

    @wraps(fun)
    @translating
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        if not arguments.static:
            args, kwargs = arguments.encode(args, kwargs)
            return decode(saved(*args, **kwargs))
        static = arguments.places(len(args))
        fixed = {k: v for k, v in kwargs.items() if k in arguments.names}

        def dynamic(*given: Any, **named: Any) -> Any:
            rest = iter(given)
            full = [a if i in static else next(rest) for i, a in enumerate(args)]
            return fun(*full, **named, **fixed)

        given = [encode(a) for i, a in enumerate(args) if i not in static]
        named = {k: encode(v) for k, v in kwargs.items() if k not in fixed}
        whole = coded(dynamic, Arguments(dynamic))
        return decode(jax.checkpoint(whole, **options)(*given, **named))

    return checkpointed


def _policy(policy: Any) -> Any:
    """JAX's own policy for one of ours."""
    if not isinstance(policy, Policy):
        return policy
    theirs_own = getattr(jax.checkpoint_policies, policy.name)
    if policy.arguments or policy.named:
        return theirs_own(*map(_policy, policy.arguments), **dict(policy.named))
    return theirs_own


def print_saved_residuals(fun: Function, *args: Any, **kwargs: Any) -> None:
    """Print what JAX keeps for a function's backward pass."""
    (raw_args, raw_kwargs), kinds = unwrap((args, kwargs))
    theirs.ad_checkpoint.print_saved_residuals(Seen(fun, kinds), *raw_args, **raw_kwargs)


@translating
def eval_shape(fun: Function, *args: Any, **kwargs: Any) -> Any:
    """Give the types of the results as `jax.ShapeDtypeStruct`s."""
    arguments = Arguments(fun)
    args, kwargs = arguments.encode(args, kwargs)
    return _types(jax.eval_shape(coded(fun, arguments), *args, **kwargs))


def make_jaxpr(fun: Function, **options: Any) -> Function:
    """Make a function that gives JAX's own jaxpr; the options are `jax.make_jaxpr`'s."""
    arguments = Arguments(fun, **options)
    maker = theirs.make_jaxpr(coded(fun, arguments), **options)

    @wraps(fun)
    @translating
    def made(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = arguments.encode(args, kwargs)
        out = maker(*args, **kwargs)
        return (out[0], _types(out[1])) if options.get("return_shape") else out

    return made


def _types(tree: Any) -> Any:
    """Strip what held the values from a pytree of types."""
    return tree_map(lambda x: x.value if type(x) is Raw else x, tree, is_leaf=is_raw)


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
        value, tangent = call(jvp, [*split.fixed, *given], {})
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
        value, residuals = call(fwd, split.full(given), {})
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
