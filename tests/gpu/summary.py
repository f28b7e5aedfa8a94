"""Reads the parts' junit files: a table of what passed, and what failed by name."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree as ET

LATE = {"124": "stopped at its limit", "137": "killed at its limit"}
SHOWN = 20


def main(folder: str, *parts: str) -> int:
    """Print the table; 1 if anything failed, or a part did not end by itself or ran no test."""
    out, bad = Path(folder), False
    failures: list[str] = []
    print(f"{'part':<12}{'passed':>8}{'failed':>8}{'skipped':>9}{'left out':>10}{'seconds':>9}")
    for part in parts:
        code = (out / f"{part}.rc").read_text().strip()
        file = out / f"{part}.xml"
        if not file.exists():
            tail = (out / f"{part}.log").read_text().strip().splitlines()[-1:]
            print(f"{part:<12}{LATE.get(code, f'exit {code}')}: {' '.join(tail)}")
            bad = True
            continue
        root = ET.parse(file).getroot()  # noqa: S314 - pytest's own file
        cases = list(root.iter("testcase"))
        failed = [c for c in cases if c.find("failure") is not None or c.find("error") is not None]
        reasons = [c.find("skipped").get("message") for c in cases if c.find("skipped") is not None]
        late = reasons.count("out of time")
        seconds = float(root.find("testsuite").get("time", "0"))
        passed = len(cases) - len(failed) - len(reasons)
        skipped = len(reasons) - late
        note = "" if code == "0" else f"  exit {code}"
        row = f"{part:<12}{passed:>8}{len(failed):>8}{skipped:>9}{late:>10}{seconds:>9.1f}"
        print(row + note)
        failures += [f"{c.get('classname')}::{c.get('name')}" for c in failed]
        bad = bad or code != "0" or not passed
    for name in failures[:SHOWN]:
        print(f"failed: {name}")
    if failures[SHOWN:]:
        print(f"and {len(failures) - SHOWN} more: see {folder}")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
