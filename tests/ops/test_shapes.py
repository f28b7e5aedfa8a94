"""Joining, padding and changes of shape: values, derivatives, batches, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.ops import shapes as ops

DTYPES = ["bool", "int8", "uint16", "float16", "bfloat16", "float32", "complex64"]
CONFIGS = [
    ((0, 0, 0), (1, 2, 0)),
    ((-1, 2, 1), (3, -2, 2)),
    ((-6, 6, 0), (0, 0, 0)),
    ((-1, -1, 0), (-1, -2, 0)),
    ((2, -3, 2), (1, -1, 0)),
    ((0, 0, 0), (0, 0, 0)),
]


def x_of(shape: tuple[int, ...], dtype: str = "float64") -> Any:
    return np.random.default_rng(1).integers(-9, 9, shape).astype(dtype)


def padded(x: np.ndarray, value: Any, config: Any) -> np.ndarray:
    """Pad by the definition, element by element."""
    shape = [
        lo + n + max(0, n - 1) * k + hi for n, (lo, hi, k) in zip(x.shape, config, strict=True)
    ]
    out = np.full(shape, value, x.dtype)
    for at in np.ndindex(*x.shape):
        to = [lo + i * (k + 1) for i, (lo, _, k) in zip(at, config, strict=True)]
        if all(0 <= i < n for i, n in zip(to, shape, strict=True)):
            out[tuple(to)] = x[at]
    return out


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("dtype", DTYPES)
def test_concatenate_is_numpys(dtype: str):
    parts = [np.ones(s).astype(anp.dtype(dtype)) for s in ((2, 3), (2, 0), (2, 1))]
    out = ops.concatenate([anp.asarray(p) for p in parts], 1)
    assert out.dtype == parts[0].dtype
    np.testing.assert_array_equal(np.asarray(out), np.concatenate(parts, 1))


def test_concatenate_refuses():
    with pytest.raises(ValueError, match="at least one"):
        ops.concatenate([], 0)
    with pytest.raises(TypeError, match=r"shapes \(2, 1\), \(2, 2\) along axis 0"):
        ops.concatenate([anp.zeros((2, 1)), anp.zeros((2, 2))], 0)
    with pytest.raises(TypeError, match="dtypes float64, int64"):
        ops.concatenate([anp.zeros(1), anp.zeros(1, int)], 0)
    with pytest.raises(ValueError, match="out of bounds"):
        ops.concatenate([anp.zeros(1), anp.zeros(1)], 1)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("shape", [(5, 4), (2, 6), (6, 3)])
def test_pad_is_its_definition(config: Any, shape: Any):
    x = x_of(shape)
    want = padded(x, 7, config) if min(x.shape) else None
    np.testing.assert_array_equal(np.asarray(ops.pad(anp.asarray(x), 7.0, config)), want)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("dtype", DTYPES)
def test_pad_keeps_any_dtype(dtype: str):
    x = np.ones((2, 3)).astype(anp.dtype(dtype))
    out = ops.pad(anp.asarray(x), anp.asarray(0).astype(dtype), [(1, 0, 0), (0, 0, 1)])
    assert out.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(out), padded(x, 0, [(1, 0, 0), (0, 0, 1)]))


@pytest.mark.usefixtures("backend")
def test_pad_of_nothing():
    assert np.asarray(ops.pad(anp.zeros(0), 7.0, [(1, 1, 2)])).tolist() == [7, 7]


def test_pad_refuses():
    with pytest.raises(TypeError, match="operand of float64 and a padding_value of int32"):
        ops.pad(anp.zeros(2), anp.zeros((), "int32"), [(0, 1, 0)])
    with pytest.raises(ValueError, match="for each axis"):
        ops.pad(anp.zeros(2), 0.0, [(0, 1, 0), (0, 0, 0)])
    with pytest.raises(ValueError, match="for each axis"):
        ops.pad(anp.zeros(2), 0.0, [(0, 1, -1)])
    with pytest.raises(ValueError, match="removes more"):
        ops.pad(anp.zeros(2), 0.0, [(-2, -1, 0)])


@pytest.mark.parametrize("config", CONFIGS)
def test_derivatives_of_pad(config: Any, same_as_jax: Any):
    lax = pytest.importorskip("jax.lax")
    value = np.array(1.5)
    same_as_jax(
        lambda v, p: ops.pad(v * v, p, config),
        lambda v, p: lax.pad(v * v, p, config),
        x_of((6, 6)),
        value,
    )
    same_as_jax(lambda v: ops.pad(v, 0.0, config), lambda v: lax.pad(v, 0.0, config), x_of((6, 6)))
    only = anp.asarray(x_of((6, 6)))
    gradient = ap.grad(lambda p: ops.pad(only, p, config).sum())(anp.asarray(1.5))
    assert float(gradient) == padded(np.zeros((6, 6)), 1.0, config).sum()


@pytest.mark.parametrize("dimension", [0, 1])
def test_derivatives_of_concatenate(dimension: int, same_as_jax: Any):
    lax = pytest.importorskip("jax.lax")
    x, y = x_of((2, 2)), x_of((2, 2)) * 0.5
    for operands in (lambda a, b: [a, b * a, a], lambda _, b: [b, b]):
        same_as_jax(
            lambda a, b, o=operands: ops.concatenate(o(a, b), dimension),
            lambda a, b, o=operands: lax.concatenate(o(a, b), dimension),
            x,
            y,
        )


def test_changes_of_shape(same_as_jax: Any):
    lax = pytest.importorskip("jax.lax")
    x = x_of((2, 1, 3, 1))
    same_as_jax(lambda v: ops.squeeze(v, (1, -1)), lambda v: lax.squeeze(v, (1, -1)), x)
    same_as_jax(lambda v: ops.expand_dims(v, (0, -1)), lambda v: lax.expand_dims(v, (0, -1)), x)
    same_as_jax(lambda v: ops.split(v, (1, 0, 2), 2), lambda v: list(lax.split(v, (1, 0, 2), 2)), x)
    jnp = pytest.importorskip("jax.numpy")
    same_as_jax(lambda v: ops.stack([v, v * v], -1), lambda v: jnp.stack([v, v * v], -1), x)


def test_changes_of_shape_refuse():
    with pytest.raises(ValueError, match="not all are 1"):
        ops.squeeze(anp.zeros((1, 2)), (1,))
    with pytest.raises(ValueError, match="twice"):
        ops.expand_dims(anp.zeros(2), (0, -3))
    with pytest.raises(ValueError, match="sum to 3"):
        ops.split(anp.zeros(3), (1, 1))
