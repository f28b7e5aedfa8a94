"""The examples in the installed JAX's own docstrings, run on arrayport, print what they say.

Nothing of them is kept here. Numbers may differ in their last places, and a boolean is never weak
here. A docstring that uses a name that is not here yet is left out: the doctor counts those.
"""

from __future__ import annotations

import builtins
import doctest
import importlib
import inspect
import math
import re
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core.names import NAMES

jax = pytest.importorskip("jax", reason="the examples are those of the installed jax")

OLD = tuple(map(int, jax.__version__.split(".")[:2])) < (0, 12)
TRACER = "it prints a tracer, of which ours have other names"
PROGRAM = "it prints a Program, which has a notation of its own here"
ORDER = "the order within the parts is open, and here it is that of sorting"
WORKS = "it shows an error of JAX's where ours works"
GRADIENTS = ("custom_gradient", "custom_derivatives.custom_gradient")
LISTS = "this older JAX gives lists where the newer one gives tuples"
REASONS = {
    "disable_jit": TRACER,
    "make_jaxpr": PROGRAM,
    "vmap": "a number that is not mapped comes back as an Array, not as itself",
    "custom_batching.custom_vmap": "custom_vjp does not hand def_vmap on to the function inside it",
    **({} if OLD else dict.fromkeys(GRADIENTS, "custom_gradient takes no with_logs= yet")),
    "lax.AccuracyMode": "it is the example of Python's own Enum",
    "lax.linalg.ormqr": "numpy.linalg.qr gives no reflections (mode='raw')",
    "numpy.argpartition": ORDER,
    "numpy.einsum_path": "the costs are printed as NumPy prints them",
    "numpy.partition": ORDER,
    "numpy.polydiv": "numpy.polydiv of Arrays is ours, where JAX's arrays become NumPy's",
    "numpy.save": "what it says is printed has a mark of comment in front",
    "random.wrap_key_data": "typed keys do not compare yet",
    "scipy.linalg.invpascal": "zeros have another sign",
    "scipy.signal.detrend": "zeros have another sign",
    "scipy.linalg.rsf2csf": "Schur vectors are unique but for a phase",
    "tree_util.Partial": TRACER,
    "tree_util.flatten_one_level": "it imports from a private module of JAX's",
    "errors.UnexpectedTracerError": "a leak has this error's own class, not Exception",
    "errors.NonConcreteBooleanIndexError": WORKS,
    "errors.TracerArrayConversionError": WORKS,
    "errors.TracerIntegerConversionError": "numpy.split is ours there, and names the traced axis",
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
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")


def found_module(root: str, name: str) -> ModuleType | None:
    try:
        return importlib.import_module(f"{root}.{name}".rstrip("."))
    except ModuleNotFoundError:
        return None


MODULES = [name for name in NAMES if found_module("jax", name) and found_module("arrayport", name)]


class Alike(doctest.OutputChecker):
    """Compares numbers up to rounding, and the text between them but for spaces."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        want, got = (re.sub(r"\s+|<BLANKLINE>", "", text) for text in (want, got))
        want = want.replace("dtype=bool,weak_type=True", "dtype=bool")
        if super().check_output(want, got, optionflags):
            return True
        if NUMBER.sub("#", want) != NUMBER.sub("#", got):
            return False
        pairs = zip(NUMBER.findall(want), NUMBER.findall(got), strict=True)
        return all(math.isclose(float(a), float(b), rel_tol=1e-5, abs_tol=1e-6) for a, b in pairs)


def examples(name: str) -> Iterator[tuple[str, doctest.DocTest]]:
    """Take the examples of a module's functions that are here, with our modules in JAX's place."""
    theirs, ours = found_module("jax", name), found_module("arrayport", name)
    for function in NAMES[name].split():
        path, documented = f"{name}.{function}".lstrip("."), getattr(theirs, function, None)
        text = inspect.getdoc(documented) or ""
        if inspect.ismodule(documented) or not hasattr(ours, function) or ">>>" not in text:
            continue
        text = re.sub(r"^(\W*)import jax$", r"\1import arrayport as jax", text, flags=re.MULTILINE)
        text = re.sub(r"\b(import|from) jax\b", r"\1 arrayport", text)
        # An example sees what its function's own module has, as it does in JAX.
        names = {key for key in vars(ours) if not key.startswith("__")} - vars(builtins).keys()
        seen = {key: getattr(ours, key) for key in names}
        seen |= {"jax": ap, "jnp": anp, "lax": ap.lax, "np": np, "partial": partial}
        seen["__name__"] = __name__
        test = doctest.DocTestParser().get_doctest(text, seen, path, None, 0)
        if not all(example.options.get(doctest.SKIP) for example in test.examples):
            yield path, test


def outcome(test: doctest.DocTest) -> str:
    """Run the examples of one docstring: what went wrong, or nothing."""
    said: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner = doctest.DocTestRunner(Alike(), verbose=False, optionflags=FLAGS)
        runner.run(test, out=said.append)
    return "".join(said)


@pytest.mark.parametrize("module", MODULES)
def test_examples_print_what_jax_says(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = {}
    with ap.use_backend("numpy"):
        for path, test in examples(module):
            said = outcome(test)
            missing = re.search(r"AttributeError: arrayport\S* has no '\w+' yet", said)
            if bool(said) != (path in REASONS) and not missing:
                wrong[path] = said or f"passes, though REASONS says: {REASONS[path]}"
    assert not wrong, "\n".join(f"==== {path}\n{said}" for path, said in wrong.items())
