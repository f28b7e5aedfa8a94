"""closure_convert, custom_gradient, fwd_and_bwd, linear_transpose, custom_vmap, checkpoint."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax
from arrayport.ad_checkpoint import checkpoint_name, print_saved_residuals
from arrayport.custom_batching import custom_vmap, sequential_vmap

pytestmark = pytest.mark.usefixtures("backend")
X = np.array([0.5, -1.0, 2.0], np.float32)


def close(found, expected, rtol=1e-6):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=rtol)


# ---- closures


def test_closure_convert():
    def f(y):
        g, captured = ap.closure_convert(lambda x: x * y, 2.0)
        return g(4.0, *[c * 10 for c in captured])

    close(ap.grad(f)(3.0), 40.0)
    close(ap.vmap(ap.grad(f))(anp.asarray(X)), [40.0] * 3)
    g, captured = ap.closure_convert(lambda x: x * 2, 1.0)
    assert captured == []
    close(g(4.0), 8.0)


@pytest.mark.parametrize(
    "wrap", [lambda f: f, ap.jit, lambda f: ap.jit(ap.jit(f))], ids=["eager", "jit", "jit jit"]
)
def test_custom_gradient(wrap):
    @ap.custom_gradient
    def f(x, y):
        z = x * y  # its value is kept for the gradient, though no argument
        return z**2, lambda g: (g * z * 7, g * y)

    close(f(3.0, 2.0), 36.0)
    found = wrap(ap.grad(f, (0, 1)))(3.0, 2.0)
    close(found[0], 42.0)
    close(found[1], 2.0)
    close(wrap(ap.vmap(ap.grad(f), (0, None)))(anp.asarray(X), 2.0), 2 * X * 7)
    close(wrap(ap.grad(lambda x: ap.vmap(f, (0, None))(x, 2.0).sum()))(anp.asarray(X)), 2 * X * 7)

    single = ap.custom_gradient(lambda d: (d["a"] * 2, lambda g: ({"a": g * 5},)))
    close(wrap(ap.grad(single))({"a": 1.0})["a"], 5.0)
    with pytest.raises(TypeError, match=r"pair|unpack"):
        ap.grad(ap.custom_gradient(lambda x: x))(1.0)


@pytest.mark.parametrize("jitted", [False, True])
def test_forward_and_backward(jitted):
    forward, backward = ap.fwd_and_bwd(
        lambda x, y: (anp.sin(x) * y, {"aux": y}), argnums=(0, 1), has_aux=True, jitted=jitted
    )
    value, pull, aux = forward(anp.asarray(X), 2.0)
    close(value, np.sin(X) * 2)
    close(aux["aux"], 2.0)
    for scale in (1.0, 3.0):
        gx, gy = backward(pull, anp.full(3, scale))
        close(gx, np.cos(X) * 2 * scale, 1e-5)
        close(gy, np.sin(X).sum() * scale, 1e-5)
    forward, backward = ap.fwd_and_bwd(lambda x: x**3, argnums=0, jitted=jitted)
    close(backward(forward(2.0)[1], 1.0), 12.0)


# ---- transposes


def test_linear_transpose():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)

    def f(x, y):
        doubled, _ = lax.scan(lambda c, v: (c + v, c * 3.0), anp.float32(0), x)
        return {"p": anp.asarray(a) @ x, "q": ap.jit(lambda v: v * anp.sin(2.0))(y) + doubled}

    types = ap.ShapeDtypeStruct((3,), "float32"), ap.ShapeDtypeStruct((), "float32")
    pull = ap.linear_transpose(f, *types)
    for wrap in (lambda g: g, ap.jit):
        gx, gy = wrap(pull)({"p": anp.asarray([1.0, 2.0]), "q": anp.float32(5)})
        close(gx, np.array([1.0, 2.0]) @ a + 5)
        close(gy, 5 * np.sin(np.float32(2)))
    with pytest.raises((TypeError, ValueError)):
        pull({"p": anp.ones(3), "q": anp.float32(1)})


@pytest.mark.parametrize(
    "f",
    [anp.sin, lambda x: x * x, ap.jit(lambda x: x * anp.exp(x))],
    ids=["sin", "square", "jitted"],
)
def test_transposing_what_is_not_linear(f):
    with pytest.raises((TypeError, NotImplementedError, AssertionError, ValueError)):
        ap.linear_transpose(f, anp.ones(3))(anp.ones(3))


# ---- vmap by rule


def rule_of_add():
    seen = []

    @custom_vmap
    def add(x, y):
        return x + y

    @add.def_vmap
    def rule(size, in_batched, x, y):
        seen.append((size, list(in_batched)))
        return x * 100 + y, True

    return add, seen


def test_custom_vmap():
    add, seen = rule_of_add()
    x = anp.asarray(X)
    close(add(1.0, 2.0), 3.0)
    close(ap.jit(add)(1.0, 2.0), 3.0)
    close(ap.vmap(add)(x, x), 101 * X)
    close(ap.jit(ap.vmap(add, in_axes=(0, None)))(x, anp.float32(1)), 100 * X + 1)
    assert seen == [(3, [True, True]), (3, [True, False])]
    close(ap.grad(lambda x: ap.vmap(add)(x, x).sum())(x), [101.0] * 3)
    close(ap.vmap(ap.vmap(add))(x[None], x[None]), 101 * X[None])
    y = anp.float32(2)
    close(ap.vmap(lambda v: v + add(y, y))(x), X + 4)


def test_custom_vmap_of_trees(backend):
    @custom_vmap
    def f(d):
        return {"s": d["a"] + 1, "t": d["b"]}

    @f.def_vmap
    def rule(_size, in_batched, d):
        return {"s": d["a"] * 100, "t": d["b"]}, {"s": True, "t": in_batched[0]["b"]}

    out = ap.vmap(lambda a: f({"a": a, "b": 3.0}), out_axes={"s": 0, "t": None})(anp.asarray(X))
    close(out["s"], X * 100)
    close(out["t"], 3.0)
    with pytest.raises(AttributeError, match="def_vmap"):
        ap.vmap(custom_vmap(anp.sin))(anp.asarray(X))
    if backend == "jax":
        return  # it checks no shapes
    bad = custom_vmap(lambda x: x)
    bad.def_vmap(lambda _size, _batched, x: (x[:2], True))
    with pytest.raises((TypeError, ValueError)):
        ap.vmap(bad)(anp.asarray(X))


def test_sequential_vmap():
    f = sequential_vmap(lambda x, y: (anp.sin(x) * y, y))
    a, b = ap.vmap(f, in_axes=(0, None))(anp.asarray(X), 2.0)
    close(a, np.sin(X) * 2)
    close(b, [2.0] * 3)
    close(ap.grad(lambda x: ap.vmap(f, (0, None))(x, 2.0)[0].sum())(anp.asarray(X)), 2 * np.cos(X))


# ---- what a checkpointed function keeps

POLICIES = ap.checkpoint_policies
W = np.arange(9, dtype=np.float32).reshape(3, 3) / 9


def layered(x):
    h = checkpoint_name(anp.sin(anp.asarray(W) @ x), "hidden")
    return anp.sum(anp.cos(h) * checkpoint_name(anp.exp(h), "other"))


@pytest.mark.parametrize(
    "policy",
    [
        None,
        POLICIES.everything_saveable,
        POLICIES.nothing_saveable,
        POLICIES.dots_saveable,
        POLICIES.dots_with_no_batch_dims_saveable,
        POLICIES.save_only_these_names("hidden"),
        POLICIES.save_any_names_but_these("hidden"),
        POLICIES.save_anything_except_these_names("other"),
        POLICIES.save_from_both_policies(
            POLICIES.dots_saveable, POLICIES.save_only_these_names("other")
        ),
    ],
    ids=str,
)
def test_policies_change_no_value(policy):
    f = ap.checkpoint(layered, policy=policy)
    expected = np.asarray(ap.grad(layered)(anp.asarray(X)))
    close(ap.grad(f)(anp.asarray(X)), expected, 1e-5)
    if policy is None or policy.name != "everything_saveable":
        close(ap.jit(ap.grad(f))(anp.asarray(X)), expected, 1e-5)
        close(ap.hessian(f)(anp.asarray(X)), ap.hessian(layered)(anp.asarray(X)), 1e-4)


def test_a_policy_decides_what_is_computed_again(backend):
    if backend == "jax":
        pytest.skip("it is JAX that decides there: its Programs are not ours")

    def count(policy, name):
        f = ap.checkpoint(layered, policy=policy)
        return str(ap.make_jaxpr(ap.value_and_grad(f))(anp.asarray(X))).count(f" {name}")

    products = count(POLICIES.nothing_saveable, "dot_general")
    assert count(POLICIES.dots_saveable, "dot_general") == products - 1
    names = POLICIES.save_only_these_names("hidden", "other")
    assert count(names, "sin ") == count(None, "sin ") - 1
    assert count(POLICIES.everything_saveable, "dot_general") < products


def test_what_is_saved_can_be_printed(capsys):
    print_saved_residuals(layered, anp.asarray(X))
    assert len(capsys.readouterr().out.splitlines()) >= 3
    f = ap.checkpoint(layered, policy=POLICIES.save_only_these_names("hidden"))
    print_saved_residuals(f, anp.asarray(X))
    lines = capsys.readouterr().out.splitlines()
    assert any("argument" in line for line in lines)
    assert any("name" in line for line in lines)


def test_static_arguments_of_a_checkpointed_function():
    def f(x, n, kind="sine"):
        assert isinstance(n, int)
        return anp.sin(x) * n if kind == "sine" else -x

    close(ap.grad(ap.checkpoint(f, static_argnums=(1,)))(0.0, 2), 2.0)
    g = ap.checkpoint(f, static_argnames=("n", "kind"))
    close(ap.grad(g)(0.0, n=2, kind="other"), -1.0)
    close(ap.grad(g)(0.0, 3), 3.0)


def test_a_program_with_names_of_axes():
    made = ap.make_jaxpr(lambda x: lax.psum(x, "i"), axis_env=[("i", 4)])(anp.float32(1))
    assert "psum" in str(made)
