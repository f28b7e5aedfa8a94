"""Derivatives as straight lines of kernels: they are what the rules give, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core import backend as backends
from arrayport.core.array import Array
from arrayport.core.primitive import REGISTRY, Slope
from arrayport.core.quiet import quiet
from arrayport.transforms import slopes

backends.get("numpy")  # its kernels
VALUES = np.array([0.0, -0.0, 0.3, -2.5, 1.0, 700.0, 1e300, np.inf, -np.inf, np.nan])
SMOOTH = [p for p in REGISTRY.values() if p.smooth and "ops.elementwise" in p.source]
USES = slopes.WARM + 2


def arrays(prim, dtype, rank):
    """Give a cotangent and operands, of several elements or of rank 0."""
    pool = VALUES.astype(dtype)
    g, *xs = [np.roll(pool, -2 - 3 * i) for i in range(len(prim.partials) + 1)]
    if prim.name == "select":
        xs[0] = xs[0] > 0
    return (g, xs) if rank else (np.asarray(g[0]), [np.asarray(x[0]) for x in xs])


@pytest.mark.parametrize("prim", SMOOTH, ids=lambda p: p.name)
@quiet
def test_a_line_gives_what_the_rules_give(prim):
    params = {"n": 3} if prim.name == "integer_pow" else {}
    for dtype in (d for d in map(np.dtype, "fD") if d in prim.quick):
        for rank in (1, 0):
            g, xs = arrays(prim, dtype, rank)
            ans = prim.bind(*map(Array, xs), **params).raw
            for traced in (t for t in range(1, 1 << len(xs)) if not t & ~prim.smooth):
                slope = Slope(prim, traced, params)
                kept = slope.keep((None, ans, *xs))
                for _ in range(USES):
                    slopes.learn(slope, dtype, kept)
                known = slope.pulled(Array(g), [k if k is None else Array(k) for k in kept])
                for found, one in zip(slope.lines[dtype](g, *kept), known, strict=True):
                    assert (type(found), found.dtype) == (np.ndarray, one.dtype)
                    np.testing.assert_array_equal(found, one.raw)
                    np.testing.assert_array_equal(np.signbit(found.real), np.signbit(one.raw.real))


def test_a_rule_that_asks_for_shapes_is_no_line():
    slope = Slope(REGISTRY["sin"], 1, {})
    slope.rules = [lambda g, _ans, x: g * x.sum()]
    for _ in range(USES):
        slopes.learn(slope, np.dtype("f"), (None, np.ones(3, "f")))
    assert slope.lines == {np.dtype("f"): None}


def test_after_many_uses_gradients_are_looked_at_and_differentiated():
    first = ap.grad(lambda x: anp.sum(anp.sqrt(x) * x))
    x = anp.array([1.0, 4.0])
    for _ in range(USES):
        np.testing.assert_allclose(first(x), [1.5, 3.0])
    np.testing.assert_allclose(ap.grad(lambda x: anp.sum(first(x)))(x), [0.75, 0.375], rtol=1e-6)
    given = first(anp.array([[1.0], [4.0]], "bfloat16"))
    assert (given.tolist(), given.dtype.name) == ([[1.5], [3.0]], "bfloat16")
    assert ap.grad(lambda x: anp.sqrt(x) * x)(4.0).weak_type
    with ap.debug_nans(True), pytest.raises(FloatingPointError, match=r"NaN .* div at test_slopes"):
        first(anp.array([0.0, 4.0]))


def test_what_is_used_often_gathers_its_cotangents_of_every_kind():
    def f(x):
        return anp.sum(anp.sin(x) * x + x * 3.0 - x) + x[0] * x[1] + (x @ x)

    host = np.array([0.5, -2.0, 1.5])
    x = anp.array(host)
    known = np.cos(host) * host + np.sin(host) + 2.0 + 2.0 * host + [-2.0, 0.5, 0.0]
    for _ in range(USES):
        np.testing.assert_allclose(ap.grad(f)(x), known, rtol=1e-6)
    with ap.config.override("enable_x64", True):
        jitted = ap.jit(ap.grad(lambda x: ap.grad(f)(x).sum()))(anp.array(host))
        found = ap.grad(lambda x: ap.grad(f)(x).sum())(anp.array(host))
        known = 2.0 * np.cos(host) - host * np.sin(host) + 2.0 + [1.0, 1.0, 0.0]
        np.testing.assert_allclose(found, known, rtol=1e-12)
        np.testing.assert_allclose(jitted, known, rtol=1e-12)


def test_a_cotangent_that_was_given_is_not_written_to():
    x, ct = anp.array([1.0, 2.0]), anp.array([1.0, -1.0])
    _, pull = ap.vjp(lambda x: x + x + x + x, x)
    for _ in range(USES):
        assert pull(ct)[0].tolist() == [4.0, -4.0]
        assert ct.tolist() == [1.0, -1.0]
