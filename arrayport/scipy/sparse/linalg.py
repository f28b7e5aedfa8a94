"""Krylov solvers of linear systems: cg, bicgstab and gmres, with implicit derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from arrayport.control.loops import fori_loop, while_loop
from arrayport.control.solves import custom_linear_solve
from arrayport.core.array import Array
from arrayport.core.dtypes import finfo
from arrayport.core.names import absent
from arrayport.core.tree import tree_leaves, tree_map, tree_structure
from arrayport.numpy import (
    conj,
    isnan,
    linalg,
    logical_and,
    maximum,
    real,
    sqrt,
    vdot,
    where,
    zeros,
    zeros_like,
)
from arrayport.numpy.vectors import ravel_pytree
from arrayport.ops.promotion import inexact, lift

__all__ = ["bicgstab", "cg", "gmres"]

Operator = Callable[[Any], Any]

# ---- what all have in common


class Problem(NamedTuple):
    """A solver's arguments, checked: operators on pytrees like b."""

    operator: Operator
    b: Any
    start: Any
    steps: Any
    preconditioner: Operator

    def solve(self, solver: Callable[..., Array], **options: Any) -> Any:
        """Give the solution, with derivatives of the system; solvers see vectors."""

        def solved(operator: Operator, b: Any) -> Any:
            vector, unravel = ravel_pytree(b)

            def on_vectors(f: Operator) -> Operator:
                return lambda v: ravel_pytree(f(unravel(v)))[0]

            start = ravel_pytree(self.start)[0]
            maps = on_vectors(operator), on_vectors(self.preconditioner)
            return unravel(solver(*maps, vector, start, self.steps, **options))

        return custom_linear_solve(self.operator, self.b, solved, solved)


def _problem(A: Any, b: Any, x0: Any, maxiter: Any, M: Any) -> Problem:
    b = tree_map(lambda v: inexact(lift(v, None, "b")), b)
    start = tree_map(zeros_like, b) if x0 is None else x0
    if tree_structure(start) != tree_structure(b):
        raise ValueError(
            f"x0 must have b's structure, {tree_structure(b)}, not {tree_structure(start)}"
        )
    start = tree_map(lambda x, v: lift(x, None, "x0").astype(v.dtype), start, b)
    shapes = [[x.shape for x in tree_leaves(t)] for t in (start, b)]
    if shapes[0] != shapes[1]:
        raise ValueError(f"x0 must have b's shapes, {shapes[1]}, not {shapes[0]}")
    steps = 10 * sum(x.size for x in tree_leaves(b)) if maxiter is None else maxiter
    return Problem(
        _operator(A, "A"), b, start, steps, _operator(M, "M") if M is not None else _same
    )


def _operator(f: Any, name: str) -> Operator:
    """Make a function of a square matrix."""
    if callable(f):
        return f
    if not hasattr(f, "__matmul__") or len(f.shape) != 2 or f.shape[0] != f.shape[1]:
        raise ValueError(f"{name} must be a function or a square matrix, not {f!r}")
    matrix = lift(f, None, name)
    return lambda x: matrix @ x


def _same(x: Any) -> Any:
    return x


def _square(x: Array) -> Array:
    """Give the square of a vector's length."""
    return real(vdot(x, x))


def _bound(b: Array, tol: Any, atol: Any) -> Array:
    """Give the square of the residual's length at which to stop."""
    return maximum(_square(b) * tol**2, atol**2)


# ---- conjugate gradients


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Any, None]:
    """Solve `A x = b` by conjugate gradients, A being symmetric (Hermitian) and positive definite.

    A is a square matrix or a function of pytrees like b, from which x0 (0 if None) starts, and M
    one that is about its inverse. The steps, at most `maxiter` (10 times b's size if None), end
    when the residual is not longer than max(tol * |b|, atol). Gives x and None. Derivatives by what
    A captured and by b solve systems themselves. Raises ValueError for what does not fit b. Source:
    ``jax.scipy.sparse.linalg.cg``; Hestenes and Stiefel (1952).

    >>> import arrayport.numpy as anp
    >>> cg(anp.diag(anp.array([1.0, 2.0])), anp.ones(2))[0]
    Array([1. , 0.5], dtype=float32)
    """
    options = {"tol": tol, "atol": atol}
    return _problem(A, b, x0, maxiter, M).solve(_conjugate, **options), None


def _conjugate(
    operator: Operator, inverse: Operator, b: Array, x: Array, steps: Any, tol: Any, atol: Any
) -> Array:
    enough = _bound(b, tol, atol)

    def going(state: Any) -> Array:
        _, r, _, _, k = state
        return logical_and(_square(r) > enough, k < steps)

    def step(state: Any) -> Any:
        x, r, p, size, k = state
        moved = operator(p)
        length = size / real(vdot(p, moved))
        r = r - length * moved
        z = inverse(r)
        new = real(vdot(r, z))
        return x + length * p, r, z + new / size * p, new, k + 1

    r = b - operator(x)
    z = inverse(r)
    return while_loop(going, step, (x, r, z, real(vdot(r, z)), 0))[0]


# ---- stabilised biconjugate gradients


def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Any, None]:
    """Solve `A x = b` by stabilised biconjugate gradients, for any regular A.

    The arguments are those of `cg`. Source: ``jax.scipy.sparse.linalg.bicgstab``; van der Vorst
    (1992).

    >>> import arrayport.numpy as anp
    >>> bicgstab(anp.array([[1.0, 1.0], [0.0, 2.0]]), anp.ones(2))[0].round(3)
    Array([0.5, 0.5], dtype=float32)
    """
    options = {"tol": tol, "atol": atol}
    return _problem(A, b, x0, maxiter, M).solve(_stabilised, **options), None


def _stabilised(
    operator: Operator, inverse: Operator, b: Array, x: Array, steps: Any, tol: Any, atol: Any
) -> Array:
    enough = _bound(b, tol, atol)
    shadow = b - operator(x)
    one = (shadow * 0).sum() + 1

    def going(state: Any) -> Array:
        _, r, *_, k = state
        return logical_and(_square(r) > enough, logical_and(k < steps, k >= 0))

    def step(state: Any) -> Any:
        x, r, p, q, alpha, omega, rho, k = state
        new = vdot(shadow, r)
        p = r + new / rho * alpha / omega * (p - omega * q)
        direction = inverse(p)
        q = operator(direction)
        alpha = new / vdot(shadow, q)
        s = r - alpha * q
        half = _square(s) < enough  # x is there after half a step
        rest = inverse(s)
        t = operator(rest)
        size = vdot(t, t)
        omega = vdot(t, s) / where(size == 0, 1, size)
        x = x + alpha * direction + where(half, 0, omega) * rest
        r = where(half, s, s - omega * t)
        failed = logical_and(~half, (new == 0) | (alpha == 0) | (omega == 0))
        return x, r, p, q, alpha, where(half, one, omega), new, where(failed, -1, k + 1)

    nothing = zeros_like(shadow)
    return while_loop(going, step, (x, shadow, nothing, nothing, one, one, one, 0))[0]


# ---- generalised minimal residuals


def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Any = None,
    solve_method: str = "batched",
) -> tuple[Any, Array]:
    """Solve `A x = b` by least residuals in Krylov spaces of `restart` dimensions, for any A.

    The other arguments are those of `cg`; `maxiter` counts the spaces. `solve_method`, "batched" or
    "incremental", is how JAX finds the least residual: both give the same here. Gives x and 0, or
    -1 if x is NaN. Source: ``jax.scipy.sparse.linalg.gmres``; Saad and Schultz (1986).

    >>> import arrayport.numpy as anp
    >>> gmres(anp.array([[1.0, 1.0], [0.0, 2.0]]), anp.ones(2))[0].round(3)
    Array([0.5, 0.5], dtype=float32)
    """
    if solve_method not in {"batched", "incremental"}:
        raise ValueError(f"solve_method {solve_method!r} must be 'batched' or 'incremental'")
    problem = _problem(A, b, x0, maxiter, M)
    dimensions = min(restart, sum(x.size for x in tree_leaves(problem.b)))
    x = problem.solve(_minimal, tol=tol, atol=atol, dimensions=dimensions)
    failed = isnan(sum(_square(leaf.reshape(-1)) for leaf in tree_leaves(x)))
    return x, where(failed, -1, 0)


def _minimal(
    operator: Operator,
    inverse: Operator,
    b: Array,
    x: Array,
    steps: Any,
    tol: Any,
    atol: Any,
    dimensions: int,
) -> Array:
    enough = sqrt(_bound(b, tol, atol))
    least = finfo(b.dtype).eps

    def unit(v: Array, threshold: Any) -> tuple[Array, Array]:
        """Give the direction and the length of a vector; of one that is too short, 0."""
        length = sqrt(_square(v))
        known = length > threshold
        return where(known, v / where(known, length, 1), 0), where(known, length, 0)

    def grow(k: Any, state: Any) -> Any:
        """Add a direction to the basis, orthogonalised twice."""
        basis, overlaps = state
        v = inverse(operator(basis[:, k]))
        size = sqrt(_square(v))
        first = conj(basis.T) @ v
        v = v - basis @ first
        second = conj(basis.T) @ v
        v, length = unit(v - basis @ second, least * size)
        column = (first + second).at[k + 1].set(length.astype(basis.dtype))
        return basis.at[:, k + 1].set(v), overlaps.at[:, k].set(column)

    def restarted(state: Any) -> Any:
        x, direction, length, k = state
        basis = zeros((b.size, dimensions + 1), b.dtype).at[:, 0].set(direction)
        overlaps = zeros((dimensions + 1, dimensions), b.dtype)
        basis, overlaps = fori_loop(0, dimensions, grow, (basis, overlaps))
        wanted = zeros(dimensions + 1, b.dtype).at[0].set(length.astype(b.dtype))
        x = x + basis[:, :-1] @ linalg.lstsq(overlaps, wanted)[0]
        return x, *unit(inverse(b - operator(x)), least), k + 1

    start = (x, *unit(inverse(b - operator(x)), least), 0)

    def going(state: Any) -> Array:
        return logical_and(state[3] < steps, state[2] > enough)

    return while_loop(going, restarted, start)[0]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("scipy.sparse.linalg", name)
