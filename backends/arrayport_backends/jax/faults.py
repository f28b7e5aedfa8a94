"""JAX's errors as arrayport's: the same name, what happened, where, and what to write."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import jax
from jax import errors as theirs

import arrayport_backends as backends
from arrayport import core
from arrayport.core import errors as ours
from arrayport.core.array import ADVICE

P = ParamSpec("P")
R = TypeVar("R")

FAULTS: dict[type[Exception], tuple[type[Exception], str]] = {
    theirs.TracerBoolConversionError: (ours.TracerBoolConversionError, "a truth value"),
    theirs.TracerIntegerConversionError: (ours.TracerIntegerConversionError, "a Python integer"),
    theirs.TracerArrayConversionError: (ours.TracerArrayConversionError, "a NumPy array"),
    theirs.NonConcreteBooleanIndexError: (ours.NonConcreteBooleanIndexError, "a boolean index"),
    theirs.ConcretizationTypeError: (ours.ConcretizationTypeError, "a Python value"),
    theirs.UnexpectedTracerError: (ours.UnexpectedTracerError, ""),
}
# Whose text says what happened, and what to write.
TELLING: dict[type[Exception], tuple[type[Exception], str]] = {
    theirs.KeyReuseError: (ours.KeyReuseError, ": make new ones with random.split"),
    theirs.JaxRuntimeError: (ours.JaxRuntimeError, ""),
    theirs.JaxprTypeError: (ours.JaxprTypeError, ""),
    FloatingPointError: (FloatingPointError, ""),  # by debug_nans and debug_infs
}
CAUGHT = (*FAULTS, *TELLING)
LINK = "See https://docs.jax.dev"  # what follows in JAX's messages is about JAX
# Whose files' lines are not the user's.
HOUSES = tuple(
    f"{Path(file).parent}{os.sep}" for file in (core.__path__[0], backends.__file__, jax.__file__)
)


def translated(error: Exception) -> Exception:
    """Give arrayport's error for one of JAX's, to be raised from it."""
    known = next(cls for cls in type(error).__mro__ if cls in CAUGHT)
    line = line_of(error, ours.user_line())
    if known in TELLING:
        kind, advice = TELLING[known]
        told = str(error).partition(LINK)[0].strip()
        where = "" if " (at " in told else f" (at {line})"  # an inner call may have said it
        return kind(f"{told}{where}{advice}")
    kind, use = FAULTS[known]
    if not use:
        return kind(
            f"a traced value was used at {line} after the function that made it had "
            "returned: return it from that function instead of storing it"
        )
    advice = ADVICE.get(
        kind, "compute it outside the traced function, or make it a static argument"
    )
    return kind(f"a traced array was used as {use} at {line}, but it has no value yet: {advice}")


def translating(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function raise arrayport's errors instead of JAX's."""

    @wraps(function)
    def translated_call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except CAUGHT as error:
            raise translated(error) from error

    return translated_call


def not_numpy(tracer: Any) -> Exception:
    """Give the error for a traced array that NumPy was to read."""
    use = ours.TracerArrayConversionError
    return use(
        f"a traced array of {tracer.dtype}[{','.join(map(str, tracer.shape))}] was used as "
        f"a NumPy array at {ours.user_line()}: {ADVICE[use]}"
    )


def line_of(error: Exception, found: str) -> str:
    """Say which of the user's lines raised: the innermost in no file of ours or JAX's."""
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if not code.co_filename.startswith(HOUSES):
            found = f"{Path(code.co_filename).name}:{step.tb_lineno} (in {code.co_name})"
        step = step.tb_next
    return found
