"""Compiled Programs reuse dead buffers: no value that is still read may change by it."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax

pytestmark = pytest.mark.usefixtures("backend")

SIZE = 5000  # of float32: above the size from which buffers are reused
RUNS = 23  # the executor changes to generated source after 20
HOST = np.arange(SIZE, dtype=np.float32)


@ap.custom_jvp
def with_own_jvp(x):
    return x


@ap.custom_vjp
def with_own_vjp(x):
    return x


with_own_jvp.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
with_own_vjp.defvjp(lambda x: (x, None), lambda _residuals, g: (g,))


def check(function, *expected):
    compiled, x = ap.jit(function), anp.asarray(HOST)
    for _ in range(RUNS):
        for got, want in zip(ap.tree.leaves(compiled(x)), expected, strict=True):
            np.testing.assert_array_equal(np.asarray(got), want)
        np.testing.assert_array_equal(np.asarray(x), HOST)


@pytest.mark.parametrize(
    "identity",
    [
        ap.jit(lambda a: a),
        ap.checkpoint(lambda a: a),
        with_own_jvp,
        with_own_vjp,
        lambda a: lax.cond(a[0] == 0, lambda b: b, lambda b: -b, a),
        lambda a: lax.while_loop(lambda c: c[0][0] > 1e9, lambda c: (c[1], c[0]), (a, -a))[0],
        lambda a: lax.fori_loop(0, 2, lambda _i, _c: a, -a),
        lambda a: lax.scan(lambda _c, _x: (a, None), -a, None, length=2)[0],
        lambda a: lax.scan(lambda _c, row: (row, None), a, a[None])[0],
    ],
    ids=["jit", "checkpoint", "jvp", "vjp", "cond", "while", "fori", "scan", "scan of rows"],
)
def test_what_a_held_program_hands_back_is_not_overwritten(identity):
    def f(x):
        doubled = x * 2
        same = identity(doubled)
        return doubled + 1, same

    check(f, HOST * 2 + 1, HOST * 2)


def test_a_carry_that_a_held_program_hands_on_is_stacked_as_it_was():
    def f(x):
        identity = ap.jit(lambda a: a)
        return lax.scan(lambda c, _: (c + 1, identity(c)), x, None, length=3)

    check(f, HOST + 3, np.stack([HOST, HOST + 1, HOST + 2]))


def test_a_broadcast_view_is_not_written_to():
    expected = np.zeros(SIZE, np.float32)
    expected[3] = 7
    check(lambda x: anp.broadcast_to((x * 2)[:1], (SIZE,)).at[3].set(7.0), expected)


def test_a_broadcast_view_as_a_carry():
    def body(_i, c):
        return anp.broadcast_to((c * 2 + 1)[3:4], (SIZE,))

    check(lambda x: lax.fori_loop(0, 3, body, x), np.full(SIZE, 31.0))  # 3 -> 7 -> 15 -> 31


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: (x[3] * 2).at[()].set(5.0), 5.0),
        (lambda x: (x[3] * 2).at[...].add(5.0), 11.0),
        (lambda x: lax.dynamic_update_slice(x[3] * 2, x[1], ()), 1.0),
        (lambda x: lax.fori_loop(0, 3, lambda _i, c: (c * 2).at[()].add(1.0), x[3]), 31.0),
    ],
    ids=["set", "add", "dynamic_update_slice", "fori_loop"],
)
def test_updates_of_computed_scalars(function, expected):
    check(function, expected)


def test_carries_that_swap_and_views_of_carries():
    def body(carry, _):
        a, b = carry
        return (b.T.at[0].add(1.0).T, (a + 1).at[:, ::-1].set(b)), a[::2]

    a, b = HOST.reshape(50, 100), HOST.reshape(50, 100) * 2
    stacked = []
    for _ in range(3):
        stacked.append(a[::2])
        left = b.copy()
        left[:, 0] += 1
        a, b = left, b[:, ::-1]

    def f(x):
        x = x.reshape(50, 100)
        return lax.scan(body, (x, x * 2), None, length=3)

    check(f, a, b, np.stack(stacked))
