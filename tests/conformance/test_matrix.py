"""The command `arrayport matrix`: cells, their reasons, what a run leaves, and what changed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from arrayport_conformance import cells, cli, matrix, pages
from arrayport_conformance.catalogue import ROWS
from arrayport_conformance.cells import COLUMNS, FAILS, LEFT_OUT, NONE, PASSES, REFUSED, Cell
from arrayport_conformance.matrix import Change, Matrix

from arrayport.core import backend as backends
from arrayport.core.backend import Refusal
from arrayport.core.primitive import REGISTRY


def run(out: Path, *options: str) -> int:
    few = ["--max-examples", "1", "--workers", "1", "--out", str(out)]
    return cli.main(["matrix", "--backends", "numpy,cupy-sim", *few, *options])


def states(row: str, backend: str = "numpy") -> dict[str, str]:
    found = cells.examine(cells.NAMED[row], backend, 1)
    return {column: cell.state for column, cell in found.items()}


# ---- cells


def test_a_cell_without_a_verdict_has_its_reason():
    for row in ROWS:
        for backend in ("numpy", "cupy-sim"):
            for column in COLUMNS:
                empty = cells.absent(row, backend, column)
                assert empty is None or (len(empty.detail) > 15 and empty.state in {NONE, LEFT_OUT})


@pytest.mark.parametrize(
    ("function", "column", "reason"),
    [
        ("numpy.argmax", "vjp", "it is not differentiable: its output is an index"),
        ("lax.while_loop", "vjp", "no reverse mode"),
        ("numpy.linalg.svd", "value", "the signs of vectors are free"),
        ("numpy.arange", "vmap", "no argument is an array to batch"),
        ("numpy.arange", "dtypes", "no argument's dtype is free"),
        ("numpy.fft.fft", "special", "single elements"),
    ],
)
def test_reasons_come_from_the_catalogue(function: str, column: str, reason: str):
    cell = cells.examine_one(cells.NAMED[function], "numpy", column, 1)
    assert cell.state == NONE
    assert reason in cell.detail


def test_examples_are_worth_their_while():
    row = cells.NAMED["numpy.where"]
    with cells.settled("numpy"):
        chosen = cells._worth(row, "jvp", 4)
    assert {example.dtype for example in chosen} == {"float32", "float64"}
    pairs = [next_.dtype for _, next_ in zip(range(10), cells.examples(row), strict=False)]
    assert set(row.dtypes) == set(pairs)


def test_a_failure_has_a_program_that_repeats_it(
    tmp_path: Path, replace_kernel: Callable[..., None], capsys: pytest.CaptureFixture[str]
):
    def wrong(x: Any) -> Any:
        return np.tanh(x) if x.dtype == np.float32 else np.tanh(x) * 1.5

    replace_kernel("tanh", wrong)
    assert run(tmp_path, "--only", "numpy.tanh") == 1
    out = capsys.readouterr().out
    assert "numpy.tanh" in out
    found = matrix.load(tmp_path / "matrix.json")
    bad = {(backend, column): cell for _, backend, column, cell in found.failures()}
    assert ("numpy", "jvp") in bad
    for cell in bad.values():
        with pytest.raises(Exception, match=r".") as caught:
            exec(cell.program, {})  # noqa: S102 - what the page says to paste
        assert type(caught.value).__name__ in cell.detail


def test_a_program_passes_once_the_fault_is_gone():
    program = cells._program(
        "forward", cells.NAMED["numpy.tanh"], "cupy-sim", cells.Example(1, "float64", 3)
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_refusal_is_told_from_a_gap(monkeypatch: pytest.MonkeyPatch):
    home = backends.get("cupy-sim")
    monkeypatch.setitem(home.kernels, REGISTRY["tanh"], Refusal("no such ufunc there"))
    refused = cells.examine_one(cells.NAMED["numpy.tanh"], "cupy-sim", "jit", 1)
    assert refused.state == REFUSED
    assert "no such ufunc there" in refused.detail
    monkeypatch.delitem(home.kernels, REGISTRY["tanh"])
    gap = cells.examine_one(cells.NAMED["numpy.tanh"], "cupy-sim", "jit", 1)
    assert gap.state == FAILS
    assert "tanh" in gap.detail


@pytest.mark.skipif(find_spec("jax") is None, reason="it is about JAX")
def test_what_jax_cannot_is_its_refusal():
    cell = cells.examine_one(cells.NAMED["lax.zeta"], "jax", "jvp", 1)
    assert cell.state == REFUSED
    assert "Differentiation rule for 'zeta' not implemented" in cell.detail


def test_a_wrong_derivative_is_found(replace_partials: Callable[..., None]):
    assert set(states("numpy.tanh").values()) <= {PASSES, LEFT_OUT}
    replace_partials("tanh", lambda g, ans, x: g * (1 - ans * x), needs=(0b11,))
    found = states("numpy.tanh")
    assert (found["jvp"], found["value"]) == (FAILS, states("numpy.tan")["value"])


# ---- runs


def test_a_cell_without_a_reason_is_told(capsys: pytest.CaptureFixture[str]):
    about = {"backends": ["numpy", "jax"]}
    held = dict.fromkeys(cells.COLUMNS, Cell(PASSES, "2 calls"))
    row = {"numpy": held | {"vmap": Cell(REFUSED, "no such kernel")}, "jax": held}
    assert Matrix(about, {"f": row}).unexplained() == []
    row = {"numpy": held | {"vmap": Cell(REFUSED)}, "jax": {**held, "vjp": Cell("")}}
    found = Matrix(about, {"f": row})
    assert found.unexplained() == [("f", "numpy", "vmap"), ("f", "jax", "vjp")]
    cli._print_matrix(Matrix({"backends": ["numpy"]}, {"f": {}}), compared=False)
    out = capsys.readouterr().out
    assert f"{len(cells.COLUMNS)} cells hold neither evidence nor a reason:\nf numpy value" in out


@pytest.mark.skipif(find_spec("jax") is None, reason="it is about JAX")
def test_jax_is_asked_for_each_kind_of_dtype():
    row = cells.NAMED["numpy.clip"]
    assert cells._dtypes(row, "numpy") == ["float32", "float64", "int32", "int8", "uint8"]
    assert cells._dtypes(row, "jax") == ["float32", "int32", "uint8"]


def test_a_run_leaves_its_files(tmp_path: Path):
    assert run(tmp_path, "--only", "numpy.tanh,argmax") == 0
    assert {path.name for path in tmp_path.iterdir()} == {
        "matrix.html",
        "matrix.json",
        "matrix.md",
        "badge.svg",
    }
    found = json.loads((tmp_path / "matrix.json").read_text())
    assert set(found["functions"]) == {"numpy.argmax", "lax.argmax", "numpy.tanh"}
    assert sum(found["counts"]["numpy"].values()) == 3 * len(COLUMNS)
    ET.fromstring((tmp_path / "badge.svg").read_text())  # noqa: S314 - ours
    text = (tmp_path / "matrix.md").read_text()
    assert "its output is an index" in text
    page = (tmp_path / "matrix.html").read_text()
    assert "http" not in page.replace("http://www.w3.org", "")  # it needs nothing from elsewhere
    assert page.count("</script>") == 2


def test_an_interrupted_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    seen: list[str] = []
    kept = matrix._examine

    def stops(function: str, *rest: Any) -> Any:
        if len(seen) == 1:
            raise KeyboardInterrupt
        seen.append(function)
        return kept(function, *rest)

    monkeypatch.setattr(matrix, "_examine", stops)
    assert run(tmp_path, "--only", "argmax,argmin") == cli.INTERRUPTED
    with (tmp_path / "matrix.partial").open("a") as record:
        record.write('{"function": "numpy.ar')  # what a process that is killed leaves
    monkeypatch.setattr(matrix, "_examine", lambda f, *rest: seen.append(f) or kept(f, *rest))
    assert run(tmp_path, "--only", "argmax") == 2  # another run's record
    assert run(tmp_path, "--only", "argmax,argmin") == 0
    assert sorted(seen) == ["lax.argmax", "lax.argmin", "numpy.argmax", "numpy.argmin"]


def test_two_processes_at_a_time_find_what_one_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(matrix, "LASTING", 1)
    few = ["--backends", "numpy", "--max-examples", "1", "--only", "numpy.arg[mw]*"]
    for workers in ("1", "2"):
        assert (
            cli.main(["matrix", *few, "--out", str(tmp_path / workers), "--workers", workers]) == 0
        )
    one, two = (matrix.load(tmp_path / name / "matrix.json") for name in ("1", "2"))
    assert one == two
    assert len(one.rows) == 3  # two and one


def test_changes(
    tmp_path: Path, replace_kernel: Callable[..., None], capsys: pytest.CaptureFixture[str]
):
    assert run(tmp_path / "old", "--only", "numpy.tanh,numpy.argmax") == 0
    replace_kernel("tanh", lambda x: np.tanh(x) * 2)
    old = str(tmp_path / "old" / "matrix.json")
    assert run(tmp_path / "new", "--only", "numpy.tanh", "--compare", old) == 1
    assert "cells changed" in capsys.readouterr().out
    found = matrix.load(tmp_path / "new" / "matrix.json")
    assert Change("numpy.tanh", "numpy", "jvp", PASSES, FAILS) in found.changes
    assert {change.function for change in found.changes} == {"numpy.tanh"}
    assert "What changed" in (tmp_path / "new" / "matrix.md").read_text()


def small(state: str, backend: str = "numpy", function: str = "numpy.sin") -> Matrix:
    about = {"backends": [backend], "only": [], "libraries": {}, "arrayport": {"version": "1"}}
    about |= {"max_examples": 1, "python": "3"}
    return Matrix(about, {function: {backend: {c: Cell(state, "because") for c in COLUMNS}}})


def test_only_what_both_looked_at_changes():
    assert matrix.changes(small(PASSES), small(PASSES)) == ()
    assert matrix.changes(small(PASSES), small(PASSES, "jax")) == ()
    assert len(matrix.changes(small(FAILS), small(PASSES))) == len(COLUMNS)
    gone = matrix.changes(small(PASSES), small(PASSES, function="numpy.cos"))
    assert {(c.function, c.before, c.after) for c in gone} == {
        ("numpy.sin", PASSES, ""),
        ("numpy.cos", "", PASSES),
    }


def test_badges():
    assert "7 laws hold" in pages.badge(small(PASSES))
    assert "7 of 7 fail" in pages.badge(small(FAILS))
    assert "nothing tried" in pages.badge(small(NONE))


# ---- wrong calls


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--backends", "torch"], "backend 'torch' is unknown; the known ones are"),
        (["--only", "numpy.nonsense"], "no function of the catalogue is called 'numpy.nonsense'"),
        (["--compare", "nowhere.json"], "nowhere.json cannot be read"),
        (["--compare", __file__], "is no matrix.json"),
        (["--compare", "EMPTY"], "is no matrix.json"),
        (["--out", __file__], "cannot be a folder"),
    ],
)
def test_wrong_calls_get_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], says: str
):
    empty = tmp_path / "empty.json"
    empty.write_text('{"about": {}, "functions": {}, "changes": []}')
    options = [str(empty) if option == "EMPTY" else option for option in options]
    assert run(tmp_path, *options) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert says in message


def test_it_says_what_it_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cli, "find_spec", lambda _name: None)
    assert run(tmp_path) == 2
    assert 'pip install "arrayport[testing]"' in capsys.readouterr().err
