"""Streams: large answers written past the cache, whatever memory they go to."""

from __future__ import annotations

import numpy as np
import pytest
from arrayport_backends.numpy import llvm, pool
from arrayport_backends.numpy.codegen import segments

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core.backend import get
from arrayport.core.program import eval_program

pytestmark = [
    pytest.mark.skipif(not llvm.available(), reason="there is nothing to test without LLVM"),
    pytest.mark.usefixtures("at_once"),
]


def rows(x):
    centred = x - anp.max(x, -1, keepdims=True)
    return centred * anp.sum(centred, -1, keepdims=True), anp.sum(x, -1)


def plain(x):
    return anp.maximum(x + 1, 0) * x, x.T * 2, x > 0


def read_again(x):
    y = x * 2
    return y, anp.sum(y, 0), y[::-1]


@pytest.mark.parametrize("shape", [(37, 129), (5, 16), (3, 1), (9000,)])
@pytest.mark.parametrize("function", [rows, plain, read_again])
def test_any_memory_is_written_wholly_and_nothing_beside_it(monkeypatch, function, shape):
    monkeypatch.setattr(segments, "STREAMED", 1)
    x = anp.asarray(np.random.default_rng(0).standard_normal(shape).astype(np.float32))
    program = ap.jit(function).trace(x).program
    wanted = [np.asarray(y) for y in eval_program(program, [x])]
    executor = get("numpy").compile(program)
    executor.run(x.raw)
    (eqn,) = executor.program.eqns
    places = [next(k for k, out in enumerate(program.outs) if out is v) for v in eqn.outs]
    own = eqn.prim.run.__self__
    scratch = [np.empty(*like) for like in own.stored[len(places) :]]
    for start in (0, 4, 60, 64, 124):
        guarded = [aligned(wanted[k].nbytes + 256) for k in places]
        answers = [
            g[start : start + wanted[k].nbytes] for g, k in zip(guarded, places, strict=True)
        ]
        own.call([a.ctypes.data for a in (x.raw, *answers, *scratch)])
        for g, a, k in zip(guarded, answers, places, strict=True):
            got = a.view(wanted[k].dtype).reshape(wanted[k].shape)
            np.testing.assert_allclose(got, wanted[k], 1e-5, 1e-4)
            assert (g[:start] == 0xA5).all()
            assert (g[start + a.nbytes :] == 0xA5).all()


def aligned(size):
    memory = np.full(size + 64, 0xA5, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size]


def test_what_is_streamed_is_there_when_the_call_returns():
    x = anp.asarray(np.arange(3 << 20, dtype=np.float32))
    f = ap.jit(lambda x: x * 2 + 1)
    for _ in range(3):
        y = f(x)
        assert y.raw.ctypes.data % pool.LINE == 0
        np.testing.assert_array_equal(np.asarray(y), np.asarray(x) * 2 + 1)
