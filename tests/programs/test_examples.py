"""The examples, on every backend, against the same programs written out in plain NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from importlib import util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp

pytestmark = pytest.mark.usefixtures("backend")

EXAMPLES = Path(__file__).parents[2] / "examples"


@cache
def load(name: str) -> ModuleType:
    """Import an example once: its jitted functions then see one backend after the other."""
    spec = util.spec_from_file_location(f"examples_{name}", EXAMPLES / f"{name}.py")
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def to_float64(tree: Any) -> Any:
    """Copy the leaves to writable NumPy arrays of twice the precision."""
    return ap.tree.map(lambda leaf: np.array(leaf, np.float64), tree)


# digits


def digits_losses(digits: ModuleType, images: np.ndarray, labels: np.ndarray) -> list[float]:
    """Train as digits.train does, gradients by hand, in float64; only random draws are shared."""
    initial_key, order_key = ap.random.split(ap.random.PRNGKey(0))
    leaves = ap.tree.leaves(to_float64(digits.initial(initial_key)))
    means = [np.zeros_like(leaf) for leaf in leaves]
    squares = [np.zeros_like(leaf) for leaf in leaves]
    losses = []
    for key in ap.random.split(order_key, digits.EPOCHS):
        order = np.asarray(ap.random.permutation(key, len(images)))
        for start in range(0, len(images) - digits.BATCH + 1, digits.BATCH):
            rows = order[start : start + digits.BATCH]
            x, truth = images[rows].astype(np.float64), np.eye(10)[labels[rows]]
            w1, b1, w2, b2 = leaves
            hidden = np.maximum(x @ w1 + b1, 0)
            chances = np.exp(hidden @ w2 + b2)
            chances /= chances.sum(axis=1, keepdims=True)
            losses.append(-np.log((chances * truth).sum(axis=1)).mean())
            d_scores = (chances - truth) / len(rows)
            d_hidden = d_scores @ w2.T * (hidden > 0)
            grads = x.T @ d_hidden, d_hidden.sum(axis=0), hidden.T @ d_scores, d_scores.sum(axis=0)
            count = len(losses)
            rate = digits.RATE * np.sqrt(1 - 0.999**count) / (1 - 0.9**count)
            for leaf, grad, mean, square in zip(leaves, grads, means, squares, strict=True):
                mean[...] += 0.1 * (grad - mean)
                square[...] += 0.001 * (grad**2 - square)
                leaf[...] -= rate * mean / (np.sqrt(square) + digits.EPSILON)
    return losses


def test_digits_losses() -> None:
    """Within half of 1e-4 of one reference: any two backends agree to 1e-4."""
    digits = load("digits")
    inputs = digits.example_inputs()
    losses = digits.digits(*inputs)
    assert losses.dtype == np.float32
    np.testing.assert_allclose(losses, digits_losses(digits, *inputs), rtol=0, atol=5e-5)


def test_digits_accuracy() -> None:
    digits = load("digits")
    images, test_images, labels, test_labels = digits.splits()
    assert test_images.shape == (360, 64)
    params, _ = digits.train(ap.random.PRNGKey(0), images, labels)
    (w1, b1), (w2, b2) = to_float64(params)
    best = np.argmax(np.maximum(test_images @ w1 + b1, 0) @ w2 + b2, axis=1)
    expected = np.mean(best == test_labels)
    assert expected > 0.95
    # One image whose two best scores tie in float32 may fall either way.
    assert abs(float(digits.accuracy(params, test_images, test_labels)) - expected) <= 1 / 360


# diffusion


@pytest.mark.parametrize("steps", [1, 7, 200])
def test_diffusion(steps: int) -> None:
    diffusion = load("diffusion")
    (field,) = diffusion.example_inputs()
    final, hottest = diffusion.simulate(field, steps)

    expected, hottest_expected = field.astype(np.float64), []
    for _ in range(steps):
        around = np.pad(expected, 1, mode="wrap")
        neighbours = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
        expected = expected + 0.2 * (neighbours - 4 * expected)
        hottest_expected.append(expected.max())
    np.testing.assert_allclose(final, expected, **diffusion.TOLERANCE)
    np.testing.assert_allclose(hottest, hottest_expected, **diffusion.TOLERANCE)


def test_diffusion_verified_function() -> None:
    """The Fourier modes of a periodic plate decay each by its own factor."""
    diffusion = load("diffusion")
    side, steps = diffusion.SIDE, diffusion.STEPS
    mode = np.cos(2 * np.pi * 3 * np.arange(side) / side)
    final, _ = diffusion.diffusion(np.outer(mode, np.ones(side)).astype(np.float32))
    factor = (1 - 4 * diffusion.RATE * np.sin(np.pi * 3 / side) ** 2) ** steps
    np.testing.assert_allclose(final, np.outer(factor * mode, np.ones(side)), atol=1e-5)


# oscillator


def oscillator_exact(damping: float, time: float) -> float:
    """Solve x'' + damping x' + 4 x = 0 from rest at 1 by the characteristic roots."""
    roots = np.roots([1, damping, 4])
    return float(
        np.real(
            (roots[1] * np.exp(roots[0] * time) - roots[0] * np.exp(roots[1] * time))
            / (roots[1] - roots[0])
        )
    )


@pytest.mark.parametrize("steps", [0, 1, 100, 500])
def test_oscillator(steps: int) -> None:
    """Python counts and traced counts, against the analytic solution."""
    oscillator = load("oscillator")
    damping = anp.array(0.3)
    expected = oscillator_exact(0.3, steps * oscillator.STEP)
    for run in (oscillator.position, ap.jit(oscillator.position)):
        np.testing.assert_allclose(run(damping, steps), expected, **oscillator.TOLERANCE)


def test_oscillator_compiles_once_for_every_count() -> None:
    oscillator = load("oscillator")
    traces = []

    def position(damping: Any, steps: Any) -> Any:
        traces.append(steps)
        return oscillator.position(damping, steps)

    compiled = ap.jit(position)
    for steps in (3, 30, 300):
        expected = oscillator_exact(0.3, steps * oscillator.STEP)
        np.testing.assert_allclose(
            compiled(anp.array(0.3), steps), expected, **oscillator.TOLERANCE
        )
    assert len(traces) == 1


def test_oscillator_derivative() -> None:
    """Forward through a traced count, reverse through a static one: the formula's derivative."""
    oscillator = load("oscillator")
    steps, nudge = oscillator.STEPS, 1e-5
    time = steps * oscillator.STEP
    expected = (oscillator_exact(0.3 + nudge, time) - oscillator_exact(0.3 - nudge, time)) / (
        2 * nudge
    )
    damping = anp.array(0.3)
    compiled = ap.jit(oscillator.position)
    _, forward = ap.jvp(lambda d: compiled(d, steps), (damping,), (anp.ones_like(damping),))
    np.testing.assert_allclose(forward, expected, rtol=1e-4)
    np.testing.assert_allclose(ap.grad(oscillator.oscillator)(damping), expected, rtol=1e-4)
    np.testing.assert_allclose(ap.jit(ap.grad(oscillator.oscillator))(damping), expected, rtol=1e-4)


# MAML


def maml_loss(params: Any, support: Any, query: Any, inner_rate: float) -> float:
    """Compute the loss after one step, the step's gradient by hand, in NumPy."""
    (w1, b1), (w2, b2), (w3, b3) = params
    losses = []
    for x, y, query_x, query_y in zip(*support, *query, strict=True):
        first = np.tanh(x @ w1 + b1)
        second = np.tanh(first @ w2 + b2)
        d_out = 2 * (second @ w3 + b3 - y) / len(x)
        d_second = d_out @ w3.T * (1 - second**2)
        d_first = d_second @ w2.T * (1 - first**2)

        def step(layer: Any, value: Any, gradient: Any) -> Any:
            weights, biases = layer
            return (
                weights - inner_rate * value.T @ gradient,
                biases - inner_rate * gradient.sum(axis=0),
            )

        (v1, c1), (v2, c2), (v3, c3) = (
            step(params[0], x, d_first),
            step(params[1], first, d_second),
            step(params[2], second, d_out),
        )
        out = np.tanh(np.tanh(query_x @ v1 + c1) @ v2 + c2) @ v3 + c3
        losses.append(np.mean((out - query_y) ** 2))
    return float(np.mean(losses))


def test_maml_loss() -> None:
    maml = load("maml")
    inputs = maml.example_inputs()
    expected = maml_loss(*to_float64(inputs), maml.INNER_RATE)
    np.testing.assert_allclose(maml.maml(*inputs), expected, **maml.TOLERANCE)
    np.testing.assert_allclose(ap.jit(maml.maml)(*inputs), expected, **maml.TOLERANCE)


def test_maml_gradient() -> None:
    """The gradient through the gradient, along random directions, by finite differences."""
    maml = load("maml")
    params, support, query = maml.example_inputs()
    grads = to_float64(ap.jit(ap.grad(maml.maml))(params, support, query))
    params, support, query = to_float64((params, support, query))
    rng, nudge = np.random.default_rng(0), 1e-5
    for _ in range(4):
        direction = ap.tree.map(lambda leaf: rng.normal(size=leaf.shape), params)
        ahead = ap.tree.map(lambda p, d: p + nudge * d, params, direction)
        behind = ap.tree.map(lambda p, d: p - nudge * d, params, direction)
        expected = (
            maml_loss(ahead, support, query, maml.INNER_RATE)
            - maml_loss(behind, support, query, maml.INNER_RATE)
        ) / (2 * nudge)
        pairs = zip(ap.tree.leaves(grads), ap.tree.leaves(direction), strict=True)
        along = sum(np.sum(g * d) for g, d in pairs)
        np.testing.assert_allclose(along, expected, rtol=1e-4)


def test_maml_learns() -> None:
    maml = load("maml")
    params, losses = maml.train(ap.random.PRNGKey(0))
    assert np.mean(losses[-100:]) < 0.5 * np.mean(losses[:20])
    before, after = maml.judge(params, ap.random.PRNGKey(1))
    assert after < 0.5 * before


# all of them


@pytest.mark.parametrize(
    ("name", "last_line"),
    [
        ("digits", "test accuracy: 9"),
        ("diffusion", "heat before 240.000, after 240.00"),
        ("oscillator", "dx/d(damping): forward +0.9523"),
        ("maml", "new tasks: loss 0."),
    ],
)
def test_example_prints(name: str, last_line: str, capsys: pytest.CaptureFixture[str]) -> None:
    load(name).main()
    assert capsys.readouterr().out.splitlines()[-1].startswith(last_line)


def test_agnostic_library(backend: str) -> None:
    """A library's own tests pass in a process of their own, whichever backend is the default."""
    plugin = ["-p", "arrayport_conformance.plugin", f"--arrayport-backends={backend}"]
    command = [sys.executable, "-m", "pytest", "-q", *plugin, "-p", "no:cacheprovider", "tests"]
    paths = [str(Path(ap.__file__).parents[1]), *filter(None, sys.path)]
    environment = os.environ | {
        "ARRAYPORT_BACKEND": backend,
        "PYTHONPATH": os.pathsep.join(paths),
    }
    done = subprocess.run(
        command,
        cwd=EXAMPLES / "agnostic_library",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert ("1 skipped" in done.stdout) == (backend != "cupy-sim")  # its test of simulated CuPy
