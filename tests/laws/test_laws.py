"""Every law, over every row of the catalogue, on every backend."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec

import pytest
from arrayport_conformance import laws
from arrayport_conformance.catalogue import ROWS, Row
from arrayport_conformance.catalogue.rows import Call
from hypothesis import given, settings

import arrayport as ap

ASKED = os.environ.get("ARRAYPORT_TEST_BACKENDS", "")
PRESENT = ["numpy", "cupy-sim", *(["jax"] if find_spec("jax") else [])]
BACKENDS = [name.strip() for name in ASKED.split(",")] if ASKED else PRESENT

OF_ALL = (laws.value, laws.jit, laws.vmap, laws.inputs, laws.abstract)
OF_SMOOTH = (laws.forward, laws.reverse, laws.second, laws.gradients)
# JAX compiles for every shape and dtype, and its transformations are its own: fewer examples do.
SHARE = {"numpy": 1.0, "cupy-sim": 0.5, "jax": 0.3}


def _applies(law: Callable[[Row, Call], None], row: Row) -> bool:
    if law is laws.vmap:
        return not row.not_batchable
    if law is laws.jit:
        return not row.not_batchable
    if law in OF_SMOOTH and (row.not_differentiable or (row.forward_only and law != laws.forward)):
        return False
    return not (law is laws.second and row.order < 2)


CASES = [
    pytest.param(law, row, backend, id=f"{law.__name__}-{row.name}-{backend}")
    for row in ROWS
    for law in (*OF_ALL, *OF_SMOOTH)
    for backend in BACKENDS
    if _applies(law, row)
]


@pytest.mark.parametrize(("law", "row", "backend"), CASES)
def test_law(law: Callable[[Row, Call], None], row: Row, backend: str) -> None:
    examples = max(1, int(settings.default.max_examples * SHARE.get(backend, 1)))

    @settings(max_examples=examples)
    @given(row.calls)
    def holds(call: Call) -> None:
        law(row, call)

    with ap.use_backend(backend):
        holds()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("row", [r for r in ROWS if r.special], ids=lambda row: row.name)
def test_special_values(row: Row, dtype: str, backend: str) -> None:
    with ap.use_backend(backend):
        laws.special(row, dtype)
