"""The command `arrayport verify`: agreement, disagreement, a user's errors, wrong calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from arrayport_conformance.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
HEAD = (
    "import numpy as np\nimport arrayport as ap\nimport arrayport.numpy as anp\n"
    "from arrayport.core.backend import ambient\n"
)
INPUTS = "def example_inputs():\n    return (np.array([0.5, 1.5, -2.0], np.float32),)\n"
WHILE = """
def program(x):
    return ap.lax.while_loop(lambda s: s < 9, lambda s: s * 2, anp.sum(x) + 9)
"""

Verify = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Write a user's file called program.py."""

    def written(text: str, inputs: str = INPUTS) -> str:
        path = tmp_path / "program.py"
        path.write_text(HEAD + text + inputs, "utf-8")
        return str(path)

    return written


@pytest.fixture
def verify(write: Callable[..., str], tmp_path: Path) -> Verify:
    """Verify such a file: the exit code, and what `--json` wrote."""

    def run(text: str, *options: str, inputs: str = INPUTS) -> tuple[int, dict[str, Any]]:
        report = tmp_path / "report.json"
        code = main(["verify", write(text, inputs), "--json", str(report), *options])
        return code, json.loads(report.read_text("utf-8"))

    return run


def verdicts(report: dict[str, Any], kind: str) -> dict[str, str]:
    return {run["backend"]: run["verdict"] for run in report["runs"] if run["kind"] == kind}


def test_agreement_with_gradients(verify: Verify, capsys: pytest.CaptureFixture[str]):
    code, report = verify("def program(x):\n    return anp.sum(anp.sin(x) * x)\n")
    assert code == 0
    assert report["agrees"] is True
    for kind in ("eager", "jit", "grad", "jit(grad)"):
        found = verdicts(report, kind)
        assert {"numpy", "cupy-sim"} <= set(found)
        assert set(found.values()) <= {"reference", "agrees"}
    out = capsys.readouterr().out
    assert "every backend agrees" in out
    assert "float32" in out


def test_disagreement(verify: Verify, capsys: pytest.CaptureFixture[str]):
    code, report = verify(
        "def program(x):\n    return x * (1.0 if ambient().name == 'numpy' else 1.001)\n",
        "--backends",
        "numpy,cupy-sim",
    )
    assert code == 1
    assert verdicts(report, "eager") == {"numpy": "reference", "cupy-sim": "disagrees"}
    assert "cupy-sim eager" in capsys.readouterr().out
    wrong = next(run for run in report["runs"] if run["verdict"] == "disagrees")
    # 0.001 of 1.5 is 0.0015, and an ulp there is 2**-23.
    assert wrong["unit"] == "ulp"
    assert 8000 < wrong["error"] < 8400 * 2


@pytest.mark.parametrize(
    ("change", "problem"),
    [("x[:2]", "shape (2,), not (3,)"), ("x.astype('float16')", "dtype float16, not float32")],
)
def test_kinds_disagree(verify: Verify, change: str, problem: str):
    text = f"def program(x):\n    return x if ambient().name == 'numpy' else {change}\n"
    code, report = verify(text, "--backends", "numpy,cupy-sim")
    assert code == 1
    assert {r["detail"] for r in report["runs"] if r["verdict"] == "disagrees"} >= {problem}


def test_nan_is_no_agreement(verify: Verify):
    text = (
        "def program(x):\n"
        "    return x if ambient().name == 'numpy' else anp.where(x > 1, np.nan, x)\n"
    )
    assert verify(text, "--backends", "numpy,cupy-sim")[0] == 1


def test_what_xla_flushes_is_no_disagreement(verify: Verify):
    inputs = "def example_inputs():\n    return (np.float32([1e38, 2e38]),)\n"
    code, report = verify("def program(x):\n    return 1 / x\n", inputs=inputs)
    assert (code, report["agrees"]) == (0, True)  # JAX gives 0, NumPy what is below 2**-126


def test_whole_numbers_disagree(verify: Verify):
    text = "def program(x):\n    return anp.asarray(3 + (ambient().name != 'numpy'))\n"
    assert verify(text, "--backends", "numpy,cupy-sim")[0] == 1


def test_the_files_own_tolerance(verify: Verify):
    text = (
        "def program(x):\n"
        "    return x * (1.0 if ambient().name == 'numpy' else 1.001)\n"
        'TOLERANCE = {"rtol": 2e-3, "atol": 0}\n'
    )
    code, report = verify(text, "--backends", "numpy,cupy-sim")
    assert code == 0
    wide = next(r for r in report["runs"] if r["verdict"] == "agrees" and r["error"])
    assert wide["unit"] == "tolerance"
    assert wide["error"] == pytest.approx(0.5, rel=1e-2)
    code, report = verify(text, "--backends", "numpy,cupy-sim", "--rtol", "1e-5")
    assert (code, report["tolerance"]) == (1, "rtol 1e-05, atol 0")


def test_the_users_error_is_told_with_its_line(verify: Verify, capsys: pytest.CaptureFixture[str]):
    text = "def program(x):\n    y = x + 1\n    return 1.0 if y[0] > 0 else x.nothing\n"
    code, report = verify(text, "--backends", "numpy,cupy-sim")
    assert code == 1
    assert verdicts(report, "jit") == {"numpy": "failed", "cupy-sim": "failed"}
    out = capsys.readouterr().out
    assert out.count("TracerBoolConversionError") == 1  # runs that fail alike are told once
    assert "program.py:7 in program: return 1.0 if y[0] > 0 else x.nothing" in out


def test_what_fails_under_jit_has_no_second_error(verify: Verify, capsys: Any):
    text = "def program(x):\n    return x * 2 if x[0] > 0 else x\n"
    code, report = verify(text, "--backends", "numpy,cupy-sim")
    assert code == 1
    assert set(verdicts(report, "jit").values()) == {"failed"}
    assert set(verdicts(report, "grad").values()) == {"skipped"}
    out = capsys.readouterr().out
    assert "no gradient: the output is float32[3], not a real scalar" in out
    assert out.count("Error:") == 1
    code, report = verify("def program(x):\n    return x.nothing\n", "--backends", "numpy")
    assert [run["verdict"] for run in report["runs"]] == ["failed", "failed", "skipped", "skipped"]


@pytest.mark.parametrize(
    ("text", "inputs", "reason"),
    [
        ("def program(x):\n    return x * 2\n", INPUTS, "float32[3], not a real scalar"),
        ("def program(x):\n    return x, x\n", INPUTS, "tree of 2 arrays"),
        (
            "def program(x):\n    return anp.sum(x)\n",
            "def example_inputs():\n    return (np.arange(3),)\n",
            "no input is a floating-point array",
        ),
        (
            WHILE,
            INPUTS,
            "while",
        ),
    ],
    ids=["vector", "tree", "integers", "while"],
)
def test_no_gradient_is_explained(verify: Verify, text: str, inputs: str, reason: str):
    code, report = verify(text, inputs=inputs)
    assert code == 0
    skipped = [run for run in report["runs"] if run["verdict"] == "skipped"]
    assert {run["kind"] for run in skipped} == {"grad", "jit(grad)"}
    assert all(reason in run["detail"] for run in skipped)


def test_numbers_stay_python_values(verify: Verify):
    text = "def program(x, power):\n    return x**2 if power == 2 else x.nothing\n"
    inputs = "def example_inputs():\n    return (np.array([0.5, 1.5], np.float32), 2)\n"
    assert verify(text, inputs=inputs)[0] == 0


def test_json_on_standard_output(write: Callable[..., str], capsys: pytest.CaptureFixture[str]):
    path = write("def program(x):\n    return x + 1\n")
    assert main(["verify", path, "--backends", "numpy", "--json", "-"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["function"] == "program"
    assert {run["backend"] for run in report["runs"]} == {"numpy"}


def test_a_named_function(write: Callable[..., str], capsys: pytest.CaptureFixture[str]):
    path = write("def program(x):\n    return x\ndef other(x):\n    return x + 1\n")
    assert main(["verify", path + ":other", "--backends", "numpy"]) == 0
    assert "program.py:other" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "suffix", "inputs", "message"),
    [
        ("def program(x):\n    return x\n", "", "", "has no function example_inputs()"),
        (
            "def program(x):\n    return x\n",
            ":other",
            INPUTS,
            "no function 'other'; it has program",
        ),
        ("def f(x):\n    return x\ndef g(x):\n    return x\n", "", INPUTS, "one of f, g"),
        ("x = 1\n", "", INPUTS, "no public functions"),
        ("def program(x):\n    return x\nTOLERANCE = 3\n", "", INPUTS, "TOLERANCE"),
        ("def program(x):\n    return x\n1 / 0\n", "", INPUTS, "ZeroDivisionError"),
        (
            "def program(x):\n    return x\n",
            "",
            "def example_inputs():\n    return np.ones(2)\n",
            "return a tuple",
        ),
        (
            "def program(x):\n    return x\n",
            "",
            "def example_inputs():\n    return 1 / 0\n",
            "ZeroDivisionError",
        ),
    ],
)
def test_wrong_files(
    write: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
    text: str,
    suffix: str,
    inputs: str,
    message: str,
):
    assert main(["verify", write(text, inputs) + suffix]) == 2
    assert message in capsys.readouterr().err


def test_wrong_calls(write: Callable[..., str], capsys: pytest.CaptureFixture[str]):
    assert main(["verify", "missing.py"]) == 2
    assert "is no file of Python" in capsys.readouterr().err
    path = write("def program(x):\n    return x\n")
    assert main(["verify", path, "--backends", "nunpy"]) == 2
    assert "nunpy" in capsys.readouterr().err
    assert main(["verify", path, "--json", "missing/report.json"]) == 2
    assert "missing/report.json cannot be written" in capsys.readouterr().err
    assert main(["verify", path, "--backends", ","]) == 2
    assert "--backends names none" in capsys.readouterr().err
    for call in (["doctor", "--rules", "--names"], [], ["verify", path, "--rtol", "-1"]):
        with pytest.raises(SystemExit) as caught:
            main(call)
        assert caught.value.code == 2
    assert "'-1' is no number from 0 on" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["digits", "diffusion", "oscillator", "maml"])
def test_examples_agree(name: str, capsys: pytest.CaptureFixture[str]):
    code = main(["verify", str(EXAMPLES / f"{name}.py")])
    out = capsys.readouterr().out
    assert code == 0, out
    assert "every backend agrees" in out
