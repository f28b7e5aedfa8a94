"""Minimization of smooth functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from arrayport.control.loops import while_loop
from arrayport.core.array import Array
from arrayport.core.names import absent
from arrayport.numpy import eye, inf, isfinite, linalg, logical_and, outer, where
from arrayport.ops.promotion import inexact, lift
from arrayport.transforms.reverse import value_and_grad

__all__ = ["OptimizeResults", "minimize"]

# What Armijo's condition asks of the value, and the curvature condition of the slope.
ENOUGH, FLAT = 1e-4, 0.9
CONVERGED, OUT_OF_STEPS, NO_STEP = 0, 1, 5


class OptimizeResults(NamedTuple):
    """What `minimize` found. Source: ``jax.scipy.optimize.OptimizeResults``.

    x         the point; fun and jac are the value and the gradient there
    success   whether the gradient is as small as was asked for
    status    0 if so, 1 after too many steps, 5 where no step led on
    hess_inv  an estimate of the inverse of the second derivative
    nfev      evaluations of the function; njev of its gradient; nit steps
    """

    x: Array
    success: Array
    status: Array
    fun: Array
    jac: Array
    hess_inv: Array | None
    nfev: Array
    njev: Array
    nit: Array


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """Minimize `fun(x, *args)` over vectors x, from x0 on; `method` is "BFGS".

    Options are `maxiter` (200 steps for each element of x), `gtol` (1e-5, which `tol` replaces, of
    the gradient's norm), `norm` (its order, infinity) and `line_search_maxiter` (30). It compiles,
    and may be mapped. Raises ValueError for another method, option or shape. Source:
    ``jax.scipy.optimize.minimize``; Nocedal and Wright, "Numerical Optimization" (2006), 6.1.

    >>> import arrayport.numpy as anp
    >>> found = minimize(lambda x: ((x - anp.arange(2)) ** 2).sum(), anp.ones(2), method="BFGS")
    >>> found.x, bool(found.success)
    (Array([0., 1.], dtype=float32), True)
    """
    if not isinstance(args, tuple):
        raise TypeError(f"args must be a tuple, not {type(args).__name__}: write (value,)")
    if method.lower() != "bfgs":
        raise ValueError(f"method {method!r} is not here: use 'BFGS'")
    chosen = dict(options or {})
    if tol is not None:
        chosen.setdefault("gtol", tol)
    unknown = chosen.keys() - {"maxiter", "gtol", "norm", "line_search_maxiter"}
    if unknown:
        raise ValueError(f"options {sorted(unknown)} are unknown to BFGS")
    x = inexact(lift(x0, None, "x0"))
    if len(x.shape) != 1:
        raise ValueError(f"x0 must be a vector, not of shape {x.shape}: ravel it")
    return _bfgs(value_and_grad(lambda v: fun(v, *args)), x, **chosen)


def _bfgs(
    both: Callable[[Array], tuple[Array, Array]],
    x: Array,
    maxiter: int | None = None,
    gtol: float = 1e-5,
    norm: Any = inf,
    line_search_maxiter: int = 30,
) -> OptimizeResults:
    steps = 200 * x.size if maxiter is None else maxiter

    def steep(g: Array) -> Array:
        return linalg.norm(g, ord=norm) > gtol

    def going(state: Any) -> Array:
        _, _, g, _, k, _, failed = state
        return logical_and(steep(g) & (k < steps), ~failed)

    def step(state: Any) -> Any:
        x, f, g, inverse, k, calls, _ = state
        p = -inverse @ g
        t, new_f, new_g, found, tried = _line_search(both, x, f, g, p, line_search_maxiter)
        moved, turned = t * p, new_g - g
        curvature = moved @ turned
        safe = where(curvature > 0, curvature, 1)
        rate = eye(x.size, dtype=x.dtype) - outer(moved, turned) / safe
        better = rate @ inverse @ rate.T + outer(moved, moved) / safe
        inverse = where(found & (curvature > 0), better, inverse)
        x = where(found, x + moved, x)
        f, g = where(found, new_f, f), where(found, new_g, g)
        return x, f, g, inverse, k + 1, calls + tried, ~found

    f, g = both(x)
    start = (x, f, g, eye(x.size, dtype=x.dtype), 0, 1, ~isfinite(f))
    x, f, g, inverse, k, calls, failed = while_loop(going, step, start)
    done = ~steep(g) & isfinite(f)
    status = where(done, CONVERGED, where(failed, NO_STEP, OUT_OF_STEPS))
    return OptimizeResults(x, done, status, f, g, inverse, calls, calls, k)


def _line_search(
    both: Callable[[Array], tuple[Array, Array]],
    x: Array,
    f: Array,
    g: Array,
    p: Array,
    most: int,
) -> tuple[Array, Array, Array, Array, Array]:
    """Find a step that meets the weak Wolfe conditions, by doubling and halving.

    A. Lewis and M. Overton, "Nonsmooth optimization via quasi-Newton methods" (2013), 2.6. Gives
    the step, value and gradient there, whether it was found, and how many were tried.
    """
    slope = g @ p

    def going(state: Any) -> Array:
        *_, found, tried = state
        return logical_and(~found, tried < most)

    def narrow(state: Any) -> Any:
        low, high, t, _, _, _, tried = state
        value, gradient = both(x + t * p)
        # A value that is not finite is too far away.
        falls = value <= f + ENOUGH * t * slope
        flat = gradient @ p >= FLAT * slope
        found = falls & flat
        low, high = where(falls & ~flat, t, low), where(falls, high, t)
        wider = where(isfinite(high), (low + high) / 2, 2 * low)
        return low, high, where(found, t, wider), value, gradient, found, tried + 1

    nothing = slope * 0
    start = (nothing, nothing + inf, nothing + 1, f, g, slope > 0, 0)
    _, _, t, value, gradient, found, tried = while_loop(going, narrow, start)
    return t, value, gradient, found & (slope <= 0), tried


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("scipy.optimize", name)
