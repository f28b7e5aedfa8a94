"""Programs that other people wrote: plain NumPy under grad and jit; Flax, Optax, Chex, NumPyro."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import arrayport as jax
import arrayport.numpy as jnp

RNG = np.random.default_rng(11)
INPUTS = RNG.normal(size=(32, 5)).astype(np.float32)
TARGETS = np.tanh(INPUTS @ RNG.normal(size=(5, 3))).astype(np.float32)
STEPS = 30


# ---- digits, by a script that knows NumPy alone


def scores(params, images):
    (w1, b1), (w2, b2) = params
    return np.maximum(images @ w1 + b1, 0) @ w2 + b2


def cross_entropy(params, images, labels):
    chances = scores(params, images)
    chances = chances - np.max(chances, axis=1, keepdims=True)
    chances = chances - np.log(np.sum(np.exp(chances), axis=1, keepdims=True))
    return -np.mean(np.take_along_axis(chances, labels[:, None], axis=1))


def adam(leaves, grads, means, squares, count, rate):
    means = [0.9 * m + 0.1 * g for m, g in zip(means, grads, strict=True)]
    squares = [0.999 * s + 0.001 * np.square(g) for s, g in zip(squares, grads, strict=True)]
    rate = rate * np.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    moved = zip(leaves, means, squares, strict=True)
    return [p - rate * m / (np.sqrt(s) + 1e-8) for p, m, s in moved], means, squares


def test_digits_by_a_numpy_script(digits, backend):
    images, labels, test_images, test_labels = digits
    rng = np.random.default_rng(0)
    leaves = [rng.normal(size=(64, 64)) / 6, np.zeros(64), rng.normal(size=(64, 10)) / 6]
    leaves = [jnp.asarray(leaf) for leaf in (*leaves, np.zeros(10))]

    def loss(leaves, images, labels):
        return cross_entropy([leaves[:2], leaves[2:]], images, labels)

    @jax.jit
    def step(leaves, means, squares, count, images, labels):
        value, grads = jax.value_and_grad(loss)(leaves, images, labels)
        return value, *adam(leaves, grads, means, squares, count, 0.01)

    state = leaves, [np.zeros_like(p) for p in leaves], [np.zeros_like(p) for p in leaves]
    count, losses = 0, []
    for _ in range(8):
        order = rng.permutation(len(images))
        for start in range(0, len(images) - 127, 128):
            rows, count = order[start : start + 128], count + 1
            value, *state = step(*state, np.float32(count), images[rows], labels[rows])
            losses.append(float(value))
    assert state[0][0].device.backend == backend
    params = [np.asarray(leaf, np.float64) for leaf in state[0]]
    best = np.argmax(scores([params[:2], params[2:]], test_images), axis=1)
    assert np.mean(best == test_labels) > 0.95
    before = [np.asarray(leaf, np.float64) for leaf in leaves]
    first = np.random.default_rng(0)
    first.normal(size=(64, 64)), first.normal(size=(64, 10))
    rows = first.permutation(len(images))[:128]
    np.testing.assert_allclose(
        losses[0], cross_entropy([before[:2], before[2:]], images[rows], labels[rows]), rtol=1e-5
    )


# ---- 22. Flax and Optax; the same by hand

needs_flax = pytest.mark.skipif(
    not (find_spec("flax") and find_spec("optax")), reason="flax or optax is not installed"
)


def by_hand(params):
    """Train by a forward pass and an Adam written out, on whatever backend; give the losses."""

    def loss(params, x, y):
        hidden = jax.nn.relu(x @ params["hidden"]["kernel"] + params["hidden"]["bias"])
        out = hidden @ params["out"]["kernel"] + params["out"]["bias"]
        return jnp.mean((out - y) ** 2)

    @jax.jit
    def step(leaves, means, squares, count):
        value, grads = jax.value_and_grad(
            lambda leaves: loss(jax.tree.unflatten(structure, leaves), INPUTS, TARGETS)
        )(leaves)
        return value, *adam(leaves, grads, means, squares, count, 1e-2)

    leaves, structure = jax.tree.flatten(jax.tree.map(jnp.asarray, params))
    state = leaves, [jnp.zeros_like(p) for p in leaves], [jnp.zeros_like(p) for p in leaves]
    losses = []
    for count in range(1, STEPS + 1):
        value, *state = step(*state, jnp.float32(count))
        losses.append(float(value))
    return losses


@needs_flax
def test_flax_and_optax_and_the_same_by_hand(backend):
    """On JAX by the libraries; everywhere by hand, from the same start: the losses are the same."""
    import optax  # noqa: PLC0415 - where it is installed
    from flax import linen  # noqa: PLC0415 - where it is installed

    class Perceptron(linen.Module):
        @linen.compact
        def __call__(self, x):
            hidden = linen.relu(linen.Dense(16, name="hidden")(x))
            return linen.Dense(3, name="out")(hidden)

    model, optimiser = Perceptron(), optax.adam(1e-2)
    with jax.use_backend("jax"):
        key = jax.random.PRNGKey(0).native  # Flax asks whether a key is a jax.Array
        start = params = jax.jit(model.init)(key, jnp.asarray(INPUTS))

        @jax.jit
        def step(params, state, x, y):
            value, grads = jax.value_and_grad(
                lambda params: jnp.mean((y - model.apply(params, x)) ** 2)
            )(params)
            updates, state = optimiser.update(grads, state, params)
            return value, optax.apply_updates(params, updates), state

        state, losses = optimiser.init(params), []
        for _ in range(STEPS):
            value, params, state = step(params, state, jnp.asarray(INPUTS), TARGETS)
            losses.append(float(value))
    assert losses[-1] < 0.5 * losses[0]
    with jax.use_backend(backend):
        host = jax.tree.map(np.asarray, dict(start["params"]))
        np.testing.assert_allclose(by_hand(host), losses, rtol=1e-4)


def test_chex():
    chex = pytest.importorskip("chex", reason="chex is not installed")
    with jax.use_backend("jax"):
        x = jnp.asarray(INPUTS)

        @jax.jit
        @chex.assert_max_traces(n=1)
        def program(x):
            chex.assert_shape(x, (32, 5))
            chex.assert_rank([x, x[0]], [2, 1])
            chex.assert_type(x, float)
            chex.assert_equal_shape([x, 2 * x])
            return jnp.tanh(x)

        for _ in range(2):
            y = program(x)
        chex.assert_trees_all_close({"y": y}, {"y": jnp.asarray(np.tanh(INPUTS))}, rtol=1e-5)
        chex.assert_tree_all_finite({"y": y})
        with pytest.raises(AssertionError):
            chex.assert_shape(y, (5, 32))
        with pytest.raises(AssertionError):
            chex.assert_trees_all_close(y, jnp.sin(x))


def test_numpyro():
    """The log density of a regression and its gradient, by a formula; and draws from its prior."""
    numpyro = pytest.importorskip("numpyro", reason="numpyro is not installed")
    from jax import numpy as theirs  # noqa: PLC0415 - where it is installed
    from numpyro import distributions, handlers, infer  # noqa: PLC0415 - where it is installed

    def model(x, y=None):
        w = numpyro.sample("w", distributions.Normal(theirs.zeros(5), 2.0).to_event(1))
        return numpyro.sample("y", distributions.Normal(theirs.dot(x, w), 0.5), obs=y)

    with jax.use_backend("jax"):
        x, y, w = map(jnp.asarray, (INPUTS, TARGETS[:, 0], RNG.normal(size=5)))

        @numpyro.validation_enabled(is_validate=False)  # which asks what is no jax.core.Tracer
        def density(w, x, y):
            return infer.util.log_density(model, (x, y), {}, {"w": w})[0]

        value, slope = jax.jit(jax.value_and_grad(density))(w, x, y)
        host = np.asarray(w, np.float64)
        residual = TARGETS[:, 0] - INPUTS @ host
        expected = -0.5 * (host @ host / 4 + residual @ residual / 0.25)
        expected -= 5 * np.log(2) + 32 * np.log(0.5) + 37 / 2 * np.log(2 * np.pi)
        np.testing.assert_allclose(float(value), expected, rtol=1e-5)
        wanted = -host / 4 + INPUTS.T @ residual / 0.25
        np.testing.assert_allclose(np.asarray(slope), wanted, rtol=1e-4)

        @jax.jit
        def drawn(key, x):
            seeded = handlers.seed(model, key.native)
            return handlers.trace(seeded).get_trace(x)["y"]["value"]

        found = jax.vmap(drawn, (0, None))(jax.random.split(jax.random.PRNGKey(0), 2000), x)
        spread = np.sqrt(4 * (INPUTS**2).sum(axis=1) + 0.25)
        np.testing.assert_allclose(np.asarray(found).std(axis=0), spread, rtol=0.1)
