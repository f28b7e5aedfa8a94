"""JAX's own solvers with derivatives of what they solve, for functions of arrayport's Arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax import lax

from arrayport_backends.jax.faults import translating
from arrayport_backends.jax.leaves import OURS, Kinds, Seen, call, rewrap, unwrap

Function = Callable[..., Any]


@translating
def custom_linear_solve(
    matvec: Function,
    b: Any,
    solve: Function,
    transpose_solve: Function | None,
    symmetric: bool,
    has_aux: bool,
) -> Any:
    """Solve a linear system, as `jax.lax.custom_linear_solve` does."""
    raws, kinds = unwrap(b)
    transposed = None if transpose_solve is None else _solver(transpose_solve, kinds)
    out = lax.custom_linear_solve(
        *(Seen(matvec, kinds), raws, _solver(solve, kinds), transposed, symmetric, has_aux)
    )
    return _solution(out, kinds, has_aux)


@translating
def custom_root(
    f: Function, initial_guess: Any, solve: Function, tangent_solve: Function, has_aux: bool
) -> Any:
    """Find a root, as `jax.lax.custom_root` does."""
    raws, kinds = unwrap(initial_guess)
    solvers = _solver(solve, kinds), _solver(tangent_solve, kinds)
    out = lax.custom_root(Seen(f, kinds), raws, *solvers, has_aux=has_aux)
    return _solution(out, kinds, has_aux)


def _solver(solve: Function, kinds: Kinds) -> Function:
    """Make a user's solver one that JAX can call: with a function of raw values, and raw values."""

    def solved(function: Function, b: Any) -> Any:
        def lifted(x: Any) -> Any:
            return rewrap(function(unwrap(x)[0]), kinds)

        return unwrap(call(solve, (lifted, rewrap(b, kinds)), {}))[0]

    return solved


def _solution(out: Any, kinds: Kinds, has_aux: bool) -> Any:
    kinds = kinds or OURS
    return (rewrap(out[0], kinds), rewrap(out[1], OURS)) if has_aux else rewrap(out, kinds)
