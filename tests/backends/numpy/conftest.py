"""Programs of these tests are compiled at their first run."""

from __future__ import annotations

import numpy as np
import pytest
from arrayport_backends.ndarray.executor import Routine
from arrayport_backends.numpy import compiler, objects

import arrayport as ap
from arrayport.core import dtypes
from arrayport.core.backend import get
from arrayport.core.program import eval_program


@pytest.fixture
def at_once(monkeypatch):
    """Compile at the first run, and what another test compiled again."""
    monkeypatch.setattr(objects, "_recent", {})
    monkeypatch.setattr(compiler, "COMPILING", 0)
    with ap.use_backend("numpy"):
        yield


@pytest.fixture
def both(at_once):  # noqa: ARG001 - it compiles under it
    """Give what runs a function compiled, wholly or in part, and by its Program's interpreter."""

    def run(function, *args, whole=True):
        program = ap.jit(function).trace(*args).program
        executor = get("numpy").compile(program)
        got = executor.run(*[a.raw for a in args])
        kinds = [isinstance(e.prim, Routine) for e in executor.program.eqns]
        assert all(kinds) if whole else any(kinds)
        return got, [np.asarray(x) for x in eval_program(program, args)]

    return run


@pytest.fixture
def agree(both):
    """Give what checks that a function compiled gives what its Program's interpreter gives."""

    def check(function, *args, ulps=200, whole=True):
        got, want = both(function, *args, whole=whole)
        assert [(g.shape, g.dtype) for g in got] == [(w.shape, w.dtype) for w in want]
        close(got, want, ulps)
        return got, want

    return check


def close(got, want, ulps):
    """Compare within some units of the last place of the largest value."""
    for g, w in zip(got, want, strict=True):
        kind = dtypes.kind(g.dtype)
        if kind in "biu":
            np.testing.assert_array_equal(g, w)
            continue
        bound = ulps * float(dtypes.finfo(g.dtype).eps)
        wide = np.complex128 if kind == "c" else np.float64
        g, w = g.astype(wide), w.astype(wide)  # noqa: PLW2901 - NumPy tests no narrow floats
        scale = float(np.max(np.abs(w), initial=1, where=np.isfinite(w)))
        np.testing.assert_allclose(g, w, rtol=bound, atol=bound * scale)
