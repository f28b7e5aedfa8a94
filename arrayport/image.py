"""Resizing, scaling and shifting of images: each axis is resampled by a matrix of weights."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from arrayport.core.array import Array
from arrayport.core.dtypes import default_float
from arrayport.core.names import absent
from arrayport.core.units import unit
from arrayport.numpy import abs, arange, divide, logical_and, maximum, minimum, moveaxis, sin, where
from arrayport.ops.indexing import take
from arrayport.ops.precisions import Precision
from arrayport.ops.products import tensordot
from arrayport.ops.promotion import from_host, home_of, inexact, lift, promote_inexact
from arrayport.ops.segments import segment_sum
from arrayport.ops.structure import convert, reduce_sum

__all__ = ["ResizeMethod", "resize", "scale_and_translate"]

NEGLIGIBLE = 1000 * float(np.finfo(np.float32).eps)  # sums of weights that count as none


class ResizeMethod(enum.Enum):
    """How pixels between pixels are found. Source: ``jax.image.ResizeMethod``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.image.resize(anp.array([1.0, 3.0]), (4,), ap.image.ResizeMethod.LINEAR)
    Array([1. , 1.5, 2.5, 3. ], dtype=float32)
    """

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """Find a method by one of its names; ValueError for another."""
        found = _NAMES.get(s)
        if found is None:
            raise ValueError(f"resize method {s!r} is unknown: use one of {', '.join(_NAMES)}")
        return found


_NAMES = {
    "nearest": ResizeMethod.NEAREST,
    **dict.fromkeys(("linear", "bilinear", "trilinear", "triangle"), ResizeMethod.LINEAR),
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    **dict.fromkeys(("cubic", "bicubic", "tricubic"), ResizeMethod.CUBIC),
    **dict.fromkeys(("cubic-pytorch", "bicubic-pytorch"), ResizeMethod.CUBIC_PYTORCH),
    "area": ResizeMethod.AREA,
}

# ---- what a pixel at a distance counts


def _triangle(x: Array) -> Array:
    return maximum(0, 1 - x)


def _lanczos(x: Array, radius: float) -> Array:
    far = where(x > 1e-3, x, 1)
    value = radius * sin(pi * x) * sin(pi * x / radius) / (pi * far) ** 2
    return where(x > radius, 0, where(x > 1e-3, value, 1))


def _cubic(x: Array, a: float) -> Array:
    """R. Keys, "Cubic convolution interpolation for digital image processing" (1981)."""
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return where(x >= 2, 0, where(x >= 1, far, near))


KERNELS: Mapping[ResizeMethod, Callable[[Array], Array]] = {
    ResizeMethod.LINEAR: _triangle,
    ResizeMethod.LANCZOS3: lambda x: _lanczos(x, 3.0),
    ResizeMethod.LANCZOS5: lambda x: _lanczos(x, 5.0),
    ResizeMethod.CUBIC: lambda x: _cubic(x, -0.5),
    ResizeMethod.CUBIC_PYTORCH: lambda x: _cubic(x, -0.75),
}

# ---- weights


def _weights(
    size: int, count: int, scale: Array, translation: Array, method: ResizeMethod, antialias: bool
) -> Array:
    """Give what each of `size` pixels counts in each of `count` new ones."""
    step = divide(1, scale)
    start = arange(count, dtype=scale.dtype) * step - translation * step
    centre = start + 0.5 * step - 0.5
    inside = logical_and(centre >= -0.5, centre <= size - 0.5)
    repeats = 2 if method is ResizeMethod.CUBIC_PYTORCH else 0  # of the pixels at the edges
    places = arange(-repeats, size + repeats, dtype=scale.dtype)[:, None]
    if method is ResizeMethod.AREA:
        weights = maximum(0, minimum(start + step, places + 1) - maximum(start, places))
    else:
        stretch = maximum(step, 1) if antialias else 1
        weights = KERNELS[method](abs(centre - places) / stretch)
    if repeats:
        rows = np.clip(np.arange(-repeats, size + repeats), 0, size - 1)
        weights = segment_sum(weights, from_host(rows, home_of(weights)), size)
    total = reduce_sum(weights, (0,))
    known = abs(total) > NEGLIGIBLE
    weights = where(known, weights / where(known, total, 1), 0)
    return weights if repeats else where(inside, weights, 0)


def _resampled(
    x: Array,
    shape: Sequence[int],
    axes: Sequence[int],
    scale: Any,
    translation: Any,
    method: ResizeMethod,
    antialias: bool,
    precision: Any,
) -> Array:
    if method is ResizeMethod.CUBIC_PYTORCH and antialias:
        method = ResizeMethod.CUBIC
    for i, given in enumerate(axes):
        axis = normalize_axis_index(given, len(x.shape))
        weights = _weights(x.shape[axis], shape[axis], scale[i], translation[i], method, antialias)
        out = tensordot(x, convert(weights, x.dtype), ((axis,), (0,)), precision=precision)
        x = moveaxis(out, -1, axis)
    return x


def _checked(x: Array, shape: Sequence[int], method: str | ResizeMethod) -> ResizeMethod:
    if len(shape) != len(x.shape):
        raise ValueError(f"shape {tuple(shape)} must have an extent for each axis of {x.shape}")
    found = ResizeMethod.from_string(method) if isinstance(method, str) else method
    return ResizeMethod[found.name]  # JAX's own enumeration has these names


@unit("image")
def resize(
    image: Any,
    shape: Sequence[int],
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = Precision.HIGHEST,
) -> Array:
    """Resample an image to a shape; axes of equal extent stay as they are.

    `method` is a ResizeMethod or its name: "nearest", "linear", "cubic", "cubic-pytorch",
    "lanczos3", "lanczos5", "area". With `antialias` windows grow as an axis shrinks. Integers
    become floats, but for "nearest". Raises ValueError for another method or a shape of another
    rank. Source: ``jax.image.resize``.

    >>> import arrayport.numpy as anp
    >>> from arrayport import image
    >>> image.resize(anp.arange(4.0), (2,), "linear").round(3)
    Array([0.714, 2.286], dtype=float32)
    """
    x = lift(image, None, "image")
    chosen = _checked(x, shape, method)
    axes = [i for i, (m, n) in enumerate(zip(x.shape, shape, strict=True)) if m != n]
    if chosen is ResizeMethod.NEAREST:
        for axis in axes:
            middle = np.arange(shape[axis], dtype=np.float32) + np.float32(0.5)
            nearest = np.floor(middle * np.float32(x.shape[axis]) / np.float32(shape[axis]))
            places = from_host(nearest.astype(np.int32), home_of(x))
            x = take(x, places, axis, mode="clip")
        return x
    x = inexact(x)
    scales = [shape[i] / x.shape[i] if shape[i] else 1.0 for i in axes]
    scale = from_host(np.array(scales, default_float()), home_of(x))
    return _resampled(x, shape, axes, scale, scale * 0, chosen, antialias, precision)


def scale_and_translate(
    image: Any,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale: Any,
    translation: Any,
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = Precision.HIGHEST,
) -> Array:
    """Resample an image so that location y of an axis goes to `y * scale + translation`.

    `scale` and `translation` have an element for each of `spatial_dims`, and derivatives. A pixel's
    middle is half a pixel from its edge; what comes from outside the image is 0. `method` and
    `antialias` are those of `resize`, but for "nearest". Raises ValueError as `resize` does.
    Source: ``jax.image.scale_and_translate``.

    >>> import arrayport.numpy as anp
    >>> from arrayport import image
    >>> image.scale_and_translate(anp.arange(3.0), (3,), (0,), anp.ones(1), anp.ones(1), "linear")
    Array([0., 0., 1.], dtype=float32)
    """
    x = inexact(lift(image, None, "image"))
    chosen = _checked(x, shape, method)
    if chosen is ResizeMethod.NEAREST:
        raise ValueError("scale_and_translate has no method 'nearest': use 'linear', or resize")
    scales, shifts = promote_inexact((scale, translation))
    if not scales.shape == shifts.shape == (len(spatial_dims),):
        raise ValueError(
            f"scale and translation must have one element for each of {tuple(spatial_dims)}, not "
            f"shapes {scales.shape} and {shifts.shape}"
        )
    return _resampled(x, shape, spatial_dims, scales, shifts, chosen, antialias, precision)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("image", name)
