"""The runner of the standard's suite, on a tiny suite of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from arrayport_conformance import cli, standard
from arrayport_conformance.standard import Outcome, judged

ROOT = "import importlib, os\nxp = importlib.import_module(os.environ['ARRAY_API_TESTS_MODULE'])\n"
OPTIONS = """
def pytest_addoption(parser):
    parser.addoption("--max-examples", type=int)
    parser.addoption("--disable-deadline", action="store_true")
"""
SETS = """
import pytest
from . import xp
def test_setitem():
    x = xp.asarray([1, 2])
    y = xp.asarray(x, copy=True)
    x[0] = 5
    assert int(x[0]) == 5 and int(y[0]) == 1
def test_setitem_masking():
    x = xp.asarray([1, 2])
    x[xp.asarray([True, False])] = 5
    assert int(x[0]) == 5
"""
MAKES = """
from . import xp
def test_asarray_arrays():
    x = xp.asarray([1, 2])
    y = xp.asarray(x, copy=False)
    x[1] = 5
    assert int(y[1]) == 5
"""
SINES = """
import os, pytest
from . import xp
def test_good(): assert float(xp.sin(xp.asarray(0.0))) == 0
def test_wide(): assert xp.asarray(0.0).dtype == xp.float64
def test_version(): assert os.environ["ARRAY_API_TESTS_VERSION"] == xp.__array_api_version__
@pytest.mark.skip(reason="flaky")
def test_flaky(): pass
"""
BAD = """
import pytest
from . import xp
def test_wrong(): assert xp.asarray(1) == 2
def test_skipped(): pytest.skip("no such function")
@pytest.mark.xfail
def test_xfailed(): assert False
@pytest.fixture
def broken(): raise OSError("the fixture broke")
def test_broken(broken): pass
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    files = {
        "conftest.py": OPTIONS,
        "pytest.ini": "[pytest]\n",
        "array_api_tests/__init__.py": ROOT,
        "array_api_tests/test_array_object.py": SETS,
        "array_api_tests/test_creation_functions.py": MAKES,
        "array_api_tests/test_sines.py": SINES,
        "array-api/src/array_api_stubs/_2025_12/array_object.py": "",
        "array-api/src/array_api_stubs/_2024_12/array_object.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture(autouse=True)
def needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standard, "NEEDED", {})


def run(suite: Path, *options: str) -> int:
    return cli.main(["array-api", "--suite", str(suite), "--workers", "1", *options])


@pytest.mark.parametrize("version", standard.NAMESPACES)
def test_in_place_tests_pass_through_the_adapter(suite: Path, version: str) -> None:
    file = suite / "results.json"
    assert run(suite, "--api-version", version, "--json", str(file)) == 0
    found = json.loads(file.read_text())
    assert found["counts"] == {
        "passed": 6,
        "failed": 0,
        "expected failures": 3,
        "excluded by the suite": 1,
    }
    assert found["excluded by the suite"] == {"flaky": 1}
    assert {o["test"].partition("::")[2] for o in found["expected failures"]} == {
        "test_setitem",
        "test_setitem_masking",
        "test_asarray_arrays",
    }
    assert all(o["detail"] for o in found["expected failures"])
    assert (found["api_version"], found["backend"], found["seed"]) == (version, "numpy", 0)
    assert found["libraries"]["numpy"]
    assert not list(suite.glob("*.partial*"))


def test_everything_but_a_pass_is_a_failure(suite: Path) -> None:
    (suite / "array_api_tests" / "test_bad.py").write_text(BAD)
    (suite / "array_api_tests" / "test_unreadable.py").write_text("import no_such_module\n")
    junit, file = suite / "results.xml", suite / "results.json"
    assert run(suite, "--junit", str(junit), "--json", str(file), "--seed", "3") == 1
    failures = {
        o["test"].rpartition("/")[2]: (o["outcome"], o["detail"])
        for o in json.loads(file.read_text())["failures"]
    }
    assert failures["test_unreadable.py"][0] == "error"
    assert "no_such_module" in failures["test_unreadable.py"][1]
    assert "test_unreadable" in junit.read_text()
    (suite / "array_api_tests" / "test_unreadable.py").unlink()
    assert run(suite, "--json", str(file)) == 1
    failures = {
        o["test"].rpartition("::")[2]: (o["outcome"], o["detail"])
        for o in json.loads(file.read_text())["failures"]
    }
    assert {name: outcome for name, (outcome, _) in failures.items()} == {
        "test_wrong": "failed",
        "test_skipped": "skipped",
        "test_xfailed": "xfailed",
        "test_broken": "error",
    }
    assert failures["test_skipped"][1] == "no such function"
    assert "the fixture broke" in failures["test_broken"][1]


def test_an_interrupted_run_goes_on(suite: Path) -> None:
    file, stop = suite / "results.json", suite / "stop"
    crash = f"import os, pathlib\ndef test_crash():\n    pathlib.Path({str(stop)!r}).exists() or "
    (suite / "array_api_tests" / "test_zz.py").write_text(crash + "os._exit(1)\n")
    request = standard.Request(suite, max_examples=100)
    record = f"{file}.partial"
    standard.resume(Path(record), standard.about(request, suite))
    standard._run(request, suite, request.namespace, ["array_api_tests"], Path(record), "")
    states = {o.test.rpartition("::")[2]: o.outcome for o in standard.outcomes(Path(record))}
    assert (states["test_good"], states["test_crash"]) == ("passed", "never ran")
    stop.touch()
    (suite / "array_api_tests" / "test_sines.py").write_text(SINES.replace("== 0", "== 1"))
    assert run(suite, "--json", str(file)) == 0  # what had passed did not run again
    assert run(suite, "--json", str(file)) == 1
    Path(record).write_text('{"about": {}}\n')
    assert run(suite, "--json", str(file)) == 2


def test_another_namespace_has_no_expected_failures(suite: Path) -> None:
    (suite / "array_api_tests" / "test_sines.py").unlink()
    assert run(suite, "--module", "numpy") == 0


def test_outcomes_are_judged() -> None:
    found = judged(
        [Outcome("a", "passed"), Outcome("b", "failed"), Outcome("c", "never ran")],
        {"a": "why", "b": "why", "d": "why"},
    )
    assert [o.test for o in found.expected] == ["b"]
    assert [o.test for o in found.failures] == ["a", "c", "d"]


@pytest.mark.parametrize(
    ("remove", "options", "says"),
    [
        ("array_api_tests/__init__.py", [], "no checkout"),
        ("array-api", [], "submodule"),
        ("array-api/src/array_api_stubs/_2024_12", ["--api-version", "2024.12"], "2024.12"),
    ],
)
def test_what_is_no_checkout_gets_one_line(
    suite: Path,
    capsys: pytest.CaptureFixture[str],
    remove: str,
    options: list[str],
    says: str,
) -> None:
    (suite / remove).rename(suite / "elsewhere")
    assert run(suite, *options) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert says in message


def test_what_the_suite_needs_is_named(
    suite: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standard, "NEEDED", {"no_such_module": "no-such-package"})
    assert run(suite) == 2
    assert "pip install no-such-package" in capsys.readouterr().err


def test_commits_are_read(tmp_path: Path) -> None:
    assert standard.commit(tmp_path) == ""
