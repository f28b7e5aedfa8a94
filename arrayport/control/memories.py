"""What is in memory: the live Arrays by size, with who made them, and as a profile for pprof."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from arrayport.control.scopes import live_arrays
from arrayport.core import memory
from arrayport.core.array import Array, aval_of
from arrayport.core.errors import Place, place_line
from arrayport.core.lazy import Lazy
from arrayport.core.messages import message, packed

gzip = Lazy("gzip")


@dataclass(frozen=True)
class LiveArray:
    """An array that is alive: how large, of which type, where it lives, who made it."""

    nbytes: int
    type: str
    device: str
    by: str
    places: tuple[Place, ...]

    @property
    def line(self) -> str:
        """The user's line that made it; empty if that was not noted."""
        return place_line(self.places[0]) if self.places else ""

    def __str__(self) -> str:
        made = f"{self.by} at {self.line}" if self.places else "not noted (tracking_memory)"
        return f"{self.nbytes:>13,}  {self.type:<24}  {self.device:<14}  {made}"


@dataclass(frozen=True)
class MemoryReport:
    """The live arrays, the largest first; printed, a table, where the like have one line."""

    arrays: tuple[LiveArray, ...]

    @property
    def nbytes(self) -> int:
        """Bytes in all."""
        return sum(a.nbytes for a in self.arrays)

    def __str__(self) -> str:
        head = f"{self.nbytes:,} bytes in {len(self.arrays)} arrays"
        weak = any(a.type.endswith("*") for a in self.arrays)
        legend = ["* of a weak type: it follows the dtype of what it meets"] if weak else []
        rows = Counter(map(str, self.arrays)).items()
        lines = [row if count == 1 else f"{row}, {count} times" for row, count in rows]
        return "\n".join([head, *lines, *legend])


def memory_report(platform: str | None = None) -> MemoryReport:
    """Report the live Arrays by size, of every backend or of a platform ("cpu", "gpu").

    Those that were made within `tracking_memory` tell the operation and the user's line. An array
    that is a part of another's memory counts as nothing.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> x = anp.ones((1000, 1000))
    >>> ap.memory_report().nbytes >= x.nbytes
    True
    """
    found = {id(x.raw): x for x in live_arrays(platform)}.values()
    rows = [_row(x) for x in found]
    return MemoryReport(tuple(sorted(rows, key=lambda row: -row.nbytes)))


def _row(x: Array) -> LiveArray:
    made = memory.made.get(id(x.raw), memory.Made("", ()))
    part = isinstance(getattr(x.raw, "base", None), np.ndarray)
    size = 0 if part else x.nbytes
    return LiveArray(size, str(aval_of(x)), str(x.device), made.by, made.places)


def pprof(report: MemoryReport) -> bytes:
    """Give a report as pprof reads it: arrays and bytes by the stack that made them, zipped."""
    texts: dict[str, int] = {"": 0}
    functions: dict[tuple[str, str], int] = {}
    locations: dict[Place, int] = {}

    def text(value: str) -> int:
        return texts.setdefault(value, len(texts))

    samples = []
    for row in report.arrays:
        stack = []
        for place in row.places or (Place("", 0, "not noted"),):
            functions.setdefault((place.file, place.function), len(functions) + 1)
            stack.append(locations.setdefault(place, len(locations) + 1))
        labels = (("type", row.type), ("device", row.device), ("operation", row.by))
        marks = [(3, [(1, text(key)), (2, text(value))]) for key, value in labels]
        samples.append((2, [(1, packed(stack)), (2, packed([1, row.nbytes])), *marks]))
    kinds = [
        (1, [(1, text(kind)), (2, text(unit))])
        for kind, unit in (("allocations", "count"), ("space", "bytes"))
    ]
    places = [
        (4, [(1, i), (4, [(1, functions[p.file, p.function]), (2, p.line)])])
        for p, i in locations.items()
    ]
    named = [
        (5, [(1, i), (2, text(name)), (3, text(name)), (4, text(file))])
        for (file, name), i in functions.items()
    ]
    chosen = (14, text("space"))
    table = [(6, word) for word in texts]
    whole = [*kinds, *samples, *places, *named, *table, chosen]
    return gzip.compress(message(whole), mtime=0)
