"""Products of few terms, hashes and lanes that are gone through as one are as NumPy has them."""

from __future__ import annotations

import numpy as np
import pytest
from arrayport_backends.numpy import llvm

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax, random

pytestmark = [
    pytest.mark.skipif(not llvm.available(), reason="there is nothing to test without LLVM"),
    pytest.mark.usefixtures("at_once", "wide"),
]


def schedule(function, *args):
    return ap.jit(function).lower(*map(anp.asarray, args)).as_text("schedule")


def drawn(dtype, *shapes):
    draws = np.random.default_rng(3)
    made = [draws.standard_normal(shape) * 3 for shape in shapes]
    if np.dtype(dtype).kind == "c":
        made = [x + 1j * draws.standard_normal(x.shape) for x in made]
    return [x.astype(dtype) for x in made]


STACKS = [
    ("bij,bjk->bik", (5, 8, 8), (5, 8, 8)),
    ("bij,bkj->bik", (3, 4, 7), (3, 2, 7)),
    ("ij,jk->ik", (30, 3), (3, 20)),
    ("ij,kj->ki", (30, 2), (20, 2)),
    ("abi,ic->cab", (4, 5, 2), (2, 3)),
    ("i,i->", (6,), (6,)),
    ("i,j->ij", (6,), (5,)),
    ("abij,ijc->abc", (3, 2, 2, 3), (2, 3, 4)),
]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int32", "bool", "float16"])
def test_products_of_few_terms_are_kernels(dtype):
    for subscripts, *shapes in STACKS:
        x, y = drawn(dtype, *shapes)
        f = ap.jit(lambda x, y, s=subscripts: anp.einsum(s, x, y))
        assert "calls" not in schedule(f, x, y)
        wide = {"float16": "float64", "bool": "int64"}.get(dtype, dtype)
        expected = np.einsum(subscripts, x.astype(wide), y.astype(wide))
        found = f(x, y)
        assert found.dtype == dtype
        tolerance = 1e-2 if dtype == "float16" else 1e-5
        np.testing.assert_allclose(
            np.asarray(found), expected.astype(dtype), tolerance, 10 * tolerance
        )


def test_products_sum_in_the_preferred_dtype():
    x, y = np.full((40, 4), 100, np.int8), np.full((4, 40), 100, np.int8)
    f = ap.jit(lambda x, y: lax.dot(x, y, preferred_element_type="int32"))
    assert "calls" not in schedule(f, x, y)
    assert np.array_equal(np.asarray(f(x, y)), np.full((40, 40), 40_000))


def test_many_terms_stay_with_the_library():
    assert "calls" in schedule(lambda x, y: x @ y, *drawn("float32", (80, 200), (200, 80)))


@pytest.mark.parametrize("qubit", range(6))
def test_gates_on_any_qubit_are_one_nest_each(qubit):
    state, gate = drawn("complex64", (2,) * 6, (2, 2))

    def applied(state, gate):
        return anp.moveaxis(anp.tensordot(gate, state, ((1,), (qubit,))), 0, qubit)

    assert schedule(applied, state, gate).count("nest") == 1
    expected = np.moveaxis(np.tensordot(gate, state, ((1,), (qubit,))), 0, qubit)
    np.testing.assert_allclose(np.asarray(ap.jit(applied)(state, gate)), expected, 1e-5, 1e-5)


def test_gates_by_a_counter_are_kernels_of_the_loop():
    state, gates = drawn("complex128", (2,) * 5, (7, 2, 2))

    def run(state, gates):
        def step(i, state):
            return anp.moveaxis(anp.tensordot(gates[i], state, ((1,), (2,))), 0, 2)

        return lax.fori_loop(0, 7, step, state)

    assert "calls" not in schedule(run, state, gates)
    expected = state
    for gate in gates:
        expected = np.moveaxis(np.tensordot(gate, expected, ((1,), (2,))), 0, 2)
    np.testing.assert_allclose(np.asarray(ap.jit(run)(state, gates)), expected, 1e-12)


def test_lanes_in_rows_that_go_on_are_gone_through_as_one():
    (x,) = drawn("float32", (4, 3, 5, 7))

    def both(x):
        return anp.sin(x), anp.transpose(x, (2, 3, 0, 1)) * 2, x * x[:, :, :1], x[::-1] - x

    for found, expected in zip(ap.jit(both)(x), both(x), strict=True):
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), 1e-6)
    wider = anp.ones((40, 32, 5, 8))
    text = ap.jit(lambda x: x + 1).lower(wider).as_text("llvm")
    assert text.count("phi") == 1  # one loop over all four axes


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_random_numbers_are_one_nest_and_those_of_jax(dtype):
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    with jax.enable_x64(True):
        key = np.array([1, 7], np.uint32)
        f = ap.jit(lambda key: random.uniform(key, (1001,), dtype))
        assert schedule(f, key).count("nest") == 1
        expected = jax.random.uniform(key, (1001,), dtype)
        assert np.array_equal(np.asarray(f(key)), np.asarray(expected))
        g = ap.jit(lambda key: random.normal(key, (9, 11), dtype))
        assert schedule(g, key).count("nest") == 1
        np.testing.assert_allclose(
            np.asarray(g(key)), np.asarray(jax.random.normal(key, (9, 11), dtype)), 1e-5, 1e-6
        )
        h = ap.jit(lambda key: random.split(key, (3, 2)))
        assert "calls" not in schedule(h, key)
        assert np.array_equal(np.asarray(h(key)), np.asarray(jax.random.split(key, (3, 2))))


def test_nests_that_read_different_parts_of_a_value_are_one_function():
    state, gates = drawn("complex64", (2,) * 5, (6, 2, 2))

    def run(state, gates):
        for gate in gates:
            state = anp.moveaxis(anp.tensordot(gate, state, ((1,), (2,))), 0, 2)
        return state

    text = ap.jit(run).lower(*map(anp.asarray, (state, gates))).as_text("llvm")
    assert text.count("define internal") < 4
    expected = state
    for gate in gates:
        expected = np.moveaxis(np.tensordot(gate, expected, ((1,), (2,))), 0, 2)
    np.testing.assert_allclose(np.asarray(ap.jit(run)(state, gates)), expected, 1e-3, 1e-3)


VECTORS = [
    ("i,i->", (70,), (70,)),
    ("ij,j->i", (9, 40), (40,)),
    ("j,ji->i", (40,), (40, 9)),
    ("bij,bj->bi", (3, 5, 20), (3, 20)),
    ("ib,ijb->bj", (20, 3), (20, 5, 3)),
    ("ij,ij->", (5, 30), (5, 30)),
    ("jk,ikj->i", (4, 5), (6, 5, 4)),
    ("jbi,ib->bj", (5, 3, 20), (20, 3)),
    ("bi,bi->b", (6, 50), (6, 50)),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_small_products_with_vectors_are_sums(dtype):
    found = ap.jit(lambda pairs: [anp.einsum(s, *p) for (s, *_), p in zip(VECTORS, pairs)])  # noqa: B905
    pairs = [drawn(dtype, *shapes) for _, *shapes in VECTORS]
    assert "calls" not in found.lower(pairs).as_text("schedule")
    for (subscripts, *_), pair, made in zip(VECTORS, pairs, found(pairs), strict=True):
        expected = np.einsum(subscripts, *[x.astype("float64") for x in pair])
        np.testing.assert_allclose(made, expected, 1e-4 if dtype == "float32" else 1e-12)


def test_large_products_with_vectors_stay_with_blas():
    x, y = drawn("float32", (300, 300), (300,))
    assert "dot_general" in schedule(anp.dot, x, y)
