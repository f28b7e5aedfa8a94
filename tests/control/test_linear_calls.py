"""linear_call: the transpose that is used is the one that was given."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import errors
from arrayport.custom_derivatives import linear_call


def scale(x, r):
    """Multiply by r, with a transpose ten times as large, to tell which one was used."""
    return linear_call(
        lambda res, v: {"out": v * res["r"]},
        lambda res, ct: ct["out"] * res["r"] * 10,
        {"r": r},
        x,
    )["out"]


@pytest.mark.usefixtures("backend")
def test_values_and_both_modes():
    x, r = anp.float32(2), anp.float32(3)
    assert float(scale(x, r)) == 6
    assert [float(v) for v in ap.jvp(lambda v: scale(v, r), (x,), (anp.float32(1),))] == [6, 3]
    for f in (ap.grad(scale), ap.jit(ap.grad(scale)), ap.grad(ap.jit(scale))):
        assert float(f(x, r)) == 30
    # (3x)**2: the first pull is by 30, the pull of that by 3 and then by 30
    assert float(ap.grad(ap.grad(lambda v: scale(v, r) ** 2))(x)) == 180


@pytest.mark.usefixtures("backend")
def test_transposes_of_transposes():
    one = anp.float32(1)

    def transposed(f):
        return lambda ct: ap.linear_transpose(f, one)(ct)[0]

    f = lambda v: scale(v, anp.float32(3))
    assert [float(g(one)) for g in (f, transposed(f), transposed(transposed(f)))] == [3, 30, 3]


def test_examples(backend):
    if backend == "jax":
        pytest.skip("JAX has no batching rule for it")
    x, r = anp.arange(3.0), anp.arange(3.0) + 1
    np.testing.assert_array_equal(np.asarray(ap.vmap(scale)(x, r)), [0, 2, 6])
    np.testing.assert_array_equal(np.asarray(ap.vmap(ap.grad(scale))(x, r)), [10, 20, 30])
    np.testing.assert_array_equal(np.asarray(ap.vmap(scale, (None, 0))(x[1], r)), [1, 2, 3])
    slopes = ap.grad(lambda v: ap.vmap(scale, (0, None))(v, r[2]).sum())(x)
    np.testing.assert_array_equal(np.asarray(slopes), [30, 30, 30])


def test_what_it_refuses(backend):
    if backend == "jax":
        pytest.skip("JAX refuses in its own words")
    with pytest.raises(errors.NotDifferentiableError, match="residuals"):
        ap.grad(scale, 1)(2.0, 3.0)
    with pytest.raises(TypeError, match="fun_transpose must give what is like linear_args"):
        linear_call(lambda _, x: x, lambda _, ct: (ct, ct), (), 1.0)
