"""Reductions, places of extremes and cumulations: values, derivatives, batches, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core import dtypes
from arrayport.ops import reductions as ops

NAN, INF = np.nan, np.inf
NUMBERS = ["int8", "uint16", "int32", "float16", "bfloat16", "float32", "float64", "complex64"]
TIES = np.array([[2.0, 0.0, 2.0, -1.0], [0.5, 3.0, 2.0, 3.0], [2.0, 0.0, 0.0, 3.0]])
MIXED = np.array([[1.5, -2.0, 0.7, 3.0, 0.0], [0.3, 2.5, -1.1, 0.0, 0.9]])
REDUCTIONS = {
    "reduce_max": (ops.reduce_max, np.max, [*NUMBERS, "bool"]),
    "reduce_min": (ops.reduce_min, np.min, [*NUMBERS, "bool"]),
    "reduce_prod": (ops.reduce_prod, np.prod, NUMBERS),
    "reduce_and": (ops.reduce_and, np.bitwise_and.reduce, ["bool", "int8", "uint16"]),
    "reduce_or": (ops.reduce_or, np.bitwise_or.reduce, ["bool", "int8", "uint16"]),
    "reduce_xor": (ops.reduce_xor, np.bitwise_xor.reduce, ["bool", "int8", "uint16"]),
}
CUMULATIONS = {
    "cumsum": (ops.cumsum, np.add),
    "cumprod": (ops.cumprod, np.multiply),
    "cummax": (ops.cummax, np.maximum),
    "cummin": (ops.cummin, np.minimum),
    "cumlogsumexp": (ops.cumlogsumexp, np.logaddexp),
}


def sample(dtype: str, shape: tuple[int, ...]) -> Any:
    """Small whole numbers, exact in every dtype."""
    known = dtypes.SUPPORTED[dtype]
    whole = np.random.default_rng(3).integers(0 if dtypes.kind(known) in "bu" else -2, 4, shape)
    return (whole * (1 - 1j) if dtypes.kind(known) == "c" else whole).astype(known)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("axes", [(1,), (0, -1), None, ()])
@pytest.mark.parametrize(
    ("name", "dtype"), [(n, d) for n, (*_, ds) in REDUCTIONS.items() for d in ds]
)
def test_reductions_are_numpys(name: str, dtype: str, axes: Any):
    ours, numpys, _ = REDUCTIONS[name]
    x = sample(dtype, (3, 2, 4))
    out = ours(anp.asarray(x), axes)
    exact = x.astype(np.float64) if dtypes.kind(x.dtype) == "f" else x
    kwargs = {"dtype": exact.dtype} if name == "reduce_prod" else {}
    want = numpys(exact, axis=axes, **kwargs)
    assert out.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(out).astype(want.dtype), want.astype(x.dtype))


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(("name", "one"), [("prod", 1), ("and", -1), ("or", 0), ("xor", 0)])
def test_nothing_reduces_to_the_identity(name: str, one: int):
    out = getattr(ops, f"reduce_{name}")(anp.zeros((0, 2), "int32"), (0,))
    assert np.asarray(out).tolist() == [one, one]


@pytest.mark.parametrize("reduce", [ops.reduce_max, ops.reduce_min])
def test_an_extreme_of_nothing_is_refused(reduce: Callable[..., Any]):
    with pytest.raises(ValueError, match="extreme of no elements"):
        reduce(anp.zeros((0, 2)), (0,))
    assert reduce(anp.zeros((0, 2)), (1,)).shape == (0,)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("reduce", [ops.reduce_max, ops.reduce_min])
def test_nan_is_every_extreme(reduce: Callable[..., Any]):
    assert np.isnan(np.asarray(reduce(anp.asarray([1.0, NAN, 3.0]), (0,))))


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("place", [ops.argmax, ops.argmin])
@pytest.mark.parametrize("dtype", ["int8", "uint16", "float16", "bfloat16", "float64", "bool"])
def test_places_are_numpys(place: Any, dtype: str):
    x = sample(dtype, (3, 7))
    out = place(anp.asarray(x), 1, "int16")
    assert out.dtype == np.int16
    numpys = getattr(np, place.__name__)
    np.testing.assert_array_equal(np.asarray(out), numpys(x.astype(np.float64), 1))


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("place", [ops.argmax, ops.argmin])
def test_the_first_nan_is_the_extreme(place: Any):
    x = anp.asarray([2.0, NAN, 9.0, NAN])
    assert int(place(x, 0, "int32")) == 1


def test_places_refuse_complex_and_empty():
    with pytest.raises(TypeError, match="argmax has no meaning for dtype complex64"):
        ops.argmax(anp.zeros(2, "complex64"), 0, "int32")
    with pytest.raises(ValueError, match="argmin of shape"):
        ops.argmin(anp.zeros(0), 0, "int32")
    with pytest.raises(TypeError, match="integer index_dtype"):
        ops.argmin(anp.zeros(2), 0, "float32")


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", CUMULATIONS)
def test_cumulations_are_numpys(name: str, dtype: str, axis: int, reverse: bool):
    ours, ufunc = CUMULATIONS[name]
    x = sample(dtype, (3, 5))
    kind = dtypes.kind(x.dtype)
    if name == "cumlogsumexp" and kind != "f":
        with pytest.raises(TypeError, match="no meaning for dtype"):
            ours(anp.asarray(x), axis, reverse)
        return
    out = ours(anp.asarray(x), axis, reverse)
    exact = x.astype(np.float64) if kind == "f" else x
    if reverse:
        exact = np.flip(exact, axis)
    want = ufunc.accumulate(exact, axis, dtype=exact.dtype)
    if reverse:
        want = np.flip(want, axis)
    assert out.dtype == x.dtype
    error = float(dtypes.finfo(x.dtype).eps) if kind in "fc" else 0
    np.testing.assert_allclose(
        np.asarray(out).astype(want.dtype), want, rtol=4 * error, atol=4 * error
    )


def test_booleans_do_not_cumulate():
    with pytest.raises(TypeError, match="cumsum has no meaning for dtype bool"):
        ops.cumsum(anp.zeros(2, "bool"))


def test_axes_are_checked():
    with pytest.raises(ValueError, match="out of bounds"):
        ops.reduce_max(anp.zeros(2), (1,))
    with pytest.raises(ValueError, match="twice"):
        ops.reduce_prod(anp.zeros((2, 2)), (0, -2))


@pytest.mark.parametrize("name", ["reduce_max", "reduce_min", "reduce_prod"])
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("x", [TIES, MIXED, MIXED.astype("complex128") * (1 + 2j)])
def test_derivatives_of_reductions(name: str, axes: Any, x: Any, same_as_jax: Any):
    lax = pytest.importorskip("jax.lax")
    same_as_jax(lambda v: getattr(ops, name)(v, axes), lambda v: getattr(lax, name)(v, axes), x)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", CUMULATIONS)
@pytest.mark.parametrize("x", [TIES, MIXED])
def test_derivatives_of_cumulations(name: str, axis: int, reverse: bool, x: Any, same_as_jax: Any):
    lax = pytest.importorskip("jax.lax")
    same_as_jax(
        lambda v: getattr(ops, name)(v, axis, reverse),
        lambda v: getattr(lax, name)(v, axis, reverse),
        x,
    )


@pytest.mark.parametrize("name", ["argmax", "argmin", "reduce_and", "reduce_or", "reduce_xor"])
def test_batches_of_what_is_not_smooth(name: str, same_as_jax: Any):
    lax = pytest.importorskip("jax.lax")
    x = sample("int32", (2, 5))
    args = (1, np.dtype("int32")) if name.startswith("arg") else ((1,),)
    same_as_jax(lambda v: getattr(ops, name)(v, *args), lambda v: getattr(lax, name)(v, *args), x)


def test_third_derivative_of_prod_with_zeros():
    x = anp.asarray([2.0, 0.0, 3.0, 0.0, 0.0])
    third = ap.jacfwd(ap.jacrev(ap.jacrev(lambda v: ops.reduce_prod(v, (0,)))))(x)
    want = np.zeros((5, 5, 5))
    for i, j, k in [(1, 3, 4), (1, 4, 3), (3, 1, 4), (3, 4, 1), (4, 1, 3), (4, 3, 1)]:
        want[i, j, k] = 6.0
    np.testing.assert_allclose(np.asarray(third), want)


def test_nothing_multiplied_has_no_derivative():
    out, grad = ap.value_and_grad(lambda v: ops.reduce_prod(v, (0, 1)))(anp.zeros((0, 2)))
    assert float(out) == 1.0
    assert grad.shape == (0, 2)


def test_cumlogsumexp_is_differentiable_at_minus_infinity():
    jacobian = ap.jacfwd(ops.cumlogsumexp)(anp.asarray([-INF, 1.0, 1.0, -INF]))
    want = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0.5, 0.5, 0], [0, 0.5, 0.5, 0]]
    np.testing.assert_allclose(np.asarray(jacobian), want, rtol=1e-12)


def test_integers_pass_through_gradients():
    x = anp.asarray([1.0, 5.0, 2.0])
    assert np.asarray(ap.grad(lambda v: v[ops.argmax(v, 0, "int32")])(x)).tolist() == [0, 1, 0]


def test_weak_types_stay():
    weak = anp.asarray(2.0) * 1.0
    assert weak.weak_type == ops.reduce_max(weak, ()).weak_type
    x = ap.lax.full((3,), 2.0)
    assert x.weak_type
    for out in (ops.reduce_max(x, (0,)), ops.cumsum(x), ap.jit(ops.cumsum)(x)):
        assert out.weak_type
    assert not ops.argmax(x, 0, "int32").weak_type
