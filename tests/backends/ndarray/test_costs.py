"""What rows say that they cost: counted instructions, and prices that depend on the dtype."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from arrayport_backends.ndarray.costs import instructions, nanoseconds
from arrayport_backends.numpy import compiler

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core.backend import get
from arrayport.ops import elementwise, special

F32, F64 = np.dtype("f4"), np.dtype("f8")


@pytest.mark.parametrize(
    ("prim", "operands", "params", "want"),
    [
        (elementwise.add_p, [F32, F32], {}, 1),
        (elementwise.add_p, [np.dtype("c8")] * 2, {}, 2),
        (elementwise.mul_p, [np.dtype("c16")] * 2, {}, 6),  # four products, two sums
        (elementwise.integer_pow_p, [F64], {"n": 5}, 3),  # the square, its square, the product
        (elementwise.stop_gradient_p, [F64], {}, 0),
    ],
)
def test_instructions_are_counted(prim, operands, params, want):
    row = get("numpy").rows[prim]
    assert instructions(row, operands, [operands[0]], params) == want


@pytest.mark.parametrize("prim", [elementwise.exp_p, elementwise.pow_p, special.lgamma_p])
def test_mathematics_takes_tens_to_hundreds_of_instructions(prim):
    operands = [F64] * (2 if prim is elementwise.pow_p else 1)
    assert 20 <= instructions(get("numpy").rows[prim], operands, [F64], {}) <= 400


def test_what_the_library_widens_costs_more():
    row = get("numpy").rows[elementwise.add_p]
    plain = nanoseconds(row, [F32, F32], F32)
    half, brain = np.dtype("f2"), np.dtype(ml_dtypes.bfloat16)
    assert plain < nanoseconds(row, [brain] * 2, brain) < nanoseconds(row, [half] * 2, half)
    assert plain < nanoseconds(row, [np.dtype("c8")] * 2, np.dtype("c8"))


def test_a_slow_function_of_the_library_is_compiled_within_few_calls(monkeypatch):
    monkeypatch.setattr(compiler, "COMPILING", 10_000_000)
    x = anp.ones(100_000, "float32")
    warm = [
        get("numpy").compile(ap.jit(f).trace(x).program).warm
        for f in (ap.lax.lgamma, ap.lax.erf, lambda x: x + 1)
    ]
    assert max(warm[:2]) < 5 < warm[2]
