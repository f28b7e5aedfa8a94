"""Bits: values against NumPy, Python's integers and JAX, on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax

INTEGERS = ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"]


def samples(dtype: str) -> np.ndarray:
    info = np.iinfo(dtype)
    drawn = np.random.default_rng(0).integers(info.min, info.max, 20, dtype, endpoint=True)
    return np.concatenate([drawn, np.array([info.min, info.max, 0, 1, info.max // 3], dtype)])


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.usefixtures("backend")
def test_integers(dtype: str) -> None:
    x, y = samples(dtype), samples(dtype)[::-1]
    width = 8 * x.itemsize
    zeros = [width - (int(v) & ((1 << width) - 1)).bit_length() for v in x]
    upper = [(int(a) * int(b)) >> width for a, b in zip(x, y, strict=True)]
    found = lax.clz(anp.asarray(x)), lax.mulhi(anp.asarray(x), anp.asarray(y))
    assert [f.dtype for f in found] == [dtype, dtype]
    np.testing.assert_array_equal(np.asarray(found[0]), np.array(zeros, dtype))
    np.testing.assert_array_equal(np.asarray(found[1]), np.array(upper, dtype))


@pytest.mark.parametrize(
    ("old", "new", "shape"),
    [
        ("float32", "int32", (3, 2)),
        ("float32", "uint8", (2, 3)),
        ("int16", "float64", (3, 4)),
        ("float16", "uint16", ()),
        ("int64", "int64", (2,)),
        ("uint8", "float32", (0, 4)),
    ],
)
@pytest.mark.usefixtures("backend")
def test_bits_are_read(old: str, new: str, shape: Any) -> None:
    jax = pytest.importorskip("jax", reason="jax.lax says where axes come and go")
    x = np.random.default_rng(0).integers(0, 99, shape).astype(old)
    with jax.enable_x64(True):
        expected = np.asarray(jax.lax.bitcast_convert_type(x, new))
    found = lax.bitcast_convert_type(anp.asarray(x), new)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(np.asarray(found), expected)
    twice = ap.vmap(lambda v: lax.bitcast_convert_type(v, new))(anp.stack([anp.asarray(x)] * 2))
    np.testing.assert_array_equal(np.asarray(twice[1]), expected)


@pytest.mark.usefixtures("backend")
def test_bits_do_not_move_with_their_numbers() -> None:
    slope = ap.grad(lambda v: lax.bitcast_convert_type(v, "int32").view("float32") + v)
    assert float(slope(anp.float32(2.0))) == 1.0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("bits", [(8, 7), (5, 10), (4, 3), (1, 0), (11, 52), (5, 30)])
def test_precision_is_that_of_xla(bits: tuple[int, int], dtype: str) -> None:
    jax = pytest.importorskip("jax", reason="the expected values are jax.lax's")
    rng = np.random.default_rng(0)
    x = rng.normal(size=400) * 2.0 ** rng.integers(-30, 30, 400)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 65504, 65519.9, 65520, 1.9999, 3.5e38]
    with jax.enable_x64(True), np.errstate(over="ignore"):
        host = np.asarray(jax.numpy.asarray(np.concatenate([x, special]), dtype))
        expected = np.array(jax.lax.reduce_precision(host, *bits), float)
    # Without a mantissa XLA keeps NaN or, by the emitters that tests take, makes it infinite.
    expected[np.isnan(host.astype(float))] = np.nan
    for backend in ("numpy", *(["cupy-sim"] if dtype != "bfloat16" else [])):
        with ap.use_backend(backend):
            found = lax.reduce_precision(anp.asarray(host), *bits)
        assert found.dtype == dtype
        np.testing.assert_array_equal(np.asarray(found).astype(float), expected)
        np.testing.assert_array_equal(np.signbit(np.asarray(found)), np.signbit(expected))


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: lax.bitcast_convert_type(anp.ones(3, bool), "int8"), TypeError, "no bits of bool"),
        (lambda: lax.bitcast_convert_type(anp.ones(3, "int16"), "int32"), ValueError, "2 elements"),
        (lambda: lax.clz(anp.ones(3)), TypeError, "signed integers"),
        (lambda: lax.reduce_precision(anp.ones(3), 0, 3), ValueError, "exponent_bits"),
        (lambda: lax.reduce_precision(anp.ones(3, int), 5, 3), TypeError, "takes float16"),
    ],
)
def test_messages(call: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        call()
