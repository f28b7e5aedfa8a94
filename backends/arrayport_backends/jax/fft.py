"""Fourier transforms on JAX, of which XLA takes at most three axes at once."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from arrayport.core.array import Aval
from arrayport.ops.fft import FftType, fft_p

MOST = 3  # axes that XLA transforms at once


def fft(x: Any, fft_type: FftType, fft_lengths: tuple[int, ...]) -> Any:
    """Transform the last axes: the real one among the last three, the others after or before."""
    if 0 in fft_lengths:
        out = fft_p.abstract(Aval(x.shape, x.dtype), fft_type, fft_lengths)
        return jnp.zeros(out.shape, out.dtype)
    kind, count = lax.FftType(int(fft_type)), len(fft_lengths)
    if count <= MOST:
        return lax.fft(x, kind, fft_lengths)
    first, last = fft_lengths[:-MOST], fft_lengths[-MOST:]
    if fft_type in {FftType.FFT, FftType.RFFT}:
        return _outer(lax.fft(x, kind, last), FftType.FFT, first)
    return lax.fft(_outer(x, FftType.IFFT, first), kind, last)


def _outer(x: Any, fft_type: FftType, fft_lengths: tuple[int, ...]) -> Any:
    """Transform the axes before the last three."""
    inner = tuple(range(-MOST, 0))
    away = tuple(range(-MOST - len(fft_lengths), -len(fft_lengths)))
    return jnp.moveaxis(fft(jnp.moveaxis(x, inner, away), fft_type, fft_lengths), away, inner)


ROWS = {fft_p: fft}
