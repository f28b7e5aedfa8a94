"""Callbacks on NumPy and CuPy: Python is called in its turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayport.control.checks import check_p, raise_now
from arrayport.core.array import Array, Aval
from arrayport.core.errors import JaxRuntimeError, user_line
from arrayport.ops.callbacks import call_each, debug_callback_p, io_callback_p, pure_callback_p
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows


def run(
    lib: Lib,
    *raws: Any,
    callback: Callable[..., Any],
    outs: Sequence[Aval],
    loops: int,
    **_how: Any,
) -> list[Any]:
    """Call Python with Arrays; what it gives comes to this library.

    What it raises comes as the error that a program of JAX's gives, from the one raised.
    """
    try:
        made = call_each(callback, outs, loops, raws, lambda raw: Array(lib.asarray(raw)))
    except Exception as error:
        kind = type(error).__name__
        raise JaxRuntimeError(f"a callback raised {kind} at {user_line()}: {error}") from error
    return [lib.asarray(host) for host in made]


def check(_lib: Lib, *raws: Any, tree: Any, debug: bool) -> list[Any]:
    """Raise if the error that the operands make up happened."""
    return raise_now([Array(raw) for raw in raws], tree, debug)


CALLS = Kernel(run, moves=True)

ROWS: Rows = {
    pure_callback_p: CALLS,
    io_callback_p: CALLS,
    debug_callback_p: CALLS,
    check_p: Kernel(check, moves=True),
}
