"""Every law, over every row of the catalogue, on every backend."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec

import pytest
from arrayport_conformance import laws
from arrayport_conformance.catalogue import NEWER, ROWS, Row
from arrayport_conformance.catalogue.rows import Call
from hypothesis import given, settings

import arrayport as ap
from arrayport.errors import UnsupportedOnBackendError

ASKED = os.environ.get("ARRAYPORT_TEST_BACKENDS", "")
PRESENT = ["numpy", "cupy-sim", *(["jax"] if find_spec("jax") else [])]
BACKENDS = [name.strip() for name in ASKED.split(",")] if ASKED else PRESENT

# Shares of the profile's examples. JAX compiles for every shape and dtype, and what it is compared
# with costs as much: the laws that need it take fewer, as do those that make machine code. JAX's
# derivatives are its own.
SHARES = {
    "numpy": {
        laws.value: 0.5,
        laws.gradients: 0.5,
        laws.jit: 0.5,
        laws.vmap: 1,
        laws.inputs: 0.5,
        laws.abstract: 1,
        laws.forward: 1,
        laws.reverse: 1,
        laws.second: 1,
    },
    "cupy-sim": {laws.same: 1, laws.jit: 0.5, laws.vmap: 0.5, laws.inputs: 0.5, laws.abstract: 0.5},
    "jax": {
        laws.value: 0.2,
        laws.jit: 0.1,
        laws.vmap: 0.1,
        laws.gradients: 0.1,
        laws.abstract: 0.1,
    },
}
SHARES["cupy"] = SHARES["cupy-sim"]
OF_SMOOTH = {laws.forward, laws.reverse, laws.second, laws.gradients}
OF_TRACED = {laws.jit, laws.vmap, laws.inputs, laws.abstract}


def _applies(law: Callable[[Row, Call], None], row: Row, backend: str) -> bool:
    if backend == "jax" and row.heavy and law is not laws.value:
        return False
    if law in OF_TRACED and row.not_batchable:
        return False
    if law in OF_SMOOTH and (row.not_differentiable or (row.forward_only and law != laws.forward)):
        return False
    return law is not laws.second or row.order > 1


CASES = [
    pytest.param(law, row, backend, share, id=f"{law.__name__}-{row.name}-{backend}")
    for row in ROWS
    for backend in BACKENDS
    for law, share in SHARES[backend].items()
    if _applies(law, row, backend)
]


@pytest.mark.parametrize(("law", "row", "backend", "share"), CASES)
def test_law(law: Callable[[Row, Call], None], row: Row, backend: str, share: float) -> None:
    if row.name in NEWER and law in {laws.value, laws.gradients}:
        pytest.skip(f"JAX before 0.12 has no {row.name}, or another one")

    @settings(max_examples=max(1, round(settings.default.max_examples * share)))
    @given(row.calls)
    def holds(call: Call) -> None:
        try:
            law(row, call)
        except UnsupportedOnBackendError as refusal:
            pytest.skip(str(refusal))  # stated in the backend's table, which another test holds

    with ap.use_backend(backend):
        holds()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("row", [r for r in ROWS if r.special], ids=lambda row: row.name)
def test_special_values(row: Row, dtype: str, backend: str) -> None:
    if row.name in NEWER:
        pytest.skip(f"JAX before 0.12 has no {row.name}, or another one")
    with ap.use_backend(backend):
        laws.special(row, dtype)
