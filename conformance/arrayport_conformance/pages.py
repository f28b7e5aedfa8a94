"""The matrix as others read it: one HTML page, Markdown, a badge."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from arrayport_conformance.catalogue import EXCLUDED
from arrayport_conformance.cells import COLUMNS, FAILS, LEFT_OUT, NONE, PASSES, REFUSED, Cell
from arrayport_conformance.matrix import FAMILY, STATES, Matrix

TEMPLATES = Path(__file__).with_name("templates")
MARKS = {PASSES: "✓", FAILS: "✗", REFUSED: "⊘", NONE: "·", LEFT_OUT: "○"}
MEANINGS = {
    PASSES: "the law holds for every call tried",
    FAILS: "a call breaks the law; the cell has a program that repeats it",
    REFUSED: "the backend states that it cannot, and why",
    NONE: "the law has nothing to say here, and the cell says why",
    LEFT_OUT: "not tried in this run, and the cell says why",
}


def page(matrix: Matrix) -> str:
    """Write one HTML page that needs nothing else."""
    parts = {name: _template(f"matrix.{name}") for name in ("css", "js")}
    # A script element ends at the first "</", wherever it stands.
    data = json.dumps(_data(matrix), ensure_ascii=False, separators=(",", ":"))
    filled = {**parts, "data": data.replace("</", "<\\/"), "title": escape(_title(matrix))}
    text = _template("matrix.html")
    for name, part in filled.items():
        text = text.replace(f"/*{name}*/", part)
    return text


def _template(name: str) -> str:
    return (TEMPLATES / name).read_text("utf-8")


def _title(matrix: Matrix) -> str:
    return f"Conformance of arrayport {matrix.about['arrayport']['version']}"


def _data(matrix: Matrix) -> dict[str, Any]:
    """Give what the page reads, states and texts by number: thousands of cells share them."""
    texts: dict[str, int] = {}
    rows = []
    programs: dict[str, str] = {}
    for number, (function, row) in enumerate(matrix.rows.items()):
        states, details = "", []
        for place, cell in enumerate(_in_order(matrix, row)):
            states += str(STATES.index(cell.state))
            details.append(texts.setdefault(cell.detail, len(texts)))
            if cell.program:
                programs[f"{number}/{place}"] = cell.program
        rows.append([function, FAMILY.get(function, ""), states, details])
    reasons: dict[str, list[str]] = {}
    for name, reason in EXCLUDED.items():
        reasons.setdefault(reason, []).append(name)
    return {
        "about": dict(matrix.about),
        "backends": matrix.backends,
        "columns": COLUMNS,
        "states": [[state, MARKS[state], MEANINGS[state]] for state in STATES],
        "texts": list(texts),
        "rows": rows,
        "programs": programs,
        "changes": {f"{c.function}/{c.backend}/{c.column}": c.before for c in matrix.changes},
        "excluded": sorted(reasons.items()),
    }


def _in_order(matrix: Matrix, row: Mapping[str, Mapping[str, Cell]]) -> Iterable[Cell]:
    for backend in matrix.backends:
        for column in COLUMNS:
            yield row[backend][column]


# ---- Markdown


def markdown(matrix: Matrix) -> str:
    """Write counts, failures, changes, and every function's marks with the reasons of the rest."""
    head = ["# " + _title(matrix), "", _sentence(matrix), ""]
    head += _table(
        ("backend", *STATES),
        [(name, *(str(count[state]) for state in STATES)) for name, count in matrix.counts.items()],
    )
    bad = [
        (function, backend, column, cell.detail.splitlines()[0])
        for function, backend, column, cell in matrix.failures()
    ]
    if bad:
        head += ["", "## What fails", "", *_table(("function", "backend", "law", "error"), bad)]
    if matrix.changes:
        moved = [
            (c.function, c.backend, c.column, c.before or "absent", c.after or "absent")
            for c in matrix.changes
        ]
        columns = ("function", "backend", "law", "before", "now")
        head += ["", "## What changed", "", *_table(columns, moved)]
    legend = "; ".join(f"{MARKS[state]} {state}: {MEANINGS[state]}" for state in STATES)
    head += ["", "## Functions", "", f"Marks, in the order {', '.join(COLUMNS)}. {legend}.", ""]
    rows = [
        (function, *(_marks(row[name]) for name in matrix.backends), _reasons(row))
        for function, row in matrix.rows.items()
    ]
    return "\n".join([*head, *_table(("function", *matrix.backends, "why not"), rows), ""])


def _sentence(matrix: Matrix) -> str:
    libraries = ", ".join(f"{name} {v}" for name, v in matrix.about["libraries"].items())
    return (
        f"{len(matrix.rows)} functions, {len(COLUMNS)} laws, {matrix.about['max_examples']} calls "
        f"a law, on Python {matrix.about['python']} with {libraries}."
    )


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    head = list(columns)
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in r] for r in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def _marks(columns: Mapping[str, Cell]) -> str:
    return "".join(MARKS[cell.state] for cell in columns.values())


def _reasons(row: Mapping[str, Mapping[str, Cell]]) -> str:
    """Gather the cells without a verdict by their reason."""
    found: dict[str, dict[str, None]] = {}
    for columns in row.values():
        for column, cell in columns.items():
            if cell.state in {REFUSED, NONE, LEFT_OUT}:
                found.setdefault(cell.detail, {})[column] = None
    return "; ".join(f"{', '.join(columns)}: {reason}" for reason, columns in found.items())


# ---- the badge


def badge(matrix: Matrix) -> str:
    """Write an SVG of two words: the share of the cells with a verdict that pass."""
    counts = matrix.counts.values()
    good = sum(count[PASSES] for count in counts)
    bad = sum(count[FAILS] for count in counts)
    if not good + bad:
        value, colour = "nothing tried", "#6e7781"
    elif bad:
        value, colour = f"{bad:,} of {good + bad:,} fail", "#b42318"
    else:
        value, colour = f"{good:,} laws hold", "#1a7f37"
    # The glyphs' widths, which no browser is asked for here: 6.6 of 11 pixels on average.
    left, right = (round(6.6 * len(text)) + 14 for text in ("conformance", value))
    return _template("badge.svg").format(
        left=left,
        right=right,
        width=left + right,
        name=left / 2,
        place=left + right / 2,
        value=escape(value),
        colour=colour,
    )
