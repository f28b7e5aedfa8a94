"""matrix: every function of the catalogue on every backend under every law, and what changed."""

from __future__ import annotations

import json
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from importlib import metadata
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from arrayport_conformance import cells
from arrayport_conformance.catalogue import EXCLUDED, FAMILIES, ROWS
from arrayport_conformance.cells import COLUMNS, FAILS, LEFT_OUT, NONE, PASSES, REFUSED, Cell
from arrayport_conformance.reports import duration
from arrayport_conformance.standard import LIBRARIES, commit, resume
from arrayport_conformance.verify import UsageError

STATES = (PASSES, FAILS, REFUSED, NONE, LEFT_OUT)
LASTING = 150  # functions of a process: JAX keeps what it compiled
FAMILY = {
    row.function: family.__name__.rpartition(".")[2] for family in FAMILIES for row in family.ROWS
}
Cells = dict[str, dict[str, Cell]]  # by backend and column


@dataclass(frozen=True)
class Request:
    """What to look at: on which backends, which functions, how closely, by how many processes."""

    backends: tuple[str, ...]
    only: tuple[str, ...] = ()
    max_examples: int = 2
    workers: int = 2

    def functions(self) -> list[str]:
        """List the functions. Raises UsageError for a pattern that none has."""
        names = [row.function for row in ROWS]
        for pattern in self.only:
            if not any(_matches(name, pattern) for name in names):
                raise UsageError(
                    f"no function of the catalogue is called {pattern!r}: write numpy.sin, or a "
                    "pattern such as 'numpy.fft.*'"
                )
        wanted = self.only or ("*",)
        return [name for name in names if any(_matches(name, pattern) for pattern in wanted)]


def _matches(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) or fnmatchcase(name.rpartition(".")[2], pattern)


@dataclass(frozen=True)
class Change:
    """A cell that is not what it was; a state is empty where there was, or is, no such cell."""

    function: str
    backend: str
    column: str
    before: str
    after: str


@dataclass(frozen=True)
class Matrix:
    """What was found: the cells of each function, and what they are of."""

    about: Mapping[str, Any]
    rows: Mapping[str, Cells]
    changes: tuple[Change, ...] = ()

    @property
    def backends(self) -> list[str]:
        """Name the backends, in the order of the columns."""
        return list(self.about["backends"])

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """Count the states of each backend's cells."""
        found = {name: Counter[str]() for name in self.backends}
        for _, backend, _, cell in self.cells():
            found[backend][cell.state] += 1
        return {name: {state: count[state] for state in STATES} for name, count in found.items()}

    def cells(self) -> Iterator[tuple[str, str, str, Cell]]:
        """Go through function, backend, column and cell."""
        for function, row in self.rows.items():
            for backend, columns in row.items():
                for column, cell in columns.items():
                    yield function, backend, column, cell

    def failures(self) -> list[tuple[str, str, str, Cell]]:
        """List the cells that fail."""
        return [entry for entry in self.cells() if entry[3].state == FAILS]

    def unexplained(self) -> list[tuple[str, str, str]]:
        """List the cells that are missing, or hold neither evidence nor a reason."""
        empty = Cell("")
        return [
            (function, backend, column)
            for function, row in self.rows.items()
            for backend in self.backends
            for column in COLUMNS
            if not row.get(backend, {}).get(column, empty).detail
        ]

    def as_json(self) -> dict[str, Any]:
        """Return all of it, as what `json.dump` takes."""
        return {
            "about": dict(self.about),
            "counts": self.counts,
            "changes": [asdict(change) for change in self.changes],
            "functions": {function: _written(row) for function, row in self.rows.items()},
            "no laws": dict(EXCLUDED),
        }


def _written(row: Cells) -> dict[str, Any]:
    """Give a function's cells as what `json.dump` takes; texts that are empty are left out."""
    return {
        backend: {
            column: {name: text for name, text in asdict(cell).items() if text}
            for column, cell in columns.items()
        }
        for backend, columns in row.items()
    }


def _cells(written: Mapping[str, Any]) -> Cells:
    """Undo `_written`."""
    return {
        backend: {column: Cell(**cell) for column, cell in columns.items()}
        for backend, columns in written.items()
    }


def read(found: Mapping[str, Any]) -> Matrix:
    """Make a matrix of what `as_json` gave."""
    rows = {function: _cells(row) for function, row in found["functions"].items()}
    return Matrix(found["about"], rows, tuple(Change(**change) for change in found["changes"]))


# ---- a run


def run(request: Request, record: Path, tell: Callable[[str], None] | None = None) -> Matrix:
    """Fill in the matrix, function by function.

    `record` is the file of what is found so far: a run that finds it goes on where that one ended.
    Raises UsageError for a record of another run, or when a process dies.
    """
    names = request.functions()
    known = about(request)
    resume(record, known)
    found = _recorded(record)
    waiting = [name for name in names if name not in found]
    start = time.monotonic()
    failing = sum(_failing(row) for row in found.values())
    with record.open("a", encoding="utf-8") as notes:
        for name, row in _examined(request, waiting):
            found[name] = row
            failing += _failing(row)
            notes.write(json.dumps({"function": name, "cells": _written(row)}) + "\n")
            notes.flush()
            if tell:
                left = sum(other not in found for other in waiting)
                done = len(waiting) - left
                rest = duration((time.monotonic() - start) / done * left) if left else "none"
                tell(f"{len(found)}/{len(names)} functions, {failing} cells fail, {rest} left")
    return Matrix(known, {name: found[name] for name in names})


def _failing(row: Cells) -> int:
    return sum(cell.state == FAILS for own in row.values() for cell in own.values())


def _recorded(record: Path) -> dict[str, Cells]:
    found: dict[str, Cells] = {}
    for line in record.read_text("utf-8").splitlines()[1:]:
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:  # the run ended as it wrote
            continue
        found[entry["function"]] = _cells(entry["cells"])
    return found


def _examined(request: Request, names: Sequence[str]) -> Iterator[tuple[str, Cells]]:
    """Examine functions: here, or in processes of their own."""
    if request.workers < 2 or len(names) < 2:
        for name in names:
            yield name, _examine(name, request.backends, request.max_examples)
        return
    # Not by max_tasks_per_child: the executor was seen to wait for ever once its processes ended.
    share = LASTING * request.workers
    for few in [names[i : i + share] for i in range(0, len(names), share)]:
        with ProcessPoolExecutor(request.workers, get_context("spawn")) as pool:
            running = {
                pool.submit(_examine, name, request.backends, request.max_examples): name
                for name in few
            }
            try:
                for done in as_completed(running):
                    yield running[done], done.result()
            except BrokenProcessPool as error:
                raise UsageError(
                    "a process of the matrix died; run the same again to go on, with --workers 1 "
                    "to see where"
                ) from error
            finally:
                pool.shutdown(cancel_futures=True)


def _examine(function: str, backends: Sequence[str], count: int) -> Cells:
    row = cells.NAMED[function]
    return {backend: cells.examine(row, backend, count) for backend in backends}


def about(request: Request) -> dict[str, Any]:
    """Say what a matrix is of: versions and settings."""
    return {
        "arrayport": {
            "version": metadata.version("arrayport"),
            "commit": commit(Path(__file__).resolve().parents[2]),
        },
        "backends": list(request.backends),
        "columns": COLUMNS,
        "max_examples": request.max_examples,
        "only": list(request.only),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "libraries": {name: metadata.version(name) for name in LIBRARIES if find_spec(name)},
    }


# ---- what changed


def changes(old: Matrix, new: Matrix) -> tuple[Change, ...]:
    """List the cells whose state differs; of functions and backends that both looked at."""
    before = {entry[:3]: entry[3].state for entry in old.cells()}
    after = {entry[:3]: entry[3].state for entry in new.cells()}
    both = set(old.backends) & set(new.backends)
    partly = bool(old.about["only"] or new.about["only"])
    return tuple(
        Change(*key, before.get(key, ""), after.get(key, ""))
        for key in dict.fromkeys([*after, *before])
        if key[1] in both
        and before.get(key) != after.get(key)
        and not (partly and (key not in before or key not in after))
    )


def load(path: Path) -> Matrix:
    """Read a matrix that an earlier run wrote. Raises UsageError, in one line."""
    try:
        found = read(json.loads(path.read_text("utf-8")))
        _ = found.counts, found.about["only"]
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path} is no matrix.json of this command") from error
    return found
