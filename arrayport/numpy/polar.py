"""The polar decomposition, by weighted Halley iterations."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, sqrt
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.numpy.arguments import strong
from arrayport.numpy.creation import asarray
from arrayport.numpy.norms import norm
from arrayport.numpy.reductions import all
from arrayport.ops import linalg, reflections
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import select
from arrayport.ops.products import matmul
from arrayport.ops.shapes import concatenate
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.structure import constant, convert

CUTOFF = 100  # of the weight c: above it an iteration by Cholesky's factor would not be stable


def qdwh(
    x: Any,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[int, int] | None = None,
) -> tuple[Array, Array, Array, Array]:
    """Factor a matrix of full rank, no wider than tall, as U H: U orthonormal, H positive definite.

    Gives U, H, the number of iterations, and whether the last one changed U by less than its norm
    times (4 eps)**(1/3). `dynamic_shape` says how many rows and columns count, the others being
    zero; `is_hermitian` is a hint. Raises ValueError for a wide matrix. Source: ``lax.linalg.qdwh``
    of JAX; Nakatsukasa, Bai and Gygi, SIAM J. Matrix Anal. Appl. 31 (2010).

    >>> import arrayport.numpy as anp
    >>> from arrayport.lax import linalg
    >>> linalg.qdwh(anp.array([[-2.0]]))[:2]
    (Array([[-1.]], dtype=float32), Array([[2.]], dtype=float32))
    """
    del is_hermitian
    a = strong(linalg.matrices("qdwh", x))
    m, n = a.shape[-2:]
    if len(a.shape) != 2 or m < n:
        raise ValueError(f"qdwh needs a matrix with no more columns than rows, not {a.shape}")
    if dynamic_shape is not None:
        for axis, count in enumerate(dynamic_shape):
            a = select(iota_like(a, dtypes.int32, axis) < count, a, constant(0, a))
    return halley(a, eps, max_iterations)


def halley(a: Array, eps: float | None, most: int | None) -> tuple[Array, Array, Array, Array]:
    """Give what `qdwh` gives, for stacks of matrices."""
    eps = dtypes.finfo(a.dtype).eps if eps is None else float(eps)
    bound = (_norm(a, 1) * _norm(a, inf)) ** 0.5
    u = before = a / convert(select(bound == 0, constant(1, bound), bound), a.dtype)
    weights = list(_weights(eps, 10 if most is None else most))
    for step in weights:
        before, u = u, _iterate(u, *step)
    converged = all(_norm(u - before, None) <= _norm(u, None) * (4 * eps) ** (1 / 3))
    u = u * 1.5 - matmul(u, matmul(linalg.adjoint(u), u)) * 0.5
    h = linalg.symmetrized(matmul(linalg.adjoint(u), a))
    return u, h, asarray(len(weights)), converged


def _norm(x: Array, order: Any) -> Array:
    return norm(x, order, (-2, -1), keepdims=True)


def _weights(least: float, most: int) -> Iterator[tuple[float, float, float]]:
    """Give the weights that raise a lower bound of the singular values to 1 the fastest."""
    low = least
    for _ in range(most):
        if low + 10 * least >= 1:
            return
        square = low * low
        d = (4 * (1 / square - 1) / square) ** (1 / 3)
        root = sqrt(1 + d)
        a = root + sqrt(2 - d + 2 * (2 - square) / (square * root))
        b = (a - 1) ** 2 / 4
        c = a + b - 1
        low *= (a + b * square) / (1 + c * square)
        yield a, b, c


def _iterate(u: Array, a: float, b: float, c: float) -> Array:
    """Give U (a + b U^H U) / (1 + c U^H U)."""
    *lead, m, n = u.shape
    rows = len(lead)
    one = linalg.identity_like(u, n)
    if c > CUTOFF:
        tall = concatenate([u * sqrt(c), one], rows)
        q, _ = reflections.qr(tall, full_matrices=False)
        above, below = slice_in_dim(q, 0, m, axis=rows), slice_in_dim(q, m, None, axis=rows)
        return u * (b / c) + matmul(above, linalg.adjoint(below)) * ((a - b / c) / sqrt(c))
    factor = linalg.cholesky(one + matmul(linalg.adjoint(u), u) * c)
    half = linalg.triangular_solve(
        factor, u, left_side=False, lower=True, transpose_a=True, conjugate_a=True
    )
    whole = linalg.triangular_solve(factor, half, left_side=False, lower=True)
    return u * (b / c) + whole * (a - b / c)
