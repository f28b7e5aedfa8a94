"""The command `arrayport`: doctor, verify, array-api, matrix and ci."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import Any

import arrayport
from arrayport.core.lazy import Lazy
from arrayport.testing.agreement import Tolerance
from arrayport_conformance import doctor, names, standard, verify, workflows
from arrayport_conformance.reports import duration, print_table, progress

# They stand on hypothesis, which not every installation has.
matrices: Any = Lazy("arrayport_conformance.matrix")
pages: Any = Lazy("arrayport_conformance.pages")

AGREES, DISAGREES, USAGE = 0, 1, 2
INTERRUPTED = 130  # as shells say it


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 1 for a disagreement or a gap, 2 for a wrong call."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except verify.UsageError as e:
        print(f"arrayport: {e}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("\narrayport: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return AGREES


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="arrayport", description="Look at this installation, and compare backends."
    )
    parser.add_argument("--version", action="version", version=f"arrayport {arrayport.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (_add_doctor, _add_verify, _add_array_api, _add_matrix, _add_ci):
        add(commands)
    return parser


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _backends(asked: list[str] | None) -> tuple[str, ...]:
    """Give the backends asked for, else those present. Raises UsageError for one that is none."""
    if asked is None:
        return tuple(verify.present_backends())
    if not asked:
        raise verify.UsageError("--backends names none: write --backends numpy,jax")
    return verify.checked(asked)


def _writable(path: str | None) -> None:
    """Raise UsageError for a file that cannot be written, before the work that it is to hold."""
    if path and not (Path(path).parent.is_dir() and not Path(path).is_dir()):
        raise verify.UsageError(f"{path} cannot be written: it is a folder, or is in none")


def _error(text: str) -> float:
    """Read a number that errors may be as large as."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 on")
    return number


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


# ---- doctor


def _add_doctor(commands: Any) -> None:
    parser = commands.add_parser("doctor", help="what is installed, what is missing, what it takes")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--rules", action="store_true", help="primitives x rules x backends")
    which.add_argument("--names", action="store_true", help="which of JAX's names exist")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_doctor)


def _doctor(options: argparse.Namespace) -> int:
    if options.rules:
        return _rules(options.json)
    if options.names:
        return _names(options.json)
    found = doctor.installation()
    if options.json:
        print(json.dumps(found, indent=2))
        return AGREES
    print(f"arrayport {found['arrayport']}, Python {found['python']}, {found['platform']}")
    x64 = "on" if found["enable_x64"] else 'off (config.update("enable_x64", True) turns them on)'
    print(f"default backend: {found['default backend']}; 64-bit types: {x64}\n")
    print_table(
        ("backend", "state", "version", "devices", "to do"),
        [
            (s["name"], s["state"], s["version"], ", ".join(s["devices"]), s["advice"])
            for s in found["backends"]
        ],
    )
    print()
    print_table(
        ("package", "version", "used for", "to do"),
        [(p["name"], p["version"], p["used_for"], p["advice"]) for p in found["packages"]],
    )
    return AGREES


def _rules(as_json: bool) -> int:
    states, present = doctor.rule_states()
    counts = doctor.rule_counts(states, present)
    gaps = {state.primitive: state.gaps for state in states if state.gaps}
    if as_json:
        found = {
            "primitives": [asdict(state) for state in states],
            "backends": present,
            "counts": [
                dict(zip(("rule", "stated", "refused", "gaps"), c, strict=True)) for c in counts
            ],
            "derivatives": doctor.derivative_counts(states),
        }
        print(json.dumps(found, indent=2))
        return DISAGREES if gaps else AGREES
    print(f"{len(states)} primitives on {', '.join(present)}\n")
    print_table(
        ("rule", "stated", "refused", "gaps"),
        [(rule, *map(str, numbers)) for rule, *numbers in counts],
    )
    kinds = doctor.derivative_counts(states)
    print("\nderivatives: " + ", ".join(f"{n} {kind}" for kind, n in kinds.items()))
    refusals = [(s.primitive, *item) for s in states for item in s.refusals.items()]
    print("\nrefusals and their reasons")
    print_table(("primitive", "rule", "reason"), refusals)
    if gaps:
        print("\ngaps")
        print_table(("primitive", "missing"), [(p, ", ".join(g)) for p, g in gaps.items()])
        return DISAGREES
    print("\nno gap")
    return AGREES


def _names(as_json: bool) -> int:
    states = names.name_states()
    if as_json:
        print(json.dumps([asdict(state) for state in states], indent=2))
        return AGREES
    print_table(
        ("module", "present", "missing"),
        [(s.module, str(len(s.present)), str(len(s.missing))) for s in states],
    )
    for state in states:
        if state.missing:
            print(f"\nmissing from {state.module}: {', '.join(state.missing)}")
        for name, reason in state.reasons.items():
            print(f"  {name}, on purpose: {reason}")
    return AGREES


# ---- verify


def _add_verify(commands: Any) -> None:
    parser = commands.add_parser("verify", help="run a function on every backend and compare")
    parser.add_argument(
        "target",
        metavar="FILE.py[:function]",
        help="the function; the file's example_inputs() gives its arguments",
    )
    parser.add_argument(
        "--backends", type=_listed, metavar="NAME,...", help="run these, not all present"
    )
    for option in ("--rtol", "--atol"):
        parser.add_argument(option, type=_error, metavar="X", help="in place of the file's own")
    parser.add_argument("--json", metavar="FILE|-", help="write the results as JSON")
    parser.set_defaults(run=_verify)


def _verify(options: argparse.Namespace) -> int:
    _writable(None if options.json == "-" else options.json)
    subject = verify.load(options.target)
    stated = {name: getattr(options, name) for name in ("rtol", "atol")}
    given = {name: number for name, number in stated.items() if number is not None}
    if given:
        subject = replace(subject, tolerance=replace(subject.tolerance or Tolerance(), **given))
    report = verify.verify(subject, _backends(options.backends))
    text = json.dumps(report.as_json(), indent=2)
    if options.json == "-":
        print(text)
    else:
        _print_report(report)
        if options.json:
            Path(options.json).write_text(text + "\n", "utf-8")
    return AGREES if report.agrees else DISAGREES


def _print_report(report: verify.Report) -> None:
    print(f"{report.file}:{report.function}, tolerance {report.tolerance}\n")
    shown = [run for run in report.runs if run.verdict in {"reference", "agrees", "disagrees"}]
    if shown:
        print_table(
            ("backend", "run", "verdict", "largest error", "dtype", "time"),
            [
                (r.backend, r.kind, r.verdict, r.detail, r.dtype, duration(r.seconds or 0))
                for r in shown
            ],
        )
    for reason in dict.fromkeys(run.detail for run in report.runs if run.verdict == "skipped"):
        print(f"\nno gradient: {reason}")
    failed = [run for run in report.runs if run.verdict == "failed"]
    for detail in dict.fromkeys(run.detail for run in failed):
        same = ", ".join(f"{r.backend} {r.kind}" for r in failed if r.detail == detail)
        print(f"\n{same} failed: {detail}")
    if report.agrees:
        print("\nevery backend agrees")
    else:
        bad = [f"{r.backend} {r.kind}" for r in report.runs if r.verdict in {"disagrees", "failed"}]
        print(f"\nnot in agreement: {', '.join(bad)}")


# ---- array-api


def _add_array_api(commands: Any) -> None:
    parser = commands.add_parser("array-api", help="run the array API standard's own suite")
    parser.add_argument("--suite", required=True, type=Path, help="a checkout of array-api-tests")
    parser.add_argument(
        "--backend", default="numpy", metavar="NAME", help="where it runs; numpy if not given"
    )
    versions = tuple(standard.NAMESPACES)
    parser.add_argument(
        "--api-version", choices=versions, default=versions[0], help="of the standard"
    )
    parser.add_argument(
        "--max-examples", type=_positive, default=100, metavar="N", help="for each test; 100"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of Hypothesis; 0")
    parser.add_argument("--module", default="", help="another library's namespace, such as numpy")
    parser.add_argument("--workers", type=_positive, default=2, metavar="N", help="processes; 2")
    parser.add_argument("--json", metavar="FILE", help="write the results; resumes if interrupted")
    parser.add_argument("--junit", default="", metavar="FILE", help="write JUnit's XML too")
    parser.set_defaults(run=_array_api)


def _array_api(options: argparse.Namespace) -> int:
    wanted = ("suite", "backend", "api_version", "max_examples", "seed", "module", "workers")
    _writable(options.json)
    _writable(options.junit)
    if not options.module:
        verify.checked([options.backend])
    request = standard.Request(**{name: getattr(options, name) for name in wanted})
    results = standard.run(request, options.json and f"{options.json}.partial", options.junit)
    if options.json:
        text = json.dumps(results.as_json(), indent=2)
        Path(options.json).write_text(text + "\n", "utf-8")
    print()
    print_table(
        ("test", "outcome", "detail"), [(o.test, o.outcome, o.detail) for o in results.failures]
    )
    counts = ", ".join(f"{count} {group}" for group, count in results.counts.items())
    print(f"\n{request.namespace}, version {request.api_version}: {counts}")
    return DISAGREES if results.failures else AGREES


# ---- matrix


def _add_matrix(commands: Any) -> None:
    parser = commands.add_parser("matrix", help="functions x backends x laws, as a page")
    parser.add_argument(
        "--backends", type=_listed, metavar="NAME,...", help="these, not all present"
    )
    parser.add_argument(
        "--only",
        default=[],
        type=_listed,
        metavar="PATTERN,...",
        help="functions: 'numpy.fft.*,sin'",
    )
    parser.add_argument(
        "--max-examples",
        type=_positive,
        default=2,
        metavar="N",
        help="calls for each function and law, on JAX half as many; 2",
    )
    parser.add_argument("--workers", type=_positive, default=2, metavar="N", help="processes; 2")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("matrix"),
        metavar="FOLDER",
        help="where the page goes, ./matrix if not given; an interrupted run goes on",
    )
    parser.add_argument("--compare", type=Path, metavar="OLD.json", help="show what changed since")
    parser.set_defaults(run=_matrix)


def _matrix(options: argparse.Namespace) -> int:
    if find_spec("hypothesis") is None:
        raise verify.UsageError('the laws need hypothesis: pip install "arrayport[testing]"')
    names = _backends(options.backends)
    request = matrices.Request(names, tuple(options.only), options.max_examples, options.workers)
    request.functions()
    old = matrices.load(options.compare) if options.compare else None
    out: Path = options.out
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise verify.UsageError(f"{out} cannot be a folder: {e.strerror}") from e
    record = out / "matrix.partial"
    found = matrices.run(request, record, progress)
    if old is not None:
        found = replace(found, changes=matrices.changes(old, found))
    files = {
        "matrix.html": pages.page(found),
        "matrix.json": json.dumps(found.as_json(), indent=1, ensure_ascii=False) + "\n",
        "matrix.md": pages.markdown(found),
        "badge.svg": pages.badge(found),
    }
    for name, text in files.items():
        (out / name).write_text(text, "utf-8")
    record.unlink()
    _print_matrix(found, compared=old is not None)
    print(f"\nwritten to {out}: {', '.join(files)}")
    return DISAGREES if found.failures() or found.unexplained() else AGREES


def _print_matrix(found: Any, *, compared: bool) -> None:
    print()
    print_table(
        ("backend", *matrices.STATES),
        [(name, *map(str, count.values())) for name, count in found.counts.items()],
    )
    empty = found.unexplained()
    print(f"\n{len(empty)} cells hold neither evidence nor a reason" + ":" * bool(empty))
    for cell in empty:
        print(" ".join(cell))
    bad = found.failures()
    if bad:
        print()
        print_table(
            ("function", "backend", "law", "error"),
            [(f, b, law, cell.detail.splitlines()[0][:90]) for f, b, law, cell in bad],
        )
    if compared:
        print(f"\n{len(found.changes)} cells changed")
        if found.changes:
            print_table(
                ("function", "backend", "law", "before", "now"),
                [
                    (c.function, c.backend, c.column, c.before or "absent", c.after or "absent")
                    for c in found.changes
                ],
            )


# ---- ci


def _add_ci(commands: Any) -> None:
    parser = commands.add_parser("ci", help="write a workflow that tests a library on each backend")
    parser.add_argument(
        "--provider", choices=tuple(workflows.PLACES), required=True, help="whose runners run it"
    )
    for option, metavar, given, what in (
        ("--backends", "NAME,...", workflows.BACKENDS, "a job for each"),
        ("--pythons", "3.11,...", workflows.PYTHONS, "on each of these Pythons"),
    ):
        told = f"{what}; {','.join(given)} if not given"
        parser.add_argument(option, default=list(given), type=_listed, metavar=metavar, help=told)
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="the file, if not where the provider looks"
    )
    parser.add_argument("--force", action="store_true", help="overwrite the file")
    parser.add_argument("--dry-run", action="store_true", help="print it, write nothing")
    parser.set_defaults(run=_ci)


def _ci(options: argparse.Namespace) -> int:
    if options.dry_run:
        print(workflows.workflow(options.provider, options.backends, options.pythons), end="")
        return AGREES
    written = workflows.write(
        options.provider, options.backends, options.pythons, options.out, force=options.force
    )
    print(f"{written} tests your library on {', '.join(options.backends)}: read it, then commit it")
    return AGREES
