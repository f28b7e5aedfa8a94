"""Answers about dtypes and shapes, and functions that take functions: values that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayport.numpy as anp
from arrayport import tree_util

pytestmark = pytest.mark.usefixtures("backend")


@pytest.mark.parametrize(
    ("dtype", "kind", "expected"),
    [
        ("bool", "bool", True),
        ("int8", "signed integer", True),
        ("int8", "unsigned integer", False),
        ("uint8", "integral", True),
        ("bool", "integral", False),
        ("bfloat16", "real floating", True),
        ("complex64", "real floating", False),
        ("complex64", "numeric", True),
        ("float32", ("bool", "complex floating"), False),
        ("float32", ("bool", "float32"), True),
        ("int4", "integral", True),
    ],
)
def test_isdtype(dtype: str, kind: Any, expected: bool) -> None:
    kinds = kind if isinstance(kind, tuple) else (kind,)
    given = tuple(anp.dtype(k) if k == "float32" else k for k in kinds)
    assert anp.isdtype(anp.dtype(dtype), given if isinstance(kind, tuple) else given[0]) is expected


def test_isdtype_refuses_what_is_no_kind() -> None:
    with pytest.raises((TypeError, ValueError), match="floating"):
        anp.isdtype(anp.dtype("float32"), "floating")


@pytest.mark.parametrize(
    ("x", "real", "scalar"),
    [(1.0, True, True), (1j, False, True), (np.float32(2), True, True), ([1, 2], True, False)],
)
def test_objects(x: Any, real: bool, scalar: bool) -> None:
    assert anp.isrealobj(x) is real
    assert anp.iscomplexobj(x) is not real
    assert anp.isscalar(x) is scalar


def test_arrays_are_objects_too() -> None:
    assert anp.isrealobj(anp.ones(2))
    assert not anp.isrealobj(anp.ones(2, "complex64"))
    assert anp.isscalar(anp.array(1))  # as in JAX: it has no axes
    assert not anp.isscalar(anp.ones(1))


def test_einsum_path_contracts_the_small_pair_first() -> None:
    shapes = ((2, 50), (50, 50), (50, 3))
    path, text = anp.einsum_path("ij,jk,kl->il", *map(anp.ones, shapes), optimize="optimal")
    assert [tuple(step) if isinstance(step, tuple) else step for step in path] in (
        ["einsum_path", (0, 1), (0, 1)],
        [(0, 1), (0, 1)],
    )
    assert "ij,jk,kl->il" in str(text)


def test_frombuffer_copies() -> None:
    memory = bytearray(np.arange(4, dtype=np.int16).tobytes())
    x = anp.frombuffer(memory, "int16", count=2, offset=2)
    memory[2] = 77
    np.testing.assert_array_equal(np.asarray(x), np.int16([1, 2]))
    with pytest.raises(ValueError, match=r"offset|buffer"):
        anp.frombuffer(memory, "int16", offset=100)


@pytest.mark.parametrize(
    ("k", "expected"),
    [(0, [[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]), (1, [[0, 0, 1], [1, 2, 2]])],
)
def test_mask_indices(k: int, expected: list[list[int]]) -> None:
    found = anp.mask_indices(3, anp.triu, k)
    assert [x.tolist() for x in found] == expected
    rows, columns = anp.mask_indices(3, anp.triu, k, size=3)  # the first ones
    assert [rows.tolist(), columns.tolist()] == [places[:3] for places in expected]


def test_apply_over_axes_keeps_the_axes() -> None:
    host = np.arange(24.0).reshape(2, 3, 4)
    for axes in ([0, 2], (0, -1)):
        found = anp.apply_over_axes(anp.sum, anp.array(host), axes)
        kept = host.sum(tuple(np.atleast_1d(axes) % 3), keepdims=True)
        np.testing.assert_array_equal(np.asarray(found), kept)


def test_fromfunction_calls_with_the_places() -> None:
    found = anp.fromfunction(lambda i, j: 10 * i + j, (2, 3), dtype=int)
    assert found.tolist() == [[0, 1, 2], [10, 11, 12]]
    assert anp.fromfunction(lambda i: i * 0.5, (3,)).tolist() == [0.0, 0.5, 1.0]


def test_vectorize_maps_over_loop_axes() -> None:
    dot = anp.vectorize(anp.dot, signature="(n),(n)->()")
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(4, 1, 3)
    np.testing.assert_array_equal(np.asarray(dot(anp.array(a), anp.array(b))), (a * b).sum(-1))
    clip = anp.vectorize(lambda x, low: anp.where(x < low, low, x), excluded={1})
    assert clip(anp.array([1.0, 5.0]), 3.0).tolist() == [3.0, 5.0]
    with pytest.raises(ValueError, match="n"):
        dot(anp.ones(3), anp.ones(4))


def test_one_level_of_a_tree() -> None:
    children, about = tree_util.flatten_one_level({"b": (1, 2), "a": 3})
    assert list(children) == [3, (1, 2)]
    assert list(about) == ["a", "b"]
    pairs, _ = tree_util.flatten_one_level_with_keys([7, None])
    assert [(str(key), child) for key, child in pairs] == [("[0]", 7), ("[1]", None)]
    assert tree_util.is_tree_node(tuple)
    assert not tree_util.is_tree_node(float)


@pytest.mark.parametrize("period", [4, 5, 5.0])
@pytest.mark.parametrize("dtype", ["int8", "int32", "float32"])
def test_unwrap_takes_whole_periods_out(dtype: str, period: float) -> None:
    values = np.array([0, 3, 1, 5, 4, 9, 2], dtype)
    known = np.unwrap(values, period=period)
    found = anp.unwrap(anp.asarray(values), period=period)
    np.testing.assert_array_equal(np.asarray(found), known)
    held = anp.unwrap(anp.asarray(values), period=anp.asarray(period))
    np.testing.assert_array_equal(np.asarray(held), known)
    assert found.dtype == held.dtype == (values.dtype if type(period) is int else np.float32)


def test_geomspace_of_complex_ends_is_a_spiral() -> None:
    found = np.asarray(anp.geomspace(1 + 1j, 8, 4))
    np.testing.assert_allclose(found, np.geomspace(1 + 1j, 8, 4), rtol=1e-6, atol=1e-6)


def test_apply_along_axis_keeps_the_other_axes_in_order() -> None:
    x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    for axis in range(3):
        for function, own in ((anp.cumsum, np.cumsum), (anp.sum, np.sum)):
            np.testing.assert_array_equal(
                anp.apply_along_axis(function, axis, anp.asarray(x)),
                np.apply_along_axis(own, axis, x),
                str(axis),
            )


def test_a_float_that_fills_integers_saturates() -> None:
    ones = anp.ones(1, "int8")
    for fill in (
        lambda v: anp.full((1,), v, "int8"),
        lambda v: anp.full_like(ones, v),
        lambda v: anp.pad(ones, (0, 1), constant_values=v)[1:],
    ):
        found = [fill(v).tolist() for v in (300.5, float("-inf"), float("nan"), -1.9)]
        assert found == [[127], [-128], [0], [-1]]
