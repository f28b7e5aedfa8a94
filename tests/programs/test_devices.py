"""Programs over eight devices, written for JAX: their results are those of one device."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import arrayport as jax
import arrayport.numpy as jnp
from arrayport.experimental import mesh_utils
from arrayport.experimental.shard_map import shard_map
from arrayport.sharding import Mesh, NamedSharding, PositionalSharding
from arrayport.sharding import PartitionSpec as P

pytestmark = pytest.mark.usefixtures("eight")

WRAPS = pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
X = np.linspace(-1.0, 1.0, 8 * 4 * 3, dtype=np.float32).reshape(8, 4, 3)
Y = np.sin(X.sum(-1)).astype(np.float32)
W = np.array([0.5, -0.25, 1.0], np.float32)


@WRAPS
def test_normalised_over_the_batch(wrap):
    def f(x):
        mean = jax.lax.pmean(x, axis_name="batch")
        total = jax.lax.psum(jnp.abs(x), axis_name="batch")
        return (x - mean) / total

    mapped = wrap(jax.pmap(f, axis_name="batch"))
    np.testing.assert_allclose(
        np.asarray(mapped(jnp.asarray(X))),
        (X - X.mean(0)) / np.abs(X).sum(0),
        rtol=2e-5,
        atol=1e-6,
    )


def test_matrix_products_one_a_device():
    a = jnp.asarray(X)
    b = jnp.swapaxes(a, 1, 2)
    found = jax.pmap(jnp.matmul)(a, b)
    np.testing.assert_allclose(np.asarray(found), X @ X.swapaxes(1, 2), rtol=1e-5, atol=1e-6)
    assert len(found.devices()) == jax.local_device_count() == 8


def loss(w, x, y):
    return jnp.mean((jnp.tanh(x @ w) - y) ** 2)


def expected_steps(count, rate=0.5):
    """Gradient descent on all examples, by NumPy in double precision."""
    x, y, w = X.reshape(-1, 3).astype(float), Y.reshape(-1).astype(float), W.astype(float)
    for _ in range(count):
        out = np.tanh(x @ w)
        w = w - rate * (2 * (out - y) * (1 - out**2)) @ x / len(y)
    return w


def test_data_parallel_training_by_pmap():
    @partial(jax.pmap, axis_name="batch")
    def step(w, x, y):
        value, grads = jax.value_and_grad(loss)(w, x, y)
        grads = jax.lax.pmean(grads, axis_name="batch")
        return w - 0.5 * grads, jax.lax.pmean(value, axis_name="batch")

    w = jnp.stack([jnp.asarray(W)] * 8)
    values = []
    for _ in range(5):
        w, value = step(w, jnp.asarray(X), jnp.asarray(Y))
        values.append(float(value[0]))
    np.testing.assert_allclose(np.asarray(w), np.stack([expected_steps(5)] * 8), rtol=2e-5)
    assert values == sorted(values, reverse=True)


def test_positional_shardings():
    devices = jax.devices()[:2]
    sharding = PositionalSharding(devices).reshape(2, 1)
    x = jax.device_put(jnp.asarray(X[0]), sharding)
    assert [shard.data.shape for shard in x.addressable_shards] == [(2, 3), (2, 3)]
    assert x.devices() == set(devices)
    np.testing.assert_allclose(np.asarray(jnp.sin(x) @ x.T), np.sin(X[0]) @ X[0].T, rtol=1e-5)
    np.testing.assert_array_equal(np.asarray(x.addressable_shards[1].data), X[0, 2:])


@WRAPS
def test_sharded_arguments(wrap):
    mesh = Mesh(np.array(jax.devices()).reshape(4, 2), axis_names=("data", "model"))
    x = jax.device_put(jnp.asarray(X.reshape(16, 6)), NamedSharding(mesh, P("data", "model")))
    w = jax.device_put(jnp.arange(12.0).reshape(6, 2), NamedSharding(mesh, P("model", None)))
    assert len(x.addressable_shards) == 8
    assert x.addressable_shards[0].data.shape == (4, 3)
    found = wrap(lambda x, w: jnp.tanh(x @ w))(x, w)
    np.testing.assert_allclose(
        np.asarray(found),
        np.tanh(X.reshape(16, 6) @ np.arange(12.0).reshape(6, 2)),
        rtol=1e-5,
        atol=1e-6,
    )


@WRAPS
def test_matrix_product_by_shard_map(wrap):
    mesh = Mesh(mesh_utils.create_device_mesh((4, 2)), axis_names=("i", "j"))

    @partial(shard_map, mesh=mesh, in_specs=(P("i", "j"), P("j", None)), out_specs=P("i", None))
    def product(a, b):
        return jax.lax.psum(a @ b, "j")

    a, b = X.reshape(12, 8), X.reshape(8, 12)
    found = wrap(product)(jnp.asarray(a), jnp.asarray(b))
    np.testing.assert_allclose(np.asarray(found), a @ b, rtol=1e-5, atol=1e-5)


@WRAPS
def test_data_parallel_training_by_shard_map(wrap):
    mesh = jax.make_mesh((8,), ("batch",))

    def mean_loss(w, x, y):
        return jax.lax.pmean(loss(w, x[0], y[0]), "batch")

    sharded = jax.shard_map(
        mean_loss, mesh=mesh, in_specs=(P(), P("batch"), P("batch")), out_specs=P()
    )
    step = wrap(lambda w, x, y: w - 0.5 * jax.grad(sharded)(w, x, y))
    w = jnp.asarray(W)
    for _ in range(5):
        w = step(w, jnp.asarray(X), jnp.asarray(Y))
    np.testing.assert_allclose(np.asarray(w), expected_steps(5), rtol=2e-5)


def test_a_stencil_with_its_neighbours():
    mesh = jax.make_mesh((8,), ("x",))
    right = [(i, (i + 1) % 8) for i in range(8)]
    left = [(i, (i - 1) % 8) for i in range(8)]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    def diffuse(u):
        before = jax.lax.ppermute(u[-1:], "x", right)
        after = jax.lax.ppermute(u[:1], "x", left)
        padded = jnp.concatenate([before, u, after])
        return u + 0.1 * (padded[2:] - 2 * u + padded[:-2])

    u = X.reshape(-1)
    found, expected = jnp.asarray(u), u
    for _ in range(3):
        found = diffuse(found)
        expected = expected + 0.1 * (np.roll(expected, 1) - 2 * expected + np.roll(expected, -1))
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5, atol=1e-6)


def test_parts_made_in_place():
    mesh = jax.make_mesh((4, 2), ("x", "y"))
    sharding = NamedSharding(mesh, P("x", None))
    whole = X.reshape(16, 6)
    made = jax.make_array_from_callback(whole.shape, sharding, lambda index: whole[index])
    assert made.sharding.is_equivalent_to(sharding, 2)
    np.testing.assert_array_equal(np.asarray(made * 2), whole * 2)
