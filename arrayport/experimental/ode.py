"""Ordinary differential equations: steps by Dormand and Prince, gradients by the adjoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import Any

from arrayport.control.closures import closure_convert
from arrayport.control.custom_vjp import custom_vjp
from arrayport.control.loops import while_loop
from arrayport.control.scanning import scan
from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.tree import tree_map
from arrayport.flatten_util import ravel_pytree
from arrayport.numpy.creation import asarray, zeros_like
from arrayport.numpy.elementwise import abs as magnitude
from arrayport.numpy.elementwise import clip, power, sqrt
from arrayport.numpy.joins import concatenate, stack
from arrayport.numpy.products import dot
from arrayport.numpy.reductions import mean
from arrayport.numpy.searching import where
from arrayport.ops.elementwise import maximum, minimum
from arrayport.transforms.batching import vmap
from arrayport.transforms.reverse import vjp

__all__ = ["odeint"]

# The pair of orders 5 and 4 of Dormand and Prince (1980): nodes, stages, error, middle of the step.
NODES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERROR = (
    35 / 384 - 1951 / 21600,
    0,
    500 / 1113 - 22642 / 50085,
    125 / 192 - 451 / 720,
    -2187 / 6784 + 12231 / 42400,
    11 / 84 - 649 / 6300,
    -1 / 60,
)
MIDDLE = (
    6025192743 / 30085553152 / 2,
    0,
    51252292925 / 65400821598 / 2,
    -2691868925 / 45128329728 / 2,
    187940372067 / 1594534317056 / 2,
    -1776094331 / 19743644256 / 2,
    11237099 / 235043384 / 2,
)
ORDER = 5
SAFETY, LEAST, MOST = 0.9, 0.2, 10.0  # how a step may change

Field = Callable[..., Any]


Settings = tuple[float, float, float, float]  # rtol, atol, mxstep, hmax

# ---- one step


def _combined(weights: Sequence[float], slopes: Sequence[Array]) -> Array:
    parts = [w * k for w, k in zip(weights, slopes, strict=True) if w]
    return sum(parts[1:], start=parts[0])


def _step(field: Field, y: Array, f: Array, t: Array, h: Array) -> tuple[Array, ...]:
    """Give the next y and its slope, what the order 4 has less, and y in the middle."""
    slopes = [f]
    for node, row in zip(NODES, STAGES, strict=True):
        last = y + h * _combined(row, slopes)
        slopes.append(field(last, t + node * h))
    return last, slopes[-1], h * _combined(ERROR, slopes), y + h * _combined(MIDDLE, slopes)


def _quartic(y: Array, f: Array, y1: Array, f1: Array, middle: Array, h: Array) -> Array:
    """Give the polynomial through a step's ends and middle: coefficients of falling powers."""
    a = 2 * h * (f1 - f) - 8 * (y + y1) + 16 * middle
    b = h * (5 * f - 3 * f1) + 18 * y + 14 * y1 - 32 * middle
    c = h * (f1 - 4 * f) - 11 * y - 5 * y1 + 16 * middle
    return stack([a, b, c, h * f, y])


def _norm(x: Array) -> Array:
    return sqrt(mean(magnitude(x) ** 2))


def _first_step(field: Field, y: Array, f: Array, t: Array, settings: Settings) -> Array:
    """Guess a step (Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, II.4)."""
    rtol, atol, _, _ = settings
    scale = atol + rtol * magnitude(y)
    size, slope = _norm(y / scale), _norm(f / scale)
    small = (size < 1e-5) | (slope < 1e-5)
    guess = where(small, 1e-6, 0.01 * size / where(small, 1.0, slope))
    bend = _norm((field(y + guess * f, t + guess) - f) / scale) / guess
    most = maximum(slope, bend)
    flat = most <= 1e-15
    wide = power(0.01 / where(flat, 1.0, most), 1 / ORDER)
    return minimum(100 * guess, where(flat, maximum(1e-6, guess * 1e-3), wide))


def _next_step(h: Array, ratio: Array, hmax: float) -> Array:
    factor = SAFETY * power(where(ratio == 0, 1.0, ratio), -1 / ORDER)
    factor = clip(factor, where(ratio < 1, 1.0, LEAST), MOST)
    return clip(h * where(ratio == 0, MOST, factor), 0.0, hmax)


# ---- the whole


@partial(custom_vjp, nondiff_argnums=(0, 1))
def _solve(field: Field, settings: Settings, y0: Array, times: Array, args: Any) -> Array:
    rtol, atol, mxstep, hmax = settings

    def slope(y: Array, t: Array) -> Array:
        return field(y, t, *args)

    def advance(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        n, y, f, t, h, start, width, quartic, end = carry
        y1, f1, error, middle = _step(slope, y, f, t, h)
        ratio = _norm(error / (atol + rtol * maximum(magnitude(y), magnitude(y1))))
        good = ratio <= 1
        fresh = y1, f1, t + h, t, h, _quartic(y, f, y1, f1, middle, h)
        kept = y, f, t, start, width, quartic
        y, f, t, start, width, quartic = (
            where(good, a, b) for a, b in zip(fresh, kept, strict=True)
        )
        return n + 1, y, f, t, _next_step(h, ratio, hmax), start, width, quartic, end

    def unfinished(carry: tuple[Array, ...]) -> Array:
        n, _, _, t, h, *_, end = carry
        return (t < end) & (n < mxstep) & (h > 0)

    def interval(carry: tuple[Array, ...], end: Array) -> tuple[tuple[Array, ...], Array]:
        state = while_loop(unfinished, advance, (zeros_like(end, int), *carry, end))[1:-1]
        *_, start, width, quartic = state
        place = (end - start) / width
        y = quartic[0]
        for part in quartic[1:]:
            y = y * place + part
        return state, y

    f0 = slope(y0, times[0])
    h0 = clip(_first_step(slope, y0, f0, times[0], settings).astype(times.dtype), 0.0, hmax)
    quartic = stack([zeros_like(y0)] * 4 + [y0])
    carry = y0, f0, times[0], h0, times[0], h0, quartic
    _, ys = scan(interval, carry, times[1:])
    return concatenate([y0[None], ys])


def _forward(field: Field, settings: Settings, y0: Array, times: Array, args: Any) -> Any:
    ys = _solve(field, settings, y0, times, args)
    return ys, (ys, times, args)


def _backward(field: Field, settings: Settings, kept: Any, cts: Array) -> Any:
    """Solve the adjoint equation from each time to the one before, in s = -t."""
    ys, times, args = kept
    rtol, atol, mxstep, hmax = settings

    def adjoint(state: Any, s: Array, *args: Any) -> Any:
        y, ct, *_ = state
        f, pull = vjp(field, y, -s, *args)
        return -f, *pull(ct)

    def interval(carry: Any, given: tuple[Array, ...]) -> tuple[Any, Array]:
        y, t, before, ct, ct_before = given
        y_ct, t_ct, *args_cts = carry
        moved = dot(field(y, t, *args), ct)
        state = y, y_ct, t_ct - moved, *args_cts
        span = stack([-t, -before])
        options = {"rtol": rtol, "atol": atol, "mxstep": mxstep, "hmax": hmax}
        _, y_ct, *rest = tree_map(lambda x: x[1], odeint(adjoint, state, span, *args, **options))
        return (y_ct + ct_before, *rest), moved

    start = cts[-1], zeros_like(times[0]), *tree_map(zeros_like, args)
    steps = ys[1:], times[1:], times[:-1], cts[1:], cts[:-1]
    (y_ct, t_ct, *args_cts), moved = scan(interval, start, steps, reverse=True)
    return y_ct, concatenate([t_ct[None], moved]), tuple(args_cts)


_solve.defvjp(_forward, _backward)


def odeint(
    func: Field,
    y0: Any,
    t: Any,
    *args: Any,
    rtol: float = 1.4e-8,
    atol: float = 1.4e-8,
    mxstep: float = inf,
    hmax: float = inf,
    **scipys: Any,
) -> Any:
    """Solve dy/dt = func(y, t, *args) from y(t[0]) = y0, adaptively, and give y at each t.

    `y0` is a pytree of floats, whose leaves gain an axis in front, of `t`; `t` ascends strictly.
    Differentiable in y0, t and args (pytrees of floats), in reverse mode: the adjoint equation is
    solved backwards. Each interval takes at most `mxstep` steps of at most `hmax`. SciPy's
    spelling `args=(...)` means the same. Raises TypeError for other names and for a `t` without
    an axis. Source: ``jax.experimental.ode.odeint``.

    >>> import arrayport.numpy as anp
    >>> odeint(lambda y, t: -y, 1.0, anp.array([0.0, 1.0]), rtol=1e-5, atol=1e-5).round(3)
    Array([1.   , 0.368], dtype=float32)
    """
    more = scipys.pop("args", ())
    if scipys:
        raise TypeError(
            f"odeint has no arguments {', '.join(scipys)}: it takes rtol, atol, mxstep, hmax, args"
        )
    args = (*args, *(more if isinstance(more, tuple) else (more,)))
    start, rebuild = ravel_pytree(tree_map(asarray, y0))
    times = asarray(t, dtypes.real_dtype(start.dtype))
    if len(times.shape) != 1 or not times.size:
        raise TypeError(
            f"odeint: t must have one axis with the first time, not shape {times.shape}"
        )
    settings = rtol, atol, mxstep, hmax

    def flat(y: Array, t: Array, *args: Any) -> Array:
        return ravel_pytree(func(rebuild(y), t, *args))[0]

    field, hidden = closure_convert(flat, start, times[0], *args)
    ys = _solve(field, settings, start, times, (*tree_map(asarray, args), *hidden))
    return vmap(rebuild)(ys)
