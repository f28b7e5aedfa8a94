"""Without LLVM, elementwise operations on large arrays go part by part, to the same answers."""

from __future__ import annotations

import numpy as np
import pytest
from arrayport_backends.ndarray.executor import Routine
from arrayport_backends.numpy import blocks, llvm

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax
from arrayport.core.backend import get
from arrayport.core.program import eval_program
from arrayport.testing.agreement import Ulps, compare


@pytest.fixture(autouse=True)
def without(monkeypatch):
    """Hide LLVM."""
    monkeypatch.setattr(llvm, "available", lambda: False)
    monkeypatch.setattr(llvm, "installed", lambda: False)
    monkeypatch.setattr(blocks, "BLOCK", 64)
    monkeypatch.setattr(blocks, "WORTH", 256)
    with ap.use_backend("numpy"):
        yield


FUNCTIONS = {
    "chain": lambda x: 0.99 * x + 0.01 * anp.tanh(x) * anp.exp(-x),
    "several answers": lambda x: (x * 2 + 1, anp.sin(x) > 0, x, anp.sum(x * 2 + 1)),
    "scalars that are computed": lambda x: (x - anp.mean(x)) / anp.std(x) + x[3, 4],
    "around calls": lambda x: anp.cumsum(x * 2 - 1, 1) * 3 + anp.sort(x + 1, 0) - 2,
    "choices": lambda x: anp.where(x > 0, anp.sqrt(abs(x)), anp.clip(x, -1, 1)).astype("int32") + 1,
    "halves": lambda x: x.astype("bfloat16") * 3 + x.astype("bfloat16") / 7,
    "complex": lambda x: abs((x + 1j * x) * (2 - 1j)).astype("float32") + 1,
    "transposed": lambda x: (x.T * 2 + 1) * x.T,
    "loop": lambda x: lax.fori_loop(0, 3, lambda _i, c: anp.sin(c) * 2 + 1, x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parts_give_the_same(name):
    x = anp.asarray(np.random.default_rng(0).standard_normal((37, 53)).astype(np.float32))
    program = ap.jit(FUNCTIONS[name]).trace(x).program
    executor = get("numpy").compile(program)
    for _ in range(23):  # what runs a part changes to generated source after 20 parts
        got = executor.run(x.raw)
    for g, w in zip(got, eval_program(program, [x]), strict=True):
        found = compare(g, np.asarray(w), Ulps(2))
        assert found.agrees, str(found)
    blocked = [e for e in executor.program.eqns if isinstance(e.prim, Routine)]
    assert len(blocked) >= (0 if name == "loop" else 1)


def test_only_what_is_read_is_stored():
    x = anp.ones(1000)
    executor = get("numpy").compile(ap.jit(lambda x: anp.sum(x * 2 + 1) + x * 3).trace(x).program)
    executor.run(x.raw)
    stored = [len(e.outs) for e in executor.program.eqns if isinstance(e.prim, Routine)]
    assert stored == [1, 1]  # before the sum and after it


def test_small_arrays_go_whole():
    x = anp.ones(255)
    executor = get("numpy").compile(ap.jit(lambda x: x * 2 + 1).trace(x).program)
    for _ in range(30):
        np.testing.assert_array_equal(executor.run(x.raw)[0], np.full(255, 3))
    assert not any(isinstance(e.prim, Routine) for e in executor.program.eqns)
