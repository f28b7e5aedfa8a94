"""Arrays come back from files, text and iterators as they went in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import arrayport.numpy as anp


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64", "bfloat16"])
def test_save_and_load(backend: str, dtype: str, tmp_path: Path) -> None:
    x = anp.asarray(np.array([[0, 1], [2, 3]])).astype(dtype)
    anp.save(tmp_path / "x.npy", x)
    found = anp.load(tmp_path / "x.npy")
    assert found.dtype == x.dtype
    assert found.device.backend == backend
    assert found.tolist() == x.tolist()


@pytest.mark.usefixtures("backend")
def test_savez_keeps_several_by_place_and_by_name(tmp_path: Path) -> None:
    anp.savez(tmp_path / "two.npz", anp.arange(2), y=anp.ones(1))
    with anp.load(tmp_path / "two.npz") as found:
        assert found["arr_0"].tolist() == [0, 1]
        assert found["y"].tolist() == [1.0]


@pytest.mark.usefixtures("backend")
def test_bytes_text_and_iterators(tmp_path: Path) -> None:
    np.array([1.5, 2.5], np.float32).tofile(tmp_path / "raw")
    assert anp.fromfile(tmp_path / "raw", np.float32).tolist() == [1.5, 2.5]
    assert anp.fromstring("1 2", sep=" ").dtype == np.float32
    assert anp.fromiter(iter([1, 2]), dtype="int32").tolist() == [1, 2]
    assert anp.asarray(memoryview(b"ab")).tolist() == [97, 98]
    with pytest.raises(TypeError, match="not bytes"):
        anp.asarray(b"ab")
