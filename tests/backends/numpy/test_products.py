"""Products in machine code: rows at a time, with the nests before and after them."""

from __future__ import annotations

import numpy as np
import pytest
from arrayport_backends.numpy import blas, llvm
from arrayport_backends.numpy.codegen import products, sharing
from arrayport_backends.numpy.codegen.emitters import nbytes

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax
from arrayport.core.array import Array
from arrayport.core.backend import get

pytestmark = [
    pytest.mark.skipif(
        not (llvm.available() and blas.symbol("arrayport_sgemm")),
        reason="there is nothing to test without LLVM, or where NumPy does not tell its BLAS",
    ),
    pytest.mark.usefixtures("at_once", "wide"),
]


def drawn(dtype, *shapes):
    draws = np.random.default_rng(5)
    return [Array(draws.standard_normal(shape).astype(dtype)) for shape in shapes]


def layer(x, w, b):
    return anp.maximum(x @ w + b, 0)


def probabilities(x, w, b):
    scores = anp.tanh(x) @ w + b
    powers = anp.exp(scores - anp.max(scores, -1, keepdims=True))
    return powers / anp.sum(powers, -1, keepdims=True)


def transposed_right(x, w, b):
    return anp.maximum(lax.dot_general(x, w.T * 1, (((x.ndim - 1,), (1,)), ((), ()))) + b, 0)


def transposed_left(x, w, b):
    return lax.dot_general(x[:, :40], w[:, :5] * b[:5], (((0,), (0,)), ((), ()))), x[0] * 2


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", [layer, probabilities, transposed_right])
def test_products_are_code_with_what_is_around_them(agree, dtype, function):
    for shape in ((2001, 40), (30, 40), (1, 40), (60, 35, 40)):
        agree(function, *drawn(dtype, shape, (40, 17), (17,)))


def test_a_left_side_may_be_transposed(agree):
    agree(transposed_left, *drawn("float32", (40, 60), (40, 17), (17,)))


def test_the_product_needs_no_memory_of_its_own():
    args = drawn("float32", (5000, 40), (40, 17), (17,))
    lowered = ap.jit(layer).lower(*args)
    assert lowered.as_text("schedule").splitlines() == [
        "code",
        "  dot_general -> float32[5000,17]",
        "  nest over 5000 x 17: max -> float32[5000,17]",
    ]
    executor = get("numpy").compile(ap.jit(layer).trace(*args).program)
    executor.run(*[a.raw for a in args])
    (eqn,) = executor.program.eqns
    _, ((size,), _) = eqn.prim.run.__self__.stored
    assert size < nbytes(eqn.outs[0]) / 8


def test_the_digits_do_not_depend_on_who_computes(both, monkeypatch):
    args = drawn("float32", (5000, 40), (40, 17), (17,))
    alone, _ = both(layer, *args)
    monkeypatch.setattr(sharing, "GRAIN", 1)
    monkeypatch.setattr(sharing, "PIECE", 1)
    assert "arrayport_share" in ap.jit(layer).lower(*args).as_text("llvm")
    monkeypatch.setattr("arrayport_backends.numpy.objects._recent", {})
    shared, _ = both(layer, *args)
    np.testing.assert_array_equal(alone[0], shared[0])


def test_loops_with_products_are_code(agree):
    def steps(w, h):
        return lax.scan(lambda h, _: (anp.tanh(h @ w), h[0]), h, length=5)

    agree(steps, *drawn("float64", (20, 20), (16, 20)))


def test_what_is_not_a_number_stays_in_its_row(agree):
    x, w, b = drawn("float32", (40, 20), (20, 17), (17,))
    raw = x.raw.copy()
    raw[3, 4], raw[5, 6] = np.nan, np.inf
    (found,), _ = agree(lambda x, w, b: x @ w + b, Array(raw), w, b)
    assert np.isnan(found[3]).all()
    assert np.isfinite(np.delete(found, (3, 5), 0)).all()


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (layer, [(80, 200), (200, 80), (80,)]),  # blocks of few rows would take longer
        (lambda x: anp.tanh(x @ x.T), [(20, 30)]),  # BLAS knows that it is symmetric
        (lambda x, y: anp.tanh(anp.matmul(x, y)), [(3, 20, 30), (3, 30, 20)]),
    ],
)
def test_other_products_stay_calls(function, shapes):
    args = drawn("float32", *shapes)
    assert "calls" in ap.jit(function).lower(*args).as_text("schedule")


def test_calls_stay_where_numpy_does_not_tell_its_blas(monkeypatch):
    monkeypatch.setattr(blas, "symbol", lambda _name: "")
    args = drawn("float32", (31, 40), (40, 19), (19,))
    assert "calls" in ap.jit(layer).lower(*args).as_text("schedule")


def test_a_call_is_of_so_few_products_that_blas_takes_one_thread():
    args = drawn("float32", (5000, 40), (40, 17))
    (eqn,) = ap.jit(lambda x, w: x @ w).trace(*args).program.eqns
    made = products.ProductEmitter(None, eqn)
    assert made.unit * 40 * 17 <= 65_536 * 4 < (made.unit + products.TILE) * 40 * 17
