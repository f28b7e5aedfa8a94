"""The names of arrayport's modules are JAX's, with JAX's signatures; what is missing says so."""

from __future__ import annotations

import importlib
import inspect
import pickle
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core.names import NAMES, REASONS, known
from arrayport.numpy import operators

UFUNC = {"out", "where"}


def ours(module: str) -> ModuleType:
    return importlib.import_module(f"arrayport.{module}".rstrip("."))


def here(module: str) -> bool:
    try:
        ours(module)
    except ModuleNotFoundError:
        return False
    return True


MODULES = [name for name in NAMES if name and here(name)]


def have(module: str) -> list[str]:
    return [name for name in known(module) if hasattr(ours(module), name)]


@pytest.mark.parametrize("module", MODULES)
def test_every_function_says_what_it_does(module: str) -> None:
    silent = [
        name
        for name in have(module)
        if callable(getattr(ours(module), name)) and not inspect.getdoc(getattr(ours(module), name))
    ]
    assert set(silent) <= {"Initializer"}  # the alias of a type


@pytest.mark.parametrize("module", MODULES)
def test_public_names_are_jaxs(module: str) -> None:
    """No function of ours beside JAX's own, lest a program written here fails there."""
    found = ours(module)
    names = getattr(found, "__all__", [n for n in vars(found) if not n.startswith("_")])
    foreign = {
        n
        for n in names
        if callable(getattr(found, n))
        and n not in known(module)
        and not inspect.isclass(getattr(found, n))
    }
    assert foreign - {"absent"} == set()


@pytest.mark.parametrize("module", ["", *MODULES])
def test_a_missing_name_says_so(module: str) -> None:
    missing = sorted(set(known(module)) - set(have(module)))
    if not missing:
        return
    for name in missing:
        reason = REASONS.get(f"{module}.{name}".lstrip("."))
        said = f"has no '{name}'{'' if reason else ' yet'}, which jax.*{re.escape(reason or '')}"
        with pytest.raises(AttributeError, match=said):
            getattr(ours(module), name)


def test_reasons_are_of_names_that_are_missing() -> None:
    for path, reason in REASONS.items():
        module, _, name = path.rpartition(".")
        assert name in known(module), path
        assert len(reason) > 10, path
        assert not (here(module) and hasattr(ours(module), name)), f"{path} is there"


def test_a_name_that_nobody_has_is_an_ordinary_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'arrayport\.numpy' has no attribute 'sine'"):
        anp.sine  # noqa: B018 - reading it is the test


def parameters(function: Any) -> dict[str, inspect.Parameter] | None:
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None


def departures(module: str) -> dict[str, dict[str, str]]:
    """How signatures of a module differ from JAX's: by function, by argument."""
    jax = pytest.importorskip("jax", reason="the signatures are jax's")
    if tuple(map(int, jax.__version__.split(".")[:2])) < (0, 12):
        pytest.skip("the signatures are those of jax 0.12")
    theirs = importlib.import_module(f"jax.{module}")
    found = {}
    for name in have(module):
        a, b = (parameters(getattr(m, name)) for m in (ours(module), theirs))
        if a is None or b is None or inspect.isclass(getattr(theirs, name)):
            continue
        found[name] = faults(a, b)
    return found


@pytest.mark.filterwarnings("ignore:jax.experimental.shard_map is deprecated")
@pytest.mark.parametrize("module", MODULES)
def test_signatures_are_jaxs(module: str) -> None:
    wrong = [
        f"{name}: {fault}" for name, found in departures(module).items() for fault in found.values()
    ]
    assert wrong == []


def faults(a: dict[str, inspect.Parameter], b: dict[str, inspect.Parameter]) -> dict[str, str]:
    """How a signature of ours differs from JAX's, by argument."""
    if any(p.kind is p.VAR_POSITIONAL for p in b.values()) and {*b} >= UFUNC:
        return {}  # a ufunc of JAX's shows no operands
    found = {}
    positional = {inspect.Parameter.POSITIONAL_ONLY}
    first = [p for p in a.values() if p.kind is not p.KEYWORD_ONLY]
    for i, (name, theirs) in enumerate(b.items()):
        if theirs.kind in positional or theirs.kind in {theirs.VAR_KEYWORD, theirs.VAR_POSITIONAL}:
            if theirs.kind in positional and i >= len(first):
                found[name] = f"has no argument {i}"
            continue
        own = a.get(name)
        if own is None and any(p.kind is p.VAR_KEYWORD for p in a.values()):
            continue
        if own is None:
            found[name] = f"has no {name}"
        elif own.kind is not theirs.kind and own.kind is own.KEYWORD_ONLY:
            found[name] = f"{name} is keyword-only"
        elif not same(own.default, theirs.default):
            found[name] = f"{name}={own.default!r}, not {theirs.default!r}"
    return found


def same(a: Any, b: Any) -> bool:
    """Whether two defaults are one; where JAX has none ours may have one."""
    if b is inspect.Parameter.empty:
        return True
    if type(a) in {bool, int, float, str, tuple, type(None)}:
        return bool(a == b) or str(b) == str(a)
    return (a is inspect.Parameter.empty) == (b is inspect.Parameter.empty)


def test_every_operator_that_arrays_call_is_there() -> None:
    core = Path(ap.__file__).parent / "core"
    called = {
        name
        for file in core.glob("*.py")
        for name in re.findall(r"hooks\.operators\.(\w+)", file.read_text("utf-8"))
    }
    assert len(called) > 50
    assert {name for name in called if not hasattr(operators, name)} == set()


def test_scalar_types_make_arrays_and_are_dtypes() -> None:
    x = anp.float32(1.5)
    assert isinstance(x, ap.Array)
    assert x.dtype == anp.float32 == np.float32 == anp.float32
    assert anp.float32 not in (anp.float64, np.float64, None)
    assert anp.zeros(2, anp.int8).dtype == anp.int8
    assert anp.dtype(anp.bfloat16).name == "bfloat16"
    assert {anp.float32: 1}[np.float32] == 1
    assert anp.bool(3).item() is True


def test_scalar_types_are_types() -> None:
    assert isinstance(anp.float32, type)
    assert isinstance(np.float32(1), anp.float32)
    assert not isinstance(1.0, anp.float32)
    assert isinstance(None, anp.int8 | None)
    assert pickle.loads(pickle.dumps(anp.bfloat16)) is anp.bfloat16


def test_constants() -> None:
    assert anp.pi == pytest.approx(3.14159265358979)
    assert anp.e == pytest.approx(2.718281828459045)
    assert anp.euler_gamma == pytest.approx(0.5772156649015329)
    assert anp.inf > 1e308
    assert anp.nan != anp.nan
    assert anp.newaxis is None


@pytest.mark.usefixtures("backend")
def test_view_reads_bits() -> None:
    host = np.arange(4, dtype=np.float32)
    x = anp.asarray(host)
    assert x.view("float32") is x
    for dtype in ("int32", "int16", "uint8", "complex64"):
        np.testing.assert_array_equal(np.asarray(x.view(dtype)), host.view(dtype))
    z = anp.asarray(host + 2j)
    np.testing.assert_array_equal(np.asarray(z.view("float32")), (host + 2j).view("float32"))
    truth = anp.asarray(host > 1)
    np.testing.assert_array_equal(np.asarray(truth.view("int8")), [0, 0, 1, 1])
    assert truth.view("uint8").view("bool").dtype == bool
    with pytest.raises(ValueError, match="viewed as int32"):
        anp.ones(3, "int16").view("int32")
    with pytest.raises(ValueError, match="0-d array"):
        x[0].view("int16")
