"""Flax models and Optax optimisers inside the native engine, their arrays and ours mixed freely."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arrayport_backends.jax import backend

import arrayport as ap
import arrayport.numpy as anp

optax = pytest.importorskip("optax", reason="optax is not installed")
linen = pytest.importorskip("flax.linen", reason="flax is not installed")
nnx = pytest.importorskip("flax.nnx", reason="flax is not installed")

rng = np.random.default_rng(0)
INPUTS = rng.normal(size=(32, 5)).astype(np.float32)
TARGETS = rng.normal(size=(32, 3)).astype(np.float32)
ADAM = optax.adam(1e-2)
STEPS = 20


class Perceptron(linen.Module):
    @linen.compact
    def __call__(self, x: Any) -> Any:
        return linen.Dense(3)(linen.relu(linen.Dense(16)(x)))


MODEL = Perceptron()


def ours(x: Any) -> ap.Array:
    return ap.Array(jnp.array(x))


def train(api: Any, params: Any, loss: Any, x: Any, y: Any) -> tuple[Any, Any]:
    @api.jit
    def step(params: Any, state: Any, x: Any, y: Any) -> Any:
        value, grads = api.value_and_grad(loss)(params, x, y)
        updates, state = ADAM.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    state = ADAM.init(params)
    for _ in range(STEPS):
        params, state, value = step(params, state, x, y)
    return params, value


def loss_in_jax(params: Any, x: Any, y: Any) -> Any:
    return jnp.mean((MODEL.apply(params, x) - y) ** 2)


def loss_in_ours(params: Any, x: Any, y: Any) -> Any:
    return anp.mean((y - MODEL.apply(params, x)) ** 2)


@pytest.fixture(scope="module")
def reference() -> tuple[Any, Any, Any]:
    params = MODEL.init(jax.random.key(0), INPUTS)
    return params, *train(jax, params, loss_in_jax, INPUTS, TARGETS)


@pytest.mark.parametrize("wrapped", [False, True], ids=["raw parameters", "our parameters"])
@pytest.mark.parametrize("data", [np.asarray, jnp.asarray, ours], ids=["numpy", "raw", "ours"])
def test_training_a_linen_model(reference: Any, wrapped: bool, data: Any) -> None:
    params, wanted, value = reference
    given = jax.tree.map(ours, params) if wrapped else params
    trained, found = train(ap, given, loss_in_ours, data(INPUTS), data(TARGETS))
    np.testing.assert_allclose(np.asarray(found), value, rtol=1e-5)
    leaves = jax.tree.leaves(trained, is_leaf=lambda x: isinstance(x, ap.Array))
    assert {type(x) is ap.Array for x in leaves} == {wrapped}
    for x, w in zip(leaves, jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(np.asarray(x), w, rtol=1e-3, atol=1e-5)


def test_types_of_parameters() -> None:
    specs = ap.eval_shape(MODEL.init, jax.random.key(0), INPUTS)
    kernels = {layer["kernel"].shape for layer in specs["params"].values()}
    assert kernels == {(5, 16), (16, 3)}


def test_initialising_inside_jit() -> None:
    params = ap.jit(MODEL.init)(jax.random.key(0), ours(INPUTS))
    wanted = MODEL.init(jax.random.key(0), INPUTS)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), params, wanted)


def test_differentiating_an_nnx_model() -> None:
    class Model(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.first = nnx.Linear(5, 16, rngs=rngs)
            self.last = nnx.Linear(16, 3, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return self.last(nnx.relu(self.first(x)))

    graph, state = nnx.split(Model(nnx.Rngs(0)))

    def loss(state: Any, x: Any, y: Any) -> Any:
        return anp.mean((y - nnx.merge(graph, state)(x)) ** 2)

    def plain(state: Any, x: Any, y: Any) -> Any:
        return jnp.mean((nnx.merge(graph, state)(x) - y) ** 2)

    value, grads = ap.jit(ap.value_and_grad(loss))(state, ours(INPUTS), ours(TARGETS))
    wanted, wanted_grads = jax.value_and_grad(plain)(state, INPUTS, TARGETS)
    np.testing.assert_allclose(np.asarray(value), wanted, rtol=1e-5)
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6), grads, wanted_grads
    )


def test_the_backend_is_found_by_flax_arrays_alone() -> None:
    assert backend.native is not None
    with ap.use_backend("numpy"):
        params = MODEL.init(jax.random.key(0), INPUTS)
        out = ap.jit(MODEL.apply)(params, INPUTS)
    assert isinstance(out, jax.Array)
    np.testing.assert_allclose(out, MODEL.apply(params, INPUTS), rtol=1e-5, atol=1e-6)
