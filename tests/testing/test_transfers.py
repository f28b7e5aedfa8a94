"""What leaves a device is found, and the line that took it."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.testing import assert_no_transfer

MOVES = {
    "float": float,
    "int": int,
    "bool": lambda x: 1 if x else 0,
    "index": lambda x: [1, 2, 3][x.astype("int32")],
    "item": lambda x: x.item(),
    "tolist": lambda x: x.tolist(),
    "asarray": np.asarray,
    "repr": repr,
    "device_get": ap.device_get,
    "device_put": lambda x: ap.device_put(x, "numpy"),
    "format": lambda x: f"{x:.2f}",
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_each_way_to_the_host_is_found(backend: str, move):
    x = anp.asarray(np.float32(1))
    if backend == "numpy":
        with assert_no_transfer():
            move(x)
        return
    with (
        pytest.raises(AssertionError, match=r"moved to the host: (float32|int32)\[\] at .*py"),
        assert_no_transfer(),
    ):
        move(x)
    move(x)


def test_what_stays_passes(backend: str):
    @assert_no_transfer()
    def step(x, i):
        y = anp.where(anp.max(x) > 1, x / anp.max(x), x)
        y = y.at[i].add(1.0) + 2
        y = ap.jit(lambda y: anp.sin(y) @ y)(y)
        return ap.lax.fori_loop(0, 3, lambda _, c: c * 2, y), ap.grad(anp.sum)(x)

    y, slope = step(anp.arange(3.0), anp.asarray([0, 2]))
    assert y.device.backend == slope.device.backend == backend


def test_the_lines_are_few_and_the_errors_own():
    with ap.use_backend("cupy-sim"):
        x = anp.ones(())
        with pytest.raises(AssertionError, match="and 2 more"), assert_no_transfer():
            list(map(float, [x] * 7))
        with pytest.raises(ZeroDivisionError), assert_no_transfer():
            _ = 1 / (float(x) - 1)


def test_guards_see_scalars():
    with ap.use_backend("cupy-sim"):
        x = anp.ones(())
    with (
        ap.transfer_guard_device_to_host("disallow"),
        pytest.raises(RuntimeError, match="transfer_guard"),
    ):
        float(x)


@pytest.mark.usefixtures("backend")
def test_compiling_reads_no_captured_array():
    """What a jitted function captures is a constant of its Program, which passes look at."""
    x, captured = anp.arange(3.0), anp.asarray([1.0, 2.0, 3.0])
    with assert_no_transfer():
        f = ap.jit(lambda x: (x + captured) * (x + captured) + anp.sum(captured))
        for _ in range(3):
            y = f(x)
    np.testing.assert_array_equal(np.asarray(y), [7, 15, 31])
