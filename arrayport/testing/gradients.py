"""Whether derivatives are those that finite differences show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from arrayport import numpy as anp
from arrayport.core import dtypes
from arrayport.core.tree import tree_flatten, tree_leaves, tree_unflatten
from arrayport.transforms.reverse import jvp, vjp

MODES = ("fwd", "rev")
Function = Callable[..., Any]


def check_grads(
    f: Function,
    args: Sequence[Any],
    order: int,
    modes: str | Sequence[str] = MODES,
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Compare derivatives up to an order with central differences, along one random direction.

    `args` are pytrees of real floating arrays; other arguments belong into a closure. `modes`:
    "fwd" is jvp, "rev" vjp. Elements of the output at kinks are left out. The
    tolerances and the step follow from the dtype unless given: float64 shows more. Raises
    AssertionError that names the mode and the order. Source: ``jax.test_util.check_grads``.

    >>> import arrayport.numpy as anp
    >>> check_grads(anp.tanh, (anp.array([0.5, -1.0]),), order=2)
    """
    leaves, tree = tree_flatten(tuple(args))
    xs = [anp.asarray(x) for x in leaves]
    for x in xs:
        if not dtypes.is_floating(x.dtype):
            raise TypeError(f"check_grads takes real floating arrays, not {x.dtype}")
    chosen = (modes,) if isinstance(modes, str) else tuple(modes)
    unknown = [mode for mode in chosen if mode not in MODES]
    if unknown:
        raise ValueError(f"mode {unknown[0]!r} of check_grads must be 'fwd' or 'rev'")
    unit = max([dtypes.finfo(x.dtype).eps for x in xs], default=1e-7)
    step = unit ** (1 / 3) if eps is None else eps
    limit = 100 * unit ** (2 / 3)
    limits = (limit if atol is None else atol, limit if rtol is None else rtol)
    _check(lambda *ys: f(*tree_unflatten(tree, ys)), xs, order, chosen, limits, step, "")


def _check(
    f: Function,
    xs: list[Any],
    order: int,
    modes: Sequence[str],
    limits: tuple[float, float],
    step: float,
    path: str,
) -> None:
    rng = np.random.default_rng(0)
    ts = [anp.asarray(rng.standard_normal(x.shape), dtype=x.dtype) for x in xs]
    slopes = _differences(f, xs, ts, step, max(limits))
    for mode in modes:
        here = f"{path}{mode}"
        if mode == "fwd":
            derived = partial(_pushed, f, ts)
            _compare(_host(derived(*xs)), slopes, limits, here)
        else:
            outs = tree_leaves(f(*xs))
            noise = [rng.standard_normal(y.shape) for y in outs]
            cts = [  # none of what is left out
                anp.asarray(np.where(np.isfinite(s), n, 0), dtype=y.dtype)
                for n, s, y in zip(noise, slopes, outs, strict=True)
            ]
            derived = partial(_pulled, f, cts)
            pulled = sum(np.vdot(g, t) for g, t in zip(_host(derived(*xs)), _host(ts), strict=True))
            smooth = [np.nan_to_num(s) for s in slopes]
            if np.isfinite(pulled) or all(np.isfinite(s).all() for s in slopes):
                pushed = sum(np.vdot(c, s) for c, s in zip(_host(cts), smooth, strict=True))
                _compare([np.asarray(pulled)], [np.asarray(pushed)], limits, here)
        if order > 1:
            _check(derived, xs, order - 1, modes, limits, step, f"{here} of ")


def _pushed(f: Function, ts: list[Any], *xs: Any) -> list[Any]:
    return tree_leaves(jvp(lambda *ys: tree_leaves(f(*ys)), tuple(xs), tuple(ts))[1])


def _pulled(f: Function, cts: list[Any], *xs: Any) -> list[Any]:
    return list(vjp(lambda *ys: tree_leaves(f(*ys)), *xs)[1](cts))


def _host(xs: Sequence[Any]) -> list[Any]:
    return [np.asarray(x).astype(np.float64) for x in xs]


def _differences(f: Function, xs: list[Any], ts: list[Any], step: float, limit: float) -> list[Any]:
    """Central differences along a direction; NaN at kinks and where values are not finite.

    The slopes ahead and behind differ by what shrinks with the step, but not at a kink.
    """

    def at(size: float) -> list[Any]:
        return _host(tree_leaves(f(*[x + size * t for x, t in zip(xs, ts, strict=True)])))

    found = []
    points = [at(size) for size in (0.0, step, -step, 3 * step, -3 * step)]
    with np.errstate(invalid="ignore"):
        for here, *moved in zip(*points, strict=True):
            slope = (moved[0] - moved[1]) / (2 * step)
            near, far = (
                np.abs(a + b - 2 * here) / size
                for a, b, size in ((*moved[:2], step), (*moved[2:], 3 * step))
            )
            size = np.max(np.abs(slope), initial=0, where=np.isfinite(slope))
            found.append(np.where(near <= 0.6 * far + limit * (1 + size), slope, np.nan))
    return found


def _compare(
    found: list[Any], expected: list[Any], limits: tuple[float, float], where: str
) -> None:
    atol, rtol = limits
    for number, (a, b) in enumerate(zip(found, expected, strict=True)):
        known = np.isfinite(b)
        size = np.max(np.abs(b[known]), initial=0)
        wrong = known & ~(np.abs(a - b) <= atol + rtol * size)
        if wrong.any():
            place = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(wrong)))
            raise AssertionError(
                f"the derivative {where} of output {number} is {np.atleast_1d(a)[place]:.9g} at "
                f"{place}, finite differences show {np.atleast_1d(b)[place]:.9g}"
            )
