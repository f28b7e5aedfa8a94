"""Group `import`: what a cold process pays to import arrayport, and to its first jitted result."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from importlib.util import find_spec

from benchmarks.rows import OURS, Contender, Row

if sys.platform != "win32":
    import resource

IMPORTS = {
    OURS: "import arrayport, arrayport.numpy",
    "numpy": "import numpy",
    "jax": "import jax, jax.numpy",
    "autograd": "import autograd, autograd.numpy",
}
FIRST_RESULTS = {
    name: f"import {name} as jax, {name}.numpy as jnp; jax.jit(lambda x: x + x)(jnp.ones(3))"
    for name in (OURS, "jax")
}
# Compiled modules are kept apart from the checkout, whatever the user's Python keeps.
CACHE = tempfile.TemporaryDirectory(prefix="arrayport-benchmarks-")


def rows() -> list[Row]:
    env = {**os.environ, "PYTHONPYCACHEPREFIX": CACHE.name}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return [
        Row(
            "import",
            "import arrayport, arrayport.numpy",
            partial(_contenders, IMPORTS, env),
            90e-3,
            beyond="numpy",
            ulps=None,
        ),
        Row(
            "first-result",
            "the same, and jit(x + x) of 3 elements",
            partial(_contenders, FIRST_RESULTS, env),
            0.45,
            of="jax",
            ulps=None,
        ),
    ]


def _contenders(codes: dict[str, str], env: dict[str, str]) -> dict[str, Contender]:
    made = {}
    for name, code in codes.items():
        if find_spec(name):
            command = [sys.executable, "-c", code]
            run = partial(subprocess.run, command, env=env, check=True)
            made[name] = Contender(run, clock=_children)
    return made


def _children() -> float:
    """Return the processor's seconds that finished child processes took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
