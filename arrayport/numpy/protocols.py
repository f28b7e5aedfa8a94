"""NumPy's dispatch: what NumPy's own functions mean when called on an Array or a tracer."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from arrayport.core.errors import user_line
from arrayport.numpy import (
    bits,
    creation,
    cumulations,
    elementwise,
    grids,
    histograms,
    joins,
    linalg,
    mappings,
    matrices,
    nan_reductions,
    padding,
    polynomials,
    printing,
    products,
    questions,
    ranges,
    reductions,
    scalars,
    searching,
    selecting,
    sets,
    shapes,
    statistics,
    ufuncs,
)
from arrayport.numpy.indexing import put_along_axis, take, take_along_axis

ROOMS: tuple[ModuleType, ...] = (
    bits,
    creation,
    cumulations,
    elementwise,
    grids,
    histograms,
    joins,
    mappings,
    matrices,
    nan_reductions,
    padding,
    polynomials,
    printing,
    products,
    questions,
    ranges,
    reductions,
    scalars,
    searching,
    selecting,
    sets,
    shapes,
    statistics,
    ufuncs,
)
FUNCTIONS = {
    "numpy": {name: getattr(room, name) for room in ROOMS for name in room.__all__}
    | {"put_along_axis": put_along_axis, "take": take, "take_along_axis": take_along_axis},
    "numpy.linalg": {name: getattr(linalg, name) for name in linalg.__all__},
}
# NumPy's names for arguments that JAX calls otherwise.
RENAMED = {"clip": {"a_min": "min", "a_max": "max"}}
REDUCTIONS = {
    "add": reductions.sum,
    "multiply": reductions.prod,
    "maximum": reductions.max,
    "minimum": reductions.min,
    "logical_and": reductions.all,
    "logical_or": reductions.any,
}
CUMULATIONS = {"add": cumulations.cumsum, "multiply": cumulations.cumprod}


def numpy_ufunc(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Do what a NumPy ufunc was asked on Arrays: `np.sin(x)`, `np_x + x`, `np.add.reduce(x)`.

    Raises TypeError, with the idiom, for `out=`, `where=` and in-place operators, and for what has
    no counterpart here.
    """
    name = ufunc.__name__
    if options.pop("out", None) is not None:
        raise _no_writing(name)
    if options.pop("where", True) is not True:
        raise TypeError(
            f"numpy.{name}(where=...) on an Array at {user_line()}: write numpy.where(mask, "
            f"numpy.{name}(...), other)"
        )
    dtype = options.pop("dtype", None)
    known: Any = None
    if method == "__call__":
        known = FUNCTIONS["numpy"].get(name)
    elif method in {"reduce", "accumulate"}:
        known = (REDUCTIONS if method == "reduce" else CUMULATIONS).get(name)
        axis = options.pop("axis", inputs[1] if len(inputs) > 1 else 0)
        options, inputs = {"axis": axis, **options}, inputs[:1]
        if dtype is not None:
            options["dtype"] = dtype
    elif method == "outer" and (known := FUNCTIONS["numpy"].get(name)) is not None:
        x, y = (creation.asarray(v) for v in inputs)
        inputs = (shapes.reshape(x, x.shape + (1,) * len(y.shape)), y)
    if known is None:
        raise _not_covered(f"numpy.{name}" + ("" if method == "__call__" else f".{method}"))
    if method == "__call__" and options:
        raise TypeError(f"numpy.{name} on an Array takes no {', '.join(options)}: at {user_line()}")
    out = known(*inputs, **options)
    return (
        out if dtype is None or method in {"reduce", "accumulate"} else creation.astype(out, dtype)
    )


def numpy_function(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Do what a NumPy function was asked on Arrays: `np.sum(x)`, `np.linalg.inv(x)`.

    Raises TypeError, with the idiom, for `out=`, and for a function that has no counterpart here.
    """
    module, name = func.__module__, func.__name__
    known = FUNCTIONS.get(module, {}).get(name)
    if known is None:
        raise _not_covered(f"{module}.{name}")
    if kwargs.get("out") is not None:
        raise _no_writing(name)
    renamed = RENAMED.get(name, {})
    return known(*args, **{renamed.get(k, k): v for k, v in kwargs.items() if k != "out"})


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
