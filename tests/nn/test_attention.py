"""Attention, and products of groups and scaled blocks, against JAX's and by definition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax, nn

RNG = np.random.default_rng(0)
Q, K, V = (RNG.normal(size=(2, n, h, 4)).astype("float32") for n, h in ((5, 4), (6, 2), (6, 2)))
BIAS = RNG.normal(size=(4, 5, 6)).astype("float32")
MASK = RNG.random((2, 1, 5, 6)) > 0.2
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "bias": {"bias": BIAS, "scale": 0.3},
    "mask": {"mask": MASK, "is_causal": True},
    "window": {"local_window_size": (2, 1)},
    "lengths": {
        "query_seq_lengths": np.int32([3, 5]),
        "key_value_seq_lengths": np.int32([6, 2]),
        "local_window_size": 4,
        "return_residual": True,
    },
}
pytestmark = pytest.mark.usefixtures("backend")


def close(found: Any, expected: Any, rtol: float = 2e-5) -> None:
    for x, y in zip(ap.tree.leaves(found), ap.tree.leaves(expected), strict=True):
        a, b = np.asarray(x), np.asarray(y)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a.astype(float), b.astype(float), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("options", OPTIONS)
def test_attention_is_that_of_jax(options: str) -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    own = OPTIONS[options]

    def loss(library: Any) -> Callable[..., Any]:
        def f(q: Any, k: Any, v: Any) -> Any:
            out = library.nn.dot_product_attention(q, k, v, **own)
            return out if isinstance(out, tuple) else (out,)

        return f

    mine = [anp.asarray(x) for x in (Q, K, V)]
    close(ap.jit(loss(ap))(*mine), loss(jax)(Q, K, V))
    slopes = ap.grad(lambda *xs: (loss(ap)(*xs)[0] ** 2).sum(), (0, 1, 2))(*mine)
    close(slopes, jax.grad(lambda *xs: (loss(jax)(*xs)[0] ** 2).sum(), (0, 1, 2))(Q, K, V), 1e-4)


def test_attention_without_a_batch_and_in_few_bits() -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    q, k, v = (x[0].astype("float16") for x in (Q, K, V))
    found = nn.dot_product_attention(*[anp.asarray(x) for x in (q, k, v)])
    close(found, jax.nn.dot_product_attention(q, k, v), 4e-3)


def groups_by_definition(x: Any, w: Any, sizes: Any) -> Any:
    out, start = np.zeros((len(x), w.shape[2])), 0
    for n, matrix in zip(sizes, w, strict=True):
        out[start : start + n] = x[start : start + n] @ matrix
        start += n
    return out


def test_ragged_products() -> None:
    x, w = RNG.integers(-4, 5, (7, 3)), RNG.integers(-4, 5, (3, 3, 2))
    sizes = np.array([2, 0, 4])
    mine = [anp.asarray(v, dtype="float32") for v in (x, w)]
    found = ap.jit(lax.ragged_dot)(*mine, anp.asarray(sizes))
    np.testing.assert_array_equal(np.asarray(found), groups_by_definition(x, w, sizes))
    slope = ap.grad(lambda v: lax.ragged_dot(mine[0], v, anp.asarray(sizes)).sum())(mine[1])
    assert np.asarray(slope)[1].any() == np.False_
    np.testing.assert_array_equal(np.asarray(slope)[2, :, 0], x[2:6].sum(0))
    with pytest.raises(NotImplementedError, match="group_offset"):
        lax.ragged_dot(*mine, anp.asarray(sizes), group_offset=anp.asarray([1]))


@pytest.mark.parametrize("kind", ["own", "sizes", "summed", "batch"])
def test_ragged_products_are_those_of_jax(kind: str) -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    x = RNG.normal(size=(2, 6, 3)).astype("float32")
    groups = RNG.normal(size=(3, 2, 3, 4)).astype("float32")
    plain, wide = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 6, 4))
    sizes = np.array([[1, 2, 2], [0, 3, 1]]) if kind == "sizes" else np.array([1, 2, 2])
    y, axes, ragged, grouped = {
        "own": (groups, (((2,), (2,)), ((0,), (1,))), 1, [0]),
        "sizes": (groups, (((2,), (2,)), ((0,), (1,))), 1, [0]),
        "summed": (wide.astype("float32"), (((1,), (1,)), ((0,), (0,))), 1, []),
        "batch": (plain.astype("float32"), (((2,), (1,)), ((0,), (0,))), 0, []),
    }[kind]
    expected = jax.lax.ragged_dot_general(
        x, y, jax.numpy.asarray(sizes), jax.lax.RaggedDotDimensionNumbers(axes, [ragged], grouped)
    )
    numbers = lax.RaggedDotDimensionNumbers(axes, [ragged], grouped)
    found = lax.ragged_dot_general(*[anp.asarray(v) for v in (x, y, sizes)], numbers)
    close(found, expected)


def test_scaled_products() -> None:
    x, y = RNG.integers(-4, 5, (2, 3, 8)), RNG.integers(-4, 5, (2, 5, 8))
    s, r = 2.0 ** RNG.integers(-2, 3, (2, 3, 2)), 2.0 ** RNG.integers(-2, 3, (2, 5, 2))
    expected = np.einsum("bmk,bnk->bmn", x * s.repeat(4, -1), y * r.repeat(4, -1))
    mine = [anp.asarray(v, dtype="float32") for v in (x, y, s, r)]
    found = nn.scaled_matmul(*mine)
    assert found.dtype == "float32"
    np.testing.assert_array_equal(np.asarray(found), expected)
    few = [mine[0].astype("int8"), mine[1].swapaxes(1, 2).astype("int8")]
    scales = {"lhs_scale": mine[2], "rhs_scale": mine[3].swapaxes(1, 2)}
    wide = lax.scaled_dot(*few, preferred_element_type="float32", **scales)
    np.testing.assert_array_equal(np.asarray(wide), expected)
    with pytest.raises(ValueError, match="lhs_scale"):
        lax.scaled_dot(mine[0], few[1], lhs_scale=mine[2][:, :2])
    with pytest.raises(ValueError, match="rhs_scales"):
        nn.scaled_matmul(*mine[:3], mine[3][:1])


def test_what_only_jax_has() -> None:
    config = nn.get_scaled_dot_general_config("mxfp8")
    x = anp.ones((1, 32, 32))
    axes = (((2,), (2,)), ((0,), (0,)))
    calls = [
        lambda: lax.rng_uniform(0.0, 1.0, (1, 32, 32)),
        lambda: lax.rng_bit_generator(anp.asarray([1, 2, 3, 4], "uint32"), (1, 32, 32))[1],
    ]
    for call in calls:
        if x.device.backend == "jax":
            assert call().shape == (1, 32, 32)
        else:
            with pytest.raises(ap.errors.UnsupportedOnBackendError):
                call()
    if x.device.backend != "jax":  # of JAX's releases not all compile it for CPUs
        with pytest.raises(ap.errors.UnsupportedOnBackendError):
            nn.scaled_dot_general(x, x, axes, configs=[config] * 3)
    assert float(nn.scaled_dot_general(x, x, axes)[0, 0, 0]) == 32
    with pytest.raises(ValueError, match="global_scale"):
        nn.get_scaled_dot_general_config("mxfp4", anp.ones(1))
