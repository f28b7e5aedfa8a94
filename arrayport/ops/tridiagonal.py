"""Tridiagonal matrices: their equations, and the reduction of Hermitian ones to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.primitive import Primitive
from arrayport.ops.linalg import as_row, checked, decomposition, matrices, matrix_transpose
from arrayport.ops.promotion import lift_all, settle
from arrayport.ops.shapes import pad
from arrayport.ops.structure import constant, in_front, total


def _tridiagonal_abstract(dl: Any, d: Any, du: Any, b: Any, perturb_singular: bool) -> Aval:  # noqa: ARG001
    checked("tridiagonal_solve", b, square=False)
    if not dl.shape == d.shape == du.shape == b.shape[:-1]:
        raise TypeError(
            "tridiagonal_solve needs diagonals of shape (..., m) and b of (..., m, k), not "
            f"{dl.shape}, {d.shape}, {du.shape} and {b.shape}"
        )
    if not dl.dtype == d.dtype == du.dtype == b.dtype:
        raise TypeError(
            "tridiagonal_solve needs operands of one dtype, not "
            f"{dl.dtype}, {d.dtype}, {du.dtype} and {b.dtype}"
        )
    return Aval(b.shape, b.dtype, dl.weak and d.weak and du.weak and b.weak)


def _shifted(x: Array, by: int) -> Array:
    """Move the elements of the last axis on by one or back by one; 0 takes the free place."""
    return pad(x, constant(0, x), [*[(0, 0, 0)] * (len(x.shape) - 1), (by, -by, 0)])


def _tridiagonal_jvp(
    ts: Sequence[Any], ans: Array, dl: Array, d: Array, du: Array, _b: Any, **params: Any
) -> Array:
    """Differentiate A X = B: A X' = B' - A' X."""
    x, *changes, right = matrix_transpose(ans), *ts
    rows = (_shifted(x, 1), x, _shifted(x, -1))
    moved = total(
        [None if t is None else as_row(t, x.shape) * y for t, y in zip(changes, rows, strict=True)]
    )
    rhs: Any = total([right, None if moved is None else -matrix_transpose(moved)])
    return tridiagonal_solve_p.bind(dl, d, du, rhs, **params)


def _tridiagonal_pull(ct: Array, dl: Array, d: Array, du: Array, _b: Any, **params: Any) -> Array:
    """Solve with the transposed matrix."""
    return tridiagonal_solve_p.bind(_shifted(du, 1), d, _shifted(dl, -1), ct, **params)


tridiagonal_solve_p: Primitive = Primitive(
    "tridiagonal_solve",
    _tridiagonal_abstract,
    lambda size, xs, dims, /, **params: (
        tridiagonal_solve_p.bind(*in_front(size, xs, dims), **params),
        0,
    ),
    jvp=_tridiagonal_jvp,
    transposes=(None, None, None, _tridiagonal_pull),
)


def tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool = False) -> Array:
    """Solve A X = B for tridiagonal A, of which the three diagonals are given.

    All have A's number of rows: the first of `dl`, below the diagonal, and the last of `du`, above
    it, are not read. A singular matrix gives NaN; with `perturb_singular` its tiny pivots
    count as the rounding error of the largest. Raises TypeError for shapes or dtypes that differ.
    Source: ``jax.lax.linalg.tridiagonal_solve``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.lax import linalg
    >>> one = anp.ones(3)
    >>> linalg.tridiagonal_solve(one, one * 2, one, anp.array([[3.0], [4.0], [3.0]]))[:, 0]
    Array([1., 1., 1.], dtype=float32)
    """
    xs = settle(lift_all((dl, d, du, b), "tridiagonal_solve's operand"))
    tridiagonal_solve_p.abstract(*xs, perturb_singular)
    return tridiagonal_solve_p.bind(*xs, perturb_singular=perturb_singular)


def _reduction_abstract(x: Any, lower: bool) -> list[Aval]:  # noqa: ARG001 - a rule takes all parameters
    *lead, n, _ = checked("tridiagonal", x)
    if not n:
        raise ValueError(f"tridiagonal needs matrices of a row or more, not shape {x.shape}")
    own = dtypes.real_dtype(x.dtype)
    return [
        Aval(x.shape, x.dtype, x.weak),
        Aval((*lead, n), own, x.weak),
        Aval((*lead, n - 1), own, x.weak),
        Aval((*lead, n - 1), x.dtype, x.weak),
    ]


tridiagonal_p = decomposition(
    "tridiagonal",
    _reduction_abstract,
    not_differentiable="the reflections are not unique; eigh of the matrix has a derivative",
)


def tridiagonal(a: Any, *, lower: bool = True) -> tuple[Array, Array, Array, Array]:
    """Reduce Hermitian matrices, of which one triangle is read, to tridiagonal form.

    Gives a matrix with the tridiagonal one on its diagonals and, beyond them, the Householder
    vectors; the diagonal; the one beside it; and the vectors' factors. It has no derivative. Raises
    ValueError for matrices that are not square. Source: ``jax.lax.linalg.tridiagonal``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.lax import linalg
    >>> linalg.tridiagonal(anp.array([[1.0, 2.0], [2.0, 3.0]]))[1]
    Array([1., 3.], dtype=float32)
    """
    x = matrices("tridiagonal", a, square=True)
    packed, diagonal, beside, factors = tridiagonal_p.bind(x, lower=lower)
    return packed, diagonal, beside, factors
