"""custom_linear_solve and custom_root: solvers whose derivatives come from what they solve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayport.control.custom_rules import batched, linearized
from arrayport.control.flat import Staged, batched_programs, check_same, flatten, share_captures
from arrayport.core.array import Array, Aval, aval_of
from arrayport.core.dtypes import is_inexact
from arrayport.core.errors import NotDifferentiableError
from arrayport.core.primitive import Holder
from arrayport.core.program import Program, eval_program
from arrayport.core.tree import tree_flatten, tree_structure, tree_unflatten
from arrayport.ops.elementwise import neg
from arrayport.ops.structure import zeros
from arrayport.transforms.derived import jvp_program
from arrayport.transforms.engines import run_on_engine
from arrayport.transforms.forward import JVPTrace, JVPTracer
from arrayport.transforms.reverse import vjp

Solve = Callable[[Callable[[Any], Any], Any], Any]

# Operands of both: what the Programs captured (`free`, so many), then the right-hand side or the
# first guess. A Program takes `free` first. Outputs: the solution, then what the solver adds.


def _tangents(
    program: Program, ts: Sequence[Array | None], free: Sequence[Array], x: Sequence[Array]
) -> list[Array]:
    """Push tangents of what a Program captured through it, at x."""
    nonzero = tuple([t is not None for t in ts])
    mask = (*nonzero, *[False] * len(x))
    pushed, _ = jvp_program(program, mask, (True,) * len(program.outs))
    given = [t for t in ts if t is not None]
    return eval_program(pushed, [*free, *x, *given])[len(program.outs) :]


# ---- linear systems
# `matvec` and its transpose `vecmat`, each with what solves it; the transpose may be missing.


def _linear_jvp(
    ts: Sequence[Array | None], xs: Sequence[Array], params: dict[str, Any]
) -> tuple[list[Array], list[Array | None]]:
    """A x = b, so A dx = db - dA x."""
    n = params["free"]
    free, b = xs[:n], xs[n:]
    outs = linear_solve_p.bind(*xs, **params)
    rhs = [zeros(v) if t is None else t for v, t in zip(b, ts[n:], strict=True)]
    if any(t is not None for t in ts[:n]):
        moved = _tangents(params["matvec"], ts[:n], free, outs[: len(b)])
        rhs = [r - m for r, m in zip(rhs, moved, strict=True)]
    made = linear_solve_p.bind(*free, *rhs, **params)
    return outs, [*made[: len(b)], *[None] * (len(outs) - len(b))]


def _linear_linearize(
    nonzero: Sequence[bool], xs: Sequence[Array], params: dict[str, Any], forward: bool
) -> Any:
    n = params["free"]
    if forward or any(nonzero[:n]):
        return linearized(_linear_jvp, nonzero, xs, params, forward)
    if params["transpose"] is None:
        raise NotDifferentiableError(
            "custom_linear_solve needs transpose_solve, or symmetric=True, for reverse-mode "
            "derivatives"
        )
    outs = linear_solve_p.bind(*xs, **params)
    size = len(xs) - n
    vecmat, transposed = params["transpose"]
    other = {
        "matvec": vecmat,
        "solve": transposed,
        "transpose": (params["matvec"], params["solve"]),
        "free": n,
    }

    def pull(cts: Sequence[Array | None]) -> list[Array | None]:
        full = [zeros(o) if c is None else c for o, c in zip(outs[:size], cts, strict=False)]
        found = linear_solve_p.bind(*xs[:n], *full, **other)
        return [c for c, nz in zip(found[:size], nonzero[n:], strict=True) if nz]

    return outs, [i < size for i in range(len(outs))], pull


def _linear_batch(
    size: int, xs: Any, dims: Any, /, matvec: Program, solve: Program, transpose: Any, free: int
) -> Any:
    front, whole = batched_programs(size, xs, dims, free)
    outs = linear_solve_p.bind(
        *front,
        matvec=whole(matvec),
        solve=whole(solve),
        transpose=None if transpose is None else tuple([whole(p) for p in transpose]),
        free=free,
    )
    return outs, [0] * len(outs)


linear_solve_p = Holder(
    "custom_linear_solve",
    lambda *_xs, solve, **_params: solve.out_avals,
    _linear_batch,
    jvp=_linear_jvp,
    linearize=_linear_linearize,
    runs="solve",
)


def custom_linear_solve(
    matvec: Callable[[Any], Any],
    b: Any,
    solve: Solve,
    transpose_solve: Solve | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """Solve `matvec(x) = b`, with derivatives from the system and not from the solver's steps.

    b is a pytree; `matvec` is linear, maps such trees to such, and may capture values that are
    differentiated. `solve(matvec, b)` gives x, with `has_aux` a pair (x, anything more), and so
    does `transpose_solve` for the transposed system, which reverse mode needs; with `symmetric` it
    is the same one. Raises TypeError where a tree or type differs from b's. Source:
    ``jax.lax.custom_linear_solve``.

    >>> from arrayport import lax, grad
    >>> def halve(a):
    ...     return lax.custom_linear_solve(
    ...         lambda x: a * x, 1.0, lambda f, b: b / f(1.0), lambda f, b: b / f(1.0))
    >>> grad(halve)(2.0)
    Array(-0.25, dtype=float32, weak_type=True)
    """
    arguments = (matvec, b, solve, transpose_solve, symmetric, has_aux)
    return run_on_engine("custom_linear_solve", _custom_linear_solve, b, *arguments)


def _custom_linear_solve(
    matvec: Callable[[Any], Any],
    b: Any,
    solve: Solve,
    transpose_solve: Solve | None,
    symmetric: bool,
    has_aux: bool,
) -> Any:
    rhs, tree = flatten(b, "b of custom_linear_solve")
    avals, whole = [aval_of(x) for x in rhs], tree_structure((b,))

    def vecmat(y: Any) -> Any:
        nothing = tree_unflatten(tree, [zeros(v) for v in avals])
        return vjp(matvec, nothing)[1](y)[0]

    back, solve_back = (
        (matvec, transpose_solve or solve) if symmetric else (vecmat, transpose_solve)
    )
    maps: list[Staged] = [_map("matvec", matvec, whole, avals, tree)]
    solvers = [_solver("solve", solve, matvec, whole, avals, tree, has_aux)]
    if solve_back is not None:
        maps.append(_map("the transpose of matvec", back, whole, avals, tree))
        solvers.append(_solver("transpose_solve", solve_back, back, whole, avals, tree, has_aux))
    free, programs = share_captures([*maps, *solvers])
    applied, solved = programs[: len(maps)], programs[len(maps) :]
    outs = linear_solve_p.bind(
        *free,
        *rhs,
        matvec=applied[0],
        solve=solved[0],
        transpose=(applied[1], solved[1]) if solve_back is not None else None,
        free=len(free),
    )
    return tree_unflatten(solvers[0].out_tree, outs)


def _map(name: str, f: Callable[[Any], Any], whole: Any, avals: list[Aval], tree: Any) -> Staged:
    """Stage a function from trees like b to trees like b."""
    traced = Staged(f, whole, avals, f"an output of {name}", like=avals)
    advice = f"{name} must give what is like its argument"
    check_same(name, traced.out_tree, traced.program.out_avals, tree, avals, advice, weak=False)
    return traced


def _solver(
    name: str,
    solve: Solve,
    f: Callable[[Any], Any],
    whole: Any,
    avals: list[Aval],
    tree: Any,
    has_aux: bool,
) -> Staged:
    """Stage a solver of a function."""

    def solved(b: Any) -> Any:
        out = solve(f, b)
        if has_aux and not (isinstance(out, tuple | list) and len(out) == 2):
            raise TypeError(f"{name} with has_aux must give a pair (solution, more), not {out!r}")
        return out

    traced = Staged(solved, whole, avals, f"an output of {name}", like=avals)
    made = tree_unflatten(traced.out_tree, traced.program.out_avals)
    found = made[0] if has_aux else made
    leaves, own = tree_flatten(found, is_leaf=_is_type)
    advice = f"{name} must give a solution that is like what it is given"
    check_same(name, own, leaves, tree, avals, advice, weak=False)
    return traced


def _is_type(x: Any) -> bool:
    return isinstance(x, Aval)


# ---- roots


def _root_jvp(
    ts: Sequence[Array | None], xs: Sequence[Array], params: dict[str, Any]
) -> tuple[list[Array], list[Array | None]]:
    """f(x, free) = 0, so the derivative of f by x takes dx to minus that by what is free."""
    n = params["free"]
    free, count = xs[:n], len(xs) - n
    outs = root_p.bind(*xs, **params)
    if not any(t is not None for t in ts[:n]):
        return outs, [None] * len(outs)
    x = outs[:count]
    moved = _tangents(params["f"], ts[:n], free, x)
    made = [neg(t) for t in params["tangent"](*free, *x, *moved)]
    return outs, [
        t if is_inexact(o.dtype) else None
        for o, t in zip(outs, [*made, *[None] * (len(outs) - count)], strict=True)
    ]


def _root_batch(
    size: int,
    xs: Any,
    dims: Any,
    /,
    f: Program,
    solve: Program,
    tangent: Callable[..., list[Array]],
    free: int,
) -> Any:
    front, whole = batched_programs(size, xs, dims, free)
    count = 2 * (len(xs) - free)
    places = [*[None if d is None else 0 for d in dims[:free]], *[0] * count]
    outs = root_p.bind(
        *front,
        f=whole(f),
        solve=whole(solve),
        tangent=batched(tangent, size, places, lambda marks: [True] * len(marks)),
        free=free,
    )
    return outs, [0] * len(outs)


root_p = Holder(
    "custom_root",
    lambda *_xs, solve, **_params: solve.out_avals,
    _root_batch,
    jvp=_root_jvp,
    linearize=lambda *args: linearized(_root_jvp, *args),
    runs="solve",
)


def custom_root(
    f: Callable[[Any], Any],
    initial_guess: Any,
    solve: Solve,
    tangent_solve: Solve,
    has_aux: bool = False,
) -> Any:
    """Find a root of f, with derivatives by the values that f captured, from the root alone.

    The guess is a pytree, and f maps such trees to such. `solve(f, initial_guess)` gives the root,
    with `has_aux` a pair (root, anything more). `tangent_solve(g, y)` gives the x of `g(x) = y` for
    a linear g, by operations that have derivatives. Raises TypeError where a tree or type differs
    from the guess's. Source: ``jax.lax.custom_root``.

    >>> from arrayport import lax, grad
    >>> def root(a):  # by Newton's steps
    ...     step = lambda i, x: (x + a / x) / 2
    ...     return lax.custom_root(lambda x: x * x - a, 1.0,
    ...                            lambda f, x: lax.fori_loop(0, 6, step, x),
    ...                            lambda g, y: y / g(1.0))
    >>> float(round(root(4.0), 4)), float(round(grad(root)(4.0), 4))
    (2.0, 0.25)
    """
    arguments = (f, initial_guess, solve, tangent_solve, has_aux)
    return run_on_engine("custom_root", _custom_root, initial_guess, *arguments)


def _custom_root(
    f: Callable[[Any], Any], initial_guess: Any, solve: Solve, tangent_solve: Solve, has_aux: bool
) -> Any:
    guess, tree = flatten(initial_guess, "initial_guess of custom_root")
    avals, whole = [aval_of(x) for x in guess], tree_structure((initial_guess,))
    traced = _map("f", f, whole, avals, tree)
    solver = _solver("solve", solve, f, whole, avals, tree, has_aux)
    free, (function, solving) = share_captures([traced, solver])
    n, count = len(free), len(guess)

    def tangent(*given: Array) -> list[Array]:
        captured, x, rhs = given[:n], given[n : n + count], given[n + count :]

        def linear(v: Any) -> Any:
            trace = JVPTrace()
            ins = [
                JVPTracer(trace, a, t) for a, t in zip(x, flatten(v, "the unknown")[0], strict=True)
            ]
            pairs = [trace.pair(o) for o in eval_program(function, [*captured, *ins])]
            return tree_unflatten(tree, [zeros(o) if t is None else t for o, t in pairs])

        found = tangent_solve(linear, tree_unflatten(tree, rhs))
        return flatten(found, "an output of tangent_solve")[0]

    outs = root_p.bind(*free, *guess, f=function, solve=solving, tangent=tangent, free=n)
    return tree_unflatten(solver.out_tree, outs)
