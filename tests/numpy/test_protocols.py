"""NumPy's own functions, called on Arrays and tracers, are arrayport's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp

H = np.arange(6, dtype=np.float32).reshape(2, 3)
S = np.array([[2.0, 1.0], [1.0, 3.0]], np.float32)

# Plain NumPy code: it never mentions arrayport.
PLAIN: list[Callable[[Any], Any]] = [
    np.sin,
    np.negative,
    lambda x: np.add(H, x),
    lambda x: H + x,
    lambda x: H * x - x / (1 + H),
    lambda x: H @ x.T,
    lambda x: np.sum(x, axis=0),
    lambda x: np.mean(x, axis=1, keepdims=True),
    lambda x: np.maximum(x, 2),
    lambda x: np.where(x > 2, x, -x),
    lambda x: np.concatenate([x, H], axis=1),
    lambda x: np.stack([x, H]),
    lambda x: np.clip(x, 1, 4),
    lambda x: np.clip(x, a_min=1, a_max=None),
    np.transpose,
    lambda x: np.einsum("ij,kj->ik", x, H),
    lambda x: np.dot(x, x.T),
    lambda x: np.exp(x).sum(),
    lambda x: np.add.reduce(x, axis=1),
    np.add.reduce,
    lambda x: np.maximum.reduce(x, 1),
    lambda x: np.add.accumulate(x, axis=1),
    lambda x: np.multiply.outer(x[0], H[1]),
    np.linalg.norm,
    lambda x: np.pad(x, [(1, 0), (0, 2)], mode="constant", constant_values=7),
    lambda x: np.sort(-x, axis=1),
    lambda x: np.var(x, axis=0, ddof=1),
    lambda x: np.reshape(x, (3, 2)),
    lambda x: np.zeros_like(x) + np.ones_like(x),
    lambda x: np.tanh(x) ** 2,
    lambda x: np.sin(x, dtype=np.float16),
    lambda x: np.float32(2) * x,
]


@pytest.mark.parametrize("number", range(len(PLAIN)))
def test_numpy_code_runs_on_arrays(number: int, backend: str) -> None:
    function = PLAIN[number]
    expected = function(H)
    x = anp.asarray(H)
    for found in (function(x), ap.jit(function)(x)):
        assert isinstance(found, ap.Array)
        assert found.device.backend == backend
        tolerance = 1e-2 if expected.dtype == np.float16 else 1e-6
        np.testing.assert_allclose(np.asarray(found), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.usefixtures("backend")
def test_numpy_code_is_differentiated_and_batched() -> None:
    def energy(x: Any) -> Any:
        return np.sum(np.sin(x) * H) + np.linalg.det(np.eye(2, dtype=np.float32) * x[0, 1])

    x = anp.asarray(H + 1)
    expected = np.cos(H + 1) * H
    expected[0, 1] += 2 * (H + 1)[0, 1]
    np.testing.assert_allclose(np.asarray(ap.grad(energy)(x)), expected, rtol=1e-5, atol=1e-5)
    rows = ap.vmap(lambda row: np.sum(np.square(row)))(x)
    np.testing.assert_allclose(np.asarray(rows), np.sum((H + 1) ** 2, axis=1), rtol=1e-6)


@pytest.mark.usefixtures("backend")
def test_linear_algebra() -> None:
    x = anp.asarray(S)
    np.testing.assert_allclose(np.asarray(np.linalg.inv(x)) @ S, np.eye(2), atol=1e-5)
    np.testing.assert_allclose(np.asarray(np.linalg.solve(x, S)), np.eye(2), atol=1e-5)


@pytest.mark.usefixtures("backend")
def test_writing_is_refused_with_the_idiom() -> None:
    x = anp.asarray(H)
    with pytest.raises(TypeError, match=r"write y = numpy\.sin\(\.\.\.\)"):
        np.sin(x, out=np.empty_like(H))
    host = H.copy()
    with pytest.raises(TypeError, match=r"operator such as \+=.*write y = numpy\.add"):
        host += x
    with pytest.raises(TypeError, match=r"write y = numpy\.sum\("):
        np.sum(x, axis=0, out=np.empty(3, np.float32))
    with pytest.raises(TypeError, match=r"numpy\.where\(mask"):
        np.sin(x, where=H > 2)


@pytest.mark.usefixtures("backend")
def test_what_is_not_covered_is_named() -> None:
    x = anp.asarray(H)
    with pytest.raises(TypeError, match=r"numpy\.copyto was asked .* write y = numpy\.where"):
        np.copyto(H.copy(), x)
    with pytest.raises(TypeError, match=r"numpy\.put was asked .* arrayport\.numpy\.put\(x, ind"):
        np.put(x, 0, 1)
    with pytest.raises(TypeError, match=r"numpy\.add\.at was asked .*x\.at\[indices\]\.add"):
        np.add.at(x, 0, 1)
    with pytest.raises(TypeError, match=r"numpy\.unravel_index on an Array takes no order="):
        np.unravel_index(anp.arange(3), (2, 2), order="F")
    with pytest.raises(TypeError, match=r"numpy\.sin on an Array takes no subok"):
        np.sin(x, subok=False)
    with pytest.raises(TypeError, match=r"numpy\.shares_memory has no counterpart"):
        np.shares_memory(x, x)


@pytest.mark.usefixtures("backend")
def test_python_operators_with_numpy_on_the_left_under_a_trace() -> None:
    found = ap.grad(lambda x: ((H * x) ** 2).sum())(anp.asarray(H))
    np.testing.assert_allclose(np.asarray(found), 2 * H**3, rtol=1e-6)
