"""Group `eager`: operations and transformations of 8 elements on NumPy, beside NumPy and others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.libraries import Library, library
from benchmarks.rows import OURS, Contender, Row

US = 1e-6
X = np.arange(8.0) / 8
MATRIX = np.arange(80.0).reshape(8, 10)
PEERS = ("numpy", "jax", "autograd")
TRANSFORMING = ("jax", "autograd")
READS = 200
OPERATIONS = 99  # thirty-three times three

Make = Callable[[Library], Contender | Callable[[], Any] | None]


def rows() -> list[Row]:
    return [
        _row("add", "x + x", 1.1, lambda lib: _on(lib, lambda x: x + x)),
        _row("sin", "sin(x)", 1.1, lambda lib: _on(lib, lib.numpy.sin)),
        _row("sum", "sum(x)", 1.8, lambda lib: _on(lib, lib.numpy.sum)),
        _row("slice", "x[2:5]", 1.2, lambda lib: _on(lib, lambda x: x[2:5])),
        _row("at-set", "x.at[1].set(2.0)", 2.5, _set, ("numpy", "jax")),
        _row("matmul", "4x4 @ 4x4", 1.8, lambda lib: _on(lib, lambda m: m @ m, np.ones((4, 4)))),
        _row("grad", "grad(sum(sin(x) * x))", 20, _grad),
        _row("grad-grad", "grad(sum(grad(sum(sin(x) * x))))", 65, _grad_grad, TRANSFORMING),
        _row("grad-grad-1", "grad(grad(sin(x) * x)), x a scalar", 65, _second, TRANSFORMING),
        _row("grad-100", "grad of 100 operations", None, _grad_chain, TRANSFORMING),
        _row("trace-op", "make_jaxpr(grad of 100), an operation", 15, _trace, ("jax",), ulps=None),
        _row(
            "trace-equation",
            "the same, an equation made",
            5,
            partial(_trace, equations=True),
            ("jax",),
            ulps=None,
        ),
        *[_reads(size) for size in (10**4, 10**5, 10**6)],
        _row("vmap", "vmap(lambda a: sum(a * a)), 8x10", 20, _vmap, ("numpy", "jax")),
        _row("compiled-call", "jit(lambda x: x + x)", 1.5, _compiled, ("numpy", "jax")),
    ]


def _row(
    name: str,
    call: str,
    goal: float | None,
    make: Make,
    peers: tuple[str, ...] = PEERS,
    **options: Any,
) -> Row:
    """State a row; `make` gives a library's call."""

    def contenders() -> dict[str, Contender]:
        made = {}
        for peer in (OURS, *peers):
            lib = library(peer)
            if lib is not None:
                found = make(lib)
                made[peer] = (
                    found if isinstance(found, Contender) else Contender(found, 1, lib.wait)
                )
        return made

    seconds = goal if goal is None or options.get("of") else goal * US
    return Row(name, call, contenders, seconds, **options)


def _on(lib: Library, function: Callable[[Any], Any], host: np.ndarray = X) -> Callable[[], Any]:
    x = lib.asarray(host)
    return lambda: function(x)


def _set(lib: Library) -> Callable[[], Any]:
    if lib.name != "numpy":
        return _on(lib, lambda x: x.at[1].set(2.0))

    def copied(x: Any) -> Any:
        y = x.copy()
        y[1] = 2.0
        return y

    return _on(lib, copied)


def _product(lib: Library) -> Callable[[Any], Any]:
    xp = lib.numpy
    return lambda x: xp.sum(xp.sin(x) * x)


def _grad(lib: Library) -> Callable[[], Any]:
    if lib.name == "numpy":
        return _on(lib, lambda x: np.cos(x) * x + np.sin(x))
    return _on(lib, lib.root.grad(_product(lib)))


def _grad_grad(lib: Library) -> Callable[[], Any]:
    first = lib.root.grad(_product(lib))
    return _on(lib, lib.root.grad(lambda x: lib.numpy.sum(first(x))))


def _second(lib: Library) -> Callable[[], Any]:
    sin, grad = lib.numpy.sin, lib.root.grad
    return _on(lib, grad(grad(lambda x: sin(x) * x)), np.array(0.5))


def _chain(lib: Library) -> Callable[[Any], Any]:
    """Return a function of 100 operations, a new one each time: nothing traced before serves."""
    xp = lib.numpy

    def function(x: Any) -> Any:
        for _ in range(OPERATIONS // 3):
            x = xp.sin(x) * x + x
        return xp.sum(x)

    return function


def _grad_chain(lib: Library) -> Callable[[], Any]:
    return _on(lib, lib.root.grad(_chain(lib)))


def _trace(lib: Library, *, equations: bool = False) -> Contender:
    def trace() -> Any:
        return lib.root.make_jaxpr(lib.root.grad(_chain(lib)))(x)

    x = lib.asarray(X)
    return Contender(trace, len(trace().eqns) if equations else OPERATIONS + 1)


def _reads(size: int) -> Row:
    """Differentiate a sum of single elements: its time should not grow with the array's."""

    def make(lib: Library) -> Callable[[], Any]:
        def total(x: Any) -> Any:
            found = x[0]
            for i in range(1, READS):
                found = found + x[i * 7]
            return found

        return _on(lib, lib.root.grad(total), np.ones(size))

    goal = {"goal": 2.0, "of": "reads-10000"} if size > 10**4 else {"goal": None}
    said = f"grad of {READS} reads x[i] of {size:,}"
    return _row(f"reads-{size}", said, make=make, peers=TRANSFORMING, **goal)


def _vmap(lib: Library) -> Callable[[], Any]:
    if lib.name == "numpy":
        return _on(lib, lambda m: np.sum(m * m, axis=1), MATRIX)
    return _on(lib, lib.root.vmap(lambda a: lib.numpy.sum(a * a)), MATRIX)


def _compiled(lib: Library) -> Callable[[], Any]:
    if lib.name == "numpy":
        return _on(lib, lambda x: x + x)
    return _on(lib, lib.root.jit(lambda x: x + x))
