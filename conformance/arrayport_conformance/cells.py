"""The matrix' cells: what a law found of one function on one backend, or why it was not asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from arrayport_backends.numpy import compiler
from hypothesis.errors import UnsatisfiedAssumption

import arrayport as ap
from arrayport.core import backend as backends
from arrayport.core import dtypes as types
from arrayport.core.backend import NO_KERNEL
from arrayport.core.tree import tree_leaves
from arrayport.errors import UnsupportedOnBackendError
from arrayport_conformance import laws
from arrayport_conformance.catalogue import NEWER, ROWS
from arrayport_conformance.catalogue.rows import NARROW, Call, Operand, Row, fill

PASSES, FAILS, REFUSED, NONE, LEFT_OUT = "passes", "fails", "refused", "not applicable", "left out"
COLUMNS = {
    "value": "what the reference gives: values, shapes, dtypes, weak types",
    "jit": "compiled as eager, signs of zero included",
    "vmap": "batched as a loop",
    "jvp": "forward derivatives as finite differences show them",
    "vjp": "reverse derivatives are the forward ones transposed; on NumPy JAX's own, and order 2",
    "dtypes": "each dtype of the catalogue's row (on JAX one of a kind): values, primitives' types",
    "special": "zeros of both signs, infinities and NaN give what the reference gives",
}
TRACED = {"jit": laws.jit, "vmap": laws.vmap}
# How JAX says that it has no such derivative: no fault of a backend that hands over to it.
NATIVE_REFUSALS = ("Differentiation rule for", "Reverse-mode differentiation does not work")
STRIDE = 7919  # a prime: cases and dtypes both change from one call to the next
TRIES = 8  # calls drawn for each that is wanted: some are at kinks, some have nothing to say
NAMED = {row.function: row for row in ROWS}

Law = Callable[..., None]
Dtype = str | tuple[str, ...]


class Example(NamedTuple):
    """Which call of a row: its case, its dtype, and the seed of its numbers."""

    case: int
    dtype: Dtype
    seed: int

    def call(self, row: Row) -> Call:
        """Draw the call."""
        return fill(row.cases[self.case], self.dtype, self.seed)


@dataclass(frozen=True)
class Cell:
    """How a column stands: the evidence or the reason, and of a failure what to paste."""

    state: str
    detail: str = ""
    program: str = ""


NO_REFERENCE = Cell(LEFT_OUT, "the installed JAX, its reference, has it not, or another one")


@contextmanager
def settled(backend: str) -> Iterator[None]:
    """Run as laws are held: 64-bit types on, machine code at the first run, on one backend."""
    with (
        patch.object(compiler, "COMPILING", 0),
        ap.config.override("enable_x64", True),
        ap.use_backend(backend),
        np.errstate(all="ignore"),
    ):
        yield


def hold(
    law: str, function: str, backend: str, case: int = 0, dtype: Dtype = "float32", seed: int = 0
) -> None:
    """Hold one call of a catalogued function to one law, as the programs of failing cells do.

    `case` and `dtype` are of the function's row, `seed` of the numbers drawn. Raises AssertionError
    that says what differs.

    >>> hold("jit", "numpy.tanh", "numpy", seed=3)
    """
    with settled(backend):
        _held(getattr(laws, law), NAMED[function], Example(case, dtype, seed))


def _held(law: Law, row: Row, example: Example) -> None:
    law(row, example.dtype if law is laws.special else example.call(row))


def examine(row: Row, backend: str, count: int) -> dict[str, Cell]:
    """Fill in one function's cells on one backend, by `count` calls a law, on JAX half as many."""
    return {column: examine_one(row, backend, column, count) for column in COLUMNS}


def examine_one(row: Row, backend: str, column: str, count: int) -> Cell:
    """Fill in one cell."""
    why = absent(row, backend, column)
    if why:
        return why
    trials: list[tuple[Law, Example]]
    if column == "special":
        trials = [(laws.special, Example(0, dtype, 0)) for dtype in ("float32", "float64")]
        most = len(trials)
    elif column == "dtypes":
        found: list[Law] = [] if row.function in NEWER else [laws.value]
        found += [laws.abstract] if _ours(backend) and not row.not_batchable else []
        chosen = [Example(_varying(row), dtype, 0) for dtype in _dtypes(row, backend)]
        trials = [(law, example) for example in chosen for law in found]
        most = len(trials)
    else:
        found = _laws(row, backend, column)
        with settled(backend):
            chosen = _worth(row, column, count)
        half = max(1, count // 2)  # JAX compiles for each call, as one's own or as the reference
        trials = [
            (law, example)
            for number, example in enumerate(chosen)
            for law in found
            if law is not laws.gradients or number < half
        ]
        most = len(trials) if _ours(backend) else half
    if not trials:
        return Cell(NONE, _nothing(column)) if column != "dtypes" else NO_REFERENCE
    return _tried(row, backend, column, trials, most)


# ---- why a cell may be empty


def absent(row: Row, backend: str, column: str) -> Cell | None:
    """Say why a law is not asked; None if it is."""
    derivative = column in {"jvp", "vjp"}
    if derivative and row.not_differentiable:
        return Cell(NONE, f"it is not differentiable: {row.not_differentiable}")
    if column == "vjp" and row.forward_only:
        return Cell(NONE, f"it has no reverse mode: {row.forward_only}")
    if column in TRACED and row.not_batchable:
        return Cell(NONE, f"it cannot be traced: {row.not_batchable}")
    if column == "special" and not row.special:
        words = "the laws try them of functions of single elements whose reference knows them"
        return Cell(NONE, words)
    if column == "dtypes" and _varying(row) < 0:
        return Cell(NONE, "no argument's dtype is free")
    if column in TRACED.keys() | {"jvp", "vjp"} and row.heavy and not _ours(backend):
        return Cell(LEFT_OUT, "JAX compiles it for seconds: there its values are looked at alone")
    compared = column == "special" or (column == "value" and not _as_numpy(backend))
    if not compared:
        return None
    if row.function in NEWER:
        return NO_REFERENCE
    if row.no_reference:
        return Cell(NONE, f"nothing to compare with: {row.no_reference}")
    if not laws.reference_name(row):
        return Cell(LEFT_OUT, 'its reference is JAX: pip install "arrayport[jax]"')
    return None


def _ours(backend: str) -> bool:
    """Whether our own engine runs there."""
    return backends.get(backend).native is None


def _as_numpy(backend: str) -> bool:
    """Whether a backend is held to what the NumPy backend gives."""
    return backend != "numpy" and _ours(backend)


def _varying(row: Row) -> int:
    """Find the first case with an operand of the drawn dtype; -1 if there is none."""
    for number, case in enumerate(row.cases):
        if any(
            isinstance(x, Operand) and not x.dtype for x in tree_leaves([case.args, case.kwargs])
        ):
            return number
    return -1


def _dtypes(row: Row, backend: str) -> list[Dtype]:
    """List the dtypes of a row; for JAX, which compiles for each, the first of each kind."""
    if _ours(backend):
        return list(row.dtypes)
    kinds: dict[tuple[object, bool], Dtype] = {}
    for dtype in row.dtypes:
        alike = types.kind(types.SUPPORTED[dtype]) if isinstance(dtype, str) else dtype
        kinds.setdefault((alike, dtype in NARROW), dtype)
    return list(kinds.values())


def _nothing(column: str) -> str:
    if column == "vmap":
        return "no argument is an array to batch"
    return "no argument is an array of real or complex numbers"


# ---- calls


def _laws(row: Row, backend: str, column: str) -> list[Law]:
    if column == "value":
        return [laws.same if _as_numpy(backend) else laws.value]
    if column in TRACED:
        return [TRACED[column]]
    if column == "jvp":
        return [laws.forward]
    found: list[Law] = [laws.reverse]
    if backend == "numpy":
        known = laws.reference_name(row).startswith("jax.") and row.function not in NEWER
        found += [laws.gradients] if known else []
        found += [laws.second] if row.order > 1 else []
    return found


def examples(row: Row) -> Iterator[Example]:
    """Draw from the cases and dtypes of a row, each pair before any comes again, without end."""
    pairs = [(case, dtype) for case in range(len(row.cases)) for dtype in row.dtypes]
    for number in count():
        yield Example(*pairs[number * STRIDE % len(pairs)], number)


def _worth(row: Row, column: str, wanted: int) -> list[Example]:
    """Choose calls in which a law of the column has something to say."""
    chosen: list[Example] = []
    for example in islice(examples(row), TRIES * wanted + len(row.dtypes)):
        if len(chosen) == wanted:
            break
        if column in {"value", "jit"}:
            chosen.append(example)
            continue
        bound = laws.ours(row, example.call(row))
        if bound.operands if column == "vmap" else bound.smooth().operands:
            chosen.append(example)
    return chosen


def _tried(
    row: Row, backend: str, column: str, trials: list[tuple[Law, Example]], most: int
) -> Cell:
    """Hold calls to the laws until `most` have held; the first failure is the cell's."""
    held: list[Example] = []
    refusals: list[str] = []
    kinks = 0
    for law, example in trials:
        if len(held) == most:
            break
        name = law.__name__
        try:
            with settled(backend):
                _held(law, row, example)
        except UnsatisfiedAssumption:
            kinks += 1
        except UnsupportedOnBackendError as error:
            if str(error).endswith(NO_KERNEL):
                return Cell(FAILS, str(error), _program(name, row, backend, example))
            refusals.append(str(error))
        except Exception as error:  # noqa: BLE001 - whatever a function raises is what was found
            if not _ours(backend) and str(error).startswith(NATIVE_REFUSALS):
                refusals.append(f"JAX itself refuses: {_told(error)}")
                continue
            return Cell(FAILS, _told(error), _program(name, row, backend, example))
        else:
            held.append(example)
    if not held and refusals:
        return Cell(REFUSED, refusals[0])
    if not held:
        return Cell(NONE, f"all {kinks} calls are at kinks")
    detail = _evidence(row, backend, column, held)
    return Cell(PASSES, "; ".join([detail, *dict.fromkeys(refusals)]))


def _evidence(row: Row, backend: str, column: str, held: list[Example]) -> str:
    calls = list(dict.fromkeys(held))
    types = ", ".join(dict.fromkeys(_shown(example.dtype) for example in calls))
    number = f"{len(calls)} call{'s' * (len(calls) > 1)} ({types})"
    within = f"within {row.ulps:g} ulp{' of the largest' * row.of_largest}"
    known = laws.reference_name(row)
    if column == "special":
        return f"{types}: as {known} gives, {within}"
    if column == "dtypes":
        return f"{len(calls)} of {len(row.dtypes)} dtypes: {types}"
    if column == "value" and _as_numpy(backend):
        return f"{number}: as the numpy backend gives, gradients included"
    if column == "value":
        return f"{number}: as {known} gives, {within}"
    return number


def _shown(dtype: Dtype) -> str:
    return dtype if isinstance(dtype, str) else " with ".join(dtype)


def _told(error: Exception) -> str:
    """Give an error's first lines: whole arrays may follow."""
    text = f"{type(error).__name__}: {error}".strip()
    lines = [line for line in text.splitlines() if line.strip()]
    return "\n".join(lines[:6])[:600]


def _program(law: str, row: Row, backend: str, example: Example) -> str:
    case, dtype, seed = example
    return (
        "from arrayport_conformance.cells import hold\n\n"
        f"hold({law!r}, {row.function!r}, {backend!r}, case={case}, dtype={dtype!r}, seed={seed})\n"
    )
