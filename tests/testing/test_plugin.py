"""The plugin in a project of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from arrayport.testing import backend_runs

PROJECT = """
import pytest
import arrayport as ap

def test_where(xp, request):
    assert xp.ones(2).device.backend == request.node.callspec.params["xp"]

@pytest.fixture
def made(xp):
    return xp.zeros(2)

def test_fixtures(made, xp):
    assert made.device == xp.ones(1).device

def test_without():
    assert ap.numpy.ones(1).device.backend == "numpy"

@pytest.mark.requires(backend="cupy-sim")
def test_one(xp): pass

@pytest.mark.requires(dtype="float64")
def test_wide(xp): pass

@pytest.mark.xfail_on("cupy-sim", reason="it is another array")
def test_fails(xp):
    assert xp.ones(1).device.backend == "numpy"
"""


def run(folder: Path, text: str, *options: str) -> str:
    (folder / "test_them.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    command = [sys.executable, "-m", "pytest", "-p", "arrayport_conformance.plugin", "-rA", "-q"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_each_backend_has_its_turn(tmp_path: Path) -> None:
    out = run(tmp_path, PROJECT, "--arrayport-backends=numpy,cupy-sim")
    assert "7 passed, 3 skipped, 1 xfailed" in out
    for line in (
        "PASSED test_them.py::test_where[cupy-sim]",
        "PASSED test_them.py::test_one[cupy-sim]",
        "about the backend cupy-sim",
        "float64 needs 64-bit types",
        "XFAIL test_them.py::test_fails[cupy-sim] - it is another array",
    ):
        assert line in out, out


ELSEWHERE = """
import sys, pytest

@pytest.fixture
def xp(): return "mine"

def test_theirs(xp): assert xp == "mine"
def test_nothing_is_imported(): assert "arrayport" not in sys.modules and "numpy" not in sys.modules
"""
PARAMETERS = """
import pytest

@pytest.mark.parametrize("xp", ["numpy", "a"])
def test_theirs(xp): assert xp in {"numpy", "a"}

def pytest_generate_tests(metafunc):
    if metafunc.function.__name__ == "test_made":
        metafunc.parametrize("xp", [1, 2])
def test_made(xp): assert xp in {1, 2}
"""


def test_it_is_silent_elsewhere(tmp_path: Path) -> None:
    assert "2 passed" in run(tmp_path, ELSEWHERE)
    assert "4 passed" in run(tmp_path, PARAMETERS)


def test_naming_it_twice_is_no_harm(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["arrayport_conformance.plugin"]\n')
    text = "def test_it(xp): assert float(xp.ones(())) == 1\n"
    assert "1 passed" in run(tmp_path, text, "--arrayport-backends", "numpy,")


def test_an_unexpected_pass_fails(tmp_path: Path) -> None:
    text = 'import pytest\n@pytest.mark.xfail_on("numpy", "no")\ndef test_it(xp): pass\n'
    assert "XPASS(strict)" in run(tmp_path, text, "--arrayport-backends=numpy")


def test_a_wrong_option_gets_a_line(tmp_path: Path) -> None:
    out = run(tmp_path, PROJECT, "--arrayport-backends=nonsense")
    assert "ERROR" in out
    assert "--arrayport-backends: backend 'nonsense' is unknown; the known ones are" in out
    assert "Traceback" not in out


REQUIRES, XFAIL = "requires takes dtype= and backend=", "xfail_on needs a backend"


@pytest.mark.parametrize(
    ("says", "args", "kwargs"),
    [
        (REQUIRES, ("float64",), {}),
        (REQUIRES, (), {"backend": "x"}),
        (XFAIL, ("numpy",), {}),
        (XFAIL, ("x", "why"), {}),
        (XFAIL, ("numpy", "a", "b"), {}),
        (XFAIL, ("numpy", "a"), {"why": "b"}),
    ],
)
def test_wrong_markers_get_a_line(says: str, args: Any, kwargs: Any) -> None:
    marker = pytest.Mark(says.partition(" ")[0], args, kwargs, _ispytest=True)
    lists = ([marker], []) if says is REQUIRES else ([], [marker])
    with pytest.raises(backend_runs.WrongCallError, match=says):
        backend_runs.runs(["numpy"], *lists)
