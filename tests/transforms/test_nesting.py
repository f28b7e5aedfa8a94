"""Derivatives inside derivatives, on every backend, against values worked out by hand."""

from __future__ import annotations

import math
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp

pytestmark = pytest.mark.usefixtures("backend")


def close(got, want, tolerance=2e-6):
    np.testing.assert_allclose(np.asarray(got), want, rtol=tolerance, atol=tolerance)


# ---- perturbation confusion: a tangent of one derivative must not be taken for another's


def test_a_derivative_of_the_inner_variable_leaves_the_outer_alone():
    close(ap.grad(lambda x: x * ap.grad(lambda y: x + y)(1.0))(1.0), 1.0)


def test_forward_inside_reverse():
    close(ap.grad(lambda x: x * ap.jvp(lambda y: x + y, (1.0,), (1.0,))[1])(1.0), 1.0)


def test_reverse_inside_forward():
    # d/dx of x * d/dy (x y^2) at y=1 is d/dx 2 x^2 = 4 x
    close(ap.jvp(lambda x: x * ap.grad(lambda y: x * y * y)(1.0), (1.0,), (1.0,))[1], 4.0)


def test_three_levels_of_closures():
    def f(x):
        return ap.grad(lambda y: ap.grad(lambda z: x * y * z * z)(y))(x) * x

    # the innermost is 2 x y^2, its derivative in y at x is 4 x^2; times x, derived: 12 x^2
    close(ap.grad(f)(2.0), 48.0, 1e-5)


def test_a_curried_function_applied_to_itself():
    def derivative(f):
        return lambda x: ap.jvp(f, (x,), (1.0,))[1]

    def shifted(u):
        return lambda f: lambda x: f(u + x)

    def twice(u):
        return derivative(derivative(shifted(u)(lambda v: v * v * v)))(1.0)

    close(ap.jvp(twice, (0.0,), (1.0,))[1], 6.0)  # the third derivative of v^3


def test_a_closure_through_jit():
    def f(x):
        return ap.grad(lambda y: ap.jit(lambda z: anp.sin(z * x) * y)(y))(x * 2.0)

    x = 0.7
    # d/dy sin(y x) y = x y cos(y x) + sin(y x); at y = 2 x derive 2 x^2 cos(2 x^2) + sin(2 x^2)
    u = 2 * x * x
    close(ap.grad(f)(x), 4 * x * math.cos(u) - 8 * x**3 * math.sin(u) + 4 * x * math.cos(u), 1e-5)


# ---- Python control flow on concrete values


@pytest.mark.parametrize(("x", "want"), [(0.3, 0.6), (5.0, None), (77.0, None)])
def test_python_control_flow_in_an_eager_gradient(x, want, backend):
    if backend == "jax":
        pytest.skip("values under jax.grad are concrete too, but this asks about our own tracers")

    def f(v):
        scale = 1.0
        while v > 1.0:
            v = v / 2.0
            scale /= 2.0
        return v * v if v < 0.5 else anp.sin(v), scale

    value, scale = x, 1.0
    while value > 1.0:
        value, scale = value / 2, scale / 2
    expected = 2 * value * scale if value < 0.5 else math.cos(value) * scale
    got, _ = ap.grad(f, has_aux=True)(x)
    close(got, expected)
    assert want is None or math.isclose(expected, want)


def test_what_has_no_derivative_is_no_tracer_in_an_eager_gradient(backend):
    if backend == "jax":
        pytest.skip("JAX's own tracers")
    seen = []

    def f(x, y):
        seen.extend([x > y, x == y, anp.isnan(x), anp.sign(y), x.astype("int32")])
        return ap.lax.cond(x > y, lambda x: 3 * x, lambda x: x * float(ap.lax.stop_gradient(x)), x)

    assert [float(g) for g in ap.grad(f, (0, 1))(2.0, 5.0)] == [2.0, 0.0]
    assert [type(s) for s in seen] == [ap.Array] * len(seen)


# ---- higher order


@pytest.mark.parametrize("how", ["plain", "jit", "inner jit"])
def test_third_derivative(how):
    def f(x):
        return anp.sin(x) * x**3

    if how == "inner jit":
        f = ap.jit(f)
    third = ap.grad(ap.grad(ap.grad(f)))
    if how == "jit":
        third = ap.jit(third)
    x = 0.8
    s, c = math.sin(x), math.cos(x)
    close(third(x), -c * x**3 - 9 * s * x**2 + 18 * c * x + 6 * s, 1e-5)


def test_forward_over_reverse_over_forward():
    def g(x):
        return ap.jvp(ap.grad(lambda y: ap.jvp(lambda z: z**4, (y,), (1.0,))[1]), (x,), (1.0,))[1]

    close(g(2.0), 48.0, 1e-5)  # (4 y^3)'' = 24 y


def test_hessian_of_a_quadratic_is_its_matrix():
    a = np.array([[2.0, 1.0], [0.5, 3.0]], np.float32)
    h = ap.hessian(lambda x: x @ anp.asarray(a) @ x)(anp.array([0.3, -0.2]))
    close(h, a + a.T)


def test_jacobians_of_a_pytree():
    def f(t):
        return {"p": t["a"] * t["b"], "q": anp.sum(t["a"])}

    t = {"a": anp.array([1.0, 2.0]), "b": anp.array([3.0, 5.0])}
    for jacobian in (ap.jacfwd, ap.jacrev):
        j = jacobian(f)(t)
        close(j["p"]["a"], [[3, 0], [0, 5]])
        close(j["p"]["b"], [[1, 0], [0, 2]])
        close(j["q"]["a"], [1, 1])
        close(j["q"]["b"], [0, 0])


# ---- loops


def test_vmap_of_the_gradient_of_a_scan():
    def f(r, xs):  # r * prod(xs)
        return ap.lax.scan(lambda c, x: (c * x, None), r, xs)[0]

    xs = anp.array([2.0, 3.0, 0.5])
    rs = anp.array([1.0, 2.0])
    close(ap.vmap(ap.grad(f, argnums=(0, 1)), (0, None))(rs, xs)[0], [3.0, 3.0])
    close(ap.vmap(ap.grad(f, argnums=1), (0, None))(rs, xs), [[1.5, 1, 6], [3, 2, 12]])


def test_forward_derivative_of_a_batched_while():
    def doubling(x):  # doubles until above 10; the derivative is the power of two
        return ap.lax.while_loop(lambda v: v < 10.0, lambda v: v * 2.0, x)

    def pushed(x):
        return ap.jvp(doubling, (x,), (anp.ones_like(x),))[1]

    close(ap.vmap(doubling)(anp.array([1.0, 3.0, 11.0])), [16, 12, 11])
    close(ap.vmap(pushed)(anp.array([1.0, 3.0, 11.0])), [16, 4, 1])
    close(ap.jacfwd(ap.vmap(doubling))(anp.array([1.0, 3.0])), [[16, 0], [0, 4]])


def test_gradient_of_writes_in_a_loop():
    def f(x):
        out = ap.lax.fori_loop(0, 3, lambda i, c: c.at[i].set(x[i] * c[i - 1]), anp.ones(3))
        return out[2]

    # out[0] = x0 * 1, out[1] = x1 x0, out[2] = x2 x1 x0
    x = anp.array([2.0, 3.0, 5.0])
    close(ap.grad(f)(x), [15, 10, 6])
    close(ap.jit(ap.grad(f))(x), [15, 10, 6])


def test_cond_and_switch_derivatives():
    def f(x):
        return ap.lax.cond(x > 0, lambda v: v * v, lambda v: -3.0 * v, x)

    close(ap.grad(f)(2.0), 4.0)
    close(ap.jit(ap.grad(f))(-2.0), -3.0)
    close(ap.vmap(ap.grad(f))(anp.array([2.0, -2.0])), [4, -3])

    def g(i, x):
        return ap.lax.switch(i, [lambda v: v, lambda v: v**2, lambda v: v**3], x)

    close(ap.vmap(ap.grad(g, 1), (0, None))(anp.array([-1, 0, 1, 2, 9]), 2.0), [1, 1, 4, 12, 12])


# ---- rules of one's own


def test_custom_rules_are_used_at_every_order_and_under_jit():
    @ap.custom_jvp
    def f(x):
        return anp.sin(x)

    f.defjvp(lambda xs, ts: (f(*xs), ts[0] * 3.0 * f(*xs)))  # says f' = 3 f
    for g in (ap.grad(f), ap.jit(ap.grad(f)), ap.grad(ap.jit(f))):
        close(g(0.5), 3 * math.sin(0.5))
    close(ap.grad(ap.grad(f))(0.5), 9 * math.sin(0.5))

    @ap.custom_vjp
    def clipped(x):
        return x * 1.0

    clipped.defvjp(lambda x: (x * 1.0, ()), lambda _, g: (anp.clip(g, -1.0, 1.0),))
    close(ap.grad(lambda x: 5.0 * clipped(x))(2.0), 1.0)
    close(ap.jit(ap.vmap(ap.grad(lambda x: 5.0 * clipped(x))))(anp.ones(2)), [1, 1])


def test_checkpoint_computes_again():
    calls = []

    def f(x):
        calls.append(1)
        return anp.sin(anp.sin(x))

    want = math.cos(math.sin(0.4)) * math.cos(0.4)
    close(ap.grad(ap.checkpoint(f))(0.4), want)
    close(ap.jit(ap.grad(ap.checkpoint(f)))(0.4), want)
    close(ap.grad(ap.grad(ap.checkpoint(lambda x: x**4)))(2.0), 48.0, 1e-5)
    assert calls


# ---- where control leaves the context


def test_work_in_other_threads_inside_a_gradient(backend):
    if backend == "jax":
        pytest.skip("JAX refuses traced values in other threads (UnexpectedTracerError)")
    with ThreadPoolExecutor(2) as pool:

        def f(x):
            parts = pool.map(lambda s: ap.grad(lambda y: anp.sum(y * y * x) * s)(x), [1.0, 2.0])
            return anp.sum(anp.concatenate(list(parts)))

        x = anp.array([0.5, 1.5])
        close(ap.grad(f)(x), 12.0 * np.asarray(x))  # each part is 2 s x^2: together 6 x^2


def test_a_python_number_meets_arrays_of_another_backend(backend):
    x = anp.array([1.0, -2.0])
    other = "numpy" if backend != "numpy" else "cupy-sim"
    with ap.use_backend(other):
        for jacobian in (ap.jacfwd, ap.jacrev):
            found = jacobian(lambda t: x * t**2)(3.0)
            assert found.device.backend == backend
            np.testing.assert_allclose(np.asarray(found), [6.0, -12.0])
        for second in (ap.hessian, lambda f: ap.jacfwd(ap.jacfwd(f))):
            found = second(lambda t: x * t**3)(3.0)
            np.testing.assert_allclose(np.asarray(found), [18.0, -36.0])


# ---- long loops

RUNS = 5


@pytest.mark.parametrize("loop", ["scan", "fori_loop"])
def test_gradients_of_loops_are_linear_in_their_length(loop, backend):
    """In time, by the best of some runs, and in memory: what a step leaves is its carry."""
    if backend != "numpy":
        pytest.skip("the time is that of our compiler's loops")

    def end(x, n):
        def step(c):
            return anp.sin(c) * 0.9 + x * 0.1

        if loop == "scan":
            return ap.lax.scan(lambda c, _: (step(c), None), x, None, n)[0].sum()
        return ap.lax.fori_loop(0, n, lambda _, c: step(c), x).sum()

    x = anp.linspace(0.0, 1.0, 4)
    times, peaks = [], []
    for n in (1000, 10000):
        slope = ap.jit(ap.grad(lambda x, n=n: end(x, n)))
        slope(x)
        slope(x)
        best = math.inf
        for _ in range(RUNS):
            start = time.perf_counter()
            slope(x)
            best = min(best, time.perf_counter() - start)
        times.append(best)
        tracemalloc.start()
        slope(x)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert times[1] < 40 * times[0]  # a hundredfold if it were quadratic
    assert peaks[1] < 10.5 * peaks[0]
    assert peaks[1] < 10000 * 4 * 4 * 3  # of three carries a step


def test_argnums_count_from_the_end_too():
    def f(x, y):
        return (x * y * y).sum()

    np.testing.assert_array_equal(ap.grad(f, argnums=-1)(np.ones(2), np.full(2, 3.0)), [6.0, 6.0])
    np.testing.assert_array_equal(ap.grad(f, argnums=-2)(np.ones(2), np.full(2, 3.0)), [9.0, 9.0])


def test_what_is_called_need_not_name_itself_by_a_string():
    class Doubled:
        __name__ = None

        def __call__(self, x):
            return 2 * x

    assert float(ap.grad(Doubled())(1.0)) == 2.0
    assert ap.vmap(Doubled())(anp.ones(2)).tolist() == [2.0, 2.0]
    assert float(ap.jit(Doubled())(1.0)) == 2.0
