"""Whether a function is the same on every backend, and under every transformation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

import arrayport as ap
from arrayport import numpy as anp
from arrayport.core import backend as backends
from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.lazy import Lazy
from arrayport.core.tree import tree_flatten, tree_leaves, tree_map
from arrayport.ops import placement
from arrayport.testing.agreement import Tolerance, Ulps, compare
from arrayport.testing.reproductions import reproduction

if TYPE_CHECKING:
    import hypothesis
    from hypothesis import strategies as st
else:  # only who tests has them
    hypothesis, st = Lazy("hypothesis"), Lazy("hypothesis.strategies")

LAWS = ("value", "jit", "vmap", "grad")
Limit = Tolerance | Ulps
CLOSE = Ulps(64, of_largest=True, flush=True)


def present() -> list[str]:
    """Name the backends that work here, NumPy first, for it is the reference.

    >>> present()[0]
    'numpy'
    """
    return sorted((backend.name for backend in placement.present()), key=lambda n: n != "numpy")


def need_hypothesis(name: str) -> None:
    """Raise ImportError, in one line, where hypothesis is not installed."""
    if find_spec("hypothesis") is None:
        raise ImportError(f'{name} needs hypothesis: pip install "arrayport[testing]"')


def assert_equivalent(
    function: Callable[..., Any],
    *strategies: Any,
    laws: Sequence[str] = LAWS,
    on: Sequence[str] = (),
    tolerance: Limit = CLOSE,
    max_examples: int = 50,
) -> None:
    """Hold a function to laws for many arguments, a Hypothesis strategy each.

    What is no strategy, such as an array, is itself the argument.
    `laws`: "value" is the same on every backend; "jit" changes nothing; "vmap" over two copies
    gives both; "grad", of the sum of the outputs, is the same. `on` names the backends, the
    reference first; all that are present if empty. A failure is shrunk to the smallest arguments
    that show it, and raises AssertionError with a program that repeats it. Raises ValueError for a
    law, BackendNotFoundError for a backend, that is none.

    By default numbers below the smallest normal one count as zeros, which XLA makes of them.

    >>> from arrayport.testing import strategies
    >>> assert_equivalent(lambda x: x * 2 + 1, strategies.arrays(), max_examples=5)
    """
    need_hypothesis("assert_equivalent")
    names = list(on) or present()
    for name in names:
        backends.get(name)
    unknown = [law for law in laws if law not in LAWS]
    if unknown:
        raise ValueError(f"law {unknown[0]!r} is unknown: use some of {', '.join(LAWS)}")

    drawn_from = [x if isinstance(x, st.SearchStrategy) else st.just(x) for x in strategies]

    @hypothesis.settings(max_examples=max_examples, deadline=None, database=None, derandomize=True)
    @hypothesis.given(st.tuples(*drawn_from))
    def holds(drawn: tuple[Any, ...]) -> None:
        args = tree_map(_host, drawn)
        for law in laws:
            for name in names:
                try:
                    check_equivalent(function, args, law, name, names[0], tolerance)
                except Exception as error:
                    how = ", ".join(map(repr, (law, name, names[0], tolerance)))
                    program = reproduction(
                        function, args, f"check_equivalent(subject, args, {how})"
                    )
                    raise AssertionError(f"{error}\n\n{program}") from error

    holds()


def check_equivalent(
    function: Callable[..., Any],
    args: Sequence[Any],
    law: str,
    backend: str,
    reference: str = "numpy",
    tolerance: Limit = CLOSE,
) -> None:
    """Hold a function to one law of `assert_equivalent`, for one backend and given arguments.

    Raises AssertionError that says what differs.

    >>> check_equivalent(lambda x: x + 1, [np.float32([1, 2])], "jit", "numpy")
    """
    if law == "grad" and not _differentiable(function, args, reference):
        return
    expected = _result(function, args, "grad" if law == "grad" else "value", reference)
    if law == "vmap":
        expected = tree_map(lambda x: np.stack([x, x]), expected)
    difference = compare(_result(function, args, law, backend), expected, tolerance)
    if not difference.agrees:
        raise AssertionError(f"{law} on {backend} is not that on {reference}: {difference}")


def _host(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, Array) else x


def _result(function: Callable[..., Any], args: Sequence[Any], law: str, backend: str) -> Any:
    """Compute what a law speaks of, as NumPy's arrays."""
    with backends.use_backend(backend):
        own = tree_map(lambda x: anp.asarray(x) if isinstance(x, np.ndarray) else x, list(args))
        if law == "vmap":
            axes = tree_map(lambda x: 0 if isinstance(x, Array) else None, own)
            own = tree_map(lambda x: anp.stack([x, x]) if isinstance(x, Array) else x, own)
            found = _static(ap.vmap, function, own, in_axes=axes)
        elif law == "jit":
            found = _static(ap.jit, function, own)
        elif law == "grad":
            found = _gradient(function, own)
        else:
            found = function(*own)
        return tree_map(lambda x: np.asarray(anp.asarray(x)), found)


def _static(
    transform: Callable[..., Any], function: Callable[..., Any], args: list[Any], in_axes: Any = ()
) -> Any:
    """Transform over the arguments that hold arrays; the others stay as Python has them."""
    moving = [i for i, x in enumerate(args) if any(isinstance(v, Array) for v in tree_leaves(x))]
    if not moving:
        return tree_map(lambda x: anp.stack([x, x]) if in_axes else x, function(*args))

    def partly(*xs: Any) -> Any:
        whole = list(args)
        for i, x in zip(moving, xs, strict=True):
            whole[i] = x
        return function(*whole)

    options = {"in_axes": tuple(in_axes[i] for i in moving)} if in_axes else {}
    return transform(partly, **options)(*[args[i] for i in moving])


def _smooth(args: Sequence[Any]) -> list[int]:
    """Which arguments are arrays of real numbers, nothing else."""
    return [
        i
        for i, x in enumerate(args)
        if isinstance(x, np.ndarray | Array) and dtypes.is_floating(x.dtype)
    ]


def _gradient(function: Callable[..., Any], args: list[Any]) -> Any:
    def total(*xs: Any) -> Any:
        leaves = [anp.sum(anp.real(x)) for x in tree_leaves(function(*xs))]
        return sum(leaves[1:], leaves[0])

    return ap.grad(total, argnums=tuple(_smooth(args)))(*args)


def _differentiable(function: Callable[..., Any], args: Sequence[Any], reference: str) -> bool:
    """Whether there is a gradient to compare: finite real arguments, inexact outputs."""
    smooth = [args[i] for i in _smooth(args)]
    if not smooth or not all(np.isfinite(x.astype(np.float64)).all() for x in smooth):
        return False
    leaves, _ = tree_flatten(_result(function, args, "value", reference))
    if not leaves or not all(dtypes.is_inexact(x.dtype) for x in leaves):
        return False
    slopes = tree_leaves(_result(function, args, "grad", reference))
    return all(np.isfinite(x.astype(np.float64)).all() for x in slopes)
