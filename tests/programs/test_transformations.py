"""Programs that transform functions, as a user of JAX writes them: jit, grad, vmap and rules.

Formulas say what they compute.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import cos, cosh, exp, sin, tanh
from typing import Any, NamedTuple

import numpy as np
import pytest

import arrayport as jax
import arrayport.numpy as jnp
from arrayport import grad, jit, lax, vmap

pytestmark = pytest.mark.usefixtures("backend")

X = np.array([0.5, -1.0, 2.0], np.float32)


# ---- 6. compilation


def test_a_python_loop_of_a_thousand(backend, close):
    def relax(x, count):
        for _ in range(count):
            x = 0.99 * x + 0.01 * jnp.tanh(x)
        return x

    count = 1000 if backend != "jax" else 100  # XLA takes 10 s for a thousand
    expected = X.astype(np.float64)
    for _ in range(count):
        expected = 0.99 * expected + 0.01 * np.tanh(expected)
    close(jit(partial(relax, count=count))(jnp.array(X)), expected)


def test_a_function_given_a_numpy_array(backend, close):
    found = jit(lambda x: 2 * x + np.float32(1))(X)
    assert found.device.backend == backend
    close(found, 2 * X + 1)


def test_static_arguments_choose_branches(close):
    traced = []

    @partial(jit, static_argnums=(1,))
    def program(x, flag):
        traced.append(flag)
        if flag:
            return x**2
        return -x

    for _ in range(3):
        close(program(X, True), X**2)
        close(program(X, False), -X)
    close(program(jnp.ones(2), True), [1, 1])
    assert traced == [True, False, True]  # once a flag, and again for another shape


def test_static_names_and_keywords(close):
    @partial(jit, static_argnames=("power", "how"))
    def program(x, power=2, *, how="sum"):
        return getattr(jnp, how)(x**power)

    close(program(X), np.sum(X**2))
    close(program(X, power=3), np.sum(X**3))
    close(program(X, 3, how="max"), 8)


def test_compiled_ahead_of_time(close):
    traced = []

    def program(x, scale):
        traced.append(x.shape)
        return {"scaled": scale * x, "total": x.sum()}

    specs = jax.ShapeDtypeStruct((3,), jnp.float32), jax.ShapeDtypeStruct((), jnp.float32)
    lowered = jit(program).lower(*specs)
    assert isinstance(lowered.as_text(), str)
    compiled = lowered.compile()
    for scale in (2.0, 3.0):
        found = compiled(jnp.array(X), jnp.float32(scale))
        close(found, {"scaled": scale * X, "total": X.sum()})
    assert traced == [(3,)]
    with pytest.raises(TypeError):
        compiled(jnp.ones(4), jnp.float32(2))


# ---- 7. derivatives


def sigmoid(x):
    return 1 / (1 + jnp.exp(-x))


def test_gradient_of_squares(run, close):
    close(run(grad(lambda x: jnp.sum(x**2)))(X), 2 * X)


def test_third_derivative(run, close):
    """(x sin x)''' = -3 sin x - x cos x."""
    third = run(grad(grad(grad(lambda x: x * jnp.sin(x)))))
    for x in (0.0, 0.7, -2.0):
        close(third(x), -3 * sin(x) - x * cos(x))


def test_sigmoid(run_heavy, close):
    first, second = run_heavy(grad(sigmoid)), run_heavy(grad(grad(sigmoid)))
    for x in (0.0, 1.0, -3.0):
        s = 1 / (1 + exp(-x))
        close(first(x), s * (1 - s))
        close(second(x), s * (1 - s) * (1 - 2 * s))


def test_jacobians_and_hessians(run_heavy, close):
    a = np.array([[2, 1, 0], [1, 3, -1], [0, -1, 4]], np.float32)

    def quadratic(x):
        return 0.5 * x @ a @ x + jnp.prod(x)

    def field(x):
        return jnp.stack([x[0] * x[1], jnp.sin(x[2])])

    x0, x1, x2 = map(float, X)
    slopes = [[x1, x0, 0], [0, 0, cos(x2)]]
    products = np.array([[0, x2, x1], [x2, 0, x0], [x1, x0, 0]])
    close(run_heavy(jax.hessian(quadratic))(X), a + products)
    close(run_heavy(jax.jacfwd(field))(X), slopes)
    close(run_heavy(jax.jacrev(field))(X), slopes)
    close(run_heavy(lambda x, t: jax.jvp(field, (x,), (t,)))(X, X)[1], np.array(slopes) @ X)
    pulled = run_heavy(lambda x, c: jax.vjp(field, x)[1](c))(X, X[:2])
    close(pulled, (X[:2] @ np.array(slopes),))
    product = run_heavy(lambda x, v: jax.jvp(grad(quadratic), (x,), (v,))[1])
    close(product(X, X), (a + products) @ X)


def test_values_with_gradients(run, close):
    def loss(params, x):
        residual = params["w"] * x + params["b"]
        return jnp.sum(residual**2), {"residual": residual}

    params = {"w": np.float32(2), "b": np.float32(-1)}
    residual = 2 * X - 1
    (value, aux), gradient = run(jax.value_and_grad(loss, has_aux=True))(params, X)
    close(value, (residual**2).sum())
    close(aux, {"residual": residual})
    close(gradient, {"w": 2 * (residual * X).sum(), "b": 2 * residual.sum()})
    both = run(lambda p, x: grad(loss, argnums=(1, 0), has_aux=True)(p, x)[0])
    close(both(params, X), (4 * residual, gradient))


def test_derivatives_through_python_control_flow(close):
    def program(x):
        while x < 10:
            x = x * x if x > 1 else x + 1
        return x

    # 0.5 -> 1.5 -> 2.25 -> 5.0625 -> 25.6
    close(grad(program)(0.5), 8 * 1.5**7)
    close(grad(grad(program))(0.5), 56 * 1.5**6)


LOOPS = {
    # each with its first and second derivative
    "cond": (
        lambda x: lax.cond(x > 0, jnp.sin, lambda x: x**3, x),
        lambda x: (cos(x), -sin(x)) if x > 0 else (3 * x**2, 6 * x),
    ),
    "switch": (
        lambda x: lax.switch((x > 0) + (x > 1).astype(int), [jnp.sin, jnp.cos, jnp.square], x),
        lambda x: (2 * x, 2.0) if x > 1 else (-sin(x), -cos(x)) if x > 0 else (cos(x), -sin(x)),
    ),
    "scan": (  # x^4
        lambda x: lax.scan(lambda c, _: (c * x, c), 1.0, None, length=4)[0],
        lambda x: (4 * x**3, 12 * x**2),
    ),
    "scan of outputs": (  # 1 + x + x^2 + x^3
        lambda x: lax.scan(lambda c, _: (c * x, c), 1.0, None, length=4)[1].sum(),
        lambda x: (1 + 2 * x + 3 * x**2, 2 + 6 * x),
    ),
    "fori_loop": (
        lambda x: lax.fori_loop(0, 4, lambda i, c: c * x + i, 1.0),  # x^4 + x^2 + 2 x + 3
        lambda x: (4 * x**3 + 2 * x + 2, 12 * x**2 + 2),
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_derivatives_through_control_flow(name, run_heavy, close):
    function, formula = LOOPS[name]
    first, second = run_heavy(grad(function)), run_heavy(grad(grad(function)))
    forward = run_heavy(lambda x: jax.jvp(function, (x,), (1.0,))[1])
    for x in (1.5, 0.5, -0.5):
        close([first(x), second(x), forward(x)], [*formula(x), formula(x)[0]])


def test_traced_trip_counts(close):
    """Forward: the derivative of x^n by x; backward there is none, and the error says what is."""

    def power(x, n):
        return lax.fori_loop(0, n, lambda _, c: c * x, 1.0)

    def least_power_above(x, bound):
        return lax.while_loop(lambda c: c < bound, lambda c: c * x, x)

    compiled = jit(power)
    for n in (0, 1, 5):
        close(compiled(1.5, n), 1.5**n)
        close(
            jit(lambda x, n: jax.jvp(lambda x: power(x, n), (x,), (1.0,))[1])(1.5, n),
            n * 1.5**n / 1.5,
        )
    slope = jax.jvp(lambda x: least_power_above(x, 10.0), (2.0,), (1.0,))
    close(slope, (16.0, 4 * 2.0**3))
    close(jax.jacfwd(least_power_above)(2.0, 10.0), 32.0)
    for function in (lambda x: jit(power)(x, 5), lambda x: least_power_above(x, 10.0)):
        with pytest.raises(ValueError, match="everse-mode"):
            grad(function)(2.0)


# ---- 8. batches


def test_vmap_of_scalar_functions(run, close):
    close(run(vmap(lambda x: x * jnp.tanh(x)))(X), [x * tanh(x) for x in X.tolist()])
    close(run(vmap(grad(jnp.tanh)))(X), [cosh(x) ** -2 for x in X.tolist()])
    nested = run(vmap(vmap(lambda x, y: x * y + 1, (None, 0)), (0, None)))
    close(nested(X, X[:2]), np.outer(X, X[:2]) + 1)


def test_axes_of_trees(run, close):
    def program(params, x, scale):
        return {"out": params["w"] @ x + params["b"], "scale": scale, "pair": (x, 2 * x[0])}

    w, b, x = np.arange(8.0).reshape(2, 4), np.array([1.0, -1.0]), np.arange(12.0).reshape(4, 3)
    mapped = vmap(
        program,
        in_axes=({"w": None, "b": None}, 1, None),
        out_axes={"out": 1, "scale": None, "pair": (0, 0)},
    )
    found = run(mapped)({"w": w, "b": b}, x, 5.0)
    expected = {"out": w @ x + b[:, None], "scale": 5.0, "pair": (x.T, 2 * x[0])}
    close(found, expected)
    close(run(vmap(lambda x: x.sum(), in_axes=-1))(x), x.sum(axis=0))


def test_gradients_of_each_example(run, close):
    def loss(w, x, y):
        return (w @ x - y) ** 2

    w, xs, ys = X, np.arange(12, dtype=np.float32).reshape(4, 3), np.ones(4, np.float32)
    found = run(vmap(grad(loss), in_axes=(None, 0, 0)))(w, xs, ys)
    close(found, 2 * (xs @ w - ys)[:, None] * xs)


def test_named_axes(run, close):
    def program(x):
        total = lax.psum(x, "batch")
        return x / total, lax.pmean(x, "batch"), lax.pmax(x, "batch"), lax.axis_index("batch")

    found = run(vmap(program, axis_name="batch"))(X)
    close(found, (X / X.sum(), [X.mean()] * 3, [2.0] * 3, [0, 1, 2]))
    close(run(vmap(lambda x: x - lax.pmean(x, "i"), axis_name="i", axis_size=3))(X), X - X.mean())


# ---- 10. rules of one's own, and trees


def test_custom_jvp(run, close):
    @jax.custom_jvp
    def log1pexp(x):
        return jnp.log(1 + jnp.exp(x))

    @log1pexp.defjvp
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        return log1pexp(x), t * (1 - 1 / (1 + jnp.exp(x)))

    close(run(grad(log1pexp))(100.0), 1.0)  # by itself exp(100) / exp(100), infinite in float32
    close(run(vmap(grad(log1pexp)))(X), 1 / (1 + np.exp(-X)))
    close(run(lambda x, t: jax.jvp(log1pexp, (x,), (t,)))(0.0, 2.0), (np.log(2), 1.0))


def test_custom_vjp(run, close):
    @jax.custom_vjp
    def clipped(x, bound):
        return jnp.where(bound > 0, x, 0)

    clipped.defvjp(lambda x, bound: (x, bound), lambda bound, g: (jnp.clip(g, -bound, bound), None))

    @partial(jax.custom_vjp, nondiff_argnums=(1,))
    def scaled(x, scale):
        return x * scale

    scaled.defvjp(lambda x, scale: (x * scale, None), lambda scale, _, g: (-scale * g,))
    close(run(grad(lambda x: (clipped(x, 1.5) ** 2).sum()))(X), np.clip(2 * X, -1.5, 1.5))
    close(run(grad(lambda x: scaled(x, 3.0).sum()))(X), [-3.0] * 3)


def test_checkpoint_and_stop_gradient(run, close):
    calls = []

    @jax.checkpoint
    def block(x):
        calls.append(x.shape)
        return jnp.sin(jnp.sin(x))

    def loss(x):
        return (block(x) * lax.stop_gradient(x) + jax.lax.stop_gradient(x**2)).sum()

    close(run(grad(loss))(X), X * np.cos(np.sin(X)) * np.cos(X))
    assert set(calls) == {(3,)}


class Pair(NamedTuple):
    first: Any
    second: Any


@partial(jax.tree_util.register_dataclass, data_fields=["w", "b"], meta_fields=["name"])
@dataclass
class Layer:
    w: Any
    b: Any
    name: str = "dense"


@jax.tree_util.register_pytree_node_class
class Interval:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def tree_flatten(self):
        return (self.low, self.high), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


def test_trees(run, close):
    tree = {
        "list": [X, (X[0], None)],
        "pair": Pair(X, 2.0),
        "layer": Layer(X, np.float32(1)),
        "interval": Interval(X[0], X[1]),
    }

    def loss(tree):
        return (
            (tree["list"][0] ** 2).sum()
            + tree["list"][1][0] * 3
            + (tree["pair"].first * tree["pair"].second).sum()
            + (tree["layer"].w ** 3).sum() * tree["layer"].b
            + tree["interval"].high * tree["interval"].low
        )

    found = run(grad(loss))(tree)
    assert found["layer"].name == "dense"
    assert found["list"][1][1] is None
    assert type(found["interval"]) is Interval
    expected = {
        "list": [2 * X, (3, None)],
        "pair": Pair([2] * 3, X.sum()),
        "layer": Layer(3 * X**2, (X**3).sum()),
        "interval": Interval(X[1], X[0]),
    }
    close(found, expected)
    assert len(jax.tree.leaves(tree)) == 8
    close(run(lambda t: jax.tree.map(lambda a, b: a + 2 * b, t, t))(tree)["pair"].second, 6.0)
