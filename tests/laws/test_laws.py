"""Every law, over every row of the catalogue, on every backend."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import islice

import pytest
from arrayport_conformance import cells, laws
from arrayport_conformance.catalogue import NEWER, ROWS, Row
from arrayport_conformance.catalogue.rows import Call
from hypothesis import settings
from hypothesis.errors import UnsatisfiedAssumption

import arrayport as ap
from arrayport.errors import UnsupportedOnBackendError
from tests.conftest import BACKENDS

# Shares of the profile's examples. JAX compiles for every shape and dtype, and what it is compared
# with costs as much: the laws that need it take fewer. The law of Programs compiles every case and
# dtype, so that of jit need not. JAX's derivatives are its own.
SHARES = {
    "numpy": {
        laws.value: 0.4,
        laws.gradients: 0.3,
        laws.jit: 0.2,
        laws.vmap: 0.6,
        laws.inputs: 0.4,
        laws.abstract: 0.6,
        laws.forward: 0.8,
        laws.reverse: 0.8,
        laws.second: 0.8,
    },
    "cupy-sim": {
        laws.same: 0.8,
        laws.jit: 0.4,
        laws.vmap: 0.4,
        laws.inputs: 0.4,
        laws.abstract: 0.4,
    },
    "jax": {
        laws.value: 0.1,
        laws.compiled: 0.1,
        laws.vmap: 0.1,
        laws.gradients: 0.1,
        laws.abstract: 0.1,
    },
}
SHARES["cupy"] = SHARES["cupy-sim"]
FIRST = {laws.compiled: 1}  # the first call is run eagerly, the next compiled
COMPILING = {laws.value, laws.compiled, laws.jit, laws.gradients}  # by JAX or LLVM, for each call
SHORT = settings.get_profile("short").max_examples
OF_SMOOTH = {laws.forward, laws.reverse, laws.second, laws.gradients}
OF_TRACED = {laws.jit, laws.vmap, laws.inputs, laws.abstract}
OF_HEAVY = {laws.value, laws.compiled}


def _applies(law: Callable[[Row, Call], None], row: Row, backend: str) -> bool:
    if backend == "jax" and row.heavy and law not in OF_HEAVY:
        return False
    if (law in OF_TRACED and row.not_batchable) or (law is laws.vmap and not row.batchable):
        return False
    if law in OF_SMOOTH and (row.not_differentiable or (row.forward_only and law != laws.forward)):
        return False
    if law is laws.gradients and not laws.reference_name(row).startswith("jax."):
        return False
    return law is not laws.second or row.order > 1


CASES = [
    pytest.param(law, row, backend, share, id=f"{law.__name__}-{row.name}-{backend}")
    for row in ROWS
    for backend in BACKENDS
    for law, share in SHARES[backend].items()
    if _applies(law, row, backend)
]


@lru_cache(maxsize=64)
def drawn(row: Row, number: int) -> tuple[cells.Example, Call]:
    """Draw a row's call of this number, the same for all laws: what JAX says of it is kept."""
    example = next(islice(cells.examples(row), number, None))
    return example, example.call(row)


@pytest.mark.parametrize(("law", "row", "backend", "share"), CASES)
def test_law(law: Callable[[Row, Call], None], row: Row, backend: str, share: float) -> None:
    if row.name in NEWER and law in {laws.value, laws.compiled, laws.gradients}:
        pytest.skip(f"JAX before 0.12 has no {row.name}, or another one")
    most = settings.default.max_examples
    first = FIRST.get(law, 0)
    if most > SHORT:  # other calls than the short profile's; no more of those that cost
        first += cells.TRIES * SHORT
        most = SHORT if law in COMPILING or backend == "jax" else most
    wanted = max(1, round(most * share))
    held = silent = 0
    for number in range(first, first + cells.TRIES * wanted):
        example, call = drawn(row, number)
        try:
            with ap.use_backend(backend):
                law(row, call)
        except laws.Silent:
            silent += 1  # of integers, where the law is of derivatives
        except UnsatisfiedAssumption:
            continue  # at a kink
        except UnsupportedOnBackendError as refusal:
            pytest.skip(str(refusal))  # stated in the backend's table, which another test holds
        except Exception as error:
            error.add_note(f"hold{(law.__name__, row.name, backend, *example)} repeats it")
            raise
        else:
            held += 1
        if held and held + silent >= wanted:
            return
    pytest.fail(f"{held} calls are held to it, {silent} say nothing, the others are at kinks")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("row", [r for r in ROWS if r.special], ids=lambda row: row.name)
def test_special_values(row: Row, dtype: str, backend: str) -> None:
    if row.name in NEWER:
        pytest.skip(f"JAX before 0.12 has no {row.name}, or another one")
    with ap.use_backend(backend):
        laws.special(row, dtype)
