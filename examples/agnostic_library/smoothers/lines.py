"""Straight lines through points some of which are wrong."""

from __future__ import annotations

import arrayport as ap
import arrayport.numpy as anp


@ap.agnostic
def line(
    x: ap.Array, y: ap.Array, threshold: float = 1.0, steps: int = 50
) -> tuple[ap.Array, ap.Array]:
    """Return slope and intercept of the line of least Huber loss through the points, x and y (n,).

    The loss is quadratic up to the threshold and linear beyond it. Each step fits a line by
    weighted least squares, in which a point beyond the threshold counts in inverse proportion to
    its distance from the line before.
    """

    def refit(_: ap.Array, fit: tuple[ap.Array, ap.Array]) -> tuple[ap.Array, ap.Array]:
        slope, intercept = fit
        distance = anp.abs(y - slope * x - intercept)
        weights = threshold / anp.maximum(distance, threshold)
        weights = weights / anp.sum(weights)
        x_mean, y_mean = anp.sum(weights * x), anp.sum(weights * y)
        x_off = x - x_mean
        slope = anp.sum(weights * x_off * (y - y_mean)) / anp.sum(weights * x_off * x_off)
        return slope, y_mean - slope * x_mean

    zero = anp.zeros((), y.dtype)
    return ap.lax.fori_loop(0, steps, refit, (zero, anp.mean(y)))
