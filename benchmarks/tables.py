"""Results as text: the table beside the goals, the result file, the comparison of two of these."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import exp, log
from pathlib import Path
from statistics import fmean
from typing import Any

from arrayport_conformance.reports import duration

from benchmarks import machines
from benchmarks.rows import OURS, Finding

CHANGED = 1.2  # times the old ratio: what the comparison points at


def values(findings: Sequence[Finding]) -> dict[str, float]:
    """Return what the goals are about, by row: seconds, or the ratio that the goal limits."""
    times = {f.row.id: f.least for f in findings if OURS in f.least}
    found = {}
    for finding in findings:
        row, least = finding.row, finding.least
        other = least.get(row.of) or times.get(row.of, {}).get(OURS)
        if OURS in least and (other or not row.of):
            mine = least[OURS] - least.get(row.beyond, 0.0)
            found[row.id] = mine / other if other else mine
    return found


def table(findings: Sequence[Finding], *, first: bool = False) -> str:
    """Lay the findings out beside their goals; with `first`, the first calls' times too."""
    known = values(findings)
    heads = ["row", "call", OURS, "result", "goal", "of goal", "beside"]
    rows = []
    for finding in findings:
        row, mine, value = finding.row, finding.least.get(OURS), known.get(finding.row.id)
        if mine is None:
            rows.append([row.id, row.call, "-", "-", _goal(finding), "-", finding.problem])
            continue
        reached = f"{value / row.goal:.2f}" if value is not None and row.goal else ""
        reached += " missed" if reached and value > row.goal else ""
        cells = [duration(mine), _value(finding, value), _goal(finding), reached]
        rows.append([row.id, row.call, *cells, _peers(finding, mine)])
        if first:
            rows[-1].append(", ".join(f"{n} {duration(t)}" for n, t in finding.first.items()))
    if first:
        heads.append("first call")
    return "\n".join([*columns([heads, *rows]), *_mean(findings, known)])


def _peers(finding: Finding, mine: float) -> str:
    peers = {name: time for name, time in finding.least.items() if name != OURS}
    return ", ".join(
        f"{name} {duration(time)}" + ("" if name == finding.row.of else f" ({mine / time:.3g} x)")
        for name, time in peers.items()
    )


def _value(finding: Finding, value: float | None) -> str:
    row = finding.row
    if value is None:
        return ""
    return f"{value:.2f} x {row.of}" if row.of else duration(value) if row.beyond else ""


def _goal(finding: Finding) -> str:
    row = finding.row
    if row.goal is None:
        return ""
    return f"{row.goal:g} x {row.of}" if row.of else duration(row.goal)


def _mean(findings: Sequence[Finding], known: dict[str, float]) -> list[str]:
    """Write the geometric mean of the ratios to each peer that goals are about."""
    lines = []
    for peer in dict.fromkeys(f.row.of for f in findings if f.row.of in f.least):
        rows = [f.row for f in findings if f.row.of == peer]
        ratios = {row: known[row.id] for row in rows if row.id in known}
        mean = exp(fmean(map(log, ratios.values())))
        met = sum(ratio <= (row.goal or 0) for row, ratio in ratios.items())
        lines.append(
            f"\nof {len(rows)} rows beside {peer}, {len(ratios)} ran: "
            f"geometric mean {mean:.2f}, {met} within their goal"
        )
    return lines


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Pad cells to columns.

    >>> columns([["a", "b"], ["cc", "d"]])
    ['a   b', 'cc  d']
    """
    count = max(map(len, rows))
    full = [[*row, *[""] * (count - len(row))] for row in rows]
    widths = [max(len(row[i]) for row in full) for i in range(count)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in full
    ]


# ---- result files


def as_json(group: str, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return what a result file holds; times are in seconds."""
    known = values(findings)
    return {
        "group": group,
        "machine": machines.facts(),
        "versions": machines.versions(),
        "rows": [
            {
                "id": f.row.id,
                "call": f.row.call,
                "goal": f.row.goal,
                "of": f.row.of,
                "value": known.get(f.row.id),
                "seconds": f.least,
                "first_seconds": f.first,
                "problem": f.problem,
                "absent": f.absent,
            }
            for f in findings
        ],
    }


def write(path: Path, group: str, findings: Sequence[Finding]) -> None:
    """Write a result file."""
    path.write_text(json.dumps(as_json(group, findings), indent=1) + "\n", "utf-8")


def comparison(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Set two results of a group beside each other, by ratios to a peer where there is one.

    Times of two runs differ by the machine's mood, so a row's time is divided by that of the first
    peer that both runs have.
    """
    before = {row["id"]: row["seconds"] for row in old["rows"]}
    rows = [["row", "beside", "old", "new", "new / old", ""]]
    for row in new["rows"]:
        was, now = before.get(row["id"], {}), row["seconds"]
        if OURS not in was or OURS not in now:
            continue
        peer = next((name for name in now if name != OURS and name in was), None)
        a, b = ((x[OURS] / x[peer] if peer else x[OURS]) for x in (was, now))
        told = [f"{x:.3g} x" for x in (a, b)] if peer else [duration(x) for x in (a, b)]
        mark = "slower" if b > CHANGED * a else "faster" if a > CHANGED * b else ""
        rows.append([row["id"], peer or "", *told, f"{b / a:.2f}", mark])
    return "\n".join(columns(rows))
