"""What an Array prints: NumPy's options are followed, and what the text says makes it again."""

from __future__ import annotations

import numpy as np
import pytest

import arrayport.numpy as anp


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: anp.zeros((1, 0), "int8"), "Array([], shape=(1, 0), dtype=int8)"),
        (lambda: anp.asarray(2.5), "Array(2.5, dtype=float32, weak_type=True)"),
        (lambda: anp.eye(2, dtype="int8"), "Array([[1, 0],\n       [0, 1]], dtype=int8)"),
    ],
)
@pytest.mark.usefixtures("backend")
def test_repr(made, text: str) -> None:
    assert repr(made()) == text


@pytest.mark.usefixtures("backend")
def test_no_line_is_wider_than_the_option_says() -> None:
    for size in range(1, 60):
        lines = repr(anp.arange(size)).split("\n")
        assert max(map(len, lines)) <= np.get_printoptions()["linewidth"]


@pytest.mark.usefixtures("backend")
def test_options_for_once_and_for_a_while() -> None:
    x = anp.asarray(np.array([1 / 3, 1e-9], np.float32))
    short = anp.array_repr(x, precision=2, suppress_small=True)
    assert short == "Array([0.33, 0.  ], dtype=float32)"
    assert anp.array_str(x, precision=2, suppress_small=True) == "[0.33 0.  ]"
    assert anp.array_str(anp.arange(9), 8) == "[0 1 2\n 3 4 5\n 6 7 8]"
    with anp.printoptions(precision=1, suppress=True):
        assert anp.get_printoptions()["precision"] == 1
        assert str(x) == "[0.3 0. ]"
    before = anp.get_printoptions()
    anp.set_printoptions(precision=3)
    try:
        assert repr(x[:1]) == "Array([0.333], dtype=float32)"
    finally:
        anp.set_printoptions(**before)


@pytest.mark.usefixtures("backend")
def test_a_deleted_array_says_so() -> None:
    x = anp.arange(3)
    kept = anp.copy(x)
    x.delete()
    for use in (repr, str, np.asarray, anp.sin):
        with pytest.raises(RuntimeError, match=r"int32\[3\] was used .* after it was deleted"):
            use(x)
    assert kept.tolist() == [0, 1, 2]
