"""Averages that forget: each value blends with all that came before it."""

from __future__ import annotations

import arrayport as ap
import arrayport.numpy as anp


@ap.agnostic
def exponential(series: ap.Array, weight: float) -> ap.Array:
    """Return the exponential moving average along the first axis, of the series' shape.

    Each value counts by `weight`, the average before it by `1 - weight`; the first value starts it.
    """

    def blend(average: ap.Array, value: ap.Array) -> tuple[ap.Array, ap.Array]:
        average = average + weight * (value - average)
        return average, average

    _, rest = ap.lax.scan(blend, series[0], series[1:])
    return anp.concatenate([series[:1], rest])
