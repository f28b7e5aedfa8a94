"""as_jax: libraries written for JAX run on every backend; JAX is JAX again afterwards."""

from __future__ import annotations

import sys
from importlib import import_module

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.port import as_jax

RNG = np.random.default_rng(5)
INPUTS = RNG.normal(size=(32, 3)).astype(np.float32)
TARGETS = (INPUTS @ [1, 2, 3] + 1).astype(np.float32)


def taken(packages):
    names = [name for name in sys.modules if name.partition(".")[0] in packages]
    return {name: sys.modules.pop(name) for name in names}


def on_arrayport(*names):
    """Modules as they are on arrayport; those who import them elsewhere get them as on JAX."""
    packages = {"chex", "flax", "haiku", "numpyro", "optax", "orbax"}
    theirs = taken(packages)
    with as_jax():
        ours = [import_module(name) for name in names]
    taken(packages)
    sys.modules.update(theirs)
    return ours


@pytest.fixture(scope="module")
def optax():
    pytest.importorskip("optax", reason="optax is not installed")
    return on_arrayport("optax")[0]


def descent(jax, optax, make, steps=4):
    """Take some steps of least squares; give the losses and the weights."""
    jnp = jax.numpy
    optimiser = optax.with_extra_args_support(make(optax))

    def loss(weights):
        return jnp.mean((INPUTS @ weights["slope"] + weights["start"] - TARGETS) ** 2)

    @jax.jit
    def step(weights, state):
        value, grads = jax.value_and_grad(loss)(weights)
        updates, state = optimiser.update(
            grads, state, weights, value=value, grad=grads, value_fn=loss
        )
        return optax.apply_updates(weights, updates), state, value

    weights = {"slope": jnp.zeros(3), "start": jnp.zeros(())}
    state, losses = optimiser.init(weights), []
    for _ in range(steps):
        weights, state, value = step(weights, state)
        losses.append(float(value))
    return losses, weights["slope"]


OPTIMISERS = {
    "adamw": lambda optax: optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(0.1)),
    "lion": lambda optax: optax.lion(optax.cosine_decay_schedule(0.1, 10)),
    "lbfgs": lambda optax: optax.lbfgs(),  # which searches along lines in loops and conds
}


@pytest.fixture(scope="module", params=OPTIMISERS)
def steps(request):
    """Give an optimiser, and the losses and weights that it reaches on JAX."""
    make = OPTIMISERS[request.param]
    losses, slope = descent(import_module("jax"), import_module("optax"), make)
    return make, losses, np.asarray(slope)


def test_optax_takes_the_steps_that_it_takes_on_jax(steps, optax, backend):
    make, wanted, theirs = steps
    losses, slope = descent(ap, optax, make)
    assert slope.device.backend == backend
    np.testing.assert_allclose(losses, wanted, rtol=1e-4)
    np.testing.assert_allclose(np.asarray(slope), theirs, rtol=1e-4)


def test_optax_losses(optax, backend):
    """By the formulas of the cross entropy and of the best assignment of rows to columns."""
    logits = anp.asarray([[1.0, 2.0, 3.0], [1.0, 0.0, 0.0]])
    found = optax.softmax_cross_entropy_with_integer_labels(logits, anp.asarray([0, 2]))
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    wanted = -np.log([chances[0, 0], chances[1, 2]])
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-6)
    costs = anp.asarray([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0], [3.0, 2.0, 2.0]])
    rows, columns = optax.assignment.hungarian_algorithm(costs)
    assert float(costs[rows, columns].sum()) == 5.0  # 1 + 2 + 2
    assert found.device.backend == backend


def test_jax_is_jax_again_and_what_it_lacks_is_said():
    theirs = import_module("jax")
    with as_jax() as jax:
        assert import_module("jax") is jax
        assert import_module("jax.scipy.stats.norm") is ap.scipy.stats.norm
        assert jax.__version_info__ >= (0, 12)
        assert isinstance(anp.ones(2), jax.Array)
        assert not isinstance(anp.ones(2), jax.core.Tracer)
        ap.jit(lambda x: [] if isinstance(x, jax.core.Tracer) else 1 / 0)(anp.ones(2))
        import_module("jax.test_util").check_grads(jax.numpy.tanh, (anp.ones(2),), order=1)
        with pytest.raises(AttributeError, match="has no 'export', which jax has"):
            _ = jax.export
    assert import_module("jax") is theirs
    assert import_module("jax.numpy") is theirs.numpy
    with as_jax():
        from jax._src import tree_util  # noqa: PLC0415 - where libraries find what is public, too

        assert tree_util is ap.tree_util
        assert import_module("jax._src.scipy.special") is ap.scipy.special
    with pytest.raises(ModuleNotFoundError) as raised, as_jax():
        import_module("jax.interpreters.ad")
    assert "arrayport stands in for JAX" in raised.value.__notes__[0]
    with pytest.raises(ImportError) as refused, as_jax():
        from jax.core import Primitive  # noqa: F401, PLC0415 - what is not
    assert "arrayport stands in for JAX" in refused.value.__notes__[0]
    assert import_module("jax") is theirs
