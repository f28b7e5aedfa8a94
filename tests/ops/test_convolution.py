"""Convolution: values on every backend by its definition, derivatives and batches against JAX's."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import arrayport.numpy as anp
from arrayport import lax

NHWC = ("NHWC", "HWIO", "NHWC")

# shapes of lhs and rhs, strides, padding, and the other arguments
CASES: dict[str, tuple[Any, Any, Any, Any, dict[str, Any]]] = {
    "same": ((2, 3, 6, 7), (4, 3, 3, 2), (1, 1), "SAME", {}),
    "valid": ((2, 3, 6, 7), (4, 3, 3, 2), (2, 1), "VALID", {}),
    "lower": ((1, 2, 6, 5), (2, 2, 4, 2), (2, 3), "SAME_LOWER", {"rhs_dilation": (1, 2)}),
    "all": (
        *((2, 6, 7, 3), (3, 2, 3, 4), (2, 3), ((1, 2), (-1, 0))),
        {"lhs_dilation": (2, 3), "rhs_dilation": (2, 1), "dimension_numbers": NHWC},
    ),
    "groups": ((2, 4, 6, 7), (6, 2, 3, 2), (1, 2), "SAME", {"feature_group_count": 2}),
    "depthwise": ((2, 4, 6, 7), (4, 1, 3, 2), (1, 2), "SAME", {"feature_group_count": 4}),
    "batch groups": (
        *((4, 3, 6, 7), (6, 3, 3, 2), (1, 2), ((1, 0), (2, 1))),
        {"batch_group_count": 2},
    ),
    "mixed layout": (
        *((7, 6, 4, 4), (4, 3, 3, 6), (1, 2), ((1, 0), (2, 1))),
        {"batch_group_count": 2, "dimension_numbers": ("HWNC", "IHWO", "CHWN")},
    ),
    "line": ((2, 3, 9), (4, 3, 3), (2,), ((0, 0),), {}),
    "no space": ((2, 3), (4, 3), (), (), {}),
    "volume": ((1, 2, 4, 4, 4), (2, 2, 2, 3, 2), (2, 1, 1), "SAME", {}),
    "too small": ((2, 3, 2, 2), (4, 3, 3, 3), (1, 1), "VALID", {}),
    "nothing": ((0, 3, 5, 5), (4, 3, 3, 3), (1, 1), "VALID", {}),
    "point": ((2, 3, 6, 6), (4, 3, 1, 1), (2, 2), "VALID", {}),
    "cut": ((2, 3, 6, 6), (4, 3, 3, 3), (5, 4), ((0, 3), (-2, -1)), {}),
}


def sample(case: str, dtype: str = "float64") -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    lhs, rhs, *_ = CASES[case]
    return tuple(rng.integers(-4, 5, shape).astype(dtype) for shape in (lhs, rhs))


def ours(case: str) -> Callable[[Any, Any], Any]:
    _, _, strides, padding, options = CASES[case]
    return lambda x, w: lax.conv_general_dilated(x, w, strides, padding, **options)


@pytest.mark.parametrize("case", CASES)
def test_derivatives_and_batches(case: str, same_as_jax: Callable[..., None]) -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    _, _, strides, padding, options = CASES[case]
    same_as_jax(
        ours(case),
        lambda x, w: jax.lax.conv_general_dilated(x, w, strides, padding, **options),
        *sample(case),
        order=2 if case in {"all", "groups", "batch groups"} else 1,
        batch=case in {"same", "all", "groups", "batch groups", "mixed layout"},
    )


def by_definition(x: Any, w: Any, stride: int, dilation: int, groups: int) -> Any:
    """Sum over features and window, place by place, of what "VALID" sees."""
    reach = [(n - 1) * dilation + 1 for n in w.shape[2:]]
    places = [(n - r) // stride + 1 for n, r in zip(x.shape[2:], reach, strict=True)]
    out = np.zeros((x.shape[0], w.shape[0], *places), np.result_type(x))
    each = w.shape[0] // groups
    for o, i, j in np.ndindex(*out.shape[1:]):
        first = o // each * w.shape[1]
        seen = x[
            :,
            first : first + w.shape[1],
            i * stride : i * stride + reach[0] : dilation,
            j * stride : j * stride + reach[1] : dilation,
        ]
        out[:, o, i, j] = (seen * w[o]).sum((1, 2, 3), dtype=out.dtype)
    return out


@pytest.mark.parametrize("dtype", ["int8", "int32", "float16", "bfloat16", "float32", "complex64"])
@pytest.mark.parametrize(("stride", "dilation", "groups"), [(1, 1, 1), (2, 1, 2), (1, 2, 1)])
@pytest.mark.usefixtures("backend")
def test_values(dtype: str, stride: int, dilation: int, groups: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(-2, 3, (3, 4, 7, 6))
    w = rng.integers(-2, 3, (6, 4 // groups, 3, 2))
    found = lax.conv_general_dilated(
        *(anp.asarray(v).astype(dtype) for v in (x, w)),
        *((stride, stride), "VALID"),
        rhs_dilation=(dilation, dilation),
        feature_group_count=groups,
    )
    assert found.dtype == dtype
    expected = by_definition(x, w, stride, dilation, groups)
    np.testing.assert_array_equal(np.asarray(found).astype(complex), expected)


def test_many_blocks() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.integers(-2, 3, (40, 8, 40, 40)), rng.integers(-2, 3, (4, 8, 5, 5))
    found = lax.conv(anp.asarray(x, dtype=float), anp.asarray(w, dtype=float), (1, 1), "VALID")
    np.testing.assert_array_equal(np.asarray(found), by_definition(x, w, 1, 1, 1))


@pytest.mark.parametrize("dtype", ["int8", "bfloat16"])
def test_wider_sums(dtype: str) -> None:
    x, w = anp.full((1, 3, 4, 4), 9, dtype), anp.full((2, 3, 3, 3), 9, dtype)
    wide = "int32" if dtype == "int8" else "float32"
    found = lax.conv(x, w, (1, 1), "VALID", preferred_element_type=wide)
    assert found.dtype == wide
    np.testing.assert_array_equal(np.asarray(found), np.full((1, 2, 2, 2), 27 * 81))


@pytest.mark.parametrize("transpose_kernel", [False, True])
@pytest.mark.parametrize("padding", ["SAME", "VALID", ((0, 0), (0, 0)), ((1, 1), (2, 0))])
def test_transposed(transpose_kernel: bool, padding: Any) -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1, 5, 4, 2)).astype(np.float32)
    w = rng.normal(size=(3, 3, 4, 2) if transpose_kernel else (3, 3, 2, 4)).astype(np.float32)
    for stride, dilation, consistent in product((1, 2, 5), (1, 2), (False, True)):
        arguments = (x, w, (stride, stride), padding, (dilation, dilation))
        options = {"transpose_kernel": transpose_kernel, "use_consistent_padding": consistent}
        expected = np.asarray(jax.lax.conv_transpose(*arguments, **options))
        found = np.asarray(lax.conv_transpose(*arguments, **options))
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_transposed_is_the_gradient() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(1, 8, 8, 3)), rng.normal(size=(3, 3, 3, 2))
    g = rng.normal(size=(1, 4, 4, 2))
    out = lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=NHWC)
    back = lax.conv_transpose(
        g, w, (2, 2), ((0, 1), (0, 1)), transpose_kernel=True, use_consistent_padding=True
    )
    # <conv(x), g> = <x, transpose(g)>
    np.testing.assert_allclose(float((out * g).sum()), float((back * x).sum()), rtol=1e-12)


@pytest.mark.parametrize("padding", ["SAME", "SAME_LOWER", "VALID"])
def test_padding(padding: str) -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    for n, k, s in product(range(1, 7), range(1, 5), range(1, 4)):
        expected = jax.lax.padtype_to_pads((n,), (k,), (s,), padding)
        assert lax.padtype_to_pads((n,), (k,), (s,), padding) == expected


@pytest.mark.parametrize("padding", ["SAME", ((1, 2), (0, 0))])
def test_shapes(padding: Any) -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    for lhs, rhs, stride in product(
        ((2, 5, 6, 3), (1, 9, 4, 2)), ((3, 3, 3, 4), (2, 1, 5, 4)), (1, 3)
    ):
        arguments = (lhs, rhs, (stride, 2), padding)
        plain = ((lhs[0], *lhs[2:]), (rhs[0], *rhs[1:3]), (2,), "VALID")
        assert lax.conv_shape_tuple(*plain) == tuple(jax.lax.conv_shape_tuple(*plain))
        for name in ("conv_general_shape_tuple", "conv_transpose_shape_tuple"):
            assert getattr(lax, name)(*arguments, NHWC) == getattr(jax.lax, name)(*arguments, NHWC)
    layout = ("WNCH", "IWHO", "CHWN")
    assert lax.conv_general_permutations(layout) == jax.lax.conv_general_permutations(layout)


@pytest.mark.usefixtures("backend")
def test_a_kernel_everywhere_is_a_local_one() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.integers(-4, 5, (2, 6, 5, 3)), rng.integers(-4, 5, (3, 2, 3, 4))
    x, w = anp.asarray(x, dtype=float), anp.asarray(w, dtype=float)
    options = {"rhs_dilation": (1, 2), "dimension_numbers": NHWC}
    expected = lax.conv_general_dilated(x, w, (2, 1), "SAME", **options)
    flat = w.transpose(2, 0, 1, 3).reshape(18, 4)
    local = anp.broadcast_to(flat, (*expected.shape[1:3], 18, 4))
    found = lax.conv_general_dilated_local(x, local, (2, 1), "SAME", (3, 2), **options)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


X, W = np.ones((2, 4, 5, 5)), np.ones((2, 4, 3, 3))
MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "features": (lambda: lax.conv(X, W[:, :3], (1, 1), "SAME"), ValueError, "4 features"),
    "strides": (lambda: lax.conv(X, W, (1,), "SAME"), ValueError, "window_strides"),
    "stride 0": (lambda: lax.conv(X, W, (0, 1), "SAME"), ValueError, "window_strides"),
    "name": (lambda: lax.conv(X, W, (1, 1), "FULL"), ValueError, "SAME_LOWER"),
    "rank": (lambda: lax.conv(X, W[0], (1, 1), "SAME"), TypeError, "one rank"),
    "letters": (
        lambda: lax.conv_dimension_numbers(X.shape, W.shape, ("NCHW", "OIHX", "NCHW")),
        ValueError,
        "spatial",
    ),
    "letter": (
        lambda: lax.conv_dimension_numbers(X.shape, W.shape, ("NCHW", "OIH", "NCHW")),
        ValueError,
        "OIH",
    ),
    "groups": (
        lambda: lax.conv_general_dilated(X, W[:, :2], (1, 1), "SAME", feature_group_count=4),
        ValueError,
        "feature_group_count",
    ),
    "batch groups": (
        lambda: lax.conv_general_dilated(X[:1], W, (1, 1), "SAME", batch_group_count=2),
        ValueError,
        "batch_group_count",
    ),
    "both groups": (
        lambda: lax.conv_general_dilated(X, W, (1, 1), "SAME", None, None, None, 2, 2),
        ValueError,
        "one of them 1",
    ),
    "dilation": (
        lambda: lax.conv_general_dilated(X, W, (1, 1), "SAME", lhs_dilation=(2, 2)),
        ValueError,
        "conv_transpose",
    ),
    "pairs": (lambda: lax.conv(X, W, (1, 1), [(0, 0)]), ValueError, "2 pairs"),
    "cut": (lambda: lax.conv(X, W, (1, 1), [(-4, -4), (0, 0)]), ValueError, "takes away"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_messages(mistake: str) -> None:
    call, error, match = MISTAKES[mistake]
    with pytest.raises(error, match=match):
        call()
