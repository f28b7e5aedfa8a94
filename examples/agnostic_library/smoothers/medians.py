"""Medians of windows: single wild values leave no trace."""

from __future__ import annotations

import arrayport as ap
import arrayport.numpy as anp


@ap.agnostic
def median(series: ap.Array, width: int) -> ap.Array:
    """Return the median of the window around each value of a series, (n,); its ends are repeated.

    Raises ValueError unless the width is odd and positive.
    """
    if width < 1 or width % 2 == 0:
        msg = f"width must be odd and positive, not {width}"
        raise ValueError(msg)
    reach = width // 2
    window = anp.arange(len(series))[:, None] + anp.arange(-reach, reach + 1)
    values = series[anp.clip(window, 0, len(series) - 1)]
    return anp.sort(values, axis=1)[:, reach]
