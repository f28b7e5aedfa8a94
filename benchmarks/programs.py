"""The programs that are timed, each written once: for JAX's names, under `jax` or `arrayport`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Function = Callable[..., Any]
FLOATS = ("float32", "float64")


@dataclass(frozen=True)
class Program:
    """One program: `write(jax, jnp)` gives the function, `inputs(dtype)` its arguments.

    `goal`: what part of JAX's time ours may take, compiled for NumPy; a pair for float32 and
    float64. `smooth`: the sum of its output may be differentiated by its first argument. `plain`:
    it runs on NumPy itself.
    """

    id: str
    write: Callable[[Any, Any], Function]
    inputs: Callable[[str], tuple[Any, ...]]
    goal: float | tuple[float, float]
    smooth: bool = False
    plain: bool = False
    dtypes: tuple[str, ...] = FLOATS
    ulps: float | tuple[float, float] = 1e3

    def goal_for(self, dtype: str) -> float:
        """Return the goal for a dtype."""
        return self.goal if isinstance(self.goal, float) else self.goal[FLOATS.index(dtype)]

    def ulps_for(self, dtype: str) -> float:
        """Return how far results in a dtype may be apart."""
        return self.ulps if isinstance(self.ulps, float) else self.ulps[FLOATS.index(dtype)]


def normals(dtype: str, *shapes: Any) -> tuple[np.ndarray, ...]:
    """Draw arrays of these shapes, the same in every run."""
    draws = np.random.default_rng(0)
    return tuple(draws.standard_normal(shape).astype(dtype) for shape in shapes)


# ---- elementwise and reductions


def chain(_jax: Any, jnp: Any) -> Function:
    return lambda x: 0.99 * x + 0.01 * jnp.tanh(x) * jnp.exp(-x)


def reduce(_jax: Any, jnp: Any) -> Function:
    return lambda x: jnp.sum(jnp.sin(x) ** 2 + jnp.cos(x) * jnp.exp(-x * x))


def reduce_grad(jax: Any, jnp: Any) -> Function:
    return jax.grad(reduce(jax, jnp))


def arithmetic(_jax: Any, jnp: Any) -> Function:
    return lambda x, y: jnp.maximum(1.5 * x + 0.5 * y, 0) * (x - y)


def softmax(_jax: Any, jnp: Any) -> Function:
    def rows(x: Any) -> Any:
        powers = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
        return powers / jnp.sum(powers, axis=-1, keepdims=True)

    return rows


def layernorm(_jax: Any, jnp: Any) -> Function:
    def rows(x: Any) -> Any:
        centred = x - jnp.mean(x, axis=-1, keepdims=True)
        return centred / jnp.sqrt(jnp.mean(centred * centred, axis=-1, keepdims=True) + 1e-5)

    return rows


# ---- loops


def iterate(jax: Any, jnp: Any) -> Function:
    return lambda x: jax.lax.fori_loop(0, 1000, lambda _, x: 0.99 * x + 0.01 * jnp.tanh(x), x)


def diffusion(jax: Any, jnp: Any) -> Function:
    def step(field: Any, _: None) -> tuple[Any, None]:
        vertical = jnp.roll(field, 1, axis=0) + jnp.roll(field, -1, axis=0)
        horizontal = jnp.roll(field, 1, axis=1) + jnp.roll(field, -1, axis=1)
        return field + 0.1 * (vertical + horizontal - 4 * field), None

    return lambda field: jax.lax.scan(step, field, None, length=200)[0]


def runge_kutta(jnp: Any, force: Function) -> Function:
    """Return one step, of fourth order, of x'' = force(x, x')."""

    def slope(state: Any) -> Any:
        return jnp.stack([state[1], force(state[0], state[1])])

    def step(state: Any, time: float = 0.001) -> Any:
        first = slope(state)
        second = slope(state + time / 2 * first)
        third = slope(state + time / 2 * second)
        fourth = slope(state + time * third)
        return state + time / 6 * (first + 2 * second + 2 * third + fourth)

    return step


def oscillator(steps: int) -> Callable[[Any, Any], Function]:
    def write(jax: Any, jnp: Any) -> Function:
        step = runge_kutta(jnp, lambda x, v: -4.0 * x - 0.3 * v)
        return lambda state: jax.lax.fori_loop(0, steps, lambda _, s: step(s), state)

    return write


def many_oscillators(jax: Any, jnp: Any) -> Function:
    return jax.vmap(oscillator(1000)(jax, jnp))


def duffing_grad(jax: Any, jnp: Any) -> Function:
    step = runge_kutta(jnp, lambda x, v: x - x * x * x - 0.3 * v)

    def energy(state: Any) -> Any:
        end, _ = jax.lax.scan(lambda s, _: (step(s), None), state, None, length=10_000)
        return jnp.sum(end * end)

    return jax.value_and_grad(energy)


def odeint(jax: Any, jnp: Any) -> Function:
    def slope(state: Any, _time: Any) -> Any:
        return jnp.stack([state[1], -4.0 * state[0] - 0.3 * state[1]])

    return lambda state, times: jax.experimental.ode.odeint(slope, state, times)


# ---- linear algebra


def perceptron(jax: Any, jnp: Any) -> Function:
    def loss(params: Any, images: Any, labels: Any) -> Any:
        (w1, b1), (w2, b2) = params
        scores = jnp.maximum(images @ w1 + b1, 0) @ w2 + b2
        scores = scores - jnp.max(scores, axis=1, keepdims=True)
        chances = scores - jnp.log(jnp.sum(jnp.exp(scores), axis=1, keepdims=True))
        return -jnp.mean(jnp.sum(chances * labels, axis=1))

    def step(w1: Any, b1: Any, w2: Any, b2: Any, images: Any, labels: Any) -> Any:
        params = [(w1, b1), (w2, b2)]
        grads = jax.grad(loss)(params, images, labels)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    return step


def perceptron_inputs(dtype: str) -> tuple[Any, ...]:
    w1, w2, images = normals(dtype, (784, 128), (128, 10), (128, 784))
    labels = np.eye(10, dtype=dtype)[np.arange(128) % 10]
    return w1 / 28, np.zeros(128, dtype), w2 / 11, np.zeros(10, dtype), images, labels


def circuit(_jax: Any, jnp: Any) -> Function:
    def run(state: Any, gates: Any) -> Any:
        for n in range(100):
            qubit = 7 * n % 16
            state = jnp.moveaxis(jnp.tensordot(gates[n], state, ((1,), (qubit,))), 0, qubit)
        return state

    return run


def circuit_inputs(dtype: str) -> tuple[Any, ...]:
    real, imaginary = normals(dtype, (100, 2, 2), (100, 2, 2))
    gates, _ = np.linalg.qr(real + 1j * imaginary)
    kind = np.result_type(dtype, np.complex64)
    state = np.zeros((2,) * 16, kind)
    state[(0,) * 16] = 1
    return state, gates.astype(kind)


def solve(jax: Any, jnp: Any) -> Function:
    return jax.vmap(jnp.linalg.solve)


def solve_inputs(dtype: str) -> tuple[Any, ...]:
    a, b = normals(dtype, (1000, 8, 8), (1000, 8))
    return a + 8 * np.eye(8, dtype=dtype), b


def hessian(jax: Any, jnp: Any) -> Function:
    def loss(weights: Any, points: Any, signs: Any) -> Any:
        return jnp.mean(jnp.log1p(jnp.exp(-signs * (points @ weights))))

    return jax.hessian(loss)


def hessian_inputs(dtype: str) -> tuple[Any, ...]:
    weights, points, signs = normals(dtype, 100, (1000, 100), 1000)
    return weights / 10, points, np.sign(signs)


def image_inputs(dtype: str) -> tuple[Any, ...]:
    return normals(dtype, (8, 16, 64, 64), (32, 16, 3, 3))


# ---- indexing, sorting, drawing


def positions(dtype: str) -> tuple[Any, ...]:
    places = np.random.default_rng(1).integers(0, 100_000, 1_000_000).astype(np.int32)
    return (*normals(dtype, 100_000), places)


def values_at(dtype: str) -> tuple[Any, ...]:
    table, places = positions(dtype)
    return table, places, *normals(dtype, 1_000_000)


KEY = (np.array([0, 42], np.uint32),)
MILLION = 1_000_000

PROGRAMS = (
    Program("chain-small", chain, lambda d: normals(d, 1000), 0.3, smooth=True, plain=True),
    Program("chain", chain, lambda d: normals(d, MILLION), 0.75, smooth=True, plain=True),
    # 40 and 80 MB: above the 32 MiB below which JAX's time is steady
    Program("chain-large", chain, lambda d: normals(d, 10 * MILLION), 0.45, plain=True),
    Program("reduce", reduce, lambda d: normals(d, MILLION), 0.5, plain=True),
    Program("reduce-grad", reduce_grad, lambda d: normals(d, MILLION), 0.3),
    Program("sin", lambda _, jnp: jnp.sin, lambda d: normals(d, 100_000), 0.2, plain=True),
    Program("cos", lambda _, jnp: jnp.cos, lambda d: normals(d, 100_000), 0.2, plain=True),
    Program(
        "pow",
        lambda _, jnp: lambda x, y: jnp.power(jnp.abs(x), y),
        lambda d: normals(d, 100_000, 100_000),
        0.2,
        plain=True,
    ),
    Program(
        "atan2", lambda _, jnp: jnp.arctan2, lambda d: normals(d, 100_000, 100_000), 0.2, plain=True
    ),
    Program(
        "log1p",
        lambda _, jnp: lambda x: jnp.log1p(x * x),
        lambda d: normals(d, 100_000),
        0.2,
        plain=True,
    ),
    Program("erf", lambda jax, _: jax.lax.erf, lambda d: normals(d, 100_000), 0.2),
    Program("arithmetic-small", arithmetic, lambda d: normals(d, 1000, 1000), 0.25, plain=True),
    Program("arithmetic", arithmetic, lambda d: normals(d, MILLION, MILLION), 1.05, plain=True),
    Program("iterate", iterate, lambda d: normals(d, 1000), (0.9, 1.0), smooth=True, ulps=1e4),
    Program("diffusion", diffusion, lambda d: normals(d, (512, 512)), 0.3, smooth=True, ulps=1e4),
    Program("rk4", oscillator(100_000), lambda d: (np.array([1, 0], d),), 0.55, ulps=1e6),
    Program("rk4-vmap", many_oscillators, lambda d: normals(d, (1024, 2)), 0.4, ulps=1e5),
    Program("rk4-grad", duffing_grad, lambda d: (np.array([1.2, 0], d),), 0.65, ulps=1e6),
    Program(
        "odeint",
        odeint,
        lambda d: (np.array([1, 0], d), np.linspace(0, 10, 100, dtype=d)),
        0.9,
        ulps=(1e5, 1e8),  # 1.5e-8: the tolerance
    ),
    Program("mlp", perceptron, perceptron_inputs, 1.0, ulps=1e4),
    Program("circuit", circuit, circuit_inputs, 0.25),
    Program("softmax", softmax, lambda d: normals(d, (4096, 1024)), 0.55, smooth=True, plain=True),
    Program(
        "layernorm", layernorm, lambda d: normals(d, (4096, 1024)), 0.7, smooth=True, plain=True
    ),
    Program("solve", solve, solve_inputs, 0.15, smooth=True, ulps=1e4),
    Program(
        "conv",
        lambda jax, _: lambda x, w: jax.lax.conv(x, w, (1, 1), "SAME"),
        image_inputs,
        1.0,
        smooth=True,
        ulps=1e4,
    ),
    Program(
        "gather", lambda *_: lambda x, i: x[i], positions, 1.0, smooth=True, ulps=1e4, plain=True
    ),
    Program(
        "scatter-add",
        lambda *_: lambda x, i, v: x.at[i].add(v),
        values_at,
        1.0,
        smooth=True,
        ulps=1e4,
    ),
    Program("hessian", hessian, hessian_inputs, 0.7, ulps=1e4),
    Program(
        "normal",
        lambda jax, _: lambda key: jax.random.normal(key, (MILLION,), "float32"),
        lambda _: KEY,
        0.8,
        dtypes=FLOATS[:1],
    ),
    Program(
        "uniform",
        lambda jax, _: lambda key: jax.random.uniform(key, (MILLION,), "float32"),
        lambda _: KEY,
        0.8,
        dtypes=FLOATS[:1],
    ),
    Program(
        "permutation",
        lambda jax, _: lambda key: jax.random.permutation(key, MILLION),
        lambda _: KEY,
        0.8,
        dtypes=FLOATS[:1],
    ),
    Program("sort", lambda _, jnp: jnp.sort, lambda d: normals(d, MILLION), 1.0, plain=True),
    Program(
        "cumsum",
        lambda _, jnp: jnp.cumsum,
        lambda d: normals(d, MILLION),
        1.0,
        ulps=1e5,
        plain=True,
    ),
    Program("fft", lambda _, jnp: jnp.fft.fft, lambda d: normals(d, MILLION), 1.0, plain=True),
    Program(
        "matmul",
        lambda _, jnp: jnp.matmul,
        lambda d: normals(d, (1024, 1024), (1024, 1024)),
        1.0,
        smooth=True,
        ulps=1e4,
        plain=True,
    ),
)
