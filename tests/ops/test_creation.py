"""Counts, fills and the identity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.ops import creation as ops


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("dtype", ["int8", "uint16", "bfloat16", "float16", "float32", "complex64"])
def test_iota_counts(dtype: str):
    out = ops.broadcasted_iota(dtype, (2, 3, 2), 1)
    assert out.dtype == anp.dtype(dtype)
    assert not out.weak_type
    want = np.broadcast_to(np.arange(3).reshape(3, 1), (2, 3, 2))
    np.testing.assert_array_equal(np.asarray(out).astype("complex64"), want)
    assert np.asarray(ops.iota("int8", 200))[-1] == 199 - 256


def test_iota_refuses():
    with pytest.raises(TypeError, match="does not count in bool"):
        ops.iota("bool", 2)
    with pytest.raises(ValueError, match="out of bounds"):
        ops.broadcasted_iota("int32", (2,), 1)


def test_iota_follows_an_operand():
    with ap.use_backend("cupy-sim"):
        x = anp.zeros((2, 3))
    out = ops.iota_like(x, np.dtype("int32"), 1)
    assert out.device == x.device
    assert np.asarray(out).tolist() == [[0, 1, 2]] * 2


@pytest.mark.usefixtures("backend")
def test_full_fills():
    out = ops.full((2, 1), 3)
    assert (out.shape, out.dtype, out.weak_type) == ((2, 1), np.int64, True)
    assert not ops.full((2,), 3, "int8").weak_type
    assert np.asarray(ops.full((2, 2), anp.asarray([1.0, 2.0]))).tolist() == [[1, 2], [1, 2]]
    assert ops.full((2,), True).dtype == np.bool_
    with pytest.raises(OverflowError, match="300 does not fit int8"):
        ops.full((2,), 300, "int8")


@pytest.mark.usefixtures("backend")
def test_eye_follows_an_operand():
    x = anp.zeros(1, "complex64")
    out: Any = ops.eye(3, x)
    assert (out.dtype, out.device) == (x.dtype, x.device)
    np.testing.assert_array_equal(np.asarray(out), np.eye(3))


def test_iota_inside_transformations():
    out = ap.vmap(lambda x: ops.iota_like(x, np.dtype("int32"), 0) * x)(anp.ones((2, 3)))
    assert np.asarray(ap.jit(lambda v: v * 1)(out)).tolist() == [[0, 1, 2]] * 2
