"""JAX's own compilation of functions of arrayport's Arrays; checkpoints, and what looks at them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import jax
import jax.ad_checkpoint
from jax.tree_util import tree_map

from arrayport.control.policies import Policy
from arrayport.core.arguments import numbers_of
from arrayport.core.array import Array
from arrayport.core.backend import Device, ambient, get
from arrayport.core.likenesses import wraps
from arrayport_backends.jax import shardings
from arrayport_backends.jax.faults import CAUGHT, translated, translating
from arrayport_backends.jax.leaves import (
    CONCRETE,
    NEUTRAL,
    RAW,
    Raw,
    Seen,
    call,
    decode,
    encode,
    flatten,
    is_array,
    is_raw,
    noded,
    unwrap,
)

Function = Callable[..., Any]
theirs: Any = jax  # whose functions are partly untyped
EARLY = theirs.Inline.JAX_EARLY if hasattr(jax, "Inline") else True  # no call within a trace
is_known = RAW.__getitem__


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
    if isinstance(options.get("device"), Device):
        options["device"] = shardings.place(options["device"])
    return Jitted(partial(theirs.jit, **(options | arguments.static)), fun, arguments)


def unit(fun: Function, fixed: Sequence[str], *, inline: bool) -> Function:
    """Make the calls of a compiled function; `inline`: within a trace it is part of that."""
    arguments = Arguments(fun, static_argnames=fixed)
    options = {"inline": EARLY} if inline else {}
    jitted = theirs.jit(coded(fun, arguments), **options, **arguments.static)
    return _caller(jitted, arguments)


class Jitted:
    """What `jit` gives: `jax.jit`'s function for Arrays, with its methods; quickest as `call`."""

    def __init__(self, compiler: Function, fun: Function, arguments: Arguments) -> None:
        self.jitted = compiler(coded(fun, arguments))
        self.bare = compiler(plain(fun))
        self.arguments = arguments
        self.call = _caller(self.jitted, arguments)

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
    statics, names = arguments.numbers, arguments.names

    def call(args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        try:
            if statics:
                static = arguments.places(len(args))
                given = [
                    a
                    if i in static
                    else a.raw
                    if type(a) is Array and RAW[type(a.raw)]
                    else encode(a)
                    for i, a in enumerate(args)
                ]
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
