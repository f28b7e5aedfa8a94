"""array-api: the array API standard's own suite, run from a checkout, and what came of it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

from arrayport_conformance.verify import UsageError

# Environment variables by which the plugin in the suite's process is told:
RECORD = "ARRAYPORT_RECORD"  # the file of outcomes, a line of JSON each
FINISHED = "ARRAYPORT_FINISHED"  # the file of tests not to run again, a line each

SOURCE = "https://github.com/data-apis/array-api-tests"
# What a version's namespace is called here; the newest first.
NAMESPACES = {"2025.12": "arrayport.numpy", "2024.12": "arrayport.numpy.standard_2024"}
REBINDING = "arrayport_conformance.rebinding"
IN_PLACE = Path(__file__).with_name("in_place_tests.txt")
# The suite's own reasons to leave a test out; a skip for any other reason is a failure.
EXCLUDING = ("flaky", "requires ARRAY_API_TESTS_VERSION")
AGAIN = {"error", "never ran"}  # what an interrupted run tries once more
NEEDED = {"pytest": "pytest", "hypothesis": "hypothesis", "ndindex": "ndindex"} | {
    "pytest_jsonreport": "pytest-json-report"
}
LIBRARIES = ("numpy", "jax", "jaxlib", "scipy", "hypothesis", "pytest")


@dataclass(frozen=True)
class Request:
    """What to run: the suite's checkout, and the namespace under test."""

    suite: Path
    backend: str = "numpy"
    api_version: str = next(iter(NAMESPACES))
    max_examples: int = 100
    seed: int = 0
    module: str = ""  # another library's namespace instead of ours
    workers: int = 1

    @property
    def namespace(self) -> str:
        """Name the module that the suite imports."""
        return self.module or NAMESPACES[self.api_version]

    def settings(self) -> dict[str, Any]:
        """Give what results depend on, as what `json.dump` takes."""
        own = {"backend": self.backend} if not self.module else {}
        return own | {
            "module": self.namespace,
            "api_version": self.api_version,
            "max_examples": self.max_examples,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class Outcome:
    """How a test ended: passed, failed, error, skipped, xfailed or never ran."""

    test: str
    outcome: str
    detail: str = ""


@dataclass(frozen=True)
class Results:
    """What came of a run: every test is in one of the four groups."""

    passed: tuple[str, ...]
    expected: tuple[Outcome, ...]  # failures that the in-place tests owe an immutable array
    excluded: tuple[Outcome, ...]  # by the suite itself
    failures: tuple[Outcome, ...]
    seconds: float = 0.0
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """Count the groups."""
        return {
            "passed": len(self.passed),
            "failed": len(self.failures),
            "expected failures": len(self.expected),
            "excluded by the suite": len(self.excluded),
        }

    def as_json(self) -> dict[str, Any]:
        """Return all of it, as what `json.dump` takes."""
        return {
            **self.about,
            "counts": self.counts,
            "failures": [asdict(outcome) for outcome in self.failures],
            "expected failures": [asdict(outcome) for outcome in self.expected],
            "excluded by the suite": dict(Counter(o.detail for o in self.excluded)),
            "seconds": round(self.seconds, 1),
        }


# ---- the suite


def checked(suite: Path, api_version: str) -> Path:
    """Return the checkout's absolute path. Raises UsageError, in one line, if it is none."""
    root = suite.expanduser().resolve()
    if not (root / "array_api_tests" / "__init__.py").is_file():
        raise UsageError(
            f"{suite} is no checkout of the suite: git clone --recurse-submodules {SOURCE}"
        )
    stubs = root / "array-api" / "src" / "array_api_stubs"
    if not stubs.is_dir():
        raise UsageError(
            f"{suite} lacks its submodule array-api: git -C {suite} submodule update --init"
        )
    if not (stubs / f"_{api_version.replace('.', '_')}").is_dir():
        raise UsageError(f"{suite} does not know the standard's version {api_version}")
    missing = [name for module, name in NEEDED.items() if find_spec(module) is None]
    if missing:
        raise UsageError(f"the suite needs {', '.join(missing)}: pip install {' '.join(missing)}")
    return root


def commit(root: Path) -> str:
    """Give the commit that a folder is at, with a + if files differ; empty if it is not git's."""
    git = which("git")
    if git is None or not (root / ".git").exists():
        return ""
    texts = [
        subprocess.run(
            [git, "-C", str(root), *arguments], capture_output=True, text=True, check=False
        ).stdout.strip()
        for arguments in (("rev-parse", "HEAD"), ("status", "--porcelain", "-uno"))
    ]
    return texts[0] + "+" * bool(texts[1])


def in_place_tests() -> dict[str, str]:
    """Read the expected failures: test and reason."""
    found: dict[str, str] = {}
    reason = ""
    for line in IN_PLACE.read_text("utf-8").splitlines():
        if line.startswith("#"):
            reason = line.removeprefix("#").strip()
        elif line:
            found[line] = reason
    return found


# ---- a run


def _environment(request: Request, module: str, record: Path, finished: Path) -> dict[str, str]:
    ours = {} if request.module else {"ARRAYPORT_BACKEND": request.backend}
    # A suite run from within a pytest worker is none itself.
    outside = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_XDIST")}
    return {
        **outside,
        **ours,
        "ARRAY_API_TESTS_MODULE": module,
        "ARRAY_API_TESTS_VERSION": request.api_version,
        "ARRAYPORT_ENABLE_X64": "1",
        "JAX_ENABLE_X64": "1",
        RECORD: str(record),
        FINISHED: str(finished),
    }


def _run(
    request: Request, root: Path, module: str, tests: Sequence[str], record: Path, junit: str
) -> int:
    """Run tests by the suite's own pytest, its output as it comes; add outcomes to the record."""
    finished = record.with_suffix(".finished")
    finished.write_text("\n".join(o.test for o in outcomes(record) if o.outcome not in AGAIN))
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"]
    command += ["-p", "no:warnings"]  # of cases that the suite cannot read: thousands
    command += ["-p", "arrayport_conformance.recording", "--disable-deadline"]
    command += [f"--max-examples={request.max_examples}", f"--hypothesis-seed={request.seed}"]
    if find_spec("xdist"):
        command += ["-n", str(request.workers if request.workers > 1 else 0)]
    if junit:
        command += [f"--junitxml={Path(junit).resolve()}"]
    environment = _environment(request, module, record, finished)
    done = subprocess.run([*command, *tests], cwd=root, env=environment, check=False)
    finished.unlink()
    return done.returncode


def outcomes(record: Path) -> list[Outcome]:
    """Read a record: the worst outcome of each test, and those that never ran."""
    found: dict[str, Outcome] = {}
    collected: dict[str, None] = {}
    for line in record.read_text("utf-8").splitlines() if record.exists() else ():
        entry = json.loads(line)
        collected.update(dict.fromkeys(entry.get("collected", ())))
        if "test" in entry and found.get(entry["test"], Outcome("", "passed")).outcome == "passed":
            found[entry["test"]] = Outcome(**entry)
    never = [Outcome(test, "never ran") for test in collected if test not in found]
    return [*found.values(), *never]


def judged(found: Iterable[Outcome], expected: Mapping[str, str]) -> Results:
    """Sort outcomes into groups; an expected failure that passes, or is no test, is a failure."""
    groups: dict[str, list[Outcome]] = {"passed": [], "expected": [], "excluded": [], "failed": []}
    waiting = dict(expected)
    for outcome in found:
        reason = waiting.pop(outcome.test, None)
        if reason is not None and outcome.outcome == "failed":
            groups["expected"].append(Outcome(outcome.test, "failed", reason))
        elif reason is not None:
            detail = f"it is expected to fail: {reason}"
            groups["failed"].append(Outcome(outcome.test, outcome.outcome, detail))
        elif outcome.outcome == "passed":
            groups["passed"].append(outcome)
        elif outcome.outcome == "skipped" and outcome.detail.startswith(EXCLUDING):
            groups["excluded"].append(outcome)
        else:
            groups["failed"].append(outcome)
    groups["failed"] += [Outcome(test, "never ran", "it is expected to fail") for test in waiting]
    return Results(
        passed=tuple(outcome.test for outcome in groups["passed"]),
        expected=tuple(groups["expected"]),
        excluded=tuple(groups["excluded"]),
        failures=tuple(groups["failed"]),
    )


def run(request: Request, record: str = "", junit: str = "") -> Results:
    """Run the suite, and its in-place tests once more through the adapter.

    `record` names the file of outcomes so far: a run that finds it goes on where that one ended.
    Raises UsageError for a path that is no checkout, or a record of another run.
    """
    root = checked(request.suite, request.api_version)
    known = about(request, root)
    expected = {} if request.module else in_place_tests()
    start = time.monotonic()
    with TemporaryDirectory() as folder:
        first = Path(record or Path(folder) / "record").resolve()
        second = first.with_name(first.name + ".in_place")
        resume(first, known)
        _run(request, root, request.namespace, ["array_api_tests"], first, junit)
        ended = outcomes(first)
        if not ended:
            raise UsageError(f"pytest found no test in {root}: its own words are above")
        found = judged(ended, expected)
        again: list[Outcome] = []
        if found.expected:
            tests = [outcome.test for outcome in found.expected]
            _run(request, root, REBINDING, tests, second, "")
            seen = outcomes(second)
            ran = {o.test for o in seen}
            seen += [Outcome(test, "never ran") for test in tests if test not in ran]
            again = [Outcome(f"{o.test} (in place)", o.outcome, o.detail) for o in seen]
        for path in (first, second):
            path.unlink(missing_ok=True)
    rest = judged(again, {})
    return replace(
        found,
        passed=found.passed + rest.passed,
        failures=found.failures + rest.failures,
        seconds=time.monotonic() - start,
        about=known,
    )


def about(request: Request, root: Path) -> dict[str, Any]:
    """Say what a run's results are of: commits, settings and versions."""
    return {
        "suite": {"commit": commit(root), "standard": commit(root / "array-api")},
        "arrayport": {
            "version": metadata.version("arrayport"),
            "commit": commit(Path(__file__).resolve().parents[2]),
        },
        **request.settings(),
        "python": platform.python_version(),
        "libraries": {name: metadata.version(name) for name in LIBRARIES if find_spec(name)},
    }


def resume(record: Path, about: Mapping[str, Any]) -> None:
    """Begin a record with what the run is about, or find that it is about the same."""
    line = json.dumps({"about": about})
    if not record.exists():
        record.write_text(line + "\n", "utf-8")
    elif record.read_text("utf-8").partition("\n")[0] != line:
        raise UsageError(f"{record} is of a run with other settings or versions: delete it")
