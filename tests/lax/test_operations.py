"""lax's operations give jax.lax's values and refuse what jax.lax refuses, on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax
from tests.calls import Case, case, converted, parts

F = np.linspace(-2.0, 2.5, 6, dtype=np.float32).reshape(2, 3)
P = np.abs(F) + 0.25
I = np.array([[-7, 2, 5], [0, -3, 9]], np.int32)
B = F > 0

CASES: list[Case] = [
    *[case(name, F) for name in ["abs", "neg", "sign", "sin", "tanh", "exp", "floor", "square"]],
    *[case(name, P) for name in ["sqrt", "rsqrt", "log", "lgamma", "digamma", "reciprocal"]],
    *[case(name, F / 3) for name in ["erf", "erfc", "erf_inv", "asin", "logistic", "is_finite"]],
    *[
        case(name, F, P)
        for name in ["add", "sub", "mul", "div", "max", "min", "atan2", "gt", "rem"]
    ],
    *[case(name, I, 4 + 0 * I) for name in ["div", "rem", "bitwise_and", "shift_left", "eq"]],
    case("pow", P, F),
    case("pow", P, 3),
    case("pow", P, I),
    case("integer_pow", F, -2),
    case("round", F * 2),
    case("round", F * 2, 1),
    case("clamp", np.float32(-1), F, np.float32(1)),
    case("clamp", -P, F, P),
    case("select", B, F, P),
    case("select_n", I % 3 - 0, F, P, -F),
    case("complex", F, P),
    case("conj", F),
    case("convert_element_type", F, np.int8),
    case("full", (2, 2), 1.5),
    case("full_like", F, 2),
    case("iota", np.int32, 4),
    case("broadcasted_iota", np.float32, (2, 3), 1),
    case("broadcast", F, (2,)),
    case("broadcast_in_dim", F, (2, 4, 3), (0, 2)),
    case("broadcast_to_rank", F, 4),
    case("collapse", np.ones((2, 3, 4), np.float32), 1),
    case("reshape", F, (3, 2)),
    case("reshape", F, (3, 2), (1, 0)),
    case("rev", F, (0, 1)),
    case("tile", F, (2, 1)),
    case("transpose", F, (1, 0)),
    case("squeeze", F[None], (0,)),
    case("expand_dims", F, (0, 3)),
    case("concatenate", [F, P], 1),
    case("pad", F, np.float32(9), [(1, 0, 1), (0, -1, 0)]),
    case("slice", F, (0, 1), (2, 3)),
    case("slice_in_dim", F, 0, 3, 2, axis=1),
    case("index_in_dim", F, -1, 1, keepdims=False),
    case("dynamic_slice", F, (1, 1), (1, 2)),
    case("dynamic_update_slice", F, P[:1, :2], (1, 1)),
    case("dynamic_index_in_dim", F, 1, 0),
    case("unstack", F, axis=1),
    case("split", F, (1, 2), axis=1),
    case("dot", F, F.T),
    case("dot", F[0], P[0]),
    case("batch_matmul", F[None], F.T[None]),
    case("dot_general", F, P, (((1,), (1,)), ((0,), (0,)))),
    case("reduce_sum", F, (0,)),
    case("reduce_max", F, (1,)),
    case("reduce_prod", F, (0, 1)),
    case("reduce_and", B, (0,)),
    case("argmax", F, 1, np.int32),
    case("cumsum", F, 1),
    case("cumlogsumexp", F, 0, reverse=True),
    case("sort", F, dimension=0),
    case("sort_key_val", I, F),
    case("top_k", F, 2),
    case("population_count", I),
    case("log2", P),
    case("one_minus_square", F),
    case("one_minus_square", I),
    case("polynomial", F, [1.0, 5.0, 2.0]),
    case("polynomial", I, [1, 5]),
    case("polynomial", F, [P, 1.5]),
    case("broadcast_like", F[0], P),
    case("shape_as_value", (2, 3)),
    case("shape_as_value", ()),
    case("approx_max_k", F, 2),
    case("approx_min_k", F, 1, 0),
    case("approx_max_k", F, 2, aggregate_to_topk=False),
    case("dot", F, F.T, precision="F32_F32_F32"),
]


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda i: f"{CASES[i][0]}-{i}")
@pytest.mark.usefixtures("backend")
def test_equals_jax(number: int) -> None:
    jax = pytest.importorskip("jax", reason="the expected values are jax.lax's")
    name, args, kwargs = CASES[number]
    if not hasattr(jax.lax, name):
        pytest.skip(f"this JAX has no lax.{name}: newer ones do")
    wanted = parts(getattr(jax.lax, name)(*args, **kwargs))
    found = parts(getattr(lax, name)(*converted(args), **kwargs))
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=3e-6, atol=1e-6)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lax.add,
            r"lax\.add needs one dtype, not float32, int32.*arrayport\.numpy",
        ),
        (lambda f, _i: lax.add(f, f[0]), r"lax\.add needs shapes of one rank, or \(\)"),
        (lambda _f, i: lax.sin(i), r"lax\.sin takes floats, complex, not int32"),
        (lambda f, _i: lax.add(f, "x"), r"an operand of lax\.add must be an array or a number"),
        (lambda f, i: lax.clamp(i, f, i), r"lax\.clamp needs one dtype"),
        (lambda f, _i: lax.clamp(f[0], f, f[0]), r"a bound of lax\.clamp has shape \(3,\)"),
        (lambda f, i: lax.select(f > 0, f, i), r"lax\.select needs cases of one shape and dtype"),
        (lambda f, _i: lax.select(f[0] > 0, f, f), r"which of shape \(3,\)"),
        (lambda f, _i: lax.select_n(f > 0, f, f, f), r"a boolean chooses between two cases"),
        (lambda f, _i: lax.transpose(f, (0,)), r"permutation \(0,\) must name each"),
        (lambda f, _i: lax.rev(f, (0, 0)), r"dimensions \(0, 0\) of rev must name"),
        (lambda f, _i: lax.rev(f, (-1,)), r"dimensions \(-1,\) of rev must name"),
        (lambda f, _i: lax.real(f), r"lax\.real takes complex"),
        (lambda f, _i: lax.neg(f > 0), r"lax\.neg takes signed integers"),
        (lambda f, i: lax.concatenate([f, i], 0), r"cannot concatenate dtypes"),
        (lambda f, _i: lax.dot(f, f), r"lax\.dot multiplies vectors and matrices"),
    ],
)
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call(anp.asarray(F), anp.asarray(I))


@pytest.mark.usefixtures("backend")
def test_python_numbers_take_the_dtype_of_the_array() -> None:
    for dtype in ("float16", "float32", "int8"):
        x = anp.ones(2, dtype)
        assert lax.add(x, 1).dtype == lax.max(2, x).dtype == x.dtype
        assert lax.gt(x, 0).dtype == bool
    with pytest.raises(TypeError, match="needs one dtype, not int32, float"):
        lax.add(anp.ones(2, "int32"), 1.5)
    with pytest.raises(OverflowError, match="300 does not fit int8"):
        lax.add(anp.ones(2, "int8"), 300)


@pytest.mark.usefixtures("backend")
def test_integer_division_is_xlas() -> None:
    x = anp.asarray([7, -7, 5], dtype="int32")
    np.testing.assert_array_equal(
        np.asarray(lax.div(x, anp.asarray([2, 2, 0], "int32"))), [3, -3, -1]
    )
    np.testing.assert_array_equal(
        np.asarray(lax.rem(x, anp.asarray([2, 2, 3], "int32"))), [1, -1, 2]
    )


@pytest.mark.usefixtures("backend")
def test_reduce_by_any_function() -> None:
    x = anp.asarray(F)
    np.testing.assert_allclose(
        np.asarray(lax.reduce(x, 1.0, lax.add, (0,))), 1 + F.sum(0), rtol=1e-6
    )
    largest = lax.reduce(x, -anp.inf, lambda a, b: anp.where(a > b, a, b), (0, 1))
    assert float(largest) == F.max()
    total, count = lax.reduce(
        (x, anp.ones_like(x)), (0.0, 0.0), lambda a, b: (a[0] + b[0], a[1] + b[1]), (1,)
    )
    np.testing.assert_allclose(np.asarray(total), F.sum(1), rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(count), [3.0, 3.0])
    slope = ap.grad(lambda v: lax.reduce(v, 1.0, lambda a, b: a * b, (0,))[0])(x)
    np.testing.assert_allclose(np.asarray(slope)[:, 0], F[::-1, 0], rtol=1e-6)


@pytest.mark.usefixtures("backend")
def test_associative_scan() -> None:
    x = np.arange(1, 8, dtype=np.float32)
    for n in range(1, 8):
        np.testing.assert_array_equal(
            np.asarray(lax.associative_scan(anp.add, anp.asarray(x[:n]))), x[:n].cumsum()
        )
    backwards = lax.associative_scan(anp.multiply, anp.asarray(x), reverse=True)
    np.testing.assert_array_equal(np.asarray(backwards), x[::-1].cumprod()[::-1])

    def compose(f: Any, g: Any) -> Any:
        return f[0] * g[0], g[0] * f[1] + g[1]

    slopes, offsets = np.float32([2, 3, 0.5, 1]), np.float32([1, -1, 4, 0])
    found = lax.associative_scan(compose, (anp.asarray(slopes), anp.asarray(offsets)))
    value, expected = 0.0, []
    for slope, offset in zip(slopes, offsets, strict=True):
        value = slope * value + offset
        expected.append(value)
    np.testing.assert_allclose(np.asarray(found[1]), expected, rtol=1e-6)


@pytest.mark.usefixtures("backend")
def test_map() -> None:
    x = anp.asarray(np.arange(5, dtype=np.float32))
    for size in (None, 2, 5):
        found = lax.map(lambda v: {"double": 2 * v}, x, batch_size=size)
        np.testing.assert_array_equal(np.asarray(found["double"]), 2 * np.arange(5))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: lax.reduce_sum(x, (3,)),
        lambda x: lax.reduce(x, 0.0, lax.add, (-4,)),
        lambda x: ap.nn.glu(x, 2),
    ],
    ids=["reduce_sum", "reduce", "glu"],
)
def test_an_axis_that_is_none_is_named(call):
    with pytest.raises(ValueError, match=r"axis -?\d is out of bounds for an array of 2 axes"):
        call(anp.ones((2, 2)))
