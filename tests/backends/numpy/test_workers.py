"""Threads share long loops: the answers are the same, bit for bit, however many there are."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

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


@pytest.fixture
def shares(monkeypatch):
    """Share every loop that can be, and count the threads that are wanted."""
    monkeypatch.setattr(sharing, "GRAIN", 0)
    monkeypatch.setattr(sharing, "PIECE", 1)
    yield lambda count: workers.want(workers.library(), count)
    workers.want(workers.library(), workers.threads())


def softmax(x):
    powers = anp.exp(x - anp.max(x, -1, keepdims=True))
    return powers / anp.sum(powers, -1, keepdims=True)


FUNCTIONS = {
    "elementwise": lambda x: anp.tanh(x) * x + 1,
    "pieces of the first lane": lambda x: anp.roll(x, 7, 0) + anp.pad(x, 1)[1:-1, 1:-1],
    "flat": lambda x: anp.sin(x).reshape(-1)[::-1],
    "rows": lambda x: (anp.sum(x * x, 1), anp.max(x, 1)),
    "columns": lambda x: (anp.sum(x * x, 0), anp.min(x, 0)),
    "few columns": lambda x: (anp.sum(x[:, :90] * 2, 0), anp.max(x[:, :90], 0), x[:, :90] + 1),
    "all": lambda x: (anp.sum(x), anp.max(x), anp.min(x), anp.prod(x / 3)),
    "all of one axis": lambda x: (anp.sum(x.reshape(-1)), anp.sum(anp.roll(x.reshape(-1), 5) * 2)),
    "a few": lambda x: anp.sum(x.reshape(-1, 3), 0),
    "stored beside": lambda x: (x * 2 + 1, anp.sum(x * 2 + 1)),
    "turns": softmax,
    "a loop": lambda x: lax.fori_loop(0, 5, lambda _i, c: c - 0.1 * anp.roll(c, 1, 1), x),
    "a convolution": lambda x: lax.conv(
        x[:300].reshape(10, 3, 100, 129), x[0, :108].reshape(4, 3, 3, 3), (1, 1), "SAME"
    ),
    "integers": lambda x: (anp.sum((x * 9).astype("int32")), anp.any(x > 3), anp.all(x > -99, 0)),
    "complex": lambda x: (anp.sum(x + 1j * x), anp.sum(x - 2j, 0)),
    "halves": lambda x: (anp.sum(x.astype("bfloat16")), anp.sum(x.astype("float16"), 1)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_count_of_threads_gives_the_same_bits(name, shares, agree):
    x = anp.asarray(np.random.default_rng(0).standard_normal((301, 1290)).astype(np.float32))
    shares(3)
    agree(FUNCTIONS[name], x, ulps=4 if "half" in name else 300)
    f = ap.jit(FUNCTIONS[name])
    answers = []
    for count in (1, 2, 5):
        shares(count)
        answers.append([np.asarray(y).tobytes() for y in ap.tree.leaves([f(x) for _ in range(4)])])
    assert answers[0] == answers[1] == answers[2]
    assert sharing.SHARE in ap.jit(FUNCTIONS[name]).lower(x).as_text("llvm")


def test_threads_that_share_at_once(shares):
    shares(3)
    f = ap.jit(lambda x: (anp.sum(x * x), x * 2))
    inputs = [anp.asarray(np.full(300_000, i, np.float32)) for i in range(6)]

    def run(x):
        return {(float(y), float(anp.max(z)), float(z[-1])) for y, z in map(f, [x] * 40)}

    with ThreadPoolExecutor(6) as pool:
        for i, found in enumerate(pool.map(run, inputs)):
            assert found == {(300_000.0 * i * i, 2 * i, 2 * i)}


def test_short_loops_are_not_shared():
    for size, long in ((100_000, False), (10_000_000, True)):
        x = np.zeros(size, np.float32)
        text = ap.jit(lambda x: anp.sin(x) * 2).lower(anp.asarray(x)).as_text("llvm")
        assert (workers.SHARE in text) == long


@pytest.mark.parametrize("stated", ["0", "-1", "two", ""])
def test_a_count_of_threads_that_is_none(stated, monkeypatch):
    monkeypatch.setenv("ARRAYPORT_NUM_THREADS", stated)
    with pytest.raises(ValueError, match="ARRAYPORT_NUM_THREADS"):
        workers.threads()


def test_the_count_of_threads_can_be_stated(monkeypatch):
    monkeypatch.setenv("ARRAYPORT_NUM_THREADS", "7")
    assert workers.threads() == 7


FORKS = """
import os, threading, warnings
import arrayport as ap, arrayport.numpy as anp
from arrayport_backends.numpy import compiler, workers
compiler.COMPILING = 0
warnings.simplefilter("ignore")  # that a process with threads forks
f = ap.jit(lambda x: anp.sum(x * 2))
x = anp.ones(8_000_000)
assert float(f(x)) == 16_000_000
threading.Thread(target=lambda: [f(x) for _ in range(10**6)], daemon=True).start()
for _ in range(5):
    child = os.fork()
    if not child:
        os._exit(0 if [float(f(x)) for _ in range(3)] == [16_000_000] * 3 else 1)
    assert os.waitpid(child, 0)[1] == 0
assert workers.SHARE in ap.jit(lambda x: anp.sum(x * 2)).lower(x).as_text("llvm")
"""  # and ends while a thread is sharing


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_children_have_workers_of_their_own_and_exits_wait_for_none():
    environment = {**os.environ, "ARRAYPORT_NUM_THREADS": "3", "ARRAYPORT_BACKEND": "numpy"}
    done = subprocess.run(
        [sys.executable, "-c", FORKS],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert (done.returncode, done.stderr) == (0, "")
