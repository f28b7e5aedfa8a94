"""Tables on the terminal: by rich where it is installed, else in plain text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from arrayport.core.lazy import Lazy

rich_console: Any = Lazy("rich.console")
rich_table: Any = Lazy("rich.table")
rich_text: Any = Lazy("rich.text")

COLOURS = {
    "agrees": "green",
    "present": "green",
    "reference": "cyan",
    "skipped": "yellow",
    "missing": "yellow",
    "disagrees": "bold red",
    "failed": "bold red",
    "gap": "bold red",
}


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under their columns; words that are verdicts have colour on a terminal."""
    if sys.stdout.isatty() and find_spec("rich") is not None:
        table = rich_table.Table(*columns, box=None, header_style="bold", pad_edge=False)
        for row in rows:
            table.add_row(*[rich_text.Text(cell, COLOURS.get(cell, "")) for cell in row])
        rich_console.Console().print(table)
        return
    cells = [tuple(columns), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(line.rstrip())


def duration(seconds: float) -> str:
    """Write a time with three digits.

    >>> duration(0.00123), duration(45.6)
    ('1.23 ms', '45.6 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def progress(text: str) -> None:
    """Write a line over the last one; on what is no terminal, nothing."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
