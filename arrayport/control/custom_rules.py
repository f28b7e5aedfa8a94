"""What custom_jvp and custom_vjp share: rules on flat Arrays, batched rules, symbolic zeros."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any

import numpy as np

from arrayport.core.array import Array, Aval, Tracer, aval_of
from arrayport.core.dtypes import float0, is_inexact
from arrayport.core.errors import NotDifferentiableError
from arrayport.core.program import Program, eval_program
from arrayport.core.trace import EVAL, current_stage
from arrayport.ops.promotion import lift
from arrayport.ops.structure import zeros
from arrayport.transforms.batching import in_batch
from arrayport.transforms.graph import GradTrace, backward
from arrayport.transforms.staging import stage

# The function itself becomes a Program when it is staged, and takes what it captured first (`free`
# operands). Its rules stay callables of flat Arrays, traced when a derivative is taken: a rule
# may call the function itself.
Flat = Callable[..., list[Array]] | Program


@dataclass(frozen=True)
class SymbolicZero:
    """A tangent or cotangent that is zero whatever happens, with the type that it has.

    Source: `jax.custom_derivatives.SymbolicZero`.

    >>> SymbolicZero(Aval((2,), np.dtype("float32"))).instantiate()
    Array([0., 0.], dtype=float32)
    """

    aval: Aval

    @property
    def shape(self) -> tuple[int, ...]:
        """Extent of each axis."""
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        """Element type."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.aval.shape)

    @property
    def weak_type(self) -> bool:
        """Whether the dtype gives way in promotion."""
        return self.aval.weak

    def instantiate(self) -> Any:
        """The zeros themselves."""
        dtype = self.aval.dtype
        return np.zeros(self.aval.shape, dtype) if dtype == float0 else zeros(self.aval)


def symbolic(t: Array | None, like: Any) -> Any:
    """A tangent, or the SymbolicZero that stands for None."""
    if t is not None:
        return t
    dtype = like.dtype if is_inexact(like.dtype) else float0
    return SymbolicZero(Aval(like.shape, dtype, like.weak))


def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:
    """Give a zero tangent for a value: zeros, or a `SymbolicZero`.

    Source: `jax.custom_derivatives.zero_from_primal`.

    >>> import arrayport.numpy as anp
    >>> zero_from_primal(anp.ones(2))
    Array([0., 0.], dtype=float32)
    """
    zero = symbolic(None, lift(val))
    return zero if symbolic_zeros else zero.instantiate()


def call(f: Flat, *xs: Array) -> list[Array]:
    """Run a rule in either form."""
    return eval_program(f, xs) if isinstance(f, Program) else f(*xs)


def avals_given(*_xs: Any, avals: Sequence[Aval], **_params: Any) -> Sequence[Aval]:
    return avals


class Marks:
    """Which outputs of a rule are batched: what runs first decides, the rest conforms."""

    def __init__(self) -> None:
        self.found: list[bool] = []
        self.settled = False

    def settle(self, marks: list[bool]) -> list[bool]:
        """The marks that hold, for a run that needs at least these."""
        if not self.settled:
            self.found, self.settled = marks, True
        elif any(m and not f for m, f in zip(marks, self.found, strict=True)):
            raise ValueError(
                "under vmap, a custom derivative rule gave a mapped value for an output that the "
                "function itself does not map: make the output depend on the mapped argument"
            )
        return self.found

    @property
    def dims(self) -> list[int | None]:
        """The same as batch axes."""
        return [0 if m else None for m in self.found]


def batched(
    f: Flat, size: int, dims: Sequence[int | None], settle: Callable[[list[bool]], list[bool]]
) -> Callable[..., list[Any]]:
    """A rule over arguments batched at `dims`; the outputs that `settle` marks are, at 0.

    A SymbolicZero among the arguments loses the axis; an output None, for zero, stays one.
    """

    def run(*xs: Any) -> list[Any]:
        examples, places = [], []
        for x, d in zip(xs, dims, strict=True):
            zero = d is not None and isinstance(x, SymbolicZero)
            if zero:
                shape = x.shape[:d] + x.shape[d + 1 :]  # type: ignore[operator]
                x = SymbolicZero(x.aval._replace(shape=shape))  # noqa: PLW2901
            examples.append(x)
            places.append(None if zero else d)
        trace, outs = in_batch(size, lambda *ins: call(f, *ins), examples, places)
        marks = settle([trace.pair(o)[1] is not None for o in outs])
        return [
            None if o is None else trace.output(o, 0 if m else None)
            for o, m in zip(outs, marks, strict=True)
        ]

    return run


def linearized(
    jvp: Callable[..., Any],
    nonzero: Sequence[bool],
    xs: Sequence[Array],
    params: dict[str, Any],
    forward: bool,
) -> Any:
    """The `linearize` of a holder of which a jvp is known: it is transposed at zero tangents."""
    trace = GradTrace()
    ts: list[Any] = [
        trace.input(zeros(x)) if nz else None for x, nz in zip(xs, nonzero, strict=True)
    ]
    outs, out_ts = jvp(ts, xs, params)
    outs = [o.value if trace.owns(o) else o for o in outs]
    inputs = [t.node for t in ts if t is not None]

    def push(given: Sequence[Array | None]) -> list[Array | None]:
        it = iter(given)
        return jvp([next(it) if nz else None for nz in nonzero], xs, params)[1]

    def pull(cts: Sequence[Array | None]) -> list[Array | None]:
        pairs = zip(out_ts, cts, strict=True)
        return backward([(t.node, c) for t, c in pairs if trace.owns(t) and c is not None], inputs)

    return outs, [t is not None for t in out_ts], push if forward else pull


def staged(fun: Flat, xs: Sequence[Array]) -> tuple[Program, list[Tracer]]:
    """The function as a Program, and what it captured of enclosing traces."""
    return (fun, []) if isinstance(fun, Program) else stage(fun, [aval_of(x) for x in xs])


def refuse_free(traced: Sequence[Any], free: int, name: str) -> None:
    """Raise if a value that the function captured has a tangent."""
    if any(t is not None and t is not False for t in traced[:free]):
        raise NotDifferentiableError(
            f"a {name} function was differentiated with respect to a value that it captured from "
            "outside, for which it has no rule: pass the value as an argument"
        )


def plain(leaves: Sequence[Any]) -> bool:
    """Whether nothing traces a call with these leaves."""
    return current_stage() is EVAL and all(type(x) is Array for x in leaves)


# What a custom function hands on to the one inside it, which may have rules of another kind.
FORWARDED = {"defjvp", "defjvps", "defvjp", "def_vmap"}


def pair_of(found: Any, rule: str, fun: Any, pair: str) -> tuple[Any, Any]:
    """What a rule of a function gave, which must be two things."""
    if not isinstance(found, tuple | list) or len(found) != 2:
        name = getattr(fun, "__name__", "a function")
        raise TypeError(f"{rule} of {name} must give a pair ({pair}), not {type(found).__name__}")
    return found[0], found[1]


class Custom:
    """A function with a rule of its own."""

    __name__: str

    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ) -> None:
        update_wrapper(self, fun)
        self.__name__ = getattr(fun, "__name__", type(fun).__name__)  # a partial has none
        self.fun = fun
        names = list(inspect.signature(fun).parameters) if nondiff_argnames else []
        self.nondiff = tuple(
            sorted({*nondiff_argnums, *[names.index(n) for n in nondiff_argnames]})
        )

    def __getattr__(self, name: str) -> Any:
        if name in FORWARDED and isinstance(self.fun, Custom):
            return getattr(self.fun, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

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
