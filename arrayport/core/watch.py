"""Looking at every operation while that is asked for: debug_nans, debug_infs, profiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayport.core import backend as backends
from arrayport.core import lines, memory, profile
from arrayport.core.array import Array, home
from arrayport.core.config import config
from arrayport.core.dtypes import is_inexact
from arrayport.core.errors import user_line
from arrayport.core.primitive import REGISTRY, Callback, Holder, Primitive
from arrayport.core.program import interpreting
from arrayport.core.trace import EVAL, EvalTrace, common_backend

before: list[Callable[..., None]] = []  # are told of each operation that is about to run
_lines = False  # whether this module asks for the lines of equations
_kernels: dict[str, Any] = {}  # the ways by which eager calls go past every check, shut meanwhile


def watching() -> bool:
    """Whether results are looked at."""
    return bool(config.debug_nans or config.debug_infs)


def inspecting() -> bool:
    """Whether each operation is looked at or recorded, so that no call may go past that."""
    others = bool(memory.on or config.no_execution or config.debug_key_reuse)
    return watching() or profile.recording is not None or others


def _switch() -> None:
    global _lines  # noqa: PLW0603 - whether it was asked for
    wanted = watching() or bool(config.debug_key_reuse)
    if wanted is not _lines:
        _lines = wanted
        lines.ask(wanted)
    if inspecting():
        EVAL.process = _process  # type: ignore[method-assign]
    else:
        vars(EVAL).pop("process", None)
    general = inspecting() or config.numpy_rank_promotion != "allow"
    if general and not _kernels:
        backends.get("numpy")
        for name, prim in REGISTRY.items():
            _kernels[name] = prim.numpy_kernel
            prim.offer(None)
    elif not general:
        for name, kernel in _kernels.items():
            REGISTRY[name].offer(kernel)
        _kernels.clear()


for option in (
    "debug_nans",
    "debug_infs",
    "debug_key_reuse",
    "no_execution",
    "numpy_rank_promotion",
):
    config.listen(option, _switch)
profile.listeners.append(_switch)
memory.listeners.append(_switch)


def _process(prim: Primitive, args: Sequence[Array], params: dict[str, Any]) -> Any:
    """Run a primitive, record that, and look at what it gives."""
    if config.no_execution and common_backend(prim.name, args).native is None:  # JAX does likewise
        raise RuntimeError(
            f"{prim.name} was to run at {user_line()} while no_execution is on: turn that off, or "
            "only trace (make_jaxpr, eval_shape, lower)"
        )
    for look in before:
        look(prim, args, params)
    start = profile.now()
    out = EvalTrace.process(EVAL, prim, args, params)
    if profile.recording is not None:
        profile.recording.add(prim.name, "operation", start)
    if memory.on:
        for o in out if prim.many else (out,):
            if isinstance(o, Array):
                memory.note(o.raw, prim.name)
    if not watching():
        return out
    found = next((f for o in (out if prim.many else (out,)) if (f := fault(o))), "")
    if found and not isinstance(prim, Callback):
        _look_inside(prim, args, params)
        already = "its operands had one" if any(map(fault, args)) else "no operand had one"
        raise FloatingPointError(f"{found} came up in {prim.name} at {user_line()}: {already}")
    return out


def _look_inside(prim: Primitive, args: Sequence[Array], params: dict[str, Any]) -> None:
    """Raise for the operation itself in Programs that were just run on these operands."""
    if isinstance(prim, Holder):
        with interpreting():
            EvalTrace.process(EVAL, prim, args, params)


def fault(x: Array) -> str:
    """What is wrong with an Array's values, if anything."""
    if not isinstance(x, Array) or not is_inexact(x.dtype):
        return ""
    own = home(x.raw)
    if own.native is not None:
        return ""  # JAX looks itself
    host = own.to_numpy(x.raw)
    if host.dtype.kind not in "fc":
        host = host.astype(np.float32)
    if config.debug_nans and np.isnan(host).any():
        return "a NaN"
    if config.debug_infs and np.isinf(host).any():
        return "an infinity"
    return ""
