"""Initializers give the numbers of JAX's, on every backend, and the variances that they promise."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
from arrayport.nn import initializers

pytestmark = pytest.mark.usefixtures("backend")

MAKERS = [
    ("constant", (2.5,)),
    ("glorot_normal", ()),
    ("glorot_uniform", ()),
    ("he_normal", ()),
    ("he_uniform", ()),
    ("kaiming_normal", ()),
    ("kaiming_uniform", ()),
    ("lecun_normal", ()),
    ("lecun_uniform", ()),
    ("normal", (0.3,)),
    ("orthogonal", (0.5,)),
    ("truncated_normal", (0.3,)),
    ("uniform", (0.3,)),
    ("variance_scaling", (2.0, "fan_avg", "truncated_normal")),
    ("xavier_normal", ()),
    ("xavier_uniform", ()),
]


@pytest.mark.parametrize(("name", "arguments"), MAKERS, ids=[name for name, _ in MAKERS])
@pytest.mark.parametrize("shape", [(6, 4), (3, 3, 2, 5)], ids=str)
def test_same_as_jax(name, arguments, shape):
    jax = pytest.importorskip("jax", reason="JAX is the reference")
    found = getattr(initializers, name)(*arguments)(ap.random.PRNGKey(3), shape)
    expected = getattr(jax.nn.initializers, name)(*arguments)(jax.random.PRNGKey(3), shape)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "variance"),
    [
        ("glorot_normal", 2 / (200 + 100)),
        ("glorot_uniform", 2 / (200 + 100)),
        ("he_normal", 2 / 200),
        ("lecun_uniform", 1 / 200),
    ],
)
def test_variance(name, variance):
    """20,000 draws: the sample variance is within 5 % with room to spare."""
    drawn = np.asarray(getattr(initializers, name)()(ap.random.PRNGKey(0), (200, 100)))
    np.testing.assert_allclose(drawn.var(), variance, rtol=0.05)
    assert abs(drawn.mean()) < 5 * (variance / drawn.size) ** 0.5


@pytest.mark.parametrize(("name", "value"), [("zeros", 0), ("ones", 1)])
def test_constant_functions(name, value):
    drawn = getattr(initializers, name)(ap.random.PRNGKey(0), (2, 3), "int32")
    assert drawn.dtype == np.int32
    np.testing.assert_array_equal(np.asarray(drawn), np.full((2, 3), value))


@pytest.mark.parametrize("distribution", ["normal", "truncated_normal", "uniform"])
def test_complex_numbers_have_the_variance_and_a_bounded_size(distribution):
    init = initializers.variance_scaling(0.5, "fan_in", distribution)
    found = np.asarray(init(ap.random.key(0), (2, 4000), "complex64"))
    assert found.dtype == np.complex64
    # JAX divides by a deviation for the cut at two that leaves out what is cut off.
    expected = 0.25 * (1.0187 if distribution == "truncated_normal" else 1)
    np.testing.assert_allclose(np.mean(abs(found) ** 2), expected, rtol=0.03)
    np.testing.assert_allclose(np.mean(found), 0, atol=0.02)
    bound = {"uniform": 0.5**0.5, "truncated_normal": 1 / 0.953112, "normal": np.inf}[distribution]
    assert abs(found).max() <= bound + 1e-6


def test_truncated_complex_numbers_are_jaxs():
    jax = pytest.importorskip("jax", reason="JAX is the reference")
    found = initializers.lecun_normal()(ap.random.PRNGKey(3), (2, 4), "complex64")
    expected = jax.nn.initializers.lecun_normal()(jax.random.PRNGKey(3), (2, 4), "complex64")
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=2e-5, atol=1e-6)


def test_delta_orthogonal_is_jaxs():
    jax = pytest.importorskip("jax", reason="JAX is the reference")
    found = initializers.delta_orthogonal(2.0)(ap.random.PRNGKey(3), (3, 2, 2, 4))
    expected = jax.nn.initializers.delta_orthogonal(2.0)(jax.random.PRNGKey(3), (3, 2, 2, 4))
    np.testing.assert_allclose(found.__array__(), np.asarray(expected), atol=1e-6)


@pytest.mark.parametrize(
    ("maker", "shape"),
    [("orthogonal", (3,)), ("delta_orthogonal", (3, 4, 2)), ("delta_orthogonal", (2, 2))],
)
def test_shapes_without_such_matrices(maker, shape):
    with pytest.raises(ValueError, match="orthogonal initializer needs"):
        getattr(initializers, maker)()(ap.random.PRNGKey(0), shape)
