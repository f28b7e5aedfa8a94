"""Convolutions and correlations of arrays with any number of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.numpy import fft
from arrayport.numpy.arguments import arrayed, axes_of
from arrayport.numpy.shapes import flip
from arrayport.ops.convolution import conv_general_dilated
from arrayport.ops.elementwise import conj
from arrayport.ops.promotion import promote_inexact
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.structure import Shape, reshape

__all__ = ["convolve", "convolve2d", "correlate", "correlate2d", "fftconvolve"]


def _larger(name: str, first: Shape, second: Shape) -> bool:
    """Tell whether the first is the larger one; each must be so along every axis, or the other."""
    if all(m >= n for m, n in zip(first, second, strict=True)):
        return True
    if all(m <= n for m, n in zip(first, second, strict=True)):
        return False
    raise ValueError(
        f"{name}: with mode='valid' one operand must be at least as large as the other along every "
        f"axis, but the shapes are {first} and {second}"
    )


def _extents(name: str, first: Shape, second: Shape, mode: str) -> list[tuple[int, int]]:
    """Say for each axis where in the full convolution the answer starts, and its extent."""
    if mode not in {"full", "same", "valid"}:
        raise ValueError(f"{name}: mode must be 'full', 'same' or 'valid', not {mode!r}")
    if mode == "valid":
        _larger(name, first, second)
    found = []
    for m, n in zip(first, second, strict=True):
        extent = {"full": m + n - 1, "same": m, "valid": abs(m - n) + 1}[mode]
        found.append(((m + n - 1 - extent) // 2, extent))
    return found


def _operands(name: str, in1: Any, in2: Any, rank: int | None = None) -> tuple[Array, Array]:
    """Give both in one dtype; they must have the same number of axes."""
    x, y = promote_inexact((in1, in2), name)
    if len(x.shape) != len(y.shape) or rank not in {None, len(x.shape)}:
        wanted = "the same number of" if rank is None else str(rank)
        raise ValueError(f"{name} needs operands with {wanted} axes, not {x.shape} and {y.shape}")
    return x, y


def _slide(name: str, x: Array, y: Array, mode: str, precision: Any) -> Array:
    """Sum products of the reversed y with every window of x."""
    if not (x.size and y.size):
        raise ValueError(f"{name} needs elements to convolve, but got {x.shape} and {y.shape}")
    padding = [
        (n - 1 - start, n - 1 - (m + n - 1 - extent - start))
        for m, n, (start, extent) in zip(
            x.shape, y.shape, _extents(name, x.shape, y.shape, mode), strict=True
        )
    ]
    if mode == "valid" and not _larger(name, x.shape, y.shape):
        x, y, padding = y, x, [(0, 0)] * len(padding)
    found = conv_general_dilated(
        reshape(x, (1, 1, *x.shape)),
        reshape(flip(y), (1, 1, *y.shape)),
        (1,) * len(padding),
        padding,
        precision=precision,
    )
    return reshape(found, found.shape[2:])


def convolve(
    in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None
) -> Array:
    """Convolve two arrays: all overlaps ("full"), as many as in1 ("same"), whole ones ("valid").

    `method`: "direct" (as "auto") or "fft". Raises ValueError for another, for operands of other
    rank or without elements. Source: ``jax.scipy.signal.convolve``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.signal import convolve
    >>> convolve(anp.array([1.0, 2.0]), anp.array([1.0, 10.0]))
    Array([ 1., 12., 20.], dtype=float32)
    """
    if method == "fft":
        return fftconvolve(in1, in2, mode)
    if method not in {"direct", "auto"}:
        raise ValueError(f"method must be 'auto', 'fft' or 'direct', not {method!r}")
    return _slide("convolve", *_operands("convolve", in1, in2), mode, precision)


def correlate(
    in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None
) -> Array:
    """Slide in2, conjugated, along in1 and sum the products.

    Source: ``jax.scipy.signal.correlate``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.signal import correlate
    >>> correlate(anp.array([1.0, 2.0]), anp.array([1.0, 10.0]))
    Array([10., 21.,  2.], dtype=float32)
    """
    return convolve(in1, flip(conj(arrayed(in2, "in2"))), mode, method, precision)


def _no_boundary(name: str, boundary: str, fillvalue: float) -> None:
    if boundary != "fill" or fillvalue != 0:
        raise NotImplementedError(
            f"{name} has zeros around its operands only: pad with numpy.pad for another boundary"
        )


def convolve2d(
    in1: Any,
    in2: Any,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Array:
    """Convolve two matrices, as `convolve` does.

    Raises NotImplementedError for another boundary than zeros. Source:
    ``jax.scipy.signal.convolve2d``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.signal import convolve2d
    >>> convolve2d(anp.ones((2, 2)), anp.ones((1, 2)))
    Array([[1., 2., 1.],
           [1., 2., 1.]], dtype=float32)
    """
    _no_boundary("convolve2d", boundary, fillvalue)
    return _slide("convolve2d", *_operands("convolve2d", in1, in2, 2), mode, precision)


def correlate2d(
    in1: Any,
    in2: Any,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Array:
    """Correlate two matrices. With "same" the middle is nearer the end than in `correlate`.

    Raises NotImplementedError for another boundary than zeros. Source:
    ``jax.scipy.signal.correlate2d``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.signal import correlate2d
    >>> correlate2d(anp.ones((2, 2)), anp.ones((1, 2)), "valid")
    Array([[2.],
           [2.]], dtype=float32)
    """
    name = "correlate2d"
    _no_boundary(name, boundary, fillvalue)
    x, y = _operands(name, in1, in2, 2)
    if mode == "same":
        return flip(_slide(name, flip(x), conj(y), mode, precision))
    if mode == "valid" and not _larger(name, x.shape, y.shape):
        return _slide(name, flip(y), conj(x), mode, precision)  # unconjugated, as in SciPy
    return _slide(name, x, flip(conj(y)), mode, precision)


def fftconvolve(
    in1: Any, in2: Any, mode: str = "full", axes: int | Sequence[int] | None = None
) -> Array:
    """Convolve by way of the Fourier transform, along `axes` only if they are given.

    Raises ValueError for operands of other rank, or that differ along the other axes. Source:
    ``jax.scipy.signal.fftconvolve``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.signal import fftconvolve
    >>> fftconvolve(anp.array([1.0, 2.0]), anp.array([1.0, 10.0])).round()
    Array([ 1., 12., 20.], dtype=float32)
    """
    x, y = _operands("fftconvolve", in1, in2)
    over = axes_of(axes, len(x.shape), "axes")
    if any(m != n for i, (m, n) in enumerate(zip(x.shape, y.shape, strict=True)) if i not in over):
        raise ValueError(
            f"fftconvolve: shapes {x.shape} and {y.shape} must be equal apart from axes {over}"
        )
    first, second = (tuple([a.shape[i] for i in over]) for a in (x, y))
    extents = _extents("fftconvolve", first, second, mode)
    # An axis that one of them does not have needs no transform.
    mixed = [i for i in over if x.shape[i] > 1 and y.shape[i] > 1]
    if mixed:
        lengths = [x.shape[i] + y.shape[i] - 1 for i in mixed]
        forward, back = (
            (fft.fftn, fft.ifftn) if dtypes.is_complex(x.dtype) else (fft.rfftn, fft.irfftn)
        )
        found = back(forward(x, lengths, mixed) * forward(y, lengths, mixed), lengths, mixed)
    else:
        found = x * y
    for axis, (start, extent) in zip(over, extents, strict=True):
        found = slice_in_dim(found, start, start + extent, axis=axis)
    return found
