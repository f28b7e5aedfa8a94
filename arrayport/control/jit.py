"""jit: a function staged once per signature of its arguments, run as an optimised Program."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import partial, update_wrapper
from typing import Any

from numpy import ndarray

from arrayport.control import stages
from arrayport.control.checks import are_functional
from arrayport.control.explaining import explain, noting
from arrayport.control.flat import Staged, flatten
from arrayport.control.traces import living, traces
from arrayport.core import leaks, lines, memory, profile
from arrayport.core.array import Array, Aval, PlacedArray, Tracer, aval_of
from arrayport.core.backend import Backend, enter, get, leave, loaded
from arrayport.core.config import TRACED, config, jit_disabled, traced_options, x64
from arrayport.core.errors import user_line
from arrayport.core.following import through
from arrayport.core.primitive import Holder
from arrayport.core.program import Program
from arrayport.core.quiet import QUIET, reset_errors, set_errors
from arrayport.core.trace import EVAL, current_stage, named_axes, route
from arrayport.core.tree import tree_leaves, tree_structure, tree_unflatten
from arrayport.core.watch import inspecting
from arrayport.ops.placement import constrained
from arrayport.ops.structure import mapped_in_front
from arrayport.transforms.derived import (
    Linearized,
    batch_program,
    instantiate,
    jvp_program,
    linearize_program,
    marked,
    spread,
)
from arrayport.transforms.inspection import ShapeDtypeStruct
from arrayport.transforms.varying import told

# ---- the primitive


def jit_linearize(
    nonzero: Sequence[bool], xs: Sequence[Array], params: dict[str, Any], forward: bool
) -> Any:
    program = params["program"]
    lin = linearize_program(
        program, tuple(nonzero), (False,) * len(program.outs), forward_mode=forward
    )
    outs = jit_p.bind(*xs, program=lin.first)
    residuals = lin.residuals(xs, outs)
    linear = linear_held(lin, lambda: residuals, marked(xs, nonzero), program.out_avals, forward)
    return outs[: len(program.outs)], lin.nonzero_out, linear


def linear_held(
    lin: Linearized,
    residuals: Callable[[], list[Array]],
    ins: Sequence[Array],
    outs: Sequence[Aval],
    forward: bool,
) -> Callable[[Sequence[Array | None]], list[Array | None]]:
    """The linear map of a primitive that just runs a Program, from its nonzero operands `ins`."""

    def linear(given: Sequence[Array | None]) -> list[Array | None]:
        if forward:
            ts = instantiate(given, ins, [True] * len(ins))
            return spread(jit_p.bind(*residuals(), *ts, program=lin.linear), lin.nonzero_out)
        cts = instantiate(given, outs, lin.nonzero_out)
        return jit_p.bind(*residuals(), *cts, program=lin.linear)

    return linear


def batch_held(
    holder: Holder,
    size: int,
    xs: Sequence[Array],
    dims: Sequence[int | None],
    program: Program,
    **params: Any,
) -> tuple[list[Array], list[int | None]]:
    """The batch rule of a primitive that just runs a Program."""
    batched = tuple([d is not None for d in dims])
    made, mask = batch_program(program, size, batched, (False,) * len(program.outs))
    outs = holder.bind(*mapped_in_front(xs, dims), program=made, **params)
    return outs, [0 if m else None for m in mask]


def jvp_held(
    holder: Holder, ts: Sequence[Any], xs: Sequence[Array], program: Program, **params: Any
) -> tuple[list[Array], list[Any]]:
    """The jvp rule of a primitive that just runs a Program."""
    nonzero = tuple([t is not None for t in ts])
    pushed, mask = jvp_program(program, nonzero, (False,) * len(program.outs))
    outs = holder.bind(*xs, *marked(ts, nonzero), program=pushed, **params)
    return outs[: len(mask)], spread(outs[len(mask) :], mask)


jit_p: Holder = Holder(
    "jit",
    lambda *_xs, program: program.out_avals,
    lambda size, xs, dims, /, program: batch_held(jit_p, size, xs, dims, program),
    jvp=lambda ts, xs, params: jvp_held(jit_p, ts, xs, params["program"]),
    linearize=jit_linearize,
    divide=through,
    runs="program",
)

# ---- the function

PLACED = {"in_shardings", "out_shardings"}
PLACEMENT = {*PLACED, "device", "backend", "compiler_options"}


def jit(
    fun: Callable[..., Any] | None = None,
    /,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    inline: bool = False,
    **placement: Any,
) -> Any:
    """Compile a function: it is traced once per signature, and the Program is run from then on.

    Source: `jax.jit`.

    Arrays among the arguments are traced by shape, dtype and weakness; arguments named by
    `static_argnums` or `static_argnames` keep their Python value, must be hashable, and retrace the
    function when they change. Donated arguments may not be used afterwards. `out_shardings`: as for
    `lax.with_sharding_constraint`; `in_shardings`: the same of the positional arguments that are
    not static, which must be divided so or not at all. A `backend` ("cpu", "gpu", "tpu") must be
    where the arrays are; other `placement` (device, compiler_options) goes to a native engine.
    Without `fun`, gives a decorator.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.jit(lambda x: x * 2 + 1)(anp.arange(3))
    Array([1, 3, 5], dtype=int32)
    """
    options: dict[str, Any] = {
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
        "donate_argnums": donate_argnums,
        "donate_argnames": donate_argnames,
        "keep_unused": keep_unused,
        "inline": inline,
        **placement,
    }
    if unknown := placement.keys() - PLACEMENT:
        raise TypeError(f"jit takes no argument {min(unknown)!r}")
    if fun is None:
        return partial(jit, **options)
    if not callable(fun):
        raise TypeError(f"jit needs a function, not {type(fun).__name__}")
    return Jitted(fun, {k: v for k, v in options.items() if v is not None and v is not False})


class Jitted:
    """A function as `jit` gives it: call it, or look at it by `lower`, `trace`, `eval_shape`."""

    __name__: str

    def __init__(self, fun: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, fun)
        self.fun = fun
        self.options = options
        self.static, self.static_names = resolve_arguments(fun, options, "static")
        self.donated, self.donated_names = resolve_arguments(fun, options, "donate")
        if both := {*self.static} & {*self.donated} or {*self.static_names} & {*self.donated_names}:
            raise ValueError(f"jit: {min(both)!r} is static and donated: only arrays are donated")
        self.traces = kept = traces(fun, options)
        self.fast, self.quick = kept.fast, kept.quick  # each look-up shows in a call's time
        self.noted = noting(fun, kept.signatures)
        self.__name__ = getattr(fun, "__name__", type(fun).__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        key: Any = None
        for a in args:
            if type(a) is not Array or type(a.raw) is not ndarray:
                native = self.quick.get(type(a.raw) if type(a) is Array else _first_class(a))
                if native is not None and current_stage() is EVAL:
                    return native(args, kwargs)
                break
            key = (key, a.raw.shape, a.raw.dtype, a.weak)
        else:
            key = key, x64()
            hit = self.fast.get(key) if not kwargs else None
            if hit is not None and current_stage() is EVAL and not jit_disabled():
                executor, weak, out_tree, donated = hit
                if executor.silent:
                    outs = executor.run(*[a.raw for a in args])
                else:
                    token = set_errors(QUIET)
                    try:
                        outs = executor.run(*[a.raw for a in args])
                    finally:
                        reset_errors(token)
                for n in donated:
                    args[n].delete()
                if out_tree is None:
                    return Array(outs[0], weak)
                return tree_unflatten(out_tree, list(map(Array, outs, weak)))
            if not kwargs and current_stage() is EVAL:
                return self.slow(args, kwargs, key)
        return self.slow(args, kwargs, None)

    def slow(self, args: tuple[Any, ...], kwargs: dict[str, Any], fast_key: Any) -> Any:
        """Call by the cache of structures, types and static values; trace if it has nothing."""
        if current_stage() is EVAL:
            for native in self.traces.natives.values():
                out = native.decided(args, kwargs)
                if out is not NotImplemented:
                    return out
        if config.disable_jit or (named_axes.get() and told()):
            return self.fun(*args, **kwargs)
        statics, dynamic = self.split(args, kwargs)
        leaves = tree_leaves(dynamic)
        backend, engine = route(leaves)
        if engine is not None:
            native = self.native(engine)
            classes = [type(x.raw) for x in leaves if isinstance(x, Array)]
            self.quick.update([(cls, native.call) for cls in classes if backend.owns(cls)])
            return native(*args, **kwargs)
        if "in_shardings" in self.options:
            self.divisible(dynamic)
        asked = self.options.get("backend")
        if asked is not None and asked != backend.devices()[0].platform:
            raise ValueError(
                f"jit of {self.__name__} has backend={asked!r}, but its arrays are on "
                f"{backend.devices()[0]}: move them with arrayport.device_put"
            )
        token = enter(backend)
        try:
            leaves, tree = flatten(
                dynamic, "an argument of a jitted function that is not static (static_argnums)"
            )
            program, captured, out_tree = self.staged(statics, leaves, tree, backend)
            given = self.given_away(args, kwargs)
            if (
                fast_key is not None
                and args  # without any, the ambient backend decides
                and not captured
                and not self.options.keys() & PLACED
                and not program.axes
                and backend is get("numpy")
                and not inspecting()
                and not self.written_over(given, backend)
            ):
                donated = [n for n in self.donated if -len(args) <= n < len(args)]
                self.remember(fast_key, program, out_tree, backend, donated)
            if given:
                outs = self.overwriting(program, [*captured, *leaves], given, backend)
                for x in given:
                    x.delete()
            else:
                outs = self.run(program, [*captured, *leaves])
            out = tree_unflatten(out_tree, outs)
            if "out_shardings" in self.options:
                return constrained(out, self.options["out_shardings"], "jit", "out_shardings")
            return out
        finally:
            leave(token)

    def divisible(self, dynamic: Any) -> None:
        """Raise unless the arguments are, or can be, divided as `in_shardings` says."""
        given = self.options["in_shardings"]
        args, kwargs = dynamic
        if kwargs:
            raise ValueError(
                f"jit of {self.__name__} has in_shardings, which are of positional arguments: it "
                f"was called with {sorted(kwargs)} by name"
            )
        wanted = tuple(given) if isinstance(given, list) else given
        placed = constrained(args, wanted, "an argument of jit", "in_shardings")
        for i, (x, new) in enumerate(zip(tree_leaves(args), tree_leaves(placed), strict=True)):
            own = x.placement if isinstance(x, Array) else None
            if own is not None and not own.is_equivalent_to(new.sharding, len(x.shape)):
                raise ValueError(
                    f"jit of {self.__name__} has in_shardings {new.sharding} for its array {i}, "
                    f"which is divided by {own}: move it first with arrayport.device_put"
                )

    def run(self, program: Program, leaves: list[Array]) -> list[Array]:
        """Run the Program."""
        if profile.recording is not None:
            with profile.span(f"jit({self.__name__})", "call"):
                return jit_p.bind(*leaves, program=program)
        return jit_p.bind(*leaves, program=program)

    def split(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """The static arguments, hashable, and the others."""
        if not self.static and not self.static_names:
            return (), (args, kwargs)
        numbers = {n % len(args) for n in self.static if -len(args) <= n < len(args)}
        named = sorted(k for k in kwargs if k in self.static_names)
        statics = (*[(i, args[i]) for i in sorted(numbers)], *[(k, kwargs[k]) for k in named])
        for where, value in statics:
            try:
                hash(value)
            except TypeError:
                raise ValueError(
                    f"static argument {where!r} of {self.__name__} is of type "
                    f"{type(value).__name__}, which cannot be hashed: pass a tuple, or an object "
                    "with __hash__ and __eq__, or do not make it static"
                ) from None
        dynamic = tuple([a for i, a in enumerate(args) if i not in numbers])
        return statics, (dynamic, {k: v for k, v in kwargs.items() if k not in self.static_names})

    def staged(
        self, statics: Any, leaves: list[Array], tree: Any, backend: Backend
    ) -> tuple[Program, Any, Any]:
        """The Program for a signature, what it captured, and its output's structure."""
        typed = tuple([(k, type(v), v) for k, v in statics])
        axes = tuple([(name, int(t.size)) for name, t in named_axes.get().items()])
        avals = tuple([aval_of(x) for x in leaves])
        modes = traced_options(), lines.on, leaks.on, are_functional()
        key = typed, tree, avals, modes, backend, axes
        hit = self.traces.programs.get(key)
        if hit is not None:
            return hit[0], (), hit[1]
        if config.no_tracing:
            raise RuntimeError(
                f"{self.__name__} was to be traced at {user_line()} for new types, statics or "
                "options while no_tracing is on: call it so once before"
            )
        function = self.whole(statics)
        traced = (
            leaks.checked("jit", Staged, function, tree, avals)
            if leaks.on
            else Staged(function, tree, avals)
        )
        if not traced.captured:
            self.traces.programs[key] = traced.program, traced.out_tree
        return traced.program, traced.captured, traced.out_tree

    def whole(self, statics: Any) -> Callable[..., Any]:
        """The function of the dynamic arguments."""

        def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            full = list(args)
            named = dict(kwargs)
            for where, value in statics:
                if isinstance(where, int):
                    full.insert(where, value)
                else:
                    named[where] = value
            return self.noted(*full, **named)

        return call

    def remember(
        self, key: Any, program: Program, out_tree: Any, backend: Backend, donated: Sequence[int]
    ) -> None:
        """Let the next call with plain NumPy Arrays skip everything but the Program."""
        weak = [v.weak for v in program.outs]
        single = out_tree == tree_structure(0)
        self.fast[key] = (
            program.run(backend),
            weak[0] if single else weak,
            None if single else out_tree,
            donated,
        )

    def native(self, engine: Any) -> Any:
        """The same function, jitted by a native engine."""
        made = self.traces.natives.get(engine)
        if made is None:
            made = self.traces.natives[engine] = engine.jit(self.noted, **self.options)
        return made

    def overwriting(
        self, program: Program, leaves: list[Array], given: Sequence[Array], backend: Backend
    ) -> list[Array]:
        """Run the Program, which may write where those given away are, if nobody else sees it."""
        large = self.written_over(given, backend)
        plain = current_stage() is EVAL and all(type(x) is Array for x in leaves)
        if not large or not plain or inspecting():
            return self.run(program, leaves)
        places = _places(leaves)
        numbers = [places[id(x)] for x in large if places.get(id(x), -1) >= 0 and backend.alone(x)]
        if not numbers:
            return self.run(program, leaves)
        executor = program.derive(
            ("overwriting", backend, *numbers),
            lambda: backend.compile(program, [program.ins[i] for i in numbers]),
        )
        raws = [x.raw for x in leaves]
        for i in numbers:
            leaves[i].delete()
        token = set_errors(QUIET)
        try:
            outs = executor.run(*raws)
        finally:
            reset_errors(token)
        return [Array(raw, v.weak) for raw, v in zip(outs, program.outs, strict=True)]

    def given_away(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array]:
        """The Arrays among the donated arguments."""
        given = [args[n] for n in self.donated if -len(args) <= n < len(args)]
        given += [v for k, v in kwargs.items() if k in self.donated_names]
        return [x for x in tree_leaves(given) if type(x) in (Array, PlacedArray)]

    def written_over(self, given: Sequence[Array], backend: Backend) -> list[Array]:
        """The Arrays among those given away that are so large that it pays to write there."""
        return [x for x in given if x.nbytes >= backend.overwrites]

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """Trace for arguments, which may be ShapeDtypeStructs, without running."""
        statics, dynamic = self.split(args, kwargs)
        backend, engine = route(tree_leaves(dynamic))
        if engine is not None:
            return self.native(engine).trace(*args, **kwargs)
        leaves, tree = _abstract(dynamic)
        token = enter(backend)
        try:
            staged = Staged(self.whole(statics), tree, leaves)
        finally:
            leave(token)
        bind = jit_p.bind
        return stages.Traced(staged, tree, backend, self.__name__, self.donated, bind)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """Trace and lower for arguments; `.compile()` gives a callable for that signature."""
        return self.trace(*args, **kwargs).lower()

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Types of the outputs for arguments, as ShapeDtypeStructs."""
        _, engine = route(tree_leaves((args, kwargs)))
        if engine is not None:
            return self.native(engine).eval_shape(*args, **kwargs)
        return self.trace(*args, **kwargs).out_info

    def explain(self) -> str:
        """Tell how often, for what and why the function was traced.

        >>> import arrayport as ap, arrayport.numpy as anp
        >>> f = ap.jit(lambda x: x * 2)
        >>> _ = f(anp.ones(2)), f(anp.ones(3))
        >>> print(f.explain().splitlines()[-1])
           because x has another shape: float32[3] now, float32[2] then
        """
        return explain(self.__name__, self.traces.signatures)

    def clear_cache(self) -> None:
        """Forget what was traced."""
        self.traces.clear()

    def _cache_size(self) -> int:
        natives = self.traces.natives.values()
        return len(self.traces.programs) + sum(n._cache_size() for n in natives)  # noqa: SLF001 - JAX's name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else partial(self, instance)

    def __reduce__(self) -> tuple[type[Jitted], tuple[Callable[..., Any], dict[str, Any]]]:
        return Jitted, (self.fun, self.options)  # what was traced stays in this process

    def __repr__(self) -> str:
        return f"<jitted {self.fun!r}>"


def clear_caches() -> None:
    """Forget everything that was traced and compiled. Source: `jax.clear_caches`.

    >>> clear_caches()
    """
    for kept in list(living):
        kept.clear()
    for backend in loaded():
        if backend.native is not None:
            backend.native.clear_caches()


def _forget_fast() -> None:
    """Let calls go through every check: what debugging looks for would pass them by."""
    for kept in list(living):
        kept.fast.clear()


for option in (*TRACED, "debug_nans", "debug_infs", "check_tracer_leaks", "no_execution"):
    config.listen(option, _forget_fast)
profile.listeners.append(_forget_fast)
memory.listeners.append(_forget_fast)


CONTAINERS = (dict, list, tuple)


def _first_class(x: Any) -> type:
    """The class of an Array's raw value that comes first in builtin containers; else NoneType."""
    while isinstance(x, CONTAINERS) and x:
        x = next(iter(x.values())) if isinstance(x, dict) else x[0]
    return type(x.raw) if type(x) is Array else type(None)


def _places(leaves: Sequence[Array]) -> dict[int, int]:
    """The places of leaves, by their identity; -1 of one that comes more than once."""
    places: dict[int, int] = {}
    for place, leaf in enumerate(leaves):
        places[id(leaf)] = -1 if id(leaf) in places else place
    return places


def _abstract(dynamic: Any) -> tuple[list[Any], Any]:
    leaves = tree_leaves(dynamic)
    tree = tree_structure(dynamic)
    return [
        aval_of(x)
        if isinstance(x, ShapeDtypeStruct | Tracer)
        else aval_of(flatten(x, "an argument")[0][0])
        for x in leaves
    ], tree


def resolve_arguments(
    fun: Callable[..., Any], options: dict[str, Any], kind: str
) -> tuple[tuple[int, ...], frozenset[str]]:
    """Positions and names of static or donated arguments, completed by the signature."""
    numbers, names = options.get(f"{kind}_argnums"), options.get(f"{kind}_argnames")
    numbers = () if numbers is None else (numbers,) if isinstance(numbers, int) else tuple(numbers)
    names = () if names is None else (names,) if isinstance(names, str) else tuple(names)
    if not numbers and not names:
        return (), frozenset()
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        return numbers, frozenset(names)
    positional = [
        p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    open_ended = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    for n in numbers:
        if not open_ended and not -len(positional) <= n < len(positional):
            raise ValueError(
                f"{kind}_argnums={n} is out of range: the function takes {len(positional)} "
                "positional arguments"
            )
    known = {p.name for p in parameters}
    for name in names:
        if name not in known and not any(p.kind is p.VAR_KEYWORD for p in parameters):
            raise ValueError(
                f"{kind}_argnames={name!r} is no parameter of the function, which has "
                f"{sorted(known)}"
            )
    both_numbers = {*numbers, *[positional.index(n) for n in names if n in positional]}
    both_names = {
        *names,
        *[positional[n] for n in numbers if -len(positional) <= n < len(positional)],
    }
    return tuple(sorted(both_numbers)), frozenset(both_names)
