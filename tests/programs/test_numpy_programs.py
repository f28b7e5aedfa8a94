"""Programs in plain NumPy, which never mention arrayport: differentiated, batched and compiled.

NumPy itself, in twice the precision, says what they compute, and what their derivatives are, by
central differences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp

RNG = np.random.default_rng(3)
DATA = RNG.normal(size=(8, 3)).astype(np.float32)
LABELS = RNG.integers(0, 3, 8)
SIGNAL = RNG.normal(size=16).astype(np.float32)

pytestmark = pytest.mark.usefixtures("backend")


def least_squares(w: Any) -> Any:
    return np.mean((np.dot(DATA, w) - np.cos(DATA[:, 0])) ** 2) + 0.1 * np.sum(np.abs(w))


def cross_entropy(w: Any) -> Any:
    scores = DATA @ np.reshape(w, (3, 3))
    scores = scores - np.max(scores, axis=1, keepdims=True)
    chances = scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))
    return -np.mean(np.take_along_axis(chances, LABELS[:, None], axis=1))


def likelihood_of_a_gaussian_process(scales: Any) -> Any:
    apart = DATA[:, None, :] - DATA[None, :, :]
    kernel = np.exp(-0.5 * np.sum((apart / scales) ** 2, axis=-1)) + 0.1 * np.eye(8)
    _, volume = np.linalg.slogdet(kernel)
    targets = np.sin(DATA[:, 1])
    return 0.5 * (targets @ np.linalg.solve(kernel, targets) + volume)


def pendulum(start: Any) -> Any:
    def slope(state: Any) -> Any:
        return np.stack([state[1], -np.sin(state[0])])

    state, step = start, 0.1
    for _ in range(5):
        k1 = slope(state)
        k2 = slope(state + step / 2 * k1)
        k3 = slope(state + step / 2 * k2)
        k4 = slope(state + step * k3)
        state = state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return 0.5 * state[1] ** 2 + np.square(state[0])


def power_of_a_smoothed_signal(x: Any) -> Any:
    spectrum = np.fft.rfft(x) * np.exp(-0.3 * np.arange(9))
    return np.sum(np.fft.irfft(spectrum, n=16) ** 2) + np.sum(np.convolve(x, SIGNAL, mode="same"))


def sharpe_ratio(returns: Any) -> Any:
    wealth = np.cumprod(1 + 0.01 * returns)
    gains = np.diff(wealth) / wealth[:-1]
    drawdown = np.max(np.maximum.accumulate(wealth) - wealth)
    return np.mean(gains) / np.std(gains) - drawdown


def page_rank(weights: Any) -> Any:
    links = np.exp(np.reshape(weights, (3, 3)))
    links = links / np.add.reduce(links, axis=0)
    rank = np.full(3, 1 / 3)
    for _ in range(8):
        rank = 0.85 * links @ rank + 0.05
    return np.dot(rank, np.arange(3.0))


def newton_on_a_polynomial(coefficients: Any) -> Any:
    x = 2.0
    for _ in range(4):
        x = x - np.polyval(coefficients, x) / np.polyval(np.polyder(coefficients), x)
    return x


def distances_of_nearest_centers(centers: Any) -> Any:
    apart = np.linalg.norm(DATA[:, None] - np.reshape(centers, (2, 3)), axis=2)
    nearest = np.argmin(apart, axis=1)
    return np.sum(np.where(nearest == 0, apart[:, 0], apart[:, 1]))


def interpolated_table(values: Any) -> Any:
    grid = np.linspace(0.0, 1.0, 6)
    table = np.interp(np.array([0.05, 0.33, 0.77]), grid, values)
    padded = np.pad(table, (1, 1), mode="edge")
    return np.trapezoid(padded**2, dx=0.25) + np.median(values) + np.ptp(values)


def life(cells: Any) -> Any:
    shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    neighbours = sum(np.roll(cells, shift, axis=(0, 1)) for shift in shifts)
    return np.where(np.logical_or(neighbours == 3, (cells == 1) & (neighbours == 2)), 1, 0)


def mandelbrot(c: Any) -> Any:
    z, steps = np.zeros_like(c), np.zeros(c.shape, np.int32)
    for _ in range(12):
        inside = np.abs(z) <= 2
        z = np.where(inside, z * z + c, z)
        steps = steps + inside
    return steps


@dataclass(frozen=True)
class Program:
    run: Callable[[Any], Any]
    start: np.ndarray
    smooth: bool = True  # has a derivative where it starts


PROGRAMS = [
    Program(least_squares, RNG.normal(size=3)),
    Program(cross_entropy, RNG.normal(size=9)),
    Program(likelihood_of_a_gaussian_process, np.array([1.0, 2.0, 0.7])),
    Program(pendulum, np.array([0.8, -0.3])),
    Program(power_of_a_smoothed_signal, RNG.normal(size=16)),
    Program(sharpe_ratio, RNG.normal(size=8)),
    Program(page_rank, RNG.normal(size=9)),
    Program(newton_on_a_polynomial, np.array([1.0, -0.5, -3.0])),
    Program(distances_of_nearest_centers, RNG.normal(size=6)),
    Program(interpolated_table, np.array([0.1, 1.3, 0.4, 2.0, -0.7, 0.9])),
    Program(life, RNG.integers(0, 2, (6, 6)), smooth=False),
    Program(mandelbrot, RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4)), smooth=False),
]


def slopes(run: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    """Take central differences in float64."""
    steps = 1e-6 * np.eye(x.size)
    return np.array([(run(x + s) - run(x - s)) / 2e-6 for s in steps])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.run.__name__)
def test_plain_numpy_programs(program: Program, backend: str) -> None:
    run, x = program.run, anp.asarray(program.start)
    others = np.stack([program.start, program.start[::-1]])
    batched = ap.jit(ap.vmap(run))(anp.asarray(others))
    assert batched.device.backend == backend
    np.testing.assert_allclose(
        np.asarray(batched), np.stack([run(row) for row in others]), rtol=2e-4, atol=2e-4
    )
    if program.smooth:
        value, gradient = ap.jit(ap.value_and_grad(run))(x)
        np.testing.assert_allclose(float(value), run(program.start), rtol=2e-4, atol=2e-4)
        wanted = slopes(run, program.start)
        np.testing.assert_allclose(np.asarray(gradient), wanted, rtol=2e-3, atol=2e-3)


def test_eagerly_the_same(backend: str) -> None:
    for program in PROGRAMS[:4] if backend == "jax" else PROGRAMS:
        found = program.run(anp.asarray(program.start))
        np.testing.assert_allclose(
            np.asarray(found), program.run(program.start), rtol=2e-4, atol=2e-4
        )
