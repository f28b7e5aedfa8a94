"""CuPy's own rows, where its functions are others than NumPy's, give what the shared ones do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from arrayport_backends.cupy.backend import OWN
from arrayport_backends.ndarray.kernels import Kernel

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax
from arrayport.core.primitive import Callback, Holder

INF, NAN = float("inf"), float("nan")
FLOATS = np.array([[-0.0, -INF, 4.0], [NAN, 2.5, -3.0]], np.float32)
INTS = np.array([[6, -4, 7], [3, 5, -1]], np.int8)
TRIANGLE = np.array([[2.0, 9.0], [1.0, 4.0]])
RIGHT = np.array([[2.0, 4.0], [3.0, 8.0]])


@pytest.fixture(autouse=True)
def on_a_device() -> Iterator[None]:
    with ap.use_backend("cupy-sim"):
        yield


CASES: dict[str, tuple[Any, Any]] = {
    "floor_divide": (
        lambda: anp.floor_divide(anp.array([7.0, -INF, 1.0]), anp.array([2.0, 2.0, -INF])),
        [3.0, -INF, -0.0],
    ),
    "pow": (lambda: lax.pow(anp.asarray(FLOATS[0]), 0.5), [0.0, INF, 2.0]),
    "hypot": (lambda: anp.hypot(anp.array([3.0, INF]), anp.array([4.0, NAN])), [5.0, INF]),
    "sign": (lambda: anp.sign(FLOATS[1]), [NAN, 1.0, -1.0]),
    "left": (lambda: lax.shift_left(anp.asarray(INTS[0]), anp.int8(8)), [0, 0, 0]),
    "arithmetic": (
        lambda: lax.shift_right_arithmetic(anp.asarray(INTS[0]), anp.int8(9)),
        [0, -1, 0],
    ),
    "logical": (lambda: lax.shift_right_logical(anp.asarray(INTS[0]), anp.int8(1)), [3, 126, 3]),
    "convert": (lambda: anp.asarray(FLOATS).astype("int8"), [[0, -128, 4], [0, 2, -3]]),
    "broadcast": (lambda: anp.broadcast_to(INTS[:, :1], (2, 2)), [[6, 6], [3, 3]]),
    "sum": (lambda: lax.reduce_sum(anp.asarray(INTS) * 20, (1,)), [-76, -116]),
    "prod": (lambda: lax.reduce_prod(anp.asarray(INTS), (0, 1)), -40),  # 2520, in 8 bits
    "max": (lambda: lax.reduce_max(anp.asarray(FLOATS), (1,)), [4.0, NAN]),
    "min": (lambda: lax.reduce_min(anp.asarray(FLOATS), (0,)), [NAN, -INF, -3.0]),
    "and": (lambda: lax.reduce_and(anp.asarray(INTS), (0, 1)), 0),
    "or": (lambda: lax.reduce_or(anp.asarray(INTS > 6), (1,)), [True, False]),
    "xor": (lambda: lax.reduce_xor(anp.asarray(INTS), (0,)), [5, -7, -8]),
    "empty": (lambda: lax.reduce_and(anp.zeros((0, 2), "int8"), (0,)), [-1, -1]),
    "cummax": (lambda: lax.cummax(anp.asarray(INTS), 1, reverse=True), [[7, 7, 7], [5, 5, -1]]),
    "cummin": (lambda: lax.cummin(anp.asarray(INTS), 0), [[6, -4, 7], [3, -4, -1]]),
    "gather": (lambda: anp.asarray(INTS)[:, np.array([9, -1])], [[7, 7], [-1, -1]]),
    "fill": (lambda: anp.asarray(INTS).at[0, np.array([1, 3])].get(mode="fill"), [-4, -128]),
    "set": (lambda: anp.zeros(2, "int8").at[np.array([1, 1])].set(np.int8([3, 4])), [0, 4]),
    "add": (lambda: anp.zeros(2, "int8").at[np.array([1, 1])].add(np.int8([3, 4])), [0, 7]),
    "multiply": (lambda: anp.ones(2).at[np.array([1, 1])].multiply(anp.array([3.0, 4.0])), [1, 12]),
    "complex": (lambda: anp.zeros(2, "complex64").at[np.array([1, 1])].add(1j), [0, 2j]),
    "sort": (lambda: lax.sort((anp.array([2, 1, 2]), anp.arange(3)), num_keys=1)[1], [1, 0, 2]),
    "top_k": (lambda: lax.top_k(anp.array([1.0, NAN, 3.0, 3.0]), 3)[1], [1, 2, 3]),
    "cholesky": (
        lambda: lax.linalg.cholesky(anp.array([[1.0, 2.0], [2.0, 1.0]])),
        [[NAN, 0], [NAN, NAN]],
    ),
    "left solve": (
        lambda: lax.linalg.triangular_solve(TRIANGLE, RIGHT, left_side=True, lower=True),
        [[1.0, 2.0], [0.5, 1.5]],
    ),
    "right solve": (
        lambda: lax.linalg.triangular_solve(TRIANGLE, RIGHT, lower=True, transpose_a=True),
        [[1.0, 0.75], [1.5, 1.625]],
    ),
    "lu": (lambda: lax.linalg.lu(anp.array([[1.0, 2.0], [4.0, 9.0]]))[2], [1, 0]),
    "lost": (lambda: anp.isnan(lax.linalg.lu(anp.full((1, 1), NAN))[0]), [[True]]),
    "pivots": (lambda: lax.linalg.lu_pivots_to_permutation(np.int32([[1, 2, 2]]), 3), [[1, 2, 0]]),
    "bits": (  # as JAX gives them
        lambda: lax.reduce_xor(ap.random.bits(ap.random.key(1), (7, 10_000)), (0, 1)),
        2170980558,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    function, expected = CASES[name]
    found = function()
    assert found.device.backend == "cupy-sim"
    np.testing.assert_array_equal(np.asarray(found), expected)


def test_rows_of_what_holds_programs_take_the_backend() -> None:
    for prim, row in OWN.items():
        if isinstance(row, Kernel):
            assert row.programs == (isinstance(prim, Holder) and not isinstance(prim, Callback))
