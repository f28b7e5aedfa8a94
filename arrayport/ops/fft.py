"""The discrete Fourier transform over the last axes."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from math import prod
from operator import index
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.primitive import Unary
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import conj, real, select
from arrayport.ops.promotion import lift
from arrayport.ops.structure import Shape, constant, convert, move_axis

REAL = (dtypes.float32, dtypes.float64)
COMPLEX = (dtypes.complex64, dtypes.complex128)


class FftType(enum.IntEnum):
    """Which transform `fft` computes: forward or inverse, of complex numbers or of real ones.

    Source: ``jax.lax.FftType``.

    >>> from arrayport import lax, numpy as anp
    >>> lax.fft(anp.ones(4), lax.FftType.RFFT, (4,))
    Array([4.+0.j, 0.+0.j, 0.+0.j], dtype=complex64)
    """

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


# Libraries take half the time for real numbers, if they know them.
OPERANDS = {
    FftType.FFT: REAL + COMPLEX,
    FftType.IFFT: REAL + COMPLEX,
    FftType.RFFT: REAL,
    FftType.IRFFT: COMPLEX,
}


def _extents(lengths: Shape, halved: bool) -> Shape:
    """Extents of a signal or, if `halved`, of the half of its spectrum that is stored."""
    return (*lengths[:-1], lengths[-1] // 2 + 1) if halved else lengths


def _abstract(x: Any, fft_type: FftType, fft_lengths: Shape) -> Aval:
    count = len(fft_lengths)
    lead, own = x.shape[: len(x.shape) - count], x.shape[len(x.shape) - count :]
    needed = _extents(fft_lengths, fft_type is FftType.IRFFT)
    if own != needed or count > len(x.shape):
        raise ValueError(
            f"fft: {fft_type.name} with fft_lengths={fft_lengths} needs an operand whose last axes "
            f"have extents {needed}, not shape {x.shape}"
        )
    taken = OPERANDS[fft_type]
    if x.dtype not in taken:
        kinds = " or ".join(map(str, taken))
        raise ValueError(f"fft: {fft_type.name} takes {kinds}, not {x.dtype}: cast first")
    inverse = fft_type is FftType.IRFFT
    dtype = dtypes.real_dtype(x.dtype) if inverse else dtypes.complex_dtype(x.dtype)
    return Aval((*lead, *_extents(fft_lengths, fft_type is FftType.RFFT)), dtype, x.weak)


def _counts(x: Array, length: int) -> Array:
    """How often each stored frequency stands in a whole spectrum: once or, mirrored, twice."""
    last = x.shape[-1] - 1
    k = iota_like(x, dtypes.int32, len(x.shape) - 1)
    once = (k == 0) | (k == last) if length % 2 == 0 else k == 0
    return select(once, constant(1, x), constant(2, x))


def _transpose(ct: Array, x: Any, fft_type: FftType, fft_lengths: Shape) -> Array:
    """Transpose: FFT and IFFT are symmetric; RFFT and IRFFT are each other's but for counts."""
    size, length = prod(fft_lengths), fft_lengths[-1]
    if fft_type is FftType.RFFT:
        return fft(conj(ct) / _counts(ct, length), FftType.IRFFT, fft_lengths) * size
    if fft_type is FftType.IRFFT:
        whole = fft(ct, FftType.RFFT, fft_lengths)
        return conj(whole * _counts(whole, length) / max(size, 1))
    out = fft_p.apply(ct, {"fft_type": fft_type, "fft_lengths": fft_lengths})
    return out if dtypes.is_complex(x.dtype) else real(out)


fft_p: Unary = Unary(
    "fft",
    _abstract,
    lambda _size, xs, dims, /, **params: (fft_p.bind(move_axis(xs[0], dims[0], 0), **params), 0),
    transposes=(_transpose,),
)


def fft(x: Any, fft_type: FftType | str, fft_lengths: Sequence[int]) -> Array:
    """Transform the last `len(fft_lengths)` axes; inverse transforms divide by their size.

    `fft_type` is an `FftType` or its name. The lengths are those of the signal: the spectrum of a
    real one holds n // 2 + 1 frequencies along the last axis. Raises ValueError for extents that do
    not fit, or RFFT of complex numbers. Source: ``jax.lax.fft``.

    >>> import arrayport.numpy as anp
    >>> from arrayport import lax
    >>> lax.fft(anp.array([1.0, 0.0, 0.0]), "rfft", (3,))
    Array([1.+0.j, 1.+0.j], dtype=complex64)
    """
    if isinstance(fft_type, str):
        kinds = {name: kind for kind in FftType for name in (kind.name, kind.name.lower())}
        if fft_type not in kinds:
            raise ValueError(f"fft: fft_type must be one of {', '.join(kinds)}, not {fft_type!r}")
        fft_type = kinds[fft_type]
    elif not isinstance(fft_type, FftType):
        raise TypeError(f"fft: fft_type must be an FftType or its name, not {fft_type!r}")
    x = lift(x, None, "fft's operand")
    if fft_type is FftType.RFFT:
        if dtypes.is_complex(x.dtype):
            raise ValueError("fft: RFFT takes real numbers; use FFT, or take the real part first")
        x = convert(x, dtypes.to_inexact(x.dtype))
    elif x.dtype not in OPERANDS[fft_type]:
        x = convert(x, dtypes.complex_dtype(x.dtype))
    lengths = tuple([index(n) for n in fft_lengths])
    if not lengths:
        return x if fft_type is FftType.RFFT else convert(x, dtypes.complex_dtype(x.dtype))
    _abstract(x, fft_type, lengths)  # libraries would crop or pad instead
    return fft_p.apply(x, {"fft_type": fft_type, "fft_lengths": lengths})
