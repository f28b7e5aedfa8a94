"""Programs to paste that repeat one check of a function, wherever the function was defined."""

from __future__ import annotations

import ast
import builtins
import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.config import config


def reproduction(function: Callable[..., Any], args: Sequence[Any], check: str) -> str:
    """Write a program that defines `subject` and `args`, and then calls `check_equivalent`.

    What a function of a test file uses is written out with it; what cannot be written is `...`,
    with a comment that says what it was.
    """
    lines = ["from math import inf, nan", "import numpy as np"]
    if config.enable_x64:
        lines += ["import arrayport", 'arrayport.config.update("enable_x64", True)']
    lines += ["from arrayport.testing import Tolerance, Ulps, check_equivalent"]
    lines += [*_Definitions().of("subject", function), f"args = {literal(tuple(args))}", check]
    return "\n".join(lines)


class _Definitions:
    """Writes what names stand for, each once, in an order in which Python can run it."""

    def __init__(self) -> None:
        self.written: dict[str, Any] = {}

    def of(self, name: str, value: Any) -> list[str]:
        """Give the lines after which a name stands for a value."""
        if name in self.written:
            same = self.written[name] is value
            return [] if same else [f"# {name} is also {value!r}, which this program leaves out"]
        self.written[name] = value
        if isinstance(value, ModuleType):
            return [f"import {value.__name__} as {name}"]
        place = _place(value)
        if place:
            module, first, rest = place
            if rest or first != name:
                return [f"from {module} import {first}", f"{name} = {first}{rest}"]
            return [f"from {module} import {first}"]
        if isinstance(value, functools.partial):
            inner = self.of(f"{name}_inner", value.func)
            given = [literal(x) for x in value.args]
            given += [f"{key}={literal(x)}" for key, x in value.keywords.items()]
            call = ", ".join([f"{name}_inner", *given])
            return [*inner, "from functools import partial", f"{name} = partial({call})"]
        if isinstance(value, FunctionType):
            return self._function(name, value)
        if isinstance(value, int | float | complex | str | bool | tuple | list | dict | np.ndarray):
            return [f"{name} = {literal(value)}"]
        return [f"{name} = ...  # {value!r}"]

    def _function(self, name: str, function: FunctionType) -> list[str]:
        node = _node(function)
        if node is None:
            return [f"{name} = ...  # {function!r}, whose source cannot be found"]
        used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        known: Mapping[str, Any] = {**function.__globals__, **_cells(function)}
        own = function.__code__.co_name
        needed = sorted(u for u in used & known.keys() if u != own and not hasattr(builtins, u))
        lines = [line for u in needed for line in self.of(u, known[u])]
        if isinstance(node, ast.Lambda):
            return [*lines, f"{name} = {ast.unparse(node)}"]
        rename = [] if name == own else [f"{name} = {own}"]
        return [*lines, ast.unparse(node), *rename]


def _cells(function: FunctionType) -> dict[str, Any]:
    """Give the values that a function closes over, but for those that are not set yet."""
    pairs = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    found = {}
    for name, cell in pairs:
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue
    return found


def _place(value: Any) -> tuple[str, str, str] | None:
    """Say from which module a value can be imported: what installed packages define."""
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", "")
    if not module or not name or "<" in name or module == "__main__":
        return None
    if any(part.startswith("test") or part == "conftest" for part in module.split(".")[-2:]):
        return None  # whoever pastes the program may be elsewhere
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    found = sys.modules.get(module)
    if spec is None or found is None or spec.origin != getattr(found, "__file__", None):
        return None
    first, _, rest = name.partition(".")
    whole: Any = found
    for part in name.split("."):
        whole = getattr(whole, part, None)
    return (module, first, f".{rest}" if rest else "") if whole is value else None


def _node(function: FunctionType) -> ast.FunctionDef | ast.Lambda | None:
    """Find the syntax of a function in its file, without annotations, which need imports."""
    code = function.__code__
    try:
        tree = ast.parse(Path(code.co_filename).read_text("utf-8"))
    except (OSError, SyntaxError, ValueError):
        return None
    if code.co_name != "<lambda>":
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                if first == code.co_firstlineno:
                    return _plain(node)
        return None
    body = min(
        (p[0], p[2]) for p in code.co_positions() if p[0] and p[2] is not None and p[3] != p[2]
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            inside: list[Any] = [n for n in ast.walk(node.body) if isinstance(n, ast.expr)]
            if min((n.lineno, n.col_offset) for n in inside) == body:
                return node
    return None


def _plain(node: ast.FunctionDef) -> ast.FunctionDef:
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef):
            inner.returns = None
        elif isinstance(inner, ast.arg):
            inner.annotation = None
    return node


def literal(x: Any) -> str:
    """Write an argument as Python, to the last bit."""
    if isinstance(x, np.ndarray):
        parts = x.ravel()
        text = f"dtype={x.dtype.name!r})"
        if x.dtype.kind == "c":  # whose own words for infinities cannot be read
            parts = parts.view(dtypes.real_dtype(x.dtype))
            text = f"dtype={parts.dtype.name!r}).view({x.dtype.name!r})"
        return f"np.array({parts.tolist()!r}, {text}.reshape({x.shape})"
    if type(x) in {tuple, list}:
        inner = ", ".join(map(literal, x))
        return f"[{inner}]" if type(x) is list else f"({inner}{',' * (len(x) == 1)})"
    if type(x) is dict:
        return "{" + ", ".join(f"{k!r}: {literal(v)}" for k, v in x.items()) + "}"
    return repr(x)
