"""Products: values against NumPy's einsum, derivatives and batches against JAX's dot_general."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.ops.products import dot, dot_general, matmul, tensordot

DTYPES = (
    "bool",
    "int8",
    "uint8",
    "int32",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
)

# shapes, dimension numbers, and the same as an einsum
CASES: dict[str, tuple[Any, Any, Any]] = {
    "ij,jk->ik": ((3, 4), (4, 5), (((1,), (0,)), ((), ()))),
    "i,i->": ((4,), (4,), (((0,), (0,)), ((), ()))),
    "ij,j->i": ((3, 4), (4,), (((1,), (0,)), ((), ()))),
    "j,jk->k": ((4,), (4, 2), (((0,), (0,)), ((), ()))),
    "ji,jk->ik": ((4, 3), (4, 2), (((0,), (0,)), ((), ()))),
    "ji,kj->ik": ((4, 3), (2, 4), (((0,), (1,)), ((), ()))),
    "ij,kl->ijkl": ((2, 3), (4, 2), (((), ()), ((), ()))),
    ",i->i": ((), (3,), (((), ()), ((), ()))),
    "bij,bjk->bik": ((2, 3, 4), (2, 4, 5), (((2,), (1,)), ((0,), (0,)))),
    "ijb,jbk->bik": ((3, 4, 2), (4, 2, 5), (((1,), (0,)), ((2,), (1,)))),
    "abcd,dbae->bce": ((2, 3, 4, 5), (5, 3, 2, 6), (((0, 3), (2, 0)), ((1,), (1,)))),
    "ba,ba->a": ((5, 2), (5, 2), (((0,), (0,)), ((1,), (1,)))),
    "ab,ab->ab": ((5, 2), (5, 2), (((), ()), ((0, 1), (0, 1)))),
    "ij,jk->ik (none)": ((0, 3), (3, 2), (((1,), (0,)), ((), ()))),
    "ij,jk->ik (empty)": ((2, 0), (0, 3), (((1,), (0,)), ((), ()))),
    "ij,jk->ik (one)": ((4, 1), (1, 5), (((1,), (0,)), ((), ()))),
}


def sample(shape: Any, dtype: str, seed: int) -> Any:
    """Make an Array of small numbers, some negative where the dtype has such."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0 if dtype[0] in "ub" else -3, 2 if dtype == "bool" else 5, shape)
    return anp.asarray(values).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.usefixtures("backend")
def test_values(case: str, dtype: str) -> None:
    first, second, numbers = CASES[case]
    x, y = sample(first, dtype, 0), sample(second, dtype, 1)
    found = dot_general(x, y, numbers)
    wide = [np.asarray(v).astype(complex if dtype == "complex64" else np.int64) for v in (x, y)]
    expected = np.einsum(case.partition(" ")[0], *wide).astype(np.asarray(found).dtype)
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize("case", CASES)
def test_derivatives_and_batches(case: str, same_as_jax: Callable[..., None]) -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    first, second, numbers = CASES[case]
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=first), rng.normal(size=second)
    if case == "abcd,dbae->bce":
        x, y = x + 1j * rng.normal(size=first), y + 1j * rng.normal(size=second)
    same_as_jax(
        lambda x, y: dot_general(x, y, numbers),
        lambda x, y: jax.lax.dot_general(x, y, numbers),
        x,
        y,
    )


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_derivatives_in_another_dtype(dtype: str) -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    x, y = sample((3, 4), dtype, 0), sample((4, 2), dtype, 1)
    numbers = (((1,), (0,)), ((), ()))

    def f(library: Any, x: Any, y: Any) -> Any:
        made = library.lax.dot_general(x, y, numbers, preferred_element_type="float32")
        return (made * made).sum()

    ours = ap.grad(lambda x, y: f(ap, x, y), argnums=(0, 1))(x, y)
    raw = [jax.numpy.asarray(np.asarray(v)) for v in (x, y)]
    theirs = jax.grad(lambda x, y: f(jax, x, y), argnums=(0, 1))(*raw)
    for a, b in zip(ours, theirs, strict=True):
        assert a.dtype == x.dtype
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


SHAPES = [
    ((4, 4), (4, 4)),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((3,), (5, 3, 2)),
    ((5, 2, 3), (3,)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((6, 1, 2, 3), (5, 3, 4)),
    ((1, 2, 3), (7, 1, 5, 3, 4)),
    ((7, 5, 2, 0), (5, 0, 4)),
]


@pytest.mark.parametrize(("first", "second"), SHAPES)
@pytest.mark.usefixtures("backend")
def test_matmul(first: Any, second: Any) -> None:
    x, y = sample(first, "float64", 0), sample(second, "float64", 1)
    expected = np.matmul(np.asarray(x), np.asarray(y))
    np.testing.assert_array_equal(np.asarray(matmul(x, y)), expected)
    np.testing.assert_array_equal(np.asarray(x @ y), expected)
    np.testing.assert_array_equal(np.asarray(ap.jit(matmul)(x, y)), expected)
    assert matmul(x, y).shape == expected.shape


@pytest.mark.parametrize(("first", "second"), [*SHAPES[:8], ((), (2, 3)), ((2, 3), ())])
@pytest.mark.usefixtures("backend")
def test_dot(first: Any, second: Any) -> None:
    x, y = sample(first, "float64", 0), sample(second, "float64", 1)
    np.testing.assert_array_equal(np.asarray(dot(x, y)), np.dot(np.asarray(x), np.asarray(y)))


@pytest.mark.parametrize("axes", [0, 1, 2, ((0, 2), (1, 0)), (2, 0), ((-1,), (-3,))])
@pytest.mark.usefixtures("backend")
def test_tensordot(axes: Any) -> None:
    x, y = sample((3, 4, 5), "float64", 0), sample((5, 3, 2), "float64", 1)
    if axes in {1, 2} or axes == 0:
        y = sample((4, 5, 2) if axes == 2 else (5, 3, 2), "float64", 1)
    expected = np.tensordot(np.asarray(x), np.asarray(y), axes)
    np.testing.assert_array_equal(np.asarray(tensordot(x, y, axes)), expected)


def test_dtypes() -> None:
    halves = sample((2, 2), "bfloat16", 0)
    single = sample((2, 2), "float32", 1)
    assert matmul(halves, single).dtype == "float32"
    assert matmul(halves, halves, preferred_element_type="float32").dtype == "float32"
    assert matmul(sample((2, 2), "int8", 0), single).dtype == "float32"
    assert not matmul(halves, halves).weak_type
    assert dot(2.0, 3.0).weak_type
    # Sums of 300 ones: int8 wraps around, as in JAX; int32 does not.
    ones = anp.ones((300,), "int8")
    assert int(dot(ones, ones)) == 300 - 256
    assert int(dot(ones, ones, preferred_element_type="int32")) == 300
    # In bfloat16 257 has no place; the sum is rounded once, at the end.
    ones = anp.ones((257,), "bfloat16")
    assert float(dot(ones, ones)) == 256
    assert float(dot(ones, ones, preferred_element_type="float32")) == 257


def test_the_operands_stay() -> None:
    x, y = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    kept = x.copy(), y.copy()
    matmul(anp.asarray(x), anp.asarray(y))
    np.testing.assert_array_equal(x, kept[0])
    np.testing.assert_array_equal(y, kept[1])


ONES = np.ones((2, 3))
MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "inner": (lambda: matmul(ONES, ONES), TypeError, r"\(2, 3\) and \(2, 3\) do not fit"),
    "scalar": (lambda: matmul(ONES, 2.0), ValueError, r"with \*"),
    "stack": (lambda: matmul(np.ones((2, 2, 2)), np.ones((3, 2, 2))), ValueError, "broadcast"),
    "twice": (
        lambda: dot_general(ONES, ONES, (((0, 0), (0, 0)), ((), ()))),
        TypeError,
        "distinct",
    ),
    "range": (lambda: dot_general(ONES, ONES, (((2,), (0,)), ((), ()))), TypeError, "0 to 1"),
    "batch": (lambda: dot_general(ONES, ONES.T, (((), ()), ((0,), (0,)))), TypeError, "batch"),
    "precision": (lambda: matmul(ONES, ONES.T, precision="best"), ValueError, "highest"),
    "narrow": (
        lambda: dot(np.ones(2, np.int32), np.ones(2, np.int32), preferred_element_type="int8"),
        TypeError,
        "astype",
    ),
    "axes": (lambda: tensordot(ONES, ONES, 3), ValueError, "from 0 to 2"),
    "pairs": (lambda: tensordot(ONES, ONES, ((0, 1), (0,))), ValueError, "as many"),
    "axis": (lambda: tensordot(ONES, ONES, ((5,), (0,))), ValueError, "out of bounds"),
    "kind": (lambda: matmul(ONES, "ab"), TypeError, "must be an array"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_messages(mistake: str) -> None:
    call, error, match = MISTAKES[mistake]
    with pytest.raises(error, match=match):
        call()


def test_einsum_by_a_product_of_ones_own(backend):
    used = []

    def product(x, y, dims, precision=None, preferred_element_type=None):
        used.append(dims)
        return dot_general(x, y, dims, precision, preferred_element_type) * 2

    x = anp.asarray([[1.0, 2.0], [3.0, 4.0]])
    found = anp.einsum("ij,jk,k->i", x, x, x[0], _dot_general=product)
    np.testing.assert_allclose(np.asarray(found), 4 * np.asarray(x) @ np.asarray(x) @ [1.0, 2.0])
    assert found.device.backend == backend
    assert len(used) == 2
