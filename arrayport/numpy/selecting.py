"""Choosing among arrays and parts of them: select, choose, compress, delete, insert, place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.errors import ConcretizationTypeError
from arrayport.numpy.arguments import arrayed, axes_of, axis_of, no_out, no_writing, together
from arrayport.numpy.cumulations import cumsum
from arrayport.numpy.joins import concatenate
from arrayport.numpy.searching import nonzero
from arrayport.numpy.shapes import broadcast_to, moveaxis, ravel
from arrayport.ops.elementwise import clamp, not_equal, remainder
from arrayport.ops.elementwise import select as choose_between
from arrayport.ops.promotion import broadcast_together, promote_dtypes
from arrayport.ops.structure import convert, full_like, reshape

__all__ = [
    "choose",
    "compress",
    "delete",
    "extract",
    "insert",
    "piecewise",
    "place",
    "select",
    "trim_zeros",
]


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Array:
    """Take of several choices the first whose condition is true, else the default.

    Source: ``jax.numpy.select``.

    >>> import arrayport.numpy as anp
    >>> x = anp.arange(3)
    >>> anp.select([x < 1, x < 2], [10, 20], 30)
    Array([10, 20, 30], dtype=int32, weak_type=True)
    """
    for name, given in (("condlist", condlist), ("choicelist", choicelist)):
        if not isinstance(given, Sequence) or isinstance(given, str):
            raise TypeError(f"{name} must be a sequence of arrays, not {given!r}")
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"select needs as many conditions as choices, not {len(condlist)} and {len(choicelist)}"
        )
    *choices, out = promote_dtypes([*choicelist, default], "select")
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        out = choose_between(condition, choice, out)
    return out


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Array:
    """Apply of several functions the last whose condition is true; one more is for the rest.

    A function may be a number. Source: ``jax.numpy.piecewise``.

    >>> import arrayport.numpy as anp
    >>> x = anp.array([-2.0, 3.0])
    >>> anp.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: 2 * v])
    Array([2., 6.], dtype=float32)
    """
    x = arrayed(x, "x")
    several = isinstance(condlist, list | tuple) or np.shape(condlist) not in {(), x.shape}
    conditions = list(condlist) if several else [condlist]
    if len(funclist) not in {len(conditions), len(conditions) + 1}:
        raise ValueError(
            f"piecewise with {len(conditions)} conditions got {len(funclist)} functions"
        )
    rest = funclist[len(conditions)] if len(funclist) > len(conditions) else 0

    def value(function: Callable[..., Any] | Any) -> Any:
        return function(x, *args, **kw) if callable(function) else function

    out = full_like(x, 0) + value(rest)
    for condition, function in zip(conditions, funclist, strict=False):
        out = choose_between(condition, value(function), out)
    return out.astype(x.dtype)


def choose(a: Any, choices: Any, out: None = None, mode: str = "raise") -> Array:
    """Take each element from the choice that a names. Source: ``jax.numpy.choose``.

    `mode` "wrap" or "clip" says what a number out of range means; "raise" needs known values.

    >>> import arrayport.numpy as anp
    >>> anp.choose(anp.array([1, 0]), [anp.array([1, 2]), anp.array([3, 4])])
    Array([3, 2], dtype=int32)
    """
    no_out("choose", out)
    if not isinstance(choices, Sequence | np.ndarray | Array) or isinstance(choices, str):
        raise TypeError(f"choices must be a sequence of arrays, not {choices!r}")
    xs = promote_dtypes(list(choices), "choose")
    index = arrayed(a, "a")
    if mode == "raise":
        index.concrete(ConcretizationTypeError, "a choice (use mode='clip' or 'wrap')")
        host = index.__array__()
        if host.size and not (host.min() >= 0 and host.max() < len(xs)):
            raise ValueError(
                f"choose got a number out of range of {len(xs)} choices: use mode='clip' or 'wrap'"
            )
    elif mode == "wrap":
        index = remainder(index, len(xs))
    elif mode == "clip":
        index = clamp(0, index, len(xs) - 1)
    else:
        raise ValueError(f"mode={mode!r} of choose must be 'raise', 'wrap' or 'clip'")
    index, *xs = broadcast_together(index, *xs)
    chosen = xs[0]
    for i, x in enumerate(xs[1:], start=1):
        chosen = choose_between(index == i, x, chosen)
    return chosen


def compress(
    condition: Any,
    a: Any,
    axis: Any = None,
    *,
    size: int | None = None,
    fill_value: Any = 0,
    out: None = None,
) -> Array:
    """Keep the parts of an axis, or of the flat array, whose condition is true.

    With `size` so many parts, `fill_value` where there are fewer. Source: ``jax.numpy.compress``.

    >>> import arrayport.numpy as anp
    >>> anp.compress(anp.array([False, True]), anp.array([4, 5]))
    Array([5], dtype=int32)
    """
    no_out("compress", out)
    x, mask = arrayed(a, "a"), ravel(not_equal(arrayed(condition, "condition"), 0))
    if axis is None:
        x, axis = ravel(x), 0
    axis = axis_of(axis, len(x.shape))
    (places,) = nonzero(mask, size=size, fill_value=x.shape[axis])
    key = (slice(None),) * axis
    if size is None:
        return x[(*key, places)]
    return x.at[(*key, places)].get(mode="fill", fill_value=fill_value)


def extract(condition: Any, arr: Any, *, size: int | None = None, fill_value: Any = 0) -> Array:
    """Keep the elements of the flat array whose condition is true.

    Source: ``jax.numpy.extract``.

    >>> import arrayport.numpy as anp
    >>> anp.extract(anp.array([True, False]), anp.arange(2))
    Array([0], dtype=int32)
    """
    return compress(ravel(condition), ravel(arr), size=size, fill_value=fill_value)


def delete(arr: Any, obj: Any, axis: Any = None, *, assume_unique_indices: bool = False) -> Array:
    """Leave out parts of an axis, or of the flat array, by their places.

    The places must be known: raises ConcretizationTypeError for traced ones, unless it is promised
    by `assume_unique_indices` that no two of them are one. Source: ``jax.numpy.delete``.

    >>> import arrayport.numpy as anp
    >>> anp.delete(anp.arange(4), 1)
    Array([0, 2, 3], dtype=int32)
    """
    x = arrayed(arr, "arr")
    if axis is None:
        x, axis = ravel(x), 0
    axis = axis_of(axis, len(x.shape))
    extent, before = x.shape[axis], (slice(None),) * axis
    if isinstance(obj, slice | int):
        return x[(*before, np.delete(np.arange(extent), obj))]
    places = arrayed(np.asarray(obj) if isinstance(obj, list | tuple) else obj, "obj")
    if assume_unique_indices and dtypes.is_integer(places.dtype):
        here = full_like(x, True, (extent,)).astype(bool)
        kept = here.at[places].set(False, mode="drop")
        return x[(*before, nonzero(kept, size=max(extent - places.size, 0))[0])]
    places.concrete(ConcretizationTypeError, "places to delete (or give assume_unique_indices)")
    return x[(*before, np.delete(np.arange(extent), places.__array__()))]


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Array:
    """Put values before places of an axis, or of the flat array. Source: ``jax.numpy.insert``.

    One place takes any number of values, several places take one each.

    >>> import arrayport.numpy as anp
    >>> anp.insert(anp.arange(3), 1, 9)
    Array([0, 9, 1, 2], dtype=int32)
    """
    x, new = together(arr, values)
    new = convert(new, x.dtype)
    if axis is None:
        x, axis = ravel(x), 0
    axis, rank = axis_of(axis, len(x.shape)), len(x.shape)
    extent = x.shape[axis]
    places = np.arange(extent)[obj] if isinstance(obj, slice) else np.asarray(obj)
    if not places.ndim and rank > 1:
        # As NumPy has it, the values' first axis is then the one that they are inserted along.
        new = moveaxis(reshape(new, (1,) * (rank - len(new.shape)) + new.shape), 0, axis)
    elif len(new.shape) < rank:
        new = reshape(new, (1,) * (rank - len(new.shape)) + new.shape)
    count = new.shape[axis] if places.size == 1 else places.size
    places = np.broadcast_to(places.ravel(), (count,))
    shape = tuple(count if i == axis else n for i, n in enumerate(x.shape))
    joined = concatenate([x, broadcast_to(new, shape)], axis)
    order = np.insert(np.arange(extent), places, extent + np.arange(count))
    return joined[(*(slice(None),) * axis, order)]


def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = True) -> Array:
    """Make the array whose elements at a mask of its size are values, repeated as needed.

    `inplace` must be False, since arrays do not change. Source: ``jax.numpy.place``.

    >>> import arrayport.numpy as anp
    >>> x = anp.arange(4)
    >>> anp.place(x, x > 1, anp.array([8, 9]), inplace=False)
    Array([0, 1, 8, 9], dtype=int32)
    """
    no_writing("place", inplace)
    x, mask, new = together(arr, mask, vals)
    if mask.size != x.size:
        raise ValueError(f"mask must have the size of arr, {x.size}, not {mask.size}")
    if not new.size:
        raise ValueError("vals of place must have an element")
    chosen = ravel(not_equal(mask, 0))
    number = cumsum(chosen) - 1
    values = convert(ravel(new), x.dtype)[remainder(number, new.size)]
    return reshape(choose_between(chosen, values, ravel(x)), x.shape)


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Array:
    """Drop the zeros at the front ("f") and back ("b") of axes, all of them if None.

    The values must be known. Source: ``jax.numpy.trim_zeros``.

    >>> import arrayport.numpy as anp
    >>> anp.trim_zeros(anp.array([0, 1, 2, 0]))
    Array([1, 2], dtype=int32)
    """
    x = arrayed(filt, "filt")
    ends = trim.lower()
    if not ends or set(ends) - {"f", "b"}:
        raise ValueError(f"trim={trim!r} of trim_zeros must be 'f', 'b' or 'fb'")
    x.concrete(ConcretizationTypeError, "an array whose zeros are sought")
    axes, places = axes_of(axis, len(x.shape)), np.nonzero(x.__array__())
    key = []
    for i, (n, found) in enumerate(zip(x.shape, places, strict=True)):
        first, last = (found.min(), found.max() + 1) if found.size else (n, n)
        low = int(first) if i in axes and "f" in ends else 0
        high = int(last) if i in axes and "b" in ends else n
        key.append(slice(low, high))
    return x[tuple(key)]
