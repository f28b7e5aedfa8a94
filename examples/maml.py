"""Learn to learn sines: MAML, the gradient of a loss that itself follows a gradient step.

Run `python examples/maml.py`; compare backends by `arrayport verify examples/maml.py`.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

import arrayport as ap
import arrayport.numpy as anp

Params = list[tuple[ap.Array, ap.Array]]
Samples = tuple[ap.Array, ap.Array]

SIZES = (1, 24, 24, 1)
TASKS, SHOTS = 8, 10
INNER_RATE, OUTER_RATE, STEPS = 0.1, 0.05, 1000

# The loss of a step down a gradient loses a few more bits of float32 than a formula.
TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}


def initial(key: ap.Array) -> Params:
    """Draw each layer's weights, normal with variance 1 / inputs, and set its biases to zero."""
    sizes = list(pairwise(SIZES))
    return [
        (ap.random.normal(subkey, size) / math.sqrt(size[0]), anp.zeros(size[1]))
        for subkey, size in zip(ap.random.split(key, len(sizes)), sizes, strict=True)
    ]


def tasks(key: ap.Array) -> tuple[Samples, Samples]:
    """Draw sines, and of each of them points to learn from and points to be judged by.

    All four arrays, x and y of both, are (TASKS, SHOTS, 1).
    """
    amplitude_key, phase_key, x_key = ap.random.split(key, 3)
    amplitude = ap.random.uniform(amplitude_key, (TASKS, 1, 1), minval=0.5, maxval=2.0)
    phase = ap.random.uniform(phase_key, (TASKS, 1, 1), maxval=math.pi)
    x = ap.random.uniform(x_key, (2, TASKS, SHOTS, 1), minval=-3.0, maxval=3.0)
    y = amplitude * anp.sin(x + phase)
    return (x[0], y[0]), (x[1], y[1])


def predict(params: Params, x: ap.Array) -> ap.Array:
    """Return the network's y, (n, 1), at x, (n, 1)."""
    *hidden, (weights, biases) = params
    for layer_weights, layer_biases in hidden:
        x = anp.tanh(x @ layer_weights + layer_biases)
    return x @ weights + biases


def loss(params: Params, x: ap.Array, y: ap.Array) -> ap.Array:
    """Return the mean squared error."""
    return anp.mean((predict(params, x) - y) ** 2)


def descend(params: Params, grads: Params, rate: float) -> Params:
    """Take one step down the gradients."""
    return ap.tree.map(lambda p, g: p - rate * g, params, grads)


def maml(params: Params, support: Samples, query: Samples) -> ap.Array:
    """Return the tasks' mean loss on the query points after one step on the support points."""

    def adapted_loss(support: Samples, query: Samples) -> ap.Array:
        adapted = descend(params, ap.grad(loss)(params, *support), INNER_RATE)
        return loss(adapted, *query)

    return anp.mean(ap.vmap(adapted_loss)(support, query))


@ap.jit
def train(key: ap.Array) -> tuple[Params, ap.Array]:
    """Return parameters from which one step learns a sine, and the loss before every step."""

    def step(params: Params, key: ap.Array) -> tuple[Params, ap.Array]:
        value, grads = ap.value_and_grad(maml)(params, *tasks(key))
        return descend(params, grads, OUTER_RATE), value

    initial_key, tasks_key = ap.random.split(key)
    return ap.lax.scan(step, initial(initial_key), ap.random.split(tasks_key, STEPS))


@ap.jit
def judge(params: Params, key: ap.Array) -> tuple[ap.Array, ap.Array]:
    """Return the mean loss on new tasks: of the parameters as they are, and after one step."""
    support, query = tasks(key)
    unadapted = anp.mean(ap.vmap(loss, in_axes=(None, 0, 0))(params, *query))
    return unadapted, maml(params, support, query)


def example_inputs() -> tuple[Params, Samples, Samples]:
    """Return untrained parameters and one batch of tasks, as NumPy arrays."""
    params_key, tasks_key = ap.random.split(ap.random.PRNGKey(0))
    return ap.tree.map(np.asarray, (initial(params_key), *tasks(tasks_key)))


def main() -> None:
    """Print how the loss after one step falls as the network learns to learn."""
    params, losses = train(ap.random.PRNGKey(0))
    for start in (0, 100, STEPS - 100):
        mean = float(anp.mean(losses[start : start + 100]))
        print(f"steps {start:3d} to {start + 99:3d}: loss after adapting {mean:.4f}")
    before, after = judge(params, ap.random.PRNGKey(1))
    print(f"new tasks: loss {float(before):.4f}, after one step {float(after):.4f}")


if __name__ == "__main__":
    main()
