"""NumPy's own functions, called on Arrays and tracers, are arrayport's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import arrayport as ap
import arrayport.numpy as anp
from arrayport.errors import TracerArrayConversionError

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


def add_onto(host: Any, x: Any) -> Any:
    host += x
    return host


# NumPy code that writes, of a host array and an Array; what NumPy itself makes of H in its place.
WRITING: list[Callable[[np.ndarray, Any], Any]] = [
    add_onto,
    lambda host, x: np.sin(x, out=host),
    lambda host, x: np.multiply(x, 2, out=host, where=H > 2),
    lambda host, x: np.sum(x, axis=0, keepdims=True, out=host[:1]),
    lambda host, x: np.sum(x, 0, None, host[0]),
    np.copyto,
    lambda host, x: np.copyto(src=x, dst=host),
    lambda host, x: np.put_along_axis(
        values=x[:1, :1], indices=np.array([[1]]), axis=1, arr=host[:1]
    ),
    lambda host, x: np.add.at(host, 0, x[1]),
    lambda host, x: np.put(host, [0, 4], x[0, :2]),
]


@pytest.mark.parametrize("number", range(len(WRITING)))
@pytest.mark.usefixtures("backend")
def test_numpy_writes_to_its_own_arrays_what_has_values(number: int) -> None:
    write = WRITING[number]
    expected, found = H.copy(), H.copy()
    write(expected, H)
    write(found, anp.asarray(H))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    with pytest.raises(TypeError, match=r"write y = numpy|was asked at .* to change"):
        ap.jit(lambda x: write(found, x))(anp.asarray(H))


@pytest.mark.usefixtures("backend")
def test_writing_to_an_array_is_refused_with_the_idiom() -> None:
    x = anp.asarray(H)
    with pytest.raises(TypeError, match=r"write y = numpy\.sin\(\.\.\.\)"):
        np.sin(H, out=x)
    with pytest.raises(TypeError, match=r"write y = numpy\.sum\("):
        np.sum(H, axis=0, out=x[0])
    with pytest.raises(TypeError, match=r"numpy\.where\(mask"):
        np.sin(x, where=H > 2)
    with pytest.raises(TypeError, match=r"numpy\.copyto was asked .* write y = numpy\.where"):
        np.copyto(x, H)
    with pytest.raises(TypeError, match=r"numpy\.put was asked .* arrayport\.numpy\.put\(x, ind"):
        np.put(x, 0, 1)
    with pytest.raises(TypeError, match=r"numpy\.add\.at was asked .*x\.at\[indices\]\.add"):
        np.add.at(x, 0, 1)


@pytest.mark.usefixtures("backend")
def test_what_is_not_covered_is_named() -> None:
    x = anp.asarray(H)
    with pytest.raises(TypeError, match=r"numpy\.unravel_index on an Array takes no order="):
        np.unravel_index(anp.arange(3), (2, 2), order="F")
    with pytest.raises(TypeError, match=r"numpy\.sin on an Array takes no subok"):
        np.sin(x, subok=False)
    with pytest.raises(TypeError, match=r"numpy\.real_if_close has no counterpart"):
        np.real_if_close(x)
    with pytest.raises(TracerArrayConversionError, match=r"in arrayport\.numpy or \.random"):
        ap.jit(np.random.permutation)(x)
    with pytest.raises(TypeError, match=r"scipy\.special\.erf .*: use arrayport\.scipy\.special"):
        special.erf(x)
    with pytest.raises(ap.errors.ConcretizationTypeError, match=r"give length=, which arrayport\."):
        ap.jit(lambda n: np.bincount(n, minlength=5))(anp.arange(3))
    with pytest.raises(TypeError, match=r"the ufunc 'twice.*' has no counterpart"):
        np.frompyfunc(twice, 1, 1)(x)


def twice(x: Any) -> Any:
    return 2 * x


@pytest.mark.usefixtures("backend")
def test_numpys_ways_of_sorting_and_joining_are_satisfied() -> None:
    x, ties = anp.asarray(H), np.array([1, 0, 1, 0])
    assert np.argsort(anp.asarray(ties), kind="stable").tolist() == [1, 3, 0, 2]
    assert np.sort(anp.asarray(ties), -1, "heapsort").tolist() == [0, 0, 1, 1]
    assert np.isin(x, [1.0, 4.0], kind="sort").tolist() == np.isin(H, [1, 4]).tolist()
    assert np.concatenate([x, [[1, 2, 3]]], casting="unsafe").shape == (3, 3)
    with pytest.raises(TypeError, match=r"numpy\.isin on an Array takes no kind="):
        np.isin(x, 1, kind="bogo")


@pytest.mark.usefixtures("backend")
def test_conversions_give_numpys_arrays_of_values_and_traced_ones_of_traced() -> None:
    """SciPy's solvers hand to C, or write to, what np.atleast_1d gives them."""
    x = anp.asarray(H)
    assert [type(v) for v in np.atleast_1d(x, H[0])] == [np.ndarray] * 2
    assert np.atleast_3d(x).shape == (2, 3, 1)
    doubled = ap.jit(lambda x: np.atleast_2d(x[0]) * 2)(x)
    assert isinstance(doubled, ap.Array)
    assert doubled.tolist() == [[0, 2, 4]]
    assert not np.may_share_memory(x, H)
    assert sorted(np.random.default_rng(0).permutation(x)[:, 0].tolist()) == [0, 3]


@pytest.mark.usefixtures("backend")
def test_windows() -> None:
    x = anp.asarray(H)
    windows = np.lib.stride_tricks.sliding_window_view
    for shape, axis in [((1, 2), None), (2, 1), (2, -1), ((2, 3), (0, 1)), ((2, 2), (1, 1))]:
        found = ap.jit(lambda x, s=shape, a=axis: windows(x, s, a))(x)
        np.testing.assert_array_equal(np.asarray(found), windows(H, shape, axis))
    with pytest.raises(ValueError, match="a window of 4 is not within axis 1"):
        windows(x, 4, axis=1)


class Owner:
    """A class that answers NumPy's functions itself."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> str:
        return f"owner's {ufunc.__name__}"

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> str:
        return f"owner's {func.__name__}"


@pytest.mark.usefixtures("backend")
def test_classes_with_a_dispatch_of_their_own_are_asked() -> None:
    assert np.add(anp.asarray(H), Owner()) == "owner's add"
    assert np.concatenate([anp.asarray(H), Owner()]) == "owner's concatenate"


# NumPy's functions of a list beside an Array, in each place.
LISTS: list[Callable[[Any, Any], Any]] = [
    np.add,
    lambda x, o: np.add(o, x),
    np.hypot,
    lambda x, o: np.where(x > 1, o, x),
    lambda x, o: np.clip(x, o, 9.0),
    np.percentile,
    lambda x, _: np.take(x, [[0, 1], [2, 0]]),
    lambda x, o: np.isin(o, x),
    lambda x, o: np.searchsorted(o, x),
    np.digitize,
    lambda x, o: np.append(o, x),
    lambda x, o: np.insert(x, [0, 1], o[:2]),
    lambda x, o: np.interp(o, [0, 1, 2], x),
    lambda x, o: np.select([x > 1, [True, False, True]], [o, x]),
    lambda x, o: np.average(x, weights=o),
    lambda x, o: np.einsum("i,i->", x, o),
    lambda x, o: np.concatenate([o, x, [x[0], 1]]),
    lambda x, _: np.linalg.solve([[2, 1, 0], [1, 3, 0], [0, 0, 1]], x),
    lambda x, o: np.polyval(o, x),
    lambda x, o: np.diff(x, prepend=o),
    lambda x, o: np.add(x, memoryview(np.array(o))),
]


@pytest.mark.parametrize("number", range(len(LISTS)))
def test_lists_are_operands_of_numpys_functions(number: int, backend: str) -> None:
    function, operand = LISTS[number], [1.0, 2.0, 4.0]
    expected = function(H[1], operand)
    x = anp.asarray(H[1])
    with ap.use_backend("cupy-sim" if backend == "numpy" else "numpy"):  # the Array's wins
        found = function(x, operand)
    assert found.device.backend == backend
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5)
    with pytest.raises(TypeError, match="not list"):
        anp.add(x, operand)


@pytest.mark.usefixtures("backend")
def test_python_operators_with_numpy_on_the_left_under_a_trace() -> None:
    found = ap.grad(lambda x: ((H * x) ** 2).sum())(anp.asarray(H))
    np.testing.assert_allclose(np.asarray(found), 2 * H**3, rtol=1e-6)
