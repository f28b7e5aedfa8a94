"""What is printed to be read: where each rule of a primitive stands, and the contract's rows."""

from __future__ import annotations

import inspect
from typing import Any

from arrayport.core import backend as backends
from arrayport.core.backend import Refusal
from arrayport.core.errors import BackendNotFoundError
from arrayport.core.lazy import Lazy
from arrayport.core.primitive import REGISTRY, Holder, Primitive

table = Lazy("arrayport.core.contract")


def explain(name: str) -> None:
    """Print where a primitive is stated, how it differentiates and batches, and who executes it.

    Raises KeyError, with similar names, for a name that no primitive has.

    >>> import arrayport as ap
    >>> ap.explain("stop_gradient")  # doctest: +ELLIPSIS
    stop_gradient, stated in arrayport.ops.elementwise:...
    """
    print(description(name))  # noqa: T201 - it is for reading


def contract(name: str = "") -> None:
    """Print what the contract says about a function, or all of it.

    >>> import arrayport as ap
    >>> ap.contract("lax.rem")  # doctest: +ELLIPSIS
    lax_integer_division: lax.div(x, 0), lax.rem(x, 0) of signed integers
        value      -1 and x; quotients round towards zero
        authority  JAX: lax is XLA's own arithmetic
    ...
    """
    found = table.rows(name)
    text = "\n".join(map(str, found)) or f"the contract has no row about {name!r}"
    print(text)  # noqa: T201 - it is for reading


def description(name: str) -> str:
    """The text that `explain` prints."""
    prim = REGISTRY.get(name)
    if prim is None:
        near = ", ".join(sorted(n for n in REGISTRY if name[:3] in n)) or ", ".join(
            sorted(REGISTRY)
        )
        raise KeyError(f"no primitive is called {name!r}: there are {near}")
    lines = [f"{name}, stated in {prim.source}"]
    lines += [f"  {label}: {text}" for label, text in _rules(prim)]
    lines += [f"  on {label}: {text}" for label, text in _kernels(prim)]
    return "\n".join(lines)


def _rules(prim: Primitive) -> list[tuple[str, str]]:
    found = [("shape and dtype", _place(prim.abstract)), ("batch", _place(prim.batch))]
    if isinstance(prim, Holder):
        return [*found, ("jvp", _place(prim.jvp)), ("linearize", _place(prim.linearize))]
    for i, partial in enumerate(prim.partials):
        found.append((f"derivative by operand {i}", "zero" if partial is None else _place(partial)))
    if callable(prim.transposes):
        found.append(("transpose", _place(prim.transposes)))
    else:
        found += [
            (f"transpose by operand {i}", "none" if rule is None else _place(rule))
            for i, rule in enumerate(prim.transposes)
        ]
    if prim.jvp is not None:
        found.append(("jvp", _place(prim.jvp)))
    if prim.not_differentiable:
        found.append(("no derivative", prim.not_differentiable))
    return found


def _kernels(prim: Primitive) -> list[tuple[str, str]]:
    found = []
    for name in sorted(backends.entry_points()):
        try:
            backend = backends.get(name)
        except BackendNotFoundError:
            found.append((name, "this backend is not installed"))
            continue
        kernel = backend.kernels.get(prim)
        if kernel is None:
            text = "held programs run on it" if isinstance(prim, Holder) else "no kernel yet"
        elif isinstance(kernel, Refusal):
            text = f"refused: {kernel.reason}"
        else:
            text = _place(kernel)
        found.append((name, text))
    return found


def _place(function: Any) -> str:
    """A function's module, line and name."""
    while (inner := getattr(function, "func", None)) is not None:
        function = inner
    function = inspect.unwrap(function)
    module = getattr(function, "__module__", None) or type(function).__module__
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", "?")
    code = getattr(function, "__code__", None)
    return f"{module}:{code.co_firstlineno} {name}" if code is not None else f"{module}.{name}"
