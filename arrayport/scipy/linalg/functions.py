"""Functions of square matrices: the exponential, the square root, and any other by Schur's form."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import factorial
from typing import Any

from arrayport.control.conditionals import cond
from arrayport.control.custom_jvp import custom_jvp
from arrayport.control.loops import fori_loop
from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy import linalg
from arrayport.numpy.norms import norm
from arrayport.numpy.reductions import any, max, min
from arrayport.ops import linalg as ops
from arrayport.ops import spectra
from arrayport.ops.elementwise import (
    abs,
    ceil,
    div,
    isfinite,
    log,
    minimum,
    power,
    select,
    sqrt,
    stop_gradient,
)
from arrayport.ops.linalg import (
    adjoint,
    as_column,
    as_row,
    identity_like,
    main_diagonal,
    matrices,
    upper_part,
    with_diagonal,
)
from arrayport.ops.products import matmul
from arrayport.ops.promotion import lift_all, settle
from arrayport.ops.structure import constant, convert, reshape, zeros
from arrayport.scipy.linalg.decompositions import rsf2csf
from arrayport.scipy.linalg.equations import sylvester
from arrayport.transforms.reverse import jvp

__all__ = ["expm", "expm_frechet", "funm", "sqrtm"]

# For each precision the degree of Pade's approximant, and the 1-norm up to which it is exact:
# Higham, SIAM J. Matrix Anal. Appl. 26 (2005), table 2.3 (for float32 by the same analysis).
APPROXIMANTS = {dtypes.float32: (7, 3.925724783138660), dtypes.float64: (13, 5.371920351148152)}

# ---- the exponential


@unit("A")
def expm(A: Any, *, upper_triangular: bool = False, max_squarings: int = 16) -> Array:
    """Give the exponential of square matrices, by Pade's approximant, scaling and squaring.

    A matrix so large that it would have to be halved more than `max_squarings` times gives NaN.
    Raises ValueError for matrices that are not square. Source: ``jax.scipy.linalg.expm``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import expm
    >>> expm(anp.array([[0.0, 1.0], [0.0, 0.0]]))
    Array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    x = matrices("expm", A, square=True)
    if not x.size:
        return x
    degree, exact = APPROXIMANTS[dtypes.real_dtype(x.dtype)]
    size = stop_gradient(norm(x, 1, (-2, -1)))
    halvings = ceil(log(select(size > exact, size / exact, constant(1, size))) / LOG_2)
    lost = ~(halvings <= max_squarings)
    halvings = select(lost, constant(0, halvings), halvings)
    scale = power(constant(0.5, halvings), halvings)
    above, below = _approximant(x * convert(_square(scale), x.dtype), degree)
    if upper_triangular:
        found = ops.triangular_solve(below, above, left_side=True, lower=False)
    else:
        found = linalg.solve(below, above)
    most = max(halvings)

    def step(i: Array, y: Array) -> Array:
        return cond(i < most, partial(_squared, i, halvings), _same, y)

    found = fori_loop(0, max_squarings, step, found)
    return select(_square(lost), constant(float("nan"), found), found)


LOG_2 = 0.6931471805599453


def _square(x: Array) -> Array:
    """Give numbers the axes of matrices."""
    return reshape(x, (*x.shape, 1, 1))


def _squared(i: Array, halvings: Array, y: Array) -> Array:
    """Square those matrices that were halved more than i times."""
    return select(_square(i < halvings), matmul(y, y), y)


def _same(y: Array) -> Array:
    return y


def _approximant(x: Array, degree: int) -> tuple[Array, Array]:
    """Give numerator and denominator of Pade's approximant to the exponential."""
    weights = [
        factorial(2 * degree - k)
        * factorial(degree)
        / (factorial(2 * degree) * factorial(k) * factorial(degree - k))
        for k in range(degree + 1)
    ]
    square = matmul(x, x)
    powers = [identity_like(x, x.shape[-1]), square, matmul(square, square)]
    powers.append(matmul(powers[2], square))
    odd, even = (_polynomial(weights[first::2], powers) for first in (1, 0))
    odd = matmul(x, odd)
    return even + odd, even - odd


def _polynomial(weights: list[float], powers: list[Array]) -> Array:
    """Sum weighted powers, those beyond the given ones as a product with the last of these."""
    known = zeros(powers[0])
    for weight, x in zip(weights, powers, strict=False):
        known = known + x * weight
    rest = weights[len(powers) :]
    return known + matmul(powers[-1], _polynomial([0.0, *rest], powers)) if rest else known


@unit("A", "E")
def expm_frechet(A: Any, E: Any, *, method: str | None = None, compute_expm: bool = True) -> Any:
    """Give the exponential of A, if `compute_expm`, and its derivative in the direction E.

    `method` is a hint. Raises ValueError for shapes that differ. Source:
    ``jax.scipy.linalg.expm_frechet``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import expm_frechet
    >>> expm_frechet(anp.zeros((1, 1)), anp.ones((1, 1)))[1]
    Array([[1.]], dtype=float32)
    """
    del method
    a, e = settle(lift_all((A, E), "expm_frechet's operand"))
    a = matrices("expm_frechet", a, square=True)
    if a.shape != e.shape:
        raise ValueError(f"expm_frechet needs A and E of one shape, not {a.shape} and {e.shape}")
    made, change = jvp(expm, (a,), (convert(e, a.dtype),))
    return (made, change) if compute_expm else change


# ---- functions by Schur's form


def _triangle(t: Array, start: Array, entry: Callable[[Array], Array]) -> Array:
    """Fill an upper triangle, one diagonal after the other, from `start` with the main one.

    `entry` gives from what is known so far, the rest being 0, a matrix that is right on the next
    diagonal.
    """
    above = ops.columns_minus_rows(t)

    def diagonal(p: Array, known: Array) -> Array:
        return select(above == p, entry(known), known)

    return fori_loop(1, t.shape[-1], diagonal, start)


def _complex_schur(x: Array) -> tuple[Array, Array]:
    """Factor so that of a real matrix real eigenvalues stay real: roots of negative ones differ."""
    t, z = spectra.schur(x)
    return (t, z) if dtypes.is_complex(x.dtype) else rsf2csf(t, z)


@unit("A")
def sqrtm(A: Any, blocksize: int = 1) -> Array:
    """Give the principal square root of square matrices, always complex.

    Raises NotImplementedError for a `blocksize` above 1. Its derivative, which JAX lacks, solves
    Sylvester's equation. Source: ``jax.scipy.linalg.sqrtm``; Higham, Functions of Matrices (2008),
    algorithm 6.3.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import sqrtm
    >>> sqrtm(anp.array([[4.0, 0.0], [0.0, 9.0]])).real
    Array([[2., 0.],
           [0., 3.]], dtype=float32)
    """
    if blocksize > 1:
        raise NotImplementedError("sqrtm: blocks are not supported, leave blocksize out")
    return _root(matrices("sqrtm", A, square=True))


@custom_jvp
def _root(x: Array) -> Array:
    t, z = _complex_schur(x)
    diagonal = sqrt(main_diagonal(t) + 0)  # no negative zeros: the roots are the principal ones
    sums = as_row(diagonal, t.shape) + as_column(diagonal, t.shape)

    def entry(known: Array) -> Array:
        rest = t - matmul(known, known)
        return select(rest == 0, constant(0, rest), div(rest, sums))

    root = _triangle(t, with_diagonal(zeros(t), as_row(diagonal, t.shape)), entry)
    return matmul(matmul(z, root), adjoint(z))


@_root.defjvp
def _root_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    """Differentiate X X = A: X X' + X' X = A'."""
    root = _root(*primals)
    return root, sylvester(root, root, convert(tangents[0], root.dtype), "schur", 0.0)


def funm(A: Any, func: Callable[[Array], Array], disp: bool = True) -> Any:
    """Give the matrix function that `func`, of vectors, is of eigenvalues; complex.

    Where eigenvalues meet it is not exact. Without `disp` also an estimate of the relative error.
    It has no derivative. Source: ``jax.scipy.linalg.funm``; Golub and Van Loan, Matrix
    Computations, algorithm 11.1.1.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import funm
    >>> funm(anp.array([[0.0, 1.0], [1.0, 0.0]]), anp.square).real.round(4) + 0.0
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    x = matrices("funm", A, square=True)
    if len(x.shape) != 2:
        raise ValueError(f"funm takes one square matrix, not shape {x.shape}")
    t, z = _complex_schur(x)
    diagonal = main_diagonal(t)
    values = convert(func(diagonal), t.dtype)
    gaps = as_row(diagonal, t.shape) - as_column(diagonal, t.shape)

    def entry(known: Array) -> Array:
        rest = matmul(t, known) - matmul(known, t)
        return select(gaps == 0, rest, div(rest, select(gaps == 0, constant(1, gaps), gaps)))

    found = _triangle(t, with_diagonal(zeros(t), as_row(values, t.shape)), entry)
    made = matmul(matmul(z, found), adjoint(z))
    if disp:
        return made
    eps = dtypes.finfo(t.dtype).eps
    apart = select(ops.columns_minus_rows(t) > 0, abs(gaps), constant(float("inf"), abs(gaps)))
    least = minimum(min(apart, initial=float("inf")), abs(diagonal[0]))
    least = select(least == 0, constant(eps, least), least)
    estimate = norm(upper_part(t, 1), 1) * eps / least
    estimate = minimum(1, select(estimate > eps, estimate, constant(eps, estimate)))
    return made, select(any(~isfinite(made)), constant(float("inf"), estimate), estimate)
