"""The benchmarks run, compare results before times, and write what they found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.measuring import distance, measure
from benchmarks.rows import OURS, Contender, Row
from benchmarks.tables import as_json, comparison, table

ROOT = Path(__file__).parents[1]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command for a moment."""
    command = [sys.executable, "-m", "benchmarks", *arguments, "--seconds", "0.05"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("group", "row", "goal"),
    [("eager", "add", 1.1e-6), ("cpu", "chain-small-32", 0.3), ("import", "import", 0.09)],
)
def test_a_group_runs_and_writes_its_results(group: str, row: str, goal: float, tmp_path: Path):
    file = tmp_path / "results.json"
    done = run(group, "--only", row, "--json", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = json.loads(file.read_text("utf-8"))["rows"]
    assert found["id"] == row
    assert found["goal"] == pytest.approx(goal)
    assert 0 < found["seconds"][OURS] < 10
    assert row in done.stdout


def test_a_run_is_compared_with_an_older_one(tmp_path: Path):
    file = tmp_path / "old.json"
    rows = [{"id": "add", "seconds": {OURS: 1.0, "numpy": 1e-9}}]
    file.write_text(json.dumps({"rows": rows}), "utf-8")
    done = run("eager", "--only", "add", "--compare", str(file))
    assert done.stdout.splitlines()[-1].split()[-1] == "faster"


def test_an_unknown_row_is_refused_by_name():
    done = run("eager", "--only", "nothing")
    assert done.returncode == 2
    assert "no row nothing" in done.stderr
    assert "compiled-call" in done.stderr


def row(ours: object, peer: object) -> Row:
    return Row(
        "r", "a call", lambda: {OURS: Contender(lambda: ours), "peer": Contender(lambda: peer)}
    )


def test_results_that_differ_are_told_and_not_timed():
    (found,) = measure([row(np.float32(1), np.float32(1.5))], 0)
    assert found.least == {}
    assert found.problem.startswith("differs from peer by 2.8e+06 ulp")


def test_a_row_that_fails_says_why():
    (found,) = measure([Row("r", "a call", lambda: {OURS: Contender(lambda: 1 / 0)})], 0)
    assert found.problem == "ZeroDivisionError: division by zero"
    assert "ZeroDivisionError" in table([found])


def test_a_slow_call_takes_longer_than_a_quick_one():
    numbers = np.arange(200_000.0)
    slow, quick = Contender(lambda: np.sort(-numbers)), Contender(lambda: numbers)
    (found,) = measure(
        [Row("r", "sort", lambda: {OURS: slow, "q": quick}, 3.0, of="q", ulps=None)], 0
    )
    assert found.least[OURS] > 10 * found.least["q"]
    assert "0 within their goal" in table([found])


def test_a_comparison_points_at_what_became_slower():
    findings = measure([row(1.0, 1.0)], 0)
    findings[0].least = {OURS: 2e-6, "peer": 1e-6}
    old = as_json("eager", findings)
    findings[0].least = {OURS: 9e-6, "peer": 3e-6}
    told = comparison(old, as_json("eager", findings)).splitlines()[-1].split()
    assert told == ["r", "peer", "2", "x", "3", "x", "1.50", "slower"]


@pytest.mark.parametrize(
    ("left", "right", "ulps"),
    [
        (np.float64(1), np.float64(1 + 2**-50), 4.0),
        (np.array([1e6, 1.0]), np.array([1e6, 1.0 + 1e6 * 2**-52]), 1.0),
        ([np.zeros(2), (np.arange(3),)], (np.zeros(2), [np.arange(3)]), 0.0),
        (np.zeros(2), np.zeros(3), np.inf),
    ],
)
def test_distances_are_in_ulps_of_the_largest_element(left: object, right: object, ulps: float):
    assert distance(left, right) == pytest.approx(ulps, rel=1e-3)
