"""Norms of vectors and matrices."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from math import inf
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import arrayed, axes_of, restore_axes
from arrayport.numpy.reductions import max, min, sum
from arrayport.numpy.shapes import moveaxis
from arrayport.ops.elementwise import abs, conj, power, real, select, sqrt, square
from arrayport.ops.promotion import inexact
from arrayport.ops.spectra import svd
from arrayport.ops.structure import constant, convert


@unit("x")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """Give the norm of vectors (along one axis) or matrices (two axes), of all of x by default.

    `ord` as in `vector_norm` and `matrix_norm`; None is the root of the sum of squares, whose
    derivative at 0 is 0. Raises ValueError for an unknown `ord` or too many axes. Source:
    ``jax.numpy.linalg.norm``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.norm(anp.array([3.0, 4.0]))
    Array(5., dtype=float32)
    """
    a = inexact(arrayed(x, "x"))
    axes = axes_of(axis, len(a.shape))
    if ord is None:
        return _restored(_root_of_squares(a, axes), a, axes, keepdims)
    if len(axes) == 1:
        return _restored(_vector_norm(a, ord, axes), a, axes, keepdims)
    if len(axes) == 2:
        return _restored(_matrix_norm(moveaxis(a, axes, (-2, -1)), ord), a, axes, keepdims)
    raise ValueError(f"norm with ord={ord!r} needs one axis or two, not {axes}: give axis=")


@unit("x")
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """Give the norm of vectors: the root of order `ord` of the sum of the moduli's powers.

    inf and -inf give the largest and least modulus, 0 the count of what is not 0. Raises ValueError
    for another string than these. Source: the array API's ``vector_norm``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.vector_norm(anp.array([3.0, -4.0]), ord=1)
    Array(7., dtype=float32)
    """
    a = inexact(arrayed(x, "x"))
    axes = axes_of(axis, len(a.shape))
    return _restored(_vector_norm(a, ord, axes), a, axes, keepdims)


@unit("x")
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Give the norm of matrices, the last two axes.

    `ord`: "fro", "nuc" (sum of singular values), 2 and -2 (largest and least one), 1 and -1
    (largest and least sum of a column's moduli), inf and -inf (of a row's). Raises ValueError for
    another. Source: the array API's ``matrix_norm``.

    >>> import arrayport.numpy as anp
    >>> anp.linalg.matrix_norm(anp.array([[3.0, 0.0], [0.0, -4.0]]), ord="nuc")
    Array(7., dtype=float32)
    """
    a = inexact(arrayed(x, "x"))
    rank = len(a.shape)
    if rank < 2:
        raise ValueError(f"matrix_norm needs an array of shape (..., m, n), not {a.shape}")
    return _restored(_matrix_norm(a, ord), a, (rank - 2, rank - 1), keepdims)


def _restored(out: Array, x: Array, axes: Sequence[int], keepdims: bool) -> Array:
    return restore_axes(out, x.shape, tuple(axes), keepdims)


def _root_of_squares(x: Array, axes: Sequence[int]) -> Array:
    """Give the Euclidean norm; where it is 0 so is its derivative."""
    squares = real(x * conj(x)) if dtypes.is_complex(x.dtype) else square(x)
    total = sum(squares, axis=tuple(axes))
    zero = total == 0
    return select(zero, constant(0, total), sqrt(select(zero, constant(1, total), total)))


def _vector_norm(x: Array, ord: Any, axes: Sequence[int]) -> Array:
    if ord is None or ord == 2:
        return _root_of_squares(x, axes)
    if isinstance(ord, str) and ord not in {"inf", "-inf"}:
        raise ValueError(f"ord={ord!r} is no vector norm: use a number, inf, -inf or None")
    axes = tuple(axes)
    if ord in {inf, "inf"}:
        return max(abs(x), axis=axes, initial=0)
    if ord in {-inf, "-inf"}:
        return min(abs(x), axis=axes)
    if ord == 0:
        return sum(convert(x != 0, dtypes.real_dtype(x.dtype)), axis=axes)
    if ord == 1:
        return sum(abs(x), axis=axes)
    return power(sum(power(abs(x), ord), axis=axes), 1 / ord)


def _matrix_norm(x: Array, ord: Any) -> Array:
    rank = len(x.shape)
    if ord in {None, "fro", "f"}:
        return _root_of_squares(x, (rank - 2, rank - 1))
    if ord == "nuc":
        return sum(svd(x, compute_uv=False), axis=-1)
    if ord in {2, -2}:
        values = svd(x, compute_uv=False)
        return max(values, axis=-1, initial=0) if ord > 0 else min(values, axis=-1)
    if ord in {1, -1, inf, -inf}:
        sums = sum(abs(x), axis=rank - 2 if builtins.abs(ord) == 1 else rank - 1)
        return max(sums, axis=-1, initial=0) if ord > 0 else min(sums, axis=-1)
    raise ValueError(f"ord={ord!r} is no matrix norm: use 'fro', 'nuc', 1, -1, 2, -2, inf or -inf")
