"""Fourier transforms on NumPy and CuPy, which keep single precision single."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Aval
from arrayport.ops.fft import FftType, fft_p
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows

NAMES = {
    FftType.FFT: ("fft", "fftn"),
    FftType.IFFT: ("ifft", "ifftn"),
    FftType.RFFT: ("rfft", "rfftn"),
    FftType.IRFFT: ("irfft", "irfftn"),
}


def fft(lib: Lib, x: Any, fft_type: FftType, fft_lengths: tuple[int, ...]) -> Any:
    """Transform the last axes; of no numbers there is nothing to transform, or zeros."""
    if not x.size or 0 in fft_lengths:
        out = fft_p.abstract(Aval(x.shape, x.dtype), fft_type, fft_lengths)
        return lib.xp.zeros(out.shape, out.dtype)
    one, many = NAMES[fft_type]
    if len(fft_lengths) == 1:
        return getattr(lib.fft, one)(x, fft_lengths[0])
    axes = tuple(range(-len(fft_lengths), 0))
    return getattr(lib.fft, many)(x, fft_lengths, axes)


ROWS: Rows = {fft_p: Kernel(fft)}
