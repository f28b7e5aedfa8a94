"""pmap: what it gives, how it transforms, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax

pytestmark = pytest.mark.usefixtures("eight")

X = np.array([3.0, -1.0, 4.0, 1.5, 0.5, -2.0, 7.0, 2.5], np.float32)
HALF = X[:4]


def squares(x):
    return lax.psum(x**2, "i") * x


def scale(x, factor):
    return x * factor


def test_values_and_axes():
    f = ap.pmap(lambda x, y: (x + y["a"], y["a"]), in_axes=(1, None), out_axes=(1, None))
    a = np.arange(24, dtype=np.float32).reshape(3, 8)
    total, same = f(anp.asarray(a), {"a": anp.asarray(2.0)})
    np.testing.assert_array_equal(np.asarray(total), a + 2)
    assert float(same) == 2
    np.testing.assert_array_equal(
        np.asarray(total.addressable_shards[5].data).reshape(3), a[:, 5] + 2
    )
    assert len(total.sharding.device_set) == 8


def test_keywords_and_static_arguments():
    f = ap.pmap(
        lambda x, kind, y: x * y if kind == "product" else x + y, static_broadcasted_argnums=1
    )
    a = anp.asarray(X)
    np.testing.assert_allclose(np.asarray(f(a, "product", a)), X * X)
    np.testing.assert_allclose(np.asarray(f(a, "sum", a)), X + X)
    with pytest.raises(ValueError, match=r"static_broadcasted_argnums=\(1,\).*1 positional"):
        f(a, kind="sum", y=a)


def test_fewer_indices_than_devices():
    found = ap.pmap(lambda x: x - lax.pmax(x, "i"), axis_name="i")(anp.asarray(HALF))
    np.testing.assert_allclose(np.asarray(found), HALF - HALF.max())
    assert found.devices() == set(ap.devices()[:4])
    chosen = ap.pmap(lambda x: 2 * x, devices=ap.devices()[4:])(anp.asarray(HALF))
    np.testing.assert_allclose(np.asarray(chosen), 2 * HALF)
    assert chosen.devices() == set(ap.devices()[4:])


def test_without_arguments():
    with ap.use_backend("numpy"):
        found = ap.pmap(lambda: lax.axis_index("i"), axis_name="i", axis_size=3)()
    np.testing.assert_array_equal(np.asarray(found), [0, 1, 2])


def test_derivatives_around_and_within():
    x = anp.asarray(X)
    total = (X**2).sum()
    around = ap.grad(lambda v: ap.pmap(squares, axis_name="i")(v).sum())(x)
    np.testing.assert_allclose(np.asarray(around), total + 2 * X * X.sum(), rtol=1e-6)
    # Within, each index differentiates the sum over all of what they give, as under vmap.
    within = ap.pmap(ap.grad(squares), axis_name="i")(x)
    np.testing.assert_allclose(np.asarray(within), total + 2 * X * X.sum(), rtol=1e-6)
    mapped = ap.vmap(ap.grad(squares), axis_name="i")(x)
    np.testing.assert_allclose(np.asarray(within), np.asarray(mapped), rtol=1e-6)
    _, tangent = ap.jvp(ap.pmap(squares, axis_name="i"), (x,), (anp.ones(8),))
    np.testing.assert_allclose(np.asarray(tangent), total + 2 * X * X.sum(), rtol=1e-6)


def test_within_jit_and_vmap():
    f = ap.pmap(squares, axis_name="i")
    a = np.stack([X, 2 * X])
    expected = (a**2).sum(1, keepdims=True) * a
    np.testing.assert_allclose(np.asarray(ap.jit(f)(anp.asarray(X))), expected[0], rtol=1e-6)
    np.testing.assert_allclose(np.asarray(ap.vmap(f)(anp.asarray(a))), expected, rtol=1e-6)


def test_nested(backend):
    if backend == "jax":
        pytest.skip("JAX has dropped pmap within pmap")
    a = X.reshape(2, 4)
    both = ap.pmap(ap.pmap(lambda x: x / lax.psum(x, ("i", "j")), axis_name="j"), axis_name="i")
    np.testing.assert_allclose(np.asarray(both(anp.asarray(a))), a / a.sum(), rtol=1e-6)
    with pytest.raises(ValueError, match=r"axis of 4, within pmaps over 3, and 8 devices"):
        both(anp.ones((3, 4)))


def test_ahead_of_time():
    lowered = ap.pmap(lambda x, n: x * n, static_broadcasted_argnums=1).lower(anp.asarray(X), 3)
    assert "mul" in lowered.as_text()
    assert lowered.out_info.shape == (8,)
    np.testing.assert_allclose(np.asarray(lowered.compile()(anp.asarray(X))), 3 * X)


def test_without_an_axis_the_first_counts():
    found = ap.pmap(lambda x: {"x": 2 * x, "y": x}, out_axes={"x": None, "y": 0})(anp.asarray(X))
    assert float(found["x"]) == 2 * X[0]
    np.testing.assert_array_equal(np.asarray(found["y"]), X)


def test_traced_once():
    traces = []

    def f(x):
        traces.append(1)
        return x + 1

    mapped = ap.pmap(f)
    mapped(anp.asarray(X))
    mapped(anp.asarray(X))
    assert len(traces) == 1


def test_what_it_refuses():
    x = anp.asarray(X)
    with pytest.raises(
        ValueError, match=r"mapped axis of 9 and 8 devices.*ARRAYPORT_NUM_CPU_DEVICES"
    ):
        ap.pmap(lambda a: a)(anp.ones(9))
    with pytest.raises(ValueError, match="given 2 devices for a mapped axis of 8"):
        ap.pmap(lambda a: a, devices=ap.devices()[:2])(x)
    with pytest.raises(ValueError, match="every entry of in_axes is None"):
        ap.pmap(lambda a: a, in_axes=None)(x)
    with pytest.raises(ValueError, match=r"args\[1\].*has 3 where others.* have 8"):
        ap.pmap(anp.add)(x, anp.ones(3))
    with pytest.raises(NameError, match="unbound axis name"):
        ap.pmap(lambda a: lax.psum(a, "j"), axis_name="i")(x)
    with pytest.raises(ValueError, match="in_axes of pmap"):
        ap.pmap(lambda a: a, in_axes=(0, 0))(x)
    with pytest.raises(ValueError, match=r"(pmap has out_axes=5|axis 5 is out of bounds)"):
        ap.pmap(lambda a: a, out_axes=5)(x)
    with pytest.raises(ValueError, match=r"(of scale is of type list|function scale is non-hash)"):
        ap.pmap(scale, static_broadcasted_argnums=1)(x, [1])
    with pytest.raises(ap.errors.TracerBoolConversionError):
        ap.pmap(lambda a: a if a > 0 else -a)(x)


def test_donated(backend):
    x = anp.asarray(X)
    found = ap.pmap(lambda a: a + 1, donate_argnums=0)(x)
    np.testing.assert_allclose(np.asarray(found), X + 1)
    if backend != "jax":  # which had to divide the array first, and donated its parts
        with pytest.raises(RuntimeError, match="deleted"):
            x + 1
