"""Hints change no value; places of scatter_apply and index_take are JAX's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax


@pytest.mark.usefixtures("backend")
def test_values_stay() -> None:
    x = anp.asarray([1.0, 2.0])

    def f(v: Any) -> Any:
        a, b = lax.optimization_barrier((anp.sin(v), v))
        lax.dce_sink(a)
        return (a * lax.stage(b)).sum()

    assert float(f(x)) == pytest.approx(float((np.sin([1, 2]) * [1, 2]).sum()), rel=1e-6)
    for run in (ap.grad(f), ap.jit(ap.grad(f))):
        expected = np.cos([1, 2]) * [1, 2] + np.sin([1, 2])
        np.testing.assert_allclose(np.asarray(run(x)), expected, rtol=1e-6)
    assert ap.vmap(lax.optimization_barrier)(x).shape == (2,)


def test_platforms(backend: str) -> None:
    def f(v: Any) -> Any:
        return lax.platform_dependent(v, cpu=lambda a: a + 1, default=lambda a: a - 1)

    expected = 2.0 if backend == "cupy-sim" else 4.0
    assert float(f(anp.asarray(3.0))) == float(ap.jit(f)(anp.asarray(3.0))) == expected
    if backend != "jax":
        with pytest.raises(NotImplementedError, match="default="):
            lax.platform_dependent(1.0, tpu=lambda a: a)


@pytest.mark.usefixtures("backend")
def test_composite_is_its_decomposition() -> None:
    scaled = lax.composite(lambda x, *, factor: x * factor, "my.scaled", 1)
    x = anp.asarray([1.0, 2.0])
    np.testing.assert_array_equal(np.asarray(scaled(x, factor=3)), [3.0, 6.0])
    np.testing.assert_array_equal(np.asarray(ap.jit(lambda v: scaled(v, factor=3))(x)), [3.0, 6.0])


def test_tokens(backend: str) -> None:
    if backend == "jax":
        assert lax.after_all(lax.create_token()) is not None
        return
    for call in (lax.create_token, lax.after_all):
        with pytest.raises(ap.errors.UnsupportedOnBackendError, match="need none"):
            call()


@pytest.mark.usefixtures("backend")
def test_places() -> None:
    x = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    rows, columns = np.array([0, 2, 5]), np.array([1, -1, 2])
    found = lax.index_take(anp.asarray(x), (anp.asarray(rows), anp.asarray(columns)), (0, 1))
    np.testing.assert_array_equal(np.asarray(found), x[rows % 3, columns % 4])
    found = lax.index_take(anp.asarray(x), (anp.asarray(columns),), (1,))
    np.testing.assert_array_equal(np.asarray(found), x[:, columns % 4].T)

    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    places = anp.asarray([[1], [1], [2], [9]])

    def f(v: Any) -> Any:
        return lax.scatter_apply(v, places, lambda a: a * 2 + 1, numbers, update_shape=(4,))

    for run in (f, ap.jit(f)):
        np.testing.assert_array_equal(np.asarray(run(anp.asarray([1.0, 1.0, 1.0]))), [1, 7, 3])
    _, tangent = ap.jvp(f, (anp.ones(3),), (anp.ones(3),))
    np.testing.assert_array_equal(np.asarray(tangent), [1, 4, 2])
