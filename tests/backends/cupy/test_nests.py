"""Nests as CUDA kernels, run on this processor: reductions of every kind, choices, programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from arrayport_backends.cupy import compiler, nests
from arrayport_backends.cupy.compiler import NotCompiledError, printed
from arrayport_backends.cupy.simulated import backend
from arrayport_backends.ndarray.executor import Routine

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax
from arrayport.core.program import inner_programs
from tests import cuda_host
from tests.backends.numpy.compositions import composed
from tests.backends.numpy.test_random_programs import agreed

needs_compiler = pytest.mark.skipif(cuda_host.COMPILER is None, reason="no g++ to stand in")

DRAW = np.random.default_rng(0)
WIDE = DRAW.standard_normal((40, 300)).astype(np.float32)
LONG = DRAW.standard_normal((3, 40_000)).astype(np.float32)
TALL = DRAW.standard_normal((3000, 50)).astype(np.float32)
CUBE = DRAW.standard_normal((20, 30, 11)).astype(np.float32)
INTS = DRAW.integers(-100, 100, (30, 70)).astype(np.int8)
AT = np.array([3, -1, 40, 7, -41])
SMALL = DRAW.integers(-9, 9, (5000, 4, 4)).astype(np.float32)
WAVES = (WIDE[:, :200] + 1j * WIDE[:, 100:]).astype(np.complex64)
X64 = LONG.astype(np.float64)

CASES: dict[str, tuple[Any, Any, Any]] = {  # a function, its operand, what it gives
    "rows": (lambda x: anp.sum(x * 2, axis=1), WIDE, (X := WIDE.astype("f8")).sum(1) * 2),
    "long rows": (lambda x: anp.sum(x, axis=1), LONG, X64.sum(1)),
    "all": (lambda x: (anp.sum(x), anp.max(x)), LONG, (X64.sum(), X64.max())),
    "columns": (lambda x: anp.sum(x, axis=0), TALL, TALL.astype("f8").sum(0)),
    "columns of a few": (lambda x: anp.max(x, axis=0), WIDE, WIDE.max(0)),
    "three numbers a row": (lambda x: anp.sum(x.T, axis=0), LONG, X64.sum(1)),
    "three minima of many": (lambda x: anp.min(x.T, axis=0), LONG, LONG.min(1)),
    "many sums of each row": (
        lambda x: (x.sum(0), (x * x).sum(0), x.max(0)),
        SMALL,
        (SMALL.sum(0), (SMALL * SMALL).sum(0), SMALL.max(0)),
    ),
    "middle": (lambda x: anp.sum(x, axis=1), CUBE, CUBE.astype("f8").sum(1)),
    "both ends": (lambda x: anp.min(x, axis=(0, 2)), CUBE, CUBE.min((0, 2))),
    "stored on the way": (lambda x: (anp.exp(x), anp.sum(anp.exp(x), axis=1)), WIDE, None),
    "softmax": (
        lambda x: ap.nn.softmax(x, axis=1),
        WIDE,
        np.exp(X) / np.exp(X).sum(1, keepdims=True),
    ),
    "nan": (lambda x: anp.max(x.at[3, 7].set(anp.nan), axis=1), WIDE, None),
    "small integers": (lambda x: lax.reduce_sum(x, (0, 1)), INTS, INTS.sum(dtype=np.int8)),
    "any": (lambda x: (anp.any(x > 98), anp.all(x < 98, axis=0)), INTS, None),
    "bits": (lambda x: lax.reduce_xor(x, (1,)), INTS, np.bitwise_xor.reduce(INTS, 1)),
    "complex": (lambda x: (anp.sum(x), anp.prod(x[:3], axis=0)), WAVES, None),
    "halves": (lambda x: anp.sum(x.astype("bfloat16"), axis=1), WIDE, None),
    "mean of squares": (lambda x: x - anp.mean(x * x), LONG, X64 - (X64 * X64).mean()),
    "transposed": (lambda x: anp.tanh(x).T + x.T, WIDE, np.tanh(X.T) + X.T),
    "broadcast": (lambda x: x[:, None, :, 0] * x[:, :, None, 1], CUBE, None),
    "one": (lambda x: x[0, 0] * 2 + 1, WIDE, X[0, 0] * 2 + 1),
    "choice": (lambda x: anp.concatenate([x * 2, x[:5] + 1, -x]), WIDE, None),
    "gathered": (lambda x: anp.take(x, AT, 0, mode="fill") * 2, WIDE, None),
    "written": (lambda x: x.at[3:20:2, ::-1].add(x[0]) * 2, WIDE, None),
    "padded": (lambda x: lax.pad(x * 2, np.float32(7), [(1, 2, 1), (-1, 3, 0)]), WIDE, None),
    "reshaped": (lambda x: (x * 2).reshape(20, 3, 200).sum(axis=1), WIDE, None),
    "counted": (lambda x: x * anp.arange(300) + anp.arange(40)[:, None], WIDE, None),
    "random": (lambda x: ap.random.uniform(ap.random.key(3), (40, 300)) + x, WIDE, None),
    "a call between": (lambda x: anp.sin(anp.cumsum(anp.exp(x) * 0.01, axis=1)), WIDE, None),
    "products": (lambda x: (x @ x.T + 1) * 2, WIDE, (X @ X.T + 1) * 2),
}


@pytest.fixture(scope="module")
def compiled() -> Iterator[dict[str, Any]]:
    """Give the executors of all cases, compiled at once."""
    with pytest.MonkeyPatch.context() as patch, ap.use_backend("cupy-sim"):
        cuda_host.switch_on(patch)
        made = {}
        for name, (function, x, _) in CASES.items():
            executor = ap.jit(function).trace(x).program.run(backend)
            executor.run = executor.compiled()
            made[name] = executor
        yield made


@needs_compiler
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, compiled: dict[str, Any]) -> None:
    function, x, want = CASES[name]
    executor = compiled[name]
    assert any(isinstance(eqn.prim, Routine) for eqn in executor.program.eqns)
    got = [y.get() for y in executor.run(backend.asarray(x))]
    if want is None:
        with ap.use_backend("numpy"):
            want = [np.asarray(y) for y in ap.tree.leaves(function(anp.asarray(x)))]
    for g, w in zip(got, want if isinstance(want, list | tuple) else [want], strict=True):
        assert g.shape == np.shape(w)
        if g.dtype.kind in "biu":
            np.testing.assert_array_equal(g, w)
            continue
        eps = float(ap.dtypes.finfo(g.dtype).eps)
        wide = np.complex128 if g.dtype.kind == "c" else np.float64
        g, w = g.astype(wide), np.asarray(w, wide)  # noqa: PLW2901 - NumPy tests no narrow floats
        scale = float(np.nanmax(np.abs(w)))
        np.testing.assert_allclose(g, w, rtol=1e-5 + eps, atol=30 * eps * scale)


def test_launches() -> None:
    with ap.use_backend("cupy-sim"):
        program = ap.jit(lambda x: anp.sum(x * 2)).trace(LONG).program
    ((nest, launches),), _, source = printed(program, backend.language)
    assert nest.stored == list(launches.stores)
    first, second = launches.calls
    assert first.grid == (1, 4)  # pieces of a few thousand elements
    assert second.grid == (1, 1)
    assert launches.scratch == [((4,), np.dtype(np.float32))]
    assert "for (i32" in str(source)
    with ap.use_backend("cupy-sim"):
        program = ap.jit(lambda x: x * 2).trace(ap.ShapeDtypeStruct((2, 1 << 30), "int8")).program
    ((_, launches),), _, source = printed(program, backend.language)
    assert launches.calls[0].grid == (nests.BLOCKS, 1)
    assert "for (i64" in str(source)


def test_views_are_left_to_the_library() -> None:
    with ap.use_backend("cupy-sim"):
        schedule = ap.jit(lambda x: (x.T @ (x[:, ::2] * 2), x[3])).lower(WIDE).as_text("schedule")
    kinds = [line.split()[0] for line in schedule.splitlines()]
    assert kinds.count("kernel") == 1
    assert "calls  slice -> float32[300]" in schedule


SEEDS = range(24)


@needs_compiler
def test_random_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda_host.switch_on(monkeypatch)
    with ap.enable_x64(), ap.use_backend("cupy-sim"), np.errstate(all="ignore"):
        found = []
        for seed in SEEDS:
            with ap.use_backend("numpy"):
                program, raws = composed(seed)
            if any(inner_programs(eqn.params) for eqn in program.eqns):
                continue
            executor = backend.compile(program)
            executor.run = executor.compiled()
            found.append((seed, program, raws, executor))
        for seed, program, raws, executor in found:
            got = [y.get() for y in executor.run(*map(backend.asarray, raws))]
            with ap.use_backend("numpy"):
                agreed(seed, program, raws, got)


def test_a_compiler_that_refuses_is_warned_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_source: str) -> Any:
        raise NotCompiledError("no NVRTC")

    monkeypatch.setattr(backend, "module", refuse)
    monkeypatch.setattr(compiler, "COMPILING", 0)
    monkeypatch.setattr(backend, "warned", False)
    with ap.use_backend("cupy-sim"):
        x = anp.asarray(WIDE)
        with pytest.warns(RuntimeWarning, match="CuPy's own functions: no NVRTC"):
            got = ap.jit(lambda x: x * 2 + 1)(x)
        np.testing.assert_array_equal(np.asarray(got), WIDE * 2 + 1)
        ap.jit(lambda x: x * 3 + 1)(x)  # no more words
