"""What the strategies draw."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

import arrayport as ap
import arrayport.numpy as anp
from arrayport.testing import strategies

FEW = settings(max_examples=20, deadline=None, database=None, derandomize=True)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "uint16", "bool", "complex64"])
def test_scalars_fit(dtype):
    @FEW
    @given(strategies.scalars(dtype))
    def fits(number):
        held = np.asarray(number).astype(np.dtype(dtype))
        wide = complex(held) if dtype == "complex64" else held.item()
        assert np.array_equal(wide, number, equal_nan=True)

    fits()


def test_special_values_come_early():
    floats = strategies.scalars("float32")
    for wanted in (math.isnan, math.isinf, lambda x: x == 0 and math.copysign(1, x) < 0):
        find(floats, wanted, settings=settings(max_examples=300, database=None, derandomize=True))

    @FEW
    @given(strategies.scalars("float16", special=False))
    def finite(number):
        assert math.isfinite(number)

    finite()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_subnormals_come_when_asked_for(dtype):
    smallest = float(np.finfo(dtype).smallest_normal)
    few = settings(max_examples=300, deadline=None, database=None, derandomize=True)
    small = lambda x: 0 < abs(x) < smallest

    @few
    @given(strategies.scalars(dtype))
    def normal(number):
        assert not small(number)

    normal()
    find(strategies.scalars(dtype, subnormals=True), small, settings=few)


@FEW
@given(st.data())
def test_arrays_have_what_is_asked(data):
    dtype = data.draw(strategies.dtypes("real floating", "integral"))
    x = data.draw(strategies.arrays(dtype, strategies.shapes(max_dims=2)))
    assert isinstance(x, ap.Array)
    assert x.dtype == dtype
    assert len(x.shape) <= 2
    key = data.draw(strategies.indices(x.shape))
    np.testing.assert_array_equal(np.asarray(x[key]), np.asarray(x)[key])
    plain = data.draw(strategies.arrays("bfloat16", (2,), st.just(1.5)))
    np.testing.assert_array_equal(np.asarray(plain).astype(float), [1.5, 1.5])


@FEW
@given(strategies.mutually_broadcastable(3))
def test_shapes_broadcast(shapes):
    assert len(shapes) == 3
    anp.broadcast_shapes(*shapes)


def test_wide_dtypes_need_the_switch():
    def drawn():
        return find(strategies.dtypes("real floating"), lambda d: d.itemsize == 8)

    with ap.config.override("enable_x64", True):
        assert drawn() == np.dtype("float64")


def test_without_hypothesis_the_extra_is_named():
    hidden = "import sys; sys.modules['hypothesis'] = None; import arrayport.testing.strategies"
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, check=False)
    assert b'pip install "arrayport[testing]"' in done.stderr
