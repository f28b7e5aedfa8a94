"""Typed keys in machine code: the draws, moves and loops of them that their interpreter gives."""

from __future__ import annotations

from functools import partial

import jax
import numpy as np
import pytest
from arrayport_backends.numpy import llvm

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax, random

pytestmark = pytest.mark.skipif(not llvm.available(), reason="there is nothing to test without it")

KEY = random.key(3)
KEYS = random.split(random.key(4), (3, 4))
WORDS = np.asarray(random.key_data(KEYS))


@pytest.fixture
def same(both):
    """Give what checks that a function compiles, and gives its interpreter's very bits."""

    def check(function, *args, whole=True):
        got, want = both(function, *args, whole=whole)
        for mine, theirs in zip(got, want, strict=True):
            assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
            assert mine.tobytes() == theirs.tobytes()
        return got

    return check


def at(*index):
    """Give indices that are data."""
    return anp.asarray(np.array(index, np.int32))


def moves(k):
    """Give keys that were moved, in all ways that there are."""
    return [
        k.T,
        k.reshape(2, 6),
        k[1],
        k[:, ::-2],
        anp.concatenate([k, k[:1]]),
        anp.stack([k[0], k[2]], axis=1),
        anp.broadcast_to(k[:, :1], (3, 5)),
        anp.where(anp.arange(4) % 2 == 0, k, k[0, 0]),
        lax.select(anp.arange(12).reshape(3, 4) > 5, k, k[::-1]),
        k[at(2, 0, 2)],
        k.at[at(1, 1), at(2, 3)].set(k[0, :2]),
        k.at[1:, 0].set(KEY),
        anp.take(k, at(1, 9), axis=0),
        lax.dynamic_slice(k, (1, 2), (2, 2)),
        lax.dynamic_update_slice(k, k[:2, :2], (1, 1)),
        k == k[0],
        k != KEY,
        random.clone(k),
        lax.stop_gradient(random.wrap_key_data(random.key_data(k)[:, :, ::-1])),
        anp.squeeze(anp.expand_dims(k, 1), 1),
        anp.roll(k, 1, axis=0),
    ]


def test_keys_move(same):
    same(moves, KEYS)
    same(moves, anp.asarray(KEYS)[::-1])


@pytest.mark.parametrize("index", [-1, 0, 2, 5])
def test_traced_indices(same, index):
    same(lambda k, i: (k[i], k[:, i], k.at[i].set(k[0])), KEYS, anp.asarray(np.int32(index)))


DRAWS = {
    "split": random.split,
    "split to a shape": lambda k: random.split(k, (2, 3)),
    "fold_in": lambda k: random.fold_in(k, 7),
    "bits": random.bits,
    "bits of 8": lambda k: random.bits(k, (3,), "uint8"),
    "uniform": random.uniform,
    "normal": random.normal,
    "bernoulli": random.bernoulli,
    "permutation": lambda k: random.permutation(k, 5),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_draws_are_those_of_raw_keys(at_once, draw):  # noqa: ARG001
    run = ap.jit(ap.vmap(draw))
    one, other = run(KEYS[0]), run(random.key_data(KEYS[0]))
    if one.dtype == KEY.dtype:
        one = random.key_data(one)
    assert one.tolist() == other.tolist()


def test_scans_carry_take_and_give_keys(same):
    def f(key, keys):
        def step(key, k):
            key, own = random.split(key)
            return key, (own, random.fold_in(k[1], 5), random.bits(own), k)

        return lax.scan(step, key, keys)

    got = same(f, KEY, KEYS)

    def theirs(words):
        def step(key, k):
            key, _ = jax.random.split(key)
            return key, jax.random.fold_in(k[1], 5)

        last, ys = jax.lax.scan(step, jax.random.key(3), jax.random.wrap_key_data(words))
        return jax.random.key_data(last), jax.random.key_data(ys)

    last, ys = theirs(WORDS)
    assert got[0]["threefry2x32"].tolist() == last.tolist()
    assert got[2]["threefry2x32"].tolist() == ys.tolist()


def loop(key):
    """Draw until a number is large; give the key, the count and the number."""

    def step(state):
        key, n, _ = state
        key, own = random.split(key)
        return key, n + 1, random.uniform(own)

    return lax.while_loop(lambda s: s[2] < 0.7, step, (key, 0, 0.0))


def test_while_loops_carry_keys(same):
    same(loop, KEY)
    same(ap.vmap(ap.vmap(loop)), KEYS)


@pytest.mark.parametrize("index", [0, 1, 2])
def test_branches_give_keys(same, index):
    branches = [lambda k: k[0], lambda k: random.fold_in(k[1], 3), lambda _k: random.key(9)]
    i = anp.asarray(np.int32(index))
    same(lambda i, k: lax.switch(i, branches, k), i, KEYS[0])
    same(ap.vmap(lambda i, k: lax.switch(i, branches, k), (0, None)), at(0, 2, 1), KEYS[0])


def test_large_carries_take_turns(same):
    keys = random.split(KEY, 700)

    def f(keys):
        def step(keys, i):
            return keys[::-1].at[i].set(keys[0]), keys[i]

        return lax.scan(step, keys, anp.arange(3))

    same(f, keys)


def test_derivatives_of_loops_that_draw(at_once):  # noqa: ARG001
    def f(draws, x, key):
        def step(state, _):
            x, key = state
            key, own = draws.split(key)
            return (x * (1 + draws.uniform(own)), key), None

        return (lax if draws is random else jax.lax).scan(step, (x, key), None, length=3)[0][0]

    mine = ap.jit(ap.grad(partial(f, random)))(2.0, KEY)
    theirs = jax.jit(jax.grad(partial(f, jax.random)))(2.0, jax.random.key(3))
    assert np.isclose(float(mine), float(theirs), rtol=1e-6)
    kept = ap.jit(ap.grad(ap.checkpoint(partial(f, random))))(2.0, KEY)
    assert np.isclose(float(kept), float(mine), rtol=1e-6)


def test_no_keys(at_once):  # noqa: ARG001
    none = KEYS[:0, 0]
    assert ap.jit(ap.vmap(random.uniform))(none).shape == (0,)
    assert ap.jit(lambda k: anp.concatenate([k, KEYS[0]]))(none).shape == (4,)
    last, ys = ap.jit(lambda k: lax.scan(lambda c, k: (c, random.fold_in(k, c)), 1, k))(none)
    assert (int(last), ys.shape, ys.dtype) == (1, (0,), KEY.dtype)


def test_constants(same):
    one = anp.zeros((), np.int32)
    same(lambda i: (KEYS[i], anp.where(i == 0, KEY, KEYS[0, 0]), KEY), one)
    same(lambda i: random.bits(random.fold_in(KEY, i)), one)


@pytest.mark.parametrize("start", [0, 4])
def test_keys_at_any_word(at_once, start):  # noqa: ARG001
    memory = np.zeros(16 + start, np.uint8)[start:]
    memory[:] = np.frombuffer(WORDS.tobytes()[:16], np.uint8)
    keys = ap.core.array.Array(memory.view(ap.core.dtypes.key), False)
    assert random.key_data(ap.jit(lambda k: k[::-1])(keys)).tolist() == WORDS[0, 1::-1].tolist()


@pytest.mark.parametrize(
    ("old", "others", "wide"),
    [
        ("uint8", ["int8"], "float64"),
        ("int32", ["int8", "uint16", "float32"], "uint64"),
        ("float32", ["uint8", "int32"], "int64"),
        ("float64", ["uint16", "float32", "int64"], "float64"),
    ],
)
def test_bits_read_as_another_dtype(agree, old, others, wide):
    with ap.enable_x64(True):
        x = anp.asarray(np.random.default_rng(0).integers(0, 99, (5, 8)).astype(old))
        parts = np.dtype(wide).itemsize // x.dtype.itemsize

        def f(x):
            whole = x[:, :parts] if parts > 1 else x
            return [lax.bitcast_convert_type(x, d) for d in others], lax.bitcast_convert_type(
                whole, wide
            )

        agree(f, x, ulps=0)


def test_bits_of_halves_stay_with_the_library(at_once):  # noqa: ARG001
    x = anp.asarray(np.array([1.5, -2.0], np.float16))
    bits = ap.jit(lambda x: lax.bitcast_convert_type(x * 2, "uint16"))(x)
    assert bits.tolist() == [0x4200, 0xC400]


def test_a_schedule_names_keys(at_once):  # noqa: ARG001
    text = ap.jit(random.split).lower(KEY).as_text("schedule")
    assert "random_wrap -> key<fry>[2]" in text
    assert "calls" not in text
