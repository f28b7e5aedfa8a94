"""Networks of Flax, Haiku and Chex under as_jax give what their formulas say, on every backend."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core.trace import backend_of
from arrayport.port import as_jax
from tests.port.test_standing import on_arrayport

RNG = np.random.default_rng(9)
ROWS = RNG.normal(size=(2, 5, 4)).astype(np.float32)


@pytest.fixture(scope="module")
def nn():
    """Flax's layers, as they are on arrayport."""
    pytest.importorskip("flax", reason="flax is not installed")
    return on_arrayport("flax.linen")[0]


@pytest.fixture(scope="module")
def hk():
    """Haiku, as it is on arrayport."""
    pytest.importorskip("haiku", reason="dm-haiku is not installed")
    return on_arrayport("haiku")[0]


def close(found, wanted, tolerance=2e-5):
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=tolerance, atol=tolerance)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def long_short(params, rows):
    """Take the steps of Hochreiter and Schmidhuber's memory cell in NumPy."""
    p = {k: {n: np.asarray(v) for n, v in w.items()} for k, w in params.items()}
    carry = state = np.zeros((rows.shape[0], p["hi"]["bias"].size), np.float32)
    for x in np.moveaxis(rows, 1, 0):
        i, f, g, o = (
            x @ p["i" + c]["kernel"] + state @ p["h" + c]["kernel"] + p["h" + c]["bias"]
            for c in "ifgo"
        )
        carry = sigmoid(f) * carry + sigmoid(i) * np.tanh(g)
        state = sigmoid(o) * np.tanh(carry)
        yield state


def test_flax_layers(nn, backend):
    class Network(nn.Module):
        @nn.compact
        def __call__(self, x, train):
            x = nn.BatchNorm(use_running_average=not train)(nn.Dense(6)(x))
            return nn.Dropout(0.5, deterministic=not train)(nn.relu(x))

    net = Network()
    variables = net.init(ap.random.key(0), ROWS, train=False)
    dense = {k: np.asarray(v) for k, v in variables["params"]["Dense_0"].items()}
    assert backend_of(variables["params"]["Dense_0"]["kernel"]).name == backend
    hidden = ROWS @ dense["kernel"] + dense["bias"]
    close(net.apply(variables, ROWS, train=False), np.maximum(hidden / np.sqrt(1 + 1e-5), 0))

    @ap.jit
    def trained(variables, key):
        return net.apply(
            variables, ROWS, train=True, mutable=["batch_stats"], rngs={"dropout": key}
        )

    out, updated = trained(variables, ap.random.key(1))
    stats = updated["batch_stats"]["BatchNorm_0"]
    close(stats["mean"], 0.01 * hidden.mean(axis=(0, 1)))
    close(stats["var"], 0.99 + 0.01 * hidden.var(axis=(0, 1)))
    spread = np.maximum((hidden - hidden.mean((0, 1))) / np.sqrt(hidden.var((0, 1)) + 1e-5), 0)
    kept = np.asarray(out) != 0
    close(np.asarray(out)[kept], 2 * spread[kept], 1e-4)


def test_flax_loops_and_their_gradient(nn, backend):
    cell = nn.RNN(nn.LSTMCell(3))
    params = cell.init(ap.random.key(0), ROWS)
    wanted = np.stack(list(long_short(params["params"]["cell"], ROWS)), axis=1)
    found = ap.jit(cell.apply)(params, ROWS)
    assert found.device.backend == backend
    close(found, wanted)

    class Block(nn.Module):
        @nn.compact
        def __call__(self, carry, _):
            return nn.tanh(nn.Dense(4, use_bias=False)(carry)), None

    stack = nn.scan(
        nn.remat(Block), variable_axes={"params": 0}, split_rngs={"params": True}, length=2
    )()
    weights = stack.init(ap.random.key(0), ROWS, None)
    (kernels,) = ap.tree.leaves(weights)
    first, second = np.asarray(kernels)
    inner = np.tanh(ROWS @ first)
    outer = np.tanh(inner @ second)
    close(stack.apply(weights, ROWS, None)[0], outer)
    (slopes,) = ap.tree.leaves(ap.grad(lambda w: stack.apply(w, ROWS, None)[0].sum())(weights))
    ct = 1 - outer**2
    close(slopes[1], np.einsum("bti,btj->ij", inner, ct))
    close(slopes[0], np.einsum("bti,btj->ij", ROWS, (ct @ second.T) * (1 - inner**2)))


def test_haiku_transforms(hk, backend):
    def network(x):
        return hk.remat(hk.Linear(3))(x) + hk.get_state("shift", (), init=anp.ones)

    net = hk.transform_with_state(network)
    params, state = net.init(ap.random.PRNGKey(0), ROWS)
    out, _ = ap.jit(net.apply)(params, state, None, ROWS)
    assert out.device.backend == backend
    weights = {k: np.asarray(v) for k, v in params["linear"].items()}
    close(out, ROWS @ weights["w"] + weights["b"] + 1)
    slopes = ap.grad(lambda p: net.apply(p, state, None, ROWS)[0].sum())(params)
    close(slopes["linear"]["w"], np.repeat(ROWS.sum((0, 1))[:, None], 3, axis=1))


def test_numpyro_samples_a_posterior(own_backend):
    """Of a mean with a standard normal prior and errors: sum(y) / (n + 1), known to 0.14."""
    pytest.importorskip("numpyro", reason="numpyro is not installed")
    numpyro, infer = on_arrayport("numpyro", "numpyro.infer")
    normal = numpyro.distributions.Normal
    heights = np.random.default_rng(3).normal(1.0, size=50).astype(np.float32)

    def model(y):
        mean = numpyro.sample("mean", normal(0.0, 1.0))
        numpyro.sample("y", normal(mean, 1.0), obs=y)

    chain = infer.MCMC(infer.NUTS(model), num_warmup=100, num_samples=200, progress_bar=False)
    chain.run(ap.random.PRNGKey(0), heights)
    draws = chain.get_samples()["mean"]
    assert draws.device.backend == own_backend
    close(draws.mean(), heights.sum() / 51, 0.05)
    close(draws.std(), 1 / np.sqrt(51), 0.03)


def test_numpyro_fits_a_guide_by_optax(monkeypatch):
    pytest.importorskip("numpyro", reason="numpyro is not installed")
    numpyro, infer, guides, optax = on_arrayport(
        "numpyro", "numpyro.infer", "numpyro.infer.autoguide", "optax"
    )
    normal = numpyro.distributions.Normal
    heights = np.random.default_rng(3).normal(1.0, size=50).astype(np.float32)

    def model(y):
        numpyro.sample("y", normal(numpyro.sample("mean", normal(0.0, 1.0)), 1.0), obs=y)

    guide = guides.AutoNormal(model)
    monkeypatch.setitem(sys.modules, "optax", optax)  # which NumPyro imports when it needs it
    fit = infer.SVI(model, guide, optax.adam(0.05), infer.Trace_ELBO(num_particles=8))
    params = fit.run(ap.random.PRNGKey(0), 300, heights, progress_bar=False).params
    close(guide.median(params)["mean"], heights.sum() / 51, 0.05)


def test_chex_assertions(backend):
    pytest.importorskip("chex", reason="chex is not installed")
    (chex,) = on_arrayport("chex")

    @chex.dataclass
    class Pair:
        x: chex.Array
        y: chex.Array

    pair = Pair(x=anp.ones(2), y=anp.zeros(3))
    slopes = ap.grad(lambda p: (p.x**2).sum() + p.y.sum())(pair)
    assert slopes.x.tolist() == [2, 2]
    assert slopes.y.device.backend == backend
    more = Pair(x=np.float32([2, 2]), y=np.float32([1, 1, 1]))
    chex.assert_trees_all_close(ap.tree.map(lambda x: x + 1, pair), more)
    with pytest.raises(AssertionError, match="shape"):
        chex.assert_shape(pair.x, (3,))


def test_what_only_jax_can_make_can_be_named_and_derived_from():
    with as_jax() as jax:
        from jax.extend import core  # noqa: PLC0415 - where libraries find it

        class Own(core.Trace):
            pass

        with pytest.raises(NotImplementedError, match="Trace is JAX's own"):
            Own()
        aval = jax.core.ShapedArray((2, 3), np.dtype("float32"), sharding=None)
        assert isinstance(aval, jax.core.AbstractValue)
        assert str(aval) == "float32[2,3]"
        assert jax.eval_shape(lambda x: x.T, aval).shape == (3, 2)
        spec = jax.sharding.PartitionSpec("data", None, ("model", "batch"))
        assert (spec.index(("model", "batch")), spec.count(None), "model" in spec) == (2, 1, False)
