"""Group `jax`: calls and programs on the JAX backend, beside the same ones of JAX alone."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.groups.cpu import compiled
from benchmarks.libraries import library
from benchmarks.programs import PROGRAMS, Function, Program
from benchmarks.rows import OURS, Contender, Row

FIRST_CALLS = True
LIBRARIES = {OURS: "arrayport on jax", "jax": "jax"}
CALL, PROGRAM = 1.3, 1.05  # goals


def rows() -> list[Row]:
    if library("jax") is None:
        raise SystemExit('the group jax needs jax: pip install "arrayport[jax]"')
    small = np.arange(8.0, dtype=np.float32)
    return [
        _call("call", "jit(x + x)", lambda x: x + x, small),
        _call("call-pair", "jit(x + y) of a tuple", lambda xy: xy[0] + xy[1], (small, small)),
        _call("call-dict", "jit of and to a dict of 3", lambda d: d, dict.fromkeys("abc", small)),
        *[
            Row(
                f"{program.id}-grad" if grad else program.id,
                f"jit(grad(sum({program.id})))" if grad else f"jit({program.id})",
                partial(_beside, program, grad=grad),
                PROGRAM,
                of="jax",
                ulps=program.ulps_for("float32"),
            )
            for program in PROGRAMS
            for grad in (False, True)[: 1 + program.smooth]
        ],
    ]


def _beside(program: Program, *, grad: bool) -> dict[str, Contender]:
    """Give both the same buffers: where these lie changes XLA's time by a third."""
    inputs = [library("jax").asarray(x) for x in program.inputs("float32")]
    return {
        name: compiled(library(wanted), program, inputs, grad=grad)
        for name, wanted in LIBRARIES.items()
    }


def _call(name: str, said: str, function: Function, argument: Any) -> Row:
    """Time the call itself, of a function that does next to nothing."""

    def make() -> dict[str, Contender]:
        made = {}
        for contender, wanted in LIBRARIES.items():
            lib = library(wanted)
            given = lib.root.tree.map(lib.asarray, argument)
            made[contender] = Contender(partial(lib.root.jit(function), given), wait=lib.wait)
        return made

    return Row(name, said, make, CALL, of="jax")
