"""Uses of the transformations that programs written for JAX make, the same on every backend."""

from __future__ import annotations

from functools import partial, wraps

import numpy as np
import pytest

import arrayport as jax
import arrayport.numpy as jnp
from arrayport import lax

pytestmark = pytest.mark.usefixtures("backend")

X = np.array([0.5, -1.0, 2.0], np.float32)


def test_tangents_and_cotangents_that_are_numbers_or_numpy():
    """They go where the value is: a rule may spread them before they meet another array."""
    x = jnp.asarray(X)
    assert jax.vjp(lambda x: jnp.sum(x * x), x)[1](1.0)[0].tolist() == (2 * X).tolist()
    assert jax.vjp(lambda x: x * x, x)[1](np.ones_like(X))[0].tolist() == (2 * X).tolist()
    assert jax.jvp(lambda s: s + x, (x[2],), (1.0,))[1].tolist() == [1, 1, 1]
    assert jax.linearize(lambda s: s * x, x[2])[1](np.float32(1)).tolist() == X.tolist()


def test_a_branch_is_transposed():
    """What a branch does not keep for its derivative is not handed on to it."""
    branches = [lambda y: 2 * y, lambda y: -y]
    for i, factor in enumerate((2, -1)):
        pull = jax.linear_transpose(lambda y, i=i: lax.switch(jnp.int32(i), branches, y), X)
        assert pull(jnp.asarray(X))[0].tolist() == (factor * X).tolist()


def test_a_gradient_that_likens_what_it_captured():
    """A closure makes `ones_like` of a value that is an argument only outside."""

    @jax.custom_gradient
    def total(x):
        return jnp.sum(x), lambda g: 3 * g * jnp.ones_like(x)

    assert jax.grad(total)(jnp.asarray(X)).tolist() == [3, 3, 3]


def test_rules_that_give_no_pair_are_named():
    @jax.custom_jvp
    def forwards(x):
        return x

    @jax.custom_vjp
    def backwards(x):
        return x

    forwards.defjvp(lambda primals, _tangents: primals[0])
    backwards.defvjp(lambda x: x, lambda _, g: (g,))
    for function in (forwards, backwards):
        with pytest.raises(TypeError, match=rf"{function.__name__} must give a pair"):
            jax.grad(lambda x, f=function: f(x).sum())(jnp.asarray(X))


def test_linear_maps_leave_the_function_that_made_them():
    """What vjp and linearize give is a pytree of what it captured."""
    x = jnp.asarray(X)
    _, pull = jax.jit(lambda x: jax.vjp(jnp.square, x))(x)
    _, push = jax.jit(lambda x: jax.linearize(jnp.square, x))(x)
    for (found,) in (pull(x), [push(x)]):
        assert found.tolist() == (2 * X * X).tolist()
    _, pull = jax.jit(lambda x: jax.vjp(lambda x: (x, 1), x))(x)  # to one there is no tangent
    assert pull((x, np.zeros((), jax.dtypes.float0)))[0].tolist() == X.tolist()


def test_functions_of_any_kind_and_nothing_else():
    double = jax.custom_jvp(partial(jnp.multiply, 2))  # which has no name
    double.defjvp(lambda primals, tangents: (double(*primals), 3 * tangents[0]))
    assert float(jax.grad(double)(1.0)) == 3
    for transform in (jax.grad, jax.vmap, jax.jacfwd, jax.checkpoint):
        with pytest.raises(TypeError, match="needs a function, not int"):
            transform(3)


def test_keys_of_each_number():
    """Of the words that are hashed together one alone may be mapped."""
    key = jax.random.key(3)
    found = jax.vmap(lambda i: jax.random.uniform(jax.random.fold_in(key, i)))(jnp.arange(3))
    each = [float(jax.random.uniform(jax.random.fold_in(key, i))) for i in range(3)]
    assert found.tolist() == each


@pytest.mark.filterwarnings("ignore:backend and device argument:DeprecationWarning")
def test_options_of_jit(backend):
    with pytest.raises(ValueError, match="static and donated"):
        jax.jit(lambda x: x, static_argnums=0, donate_argnums=0)
    placed = jax.jit(lambda x: 2 * x, device=jax.devices(backend)[0])(X)
    assert (placed.device.backend, placed.tolist()) == (backend, (2 * X).tolist())
    with jax.transfer_guard("disallow"):  # but for what was asked for
        assert jax.device_put(X).device.backend == backend


def test_vectorize_holds_outputs_to_the_signature():
    summed = jnp.vectorize(lambda x, y: x if y is None else x + y)
    assert summed(X, None).tolist() == X.tolist()
    halves = jnp.vectorize(lambda x: (x.sum(), x[:2]), signature="(n)->(),(k)")
    found = halves(jnp.stack([X, 2 * X]))
    assert [part.tolist() for part in found] == [[1.5, 3.0], [[0.5, -1.0], [1.0, -2.0]]]
    for signature, error in [("(n)->(n)", TypeError), ("(n)->(n),(k)", ValueError)]:
        with pytest.raises(error, match=r"output"):
            jnp.vectorize(lambda x: (x.sum(), x), signature=signature)(X)
    with pytest.raises(TypeError, match="arguments"):
        jnp.vectorize(jnp.dot, signature="(n),(n)->()")(X)


def test_jit_of_one_function_shares_what_was_traced():
    """As in JAX: what it reads elsewhere is of the first trace, too."""
    traces = []

    def f(x, n=1):
        traces.append(n)
        return x * n

    x = jnp.asarray(X)
    for _ in range(3):
        assert jax.jit(f)(x).tolist() == X.tolist()
    assert jax.jit(lambda x: jax.jit(f)(jax.jit(f)(x)))(x).tolist() == X.tolist()
    assert len(traces) == 1
    for _ in range(2):  # other options, other traces
        assert jax.jit(f, static_argnames=["n"])(x, n=2).tolist() == (2 * X).tolist()
    assert len(traces) == 2

    @wraps(f)
    def other(x):
        return f(x) + 1

    assert jax.jit(other)(x).tolist() == (X + 1).tolist()
    jax.jit(f).clear_cache()
    jax.jit(f)(x)
    assert len(traces) == 4


def test_equations_answer_to_a_jaxprs_names():
    jaxpr = jax.make_jaxpr(lambda x: jnp.sin(x) * 2.0)(X).jaxpr
    sine, product = jaxpr.eqns
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ["sin", "mul"]
    assert len(jaxpr.invars) == len(jaxpr.outvars) == 1
    assert list(jaxpr.constvars) == []
    assert sine.invars[0] is jaxpr.invars[0]
    assert product.outvars[0] is jaxpr.outvars[0]
    assert [v.aval.shape for v in (*product.invars, *product.outvars)] == [(3,), (), (3,)]


def test_what_a_node_keeps_need_not_be_hashable():
    """As JAX's: jit compares it."""

    class Scaled:
        def __init__(self, x, by):
            self.x, self.by = x, by

    jax.tree_util.register_pytree_node(
        Scaled, lambda s: ((s.x,), s.by), lambda by, xs: Scaled(xs[0], by)
    )
    f = jax.jit(lambda s: s.x * s.by["k"])
    assert [float(f(Scaled(jnp.float32(2), {"k": k}))) for k in (3, 4, 3)] == [6, 8, 6]
    assert jax.tree.structure(Scaled(1, {"k": 3})) != jax.tree.structure(Scaled(1, {"k": 4}))
