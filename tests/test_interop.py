"""The tables of docs/interop.md, cell by cell: what other libraries' objects do beside Arrays."""

from __future__ import annotations

import array
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp

TEXT = (Path(__file__).parents[1] / "docs" / "interop.md").read_text()
H = np.array([1.0, 2.0, 3.0], np.float32)
ORDER = np.array([2, 0, 1], np.int32)
Make = Callable[[np.ndarray], Any]


class Protocol:
    """An object that shows its numbers by one protocol only."""

    def __init__(self, host: np.ndarray) -> None:
        self.host = host


class Convertible(Protocol):
    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.host


class Interface(Protocol):
    @property
    def __array_interface__(self) -> Any:
        return self.host.__array_interface__


class Capsule(Protocol):
    def __dlpack__(self, **options: Any) -> Any:
        return self.host.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.host.__dlpack_device__()


class JaxLike(Protocol):
    def __jax_array__(self) -> Any:
        return anp.asarray(self.host)


class Unit:
    """A number with a unit, say: a class with operators of its own, that knows of no arrays."""

    def __mul__(self, _: Any) -> Unit:
        return Unit()

    __rmul__ = __add__ = __radd__ = __matmul__ = __rmatmul__ = __lt__ = __gt__ = __mul__
    __eq__ = __mul__  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


def of(name: str, path: str, *before: Any) -> Make:
    """Make an object of a library that may be absent."""

    def make(host: np.ndarray) -> Any:
        module = pytest.importorskip(name, reason=f"{name} is not installed")
        return getattr(module, path)(*before, host)

    return make


def on(backend: str) -> Make:
    """Make a backend's own array."""

    def make(host: np.ndarray) -> Any:
        if backend == "jax" and not find_spec("jax"):
            pytest.skip("jax is not installed")
        with ap.use_backend(backend):
            return anp.asarray(host).native

    return make


def plain(host: np.ndarray) -> np.ndarray:
    return host


# How the objects of a column are made of a host array, and the host array that they stand for.
KINDS: dict[str, tuple[list[Make], Make]] = {
    "NumPy": ([np.array], plain),
    "number": ([lambda h: h[0].item(), lambda h: h[0]], lambda h: h[0]),
    "list": ([list, tuple], plain),
    "buffer": ([lambda h: array.array(h.dtype.char, h), memoryview], plain),
    "protocol": ([Convertible, Interface, Capsule, JaxLike], plain),
    "CuPy": ([on("cupy-sim")], plain),
    "JAX": ([on("jax")], plain),
    "CuPy, x elsewhere": ([on("cupy-sim")], plain),
    "JAX, x elsewhere": ([on("jax")], plain),
    "masked": ([lambda h: np.ma.array(h.copy(), mask=h == h[0])], plain),
    "sparse": ([lambda h: of("scipy.sparse", "csr_array")(np.diag(h))], np.diag),
    "pandas": ([of("pandas", "Series")], plain),
    "torch": ([of("torch", "tensor")], plain),
    "operators": ([lambda _: Unit()], plain),
    "text": ([lambda _: "text"], plain),
    "None": ([lambda _: None], lambda _: None),
}
HOMES = {"CuPy": ["cupy-sim"], "JAX": ["jax"]} | {
    "CuPy, x elsewhere": ["numpy", "jax"],
    "JAX, x elsewhere": ["numpy", "cupy-sim"],
}


def assigned(target: Any, value: Any) -> Any:
    target += value
    return target


def double(x: Any) -> Any:
    return x * 2


Use = Callable[[Any, Any], Any]
# What is done, on Arrays and then on NumPy's.
USES: dict[str, tuple[Use, Use]] = {
    "`asarray(o)`": (lambda _, o: anp.asarray(o), lambda _, o: o),
    "`sin(o)`": (lambda _, o: anp.sin(o), lambda _, o: np.sin(o)),
    "`x + o`": (lambda x, o: x + o, lambda x, o: x + o),
    "`o + x`": (lambda x, o: o + x, lambda x, o: o + x),
    "`x @ o`": (lambda x, o: x @ o, lambda x, o: x @ o),
    "`o @ x`": (lambda x, o: o @ x, lambda x, o: o @ x),
    "`x < o`": (lambda x, o: x < o, lambda x, o: x < o),
    "`x == o`": (lambda x, o: x == o, lambda x, o: x == o),
    "`x += o`": (assigned, lambda x, o: x + o),
    "`o += x`": (lambda x, o: assigned(o, x), lambda x, o: o + x),
    "`x[o]`": (lambda x, o: x[o], lambda x, o: x[o]),
    "`o[arr]`": (lambda _, o: o[anp.asarray(ORDER)], lambda _, o: o[ORDER]),
    "`jit(f)(o)`": (lambda _, o: ap.jit(lambda v: ap.tree.map(double, v))(o), lambda _, o: o * 2),
    "`grad(f)(o)`": (lambda _, o: ap.grad(lambda v: anp.sum(v * v))(o), lambda _, o: 2 * o),
    "traced `x + o`": (lambda x, o: ap.jit(lambda x: x + o)(x), lambda x, o: x + o),
    "traced `o + x`": (lambda x, o: ap.jit(lambda x: o + x)(x), lambda x, o: o + x),
    "traced `return o`": (lambda x, o: ap.jit(lambda _: o)(x), lambda _, o: o),
    "`np.add(o, x)`": (lambda x, o: np.add(o, x), lambda x, o: o + x),
}
INDEXING = "`x[o]`"


def table(title: str) -> tuple[list[str], dict[str, list[str]]]:
    """Read a table: its columns, and the cells of each row."""
    section = TEXT.split(f"## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return rows[0][1:], {row[0]: row[1:] for row in rows[2:]}


ERRORS = (TypeError, ValueError, LookupError, RuntimeError, BufferError)


def outcome(act: Callable[[], Any], given: Any = None) -> tuple[str, Any]:
    """Name what came of it, as the tables do."""
    try:
        found = act()
    except ap.errors.BackendMismatchError:
        return "mismatch", None
    except ap.errors.TracerArrayConversionError:
        return "traced", None
    except ERRORS:
        return "error", None
    module = type(found).__module__.partition(".")[0]
    if found is None or isinstance(found, bool):
        return str(found), None
    if isinstance(found, list | tuple):
        return "list", found
    if isinstance(found, ap.Array):
        return "Array", found
    if module in {"jax", "jaxlib"}:
        return "JAX", found
    if module == type(given).__module__.partition(".")[0] and type(found) is not np.ndarray:
        return "own", found
    if isinstance(found, np.generic):
        return "number", found
    return "NumPy" if module == "numpy" else module, found


def host_of(found: Any) -> np.ndarray:
    """Read the numbers of what came out; where there is a mask, of what it hides the fill."""
    if isinstance(found, list | tuple):
        return np.array([host_of(x) for x in found])
    for reading in ("toarray", "filled", "get") if not hasattr(found, "index") else ():
        if hasattr(found, reading):
            return getattr(found, reading)()
    return np.asarray(found)


FIRST = "Into arrayport"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("use", USES)
def test_what_comes_in(use: str, kind: str, backend: str) -> None:
    if backend not in HOMES.get(kind, [backend]):
        pytest.skip("another column is for this backend")
    columns, rows = table(FIRST)
    wanted = rows[use][columns.index(kind)]
    makes, meaning = KINDS[kind]
    host = ORDER if use == INDEXING else H
    ours, theirs = USES[use]
    for make in makes:
        given = make(host)
        x = anp.asarray(H)
        name, found = outcome(lambda: ours(x, given), given)  # noqa: B023 - called at once
        assert name in wanted.split(" or ")
        if found is not None and kind != "operators":
            expected = theirs(H, meaning(host))
            if kind == "masked":
                expected = np.ma.array(expected, mask=found.mask).filled()
            np.testing.assert_allclose(np.asarray(host_of(found)), expected, rtol=1e-6)
        np.testing.assert_array_equal(np.asarray(x), H)  # whatever it was, x has not changed


def test_the_first_table_is_whole() -> None:
    columns, rows = table(FIRST)
    assert columns == list(KINDS)
    assert list(rows) == list(USES)


def library(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed")


WAYS_OUT: dict[str, Callable[[Any], Any]] = {
    "`np.asarray(x)`": np.asarray,
    "`np.from_dlpack(x)`": np.from_dlpack,
    "`jax.numpy.asarray(x)`": lambda x: library("jax.numpy").asarray(x),
    "`jax.numpy.sin(x)`": lambda x: library("jax.numpy").arcsin(library("jax.numpy").sin(x)),
    "`torch.from_dlpack(x)`": lambda x: library("torch").from_dlpack(x),
    "`torch.asarray(x)`": lambda x: library("torch").asarray(x),
    "`pandas.Series(x)`": lambda x: library("pandas").Series(x),
    "`scipy.sparse.csr_array(x)`": lambda x: library("scipy.sparse").csr_array(x).toarray(),
    "`list(x)`": list,
    "`x.tolist()`": lambda x: x.tolist(),
    '`array.array("f", x)`': lambda x: array.array("f", x),
    "`memoryview(x)`": memoryview,
    "`isinstance(x, numpy.ndarray)`": lambda x: isinstance(x, np.ndarray),
    "`isinstance(x, jax.Array)`": lambda x: isinstance(x, library("jax").Array),
}
SECOND = "Out of arrayport"
PLACES = {"NumPy": "numpy", "CuPy": "cupy-sim", "JAX": "jax"}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_what_goes_out(way: str, backend: str) -> None:
    columns, rows = table(SECOND)
    place = next(name for name, own in PLACES.items() if own == backend)
    x, act = anp.asarray(H / 2), WAYS_OUT[way]
    name, found = outcome(lambda: act(x), x)
    assert name == rows[way][columns.index(place)]
    if found is not None:
        np.testing.assert_allclose(np.ravel(host_of(found)), H / 2, rtol=1e-6)
    seen = []

    @ap.jit
    def traced(x: Any) -> Any:
        seen.append(outcome(lambda: act(x), x)[0])
        return x

    traced(x)
    column = "traced by JAX" if backend == "jax" else "traced"
    assert seen == [rows[way][columns.index(column)]]


def test_the_second_table_is_whole() -> None:
    columns, rows = table(SECOND)
    assert columns == [*PLACES, "traced", "traced by JAX"]
    assert list(rows) == list(WAYS_OUT)
