"""Tests of casting, filling, broadcasting, reshaping, transposing and summing, against NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import arrayport as ap
from arrayport.ops import structure as ops
from arrayport.ops.promotion import lift

INF, NAN = np.inf, np.nan
GRID = np.sin(np.arange(24.0)).reshape(2, 3, 4)
pytestmark = pytest.mark.usefixtures("backend")


def check(ours, expected) -> None:
    ours, expected = np.asarray(ours), np.asarray(expected)
    assert ours.dtype == expected.dtype
    assert ours.shape == expected.shape
    np.testing.assert_array_equal(ours, expected)


def rounded(dtype):
    def cast(x):
        return ops.convert(x, np.dtype(dtype))

    return cast


# ---- cast

RANGES = [
    ("int8", -128, 127),
    ("uint8", 0, 255),
    ("int32", -(2**31), 2**31 - 1),
    ("uint32", 0, 2**32 - 1),
    ("int64", -(2**63), 2**63 - 1),
    ("uint64", 0, 2**64 - 1),
]


@pytest.mark.parametrize("source", ["float16", ml_dtypes.bfloat16, "float32", "float64"])
@pytest.mark.parametrize(("target", "low", "high"), RANGES)
def test_floats_saturate_as_integers(source, target, low, high):
    x = np.array([INF, -INF, NAN, 3.7, -3.7, -0.0, 100.0]).astype(source)
    expected = [high, low, 0, 3, max(low, -3), 0, 100]
    check(rounded(target)(lift(x)), np.array(expected, target))


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize(("target", "low", "high"), RANGES)
def test_floats_saturate_from_the_first_beyond(source, target, low, high):
    ends = np.array([low, float(high) + 1, low - 1.0], source)
    below = np.nextafter(ends[1], ends[1] / 2)
    x = np.append(ends, below)
    check(rounded(target)(lift(x)), np.array([low, high, low, int(below)], target))


def test_complex_numbers_lose_their_imaginary_part():
    x = np.array([1.5 + 2j, -3j, INF - 1j])
    check(rounded("float32")(lift(x)), x.real.astype("float32"))
    check(rounded("int8")(lift(x)), np.array([1, 0, 127], "int8"))
    check(rounded("bool")(lift(x)), np.array([True, True, True]))
    check(
        rounded("bool")(lift(np.array([0.0, -0.0, NAN, 0.1]))), np.array([False, False, True, True])
    )


@pytest.mark.parametrize("source", ["bool", "int8", "uint64", "float16", ml_dtypes.bfloat16])
@pytest.mark.parametrize("target", ["float32", "complex64", "int64", ml_dtypes.bfloat16])
def test_casts_that_fit_keep_values(source, target):
    x = np.array([0, 1, 1, 0]).astype(source)
    check(rounded(target)(lift(x)), x.astype(target))


def test_casts_of_scalars():
    check(rounded("int8")(lift(np.array(300.0))), np.array(127, "int8"))
    check(rounded("float32")(lift(np.array(2))), np.array(2.0, "float32"))


def test_cast_pulls_the_real_part_back():
    pulled = ap.vjp(rounded("complex128"), lift(np.array([1.0, 2.0])))[1](
        lift(np.array([3 + 1j, 2j]))
    )
    check(pulled[0], np.array([3.0, 0.0]))
    tangent = ap.jvp(rounded("float32"), (lift(np.array([1.0])),), (np.array([0.1]),))[1]
    check(tangent, np.array([0.1], "float32"))


# ---- fill, broadcast, reshape, transpose


@pytest.mark.parametrize("dtype", ["bool", "int8", "float64", "complex64", ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(), (3,), (0, 2), (2, 3)])
@pytest.mark.parametrize("value", [0, 1, True, 0.0])
def test_full(dtype, shape, value):
    like = lift(np.ones(shape, dtype))
    check(ops.full_like(like, value), np.full(shape, value).astype(dtype))


def test_full_keeps_signs_and_complex_values():
    like = lift(np.ones(2, complex))
    assert np.signbit(np.asarray(ops.full_like(lift(np.ones(2)), -0.0))).all()
    check(ops.full_like(like, 1 + 2j), np.full(2, 1 + 2j))


@pytest.mark.parametrize(
    ("given", "dims", "shape"),
    [
        ((), (), (3,)),
        ((), (), (2, 0)),
        ((3,), (1,), (2, 3)),
        ((3,), (0,), (3, 2)),
        ((1, 3), (0, 2), (2, 4, 3)),
        ((2, 3), (0, 1), (2, 3)),
        ((1, 1), (0, 1), (70, 80)),
        ((70, 1), (0, 1), (70, 80)),
    ],
)
def test_broadcast_in_dim(given, dims, shape):
    x = np.sin(np.arange(np.prod(given, dtype=int))).reshape(given)
    middle = [1] * len(shape)
    for d, n in zip(dims, given, strict=True):
        middle[d] = n
    f = lambda x: ops.broadcast_in_dim(x, shape, dims)
    check(f(lift(x)), np.broadcast_to(x.reshape(middle), shape))
    ct = np.ones(shape)
    expected = np.full(given, np.prod(shape) / max(np.prod(given, dtype=int), 1))
    check(ap.vjp(f, lift(x))[1](lift(ct))[0], expected)
    batched = ap.vmap(f)(lift(np.stack([x, x + 1])))
    check(batched, np.stack([np.broadcast_to(v.reshape(middle), shape) for v in (x, x + 1)]))


def test_broadcast_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"cannot broadcast \(3,\) to \(2, 4\)"):
        ap.jit(lambda x: ops.broadcast_in_dim(x, (2, 4), (1,)))(lift(np.ones(3)))


def test_broadcast_does_not_let_writes_through():
    x = np.ones(1)
    out = np.array(ops.broadcast_in_dim(lift(x), (3,), (0,)))
    out += 1
    assert x.tolist() == [1]


@pytest.mark.parametrize("shape", [(24,), (4, 6), (-1, 8), (2, 1, 12), (2, 3, 4)])
def test_reshape(shape):
    check(ops.reshape(lift(GRID), shape), GRID.reshape(shape))
    ct = np.cos(np.arange(24.0)).reshape(shape)
    pulled = ap.vjp(lambda x: ops.reshape(x, shape), lift(GRID))[1](lift(ct))[0]
    check(pulled, ct.reshape(GRID.shape))
    batched = ap.vmap(lambda x: ops.reshape(x, (4, 2)), in_axes=1)(lift(GRID))
    check(batched, np.stack([GRID[:, i].reshape(4, 2) for i in range(3)]))


def test_reshape_refuses_another_size():
    with pytest.raises(TypeError, match=r"\(2, 3, 4\) into \(5,\)"):
        ap.jit(lambda x: ops.reshape(x, (5,)))(lift(GRID))


@pytest.mark.parametrize("perm", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
def test_transpose(perm):
    check(ops.transpose(lift(GRID), perm), GRID.transpose(perm))
    ct = np.cos(np.arange(24.0)).reshape(GRID.transpose(perm).shape)
    pulled = ap.vjp(lambda x: ops.transpose(x, perm), lift(GRID))[1](lift(ct))[0]
    check(pulled, ct.transpose(np.argsort(perm)))
    batched = ap.vmap(lambda x: ops.transpose(x, (1, 0)), in_axes=2)(lift(GRID))
    check(batched, GRID.transpose(2, 1, 0))


# ---- sum


@pytest.mark.parametrize("axes", [None, (0,), (1, 2), (0, 2), ()])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "float64", "complex64"])
def test_sum_keeps_the_dtype(axes, dtype):
    x = (GRID * 100).astype(dtype)
    out = np.asarray(ops.reduce_sum(lift(x), axes))
    expected = np.add.reduce(x, axis=axes, dtype=x.dtype)
    assert out.dtype == x.dtype
    assert out.shape == expected.shape
    np.testing.assert_allclose(out, expected, rtol=1e-5 if dtype == "complex64" else 1e-13)


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16])
def test_sum_of_narrow_floats_does_not_stall(dtype):
    out = np.asarray(ops.reduce_sum(lift(np.ones(4096, dtype))))
    assert out.dtype == dtype
    assert float(out) == 4096


def test_sum_spreads_cotangents_and_batches():
    f = lambda x: ops.reduce_sum(x, (0, 2))
    ct = np.array([1.0, -2.0, 3.0])
    check(ap.vjp(f, lift(GRID))[1](lift(ct))[0], np.broadcast_to(ct[:, None], (2, 3, 4)))
    batched = ap.vmap(lambda x: ops.reduce_sum(x, (0,)), in_axes=2)(lift(GRID))
    np.testing.assert_allclose(np.asarray(batched), GRID.sum(0).T, rtol=1e-14)
    assert np.asarray(ops.reduce_sum(lift(np.ones((0, 3))), (0,))).tolist() == [0, 0, 0]
