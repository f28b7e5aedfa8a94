"""Machine code on disk: written once, trusted only where nobody else can write."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from arrayport_backends.numpy import llvm, objects

import arrayport as ap
import arrayport.numpy as anp

pytestmark = [
    pytest.mark.skipif(not llvm.available(), reason="there is nothing to test without LLVM"),
    pytest.mark.usefixtures("at_once"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    made = tmp_path / "code"
    monkeypatch.setenv("ARRAYPORT_CACHE_DIR", str(made))
    return made


@pytest.fixture
def compilations(monkeypatch):
    """Count what LLVM compiles."""
    texts = []
    assemble = llvm.assemble
    monkeypatch.setattr(llvm, "assemble", lambda text: texts.append(text) or assemble(text))
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
