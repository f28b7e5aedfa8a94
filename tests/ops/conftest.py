"""What the tests of operations share: 64-bit types, and JAX as the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp


@pytest.fixture(autouse=True)
def _wide() -> Iterator[None]:
    with ap.config.override("enable_x64", True):
        yield


def _compare(ours: Any, theirs: Any) -> None:
    ours, theirs = (list(o) if isinstance(o, tuple | list) else [o] for o in (ours, theirs))
    for a, b in zip(map(np.asarray, ours), map(np.asarray, theirs), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        fine = a.dtype.itemsize > 4 or a.dtype.kind in "biu"
        wide = a.dtype if a.dtype.kind in "biufc" else np.float32
        np.testing.assert_allclose(
            a.astype(wide), b.astype(wide), rtol=1e-11 if fine else 1e-5, atol=1e-12
        )


@pytest.fixture
def same_as_jax() -> Iterator[Callable[..., None]]:
    """Compare a function with JAX's: value, compiled, batched, derivatives to second order."""
    jax = pytest.importorskip("jax", reason="JAX is the oracle of derivatives")

    def check(ours: Any, theirs: Any, *xs: np.ndarray, order: int = 2, batch: bool = True) -> None:
        # Jitted, and a batch as a loop: JAX compiles what it is asked for once, not op by op.
        theirs = jax.jit(theirs)
        mine, its = [anp.asarray(x) for x in xs], [jax.numpy.asarray(x) for x in xs]
        _compare(ours(*mine), theirs(*its))
        _compare(ap.jit(ours)(*mine), theirs(*its))
        for axes in product((None, 0, -1), repeat=len(xs) if batch else 0):
            if any(a is not None for a in axes):
                others = [x[::-1] if x.ndim else x + 1 for x in xs]
                rows = [
                    [x if a is None else y for x, y, a in zip(xs, ys, axes, strict=True)]
                    for ys in (xs, others, xs)
                ]
                stacks = [
                    x if a is None else np.stack(parts, a)
                    for x, parts, a in zip(xs, zip(*rows, strict=True), axes, strict=True)
                ]
                looped = [theirs(*map(jax.numpy.asarray, row)) for row in rows]
                made = ap.vmap(ours, axes)(*map(anp.asarray, stacks))
                _compare(made, jax.tree.map(lambda *outs: np.stack(outs), *looped))
        smooth = [i for i, x in enumerate(xs) if x.dtype.kind in "fc"]
        if not order or not smooth:
            return
        f, g = _smooth_part(ours, mine, smooth), _smooth_part(theirs, its, smooth)
        rng = np.random.default_rng(0)
        ts = [_random(rng, xs[i]) for i in smooth]
        cts = [_random(rng, np.asarray(o)) for o in g(*[its[i] for i in smooth])]

        def known(*groups: Any) -> list[Any]:
            return _derivatives(jax, g, *groups, order)

        found = _derivatives(ap, f, [mine[i] for i in smooth], *_as(anp, ts, cts), order)
        groups = [its[i] for i in smooth], *_as(jax.numpy, ts, cts)
        _compare(found, jax.jit(known)(*groups))

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield check
    jax.config.update("jax_enable_x64", before)


def _as(library: Any, *groups: list[np.ndarray]) -> list[list[Any]]:
    return [[library.asarray(x) for x in group] for group in groups]


def _derivatives(library: Any, f: Any, xs: Any, ts: Any, cts: Any, order: int) -> list[Any]:
    """Push tangents, pull cotangents, and push tangents through the pull."""

    def pull(*ps: Any) -> Any:
        return library.vjp(f, *ps)[1](cts)

    pushed = library.jvp(f, xs, ts)[1]
    second = library.jvp(pull, xs, ts)[1] if order > 1 else ()
    return [*pushed, *pull(*xs), *second]


def _smooth_part(function: Any, arrays: list[Any], smooth: list[int]) -> Callable[..., list[Any]]:
    """Make it a function of its inexact operands alone, to its inexact outputs alone."""

    def part(*xs: Any) -> list[Any]:
        whole = list(arrays)
        for i, x in zip(smooth, xs, strict=True):
            whole[i] = x
        outs = function(*whole)
        outs = outs if isinstance(outs, tuple | list) else [outs]
        return [o for o in outs if np.dtype(o.dtype).kind in "fc"]

    return part


def _random(rng: np.random.Generator, like: np.ndarray) -> np.ndarray:
    parts = rng.standard_normal((2, *like.shape))
    return (parts[0] + 1j * parts[1] if like.dtype.kind == "c" else parts[0]).astype(like.dtype)
