"""The plugin in a project of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
    command = [sys.executable, "-m", "pytest", "-p", "arrayport.testing.plugin", "-rA", "-q"]
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


def test_an_unexpected_pass_fails(tmp_path: Path) -> None:
    text = 'import pytest\n@pytest.mark.xfail_on("numpy", "no")\ndef test_it(xp): pass\n'
    assert "XPASS(strict)" in run(tmp_path, text, "--arrayport-backends=numpy")


def test_wrong_calls_get_a_line(tmp_path: Path) -> None:
    assert "'nonsense' is unknown" in run(tmp_path, PROJECT, "--arrayport-backends=nonsense")
    for marker in ("requires('float64')", "requires(backend='x')", "xfail_on('numpy')"):
        text = f"import pytest\n@pytest.mark.{marker}\ndef test_it(xp): pass\n"
        out = run(tmp_path, text, "--arrayport-backends=numpy")
        assert marker.partition("(")[0] in out
        assert " passed" not in out
