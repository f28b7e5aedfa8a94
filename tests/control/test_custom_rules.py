"""Rules of custom_jvp and custom_vjp: what they are given, and what vmap makes of them."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.custom_derivatives import (
    CustomVJPPrimal,
    SymbolicZero,
    custom_vjp_primal_tree_values,
    zero_from_primal,
)

pytestmark = pytest.mark.usefixtures("backend")
X = np.array([0.5, -1.0, 2.0], np.float32)


def close(found, expected):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6)


@ap.custom_jvp
def split(x, y):
    return x * 2, y * 3


split.defjvp(lambda p, t: (split(*p), (t[0] * 20, t[1] * 30)))


@ap.custom_vjp
def split_back(x, y):
    return x * 2, y * 3


split_back.defvjp(lambda x, y: (split_back(x, y), None), lambda _, g: (g[0] * 20, g[1] * 30))


@pytest.mark.parametrize("f", [split, split_back])
@pytest.mark.parametrize("wrap", [lambda f: f, ap.jit], ids=["eager", "jit"])
def test_outputs_that_are_not_mapped_stay_so(f, wrap):
    def mapped(x, y):
        return ap.vmap(f, in_axes=(0, None), out_axes=(0, None))(x, y)

    a, b = wrap(mapped)(anp.asarray(X), anp.float32(4))
    close(a, 2 * X)
    close(b, 12.0)
    gx, gy = wrap(ap.grad(lambda x, y: mapped(x, y)[0].sum() + mapped(x, y)[1], (0, 1)))(
        anp.asarray(X), anp.float32(4)
    )
    close(gx, [20.0] * 3)
    close(gy, 30.0)


def test_vmap_of_rules_sums_what_is_shared():
    gx, gy = ap.grad(
        lambda x, y: sum(map(anp.sum, ap.vmap(lambda a: split_back(a, a * y))(x))), (0, 1)
    )(anp.asarray(X), anp.float32(4))
    close(gx, [20 + 30 * 4.0] * 3)
    close(gy, 30 * X.sum())
    inner = ap.vmap(ap.grad(lambda a, b: sum(split_back(a, b))), in_axes=(0, None))
    close(inner(anp.asarray(X), 1.0), [20.0] * 3)


def test_symbolic_zeros_of_a_jvp_rule():
    seen = []

    @ap.custom_jvp
    def f(x, n, y):
        return x * y + n

    def rule(primals, tangents):
        seen.append([isinstance(t, SymbolicZero) for t in tangents])
        x, _, y = primals
        tx, tn, ty = tangents
        assert tn.dtype == ap.float0
        assert all(np.shape(t) == () for t in tangents)
        tangent = sum(s * t for s, t in ((y, tx), (x, ty)) if not isinstance(t, SymbolicZero))
        return f(*primals), tangent

    f.defjvp(rule, symbolic_zeros=True)
    close(ap.jvp(lambda x: f(x, 1, 3.0), (2.0,), (10.0,))[1], 30.0)
    assert seen.pop() == [False, True, True]
    close(ap.grad(f, 2)(2.0, 1, 3.0), 2.0)
    assert seen.pop() == [True, True, False]
    close(ap.vmap(ap.grad(f), (0, None, None))(anp.asarray(X), 1, 3.0), [3.0] * 3)
    assert seen.pop() == [False, True, True]
    close(ap.jit(ap.grad(f))(2.0, 1, 3.0), 3.0)


def test_symbolic_zeros_of_a_vjp_rule():
    seen = []

    @ap.custom_vjp
    def f(x, y):
        return x * y, x + y

    def fwd(x, y):
        assert isinstance(x, CustomVJPPrimal)
        seen.append((x.perturbed, y.perturbed))
        x, y = custom_vjp_primal_tree_values((x, y))
        return f(x, y), (x, y)

    def bwd(residuals, cts):
        x, y = residuals
        a, b = cts
        seen.append(tuple(isinstance(c, SymbolicZero) for c in cts))
        a = a.instantiate() if isinstance(a, SymbolicZero) else a
        b = b.instantiate() if isinstance(b, SymbolicZero) else b
        return a * y + b, a * x + b

    f.defvjp(fwd, bwd, symbolic_zeros=True)
    close(ap.grad(lambda x: f(x, 3.0)[0])(2.0), 3.0)
    assert seen == [(True, False), (False, True)]
    seen.clear()
    close(ap.vmap(ap.grad(lambda x: f(x, 3.0)[1]))(anp.asarray(X)), [1.0] * 3)
    assert seen == [(True, False), (True, False)]


def test_integers_have_tangents_of_float0():
    @ap.custom_vjp
    def f(n, x):
        return n, x * 2

    kinds = []

    def bwd(_, cts):
        kinds.append(cts[0].dtype)
        return np.zeros((), ap.float0), cts[1] * 5

    f.defvjp(lambda n, x: (f(n, x), None), bwd)
    close(ap.grad(lambda x: f(3, x)[1])(1.0), 5.0)
    assert kinds == [ap.float0]


def test_zeros_from_primals():
    close(zero_from_primal(anp.ones(2)), [0.0, 0.0])
    assert zero_from_primal(3).dtype == ap.float0
    assert zero_from_primal(anp.ones(2), symbolic_zeros=True).shape == (2,)


def test_the_gradient_of_integers_is_float0():
    found = ap.grad(lambda d: d["x"] * 2.0 * d["n"], allow_int=True)({"x": 1.0, "n": 3})
    close(found["x"], 6.0)
    assert found["n"].dtype == ap.float0
    value, tangent = ap.jvp(lambda n: n * 2, (3,), (np.zeros((), ap.float0),))
    assert (int(value), tangent.dtype) == (6, ap.float0)
    with pytest.raises(TypeError, match=r"argnums|positional"):
        ap.grad(lambda x: x, argnums=2)(1.0)
    assert float(ap.grad(lambda x: [x, x], has_aux=True)(1.0)[0]) == 1.0
