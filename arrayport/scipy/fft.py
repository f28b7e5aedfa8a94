"""Cosine transforms as scipy.fft has them, by way of the Fourier transform."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, sqrt
from operator import index
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.names import absent
from arrayport.numpy.arguments import arrayed, axes_of
from arrayport.numpy.joins import concatenate
from arrayport.numpy.shapes import flip, moveaxis
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import complex_p, cos, imag, real, select, sin
from arrayport.ops.fft import FftType, fft
from arrayport.ops.shapes import pad, stack
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.structure import constant, convert, reshape

__all__ = ["dct", "dctn", "idct", "idctn"]


def __getattr__(name: str) -> Any:
    raise absent("scipy.fft", name)


def dct(
    x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """Transform an axis to cosines, by the second of the four conventions alone.

    The axis is cropped or padded with zeros to `n` elements. `norm="ortho"` makes the transform
    orthogonal; None and "backward" do not scale it. Of complex numbers both parts are transformed.
    Raises NotImplementedError for another type. Source: ``jax.scipy.fft.dct``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.fft import dct
    >>> dct(anp.array([1.0, 1.0, 1.0]), norm="ortho").round(4) + 0.0
    Array([1.7321, 0.    , 0.    ], dtype=float32)
    """
    return _over("dct", _forward, x, type, None if n is None else (n,), axis, norm)


def idct(
    x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """Invert `dct`. Source: ``jax.scipy.fft.idct``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.fft import dct, idct
    >>> idct(dct(anp.array([1.0, 2.0, 4.0]))).round(4)
    Array([1., 2., 4.], dtype=float32)
    """
    return _over("idct", _inverse, x, type, None if n is None else (n,), axis, norm)


def dctn(
    x: Any,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """Transform several axes to cosines, all by default, cropped or padded to extents `s`.

    Source: ``jax.scipy.fft.dctn``.

    >>> import arrayport.numpy as anp
    >>> dctn(anp.ones((2, 2))).round(4)
    Array([[16.,  0.],
           [ 0.,  0.]], dtype=float32)
    """
    return _over("dctn", _forward, x, type, s, axes, norm)


def idctn(
    x: Any,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """Invert `dctn`. Source: ``jax.scipy.fft.idctn``.

    >>> import arrayport.numpy as anp
    >>> idctn(dctn(anp.array([[1.0, 2.0], [3.0, 4.0]]))).round(4)
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return _over("idctn", _inverse, x, type, s, axes, norm)


def _over(
    name: str, transform: Any, x: Any, type: int, s: Any, axes: Any, norm: str | None
) -> Array:
    """Crop or pad, then transform one axis after the other."""
    if type != 2:
        raise NotImplementedError(f"{name}: type {type} is not supported, only type=2 is")
    if norm not in {None, "backward", "ortho"}:
        raise ValueError(f"{name}: norm must be None, 'backward' or 'ortho', not {norm!r}")
    a = arrayed(x, "x")
    if dtypes.is_complex(a.dtype):
        parts = (_over(name, transform, part, type, s, axes, norm) for part in (real(a), imag(a)))
        return complex_p.bind(*parts)
    rank = len(a.shape)
    extents = None if s is None else [index(n) for n in (s if np.iterable(s) else (s,))]
    if axes is None and extents is not None:
        axes = range(-len(extents), 0)
    over = axes_of(axes, rank, "axes")
    if extents is not None and len(extents) != len(over):
        raise ValueError(f"{name}: s={s} and axes={axes} must have the same number of elements")
    sizes = dict(zip(over, extents or [a.shape[i] for i in over], strict=True))
    if any(n < 1 for n in sizes.values()):
        raise ValueError(f"{name} needs an element or more along each axis, not {a.shape}")
    a = convert(a, dtypes.real_dtype(dtypes.complex_dtype(a.dtype)))
    a = pad(a, constant(0, a), [(0, sizes.get(i, n) - n, 0) for i, n in enumerate(a.shape)])
    for axis in over:
        a = moveaxis(transform(moveaxis(a, axis, -1), norm == "ortho"), -1, axis)
    return a


def _forward(x: Array, ortho: bool) -> Array:
    """Transform the last axis: the transform of its even elements, then the odd ones reversed.

    Turned by a quarter of an angle the first half of the frequencies holds the cosines in its real
    part, and in its imaginary part those of the second half.
    """
    n, last = x.shape[-1], len(x.shape) - 1
    mixed = concatenate(
        [slice_in_dim(x, 0, None, 2, last), flip(slice_in_dim(x, 1, None, 2, last), last)], last
    )
    turned = fft(mixed, FftType.RFFT, (n,)) * _turns(x, -1)
    upper = slice_in_dim(imag(turned), 1, (n + 1) // 2, axis=last)
    out = concatenate([real(turned), -flip(upper, last)], last) * 2
    return out * _norms(out) if ortho else out


def _inverse(x: Array, ortho: bool) -> Array:
    """Undo `_forward`, step by step."""
    n, last = x.shape[-1], len(x.shape) - 1
    x = x / _norms(x) if ortho else x
    lower = slice_in_dim(x, 0, n // 2 + 1, axis=last)
    rest = slice_in_dim(x, n - n // 2, None, axis=last)
    upper = pad(flip(rest, last), constant(0, x), [*[(0, 0, 0)] * last, (1, 0, 0)])
    turned = complex_p.bind(lower * 0.5, upper * -0.5) * _turns(x, 1)
    mixed = fft(turned, FftType.IRFFT, (n,))
    even = slice_in_dim(mixed, 0, (n + 1) // 2, axis=last)
    odd = flip(slice_in_dim(mixed, (n + 1) // 2, None, axis=last), last)
    odd = pad(odd, constant(0, x), [*[(0, 0, 0)] * last, (0, n % 2, 0)])
    pairs = reshape(stack([even, odd], -1), (*x.shape[:-1], n + n % 2))
    return slice_in_dim(pairs, 0, n, axis=last)


def _turns(x: Array, sign: int) -> Array:
    """Give exp(sign i pi k / 2n) for the first half of the frequencies k of n."""
    n = x.shape[-1]
    angle = iota_like(x, x.dtype, 0, (n // 2 + 1,)) * (sign * pi / (2 * n))
    turns = complex_p.bind(cos(angle), sin(angle))
    return reshape(turns, (*[1] * (len(x.shape) - 1), n // 2 + 1))


def _norms(x: Array) -> Array:
    """Give what makes each cosine a unit vector."""
    n = x.shape[-1]
    k = iota_like(x, dtypes.int32, len(x.shape) - 1)
    return select(k == 0, constant(sqrt(1 / (4 * n)), x), constant(sqrt(1 / (2 * n)), x))
