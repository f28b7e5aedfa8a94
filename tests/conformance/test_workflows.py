"""The command `arrayport ci`: workflows that a runner can read, and files that stay as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from arrayport_conformance import cli, workflows

yaml = pytest.importorskip("yaml", reason="PyYAML reads what is written")


def written(tmp_path: Path, provider: str, *options: str) -> Any:
    path = tmp_path / "flows" / "made.yml"
    assert cli.main(["ci", "--provider", provider, "--out", str(path), *options]) == 0
    return yaml.safe_load(path.read_text())


def test_github(tmp_path: Path):
    job = written(tmp_path, "github", "--backends", "jax,cupy-sim", "--pythons", "3.11,3.13")[
        "jobs"
    ]["tests"]
    assert job["strategy"]["matrix"] == {
        "backend": ["jax", "cupy-sim"],
        "python": ["3.11", "3.13"],
        "include": [
            {"backend": "jax", "extras": "jax,testing"},
            {"backend": "cupy-sim", "extras": "testing"},
        ],
    }
    commands = [step.get("run", "") for step in job["steps"]]
    assert any("arrayport[${{ matrix.extras }}]" in command for command in commands)
    assert any("--arrayport-backends=${{ matrix.backend }}" in command for command in commands)


def test_gitlab(tmp_path: Path):
    job = written(tmp_path, "gitlab", "--pythons", "3.12")["backends"]
    assert job["parallel"]["matrix"] == [
        {"BACKEND": "numpy", "EXTRAS": "testing", "PYTHON": ["3.12"]},
        {"BACKEND": "jax", "EXTRAS": "jax,testing", "PYTHON": ["3.12"]},
        {"BACKEND": "cupy-sim", "EXTRAS": "testing", "PYTHON": ["3.12"]},
    ]
    assert any("--arrayport-backends=$BACKEND" in line for line in job["script"])


@pytest.mark.parametrize("provider", workflows.PLACES)
def test_a_file_is_not_overwritten(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    provider: str,
):
    monkeypatch.chdir(tmp_path)
    place = workflows.PLACES[provider]
    assert cli.main(["ci", "--provider", provider]) == 0
    assert str(place) in capsys.readouterr().out
    place.write_text("mine\n")
    assert cli.main(["ci", "--provider", provider]) == 2
    message = capsys.readouterr().err
    assert "--force" in message
    assert message.count("\n") == 1
    assert place.read_text() == "mine\n"
    assert cli.main(["ci", "--provider", provider, "--force"]) == 0
    made = place.read_text()
    capsys.readouterr()
    place.unlink()
    assert cli.main(["ci", "--provider", provider, "--dry-run"]) == 0
    assert capsys.readouterr().out == made
    assert not place.exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--backends", "torch"], "'torch' is unknown"),
        (["--backends", ""], "needs a backend"),
        (["--pythons", "3"], "'3' is no version of Python"),
        (["--out", "/dev/null/x"], "cannot be written"),
    ],
)
def test_wrong_calls_get_one_line(
    capsys: pytest.CaptureFixture[str], options: list[str], says: str
):
    assert cli.main(["ci", "--provider", "github", *options]) == 2
    message = capsys.readouterr().err
    assert says in message
    assert message.count("\n") == 1
