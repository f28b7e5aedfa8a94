"""The suite that whoever writes a backend runs: the laws over the whole catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arrayport.core import backend as backends
from arrayport.core.lazy import Lazy
from arrayport.core.primitive import REGISTRY
from arrayport.testing.equivalence import need_hypothesis

# The laws stand on the floors above, on hypothesis and on every backend: they come when asked for.
cells: Any = Lazy("arrayport_conformance.cells")
doctor: Any = Lazy("arrayport_conformance.doctor")
pytest: Any = Lazy("pytest")

KERNELS = "kernels"  # the test beside the laws


def backend_suite(
    name: str,
    *,
    only: Sequence[str] = (),
    laws: Sequence[str] = (),
    max_examples: int = 2,
    xfails: Mapping[str, str] | None = None,
) -> Callable[..., None]:
    """Make the test that holds the backend of this name to arrayport's laws.

    Assign it in a test file, `test_backend = backend_suite("mine")`: pytest then runs a test for
    each function of the catalogue and each law ("value", "jit", "vmap", "jvp", "vjp", "dtypes",
    "special") that has something to say of it, and one that looks for primitives with neither a
    kernel nor a Refusal. A failure prints a program that repeats it. `only` names functions
    ("numpy.sin"), all if empty, `laws` laws; `xfails` gives functions, or a function and a law
    ("numpy.sin jvp"), the reason why they must fail. `arrayport matrix --backends mine` shows the
    same as a page. Raises BackendNotFoundError if the backend cannot be loaded, ValueError for a
    name that is none.

    >>> test_backend = backend_suite("cupy-sim", only=["numpy.tanh"], laws=["jit", "vjp"])
    >>> test_backend("numpy.tanh", "jit")
    """
    need_hypothesis("backend_suite")
    own = backends.get(name)
    functions = list(only) or list(cells.NAMED)
    columns = list(laws) or list(cells.COLUMNS)
    expected = dict(xfails or {})
    _known(functions, cells.NAMED, "function")
    _known(columns, cells.COLUMNS, "law")
    pairs = [
        (function, column)
        for function in functions
        for column in columns
        if not cells.absent(cells.NAMED[function], name, column)
    ]
    asked = {text for pair in pairs for text in (pair[0], " ".join(pair))}
    _known(list(expected), asked, "expected failure")
    cases = [("every primitive", KERNELS), *pairs]

    def test_backend(function: str, law: str) -> None:
        if law == KERNELS:
            _look_for_kernels(own)
            return
        cell = cells.examine_one(cells.NAMED[function], name, law, max_examples)
        if cell.state == cells.FAILS:
            pytest.fail(f"{cell.detail}\n\n{cell.program}", pytrace=False)
        if cell.state != cells.PASSES:
            pytest.skip(cell.detail)

    parameters = [_case(*pair, expected) for pair in cases]
    made: Callable[..., None] = pytest.mark.parametrize(("function", "law"), parameters)(
        test_backend
    )
    return made


def _known(names: Sequence[str], known: Any, kind: str) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"{name!r} is no {kind} of this suite")


def _case(function: str, law: str, expected: Mapping[str, str]) -> Any:
    reason = expected.get(f"{function} {law}") or expected.get(function)
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    return pytest.param(function, law, id=f"{function}-{law}", marks=marks)


def _look_for_kernels(own: backends.Backend) -> None:
    gaps = [
        prim.name
        for prim in REGISTRY.values()
        if any(own.name in gap for gap in doctor.rule_state(prim, [own]).gaps)
    ]
    if gaps:
        pytest.fail(
            f"backend {own.name!r} has neither a kernel nor a Refusal for {len(gaps)} of "
            f"{len(REGISTRY)} primitives: {', '.join(sorted(gaps))}",
            pytrace=False,
        )
