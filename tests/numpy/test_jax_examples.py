"""The examples in the installed JAX's own docstrings, run on arrayport, print what they say.

Nothing of them is kept here. Every docstring with examples counts, of the modules that JAX has,
their functions, their classes and those classes' methods; those that do not pass whole are listed
with the reason, or use a name that is not here yet, which the doctor counts.
"""

from __future__ import annotations

import builtins
import doctest
import importlib
import inspect
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core.names import NAMES

jax = pytest.importorskip("jax", reason="the examples are those of the installed jax")

OLD = tuple(map(int, jax.__version__.split(".")[:2])) < (0, 12)
SHARE = 0.95  # of the docstrings, which must pass whole
WORKS = "it shows an error of JAX's where ours works"
GRADIENTS = ("custom_gradient", "custom_derivatives.custom_gradient")
LITERAL = "an index out of range is an error if it is a Python int: literal_indices_are_checked"
LISTS = "this older JAX gives lists where the newer one gives tuples"
LOGS = "custom_gradient takes no with_logs= yet"
DEVICES = "it shows what several devices do, or an error of theirs"
CHECKS = ("check", "check_error", "checkify", "debug_check")
CLASSES = "the error has a class of its own, not JaxRuntimeError"
REASONS = {
    **dict.fromkeys(["Array.at", "numpy.ndarray.at"], LITERAL),
    **dict.fromkeys(["Array.committed", "numpy.ndarray.committed"], DEVICES),
    "make_jaxpr": "it prints a Program, which has a notation of its own here",
    **({} if OLD else dict.fromkeys(GRADIENTS, LOGS)),
    "lax.nextafter": "numbers below 2**-126 are kept: subnormals_are_kept",
    "numpy.einsum_path": "the costs are printed as NumPy prints them",
    "numpy.expm1": "it shows how exp rounds near 1, where the last place differs",
    "numpy.polydiv": "numpy.polydiv of Arrays is ours, where JAX's arrays become NumPy's",
    "numpy.ufunc.reduceat": "it takes an array for an axis, which is an error here",
    "scipy.linalg.rsf2csf": "Schur vectors are unique but for a phase",
    "tree_util.register_pytree_node": "the error's class is a TypeError of its own",
    "tree_util.flatten_one_level": "it imports from a private module of JAX's",
    "custom_derivatives.linear_call": "of numbers JAX gives TypedFloat, here they are Arrays",
    **dict.fromkeys([f"experimental.checkify.{name}" for name in CHECKS], CLASSES),
    "errors.UnexpectedTracerError": "a leak has this error's own class, not Exception",
    "errors.NonConcreteBooleanIndexError": WORKS,
    "errors.TracerArrayConversionError": WORKS,
} | (
    {
        "numpy.atleast_1d": LISTS,
        "numpy.atleast_2d": LISTS,
        "numpy.broadcast_arrays": LISTS,
        "numpy.cross": "vectors of two components are the older JAX's, not the newer one's",
    }
    if OLD
    else {}
)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
ADDRESS = re.compile(r"\bat 0x[0-9a-f]+")
WEAK_TRUTH = re.compile(r"dtype=bool,\s+weak_type=True")  # a boolean is never weak here
TOKEN = re.compile(
    r"(?P<word>[A-Za-z_]\w*)"
    r"|(?P<float>[-+]?(?:\d+\.\d*|\.\d+|\d+(?=e))(?:e[-+]?\d+)?j?)"
    r"|(?P<other>[-+]?\d+|\S)"
)
ABSENT = re.compile(
    r"Error: (?:arrayport\S* has no '\w+'(?: yet)?, which jax"
    r"|No module named 'arrayport\.(?!_)|cannot import name '\w+' from 'arrayport)"
)


def found_module(root: str, name: str) -> ModuleType | None:
    try:
        return importlib.import_module(f"{root}.{name}".rstrip("."))
    except ModuleNotFoundError:
        return None


MODULES = [name for name in NAMES if found_module("jax", name) and found_module("arrayport", name)]


def tokens(text: str) -> list[tuple[str | None, str]]:
    text = WEAK_TRUTH.sub("dtype=bool", ADDRESS.sub("at", text.replace("<BLANKLINE>", "")))
    return [(match.lastgroup, match.group()) for match in TOKEN.finditer(text)]


def digits(number: str) -> int:
    """How many digits stand after the point."""
    return len(re.sub(r"e.*|j", "", number).partition(".")[2])


def near(want: str, got: str, largest: float) -> bool:
    """Whether two floats are one, rounded by different machines.

    They may be 16 units of float32 apart, 4 of the largest number beside them, or half a unit of
    the last place that is printed, if that is the fourth or a later one.
    """
    if ("j" in want) != ("j" in got):
        return False
    a, b = complex(want), complex(got)
    unit = 2.0**-23
    printed = 0.51 * 10.0 ** -digits(want) if digits(want) >= 4 and "e" not in want else 0.0
    return abs(a - b) <= max(16 * unit * abs(a), 4 * unit * largest, printed)


class Alike(doctest.OutputChecker):
    """Compares floats up to rounding, and everything else but spaces and addresses exactly."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags):
            return True
        known, found = tokens(want), tokens(got)
        if [(kind, kind == "float" or text) for kind, text in known] != [
            (kind, kind == "float" or text) for kind, text in found
        ]:
            return False
        pairs = [(a, b) for (kind, a), (_, b) in zip(known, found, strict=True) if kind == "float"]
        largest = max((abs(complex(a)) for a, _ in pairs), default=0.0)
        return all(a == b or near(a, b, largest) for a, b in pairs)


def documented(module: str) -> Iterator[tuple[str, str, str]]:
    """Give the path, the name in the module and the text of each docstring of JAX's."""
    theirs = found_module("jax", module)
    yield module or "jax", "__doc__", theirs.__doc__ or ""
    for name in NAMES[module].split():
        thing: Any = getattr(theirs, name, None)
        path = f"{module}.{name}".lstrip(".")
        if inspect.ismodule(thing) or not getattr(thing, "__module__", "jax").startswith("jax"):
            continue  # a module counts by itself; NumPy's types are not JAX's to document
        if not inspect.isclass(thing):
            yield path, name, inspect.getdoc(thing) or ""
            continue
        yield path, name, inspect.cleandoc(thing.__dict__.get("__doc__") or "")
        for method, function in list(vars(thing).items()):
            if not method.startswith("_") and not isinstance(function, thing):
                yield f"{path}.{method}", name, inspect.getdoc(getattr(thing, method)) or ""


def examples(module: str) -> Iterator[tuple[str, str, doctest.DocTest | None]]:
    """Take the examples of a module, with our modules in JAX's place; None: there is no such."""
    ours = found_module("arrayport", module)
    names = {key for key in dir(ours) if not key.startswith("__")} - vars(builtins).keys()
    # An example sees what its function's own module has, as it does in JAX.
    seen = {key: getattr(ours, key) for key in names if hasattr(ours, key)}
    seen |= {"jax": ap, "jnp": anp, "lax": ap.lax, "np": np, "partial": partial, "P": ap.P}
    seen["__name__"] = __name__
    for path, name, text in documented(module):
        ported = re.sub(r"(?m)^(\W*)import jax$", r"\1import arrayport as jax", text)
        ported = re.sub(r"\b(import|from) jax\b", r"\1 arrayport", ported)
        test = doctest.DocTestParser().get_doctest(ported, dict(seen), path, None, 0)
        if not all(example.options.get(doctest.SKIP) for example in test.examples):
            yield path, text, test if hasattr(ours, name) else None


@dataclass(frozen=True)
class Outcome:
    """What became of one docstring: what went wrong, or nothing; and whether a name is missing."""

    text: str
    said: str = ""
    missing: bool = False


@cache
def outcomes(module: str) -> dict[str, Outcome]:
    """Run a module's examples, by path."""
    warnings.simplefilter("ignore")  # until the test that calls it ends
    found = {}
    for path, text, test in examples(module):
        if test is None:
            found[path] = Outcome(text, "it is not here yet", missing=True)
            continue
        lines: list[str] = []
        runner = doctest.DocTestRunner(Alike(), verbose=False, optionflags=FLAGS)
        with ap.use_backend("numpy"), ap.virtual_devices(8):  # as JAX runs its own
            runner.run(test, out=lines.append)
        said = "".join(lines)
        found[path] = Outcome(text, said, ABSENT.search(said) is not None)
    return found


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where examples may write files


@pytest.mark.parametrize("module", MODULES)
def test_examples_print_what_jax_says(module: str) -> None:
    wrong = {}
    for path, found in outcomes(module).items():
        if found.missing and path in REASONS:
            wrong[path] = "it uses a name that is not here yet: REASONS need not list it"
        elif bool(found.said) != (path in REASONS) and not found.missing:
            wrong[path] = found.said or f"passes, though REASONS says: {REASONS[path]}"
    assert not wrong, "\n".join(f"==== {path}\n{said}" for path, said in wrong.items())


def test_nearly_all_docstrings_pass_whole() -> None:
    found = {path: each for m in MODULES for path, each in outcomes(m).items()}
    texts = {each.text for each in found.values()}
    failing = {each.text for each in found.values() if each.said}
    share = 1 - len(failing) / len(texts)
    left = sorted(path for path, each in found.items() if each.said)
    line = f"{len(texts) - len(failing)} of {len(texts)} docstrings, {share:.1%}; not: {left}"
    print(line)  # noqa: T201 - pytest -s shows it
    assert len(texts) > 400, line
    assert share >= SHARE, line


@pytest.mark.skipif(OLD, reason="the list is that of the newer JAX")
def test_the_list_names_what_there_is() -> None:
    assert set(REASONS) <= {path for m in MODULES for path in outcomes(m)}


@pytest.mark.parametrize(
    ("want", "got"),
    [
        ("Array([1, 2], dtype=int32)", "Array([12], dtype=int32)"),
        ("[1. 2.]", "[1 2]"),
        ("1.0", "1.1"),
        ("0.25", "0.254"),
        ("Array(1., dtype=float32)", "Array(1., dtype=float64)"),
        ("Array(1., dtype=float32)", "Array(1., dtype=float32, weak_type=True)"),
        ("(3, 4)", "(4, 3)"),
        ("1.+2.j", "1.+2."),
        ("[1e-9 2e-9]", "[2e-9 1e-9]"),
        ("[0. nan]", "[0. inf]"),
        ("True", "1"),
    ],
)
def test_what_differs_is_not_alike(want: str, got: str) -> None:
    assert not Alike().check_output(want + "\n", got + "\n", FLAGS)


@pytest.mark.parametrize(
    ("want", "got"),
    [
        ("[1.  2.5]", "[1. 2.5]"),
        ("0.84147", "0.841471"),
        ("Array(0.84147096, dtype=float32)", "Array(0.841471, dtype=float32)"),
        ("[1., -1.1920929e-07]", "[1., 0.0000000e+00]"),
        ("<function f at 0x7f0000>", "<function f at 0x7e1234>"),
    ],
)
def test_rounding_and_addresses_are_alike(want: str, got: str) -> None:
    assert Alike().check_output(want + "\n", got + "\n", FLAGS)
