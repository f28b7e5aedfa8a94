"""Machine code on disk: written once, trusted only where nobody else can write."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from arrayport_backends.numpy import compiler, llvm, objects, signatures
from arrayport_backends.numpy.signatures import signature

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax

pytestmark = [
    pytest.mark.skipif(not llvm.available(), reason="there is nothing to test without LLVM"),
    pytest.mark.usefixtures("at_once"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    made = tmp_path / "code"
    monkeypatch.setattr(objects, "RECENT", 0)  # so that what is found is on disk
    monkeypatch.setenv("ARRAYPORT_CACHE_DIR", str(made))
    return made


@pytest.fixture
def compilations(monkeypatch):
    """Count what LLVM compiles."""
    texts = []

    def counted(name):
        compile_text = getattr(llvm, name)
        monkeypatch.setattr(llvm, name, lambda text: texts.append(text) or compile_text(text))

    counted("assemble")
    counted("translate")
    return texts


def answer(factor=2.0):
    return float(ap.jit(lambda x: anp.sum(x * factor))(anp.ones(100)))


def test_code_is_kept(folder, compilations):
    assert answer() == answer() == 200
    assert len(compilations) == 1
    assert answer(3.0) == 300
    assert len(compilations) == 2
    assert len(list(folder.iterdir())) == 2
    assert folder.stat().st_mode & 0o077 == 0


def test_what_is_traced_anew_is_compiled_once(compilations, monkeypatch):
    def f(factor, x):
        def step(c, x):  # a new function at each call
            return c * x + factor, c

        return anp.sum(lax.scan(step, x[0], x)[1])

    x = anp.arange(300.0).reshape(100, 3) / 300
    first = ap.grad(f, 1)(2.0, x)
    count = len(compilations)
    np.testing.assert_array_equal(ap.grad(f, 1)(2.0, x), first)
    assert len(compilations) == count
    assert not np.array_equal(ap.grad(f, 1)(3.0, x), first)
    monkeypatch.setattr(objects, "RECENT", 2)
    values = [answer(2.0), answer(3.0), answer(2.0), answer(4.0), answer(2.0), answer(3.0)]
    assert values == [200, 300, 200, 400, 200, 300]
    assert len(objects._recent) == 2


def test_eager_loops_are_compiled_once(compilations):
    """Their bodies are traced at each call, so they compute with what is theirs then."""
    factor = 2.0

    def step(c, x):
        return c * x + factor, c

    x = anp.arange(1.0, 4.0)
    first = np.asarray(lax.scan(step, x[0], x)[1])
    assert first.tolist() == [1, 3, 8]
    count = len(compilations)
    assert np.asarray(lax.scan(step, x[0], x)[1]).tolist() == [1, 3, 8]
    assert lax.while_loop(lambda c: c < 50, lambda c: c * 3, 2.0) == 54
    again = len(compilations)
    assert lax.while_loop(lambda c: c < 50, lambda c: c * 3, 1.0) == 81
    assert len(compilations) == again
    assert count == again - 1
    factor = 1.0
    assert np.asarray(lax.scan(step, x[0], x)[1]).tolist() == [1, 2, 5]
    assert len(compilations) == again + 1
    assert np.isnan(lax.while_loop(lambda c: c > 0, lambda c: anp.log(c - 5), 2.0))  # no warning


def test_eager_loops_with_large_arrays_are_not_written_out(monkeypatch):
    """Writing these takes longer than their steps, and what is at hand would hold them."""
    asked = []
    monkeypatch.setattr(signatures, "signature", asked.append)
    for size, count in ((100, 1), (300_000, 1)):
        table = anp.arange(float(size), dtype="float32")
        assert lax.fori_loop(0, 4, lambda i, c, table=table: c + table[i], 0.0) == 6
        assert len(asked) == count


def test_what_threads_run_is_kept(folder, compilations):
    text = "define i32 @one() {\n  ret i32 1\n}\n"
    code = objects.translated(text)
    assert objects.translated(text) == code
    assert len(compilations) == len(list(folder.iterdir())) == 1
    assert objects.translated(text.replace("1", "2")) != code
    assert llvm.load(code, ["one"]).address("one")


def test_what_is_kept_is_found_without_emitting_code(folder, compilations, monkeypatch):
    assert answer() == 200
    monkeypatch.setattr(compiler, "COMPILING", 1e15)  # so that it would be interpreted
    monkeypatch.setattr(compiler, "fuse", None)
    assert answer() == 200
    assert len(compilations) == len(list(folder.iterdir())) == 1


PROGRAM = """
import arrayport as ap, arrayport.numpy as anp
from arrayport_backends.numpy.signatures import signature

def f(x, n):
    y, _ = ap.lax.scan(lambda c, _: (anp.sin(c) * 2.5 + n, None), x, None, length=3)
    return ap.lax.cond(n > 1, lambda y: anp.sum(y[::2]), lambda y: anp.max(y), y)

print(hash("a"), signature(ap.jit(f).trace(anp.ones((3, 4)), 2).program).hex())
"""


def test_signatures_are_the_same_in_every_process():
    outputs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for seed in ("1", "2")
    ]
    assert outputs[0][0] != outputs[1][0]
    assert outputs[0][1] == outputs[1][1]


DIFFERENT = {
    "program": (lambda x: x * 2.0, anp.float32),
    "number": (lambda x: x * 3.0, anp.float32),
    "dtype": (lambda x: x * 2.0, anp.float16),
    "zero": (lambda x: x * 0.0, anp.float32),
    "negative zero": (lambda x: x * -0.0, anp.float32),
    "array": (lambda x: x * np.arange(3, dtype="float32"), anp.float32),
    "other array": (lambda x: x * np.arange(1, 4, dtype="float32"), anp.float32),
    "outputs": (lambda x: (x * 2.0, x), anp.float32),
    "order": (lambda x: (x, x * 2.0), anp.float32),
    "parameter": (lambda x: anp.sum(x, 0), anp.float32),
    "another parameter": (lambda x: anp.sum(x, 0, keepdims=True), anp.float32),
    "which operand": (lambda x: x[0] - x[1], anp.float32),
    "the other operand": (lambda x: x[1] - x[0], anp.float32),
}


def test_signatures_tell_programs_apart():
    found = {signature(ap.jit(f).trace(anp.ones(3, d)).program) for f, d in DIFFERENT.values()}
    assert len(found) == len(DIFFERENT)
    assert None not in found


@pytest.mark.parametrize("module", ["ops.convolution", "core.dtypes", "passes.fuse"])
def test_code_depends_on_what_its_makers_read(module, monkeypatch):
    changed = sys.modules[f"arrayport.{module}"].__file__
    read = Path.read_bytes
    known = objects.surroundings.__wrapped__()
    monkeypatch.setattr(Path, "read_bytes", lambda p: read(p) + b"#" * (str(p) == changed))
    assert objects.surroundings.__wrapped__() != known


@pytest.mark.usefixtures("folder")
def test_one_constant_used_twice_is_not_two_equal_ones():
    steps = np.exp(np.arange(6.0, dtype="float32"))
    one, other = (anp.asarray(steps) for _ in range(2))

    def same(x, y):
        folded = anp.asarray(steps) + np.zeros(6, "float32")
        return x * folded + y, y * folded - anp.cos(x) * folded

    def apart(x, y):
        return x * one + y, y * other - anp.cos(x) * one

    x, y = np.linspace(0, 1, 6, dtype="float32"), np.linspace(1, 2, 6, dtype="float32")
    for function in (same, apart, same):
        sums, differences = ap.jit(function)(anp.asarray(x), anp.asarray(y))
        np.testing.assert_allclose(np.asarray(sums), x * steps + y, rtol=1e-6)
        expected = y * steps - np.cos(x) * steps
        np.testing.assert_allclose(np.asarray(differences), expected, rtol=1e-5)


def test_a_program_that_calls_python_is_not_kept(folder):
    f = ap.jit(lambda x: ap.pure_callback(np.sin, x, x + 1) * 2)
    np.testing.assert_allclose(f(anp.ones(4)), 2 * np.sin(2), rtol=1e-6)
    assert not folder.exists() or not list(folder.iterdir())


DAMAGES = {
    "cut": lambda b: b[:-9],
    "empty": lambda _b: b"",
    "changed": lambda b: b[:99] + b"?" + b[100:],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_code_that_is_damaged_is_compiled_again(folder, compilations, damage):
    answer()
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(DAMAGES[damage](whole))
    assert answer() == 200
    assert len(compilations) == 2
    assert file.read_bytes() == whole


@pytest.mark.skipif(not hasattr(os, "chown") or os.getuid(), reason="root alone gives files away")
def test_code_of_another_user_is_not_read(folder, compilations):
    answer()
    (file,) = folder.iterdir()
    os.chown(file, 12345, 12345)
    assert answer() == 200
    assert len(compilations) == 2
    assert file.stat().st_uid == os.getuid()


def test_a_folder_that_others_can_write_to_is_not_used(folder, compilations):
    folder.mkdir()
    folder.chmod(0o777)
    objects.directory.cache_clear()
    with pytest.warns(UserWarning, match="chmod 700"):
        answer()
    answer()
    assert len(compilations) == 2
    assert not list(folder.iterdir())


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ARRAYPORT_CACHE_DIR", str(tmp_path / "file" / "below"))
    with pytest.warns(UserWarning, match="is not used"):
        assert answer() == 200


def test_writers_at_once(folder):
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: answer(7.0), range(4))) == [700.0] * 4
    assert [f.suffix for f in folder.iterdir()] == [".o"]


def test_compiling_is_logged(caplog):
    with caplog.at_level(logging.INFO, "arrayport.compile"):
        answer(np.pi)
    assert "compiled" in caplog.text
