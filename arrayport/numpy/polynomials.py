"""Polynomials by their coefficients, highest first, and the convolution that multiplies them."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.numpy.arguments import arrayed
from arrayport.numpy.joins import concatenate
from arrayport.numpy.products import tensordot
from arrayport.numpy.shapes import atleast_1d, flip
from arrayport.ops.elementwise import conj, power
from arrayport.ops.promotion import promote_dtypes, promote_inexact
from arrayport.ops.shapes import pad
from arrayport.ops.structure import constant, full_like

__all__ = [
    "convolve",
    "correlate",
    "polyadd",
    "polyder",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "vander",
]


def polyval(p: Any, x: Any, *, unroll: int | None = None) -> Array:
    """Evaluate a polynomial at x by Horner's scheme. Source: ``jax.numpy.polyval``.

    >>> import arrayport.numpy as anp
    >>> anp.polyval(anp.array([2.0, 1.0]), 3.0)
    Array(7., dtype=float32)
    """
    del unroll
    p, x = promote_dtypes((p, x), "polyval")
    out = full_like(x, 0)
    for i in range(p.shape[0]):
        out = out * x + p[i]
    return out


def _alike(a1: Any, a2: Any) -> tuple[Array, Array]:
    """Two polynomials with as many coefficients each."""
    x, y = promote_dtypes((atleast_1d(a1), atleast_1d(a2)), "a polynomial")
    missing = x.size - y.size
    fill = constant(0, x)
    return pad(x, fill, [(max(-missing, 0), 0, 0)]), pad(y, fill, [(max(missing, 0), 0, 0)])


def polyadd(a1: Any, a2: Any) -> Array:
    """Add two polynomials. Source: ``jax.numpy.polyadd``."""
    x, y = _alike(a1, a2)
    return x + y


def polysub(a1: Any, a2: Any) -> Array:
    """Subtract two polynomials. Source: ``jax.numpy.polysub``."""
    x, y = _alike(a1, a2)
    return x - y


def polymul(a1: Any, a2: Any, *, trim_leading_zeros: bool = False) -> Array:
    """Multiply two polynomials. Source: ``jax.numpy.polymul``."""
    if trim_leading_zeros:
        raise NotImplementedError("polymul: trim_leading_zeros=True is not supported")
    return convolve(atleast_1d(a1), atleast_1d(a2))


def polyder(p: Any, m: int = 1) -> Array:
    """Differentiate a polynomial m times. Source: ``jax.numpy.polyder``.

    >>> import arrayport.numpy as anp
    >>> anp.polyder(anp.array([3.0, 2.0, 1.0]))
    Array([6., 2.], dtype=float32)
    """
    if m < 0:
        raise ValueError(f"m={m} of polyder must not be negative")
    (x,) = promote_inexact((atleast_1d(p),), "polyder")
    for _ in range(m):
        x = x[:-1] * np.arange(x.size - 1, 0, -1, dtype=x.dtype)
    return x


def polyint(p: Any, m: int = 1, k: Any = None) -> Array:
    """Integrate a polynomial m times, with constants k. Source: ``jax.numpy.polyint``."""
    if m < 0:
        raise ValueError(f"m={m} of polyint must not be negative")
    (x,) = promote_inexact((atleast_1d(p),), "polyint")
    constants = full_like(x, 0, (m,)) + (0 if k is None else arrayed(k, "k"))
    for i in range(m):
        x = concatenate([x / np.arange(x.size, 0, -1, dtype=x.dtype), constants[i : i + 1]])
    return x


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Array:
    """Make the matrix whose columns are powers of a vector. Source: ``jax.numpy.vander``.

    >>> import arrayport.numpy as anp
    >>> anp.vander(anp.array([2, 3]), 3)
    Array([[4, 2, 1],
           [9, 3, 1]], dtype=int32)
    """
    x = arrayed(x, "x")
    if len(x.shape) != 1:
        raise ValueError(f"vander takes a vector, not shape {x.shape}")
    powers = np.arange(x.size if N is None else N, dtype=dtypes.default_int())
    return power(x[:, None], powers if increasing else powers[::-1])


# ---- convolution


def convolve(
    a: Any, v: Any, mode: str = "full", *, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """Convolve two vectors: all overlaps ("full"), as many as the longer ("same"), whole ("valid").

    Source: ``jax.numpy.convolve``.

    >>> import arrayport.numpy as anp
    >>> anp.convolve(anp.array([1.0, 2.0]), anp.array([1.0, 10.0]))
    Array([ 1., 12., 20.], dtype=float32)
    """
    x, y = promote_inexact((a, v), "convolve")
    _check(x, y, mode)
    if x.size < y.size:
        x, y = y, x
    return _slide(x, flip(y), mode, precision, preferred_element_type)


def correlate(
    a: Any,
    v: Any,
    mode: str = "valid",
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Slide v, conjugated, along a and sum the products. Source: ``jax.numpy.correlate``."""
    x, y = promote_inexact((a, v), "correlate")
    _check(x, y, mode)
    y = conj(y)
    if x.size >= y.size:
        return _slide(x, y, mode, precision, preferred_element_type)
    return flip(_slide(y, x, mode, precision, preferred_element_type))


def _check(x: Array, y: Array, mode: str) -> None:
    if len(x.shape) != 1 or len(y.shape) != 1 or not x.size or not y.size:
        raise ValueError(f"convolution takes vectors with elements, not {x.shape} and {y.shape}")
    if mode not in {"full", "same", "valid"}:
        raise ValueError(f"mode={mode!r} of a convolution must be 'full', 'same' or 'valid'")


def _slide(x: Array, y: Array, mode: str, precision: Any, preferred: Any) -> Array:
    """Products of y with every window of x, as one matrix product."""
    n = y.size
    before = {"full": n - 1, "same": n // 2, "valid": 0}[mode]
    after = {"full": n - 1, "same": n - 1 - n // 2, "valid": 0}[mode]
    x = pad(x, constant(0, x), [(before, after, 0)])
    places = np.arange(x.size - n + 1)[:, None] + np.arange(n)[None, :]
    return tensordot(x[places], y, 1, precision=precision, preferred_element_type=preferred)
