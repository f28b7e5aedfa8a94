"""Memory: of large answers, used again when nobody can see it; of rows; of machine code."""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from arrayport_backends.numpy import llvm, pool

import arrayport as ap
import arrayport.numpy as anp

pytestmark = [
    pytest.mark.skipif(not llvm.available(), reason="there is nothing to test without LLVM"),
    pytest.mark.usefixtures("at_once"),
]


@pytest.fixture(autouse=True)
def empty_pool(monkeypatch):
    """Begin with no memory kept."""
    monkeypatch.setattr(pool, "_buffers", {})


def test_memory_that_somebody_sees_is_not_used_again():
    f = ap.jit(lambda x: x * 2 + 1)
    x = anp.asarray(np.arange(200_000, dtype=np.float32))
    first = f(x)
    part = np.asarray(first)[5:9]  # keeps the memory alive
    kept = memoryview(np.asarray(f(x + 1))[:2])
    del first
    others = [np.asarray(f(x * i)) for i in range(5)]
    np.testing.assert_array_equal(part, [11, 13, 15, 17])
    assert list(kept) == [3, 5]
    for i, other in enumerate(others):
        np.testing.assert_array_equal(other[:3], [1, 2 * i + 1, 4 * i + 1])
    assert len({o.ctypes.data for o in others}) == 5


def test_memory_that_nobody_sees_is_used_again():
    f = ap.jit(lambda x: x * 2 + 1)
    x = anp.asarray(np.arange(200_000, dtype=np.float32))
    places = set()
    for _ in range(6):
        y = f(x)
        places.add(np.asarray(y).ctypes.data)
        del y
        gc.collect()
    assert len(places) == 1
    assert [len(known) for known in pool._buffers.values()] == [1]


def drawn(*shape):
    return anp.asarray(np.random.default_rng(len(shape)).random(shape, np.float32))


def adam(x, m, v, g):
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    return x - 0.1 * m / (anp.sqrt(v) + 1e-3), m, v, anp.sum(x * x)


OVERWRITING = {
    "elementwise": (lambda x, g: 0.9 * x + g, (0,)),
    "a few": (lambda x, _: x.at[5:9].set(2), (0,)),
    "one": (lambda x, i: x.at[i.astype(int)[7]].add(3), (0,)),
    "beside a sum": (lambda x, g: (x * g, anp.sum(x), anp.max(x * 2)), (0,)),
    "after a product": (
        lambda x, g: x - 0.1 * (x.reshape(400, -1) @ g[:500])[:, None].repeat(500, 1).reshape(-1),
        (0,),
    ),
}


@pytest.mark.parametrize("name", OVERWRITING)
def test_what_is_donated_is_overwritten(name):
    function, donated = OVERWRITING[name]
    x, g = drawn(200_000), drawn(200_000)
    expected = ap.tree.leaves(ap.jit(function)(x, g))
    step, place = ap.jit(function, donate_argnums=donated), np.asarray(x).ctypes.data
    found = ap.tree.leaves(step(x, g))
    assert np.asarray(found[0]).ctypes.data == place
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
    with pytest.raises(RuntimeError, match="donated"):
        x + 1
    assert not g.is_deleted()


def test_the_states_of_an_optimiser_take_no_new_memory():
    state, g = [drawn(300_000) * k for k in (1, 2, 3)], drawn(300_000)
    expected = [np.array(a) for a in ap.jit(adam)(*state, g)]
    step = ap.jit(adam, donate_argnums=(0, 1, 2))
    places = {np.asarray(a).ctypes.data for a in state}
    *state, _ = found = step(*state, g)
    assert {np.asarray(a).ctypes.data for a in state} == places
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(one), other, 1e-6)
    pool._buffers.clear()
    tracemalloc.start()
    for _ in range(3):
        *state, _ = step(*state, g)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * g.nbytes


def test_what_others_see_is_not_overwritten():
    function = ap.jit(lambda x, y: x * 2 + y, donate_argnums=0)
    for look in (
        np.asarray,
        lambda x: np.asarray(x)[3:5],
        lambda x: memoryview(np.asarray(x)),
        lambda x: x.reshape(400, 500),
    ):
        x, y = drawn(200_000), drawn(200_000)
        for given in (x, ap.jit(lambda x: x + 1)(x)):
            seen = look(given)
            before = np.array(seen)
            function(given, y)
            np.testing.assert_array_equal(np.asarray(seen), before)
            assert given.is_deleted()
    x = drawn(200_000)
    with pytest.raises(RuntimeError, match="deleted"):
        function(function(x, x), x)


def test_what_is_read_elsewhere_is_not_overwritten():
    def across(x):
        return x[::-1] * 2 + x, x / anp.sum(x)

    x = drawn(200_000)
    before = np.array(x)
    found = ap.jit(across, donate_argnums=0)(x)
    np.testing.assert_allclose(np.asarray(found[0]), before[::-1] * 2 + before, 1e-6)
    np.testing.assert_allclose(np.asarray(found[1]), before / before.sum(), 1e-5)


def test_the_pool_is_bounded(monkeypatch):
    monkeypatch.setattr(pool, "KEPT", 3 << 20)
    made = [pool.empty((1 << 18,), np.dtype(np.float32)) for _ in range(10)]
    assert held() <= 3 << 20
    assert pool.empty((1 << 22,), np.dtype(np.uint8)).flags.owndata
    for i, x in enumerate(made):
        x[...] = i
    assert [int(x[-1]) for x in made] == list(range(10))
    for kilobytes in range(256, 700, 7):  # sizes that are not asked for again go first
        pool.empty((kilobytes << 10,), np.dtype(np.uint8))
        assert held() <= 3 << 20
    assert 0 < len(pool._buffers) < 12


def held():
    return sum(b.nbytes for known in pool._buffers.values() for b in known)


def test_memory_is_found_among_much_that_is_seen(monkeypatch):
    monkeypatch.setattr(pool, "TRIES", 4)
    kept = [pool.empty((1 << 18,), np.dtype(np.uint8)) for _ in range(30)]
    free = kept.pop(11).ctypes.data
    assert free in {pool.empty((1 << 18,), np.dtype(np.uint8)).ctypes.data for _ in range(9)}
    again = {x.ctypes.data for x in kept}
    assert len(again) == 29
    assert free not in again


def test_values_that_are_dead_take_no_memory():
    def f(x):
        for _ in range(6):
            x = anp.cumsum(x * 2 + 1) * 1e-6 + anp.sum(x)
        return x

    x = anp.asarray(np.ones(1_000_000, np.float32))
    g = ap.jit(f)
    g(x)
    pool._buffers.clear()
    tracemalloc.start()
    y = g(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert y.shape == x.shape
    assert peak < 3.2 * x.nbytes  # what a step reads, what it makes, and the sum's own


def test_threads_share_the_pool():
    f = ap.jit(lambda x: x * 2)
    inputs = [anp.asarray(np.full(100_000, i, np.float32)) for i in range(8)]

    def run(x):
        return all(bool((np.asarray(f(x)) == 2 * np.asarray(x)).all()) for _ in range(40))

    with ThreadPoolExecutor(8) as workers:
        assert all(workers.map(run, inputs))


def test_rows_take_turns(agree):
    def softmax(x):
        powers = x * x + 1 - anp.max(x, -1, keepdims=True)
        return powers * anp.sum(powers, -1, keepdims=True)

    def twice(x):
        centred = x - anp.sum(x, -1, keepdims=True) * 0.001
        scale = anp.sqrt(anp.sum(centred * centred, -1, keepdims=True))
        return centred * scale, scale[:, 0], anp.max(centred)

    def across(x):
        y = x * x * x * x * x * x * x
        return y + anp.sum(y, 0), y[::-1] * 2, y + anp.sum(y, 1)[:, None]

    x = anp.asarray(np.random.default_rng(0).standard_normal((301, 257)).astype(np.float32))
    for f in (softmax, twice, across):
        agree(f, x)
        agree(lambda x, f=f: f(x.reshape(301, 257)), x.reshape(-1))
    agree(ap.grad(lambda x: anp.sum(softmax(x) * x)), x, ulps=2000, whole=False)


def test_reductions_whose_answers_are_short(agree):
    x = anp.asarray(np.arange(96, dtype=np.float32).reshape(4, 3, 8))
    agree(
        lambda x: (
            anp.sum(x, 2),
            anp.max(x, 2) + x[:, :, 0],
            anp.sum(x * anp.sum(x, 2)[..., None], 0),
        ),
        x,
    )


APART = """
import mmap
from ctypes import CDLL, c_int, c_long, c_size_t, c_void_p

import arrayport as ap
import arrayport.numpy as anp
from arrayport_backends.numpy import compiler

compiler.COMPILING = 0
libc = CDLL(None)
libc.mmap.restype = c_void_p
libc.mmap.argtypes = [c_void_p, c_size_t, c_int, c_int, c_int, c_long]
libc.munmap.argtypes = [c_void_p, c_size_t]


def reserved(size):
    return libc.mmap(None, size, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, -1, 0)


def answer(k):
    x = anp.linspace(0.1, 1, 1000)
    return float(ap.jit(lambda x: anp.sin(x * k) * anp.exp(x) + anp.cos(x + k).sum())(x)[0])


with ap.use_backend("numpy"):
    answer(0)  # what it imports is there before memory is filled
    far = [reserved(3 << 30) for _ in range(100)]
    for _ in range(100_000):  # what lies between
        reserved(mmap.PAGESIZE)
    for i, start in enumerate(far):  # where more is free, it is 3 GB away
        libc.munmap(start + (1 << 30), mmap.PAGESIZE * (1 + i % 25))
    print(answer(1))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="it fills memory by Linux' calls")
def test_sections_stand_together_wherever_memory_is_free():
    run = subprocess.run([sys.executable, "-c", APART], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    x = np.linspace(0.1, 1, 1000)
    expected = np.sin(0.1) * np.exp(0.1) + np.cos(x + 1).sum()
    assert float(run.stdout) == pytest.approx(expected, rel=1e-5)
