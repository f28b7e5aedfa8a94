"""Group `prices`: kernels of NumPy's and SciPy's beside what their rows say that they cost."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
from arrayport_backends.ndarray.kernels import Kernel

from arrayport.core.backend import get
from arrayport.core.primitive import Primitive
from benchmarks.rows import OURS, Contender, Row

SIZE, THOUSAND = 16_000, 1_000
PARAMS = {"integer_pow": {"n": 3}}
# Moving elements has no price of its own: it is the memory's.
MOVES = frozenset({"convert_element_type", "full", "stop_gradient"})
FLOATS = np.random.default_rng(0).uniform(0.01, 0.99, SIZE)
INTEGERS = np.arange(1, SIZE + 1)


def rows() -> list[Row]:
    return [
        Row(
            prim.name,
            f"{prim.name} of a thousand",
            partial(_kernel, prim, row),
            row.price * 1e-9 * THOUSAND,
            ulps=None,
        )
        for prim, row in get("numpy").rows.items()
        if isinstance(row, Kernel) and row.scalar and prim.name not in MOVES
    ]


def _kernel(prim: Primitive, row: Kernel) -> dict[str, Contender]:
    """Call a row's kernel on as many operands, of such a dtype, as it takes."""
    run = partial(row.bind(get("numpy").lib), **PARAMS.get(prim.name, {}))
    for count, operand in product((1, 2, 3), (FLOATS, INTEGERS)):
        operands = [operand > 0.5 if prim.name == "select" else operand, *[operand] * (count - 1)]
        try:
            run(*operands)
        except TypeError:
            continue
        return {OURS: Contender(partial(run, *operands), SIZE // THOUSAND)}
    raise TypeError(f"{prim.name} takes more operands")
