"""Discrete Fourier transforms as numpy.fft has them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from operator import index
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.names import absent
from arrayport.core.units import unit
from arrayport.numpy.arguments import arrayed, axes_of, axis_of, dtype_or, integer_of
from arrayport.numpy.ranges import arange
from arrayport.numpy.shapes import moveaxis, roll
from arrayport.ops import fft as ops
from arrayport.ops.elementwise import conj, div
from arrayport.ops.fft import FftType
from arrayport.ops.shapes import pad
from arrayport.ops.structure import constant, convert

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

Axes = Sequence[int] | None


def __getattr__(name: str) -> Any:
    raise absent("numpy.fft", name)


# ---- the mechanism


def _transform(name: str, kind: FftType, a: Any, s: Axes, axes: Any, norm: str | None) -> Array:
    """Crop or pad the axes to `s`, transform them, and scale as `norm` says."""
    x = arrayed(a, "a")
    rank = len(x.shape)
    lengths = None if s is None else [integer_of(n, "n or s") for n in s]
    if lengths is not None and any(n <= 0 for n in lengths):
        raise ValueError(f"{name}: the lengths of the transform must be positive, not {lengths}")
    if axes is None and lengths is not None:
        if len(lengths) > rank:
            raise ValueError(f"{name}: s={s} names more axes than shape {x.shape} has")
        axes = range(rank - len(lengths), rank)
    over = axes_of(axes, rank, "axes")
    if lengths is None:
        lengths = [x.shape[i] for i in over]
        if kind is FftType.IRFFT and lengths:
            lengths[-1] = max(0, 2 * (lengths[-1] - 1))
    elif len(lengths) != len(over):
        raise ValueError(f"{name}: s={s} and axes={axes} must have the same number of elements")
    if kind is FftType.RFFT and 0 in lengths[-1:]:
        raise ValueError(f"{name}: the last axis of shape {x.shape} to transform is empty")
    last = range(rank - len(over), rank)
    x = moveaxis(x, over, last)
    wanted = [*lengths[:-1], lengths[-1] // 2 + 1] if kind is FftType.IRFFT and over else lengths
    changes = [n - x.shape[i] for n, i in zip(wanted, last, strict=True)]
    if any(changes):
        around = [(0, 0, 0)] * (rank - len(over)) + [(0, n, 0) for n in changes]
        x = pad(x, constant(0, x), around)
    out = ops.fft(x, kind, lengths)
    scale = _scale(name, norm, prod(lengths))
    return moveaxis(out if scale == 1 else out * scale, last, over)


def _scale(name: str, norm: str | None, size: int) -> float:
    """Say what the transform is multiplied by, of which plainly the inverse divides by the size."""
    inverse = name.startswith("i")
    if norm in {None, "backward"} or not size:
        return 1
    if norm == "ortho":
        return sqrt(size) if inverse else 1 / sqrt(size)
    if norm == "forward":
        return size if inverse else 1 / size
    raise ValueError(f"{name}: norm must be 'backward', 'ortho' or 'forward', not {norm!r}")


def _one(name: str, kind: FftType, a: Any, n: int | None, axis: Any, norm: str | None) -> Array:
    if isinstance(axis, Sequence):
        more = f": use {name}n" if f"{name}n" in __all__ else ": transform one after the other"
        raise ValueError(f"{name} transforms one axis, not {axis!r}{more}")  # noqa: TRY004 - as in JAX
    s = None if n is None else (n,)
    return _transform(name, kind, a, s, None if axis is None else (axis,), norm)


def _two(name: str, kind: FftType, a: Any, s: Axes, axes: Any, norm: str | None) -> Array:
    if len(axes) != 2:
        raise ValueError(f"{name} transforms two axes, not {axes!r}: use {name[:-1]}n")
    return _transform(name, kind, a, s, axes, norm)


# ---- one axis


def fft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Transform one axis, cropped or padded with zeros to `n` elements.

    `norm` says who divides by n: "backward" (the default) the inverse, "forward" this one, "ortho"
    each by its root. Integers become complex64, or complex128. Raises ValueError for an `n` that is
    not positive or an unknown norm. Source: the array API's ``fft``, ``jax.numpy.fft.fft``.

    >>> import arrayport.numpy as anp
    >>> anp.fft.fft(anp.array([1.0, 0.0, 2.0, 0.0])).real
    Array([ 3., -1.,  3., -1.], dtype=float32)
    """
    return _one("fft", FftType.FFT, a, n, axis, norm)


def ifft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Invert `fft`. Source: the array API's ``ifft``, ``jax.numpy.fft.ifft``.

    >>> import arrayport.numpy as anp
    >>> anp.fft.ifft(anp.array([2.0, 2.0])).real
    Array([2., 0.], dtype=float32)
    """
    return _one("ifft", FftType.IFFT, a, n, axis, norm)


def rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Transform one axis of real numbers: gives the n // 2 + 1 frequencies from 0 up.

    Raises ValueError for complex numbers and 16-bit floats. Source: the array API's ``rfft``,
    ``jax.numpy.fft.rfft``.

    >>> import arrayport.numpy as anp
    >>> anp.fft.rfft(anp.array([1.0, 0.0, 0.0]))
    Array([1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _one("rfft", FftType.RFFT, a, n, axis, norm)


def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Invert `rfft`: gives `n` real numbers, by default twice the frequencies less two.

    Source: the array API's ``irfft``, ``jax.numpy.fft.irfft``.

    >>> import arrayport.numpy as anp
    >>> anp.fft.irfft(anp.array([2.0, 2.0]))
    Array([2., 0.], dtype=float32)
    """
    return _one("irfft", FftType.IRFFT, a, n, axis, norm)


def hfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Transform half of a signal that equals its own mirrored conjugate: gives `n` real numbers.

    Source: the array API's ``hfft``, ``jax.numpy.fft.hfft``.

    >>> import arrayport.numpy as anp
    >>> anp.fft.hfft(anp.array([1.0, 2.0]))
    Array([ 3., -1.], dtype=float32)
    """
    x = conj(a)
    out = _one("hfft", FftType.IRFFT, x, n, axis, norm)
    return out * (out.shape[axis_of(axis, len(x.shape))])


def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Invert `hfft`. Source: the array API's ``ihfft``, ``jax.numpy.fft.ihfft``.

    >>> import arrayport.numpy as anp
    >>> anp.fft.ihfft(anp.array([3.0, -1.0])).real
    Array([1., 2.], dtype=float32)
    """
    x = arrayed(a, "a")
    out = _one("ihfft", FftType.RFFT, x, n, axis, norm)
    size = x.shape[axis_of(axis, len(x.shape))] if n is None else n
    return conj(out) * (1 / max(size, 1))


# ---- several axes


def fftn(a: Any, s: Axes = None, axes: Axes = None, norm: str | None = None) -> Array:
    """Transform several axes, all by default, cropped or padded with zeros to extents `s`.

    Without `axes`, `s` is of the last ones. Raises ValueError for an axis named twice, or another
    number of extents than axes. Source: the array API's ``fftn``, ``jax.numpy.fft.fftn``.

    >>> import arrayport.numpy as anp
    >>> anp.fft.fftn(anp.ones((2, 2))).real
    Array([[4., 0.],
           [0., 0.]], dtype=float32)
    """
    return _transform("fftn", FftType.FFT, a, s, axes, norm)


def ifftn(a: Any, s: Axes = None, axes: Axes = None, norm: str | None = None) -> Array:
    """Invert `fftn`. Source: the array API's ``ifftn``, ``jax.numpy.fft.ifftn``.

    >>> import arrayport.numpy as anp
    >>> anp.fft.ifftn(anp.fft.fftn(anp.array([[1.0, 2.0], [3.0, 4.0]]))).real
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return _transform("ifftn", FftType.IFFT, a, s, axes, norm)


def rfftn(a: Any, s: Axes = None, axes: Axes = None, norm: str | None = None) -> Array:
    """Transform several axes of real numbers; of the last one half the frequencies are given.

    Source: the array API's ``rfftn``, ``jax.numpy.fft.rfftn``.

    >>> import arrayport.numpy as anp
    >>> anp.fft.rfftn(anp.ones((2, 2, 4))).shape
    (2, 2, 3)
    """
    return _transform("rfftn", FftType.RFFT, a, s, axes, norm)


def irfftn(a: Any, s: Axes = None, axes: Axes = None, norm: str | None = None) -> Array:
    """Invert `rfftn`. Source: the array API's ``irfftn``, ``jax.numpy.fft.irfftn``.

    >>> import arrayport.numpy as anp
    >>> anp.fft.irfftn(anp.fft.rfftn(anp.arange(5.0)), (5,)).round(4)
    Array([0., 1., 2., 3., 4.], dtype=float32)
    """
    return _transform("irfftn", FftType.IRFFT, a, s, axes, norm)


def fft2(a: Any, s: Axes = None, axes: Sequence[int] = (-2, -1), norm: str | None = None) -> Array:
    """Transform two axes, as `fftn` does. Source: ``jax.numpy.fft.fft2``.

    >>> import arrayport.numpy as anp
    >>> anp.fft.fft2(anp.ones((2, 2))).real
    Array([[4., 0.],
           [0., 0.]], dtype=float32)
    """
    return _two("fft2", FftType.FFT, a, s, axes, norm)


def ifft2(a: Any, s: Axes = None, axes: Sequence[int] = (-2, -1), norm: str | None = None) -> Array:
    """Invert `fft2`. Source: ``jax.numpy.fft.ifft2``.

    >>> import arrayport.numpy as anp
    >>> anp.fft.ifft2(anp.array([[4.0, 0.0], [0.0, 0.0]])).real
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    return _two("ifft2", FftType.IFFT, a, s, axes, norm)


def rfft2(a: Any, s: Axes = None, axes: Sequence[int] = (-2, -1), norm: str | None = None) -> Array:
    """Transform two axes of real numbers, as `rfftn` does. Source: ``jax.numpy.fft.rfft2``.

    >>> import arrayport.numpy as anp
    >>> anp.fft.rfft2(anp.ones((2, 4))).real
    Array([[8., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    return _two("rfft2", FftType.RFFT, a, s, axes, norm)


def irfft2(
    a: Any, s: Axes = None, axes: Sequence[int] = (-2, -1), norm: str | None = None
) -> Array:
    """Invert `rfft2`. Source: ``jax.numpy.fft.irfft2``.

    >>> import arrayport.numpy as anp
    >>> anp.fft.irfft2(anp.fft.rfft2(anp.array([[1.0, 2.0], [3.0, 4.0]])))
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return _two("irfft2", FftType.IRFFT, a, s, axes, norm)


# ---- frequencies


def fftfreq(n: int, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> Array:
    """Give the frequencies, in cycles a unit, of the transform of n samples `d` apart.

    The negative ones come last. Source: the array API's ``fftfreq``, ``jax.numpy.fft.fftfreq``.

    >>> import arrayport.numpy as anp
    >>> anp.fft.fftfreq(4)
    Array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float32)
    """
    n = _samples("fftfreq", n, d)
    kind = dtype_or(dtype, dtypes.default_float())
    k = arange(n, dtype=dtypes.to_inexact(kind), device=device)
    return convert(_frequencies((k + n // 2) % n - n // 2, n, d), kind)


def rfftfreq(n: int, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> Array:
    """Give the frequencies of `rfft` of n samples `d` apart, none of them negative.

    Source: the array API's ``rfftfreq``, ``jax.numpy.fft.rfftfreq``.

    >>> import arrayport.numpy as anp
    >>> anp.fft.rfftfreq(4)
    Array([0.  , 0.25, 0.5 ], dtype=float32)
    """
    n = _samples("rfftfreq", n, d)
    kind = dtypes.to_inexact(dtype_or(dtype, dtypes.default_float()))
    return _frequencies(arange(n // 2 + 1, dtype=kind, device=device), n, d)


def _samples(name: str, n: Any, d: Any) -> int:
    """Give the count of samples, which Python must know."""
    if isinstance(n, Sequence) or isinstance(d, Sequence):
        raise TypeError(f"{name}: n must be an integer and d a number, not n={n!r} and d={d!r}")
    return index(n)


def _frequencies(k: Array, n: int, d: Any) -> Array:
    span = d * n if isinstance(d, Array) else float(d) * n
    return div(k, convert(span, k.dtype) if isinstance(span, Array) else span)


@unit("x")
def fftshift(x: Any, axes: Any = None) -> Array:
    """Bring the frequency 0 to the middle of the axes, all by default.

    Source: the array API's ``fftshift``, ``jax.numpy.fft.fftshift``.

    >>> import arrayport.numpy as anp
    >>> anp.fft.fftshift(anp.arange(5))
    Array([3, 4, 0, 1, 2], dtype=int32)
    """
    return _shifted(x, axes, 1)


@unit("x")
def ifftshift(x: Any, axes: Any = None) -> Array:
    """Undo `fftshift`. Source: the array API's ``ifftshift``, ``jax.numpy.fft.ifftshift``.

    >>> import arrayport.numpy as anp
    >>> anp.fft.ifftshift(anp.fft.fftshift(anp.arange(5)))
    Array([0, 1, 2, 3, 4], dtype=int32)
    """
    return _shifted(x, axes, -1)


def _shifted(x: Any, axes: Any, sign: int) -> Array:
    array = arrayed(x, "x")
    over = axes_of(axes, len(array.shape), "axes")
    return roll(array, [sign * (array.shape[i] // 2) for i in over], over)
