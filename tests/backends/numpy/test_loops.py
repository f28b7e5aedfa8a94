"""Loops and branches as machine code give what their interpreter gives."""

from __future__ import annotations

import numpy as np
import pytest
from arrayport_backends.numpy import llvm

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax
from arrayport.ad_checkpoint import checkpoint_name

pytestmark = pytest.mark.skipif(not llvm.available(), reason="there is nothing to test without it")

SHORT = anp.asarray(np.array([0.3, -0.7], np.float32))
LONG = anp.asarray(np.linspace(-1, 1, 300, dtype=np.float32))
ROWS = anp.asarray(np.linspace(-1, 1, 1200, dtype=np.float32).reshape(4, 300))


@pytest.mark.parametrize("x", [SHORT, LONG], ids=["short", "long"])
@pytest.mark.parametrize("length", [0, 1, 4, 7])
@pytest.mark.parametrize("reverse", [False, True])
def test_scan(agree, x, length, reverse):
    xs = anp.asarray(np.random.default_rng(0).standard_normal((length, *x.shape)).astype("f4"))

    def f(x, xs):
        def step(carry, a):
            position, speed, fixed, count = carry
            new = position + speed * 0.1 + fixed
            return (new, speed - anp.roll(new, 1) * a, fixed, count + 1), (position, new[0], count)

        return lax.scan(step, (x, x * 2, x, 0), xs, reverse=reverse)

    agree(f, x, xs, whole=length > 0)


def test_a_name_is_nothing_to_compute(agree):
    def f(x):
        step = lambda c, _: (checkpoint_name(anp.sin(c), "kept") * 1.5, None)
        return lax.scan(step, x, None, length=5)[0]

    agree(f, SHORT)


@pytest.mark.parametrize("x", [SHORT, LONG], ids=["short", "long"])
@pytest.mark.parametrize("limit", [-1.0, 0.5, 5.0, 6.0])
def test_while(agree, x, limit):
    def f(x, limit):
        def step(carry):
            i, y, _, fixed = carry
            return i + 1, y + anp.abs(x) * 0.3 + 0.5, y, fixed

        return lax.while_loop(lambda c: anp.max(c[1]) < limit, step, (0, x, x, x * 2))

    agree(f, x, anp.asarray(np.float32(limit)))


def test_carries_that_change_places(agree):
    def f(x):
        return lax.fori_loop(0, 5, lambda _i, c: (c[1], c[0] + c[2], c[1]), (x, x * 2, x * 3))

    agree(f, LONG)
    agree(f, SHORT)


def test_a_carry_that_becomes_a_constant(agree):
    agree(lambda x: lax.fori_loop(0, 3, lambda _i, c: (x, c[0] + 1), (x * 2, x * 3)), LONG)


@pytest.mark.parametrize("index", [-3, 0, 1, 2, 9])
def test_branches(agree, index):
    branches = [lambda x: x * 2, lambda x: x[::-1] + 1, lambda x: x - anp.max(x)]
    agree(lambda i, x: lax.switch(i, branches, x), anp.asarray(np.int32(index)), LONG)


def test_loops_in_branches_in_loops(agree):
    def f(x):
        def step(c, a):
            inner = lax.fori_loop(0, 3, lambda i, y: y * 0.5 + i, c)
            return lax.cond(anp.sum(a) > 0, lambda: inner + a, lambda: c - inner), anp.max(inner)

        return lax.scan(step, x, ROWS)

    agree(f, LONG)


def test_reads_and_writes_at_the_counter(agree):
    def f(x):
        def step(i, c):
            return c.at[i].set(c[i] * x[1 - i] + 1)

        return lax.fori_loop(0, 2, step, x)

    agree(f, SHORT)
    agree(
        lambda x: lax.scan(
            lambda c, i: (c + x[i], x[i:][0] if False else x[i] * c), 0.0, anp.arange(300)
        ),
        LONG,
    )


def test_batched_loops(agree):
    def one(x):
        return lax.while_loop(lambda c: c[0] < x[0] * 9, lambda c: (c[0] + 1, c[1] * x), (0.0, x))

    agree(ap.vmap(one), ROWS.T[:40, :2])
    agree(ap.vmap(lambda x: lax.fori_loop(0, 4, lambda _i, y: y * x + 1, x), 1, 1), ROWS)


def test_gradients_of_loops(agree):
    def f(x):
        def step(state, a):
            p, v = state
            return (p + 0.1 * v, v - 0.1 * p * p * a), p

        (p, v), ps = lax.scan(step, (x[0], x[1]), anp.arange(20.0))
        return p * v + anp.sum(ps)

    agree(ap.value_and_grad(f), SHORT)
    agree(
        ap.grad(lambda x: anp.sum(lax.fori_loop(0, 5, lambda _i, y: anp.roll(y, 1) * x, x))), LONG
    )
    agree(ap.hessian(f), SHORT)


def test_the_contents_of_constants_in_bodies(agree):
    table = anp.asarray(np.arange(12, dtype=np.float32).reshape(4, 3))
    agree(lambda x: lax.fori_loop(0, 4, lambda i, c: c + anp.sum(table, 0) * i, x), anp.zeros(3))


def test_a_body_with_a_library_call_stays_a_call(agree):
    square = anp.asarray(np.eye(4, dtype=np.float32) * 0.5)
    got, _ = agree(
        lambda x: lax.fori_loop(0, 3, lambda _i, c: square @ c, x) + 1, anp.ones(4), whole=False
    )
    np.testing.assert_allclose(got[0], 1.125)


def test_a_carry_is_written_in_place_or_copied(agree):
    def alone(x):
        return lax.fori_loop(0, 300, lambda i, c: c.at[i].set(c[i] * 2 + c[299 - i]), x)

    def read_afterwards(x):
        def step(i, c):
            new = c.at[i].set(c[299 - i] + 1)
            return new.at[i + 1].add(anp.sum(c)) * 0.5

        return lax.fori_loop(0, 7, step, x)

    def two(x):
        def step(i, c):
            a, b = c
            return a.at[i].set(b[i]), b.at[2 * i].multiply(a[i + 1])

        return lax.fori_loop(0, 9, step, (x, x + 1))

    def handed_on(x):
        return lax.scan(lambda c, i: (c.at[i].set(1.0), c), x, anp.arange(3))

    for f in (alone, read_afterwards, two, handed_on):
        agree(f, LONG)


WRITING = {
    "set": lambda x, i, v: x.at[i].set(v),
    "add": lambda x, i, v: x.at[i].add(v),
    "multiply": lambda x, i, v: x.at[i].multiply(v),
    "minimum": lambda x, i, v: x.at[i].min(v),
    "maximum": lambda x, i, v: x.at[i].max(v),
    "clipped": lambda x, i, v: x.at[i].add(v, mode="clip"),
    "rows": lambda x, i, v: x.reshape(150, 2).at[i % 150].set(anp.stack([v, v + 1], 1)),
    "slices": lambda x, _i, v: x.at[10:90:2].set(v).at[::-5].add(1.0).at[3].multiply(2.0),
    "window": lambda x, i, v: lax.dynamic_update_slice(x, v, (i[0],)),
    "filled reads": lambda x, i, v: x.at[i].get(mode="fill", fill_value=7) + v,
    "clipped reads": lambda x, i, v: x.at[i].get(mode="clip") + v,
    "rows read": lambda x, i, v: x.reshape(3, 100)[:, i % 100] * v,
}


@pytest.mark.parametrize("name", WRITING)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
def test_reads_and_writes_at_computed_places(agree, name, dtype):
    places = np.random.default_rng(0).integers(-20, 340, 40)
    places[5:9] = 7
    values = anp.asarray(np.random.default_rng(1).uniform(-2, 2, 40)).astype(dtype)
    x = (LONG * 5).astype(dtype)
    before = np.asarray(x).copy()
    agree(WRITING[name], x, anp.asarray(places), values, whole=False)
    np.testing.assert_array_equal(np.asarray(x), before)
