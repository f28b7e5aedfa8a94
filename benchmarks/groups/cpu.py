"""Group `cpu`: programs under jit on the NumPy backend, beside JAX on the same processor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from benchmarks.libraries import Library, library
from benchmarks.programs import PROGRAMS, Function, Program
from benchmarks.rows import OURS, Contender, Row

FIRST_CALLS = True
LIBRARIES = (OURS, "jax", "numpy")


def rows() -> list[Row]:
    return [
        Row(
            f"{program.id}-{dtype[5:]}",
            f"jit({program.id})",
            partial(_beside, program, dtype),
            program.goal_for(dtype),
            of="jax",
            ulps=program.ulps_for(dtype),
        )
        for program in PROGRAMS
        for dtype in program.dtypes
    ]


def _beside(program: Program, dtype: str) -> dict[str, Contender]:
    names = [name for name in LIBRARIES if name != "numpy" or program.plain]
    found = {name: library(name) for name in names}
    inputs = program.inputs(dtype)
    return {name: compiled(lib, program, inputs) for name, lib in found.items() if lib}


def compiled(
    lib: Library, program: Program, inputs: Sequence[Any], *, grad: bool = False
) -> Contender:
    """Jit the program, or its gradient, in a library, its inputs there already."""
    function = program.write(lib.root, lib.numpy)
    args = [lib.asarray(x) for x in inputs]
    if lib.root is None:
        return Contender(partial(function, *args))
    if grad:
        function = lib.root.grad(summed(lib, function))
    jitted = lib.root.jit(function)
    return Contender(lambda: lib.wait(jitted(*args)))


def summed(lib: Library, function: Function) -> Function:
    return lambda *args: lib.numpy.sum(function(*args))
