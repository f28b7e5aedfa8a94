"""The command `python -m benchmarks GROUP`."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path

from benchmarks import machines

GROUPS = {
    "eager": "8 elements on NumPy; the goals were set where NumPy's own x + x took 0.34 us",
    "cpu": "programs under jit on the NumPy backend, beside JAX",
    "jax": "the same programs on the JAX backend, beside JAX itself",
    "prices": "kernels of NumPy's and SciPy's, beside the prices by which machine code pays",
    "import": "cold processes: what importing costs, and the first jitted result",
}
MODULES = {"import": "importing", "jax": "native"}


def main() -> int:
    """Run a group; return 1 if a row's results differ or it fails."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Time arrayport beside its peers, on one core.",
        epilog="groups: " + "; ".join(f"{name}: {what}" for name, what in GROUPS.items()),
    )
    parser.add_argument("group", choices=GROUPS)
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="these rows only")
    parser.add_argument("--seconds", type=float, default=30, help="how long to measure (30)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results")
    parser.add_argument("--compare", type=Path, metavar="OLD.json", help="set an older run beside")
    options = parser.parse_args()
    machines.settle()

    # Only now may the libraries load: they read the environment that `settle` made.
    measuring, tables, reports = map(
        import_module,
        ("benchmarks.measuring", "benchmarks.tables", "arrayport_conformance.reports"),
    )
    name = MODULES.get(options.group, options.group)
    group = import_module(f"benchmarks.groups.{name}")
    rows = group.rows()
    unknown = set(options.only) - {row.id for row in rows}
    if unknown:
        known = ", ".join(row.id for row in rows)
        parser.error(f"no row {', '.join(sorted(unknown))}; the rows of {options.group}: {known}")
    if options.only:
        rows = [row for row in rows if row.id in options.only]

    findings = measuring.measure(rows, options.seconds, reports.progress)
    reports.progress("")
    print(f"{options.group}: {GROUPS[options.group]}")
    print(", ".join(f"{name} {version}" for name, version in machines.versions().items()))
    print("one core, one thread, the process's own time; least of interleaved rounds\n")
    print(tables.table(findings, first=getattr(group, "FIRST_CALLS", False)))
    if options.json:
        tables.write(options.json, options.group, findings)
    if options.compare:
        old = json.loads(options.compare.read_text("utf-8"))
        print(f"\nbeside {options.compare}\n")
        print(tables.comparison(old, tables.as_json(options.group, findings)))
    return int(any(finding.problem for finding in findings))


if __name__ == "__main__":
    sys.exit(main())
