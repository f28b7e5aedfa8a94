"""Sorting, the order that sorts, and the largest elements: values, ties, derivatives, batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core import dtypes
from arrayport.ops import sorting as ops

NAN, INF = np.nan, np.inf
DTYPES = ["bool", "int8", "uint16", "int32", "float16", "bfloat16", "float32", "float64"]
SPECIAL = np.array([0.0, -0.0, 2.0, NAN, 0.0, -INF, 1.0, -0.0, NAN, INF, 1.0])


def sample(dtype: str, shape: tuple[int, ...]) -> Any:
    low = 0 if dtypes.kind(dtype) in "bu" else -3
    return np.random.default_rng(5).integers(low, 4, shape).astype(dtypes.SUPPORTED[dtype])


def ordered(keys: list[np.ndarray], axis: int) -> np.ndarray:
    """Find the stable order by NumPy's lexsort, whose last key is the first in rank."""
    return np.lexsort([k.astype(np.float64) for k in reversed(keys)], axis=axis)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("shape", [(7,), (3, 5), (5000,), (2, 3000), (0,)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sort_and_argsort_are_numpys(dtype: str, shape: Any):
    x = sample(dtype, shape)
    for axis in range(len(shape)):
        order = ordered([x], axis)
        out, found = ops.sort(anp.asarray(x), axis), ops.argsort(anp.asarray(x), axis)
        assert (out.dtype, found.dtype) == (x.dtype, np.int32)
        np.testing.assert_array_equal(np.asarray(found), order)
        np.testing.assert_array_equal(np.asarray(out), np.take_along_axis(x, order, axis))


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("shape", [(40,), (4, 6), (5000,)])
@pytest.mark.parametrize("dtype", ["bool", "int8", "float32"])
def test_several_keys(dtype: str, shape: Any):
    keys = [sample(dtype, shape), sample("float64", shape)[..., ::-1].copy()]
    rest = np.arange(keys[0].size).reshape(shape)
    outs = ops.sort([anp.asarray(a) for a in (*keys, rest)], -1, num_keys=2)
    order = ordered(keys, -1)
    for out, a in zip(outs, (*keys, rest), strict=True):
        np.testing.assert_array_equal(np.asarray(out), np.take_along_axis(a, order, -1))


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("copies", [1, 500])
def test_nan_is_last_and_zeros_are_equal(copies: int):
    x = np.tile(SPECIAL, copies)
    order = np.concatenate([np.flatnonzero(x == v) for v in (-INF, 0, 1, 2, INF)])
    order = np.concatenate([order, np.flatnonzero(np.isnan(x))])
    out, found = ops.sort(anp.asarray(x)), ops.argsort(anp.asarray(x))
    assert np.asarray(found).tolist() == order.tolist()
    numbers = slice(len(x) - np.isnan(x).sum())
    np.testing.assert_array_equal(np.asarray(out), x[order])
    signs = np.signbit(np.asarray(out))[numbers]
    np.testing.assert_array_equal(signs, np.signbit(x[order])[numbers])


@pytest.mark.usefixtures("backend")
def test_complex_numbers_go_by_real_then_imaginary_parts():
    x = np.array([2, complex(1, NAN), complex(NAN, 0), 1 + 5j, complex(-0.0, 1), 0], "complex128")
    assert np.asarray(ops.argsort(anp.asarray(x))).tolist() == [5, 4, 3, 1, 0, 2]
    np.testing.assert_array_equal(np.asarray(ops.sort(anp.asarray(x))), x[[5, 4, 3, 1, 0, 2]])


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("k", [0, 1, 4, 7])
@pytest.mark.parametrize("shape", [(7,), (3, 8), (7, 3000)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_top_k_gives_the_lower_index_first(dtype: str, shape: Any, k: int):
    x = sample(dtype, shape)
    x = np.random.default_rng(0).permuted(x, axis=-1) if k > 1 else x
    values, indices = ops.top_k(anp.asarray(x), k)
    order = np.argsort(-x.astype(np.float64), axis=-1, kind="stable")[..., :k]
    assert (values.dtype, indices.dtype) == (x.dtype, np.int32)
    np.testing.assert_array_equal(np.asarray(indices), order)
    np.testing.assert_array_equal(np.asarray(values), np.take_along_axis(x, order, -1))


@pytest.mark.usefixtures("backend")
def test_top_k_by_partition():
    x = np.random.default_rng(2).standard_normal((2, 3000))
    values, indices = ops.top_k(anp.asarray(x), 5)
    order = np.argsort(-x, axis=-1)[:, :5]
    np.testing.assert_array_equal(np.asarray(indices), order)
    np.testing.assert_array_equal(np.asarray(values), np.take_along_axis(x, order, -1))


@pytest.mark.usefixtures("backend")
def test_top_k_of_special_floats_and_another_axis():
    x = np.stack([SPECIAL, np.zeros(len(SPECIAL))], 1)
    _, indices = ops.top_k(anp.asarray(x), 8, axis=0)
    assert np.asarray(indices)[:, 0].tolist() == [3, 8, 9, 2, 6, 10, 0, 4]
    assert np.asarray(indices)[:, 1].tolist() == list(range(8))


def test_refusals():
    x = anp.zeros(3)
    with pytest.raises(ValueError, match="num_keys from 1"):
        ops.sort([x, x], num_keys=3)
    with pytest.raises(TypeError, match="one shape"):
        ops.sort([x, anp.zeros(2)])
    with pytest.raises(ValueError, match="out of bounds"):
        ops.sort(anp.asarray(1.0))
    with pytest.raises(ValueError, match="k from 0 to 3"):
        ops.top_k(x, 4)
    with pytest.raises(TypeError, match="complex"):
        ops.top_k(anp.zeros(3, "complex64"), 1)


@pytest.mark.parametrize("axis", [0, 1])
def test_derivatives(axis: int, same_as_jax: Any):
    lax = pytest.importorskip("jax.lax")
    x = np.array([[2.0, 1.0, 2.0, -1.0], [0.5, 3.0, 2.5, 3.0], [2.0, 0.0, 0.0, 1.0]])
    y = np.sin(np.arange(12.0)).reshape(3, 4)
    n = np.array([[2, 1, 2, 0], [0, 1, 1, 1], [2, 0, 0, 2]], "int32")
    same_as_jax(lambda v: ops.sort(v * v, axis), lambda v: lax.sort(v * v, axis), x)
    same_as_jax(
        lambda *v: ops.sort(v, axis, num_keys=2), lambda *v: lax.sort(v, axis, num_keys=2), n, x, y
    )
    same_as_jax(
        lambda v: ops.top_k(v * v, 2, axis=axis),
        lambda v: lax.top_k(v * v, 2, axis=axis),
        x,
    )


def test_complex_derivatives(same_as_jax: Any):
    lax = pytest.importorskip("jax.lax")
    x = np.array([1 + 2j, 0.5 - 1j, 1 - 1j, -2j])
    same_as_jax(lambda v: ops.sort(v * v), lambda v: lax.sort(v * v), x)


def test_weak_types_stay():
    x = ap.lax.full((3,), 2.0)
    for outs in (ops.sort([x, x]), ap.jit(lambda v: ops.sort([v, v]))(x)):
        assert all(out.weak_type for out in outs)
    values, indices = ops.top_k(x, 2)
    assert values.weak_type
    assert not indices.weak_type
