"""The wheel holds the three packages, typed, with the command and the backends."""

from __future__ import annotations

import configparser
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def wheel(passes: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    passes("-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder))
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("arrayport", "."),
        ("arrayport_backends", "backends"),
        ("arrayport_conformance", "conformance"),
    ],
)
def test_wheel_holds_the_whole_package(
    package: str, source: str, wheel: zipfile.ZipFile, root: Path
):
    base = root / source
    files = {
        path.relative_to(base).as_posix()
        for path in (base / package).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert files | {f"{package}/py.typed"} <= set(wheel.namelist())


def test_wheel_names_the_command_and_the_backends(wheel: zipfile.ZipFile):
    (name,) = (name for name in wheel.namelist() if name.endswith("/entry_points.txt"))
    entries = configparser.ConfigParser()
    entries.read_string(wheel.read(name).decode())
    assert dict(entries["console_scripts"]) == {"arrayport": "arrayport_conformance.cli:main"}
    plugin = "arrayport_conformance.plugin"
    assert dict(entries["pytest11"]) == {plugin: plugin}
    assert set(entries["arrayport.backends"]) == {"numpy", "jax", "cupy", "cupy-sim"}
