"""Traces: interpretations of primitives. Levels ascend in every thread; there is no stack."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from arrayport.core import backend as backends
from arrayport.core.array import Array, PlacedArray, Tracer, home
from arrayport.core.contexts import within
from arrayport.core.dtypes import kind
from arrayport.core.errors import BackendMismatchError, UnexpectedTracerError, user_line
from arrayport.core.following import follow

if TYPE_CHECKING:
    from arrayport.core.primitive import Binary, Primitive, Unary

_levels = itertools.count(1)


class Trace:
    """An interpretation of primitives; the highest level among operands decides."""

    opened: Callable[[Trace], None] | None = None  # is told of every trace, while leaks are sought

    def __init__(self) -> None:
        self.level = next(_levels)
        if Trace.opened is not None:
            Trace.opened(self)

    def process(self, prim: Primitive, args: Sequence[Array], params: dict[str, Any]) -> Any:
        """Apply a primitive in this interpretation."""
        raise NotImplementedError

    def process_unary(self, prim: Unary, x: Array, params: dict[str, Any]) -> Any:
        """The same for one operand; a trace overrides it for speed only."""
        return self.process(prim, (x,), params)

    def process_binary(self, prim: Binary, x: Array, y: Array, params: dict[str, Any]) -> Any:
        """The same for two operands; a trace overrides it for speed only."""
        return self.process(prim, (x, y), params)

    def backend(self, x: Tracer) -> backends.Backend:
        """The backend that a tracer of this trace will run on."""
        raise NotImplementedError


class FinishedTrace(Trace):
    """What a trace turns into once its function has returned."""

    def process(self, prim: Primitive, args: Sequence[Array], params: dict[str, Any]) -> Any:
        raise UnexpectedTracerError(
            f"a traced value was used at {user_line()} in {prim.name} after the function that made "
            "it had returned: return it from that function instead of storing it (within "
            "arrayport.checking_leaks() the error says where it was made)"
        )

    def backend(self, x: Tracer) -> backends.Backend:
        return backends.ambient()


def finish(trace: Trace) -> None:
    """Let every later use of a trace's values raise; it costs nothing until then."""
    trace.__class__ = FinishedTrace


class EvalTrace(Trace):
    """Level 0: run the kernel of the operands' backend."""

    def __init__(self) -> None:
        self.level = 0

    def process(self, prim: Primitive, args: Sequence[Array], params: dict[str, Any]) -> Any:
        if args and kind(args[-1].dtype) not in prim.takes:
            prim.abstract(*args, **params)  # it raises, and says why
        out = common_backend(prim.name, args).execute(prim, args, params)
        return follow(prim, args, params, out) if PlacedArray in map(type, args) else out


EVAL = EvalTrace()
# The innermost Program under construction, else EVAL.
staging: ContextVar[Trace] = ContextVar("staging", default=EVAL)
current_stage = staging.get


def stage_into(trace: Trace) -> AbstractContextManager[Trace]:
    """Send every operation to a program under construction, whatever its operands."""
    return within(staging, trace)


# Whether Programs keep the equations on which nothing depends, for something looks at them all.
complete: ContextVar[bool] = ContextVar("complete", default=False)

# The traces of the axes that have names, innermost last; a collective runs in its axis's trace.
named_axes: ContextVar[Mapping[Hashable, Any]] = ContextVar("named_axes", default={})  # noqa: B039 - never changed


def naming(name: Hashable, trace: Trace) -> AbstractContextManager[Any]:
    """Let collectives find the trace of a mapped axis by its name."""
    return within(named_axes, {**named_axes.get(), name: trace})


def axis_trace(name: Hashable) -> Any:
    """The trace of the mapped axis with a name, which knows its `size`."""
    found = named_axes.get().get(name)
    if found is None:
        raise NameError(
            f"unbound axis name {name!r} at {user_line()}: a collective needs an enclosing vmap, "
            f"pmap or shard_map that gives an axis this name (axis_name={name!r})"
        )
    return found


def neutral(x: Array) -> bool:
    """Whether an Array follows the other operands: a weak scalar on the host."""
    return x.weak and type(x) is Array and type(x.raw) is np.ndarray and not x.raw.shape


def common_backend(what: str, args: Sequence[Array]) -> backends.Backend:
    """The one backend of concrete operands; two raise, none (all neutral) is the ambient one."""
    found = None
    for a in args:
        raw = a.raw
        if type(raw) is np.ndarray and a.weak and not raw.shape:
            continue  # neutral
        own = home(raw)
        if found is not None and own is not found:
            raise BackendMismatchError(
                f"{what} was given arrays of two backends, {found.name!r} and {own.name!r}, at "
                f"{user_line()}: move one with arrayport.device_put(x, device)"
            )
        found = own
    return found or backends.ambient()


def backend_of(x: Any) -> backends.Backend | None:
    """The backend that an Array or tracer runs on; None for what is neutral."""
    if not isinstance(x, Array):
        return backends.by_type(type(x)) if type(x) is not np.ndarray else None
    if isinstance(x, Tracer):
        return x.owner.backend(x)
    return None if neutral(x) else home(x.raw)


FREE = (np.ndarray, np.generic, bool, int, float, complex, str)  # which follow


def route(leaves: Iterable[Any]) -> tuple[backends.Backend, Any]:
    """The backend on which a call with these leaves runs, and its native engine or None."""
    for x in leaves:
        if isinstance(x, Tracer):
            return x.owner.backend(x) or backends.ambient(), None
        if isinstance(x, Array):
            if not neutral(x):
                found = backends.by_type(type(x.raw))
                break
        elif not isinstance(x, FREE):
            found = backends.by_type(type(x))
            if found is not None:
                break
    else:
        found = None
    backend = found or backends.ambient()
    return backend, backend.native if current_stage() is EVAL else None
