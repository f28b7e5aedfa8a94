"""Gradients of numpy's functions are jax.numpy's, at kinks too; batched they are the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp

RNG = np.random.default_rng(1)
F = RNG.normal(size=(3, 4)).astype(np.float32)
G = RNG.normal(size=(3, 4)).astype(np.float32)
TIES = np.array([[0.0, 0.0, -1.0, 2.0], [1.0, 1.0, 1.0, -3.0], [0.0, 2.0, 2.0, 0.5]], np.float32)
WEIGHTS = RNG.normal(size=(64,)).astype(np.float32)

# Functions of (namespace, x), all of one shape, so that JAX compiles little.
CASES: list[Callable[[Any, Any], Any]] = [
    lambda np_, x: np_.logaddexp(x, G),
    lambda np_, x: np_.logaddexp(x, x),
    lambda np_, x: np_.logaddexp2(G, x),
    lambda np_, x: np_.hypot(x, G),
    lambda np_, x: np_.sinc(x),
    lambda np_, x: np_.arctan2(x, G),
    lambda np_, x: np_.maximum(x, 0.5),
    lambda np_, x: np_.fmin(x, G),
    lambda np_, x: np_.clip(x, -0.5, 0.5),
    lambda np_, x: np_.where(x > 0, x**2, 0.0),
    lambda np_, x: np_.abs(x),
    lambda np_, x: np_.copysign(x, G),
    lambda np_, x: np_.remainder(x, 0.75),
    lambda np_, x: np_.float_power(np_.abs(x) + 1, 1.5),
    lambda np_, x: np_.nan_to_num(x) * 2,
    lambda np_, x: np_.deg2rad(x),
    lambda np_, x: np_.sum(x, axis=1, keepdims=True) * x,
    lambda np_, x: np_.prod(x, axis=0),
    lambda np_, x: np_.max(x, axis=1),
    lambda np_, x: np_.mean(x, axis=(0, 1)) * x,
    lambda np_, x: np_.var(x, axis=1, ddof=1),
    lambda np_, x: np_.std(x, axis=0),
    lambda np_, x: np_.cumsum(x, axis=1),
    lambda np_, x: np_.cumprod(x, axis=1),
    lambda np_, x: np_.diff(x, axis=0),
    lambda np_, x: np_.trapezoid(x, axis=1),
    lambda np_, x: np_.average(x, axis=1, weights=np.array([1.0, 2.0, 3.0, 4.0], np.float32)),
    lambda np_, x: np_.median(x, axis=1),
    lambda np_, x: np_.quantile(x, 0.3, axis=0),
    lambda np_, x: np_.sort(x, axis=1),
    lambda np_, x: np_.ptp(x, axis=1),
    lambda np_, x: np_.nansum(np_.where(x > 1, np.float32(np.nan), x)),
    lambda np_, x: np_.reshape(x, (2, 6), order="F"),
    lambda np_, x: np_.concatenate([x, x * G], axis=1),
    lambda np_, x: np_.stack([x, G], axis=1),
    lambda np_, x: np_.tile(x, (1, 2)),
    lambda np_, x: np_.repeat(x, np.array([1, 0, 2]), axis=0, total_repeat_length=3),
    lambda np_, x: np_.roll(x, (1, -1), axis=(0, 1)),
    lambda np_, x: np_.rot90(x),
    lambda np_, x: np_.flip(x, 1) * G,
    lambda np_, x: np_.pad(x, 1, mode="reflect"),
    lambda np_, x: np_.pad(x, ((1, 0), (0, 2)), constant_values=3.0),
    lambda np_, x: np_.tril(x),
    lambda np_, x: np_.diagonal(x, 1),
    lambda np_, x: np_.trace(x) * x,
    lambda np_, x: np_.diag(x[0], -1),
    lambda np_, x: np_.linspace(x[0], x[1], 4),
    lambda np_, x: np_.einsum("ij,kj->ik", x, x),
    lambda np_, x: np_.einsum("ij,kj,kl->il", x, G, G),
    lambda np_, x: np_.tensordot(x, G, ((0, 1), (0, 1))),
    lambda np_, x: np_.outer(x[0], x[1]),
    lambda np_, x: np_.kron(x[:2, :2], x[1:, 2:]),
    lambda np_, x: np_.cross(x[:, :3], G[:, :3]),
    lambda np_, x: np_.vdot(x, x * x),
    lambda np_, x: np_.convolve(x[0], x[1]),
    lambda np_, x: np_.polyval(x[0], x[1]),
    lambda np_, x: np_.interp(x, np.array([-1.0, 0.1, 1.0], np.float32), np.float32([3, -2, 5])),
    lambda np_, x: np_.cov(x),
    lambda np_, x: np_.gradient(x, axis=1),
    lambda np_, x: np_.take(x, np.array([0, 5, 5]), axis=None),
    lambda np_, x: np_.take_along_axis(x, np.array([[1], [0], [3]]), axis=1),
    lambda np_, x: np_.select([x > 1, x > 0], [x, 2 * x], -x),
    lambda np_, x: np_.unwrap(x * 3, axis=1),
    lambda np_, x: np_.real(np_.conj(x * (1 + 2j)) * 1j) + np_.angle(x + 1j),
]


def weighed(function: Callable[[Any, Any], Any], namespace: Any) -> Callable[[Any], Any]:
    def scalar(x: Any) -> Any:
        out = namespace.ravel(function(namespace, x))
        return namespace.sum(out * WEIGHTS[: out.size])

    return scalar


@cache
def jax_gradients(number: int) -> np.ndarray:
    """Ask JAX once for all backends."""
    jax = pytest.importorskip("jax", reason="the expected gradients are jax's")
    derivative = jax.jit(jax.grad(weighed(CASES[number], jax.numpy)))
    return np.stack([derivative(F), derivative(TIES)])


@pytest.mark.parametrize("number", range(len(CASES)))
def test_gradient_is_jaxs(number: int, backend: str) -> None:
    ours, expected = weighed(CASES[number], anp), jax_gradients(number)
    known = np.isfinite(expected)  # where JAX has no number ours may have one
    both = anp.asarray(np.stack([F, TIES]))
    batched = np.asarray(ap.jit(ap.vmap(ap.grad(ours)))(both))
    np.testing.assert_allclose(batched[known], expected[known], rtol=2e-4, atol=2e-5)
    if backend != "jax":  # which would compile every operation of what it has just compiled whole
        found = np.stack([np.asarray(ap.grad(ours)(x)) for x in both])
        np.testing.assert_allclose(batched, found, rtol=2e-4, atol=2e-5)
