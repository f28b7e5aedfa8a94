"""Threads of Python that compile, call and forget programs at once.

ARRAYPORT_TEST_SECONDS says how long they do.
"""

from __future__ import annotations

import gc
import os
import random
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from arrayport_backends.numpy import llvm, workers
from arrayport_backends.numpy.codegen import sharing

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax

pytestmark = [
    pytest.mark.skipif(not llvm.available(), reason="there is nothing to test without LLVM"),
    pytest.mark.usefixtures("at_once"),
]

SECONDS = float(os.environ.get("ARRAYPORT_TEST_SECONDS", "3"))
THREADS = 8
GROWTH = 24 << 20  # bytes; what a program takes that is not forgotten would be more in a minute


def resident() -> int:
    """Give the bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


SHARED = ap.jit(lambda x: (anp.sum(x * x), anp.tanh(x), anp.roll(x, 1)))


def known(r: random.Random, x: np.ndarray) -> None:
    """Call what other threads call as well."""
    total, curve, rolled = SHARED(anp.asarray(x))
    np.testing.assert_allclose(float(total), np.sum(x.astype(np.float64) ** 2), rtol=1e-5)
    np.testing.assert_allclose(np.asarray(curve), np.tanh(x), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(np.asarray(rolled), np.roll(x, 1))
    del r


def made(r: random.Random, x: np.ndarray) -> None:
    """Compile a program that nobody else has, with its loop, and call it a few times."""
    factor, count = np.float32(r.random()), r.randint(1, 5)

    def f(x):
        y = lax.fori_loop(0, count, lambda i, c: c.at[i].add(factor), x * factor)
        return y, anp.max(y)

    g, want = ap.jit(f), x * factor
    want[:count] += factor
    for _ in range(3):
        y, most = g(anp.asarray(x))
        np.testing.assert_allclose(np.asarray(y), want, rtol=1e-6)
        assert float(most) == np.asarray(y).max()


def differentiated(r: random.Random, x: np.ndarray) -> None:
    """Compile a gradient."""
    factor = np.float32(r.random())
    g = ap.jit(ap.grad(lambda x: anp.sum(anp.sin(x * factor))))
    np.testing.assert_allclose(np.asarray(g(anp.asarray(x))), factor * np.cos(x * factor), 1e-5)


def work(seed: int, until: float) -> int:
    """Do one after the other."""
    r, count = random.Random(seed), 0  # noqa: S311 - no secrets
    while time.monotonic() < until:
        size = r.choice([10, 1000, 100_000])
        x = np.random.default_rng(r.randrange(1 << 30)).uniform(-1, 1, size).astype(np.float32)
        with ap.use_backend("numpy"):
            r.choice([known, known, made, differentiated])(r, x)
        count += 1
    return count


def test_threads_that_call_and_compile(monkeypatch):
    monkeypatch.setattr(sharing, "GRAIN", 20_000)
    workers.want(workers.library(), 3)
    with ThreadPoolExecutor(THREADS) as pool:
        sizes = []
        for part in (SECONDS / 3, SECONDS * 2 / 3):
            until = time.monotonic() + part
            assert all(pool.map(work, range(THREADS), [until] * THREADS))
            gc.collect()
            sizes.append(resident())
    workers.want(workers.library(), workers.threads())
    assert sizes[1] - sizes[0] < GROWTH
