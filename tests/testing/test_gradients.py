"""check_grads finds wrong derivatives, and leaves kinks out."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.testing import check_grads

pytestmark = pytest.mark.usefixtures("backend")


@pytest.mark.parametrize("wide", [False, True])
def test_right_derivatives_pass(wide):
    with ap.config.override("enable_x64", wide):
        x, y = anp.asarray([0.3, -0.7]), anp.asarray([[1.2, 0.4]])
        check_grads(lambda x, y: {"a": anp.sin(x) * y, "b": anp.sum(x)}, (x, y), 2)
        check_grads(anp.exp, [x], 1, "rev")


def test_arguments_are_pytrees():
    def f(pair, named):
        return pair[0] * pair[1] + anp.sin(named["angle"])

    check_grads(f, ([1.5, 2.0], {"angle": anp.array([0.5, 1.0])}), 2)
    with pytest.raises(AssertionError, match="derivative"):
        check_grads(lambda pair: ap.lax.stop_gradient(pair[0]) * pair[1], ([1.5, 2.0],), 1)


def test_wrong_derivatives_are_found():
    @ap.custom_jvp
    def f(x):
        return x**2

    f.defjvp(lambda xs, ts: (f(*xs), 3 * xs[0] * ts[0]))
    for mode in ("fwd", "rev"):
        with pytest.raises(AssertionError, match=f"derivative {mode} of output 0"):
            check_grads(f, [anp.asarray([1.0, 2.0])], 1, modes=mode)


def test_the_second_order_is_told_apart():
    @ap.custom_jvp
    def slope(x):
        return 2 * x

    slope.defjvp(lambda xs, ts: (slope(*xs), 5 * ts[0]))

    @ap.custom_jvp
    def f(x):
        return x**2

    f.defjvp(lambda xs, ts: (f(*xs), slope(xs[0]) * ts[0]))
    check_grads(f, [anp.asarray([1.0])], 1)
    with pytest.raises(AssertionError, match="fwd of fwd"):
        check_grads(f, [anp.asarray([1.0])], 2)


def test_kinks_are_left_out():
    x = anp.asarray(np.float32([0.0, 1.5, -2.0]))
    check_grads(anp.abs, [x], 1)
    with pytest.raises(AssertionError):
        check_grads(lambda x: ap.lax.stop_gradient(x) * x, [x], 1, modes="fwd")


def test_wrong_calls():
    with pytest.raises(TypeError, match="int32"):
        check_grads(anp.sin, [anp.arange(3)], 1)
    with pytest.raises(ValueError, match="'back'"):
        check_grads(anp.sin, [anp.ones(3)], 1, modes="back")
