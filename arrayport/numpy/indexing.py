"""NumPy's keys: what `x[key]` and `x.at[key]` choose, and the functions that take and put."""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType, NoneType
from typing import Any

import numpy as np
from numpy import ndarray

from arrayport.control.loops import while_loop
from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.errors import ConcretizationTypeError, user_line
from arrayport.core.primitive import ERRORS, UNCOMMON
from arrayport.core.quiet import QUIET, reset_errors, set_errors
from arrayport.core.trace import EVAL, current_stage
from arrayport.core.units import unit
from arrayport.numpy.arguments import axis_of, no_out, no_writing
from arrayport.numpy.keys import Choice, check_mask, choose, wrapped
from arrayport.ops import indexing, slices
from arrayport.ops.elementwise import (
    add,
    div,
    maximum,
    minimum,
    mul,
    neg,
    power,
    remainder,
    select,
    sub,
)
from arrayport.ops.promotion import KEEPS, common_shape, from_host, home_of, lift, scalar, settle
from arrayport.ops.reductions import reduce_max
from arrayport.ops.structure import (
    Shape,
    broadcast_to,
    convert,
    full_like,
    reshape,
    zeros,
)

PLAIN = frozenset({int, slice, NoneType, EllipsisType})
WHOLE = slice(None)
Host = ndarray[Any, Any]

# ---------------------------------------------------------------------------------------- reading


def getitem(x: Array, key: Any) -> Array:
    """Read `x[key]` by NumPy's rules; arrays in a key clamp what is out of range.

    Integers, slices, None, `...`, integer and boolean arrays, and tuples of these. Raises
    IndexError for a Python int out of range, too many entries, and a mask of another shape or
    whose values are traced (NonConcreteBooleanIndexError), TypeError for lists, floats and strings.
    Source: the array API's indexing, `jax.numpy.ndarray.__getitem__`.

    >>> import arrayport.numpy as anp
    >>> x = anp.arange(5)
    >>> x[::-2], x[anp.array([0, -1, 9])]
    (Array([4, 2, 0], dtype=int32), Array([0, 4, 4], dtype=int32))
    """
    if (
        type(x) is Array
        and type(x.raw) is ndarray
        and current_stage() is EVAL
        and _is_plain(key)
        and slices.slice_p.numpy_kernel is not None  # else something looks on
    ):
        try:
            out = x.raw[key]
        except ERRORS:
            return index_get(x, key)  # which says what is wrong
        return Array(out if type(out) is ndarray else np.asarray(out), x.weak)
    return index_get(x, key)


def _is_plain(key: Any) -> bool:
    """Whether NumPy itself reads the key as we do."""
    return type(key) in PLAIN or (type(key) is tuple and PLAIN.issuperset(map(type, key)))


def index_get(
    x: Array,
    key: Any,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
    fill_value: Any = None,
    out_sharding: Any = None,  # noqa: ARG001 - JAX's signature
    wrap_negative_indices: bool = True,
) -> Array:
    """Read `x.at[key].get(...)`: what is out of range follows `mode`, even Python ints.

    `mode`: "clip" (as None: the nearest element), "fill" or "drop" (`fill_value`, else NaN, the
    least signed or the largest unsigned integer), "promise_in_bounds".

    >>> import arrayport.numpy as anp
    >>> anp.arange(3.0).at[anp.array([1, 7])].get(mode="fill")
    Array([ 1., nan], dtype=float32)
    """
    chosen = choose(x, key, mode is not None, wrap_negative_indices)
    if not isinstance(chosen, Choice):
        return slices.static_slice(x, chosen)
    if mode is None and fill_value is None:
        # A single place is clamped in its derivative too, as JAX's dynamic slices are.
        mode = indexing.PROMISE if chosen.layout.batch else "clip"
    return _read(x, chosen, unique_indices, indices_are_sorted, mode, fill_value)


def _read(
    x: Array, chosen: Choice, unique: bool, ordered: bool, mode: Any, fill_value: Any = None
) -> Array:
    layout = chosen.layout
    if 0 in layout.batch:
        return convert(full_like(x, 0, layout.shape), x.dtype, x.weak)
    if layout.empty is not None:
        raise IndexError(
            f"axis {layout.empty} of an array of shape {x.shape} is empty: no index fits"
        )
    out = indexing.gather(
        x if layout.thin is None else slices.static_slice(x, layout.thin),
        chosen.indices,
        layout.numbers,
        layout.sizes,
        unique_indices=unique or layout.single,
        indices_are_sorted=ordered or layout.single,
        mode=mode,
        fill_value=fill_value,
    )
    return reshape(out, layout.shape)


# ---------------------------------------------------------------------------------------- writing


def index_update(
    op: str,
    x: Array,
    key: Any,
    values: Any,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
    out_sharding: Any = None,  # noqa: ARG001 - JAX's signature
    wrap_negative_indices: bool = True,
) -> Array:
    """Make the array that `x.at[key].op(values)` is.

    `op`: set, add, subtract, multiply, divide, power, min, max, or apply with a function of the
    part. Values broadcast to the part; the answer has x's dtype, but integers divide to floats.
    What is out of range is dropped, with `mode` "clip" moved inside; of repeated indices `set`
    keeps the last, the others count each. Raises OverflowError for a Python int that does not fit.

    >>> import arrayport.numpy as anp
    >>> anp.zeros(3).at[anp.array([0, 0, 9])].add(1.0)
    Array([2., 0., 0.], dtype=float32)
    """
    here = type(x) is Array and type(x.raw) is ndarray and current_stage() is EVAL
    if here and mode is None and wrap_negative_indices and _is_plain(key):
        try:
            done = _update_here(op, x, key, values)
        except ERRORS:
            done = None  # what is wrong is said below
        if done is not None:
            return done
    own = x
    if op != "apply":
        x, values = _meet(op, x, values)
    elif not callable(values):
        raise TypeError(f"x.at[...].apply needs a function, not {type(values).__name__}")
    mask = _lone_mask(key)
    if mask is not None and (op == "apply" or len(values.shape) <= len(x.shape) - len(mask.shape)):
        out = _update_where(op, x, mask, values)
    else:
        chosen = choose(x, key, mode is not None, wrap_negative_indices)
        if isinstance(chosen, Choice):
            single = chosen.layout.single
            options = {
                "unique_indices": unique_indices or single,
                "indices_are_sorted": indices_are_sorted or single,
                "mode": mode,
            }
            out = _update_windows(op, x, chosen, values, options)
        else:
            out = _update_slice(op, x, chosen, values)
    if op == "divide" and not dtypes.is_inexact(own.dtype):
        return out
    return convert(out, own.dtype, own.weak)


def _update_here(op: str, x: Array, key: Any, values: Any) -> Array | None:
    """Let NumPy set or add what has the right dtype and shape; None: not for it."""
    raw, given = x.raw, values
    if type(values) is Array:
        given = values.raw
        if type(given) is not ndarray or given.dtype is not raw.dtype:
            return None
    elif raw.dtype.kind not in KEEPS.get(type(values), ""):
        return None
    if op != "set" and (op != "add" or raw.dtype.num >= UNCOMMON):
        return None
    out = raw.copy()
    if type(values) is Array and given.ndim > np.ndim(out[key]):
        return None
    if op == "set":
        out[key] = given
        return Array(out, x.weak)
    token = set_errors(QUIET)
    try:
        out[key] += given
    finally:
        reset_errors(token)
    return Array(out, x.weak)


def _meet(op: str, x: Array, values: Any) -> tuple[Array, Array]:
    """Give both the dtype in which the operation computes."""
    if not isinstance(values, Array):
        if isinstance(values, list | tuple):
            values = np.asarray(values)
        if dtypes.kind(x.dtype) in KEEPS.get(type(values), ""):
            values = scalar(values, x.dtype)
        else:
            values = lift(values, home_of(x), "the values of an update")
    _, values = settle((x, values))
    if op == "set":
        return x, convert(values, x.dtype, x.weak)
    dtype, _ = dtypes.promote(x.dtype, x.weak, values.dtype, values.weak)
    if op == "divide":
        dtype = dtypes.to_inexact(dtype)
    weak = x.weak and dtype == x.dtype
    return convert(x, dtype, weak), convert(values, dtype, weak)


def _applied(x: Array, function: Callable[[Array], Any]) -> Array:
    out = lift(function(x), home_of(x), "what the function of apply returns")
    if out.shape != x.shape:
        raise ValueError(
            f"the function of apply made shape {out.shape} of {x.shape}: it must work elementwise"
        )
    return convert(out, x.dtype, x.weak)


FUNCTIONS: dict[str, Callable[[Array, Any], Array]] = {
    "set": lambda _x, y: y,
    "add": add,
    "subtract": sub,
    "multiply": mul,
    "divide": div,
    "power": power,
    "min": minimum,
    "max": maximum,
    "apply": _applied,
}
SCATTERS = {
    "set": indexing.scatter_set,
    "add": indexing.scatter_add,
    "multiply": indexing.scatter_mul,
    "min": indexing.scatter_min,
    "max": indexing.scatter_max,
}


def _fit(values: Array, shape: Shape) -> Array:
    """Broadcast the values of an update to the part."""
    own = values.shape
    if len(own) > len(shape) or any(
        n not in (1, m) for n, m in zip(own, shape[len(shape) - len(own) :], strict=True)
    ):
        raise ValueError(
            f"values of shape {own} do not broadcast to the part to update, of shape {shape}, at "
            f"{user_line()}"
        )
    return broadcast_to(values, shape)


def _update_slice(op: str, x: Array, key: slices.Key, values: Any) -> Array:
    if op != "apply":
        values = _fit(values, slices.sliced_shape(x.shape, key))
    if op == "add":
        return slices.slice_add_p.apply(x, values, {"key": key})
    if op != "set":
        values = FUNCTIONS[op](slices.static_slice(x, key), values)
    return slices.slice_set_p.apply(x, values, {"key": key})


def _lone_mask(key: Any) -> Any:
    """Give the mask, if the key is nothing else."""
    if isinstance(key, tuple) and len(key) == 1:
        (key,) = key
    known = isinstance(key, ndarray | Array) and key.dtype == bool
    return key if known and key.shape else None


def _update_where(op: str, x: Array, mask: Any, values: Any) -> Array:
    """Update where a mask is true: it may be traced."""
    rank = len(mask.shape)
    check_mask(mask.shape, x.shape)
    if 0 in mask.shape:
        return x
    mask = lift(mask, home_of(x), "a mask")
    mask = reshape(mask, (*mask.shape, *[1] * (len(x.shape) - rank)))
    if op != "apply":
        values = _fit(values, x.shape[rank:])
    if op in ("divide", "power"):  # what is not chosen meets 1: no infinity reaches its derivative
        return FUNCTIONS[op](x, select(mask, values, 1))
    return select(mask, FUNCTIONS[op](x, values), x)


def _update_windows(
    op: str, x: Array, chosen: Choice, values: Any, options: dict[str, Any]
) -> Array:
    thin = chosen.layout.thin
    if 0 in chosen.layout.batch:
        return x
    if chosen.layout.empty is not None:  # every index is out of range, so dropped
        if op != "apply":
            _fit(values, chosen.layout.shape)
        return x
    if thin is None:
        return _scattered(op, x, chosen, values, options)
    out = _scattered(op, slices.static_slice(x, thin), chosen, values, options)
    return slices.slice_set_p.apply(x, out, {"key": thin})


def _scattered(op: str, base: Array, chosen: Choice, values: Any, options: dict[str, Any]) -> Array:
    layout, indices = chosen.layout, chosen.indices
    numbers = indexing.ScatterDimensionNumbers(*layout.numbers)
    if op != "apply":
        values = reshape(_fit(values, layout.shape), layout.flat)
    elif not options["unique_indices"]:
        return _apply_often(base, chosen, values, options)
    if op == "subtract":
        op, values = "add", neg(values)
    if op in SCATTERS:
        return SCATTERS[op](base, indices, values, numbers, **options)
    if options["unique_indices"]:
        read = {**options, "mode": indexing.PROMISE}
        part = indexing.gather(base, indices, layout.numbers, layout.sizes, **read)
        return indexing.scatter_set(base, indices, FUNCTIONS[op](part, values), numbers, **options)
    factors = indexing.scatter_mul(full_like(base, 1), indices, values, numbers, **options)
    return FUNCTIONS[op](base, factors)


def _apply_often(
    base: Array, chosen: Choice, function: Callable[[Array], Any], options: dict[str, Any]
) -> Array:
    """Apply a function to each element as often as it is chosen."""
    count = dtypes.default_int()
    numbers = indexing.ScatterDimensionNumbers(*chosen.layout.numbers)
    ones = convert(full_like(base, 1, chosen.layout.flat), count)
    none = convert(zeros(base), count)
    times = indexing.scatter_add(none, chosen.indices, ones, numbers, **options)
    most = reduce_max(times, tuple(range(len(times.shape)))) if times.size else scalar(0, count)
    try:
        known = int(most)
    except ConcretizationTypeError:
        return while_loop(
            lambda carry: carry[0] < most,
            lambda carry: (
                carry[0] + 1,
                select(times > carry[0], _applied(carry[1], function), carry[1]),
            ),
            (convert(zeros(most), count), base),
        )[1]
    for i in range(known):
        base = select(times > i, _applied(base, function), base)
    return base


# ---------------------------------------------------------------------------------------- take, put


@unit("a", "indices")
def take(
    a: Any,
    indices: Any,
    axis: int | None = None,
    out: None = None,
    mode: Any = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Array:
    """Read along an axis (None: of the flattened array) at indices, whose shape takes its place.

    Negative indices count from the end. `mode` says what is out of range: "fill" (as None) with
    `fill_value`, else NaN, the least signed or largest unsigned integer; "clip"; "wrap". Raises
    TypeError for indices that are no integers, IndexError for an empty axis. Source:
    `jax.numpy.take`, the array API's `take`.

    >>> import arrayport.numpy as anp
    >>> anp.take(anp.arange(3.0), anp.array([2, -1, 3]))
    Array([ 2.,  2., nan], dtype=float32)
    """
    no_out("take", out)
    x, index = _pair("take", a, indices)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = axis_of(axis, len(x.shape))
    index, mode = _by_mode(x, index, axis, mode)
    if not x.shape[axis] and index.size:
        raise IndexError(f"take has nothing to read: axis {axis} of shape {x.shape} is empty")
    return indexing.take(
        x,
        index,
        axis,
        mode=mode,
        fill_value=fill_value,
        unique_indices=unique_indices,
        indices_are_sorted=indices_are_sorted,
    )


@unit("arr", "indices")
def take_along_axis(
    arr: Any,
    indices: Any,
    axis: int | None = -1,
    mode: Any = None,
    fill_value: Any = None,
    *,
    wrap_negative_indices: bool = True,
) -> Array:
    """Read along an axis, at each place of the other axes, which broadcast, by its own indices.

    Modes as `take`'s, without "wrap". Raises TypeError for indices that are no integers, ValueError
    for ranks that differ. Source: `jax.numpy.take_along_axis`.

    >>> import arrayport.numpy as anp
    >>> x = anp.array([[3, 1, 2], [5, 4, 6]])
    >>> anp.take_along_axis(x, anp.argsort(x), axis=1)
    Array([[1, 2, 3],
           [4, 5, 6]], dtype=int32)
    """
    x, index = _pair("take_along_axis", arr, indices)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
        index = reshape(index, (-1,))
    axis = _same_rank("take_along_axis", x, index, axis)
    if wrap_negative_indices:
        index = lift(wrapped(index, x.shape[axis]), home_of(x))
    others = [*x.shape[:axis], 1, *x.shape[axis + 1 :]]
    lead = [*index.shape[:axis], 1, *index.shape[axis + 1 :]]
    both = list(common_shape(tuple(others), tuple(lead)))
    x = broadcast_to(x, (*both[:axis], x.shape[axis], *both[axis + 1 :]))
    index = broadcast_to(index, (*both[:axis], index.shape[axis], *both[axis + 1 :]))
    return indexing.take_along(x, index, axis, mode=mode or "fill", fill_value=fill_value)


@unit("arr", "indices", "values")
def put_along_axis(
    arr: Any,
    indices: Any,
    values: Any,
    axis: int | None,
    inplace: bool = True,
    *,
    mode: Any = None,
) -> Array:
    """Make an array with values put along an axis, at each place of the others by its own indices.

    `inplace` must be False, since arrays do not change. Modes as `x.at[...].set`'s. Source:
    `jax.numpy.put_along_axis`.

    >>> import arrayport.numpy as anp
    >>> anp.put_along_axis(anp.zeros((2, 2)), anp.array([[1], [0]]), 7.0, 1, inplace=False)
    Array([[0., 7.],
           [7., 0.]], dtype=float32)
    """
    no_writing("put_along_axis", inplace)
    x, index = _pair("put_along_axis", arr, indices)
    if axis is None:
        flat = index_update("set", reshape(x, (-1,)), reshape(index, (-1,)), values, mode=mode)
        return reshape(flat, x.shape)
    axis = _same_rank("put_along_axis", x, index, axis)
    key: list[Any] = []
    for d, (n, m) in enumerate(zip(x.shape, index.shape, strict=True)):
        along = [1] * len(x.shape)
        along[d] = -1
        if d != axis and m not in (1, n):
            raise ValueError(
                f"put_along_axis got indices of shape {index.shape} for an array of shape {x.shape}"
            )
        key.append(index if d == axis else np.arange(n).reshape(along))
    return index_update("set", x, tuple(key), values, mode=mode)


def put(a: Any, ind: Any, v: Any, mode: Any = None, *, inplace: bool = True) -> Array:
    """Make an array with values, repeated as needed, put at indices of the flattened array.

    `inplace` must be False, since arrays do not change. `mode`: "clip" (as None) or "wrap". Source:
    `jax.numpy.put`.

    >>> import arrayport.numpy as anp
    >>> anp.put(anp.zeros(3), anp.array([0, 2]), anp.array([5.0, 6.0]), inplace=False)
    Array([5., 0., 6.], dtype=float32)
    """
    no_writing("put", inplace)
    x, index = _pair("put", a, ind)
    index = reshape(index, (-1,))
    values = reshape(lift(np.asarray(v) if isinstance(v, list) else v, home_of(x), "v"), (-1,))
    if not index.size or not values.size:
        return x
    repeated = indexing.take(values, from_host(np.arange(index.size) % values.size, home_of(x)))
    if mode == "wrap":
        index = remainder(index, x.size)
    elif mode not in (None, "clip"):
        raise ValueError(f"put has no mode {mode!r}: use 'clip' or 'wrap'")
    return reshape(index_update("set", reshape(x, (-1,)), index, repeated, mode="clip"), x.shape)


def _pair(name: str, x: Any, indices: Any) -> tuple[Array, Array]:
    home = home_of(x, indices)
    x, index = lift(x, home, f"the array of {name}"), lift(indices, home, f"{name}'s indices")
    if not dtypes.is_integer(index.dtype):
        raise TypeError(
            f"{name}'s indices must be integers, not {index.dtype}: use astype('int32')"
        )
    return x, index


def _by_mode(x: Array, index: Array, axis: int, mode: Any) -> tuple[Array, Any]:
    if mode == "wrap":
        return remainder(index, x.shape[axis]), indexing.PROMISE
    if mode == "raise":
        raise NotImplementedError("take cannot raise for traced indices: use mode 'fill' or 'clip'")
    return lift(wrapped(index, x.shape[axis]), home_of(x)), mode


def _same_rank(name: str, x: Array, index: Array, axis: int) -> int:
    if len(x.shape) != len(index.shape):
        raise ValueError(
            f"{name} needs indices of the array's rank, got shapes {index.shape} and {x.shape}"
        )
    return axis_of(axis, len(x.shape))
