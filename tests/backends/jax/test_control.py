"""The native engine's control flow against plain Python and NumPy, and its mixed cases."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arrayport_backends.jax import backend

import arrayport as ap
import arrayport.numpy as anp

native = backend.native
X = np.array([0.5, -1.0, 2.0], np.float32)


def ours(x: Any) -> ap.Array:
    return ap.Array(jnp.array(x))


def run(f: Any, *args: Any) -> list[Any]:
    """Call a function eagerly and compiled."""
    return [f(*args), native.jit(f)(*args)]


def test_branches() -> None:
    for out in run(lambda p, x: native.cond(p, lambda v: v * 2, lambda v: -v, x), True, ours(X)):
        np.testing.assert_array_equal(out, 2 * X)
    for out in run(lambda x: native.cond(x[0] > 1, anp.sin, lambda v: -v, x), ours(X)):
        np.testing.assert_array_equal(out, -X)
    three = [lambda v: v, lambda v: v * 2, lambda v: v * 3]
    for index, factor in ((-1, 1), (1, 2), (9, 3)):
        for out in run(lambda i, x: native.switch(i, three, x), index, ours(X)):
            np.testing.assert_array_equal(out, factor * X)
    assert native.cond(True, lambda _: 1.0, lambda _: 2.0, operand=None) == 1.0


def test_branches_that_give_different_kinds_meet_as_ours() -> None:
    def f(p: Any, x: Any) -> Any:
        return native.cond(p, lambda v: (v.raw, v.raw), lambda v: (v * 2, v.raw * 2), x)

    for out in run(f, False, ours(X)):
        assert [type(o) is ap.Array for o in out] == [True, False]
        np.testing.assert_array_equal(out[0], 2 * X)


def test_branches_that_do_not_fit_are_told_by_jax() -> None:
    with pytest.raises(TypeError, match=r"true_fun is <lambda> at .*test_control.py"):
        native.cond(True, lambda x: x, lambda x: (x, x), ours(X))


def test_loops() -> None:
    def collatz(n: Any) -> Any:
        def step(state: Any) -> Any:
            n, count = state
            return anp.where(n % 2 == 0, n // 2, 3 * n + 1), count + 1

        return native.while_loop(lambda s: s[0] != 1, step, (n, 0))[1]

    for out in run(collatz, ours(27)):
        assert int(out) == 111
    for bounds in ((2, 5), (ours(2), ours(5)), (2, 5)):
        f = lambda lo, hi, x: native.fori_loop(lo, hi, lambda i, v: v + i, x)
        for out in run(f, *bounds, ours(X)):
            np.testing.assert_allclose(out, X + 9)
    grad = native.grad(lambda x: native.fori_loop(0, 3, lambda _, v: v * x, x).sum())
    np.testing.assert_allclose(grad(ours(X)), 4 * X**3, rtol=1e-6)


def test_scans() -> None:
    def f(c: Any, x: Any) -> Any:
        new = {"sum": c["sum"] + x, "n": c["n"] + 1}
        return new, (new["sum"], {"raw": jnp.asarray(x.raw) * 2, "none": None})

    for reverse in (False, True):
        for unroll in (1, 2):
            options = {"reverse": reverse, "unroll": unroll}
            go = lambda x: native.scan(f, {"sum": 0.0, "n": 0}, x, **options)  # noqa: B023
            for carry, (sums, rest) in run(go, ours(X)):
                assert int(carry["n"]) == 3
                assert type(sums) is ap.Array
                assert isinstance(rest["raw"], jax.Array)
                order = X[::-1] if reverse else X
                wanted = np.cumsum(order)
                np.testing.assert_allclose(sums, wanted[::-1] if reverse else wanted)
                np.testing.assert_allclose(carry["sum"], X.sum())
    carry, ys = native.scan(lambda c, _: (c * 2, None), ours(X), length=3)
    assert ys is None
    np.testing.assert_array_equal(carry, 8 * X)


def test_a_raw_carry_beside_our_xs() -> None:
    carry, ys = native.scan(lambda c, x: (c + x.raw, c), jnp.zeros(()), ours(X))
    assert isinstance(carry, jax.Array)
    assert isinstance(ys, jax.Array)
    np.testing.assert_allclose(ys, [0.0, 0.5, -0.5])


def test_derivatives_through_scan() -> None:
    def f(x: Any) -> Any:
        return native.scan(lambda c, v: (c * v, c), 1.0, x)[0]

    wanted = np.prod(X) / X
    for g in (native.grad(f), native.jit(native.grad(f)), native.jacfwd(f)):
        np.testing.assert_allclose(g(ours(X)), wanted, rtol=1e-6)
    twice = native.vmap(native.grad(f))(ours(np.stack([X, 2 * X])))
    np.testing.assert_allclose(twice, np.stack([wanted, 4 * wanted]), rtol=1e-6)


def test_a_carry_that_changes_is_told_by_jax() -> None:
    with pytest.raises(TypeError, match="carry"):
        native.scan(lambda c, x: ((c, c), x), ours(0.0), ours(X))


def test_maps_and_prefixes() -> None:
    for size in (None, 2):
        out = native.map(lambda x: {"y": x * 2}, ours(X), batch_size=size)
        np.testing.assert_array_equal(out["y"], 2 * X)
    for out in run(lambda x: native.associative_scan(anp.add, x), ours(X)):
        np.testing.assert_allclose(out, np.cumsum(X))
    pairs = (ours(X), jnp.array(X))
    out = native.associative_scan(lambda a, b: (a[0] * b[0], a[1] + b[1]), pairs, reverse=True)
    np.testing.assert_allclose(out[0], np.cumprod(X[::-1])[::-1])
    assert isinstance(out[1], jax.Array)
    np.testing.assert_allclose(out[1], np.cumsum(X[::-1])[::-1])
