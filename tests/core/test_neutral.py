"""Python numbers follow the other operands, also where an operation makes arrays of them."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax

pytestmark = pytest.mark.usefixtures("backend")

HOST = np.arange(1, 6, dtype=np.float32)


@pytest.mark.parametrize(
    "make",
    [
        lambda _x: anp.broadcast_to(2.0, (5,)),
        lambda _x: anp.expand_dims(2.0, 0),
        lambda _x: anp.reshape(2.0, (1,)),
        ap.vmap(lambda _a: 2.0),
        lambda x: ap.vmap(lambda _a, b: b, (0, None))(x, 2.0),
    ],
    ids=["broadcast_to", "expand_dims", "reshape", "constant of vmap", "unmapped"],
)
def test_a_stretched_number_lives_where_work_goes(make):
    x = anp.asarray(HOST)
    made = make(x)
    assert made.weak_type
    assert made.device == x.device
    np.testing.assert_array_equal(np.asarray(made + x), HOST + 2)


def test_a_number_as_a_carry_is_batched_where_the_predicate_lives():
    def count(limit, start):
        return lax.while_loop(lambda c: c < limit, lambda c: c + 2, start)

    got = ap.vmap(count, (0, None))(anp.asarray(HOST), 1.0)
    np.testing.assert_array_equal(np.asarray(got), [1, 3, 3, 5, 5])


def test_a_jitted_function_without_arguments_runs_where_work_goes():
    compiled = ap.jit(lambda: anp.zeros(3))
    for name in ["numpy", "cupy-sim", "numpy"] * 2:
        with ap.use_backend(name):
            assert compiled().device == anp.zeros(3).device
