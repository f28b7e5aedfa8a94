"""What CuPy has: a table of its functions, ufunc loops, array attributes and dtypes, facts.json.

`python -m arrayport_backends.cupy.facts` prints the table of the installed CuPy, which imports
without a GPU; `--write` puts it in place of the one kept here.

An entry says what a name is: `(a, axis=None)` is a function with these parameters, `ff->f dd->d` a
ufunc with these loops, both together a function that runs such a ufunc; else a value or a type.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

TABLE = Path(__file__).with_name("facts.json")
NAMESPACES = ("cupy", "cupy.linalg", "cupy.fft", "cupyx.scipy.special")
SOURCE_ONLY = "cupyx.scipy.linalg"  # imports only where CUDA's libraries are, so its source is read
CANDIDATE_DTYPES = """
    bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 longdouble
    complex64 complex128 clongdouble object str bytes datetime64 timedelta64 bfloat16
    float8_e4m3fn float8_e5m2 int4
"""
# functions that run a ufunc which has no public name, and where CuPy keeps it
HIDDEN_UFUNCS = {
    "where": ("cupy._sorting.search", "_where_ufunc"),
    "clip": ("cupy._core._routines_math", "_clip"),
}


@dataclass(frozen=True)
class Parameters:
    """The parameters of a function: positional names, those that may be keywords, what is open."""

    positional: tuple[str, ...]
    keywords: frozenset[str]
    any_positional: bool
    any_keyword: bool


@dataclass(frozen=True)
class Fact:
    """What one name of CuPy's is; `parameters` for a function, `loops` for what runs as a ufunc."""

    parameters: Parameters | None
    loops: tuple[str, ...]


@cache
def table() -> dict[str, Any]:
    """Read the table: `version`, `dtypes`, `ndarray` (attributes) and one table a namespace.

    >>> table()["cupy.linalg"]["eigh"]
    "(a, UPLO='L')"
    """
    read: dict[str, Any] = json.loads(TABLE.read_text())
    return read


@cache
def fact(namespace: str, name: str) -> Fact | None:
    """Look a name up in one of CuPy's modules; None if CuPy lacks it.

    >>> fact("cupy", "sin").loops
    ('e->e', 'E->E', 'f->f', 'd->d', 'F->F', 'D->D')
    >>> fact("cupy", "take").parameters.positional
    ('a', 'indices', 'axis', 'out')
    """
    entry = table()[namespace].get(name)
    if entry is None:
        return None
    signature, end, loops = entry.rpartition(")")
    return Fact(
        _parameters(signature + end) if end else None, tuple(w for w in loops.split() if "->" in w)
    )


def dtypes() -> frozenset[np.dtype[Any]]:
    """List the dtypes that a CuPy array can have.

    >>> np.dtype(object) in dtypes(), np.dtype(ml_dtypes.bfloat16) in dtypes()
    (False, True)
    """
    return frozenset(_dtype(name) for name in table()["dtypes"].split())


def installed() -> dict[str, Any]:
    """Make the table from the installed CuPy. Raises ImportError where there is none."""
    cupy = import_module("cupy")
    names = {space: import_module(space) for space in NAMESPACES}
    return {
        "version": cupy.__version__,
        "dtypes": " ".join(name for name in CANDIDATE_DTYPES.split() if _supported(name)),
        "ndarray": " ".join(
            n for n in dir(cupy.ndarray) if not n.startswith("_") or n.endswith("__")
        ),
        **{space: _entries(module, cupy.ufunc) for space, module in names.items()},
        SOURCE_ONLY: _source_entries(SOURCE_ONLY),
    }


def render(facts: dict[str, Any]) -> str:
    """Write a table as JSON with one name a line, so that a new CuPy's differences can be read."""
    return json.dumps(facts, indent=1, sort_keys=True) + "\n"


def _entries(module: Any, ufunc: type) -> dict[str, str]:
    public = [n for n in dir(module) if not n.startswith("_") and n != "annotations"]
    return {name: _entry(name, getattr(module, name), ufunc) for name in public}


def _source_entries(package: str) -> dict[str, str]:
    home = Path(*import_module("cupyx").__path__).parent.joinpath(*package.split("."))
    trees = {path.stem: ast.parse(path.read_text()) for path in home.glob("*.py")}
    imports = [n for n in trees["__init__"].body if isinstance(n, ast.ImportFrom)]
    names = {alias.name for n in imports for alias in n.names}
    public = {name for name in names if not name.startswith("_")}
    defined = [n for t in trees.values() for n in t.body if isinstance(n, ast.FunctionDef)]
    return {n.name: f"({ast.unparse(n.args)})" for n in defined if n.name in public}


def _entry(name: str, value: Any, ufunc: type) -> str:
    if isinstance(value, ufunc):
        return _loops(value)
    if inspect.ismodule(value):
        return "module"
    if isinstance(value, type):
        return "type"
    if not callable(value):
        return "value"
    home, hidden = HIDDEN_UFUNCS.get(name, ("", ""))
    loops = _loops(getattr(import_module(home), hidden)) if home else ""
    return f"{_signature(value)} {loops}".strip()


def _loops(ufunc: Any) -> str:
    # structured dtypes are beyond this table
    return " ".join(loop for loop in dict.fromkeys(ufunc.types) if "V" not in loop)


def _signature(function: Any) -> str:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return "(*args, **kwargs)"  # compiled code that does not tell
    plain = [p.replace(annotation=p.empty, default=_literal(p.default)) for p in parameters]
    return str(inspect.Signature(plain))


def _literal(default: Any) -> Any:
    plain = (type(None), bool, int, float, str, tuple)
    return default if default is inspect.Parameter.empty or isinstance(default, plain) else ...


def _parameters(signature: str) -> Parameters:
    definition = ast.parse(f"def f{signature}: ...").body[0]
    assert isinstance(definition, ast.FunctionDef)
    args = definition.args
    positional = tuple(a.arg for a in (*args.posonlyargs, *args.args))
    keywords = frozenset(a.arg for a in (*args.args, *args.kwonlyargs))
    return Parameters(positional, keywords, args.vararg is not None, args.kwarg is not None)


def _dtype(name: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, name, name))


def _supported(name: str) -> bool:
    try:
        import_module("cupy._core._scalar").get_typename(_dtype(name))
    except ValueError:
        return False
    return True


def main(arguments: list[str]) -> int:
    """Print the table of the installed CuPy, or write it with `--write`; 1 if there is no CuPy."""
    try:
        text = render(installed())
    except ImportError as e:
        sys.stderr.write(f"the table is made from an installed CuPy, and there is none: {e}\n")
        return 1
    if arguments == ["--write"]:
        TABLE.write_text(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
