"""NumPy's dispatch: what NumPy's own functions mean when called on an Array or a tracer."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from arrayport.core.array import Array, traced
from arrayport.core.backend import ambient, by_type, enter, leave
from arrayport.core.errors import user_line
from arrayport.core.tree import tree_leaves, tree_map
from arrayport.core.units import converter
from arrayport.numpy.arguments import arrayed, axes_of, axis_of, integers_of
from arrayport.numpy.creation import asarray, astype
from arrayport.numpy.elementwise import trunc
from arrayport.numpy.indexing import take
from arrayport.numpy.shapes import moveaxis
from arrayport.numpy.ufuncs import ufunc
from arrayport.ops.creation import iota_like
from arrayport.ops.promotion import home_of

# NumPy's names for arguments that JAX calls otherwise.
RENAMED = {
    "clip": {"a": "arr", "a_min": "min", "a_max": "max"},
    "imag": {"val": "x"},
    "matmul": {"x1": "a", "x2": "b"},
    "matrix_rank": {"A": "M"},
    "real": {"val": "x"},
    "tensordot": {"x1": "a", "x2": "b"},
}
# What says nothing of values: an Array has neither subclasses nor an order in memory,
EMPTY = {"subok"}
LAYOUTS = {"copy", "empty_like", "full_like", "ones_like", "zeros_like"}
# and how NumPy goes about it is told by these values, of which ours satisfies each.
JOINERS = ("concatenate", "hstack", "stack", "vstack")
SORTS = frozenset({"quicksort", "heapsort", "mergesort", "stable"})
MANNERS: dict[str, dict[str, frozenset[str]]] = {
    "argsort": {"kind": SORTS},
    "sort": {"kind": SORTS},
    "isin": {"kind": frozenset({"sort", "table"})},
    **{name: {"casting": frozenset({"same_kind", "unsafe"})} for name in JOINERS},
}
# What NumPy may do with the values on the host, since its answer is text, a file, a dtype or said
# of memory.
HOSTED = {
    *("array2string", "common_type", "min_scalar_type", "may_share_memory", "shares_memory"),
    *("save", "savetxt", "savez", "savez_compressed"),
}
# Of what is none of these it must be said what it is, or where: lists, NumPy's arrays.
SETTLED = (Array, int, float, complex, str, type(None))
# What of an Array cannot be done, as errors say it.
CHANGE = "change an array, which an Array does not"
OUT = "write an Array into a NumPy array (out=, or an operator such as +=)"
# What makes NumPy's arrays, as numpy.asarray does: others ask them for what they go on to write to.
CONVERTERS = {"atleast_1d", "atleast_2d", "atleast_3d"}
WRITERS = {
    "copyto": "y = numpy.where(mask, new, y), or go on with the new array",
    "fill_diagonal": "x = arrayport.numpy.fill_diagonal(x, value, inplace=False)",
    "place": "x = arrayport.numpy.place(x, mask, values, inplace=False)",
    "put": "x = arrayport.numpy.put(x, indices, values, inplace=False)",
    "put_along_axis": "x = arrayport.numpy.put_along_axis(x, indices, values, axis, inplace=False)",
    "putmask": "x = numpy.where(mask, values, x)",
}
WRITTEN = ("dst", "a", "arr")  # what they call the array that they write to


def sliding_window_view(x: Any, window_shape: Any, axis: Any = None) -> Array:
    """Give, as the last axes, all windows of a width along each axis."""
    x = arrayed(x, "x")
    widths, rank = integers_of(window_shape, "window_shape"), len(x.shape)
    axes = (
        axes_of(None, rank)
        if axis is None
        else [axis_of(a, rank) for a in integers_of(axis, "axis")]
    )
    if len(widths) != len(axes):
        raise ValueError(f"window_shape has {len(widths)} extents, for {len(axes)} axes")
    for place, width in zip(axes, widths, strict=True):
        count = x.shape[place] - width + 1
        if width < 0 or count < 1:
            raise ValueError(f"a window of {width} is not within axis {place} of shape {x.shape}")
        first = iota_like(x, np.dtype(np.int32), 0, (count, 1))
        within = first + iota_like(x, np.dtype(np.int32), 0, (width,))
        x = moveaxis(take(x, within, place), place + 1, -1)
    return x


# What goes by another name here, or by none.
OWN: dict[str, Callable[..., Any]] = {"fix": trunc, "sliding_window_view": sliding_window_view}


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

    Lists are operands, as they are of NumPy's own. Into NumPy's arrays NumPy writes values that are
    there. Raises TypeError, with the idiom, for `out=` and in-place operators of traced arrays, for
    `where=`, and for what has no counterpart here; classes with a dispatch of their own are asked.
    """
    name = asked.__name__
    if any(_answers(x.__class__, "__array_ufunc__") for x in inputs):
        return NotImplemented
    out = options.get("out")
    if out is not None:
        return _written(getattr(asked, method), inputs, options, out, *_out_instead(name))
    known = counterpart("numpy", name)
    if known is None:
        raise _not_covered(_named(asked))
    if method == "at":
        cure = (
            f"x = arrayport.numpy.{name}.at(x, indices, values, inplace=False), or "
            "x.at[indices].add(values) and its kin"
        )
        return _written(asked.at, inputs, options, inputs[0], f"numpy.{name}.at", CHANGE, cure)
    if method == "__call__":
        return _elementwise(name, known, inputs, options)
    if not isinstance(known, ufunc):
        known = ufunc(known, asked.nin, asked.nout, identity=asked.identity, call=known)
    if options.get("where") is True:
        del options["where"]
    return _called(getattr(known, method), inputs, options)


def _elementwise(
    name: str, known: Callable[..., Any], inputs: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Call ours for each element, with those of a ufunc's options that have a meaning here."""
    if options.pop("where", True) is not True:
        raise TypeError(
            f"numpy.{name}(where=...) on an Array at {user_line()}: write numpy.where(mask, "
            f"numpy.{name}(...), other)"
        )
    dtype = options.pop("dtype", None)
    if options:
        raise TypeError(f"numpy.{name} on an Array takes no {', '.join(options)}: at {user_line()}")
    found = _called(known, inputs, options)
    return found if dtype is None else tree_map(lambda x: astype(x, dtype), found)


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
        if a.name == "out" or (alike and renamed.get(a.name, a.name) != b.name):
            break
        alike += 1
    free = any(p.kind == p.VAR_POSITIONAL for p in theirs.parameters.values())
    manners = MANNERS.get(func.__name__, {}).keys()
    named = frozenset(n for n, p in ours.items() if p.kind is not p.POSITIONAL_ONLY) - manners
    named_freely = any(p.kind == p.VAR_KEYWORD for p in ours.values())
    return Parameters(theirs, named, alike, free, named_freely)


def numpy_function(
    func: Any, types: Iterable[type], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Do what a NumPy function was asked on Arrays: `np.sum(x)`, `np.linalg.inv(x)`.

    Lists are operands, as they are of NumPy's own. Into NumPy's arrays NumPy writes values that are
    there. Raises TypeError, with the idiom, for functions that write and `out=` of traced arrays,
    for arguments without a meaning here, and for a function that has no counterpart; classes with a
    dispatch of their own are asked.
    """
    module, name = func.__module__, func.__name__
    if any(_answers(cls, "__array_function__") for cls in types):
        return NotImplemented
    if name in WRITERS:
        target = args[0] if args else next(kwargs[k] for k in WRITTEN if k in kwargs)
        return _written(func, args, kwargs, target, f"{module}.{name}", CHANGE, WRITERS[name])
    if name in HOSTED or (name in CONVERTERS and not _any_traced(args)):
        return func(*_on_host(args), **_on_host(kwargs))
    known = OWN.get(name) or counterpart(module, name)
    if known is None:
        raise _not_covered(f"{module}.{name}")
    about = _parameters(func, known)
    named = about.open or kwargs.keys() <= about.ours
    if kwargs.get("out") is None and (about.free or (len(args) <= about.alike and named)):
        return _called(known, args, kwargs)
    given = about.theirs.bind(*args, **kwargs).arguments
    out = given.pop("out", None)
    if out is not None:
        return _written(func, args, kwargs, out, *_out_instead(name))
    first = next(iter(about.theirs.parameters))
    leading = [given.pop(first)] if first in given else []
    return _called(known, leading, _renamed(f"{module}.{name}", about, given))


def _renamed(path: str, about: Parameters, given: dict[str, Any]) -> dict[str, Any]:
    """Give arguments the names of ours; those that say nothing of values are left out."""
    name = path.rpartition(".")[2]
    renamed, options = RENAMED.get(name, {}), {}
    for key, value in given.items():
        new = renamed.get(key, key)
        if new in about.ours:
            options[new] = value
        elif not _says_nothing(name, key, value, about.theirs.parameters[key].default):
            raise TypeError(f"{path} on an Array takes no {key}=: at {user_line()}")
    return options


def _called(known: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call ours as NumPy's own is: with lists as operands, on the backend of the Arrays."""
    if all(isinstance(x, SETTLED) for x in (*args, *kwargs.values())):
        return known(*args, **kwargs)
    home = home_of(*tree_leaves((args, kwargs))) or ambient()
    token, entered = converter.set(asarray), enter(home)
    try:
        return known(*args, **kwargs)
    finally:
        converter.reset(token)
        leave(entered)


@cache
def _answers(cls: type, protocol: str) -> bool:
    """Whether a class answers NumPy's functions itself, and is no backend's and not NumPy's."""
    method = getattr(cls, protocol, None)
    known = getattr(Array, protocol), getattr(np.ndarray, protocol), None
    return method not in known and by_type(cls) is None


def _written(
    func: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    target: Any,
    name: str,
    asked: str,
    cure: str,
) -> Any:
    """Let NumPy write: to arrays that change, values that are there."""
    if _any_array(target) or _any_traced((args, kwargs)):
        raise TypeError(f"{name} was asked at {user_line()} to {asked}: write {cure}")
    return func(*_on_host(args), **_on_host(kwargs))


def _out_instead(name: str) -> tuple[str, str, str]:
    """Name what was asked to write its answer, what that is, and what to write instead."""
    return f"numpy.{name}", OUT, f"y = numpy.{name}(...) and go on with y"


def _any_array(tree: Any) -> bool:
    return any(isinstance(x, Array) for x in tree_leaves(tree))


def _any_traced(tree: Any) -> bool:
    return any(isinstance(x, Array) and traced(x) for x in tree_leaves(tree))


def _says_nothing(name: str, key: str, value: Any, default: Any) -> bool:
    if value is default or key in EMPTY or (key == "order" and name in LAYOUTS):
        return True
    return value in MANNERS.get(name, {}).get(key, ())


def _on_host(tree: Any) -> Any:
    return tree_map(lambda x: np.asarray(x) if isinstance(x, Array) else x, tree)


def _not_covered(name: str) -> TypeError:
    house = "arrayport.numpy" if name.startswith("numpy.") else "arrayport's dispatch of NumPy's"
    advice = "use arrayport.scipy.special, " if name.startswith("scipy.special.") else ""
    return TypeError(
        f"{name} has no counterpart in {house}, at {user_line()}: {advice}convert with "
        "numpy.asarray(x) where the array is not traced, or use other functions"
    )


def _named(asked: np.ufunc) -> str:
    """Give a ufunc's name with its module, which it does not know itself."""
    name = asked.__name__
    homes = [m for m in ("numpy", "scipy.special") if m in sys.modules]
    found = [m for m in homes if getattr(sys.modules[m], name, None) is asked]
    return f"{found[0]}.{name}" if found else f"the ufunc {name!r}"
