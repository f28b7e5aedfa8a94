"""NumPy's dispatch: what NumPy's own functions mean when called on an Array or a tracer."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from arrayport.core.array import Array
from arrayport.core.errors import user_line
from arrayport.core.tree import tree_map
from arrayport.numpy.creation import astype
from arrayport.numpy.ufuncs import ufunc

# NumPy's names for arguments that JAX calls otherwise.
RENAMED = {
    "clip": {"a": "arr", "a_min": "min", "a_max": "max"},
    "imag": {"val": "x"},
    "matmul": {"x1": "a", "x2": "b"},
    "matrix_rank": {"A": "M"},
    "real": {"val": "x"},
    "tensordot": {"x1": "a", "x2": "b"},
}
# What says nothing of values: an Array has neither subclasses nor an order in memory.
EMPTY = {"subok"}
LAYOUTS = {"copy", "empty_like", "full_like", "ones_like", "zeros_like"}
# What NumPy may do with the values on the host, since its answer is text, a file or a dtype.
HOSTED = {"array2string", "common_type", "min_scalar_type", "save", "savetxt", "savez"} | {
    "savez_compressed"
}
WRITERS = {
    "copyto": "y = numpy.where(mask, new, y), or go on with the new array",
    "fill_diagonal": "x = arrayport.numpy.fill_diagonal(x, value, inplace=False)",
    "place": "x = arrayport.numpy.place(x, mask, values, inplace=False)",
    "put": "x = arrayport.numpy.put(x, indices, values, inplace=False)",
    "put_along_axis": "x = arrayport.numpy.put_along_axis(x, indices, values, axis, inplace=False)",
    "putmask": "x = numpy.where(mask, values, x)",
}


@cache
def counterpart(module: str, name: str) -> Any:
    """Find the function of arrayport that has the name of one of NumPy's; None if there is none."""
    place: Any = sys.modules[__package__]
    for part in module.split(".")[1:]:
        place = getattr(place, part, None)
    return getattr(place, name, None) if module.split(".", maxsplit=1)[0] == "numpy" else None


def numpy_ufunc(
    asked: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Do what a NumPy ufunc was asked on Arrays: `np.sin(x)`, `np_x + x`, `np.add.reduce(x)`.

    Raises TypeError, with the idiom, for `out=`, `where=` and in-place operators, and for what has
    no counterpart here.
    """
    name = asked.__name__
    if options.pop("out", None) is not None:
        raise _no_writing(name)
    known = counterpart("numpy", name)
    if known is None:
        raise _not_covered(f"numpy.{name}")
    if method == "at":
        raise TypeError(
            f"numpy.{name}.at was asked at {user_line()} to change an array, which an Array does "
            f"not: write x = arrayport.numpy.{name}.at(x, indices, values, inplace=False), or "
            "x.at[indices].add(values) and its kin"
        )
    if method != "__call__":
        if not isinstance(known, ufunc):
            known = ufunc(known, asked.nin, asked.nout, identity=asked.identity, call=known)
        if options.get("where") is True:
            del options["where"]
        return getattr(known, method)(*inputs, **options)
    if options.pop("where", True) is not True:
        raise TypeError(
            f"numpy.{name}(where=...) on an Array at {user_line()}: write numpy.where(mask, "
            f"numpy.{name}(...), other)"
        )
    dtype = options.pop("dtype", None)
    if options:
        raise TypeError(f"numpy.{name} on an Array takes no {', '.join(options)}: at {user_line()}")
    out = known(*inputs)
    return out if dtype is None else tree_map(lambda x: astype(x, dtype), out)


class Parameters(NamedTuple):
    """How the arguments of a NumPy function become those of its counterpart."""

    theirs: inspect.Signature
    ours: frozenset[str]
    alike: int  # so many arguments by position are the same
    free: bool  # NumPy's function takes any number of them
    open: bool  # ours takes any by name


@cache
def _parameters(func: Callable[..., Any], known: Callable[..., Any]) -> Parameters:
    theirs, ours = inspect.signature(func), inspect.signature(known).parameters
    renamed = RENAMED.get(func.__name__, {})
    by_place = [p for p in ours.values() if p.kind <= p.POSITIONAL_OR_KEYWORD]
    alike = 0
    for a, b in zip(theirs.parameters.values(), by_place, strict=False):
        # The first argument is the array, whatever its name.
        if alike and renamed.get(a.name, a.name) != b.name:
            break
        alike += 1
    free = any(p.kind == p.VAR_POSITIONAL for p in theirs.parameters.values())
    named = frozenset(n for n, p in ours.items() if p.kind is not p.POSITIONAL_ONLY)
    named_freely = any(p.kind == p.VAR_KEYWORD for p in ours.values())
    return Parameters(theirs, named, alike, free, named_freely)


def numpy_function(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Do what a NumPy function was asked on Arrays: `np.sum(x)`, `np.linalg.inv(x)`.

    Raises TypeError, with the idiom, for `out=`, for functions that write, for arguments without a
    meaning here, and for a function that has no counterpart.
    """
    module, name = func.__module__, func.__name__
    if name in WRITERS:
        raise TypeError(
            f"{module}.{name} was asked at {user_line()} to change an array, which an Array does "
            f"not: write {WRITERS[name]}"
        )
    if name in HOSTED:
        return func(*_on_host(args), **_on_host(kwargs))
    known = counterpart(module, name)
    if known is None:
        raise _not_covered(f"{module}.{name}")
    if kwargs.get("out") is not None:
        raise _no_writing(name)
    about = _parameters(func, known)
    named = about.open or kwargs.keys() <= about.ours
    if about.free or (len(args) <= about.alike and named):
        return known(*args, **kwargs)
    given = about.theirs.bind(*args, **kwargs).arguments
    renamed, first = RENAMED.get(name, {}), next(iter(about.theirs.parameters))
    leading = [given.pop(first)] if first in given else []
    options = {}
    for key, value in given.items():
        new = renamed.get(key, key)
        if new in about.ours:
            options[new] = value
        elif not _says_nothing(name, key, value, about.theirs.parameters[key].default):
            raise TypeError(f"{module}.{name} on an Array takes no {key}=: at {user_line()}")
    if options.pop("out", None) is not None:
        raise _no_writing(name)
    return known(*leading, **options)


def _says_nothing(name: str, key: str, value: Any, default: Any) -> bool:
    return key in EMPTY or (key == "order" and name in LAYOUTS) or value is default


def _on_host(tree: Any) -> Any:
    return tree_map(lambda x: np.asarray(x) if isinstance(x, Array) else x, tree)


def _no_writing(name: str) -> TypeError:
    return TypeError(
        f"numpy.{name} was asked at {user_line()} to write an Array into a NumPy array (out=, or "
        f"an operator such as +=): write y = numpy.{name}(...) and go on with y"
    )


def _not_covered(name: str) -> TypeError:
    return TypeError(
        f"{name} has no counterpart in arrayport.numpy, at {user_line()}: convert with "
        "numpy.asarray(x) where the array is not traced, or use other functions"
    )
