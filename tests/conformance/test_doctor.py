"""The command `arrayport doctor`."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata
from importlib.util import find_spec

import numpy as np
import pytest
from arrayport_conformance import doctor
from arrayport_conformance.cli import main

import arrayport
from arrayport.core import backend as backends
from arrayport.core.array import Aval
from arrayport.core.primitive import REGISTRY, Primitive


def test_installation(capsys: pytest.CaptureFixture[str]):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert metadata.version("arrayport") in out
    assert np.__version__ in out
    assert "numpy:cpu:0" in out


def test_the_version_is_the_installed_one(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"arrayport {metadata.version('arrayport')}\n"
    assert arrayport.__version__ == metadata.version("arrayport")


def test_what_is_missing_comes_with_the_line_that_installs_it():
    states = {state.name: state for state in doctor.backend_states()}
    assert {"numpy", "jax", "cupy", "cupy-sim"} <= set(states)
    assert states["numpy"].state == "present"
    if find_spec("cupy") is None:
        assert states["cupy"].state == "missing"
        assert states["cupy"].advice == 'pip install "arrayport[cupy]"'
    if find_spec("jax") is None:
        assert states["jax"].advice == 'pip install "arrayport[jax]"'
    else:
        assert states["jax"].version == metadata.version("jax")


def test_what_is_lost_without_a_package_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    known = {state.name: state for state in doctor.package_states()}
    assert known["scipy"].version == metadata.version("scipy")
    lacking = lambda name: None if name == "llvmlite" else find_spec(name)
    monkeypatch.setattr(doctor, "find_spec", lacking)
    assert main(["doctor"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "llvmlite" in line]
    assert "NumPy's own loops" in line
    assert "pip install llvmlite" in line


def test_a_backend_that_breaks_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def gone() -> None:
        raise RuntimeError("the driver is gone")

    monkeypatch.setattr(backends.get("cupy-sim"), "devices", gone)
    assert main(["doctor"]) == 0
    assert "RuntimeError: the driver is gone" in capsys.readouterr().out
    assert main(["matrix", "--backends", "cupy-sim"]) == 2
    told = capsys.readouterr().err
    assert told == (
        "arrayport: backend 'cupy-sim' cannot list its devices: RuntimeError: the driver is gone\n"
    )


def test_a_wrong_default_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ARRAYPORT_BACKEND", "torch")
    backends.default_backend.cache_clear()
    try:
        assert main(["doctor"]) == 0
    finally:
        backends.default_backend.cache_clear()
    assert "default backend: none, ARRAYPORT_BACKEND=torch: backend 'torch' is unknown" in (
        capsys.readouterr().out
    )


def test_json(capsys: pytest.CaptureFixture[str]):
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {b["name"] for b in found["backends"]} >= {"numpy", "jax", "cupy", "cupy-sim"}
    assert main(["doctor", "--rules", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {p["primitive"] for p in found["primitives"]} == set(REGISTRY)
    assert main(["doctor", "--names", "--json"]) == 0
    modules = {state["module"]: state for state in json.loads(capsys.readouterr().out)}
    assert "sin" in modules["arrayport.numpy"]["present"]


def test_rules_have_no_gap(capsys: pytest.CaptureFixture[str]):
    assert main(["doctor", "--rules"]) == 0
    out = capsys.readouterr().out
    assert f"{len(REGISTRY)} primitives" in out
    assert "no gap" in out


def test_rules_show_a_gap(capsys: pytest.CaptureFixture[str]):
    lonely = Primitive(
        "lonely",
        lambda x: Aval(x.shape, x.dtype),
        lambda _size, xs, dims, /: (xs[0], dims[0]),
        not_differentiable="no kernel knows it",
    )
    try:
        assert main(["doctor", "--rules"]) == 1
    finally:
        del REGISTRY[lonely.name]
    out = capsys.readouterr().out
    assert "kernel on numpy" in out
    assert "no kernel knows it" in out


def test_names(capsys: pytest.CaptureFixture[str]):
    assert main(["doctor", "--names"]) == 0
    assert "arrayport.lax" in capsys.readouterr().out


def test_it_is_a_command():
    command = [sys.executable, "-m", "arrayport_conformance", "doctor"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "backend" in done.stdout
