"""Callbacks on JAX: its own, called with arrayport's Arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
from jax.experimental import io_callback

from arrayport.core.array import Aval
from arrayport.core.primitive import Primitive
from arrayport.ops.callbacks import call_each, debug_callback_p, io_callback_p, pure_callback_p
from arrayport_backends.jax.leaves import wrap

theirs: Any = jax  # whose callbacks are typed for raw arrays


def _called(
    raws: Sequence[Any], callback: Callable[..., Any], outs: Sequence[Aval], loops: int
) -> tuple[Callable[..., list[Any]], list[Any]]:
    """Make the callback as JAX calls it, and the types of its results."""
    sizes = raws[0].shape[:loops] if loops else ()
    types = [theirs.ShapeDtypeStruct((*sizes, *a.shape), a.dtype) for a in outs]
    if loops:
        return lambda *given: call_each(callback, outs, loops, given, wrap), types

    def called(*given: Any) -> list[Any]:  # JAX checks the shapes
        made = zip(callback(*map(wrap, given)), outs, strict=True)
        return [host.astype(a.dtype, copy=False) for host, a in made]

    return called, types


def pure(*raws: Any, callback: Any, outs: Any, loops: int, method: str | None) -> list[Any]:
    """Call for a result."""
    function, types = _called(raws, callback, outs, loops)
    return jax.pure_callback(function, types, *raws, vmap_method=method)


def io(*raws: Any, callback: Any, outs: Any, loops: int, ordered: bool, method: str) -> list[Any]:  # noqa: ARG001
    """Call for an effect and a result."""
    function, types = _called(raws, callback, outs, loops)
    return io_callback(function, types, *raws, ordered=ordered)


def debug(
    *raws: Any,
    callback: Any,
    outs: Any,
    loops: int,
    ordered: bool,
    method: str,  # noqa: ARG001
) -> list[Any]:
    """Call for an effect alone."""
    function, _ = _called(raws, callback, outs, loops)
    theirs.debug.callback(function, *raws, ordered=ordered)
    return []


def effects_barrier() -> None:
    """Wait until every callback has been called."""
    theirs.effects_barrier()


def clear_caches() -> None:
    """Forget what was traced and compiled."""
    theirs.clear_caches()


ROWS: Mapping[Primitive, Callable[..., Any]] = {
    pure_callback_p: pure,
    io_callback_p: io,
    debug_callback_p: debug,
}
