"""The suite for backends that others write, on one of another package."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from arrayport_conformance import cli, doctor

import arrayport as ap
from arrayport.core import backend as backends
from arrayport.errors import BackendNotFoundError
from arrayport.testing import backend_suite, equivalence

BACKEND = """
from arrayport.core.backend import Device
from arrayport.core.primitive import REGISTRY
from arrayport_backends.cupy.backend import CupyBackend
from arrayport_backends.cupy.simulated import backend as model

backend = CupyBackend(model.lib, model.raw_type, [Device("mine", "gpu")])
backend.name = "mine"
del backend.kernels[REGISTRY["tanh"]]
cumsum = backend.kernels[REGISTRY["cumsum"]]
backend.kernels[REGISTRY["cumsum"]] = lambda x, **how: cumsum(x, **how) * 2
"""
SUITE = """
from arrayport.testing import backend_suite

test_backend = backend_suite(
    "mine",
    only=["numpy.tanh", "numpy.cumsum", "numpy.sin", "numpy.argmax"],
    laws=["value", "jit", "vjp"],
    max_examples=1,
    xfails={"numpy.cumsum value": "it counts twice"},
)
"""


def install(folder: Path, name: str, text: str, value: str = "") -> None:
    """Lay a package as pip would: a module, and its entry point."""
    (folder / f"{name}_backend.py").write_text(text)
    about = folder / f"{name}_backend-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-backend\nVersion: 1.0\n")
    value = value or f"{name}_backend:backend"
    (about / "entry_points.txt").write_text(f"[arrayport.backends]\n{name} = {value}\n")


def test_a_backend_of_another_package(tmp_path: Path) -> None:
    install(tmp_path, "mine", BACKEND)
    (tmp_path / "test_mine.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    out = done.stdout + done.stderr
    for line in (
        "has neither a kernel nor a Refusal for 1 of",
        "FAILED test_mine.py::test_backend[numpy.tanh-value]",
        "FAILED test_mine.py::test_backend[numpy.tanh-jit]",
        "XFAIL test_mine.py::test_backend[numpy.cumsum-value] - it counts twice",
        "PASSED test_mine.py::test_backend[numpy.sin-vjp]",
        "PASSED test_mine.py::test_backend[numpy.argmax-jit]",
        "hold('jit', 'numpy.tanh', 'mine'",
    ):
        assert line in out, out
    assert "argmax-vjp" not in out  # a law that has nothing to say is no test


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let this process find what `install` lays, and forget it afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    backends.entry_points.cache_clear()
    yield tmp_path
    backends.entry_points.cache_clear()


@pytest.mark.parametrize(
    ("text", "value", "says"),
    [
        ("raise RuntimeError('no licence')", "", "cannot be loaded: RuntimeError: no licence"),
        ("import no_such_library", "", "cannot be loaded: No module named 'no_such_library'"),
        ("backend = 3", "", "is no arrayport.core.backend.Backend but int"),
        ("", "", "has no attribute 'backend'"),
        ("backend = )", "", "SyntaxError"),
    ],
)
def test_a_broken_backend_gets_one_line(
    installed: Path, capsys: pytest.CaptureFixture[str], text: str, value: str, says: str
) -> None:
    install(installed, "broken", text, value)
    sys.modules.pop("broken_backend", None)
    with pytest.raises(BackendNotFoundError, match="backend 'broken' cannot be loaded") as caught:
        backends.get("broken")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(BackendNotFoundError), ap.use_backend("broken"):
        pass
    with pytest.raises(BackendNotFoundError):
        backend_suite("broken")
    assert "broken" not in equivalence.present()  # the others go on
    assert ap.devices("cpu")
    state = {s.name: s for s in doctor.backend_states()}["broken"]
    assert (state.state, says in state.advice) == ("missing", True)
    for command in (["matrix"], ["verify", __file__]):
        assert cli.main([*command, "--backends", "broken"]) == 2
        message = capsys.readouterr().err
        assert message.startswith("arrayport: ")
        assert message.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"only": ["numpy.nonsense"]}, "'numpy.nonsense' is no function"),
        ({"laws": ["grad"]}, "'grad' is no law"),
        ({"xfails": {"numpy.sin jpv": "why"}}, "'numpy.sin jpv' is no expected failure"),
    ],
)
def test_wrong_calls_are_told(options: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        backend_suite("numpy", **options)  # type: ignore[arg-type]


def test_an_unknown_backend_is_told() -> None:
    with pytest.raises(BackendNotFoundError, match="'nonsense' is unknown; the known ones are"):
        backend_suite("nonsense")


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equivalence, "find_spec", lambda _name: None)
    for call in (
        lambda: backend_suite("numpy"),
        lambda: equivalence.assert_equivalent(ap.numpy.sin),
    ):
        with pytest.raises(ImportError, match=r'pip install "arrayport\[testing\]"'):
            call()
