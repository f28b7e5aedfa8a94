"""nn's functions and their derivatives, at kinks too, are jax.nn's, on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp

X = np.array([-7.0, -3.0, -1.0, -0.5, 0.0, 0.3, 1.0, 3.0, 6.0, 40.0], np.float32)
M = np.array([[0.1, -2.0, 3.0], [1.0, 1.0, 1.0]], np.float32)
MASK = np.array([[True, True, False], [True, False, True]])

ACTIVATIONS = [
    "relu",
    "relu6",
    "sigmoid",
    "silu",
    "swish",
    "softplus",
    "log_sigmoid",
    "soft_sign",
    "elu",
    "celu",
    "selu",
    "leaky_relu",
    "gelu",
    "hard_tanh",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "squareplus",
    "mish",
    "sparse_plus",
    "sparse_sigmoid",
    "tanh",
    "identity",
]
OVER_AXES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("softmax", (M,), {}),
    ("softmax", (M,), {"axis": 0}),
    ("softmax", (M,), {"axis": (0, 1)}),
    ("softmax", (M,), {"where": MASK}),
    ("log_softmax", (M,), {}),
    ("log_softmax", (M,), {"axis": 0}),
    ("logsumexp", (M,), {}),
    ("logsumexp", (M * 1000,), {"axis": 1, "keepdims": True}),
    ("logsumexp", (M,), {"axis": 0, "b": np.array([2.0, 0.5, 3.0], np.float32)}),
    ("logsumexp", (np.full((2, 2), -np.inf, np.float32),), {"axis": 0}),
    ("logmeanexp", (M,), {"axis": 1}),
    ("standardize", (M + X[:2, None],), {"axis": 0}),
    ("glu", (np.concatenate([M, -M], 1),), {}),
    ("one_hot", (np.array([[0, 2], [5, -1]]), 3), {}),
    ("one_hot", (np.array([0, 2]), 3), {"dtype": np.int8, "axis": 0}),
]


def close(found: Any, expected: Any) -> None:
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=2e-6, atol=1e-6)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_and_its_derivative(name: str) -> None:
    jax = pytest.importorskip("jax", reason="the expected values are jax.nn's")
    ours, theirs = getattr(ap.nn, name), getattr(jax.nn, name)
    x = anp.asarray(X)
    close(ours(x), theirs(X))
    slope = ap.grad(lambda v: anp.sum(ours(v)))(x)
    close(slope, jax.grad(lambda v: theirs(v).sum())(X))
    assert ours(anp.asarray(X.astype("float16"))).dtype == np.float16


@pytest.mark.usefixtures("backend")
def test_exact_gelu_and_log1mexp() -> None:
    jax = pytest.importorskip("jax", reason="the expected values are jax.nn's")
    close(ap.nn.gelu(anp.asarray(X), approximate=False), jax.nn.gelu(X, approximate=False))
    up = np.float32([1e-3, 0.5, 0.7, 3.0, 40.0])
    close(ap.nn.log1mexp(anp.asarray(up)), jax.nn.log1mexp(up))


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("number", range(len(OVER_AXES)))
def test_function_over_axes(number: int) -> None:
    jax = pytest.importorskip("jax", reason="the expected values are jax.nn's")
    name, args, kwargs = OVER_AXES[number]
    options = {k: anp.asarray(v) if isinstance(v, np.ndarray) else v for k, v in kwargs.items()}
    ours = [anp.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
    close(getattr(ap.nn, name)(*ours, **options), getattr(jax.nn, name)(*args, **kwargs))


@pytest.mark.usefixtures("backend")
def test_softmax_derivative_and_shift() -> None:
    x = anp.asarray(M)
    jacobian = np.asarray(ap.jacrev(ap.nn.softmax)(x[0]))
    p = np.exp(M[0]) / np.exp(M[0]).sum()
    np.testing.assert_allclose(jacobian, np.diag(p) - np.outer(p, p), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        np.asarray(ap.nn.softmax(x + 1e4)), np.asarray(ap.nn.softmax(x)), atol=1e-3
    )


@pytest.mark.usefixtures("backend")
def test_second_derivatives_of_softplus_and_logaddexp() -> None:
    """At 0, and where operands tie, the derivative is the logistic function's: 1/4."""
    zero = anp.asarray(0.0)
    assert float(ap.grad(ap.grad(ap.nn.softplus))(zero)) == pytest.approx(0.25)
    second = ap.grad(ap.grad(lambda v: anp.logaddexp(v, 0.0)))(zero)
    assert float(second) == pytest.approx(0.25)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("name", ["glorot_normal", "he_uniform", "lecun_normal", "xavier_uniform"])
def test_initializer_has_its_variance_and_jaxs_bits(name: str) -> None:
    init = getattr(ap.nn.initializers, name)()
    drawn = np.asarray(init(ap.random.PRNGKey(0), (200, 100)))
    wanted = {"glorot_normal": 2 / 300, "he_uniform": 2 / 200, "lecun_normal": 1 / 200}
    assert drawn.var() == pytest.approx(wanted.get(name, 2 / 300), rel=0.05)
    jax = pytest.importorskip("jax", reason="the bits are jax.nn's")
    theirs = getattr(jax.nn.initializers, name)()(jax.random.PRNGKey(0), (200, 100))
    np.testing.assert_allclose(drawn, np.asarray(theirs), rtol=1e-4, atol=1e-7)


@pytest.mark.usefixtures("backend")
def test_other_initializers() -> None:
    key, init = ap.random.PRNGKey(1), ap.nn.initializers
    assert np.asarray(init.zeros(key, (2,))).tolist() == [0.0, 0.0]
    assert np.asarray(init.ones(key, (2,), "int8")).tolist() == [1, 1]
    assert np.asarray(init.constant(3.0)(key, (1,))).tolist() == [3.0]
    drawn = np.asarray(init.truncated_normal(1.0)(key, (1000,)))
    assert np.abs(drawn).max() <= 2
    assert np.asarray(init.uniform(1.0)(key, (100,))).min() >= 0
    with pytest.raises(ValueError, match="mode='fan'"):
        init.variance_scaling(1.0, "fan", "normal")
    with pytest.raises(ValueError, match="needs two axes"):
        init.he_normal()(key, (3,))


@pytest.mark.usefixtures("backend")
def test_relu_keeps_nan():
    found = ap.nn.relu(anp.array([np.nan, -np.inf, -0.0, 2.0], "float32"))
    np.testing.assert_array_equal(np.asarray(found), [np.nan, 0, 0, 2])
