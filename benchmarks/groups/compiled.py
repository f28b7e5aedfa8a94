"""Group `compiled`: programs under jit on the NumPy backend, beside JAX on the same processor."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.libraries import Library, library
from benchmarks.programs import PROGRAMS, Function, Program
from benchmarks.rows import OURS, Contender, Row

FIRST_CALLS = True
LIBRARIES = {OURS: OURS, "jax": "jax", "numpy": "numpy"}


def rows() -> list[Row]:
    return [
        Row(
            f"{program.id}-{dtype[5:]}",
            f"jit({program.id})",
            partial(contenders, program, dtype, LIBRARIES),
            program.goal_for(dtype),
            of="jax",
            ulps=program.ulps,
        )
        for program in PROGRAMS
        for dtype in program.dtypes
    ]


def contenders(
    program: Program, dtype: str, libraries: dict[str, str], *, grad: bool = False
) -> dict[str, Contender]:
    """Make the program, or its gradient, a contender of each library that is installed."""
    inputs = program.inputs(dtype)
    wanted = libraries if program.plain else {k: v for k, v in libraries.items() if k != "numpy"}
    found = {name: library(lib) for name, lib in wanted.items()}
    return {name: compiled(lib, program, inputs, grad=grad) for name, lib in found.items() if lib}


def compiled(lib: Library, program: Program, inputs: tuple[Any, ...], *, grad: bool) -> Contender:
    """Jit the program in a library, its inputs there already."""
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
