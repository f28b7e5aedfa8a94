"""Spectra of signals, over time and on average, and the removal of trends."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from math import pi
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.lazy import Lazy
from arrayport.numpy import fft
from arrayport.numpy.arguments import arrayed, axis_of, count_of
from arrayport.numpy.creation import asarray, zeros
from arrayport.numpy.indexing import take
from arrayport.numpy.joins import concatenate
from arrayport.numpy.padding import pad
from arrayport.numpy.ranges import arange
from arrayport.numpy.reductions import mean, sum
from arrayport.numpy.shapes import moveaxis
from arrayport.numpy.statistics import median
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import complex_p, conj, div, imag, real, select, square
from arrayport.ops.promotion import common_shape, inexact, promote_inexact
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.structure import constant, convert, full_like, reshape

__all__ = ["csd", "detrend", "istft", "stft", "welch"]

HOST = Lazy("scipy.signal")  # for the windows but the usual one
Detrend = bool | str | Callable[[Array], Array]

# ---- trends


def detrend(
    data: Any,
    axis: int = -1,
    type: str = "linear",
    bp: int | Sequence[int] = 0,
    overwrite_data: None = None,
) -> Array:
    """Subtract the mean ("constant"), or the best line of each piece between breaks `bp`.

    Raises ValueError for another type, or a break that is no place in the data. Source:
    ``jax.scipy.signal.detrend``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.signal import detrend
    >>> detrend(anp.array([1.0, 2.0, 3.0]), type="constant")
    Array([-1.,  0.,  1.], dtype=float32)
    """
    if overwrite_data is not None:
        raise NotImplementedError("detrend: an array cannot be written to, drop overwrite_data=")
    if type not in {"linear", "constant"}:
        raise ValueError(f"detrend: type must be 'linear' or 'constant', not {type!r}")
    x = inexact(arrayed(data, "data"))
    axis = axis_of(axis, len(x.shape))
    if type == "constant":
        return x - mean(x, axis, keepdims=True)
    size = x.shape[axis]
    breaks = np.unique([0, *np.ravel(bp).tolist(), size])
    if breaks[0] < 0 or breaks[-1] > size:
        raise ValueError(f"detrend: bp={bp} must be places in the data, from 0 to {size}")
    x = moveaxis(x, axis, -1)
    last = len(x.shape) - 1
    pieces = [
        _without_line(slice_in_dim(x, start, stop, axis=last))
        for start, stop in zip(breaks[:-1].tolist(), breaks[1:].tolist(), strict=True)
    ]
    return moveaxis(concatenate(pieces, last) if pieces else x, -1, axis)


def _without_line(x: Array) -> Array:
    """Subtract the line of least squares along the last axis."""
    size = x.shape[-1]
    place = iota_like(x, x.dtype, len(x.shape) - 1) - (size - 1) / 2
    level = x - mean(x, -1, keepdims=True)
    # The squares of the places, which are symmetric about 0, add up to this.
    total = size * (size * size - 1) / 12
    slope = sum(level * place, axis=-1, keepdims=True) / (total or 1)
    return level - place * slope


# ---- segments


def _window(window: Any, size: int | None, most: int, like: Array) -> tuple[Array, int]:
    """Give the window in the dtype of the signal, and its length."""
    if not isinstance(window, str | tuple):
        found = convert(asarray(window), like.dtype)
        if len(found.shape) != 1 or found.size > most or size not in {None, found.size}:
            raise ValueError(
                f"window must be a name, or a vector of nperseg elements (nperseg={size}), no more "
                f"than the signal's {most}, but has shape {found.shape}"
            )
        return found, found.size
    length = most if size is None else size
    if length > most:
        warnings.warn(
            f"nperseg={length} is more than the signal has: nperseg={most} is used", stacklevel=4
        )
        length = most
    return _named_window(window, length, like), length


def _named_window(window: Any, length: int, like: Array) -> Array:
    """Make the window of a name, periodic."""
    if window != "hann":
        host = HOST.get_window(window, length)
    elif length > 1:
        host = np.sin(np.arange(length) * (pi / length)) ** 2
    else:
        host = np.ones(length)
    return convert(asarray(host.astype(dtypes.real_dtype(like.dtype))), like.dtype)


def _count(name: str, value: Any, default: int) -> int:
    """Give a length as an integer."""
    return default if value is None else count_of(value, name)


def _overlaps(nperseg: int, noverlap: Any, nfft: Any, default: int) -> tuple[int, int]:
    """Give how far one segment is from the next, and the length of the transform."""
    shared, length = _count("noverlap", noverlap, nperseg // 2), _count("nfft", nfft, default)
    if nperseg < 1:
        raise ValueError(f"nperseg must be a positive integer, not {nperseg}")
    if length < nperseg:
        raise ValueError(f"nfft={length} must be at least nperseg={nperseg}")
    if shared >= nperseg:
        raise ValueError(f"noverlap={shared} must be less than nperseg={nperseg}")
    return nperseg - shared, length


# How the signal goes on at its ends: modes of numpy.pad. An odd signal goes on as twice its end
# less an even one.
BOUNDARIES = {"even": "reflect", "odd": "reflect", "constant": "edge", "zeros": "constant"}


def _extended(x: Array, nperseg: int, step: int, boundary: str | None, padded: bool) -> Array:
    """Add half a segment at both ends of the last axis, and zeros to fill the last segment."""
    lead = [(0, 0)] * (len(x.shape) - 1)
    if boundary is not None:
        if boundary not in BOUNDARIES:
            raise ValueError(f"boundary must be one of {[*BOUNDARIES, None]}, not {boundary!r}")
        around = [*lead, (nperseg // 2,) * 2]
        extended = pad(x, around, BOUNDARIES[boundary])
        x = pad(x, around, "edge") * 2 - extended if boundary == "odd" else extended
    if padded:
        x = pad(x, [*lead, (0, -(x.shape[-1] - nperseg) % step % nperseg)])
    return x


def _spectrum(
    x: Array, window: Array, step: int, length: int, trend: Callable[[Array], Array], onesided: bool
) -> Array:
    """Transform the segments of the last axis, which come before the frequencies."""
    size = window.size
    starts = np.arange(0, x.shape[-1] - size + 1, step)
    parts = trend(take(x, starts[:, None] + np.arange(size), axis=-1)) * window
    return fft.rfft(parts, length) if onesided else fft.fft(parts, length)


def _trend(kind: Detrend) -> Callable[[Array], Array]:
    """Give what removes the trend of segments, the last axis."""
    if callable(kind):
        return kind
    if not kind:
        return _as_it_is
    if not isinstance(kind, str):
        raise ValueError(f"detrend must be False, a type or a function, not {kind!r}")  # noqa: TRY004

    def remove(x: Array) -> Array:
        return detrend(x, type=kind)

    return remove


def _as_it_is(x: Array) -> Array:
    return x


def _halves(x: Array, onesided: bool) -> bool:
    """Tell whether half of the spectrum is enough, as it is of real numbers."""
    if onesided and dtypes.is_complex(x.dtype):
        warnings.warn("complex signals have a whole spectrum: return_onesided=False", stacklevel=4)
    return onesided and not dtypes.is_complex(x.dtype)


def _frequencies(length: int, fs: Any, onesided: bool, dtype: Any) -> Array:
    return (fft.rfftfreq if onesided else fft.fftfreq)(length, 1 / fs, dtype=dtype)


# ---- the short-time transform


def stft(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Detrend = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
) -> tuple[Array, Array, Array]:
    """Transform overlapping segments of a signal: gives frequencies, times and the spectra.

    `window` is a name or its elements; a segment has `nperseg` of them and shares `noverlap` (by
    default half) with the next. `boundary` says what lies before and after the signal. Real signals
    give half the frequencies unless not `return_onesided`. In the spectra the frequencies take the
    place of `axis`, the times are last. Raises ValueError for lengths that do not fit. Source:
    ``jax.scipy.signal.stft``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.signal import stft
    >>> [part.shape for part in stft(anp.ones(16), nperseg=8)]
    [(5,), (5,), (5, 5)]
    """
    a = inexact(arrayed(x, "x"))
    axis = axis_of(axis, len(a.shape))
    if not a.size:
        return _nothing(a, a.shape)
    taper, nperseg = _window(window, _count("nperseg", nperseg, 0), a.shape[axis], a)
    step, length = _overlaps(nperseg, noverlap, nfft, nperseg)
    signal = _extended(moveaxis(a, axis, -1), nperseg, step, boundary, padded)
    half = _halves(a, return_onesided)
    found = _spectrum(signal, taper, step, length, _trend(detrend), half) / sum(taper)
    own = dtypes.real_dtype(a.dtype)
    times = arange(nperseg / 2, signal.shape[-1] - nperseg / 2 + 1, step, dtype=own)
    times = (times - nperseg / 2 if boundary is not None else times) / fs
    return _frequencies(length, fs, half, own), times, moveaxis(found, -1, axis)


def _nothing(x: Array, shape: tuple[int, ...]) -> tuple[Array, Array, Array]:
    own = dtypes.real_dtype(x.dtype)
    return zeros(shape, own), zeros(shape, own), zeros(shape, dtypes.complex_dtype(x.dtype))


def istft(
    Zxx: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
) -> tuple[Array, Array]:
    """Invert `stft`: gives times and the signal.

    The arguments are those that `stft` got. Raises ValueError for lengths that do not fit. Source:
    ``jax.scipy.signal.istft``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.signal import istft, stft
    >>> istft(stft(anp.arange(6.0), nperseg=4)[2], nperseg=4)[1].round(4)
    Array([0., 1., 2., 3., 4., 5.], dtype=float32)
    """
    z = arrayed(Zxx, "Zxx")
    rank = len(z.shape)
    if rank < 2:
        raise ValueError(f"istft: Zxx must have two axes or more, not shape {z.shape}")
    rows, columns = axis_of(freq_axis, rank), axis_of(time_axis, rank)
    if rows == columns:
        raise ValueError("istft: time_axis and freq_axis must differ")
    z = moveaxis(convert(z, dtypes.complex_dtype(z.dtype)), (rows, columns), (-1, -2))
    usual = 2 * (z.shape[-1] - 1) if input_onesided else z.shape[-1]
    nperseg = _count("nperseg", nperseg, usual)
    odd = input_onesided and nperseg == usual + 1
    step, length = _overlaps(nperseg, noverlap, nfft, usual + odd)
    parts = (fft.irfft if input_onesided else fft.ifft)(z, length)
    parts = slice_in_dim(parts, 0, nperseg, axis=rank - 1)
    if isinstance(window, str | tuple):
        taper = _named_window(window, nperseg, parts)
    else:
        taper, _ = _window(window, nperseg, nperseg, parts)
    frames = parts.shape[-2]
    size = nperseg + (frames - 1) * step
    places = np.arange(frames)[:, None] * step + np.arange(nperseg)
    signal = full_like(parts, 0, (*parts.shape[:-2], size))
    signal = signal.at[..., places].add(parts * taper * sum(taper))
    weight = full_like(parts, 0, (size,)).at[places].add(square(taper))
    if boundary:
        half = nperseg // 2
        signal = slice_in_dim(signal, half, size - half, axis=rank - 2)
        weight = slice_in_dim(weight, half, size - half)
    heavy = real(weight) > 1e-10
    signal = div(signal, select(heavy, weight, constant(1, weight)))
    times = arange(signal.shape[-1], dtype=dtypes.real_dtype(z.dtype)) / fs
    return times, moveaxis(signal, -1, columns - (rows < columns))


# ---- averages


def csd(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Detrend = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Estimate the cross spectral density of x and y by Welch's method: frequencies and powers.

    The spectra of overlapping segments, by default one of the whole signal, are averaged ("mean" or
    "median"). `scaling`: "density", power per frequency, or "spectrum", power. Without y the
    density is x's own, and real. Raises ValueError for lengths that do not fit. Source:
    ``jax.scipy.signal.csd``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.signal import csd
    >>> csd(anp.ones(8), anp.ones(8), nperseg=4)[1].dtype
    dtype('complex64')
    """
    if scaling not in {"density", "spectrum"}:
        raise ValueError(f"csd: scaling must be 'density' or 'spectrum', not {scaling!r}")
    if average not in {"mean", "median"}:
        raise ValueError(f"csd: average must be 'mean' or 'median', not {average!r}")
    a, b = promote_inexact((x, x if y is None else y), "csd")
    if len(a.shape) != len(b.shape):
        raise ValueError(f"csd: x and y must have the same number of axes: {a.shape}, {b.shape}")
    axis = axis_of(axis, len(a.shape))
    apart = [s[:axis] + s[axis + 1 :] for s in (a.shape, b.shape)]
    shape = list(common_shape(*apart))
    if not a.size or not b.size:
        shape.insert(axis, min(a.shape[axis], b.shape[axis]))
        frequencies, _, powers = _nothing(a, tuple(shape))
        return frequencies, real(powers) if y is None else powers
    taper, nperseg = _window(
        window, None if nperseg is None else _count("nperseg", nperseg, 0), a.shape[axis], a
    )
    step, length = _overlaps(nperseg, noverlap, nfft, nperseg)
    half, trend = _halves(a, return_onesided), _trend(detrend)
    longest = max(a.shape[axis], b.shape[axis])
    spectra = [
        _spectrum(_lengthened(moveaxis(s, axis, -1), longest), taper, step, length, trend, half)
        for s in ((a,) if y is None else (a, b))
    ]
    powers = conj(spectra[0]) * spectra[-1]
    scale = 1 / (sum(square(taper)) * fs) if scaling == "density" else 1 / square(sum(taper))
    powers = powers * scale * _strengths(length, a) if half else powers * scale
    powers = real(powers) if y is None else powers
    frequencies = _frequencies(length, fs, half, dtypes.real_dtype(a.dtype))
    return frequencies, _average(moveaxis(powers, -1, axis), average)


def _strengths(length: int, like: Array) -> Array:
    """Count the frequencies of real signals for those that are left out, which are as strong."""
    counts = np.full(length // 2 + 1, 2)
    counts[0] = 1
    if length % 2 == 0:
        counts[-1] = 1
    return asarray(counts.astype(dtypes.real_dtype(like.dtype)))


def _lengthened(x: Array, size: int) -> Array:
    """Add zeros to the last axis."""
    return pad(x, [*[(0, 0)] * (len(x.shape) - 1), (0, size - x.shape[-1])])


def _average(powers: Array, average: str) -> Array:
    """Average the segments, the last axis; the median needs a correction for its bias."""
    count = powers.shape[-1]
    if count == 1:
        return reshape(powers, powers.shape[:-1])
    if average == "mean":
        return mean(powers, -1)
    bias = 1 + float(np.sum([1 / (k + 1) - 1 / k for k in range(2, count, 2)]))
    if not dtypes.is_complex(powers.dtype):
        return median(powers, -1) / bias
    return complex_p.bind(median(real(powers), -1), median(imag(powers), -1)) / bias


def welch(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Detrend = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Estimate the power spectral density by Welch's method, as `csd` of x with itself.

    Source: ``jax.scipy.signal.welch``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.signal import welch
    >>> [part.shape for part in welch(anp.ones(16), nperseg=8)]
    [(5,), (5,)]
    """
    return csd(
        x,
        None,
        fs,
        window,
        nperseg,
        noverlap,
        nfft,
        detrend,
        return_onesided,
        scaling,
        axis,
        average,
    )
