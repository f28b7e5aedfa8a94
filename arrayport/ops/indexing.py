"""Reading and writing parts of arrays: slices, gathers, scatters, and the sum of Sparse cotangents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.errors import NotDifferentiableError
from arrayport.core.primitive import Binary, Primitive, Unary
from arrayport.core.sparse import Sparse
from arrayport.ops.elementwise import equal, select
from arrayport.ops.promotion import from_host, home_of, scalar
from arrayport.ops.structure import (
    Shape,
    batch_to_front,
    convert,
    full_like,
    move_axis,
    reshape,
    total,
    zeros,
)

Triple = tuple[int, int | None, int]
Key = tuple[int | Triple | None, ...]  # an entry per axis, and a None per new axis
Batched = tuple[Primitive, list[Array], dict[str, Any]]


def _in_front(size: int, xs: Sequence[Array], dims: Sequence[int | None]) -> list[Array]:
    return [batch_to_front(size, x, d) for x, d in zip(xs, dims, strict=True)]


def _dense(ts: Sequence[Array | None], xs: Sequence[Any]) -> list[Array]:
    """Tangents of xs, with zeros in place of the missing ones."""
    like = next(t for t in ts if t is not None)
    return [full_like(like, 0, x.shape) if t is None else t for t, x in zip(ts, xs, strict=True)]


# ---------------------------------------------------------------------------------------- slice


def triple(part: slice, size: int) -> Triple:
    """The one triple for all slices that choose the same elements of an axis.

    >>> triple(slice(-3, 99, 2), 5), triple(slice(None, None, -1), 3)
    ((2, 5, 2), (2, None, -1))
    """
    chosen = range(size)[part]
    if not chosen:
        return 0, 0, 1
    step = chosen.step if len(chosen) > 1 else 1
    stop = chosen[-1] + (1 if step > 0 else -1)
    return chosen[0], stop if stop >= 0 else None, step


@lru_cache(1 << 12)
def basic(key: Key) -> tuple[Any, ...]:
    """The key as Python writes it."""
    return tuple(slice(*k) if type(k) is tuple else k for k in key)


@lru_cache(1 << 12)
def sliced_shape(shape: Shape, key: Key) -> Shape:
    """The shape of what a key chooses."""
    sizes = iter(shape)
    out = []
    for k in key:
        if k is None:
            out.append(1)
            continue
        size = next(sizes)
        if type(k) is tuple:
            out.append(len(range(size)[slice(*k)]))
        elif not 0 <= k < size:  # type: ignore[operator]
            raise IndexError(f"index {k} is out of range for an axis of size {size}")
    return tuple(out)


def static_slice(x: Array, key: Key) -> Array:
    """Read what a canonical key chooses; nothing happens if that is all of x."""
    if len(key) == len(x.shape) and all(k == (0, n, 1) for k, n in zip(key, x.shape, strict=True)):
        return x
    return slice_p.apply(x, {"key": key})


def slice_in_dim(
    x: Array, start: int | None, stop: int | None, step: int = 1, axis: int = 0
) -> Array:
    """Slice one axis as Python does, `axis` non-negative."""
    key = [(0, n, 1) for n in x.shape]
    key[axis] = triple(slice(start, stop, step), x.shape[axis])  # type: ignore[call-overload]
    return static_slice(x, tuple(key))


def _slice_transpose(g: Array, x: Aval, key: Key) -> Sparse:
    return Sparse(slice_add_p, Aval(x.shape, x.dtype), (g,), {"key": key})


slice_p = Unary(
    "slice",
    lambda x, key: Aval(sliced_shape(x.shape, key), x.dtype, x.weak),
    lambda n, xs, dims, /, key: (
        slice_p.bind(move_axis(xs[0], dims[0], 0), key=((0, n, 1), *key)),
        0,
    ),
    transposes=(_slice_transpose,),
)


def _slice_write_abstract(base: Aval, value: Aval, key: Key) -> Aval:
    _same_shape("slice", value.shape, sliced_shape(base.shape, key))
    return Aval(base.shape, base.dtype, base.weak and value.weak)


def _slice_batched(prim: Primitive) -> Callable[..., Batched]:
    return lambda n, xs, dims, key: (prim, _in_front(n, xs, dims), {"key": ((0, n, 1), *key)})


def _write_batch(
    size: int, xs: Sequence[Array], dims: Sequence[Any], /, prim: Primitive, **params: Any
) -> Any:
    """Batch a write by what `_BATCHED` says of all its operands but the base."""
    write, args, params = _BATCHED[prim](size, xs[1:], dims[1:], **params)
    return write.bind(batch_to_front(size, xs[0], dims[0]), *args, **params), 0


slice_add_p = Binary(
    "slice_add",
    _slice_write_abstract,
    lambda n, xs, dims, /, key: _write_batch(n, xs, dims, slice_add_p, key=key),
    jvp=lambda ts, _ans, x, y, key: slice_add_p.bind(*_dense(ts, (x, y)), key=key),
    transposes=(
        lambda g, _base, _value, key: g,  # noqa: ARG005 - a rule takes all parameters
        lambda g, _base, _value, key: slice_p.bind(g, key=key),
    ),
)
slice_set_p = Binary(
    "slice_set",
    _slice_write_abstract,
    lambda n, xs, dims, /, key: _write_batch(n, xs, dims, slice_set_p, key=key),
    jvp=lambda ts, _ans, x, y, key: slice_set_p.bind(*_dense(ts, (x, y)), key=key),
    transposes=(
        lambda g, _base, value, key: slice_set_p.bind(g, full_like(g, 0, value.shape), key=key),
        lambda g, _base, _value, key: slice_p.bind(g, key=key),
    ),
)


def _same_shape(what: str, got: Shape, want: Shape) -> None:
    if got != want:
        raise TypeError(f"the part that {what} writes to has shape {want}, the values {got}")


def stack_last(xs: Sequence[Array]) -> Array:
    """Stack arrays of one shape along a new last axis."""
    if len(xs) == 1:
        return reshape(xs[0], (*xs[0].shape, 1))
    out = full_like(xs[0], 0, (*xs[0].shape, len(xs)))
    rest = tuple((0, n, 1) for n in xs[0].shape)
    for i, x in enumerate(xs):
        out = slice_set_p.bind(out, x, key=(*rest, i))
    return out


# ---------------------------------------------------------------------------------------- gather


class GatherDimensionNumbers(NamedTuple):
    """How the axes of a gather's operand, indices and output belong together, as XLA names them."""

    offset_dims: Shape
    collapsed_slice_dims: Shape
    start_index_map: Shape
    operand_batching_dims: Shape = ()
    start_indices_batching_dims: Shape = ()


class ScatterDimensionNumbers(NamedTuple):
    """How the axes of a scatter's operand, indices and updates belong together, as XLA names them."""

    update_window_dims: Shape
    inserted_window_dims: Shape
    scatter_dims_to_operand_dims: Shape
    operand_batching_dims: Shape = ()
    scatter_indices_batching_dims: Shape = ()


GATHER_MODES = {"clip": "clip", "drop": "fill", "fill": "fill", "fill_or_drop": "fill"}
SCATTER_MODES = {**GATHER_MODES, "drop": "drop", "fill": "drop", "fill_or_drop": "drop"}
PROMISE = "promise_in_bounds"  # what is out of bounds is clamped by a gather, dropped by a scatter


def _mode(mode: Any, modes: dict[str, str], default: str) -> str:
    name = default if mode is None else str(getattr(mode, "name", mode)).lower()
    if name == PROMISE:
        return PROMISE
    if name not in modes:
        raise ValueError(f"mode {mode!r} is unknown: use 'clip', 'fill', 'drop' or '{PROMISE}'")
    return modes[name]


def gather(
    x: Array,
    indices: Array,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> Array:
    """Read a window of x at each index vector, the last axis of `indices` (`jax.lax.gather`)."""
    out = gather_p.bind(
        x,
        indices,
        dimension_numbers=dimension_numbers,
        slice_sizes=tuple(slice_sizes),
        mode=_mode(mode, GATHER_MODES, "fill"),
        fill_value=fill_value,
        unique_indices=unique_indices,
        indices_are_sorted=indices_are_sorted,
    )
    return convert(out, out.dtype, weak=True) if x.weak else out


def windows(rank: int, dimension_numbers: Sequence[Shape]) -> list[int]:
    """The axes of the operand that a gather's or scatter's window keeps."""
    gone = {*dimension_numbers[1], *dimension_numbers[3]}
    return [d for d in range(rank) if d not in gone]


@lru_cache(1 << 12)
def _gather_shape(
    shape: Shape, index_shape: Shape, numbers: GatherDimensionNumbers, sizes: Shape
) -> Shape:
    _check_numbers("gather", shape, index_shape, numbers)
    if len(sizes) != len(shape) or any(not 0 <= k <= n for k, n in zip(sizes, shape, strict=True)):
        raise TypeError(f"gather's slice_sizes {sizes} do not fit in an operand of shape {shape}")
    if any(sizes[d] > 1 for d in (*numbers[1], *numbers[3])):
        raise TypeError(f"gather's slice_sizes {sizes} must be 1 at collapsed and batching axes")
    window = [sizes[d] for d in windows(len(shape), numbers)]
    if len(window) != len(numbers.offset_dims):
        raise TypeError(
            f"gather's offset_dims {numbers.offset_dims} must name {len(window)} axes of the output"
        )
    batch, inner = iter(index_shape[:-1]), iter(window)
    rank = len(index_shape) - 1 + len(window)
    return tuple(next(inner) if d in numbers.offset_dims else next(batch) for d in range(rank))


def _check_numbers(name: str, shape: Shape, index_shape: Shape, numbers: Sequence[Shape]) -> None:
    window, gone, mapped, batching, index_batching = numbers
    if not index_shape:
        raise TypeError(f"{name} needs indices with a last axis for the index vector, not a scalar")
    if index_shape[-1] != len(mapped):
        raise TypeError(
            f"the last axis of {name}'s indices has {index_shape[-1]} elements, but its dimension "
            f"numbers map {len(mapped)} to the operand"
        )
    if any(list(dims) != sorted(set(dims)) for dims in (window, gone, batching)):
        raise TypeError(f"{name}'s dimension numbers must be sorted and distinct: {numbers}")
    named = (*gone, *batching)
    if len({*named}) != len(named) or any(not 0 <= d < len(shape) for d in (*named, *mapped)):
        raise TypeError(
            f"{name}'s dimension numbers do not fit an operand of shape {shape}: {numbers}"
        )
    if len({*mapped, *batching}) != len(mapped) + len(batching):
        raise TypeError(f"{name}'s dimension numbers name an axis of the operand twice: {numbers}")
    if [shape[d] for d in batching] != [index_shape[d] for d in index_batching]:
        raise TypeError(
            f"{name}'s batching axes differ in size: {shape} and {index_shape}, {numbers}"
        )


def _gather_jvp(ts: Any, _ans: Any, _x: Any, indices: Array, **params: Any) -> Array:
    return gather_p.bind(ts[0], indices, **{**params, "fill_value": 0})


def _gather_transpose(g: Array, x: Aval, indices: Array, **params: Any) -> Sparse:
    mode = params["mode"]
    return Sparse(
        scatter_add_p,
        Aval(x.shape, x.dtype),
        (indices, g),
        {
            "dimension_numbers": ScatterDimensionNumbers(*params["dimension_numbers"]),
            "mode": "drop" if mode == "fill" else mode,
            "unique_indices": params["unique_indices"],
            "indices_are_sorted": params["indices_are_sorted"],
        },
    )


def _up(dims: Shape) -> Shape:
    return tuple(d + 1 for d in dims)


def _numbers_batched(numbers: Any, *, operand: bool, indices: bool) -> Any:
    """Dimension numbers for a batch axis in front of the operand, the indices, or both."""
    window, gone, mapped, batching, index_batching = numbers
    if not indices:
        window = (0, *_up(window))
    else:
        window, index_batching = _up(window), _up(index_batching)
    if operand:
        gone, mapped, batching = _up(gone), _up(mapped), _up(batching)
    if operand and indices:
        batching, index_batching = (0, *batching), (0, *index_batching)
    return type(numbers)(window, gone, mapped, batching, index_batching)


def _gather_batch(
    size: int, xs: Any, dims: Any, /, dimension_numbers: Any, slice_sizes: Shape, **params: Any
) -> tuple[Array, int]:
    x, indices = (move_axis(a, d, 0) if d is not None else a for a, d in zip(xs, dims, strict=True))
    operand, index = (d is not None for d in dims)
    numbers = _numbers_batched(dimension_numbers, operand=operand, indices=index)
    if operand:
        slice_sizes = (1 if index and size else size, *slice_sizes)
    return gather_p.bind(
        x, indices, dimension_numbers=numbers, slice_sizes=slice_sizes, **params
    ), 0


gather_p = Primitive(
    "gather",
    lambda x, indices, dimension_numbers, slice_sizes, **_: Aval(
        _gather_shape(x.shape, indices.shape, dimension_numbers, slice_sizes), x.dtype
    ),
    _gather_batch,
    jvp=_gather_jvp,
    transposes=(_gather_transpose, None),
    keeps_weak=False,
)


def take(x: Array, indices: Array, axis: int = 0, **options: Any) -> Array:
    """Read along an axis at indices of any shape, which takes the axis's place; options as `gather`."""
    rank, new = len(x.shape), len(indices.shape)
    numbers = GatherDimensionNumbers(
        (*range(axis), *range(axis + new, rank + new - 1)), (axis,), (axis,)
    )
    sizes = [1 if d == axis else n for d, n in enumerate(x.shape)]
    return gather(x, reshape(indices, (*indices.shape, 1)), numbers, sizes, **options)


def take_along(x: Array, indices: Array, axis: int, **options: Any) -> Array:
    """Read along an axis, at each place of the other axes by its own indices; options as `gather`."""
    others = tuple(d for d in range(len(x.shape)) if d != axis)
    numbers = GatherDimensionNumbers((), (axis,), (axis,), others, others)
    sizes = [1] * len(x.shape)
    options.setdefault("mode", PROMISE)
    return gather(x, reshape(indices, (*indices.shape, 1)), numbers, sizes, **options)


# ---------------------------------------------------------------------------------------- scatter


@lru_cache(1 << 12)
def _check_scatter(
    shape: Shape, index_shape: Shape, update_shape: Shape, numbers: ScatterDimensionNumbers
) -> None:
    _check_numbers("scatter", shape, index_shape, numbers)
    window = windows(len(shape), numbers)
    batch = [n for d, n in enumerate(update_shape) if d not in numbers.update_window_dims]
    if len(window) != len(numbers.update_window_dims) or batch != list(index_shape[:-1]):
        raise TypeError(
            f"scatter's updates of shape {update_shape} do not fit an operand of shape {shape} and "
            f"indices of shape {index_shape} by {numbers}"
        )
    for d, w in zip(window, numbers.update_window_dims, strict=True):
        if update_shape[w] > shape[d]:
            raise TypeError(
                f"axis {w} of scatter's updates of shape {update_shape} is longer than axis {d} of "
                f"the operand of shape {shape}"
            )


def _scatter_abstract(x: Any, indices: Any, updates: Any, dimension_numbers: Any, **_: Any) -> Aval:
    if x.dtype != updates.dtype:
        raise TypeError(f"scatter got an operand of {x.dtype} and updates of {updates.dtype}")
    _check_scatter(x.shape, indices.shape, updates.shape, dimension_numbers)
    return Aval(x.shape, x.dtype)


def window_sizes(rank: int, numbers: ScatterDimensionNumbers, update_shape: Shape) -> Shape:
    """The slice sizes of the gather that reads where a scatter writes."""
    sizes = [1] * rank
    for d, w in zip(windows(rank, numbers), numbers.update_window_dims, strict=True):
        sizes[d] = update_shape[w]
    return tuple(sizes)


def _read_back(
    x: Array, indices: Array, updates: Any, dimension_numbers: Any, mode: str, **flags: Any
) -> Array:
    """What stands in x where a scatter would write; zero where it would drop."""
    return gather_p.bind(
        x,
        indices,
        dimension_numbers=GatherDimensionNumbers(*dimension_numbers),
        slice_sizes=window_sizes(len(x.shape), dimension_numbers, updates.shape),
        mode="fill" if mode == "drop" else mode,
        fill_value=0,
        **flags,
    )


def _scatter_batched(prim: Primitive) -> Callable[..., Batched]:
    def batched(
        size: int, xs: Any, dims: Any, dimension_numbers: ScatterDimensionNumbers, **params: Any
    ) -> Batched:
        (indices, updates), (index_dim, update_dim) = xs, dims
        index = index_dim is not None
        numbers = _numbers_batched(dimension_numbers, operand=True, indices=index)
        args = [move_axis(indices, index_dim, 0) if index else indices]
        args.append(batch_to_front(size, updates, update_dim))
        return prim, args, {"dimension_numbers": numbers, **params}

    return batched


def _scatter(name: str, jvp: Any, transposes: Any = ()) -> Primitive:
    """State a scatter with operands (base, indices, updates)."""
    prim = Primitive(
        f"scatter_{name}",
        _scatter_abstract,
        lambda n, xs, dims, /, **params: _write_batch(n, xs, dims, prim, **params),
        jvp=jvp,
        transposes=transposes,
        keeps_weak=False,
    )
    return prim


def _at_most_one(indices: Array, unique_indices: bool) -> bool:
    return unique_indices or all(n == 1 for n in indices.shape[:-1])


def _add_jvp(ts: Any, _ans: Any, x: Any, indices: Array, updates: Any, **params: Any) -> Array:
    t, u = _dense((ts[0], ts[2]), (x, updates))
    return scatter_add_p.bind(t, indices, u, **params)


def _set_jvp(ts: Any, _ans: Any, x: Any, indices: Array, updates: Any, **params: Any) -> Array:
    t, u = _dense((ts[0], ts[2]), (x, updates))
    return scatter_set_p.bind(t, indices, u, **params)


def _set_pull_base(g: Array, _x: Any, indices: Array, updates: Any, **params: Any) -> Array:
    return scatter_set_p.bind(g, indices, full_like(g, 0, updates.shape), **params)


def _set_pull_updates(g: Array, x: Any, indices: Array, updates: Any, **params: Any) -> Array:
    """Of several updates to one element the last one stays: it is the one that finds its number."""
    read = _read_back(g, indices, updates, **params)
    if _at_most_one(indices, params["unique_indices"]):
        return read
    count = np.arange(1, prod(updates.shape) + 1, dtype=dtypes.default_int())
    numbers = from_host(count.reshape(updates.shape), home_of(g))
    kept = scatter_set_p.bind(full_like(numbers, 0, x.shape), indices, numbers, **params)
    return select(equal(_read_back(kept, indices, updates, **params), numbers), read, zeros(read))


def _mul_jvp(ts: Any, _ans: Any, x: Array, indices: Array, updates: Array, **params: Any) -> Any:
    t, _, u = ts
    terms = [scatter_mul_p.bind(t, indices, updates, **params) if t is not None else None]
    if u is not None:
        if not _at_most_one(indices, params["unique_indices"]):
            raise NotDifferentiableError(
                "scatter_mul has no derivative with respect to the factors where indices may "
                "repeat: state unique_indices=True if they do not"
            )
        rate = _read_back(x, indices, updates, **params) * u
        terms.append(scatter_add_p.bind(zeros(x), indices, rate, **params))
    return total(terms)


def _extremum_jvp(
    ts: Any, ans: Array, x: Array, indices: Array, updates: Array, **params: Any
) -> Array:
    """The mean of the tangents of all that have the extreme value."""
    best = _read_back(ans, indices, updates, **params)
    winners = [convert(equal(x, ans), x.dtype), convert(equal(updates, best), x.dtype)]
    rates = [t * w for t, w in zip(_dense((ts[0], ts[2]), (x, updates)), winners, strict=True)]
    add = [scatter_add_p.bind(a, indices, b, **params) for a, b in (rates, winners)]
    return add[0] / add[1]


scatter_add_p = _scatter(
    "add",
    _add_jvp,
    (
        lambda g, *_, **_params: g,
        None,
        lambda g, _x, indices, updates, **params: _read_back(g, indices, updates, **params),
    ),
)
scatter_set_p = _scatter("set", _set_jvp, (_set_pull_base, None, _set_pull_updates))
scatter_mul_p = _scatter("mul", _mul_jvp)
scatter_min_p = _scatter("min", _extremum_jvp)
scatter_max_p = _scatter("max", _extremum_jvp)


def _scatter_function(prim: Primitive) -> Callable[..., Array]:
    def scatter(
        x: Array,
        indices: Array,
        updates: Array,
        dimension_numbers: ScatterDimensionNumbers,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
    ) -> Array:
        """Write windows into x at each index vector, the last axis of `indices` (`jax.lax`)."""
        out = prim.bind(
            x,
            indices,
            updates,
            dimension_numbers=dimension_numbers,
            mode=_mode(mode, SCATTER_MODES, "drop"),
            unique_indices=unique_indices,
            indices_are_sorted=indices_are_sorted,
        )
        return convert(out, out.dtype, weak=True) if x.weak else out

    scatter.__name__ = scatter.__qualname__ = prim.name
    return scatter


scatter_set = _scatter_function(scatter_set_p)
scatter_add = _scatter_function(scatter_add_p)
scatter_mul = _scatter_function(scatter_mul_p)
scatter_min = _scatter_function(scatter_min_p)
scatter_max = _scatter_function(scatter_max_p)

# ---------------------------------------------------------------------------------------- dynamic slices


def dynamic_slice(x: Array, starts: Sequence[Array], sizes: Sequence[int]) -> Array:
    """Read a window of fixed size at a place known only at run time; it is moved to fit inside."""
    out = dynamic_slice_p.bind(x, *starts, sizes=tuple(sizes))
    return convert(out, out.dtype, weak=True) if x.weak else out


def dynamic_update_slice(x: Array, update: Array, starts: Sequence[Array]) -> Array:
    """Replace a window of x at a place known only at run time; it is moved to fit inside."""
    out = dynamic_update_slice_p.bind(x, update, *starts)
    return convert(out, out.dtype, weak=True) if x.weak else out


def _window_numbers(rank: int) -> GatherDimensionNumbers:
    """A gather of one whole window: its index vector is the starts."""
    return GatherDimensionNumbers(tuple(range(rank)), (), tuple(range(rank)))


WHOLE = {"mode": "clip", "unique_indices": False, "indices_are_sorted": False}


def _starts_batched(size: int, starts: Sequence[Array], dims: Sequence[int | None]) -> Array:
    """The starts of each example as index vectors; shape (size, number of axes)."""
    index = dtypes.default_int()
    return stack_last([convert(s, index) for s in _in_front(size, starts, dims)])


def _check_dynamic(name: str, shape: Shape, sizes: Shape, starts: Sequence[Any]) -> None:
    if len(sizes) != len(shape) or any(not 0 <= k <= n for k, n in zip(sizes, shape, strict=True)):
        raise TypeError(
            f"{name}'s window of shape {sizes} does not fit in an operand of shape {shape}"
        )
    if len(starts) != len(shape) or any(s.shape for s in starts):
        raise TypeError(f"{name} needs one scalar start for each of the {len(shape)} axes")


def _dynamic_abstract(x: Aval, *starts: Any, sizes: Shape) -> Aval:
    _check_dynamic("dynamic_slice", x.shape, sizes, starts)
    return Aval(sizes, x.dtype)


def _dynamic_batch(size: int, xs: Any, dims: Any, /, sizes: Shape) -> tuple[Array, int]:
    x, *starts = xs
    if all(d is None for d in dims[1:]):
        front = zeros(starts[0]) if starts else scalar(0, dtypes.default_int())
        return dynamic_slice_p.bind(
            move_axis(x, dims[0], 0), front, *starts, sizes=(size, *sizes)
        ), 0
    return gather_p.batch(
        size,
        (x, _starts_batched(size, starts, dims[1:])),
        (dims[0], 0),
        dimension_numbers=_window_numbers(len(starts)),
        slice_sizes=sizes,
        fill_value=None,
        **WHOLE,
    )


def _dynamic_transpose(i: int, g: Array, x: Any, *starts: Array, **_params: Any) -> Sparse | None:
    return None if i else Sparse(dynamic_slice_add_p, Aval(x.shape, x.dtype), (*starts, g), {})


dynamic_slice_p = Primitive(
    "dynamic_slice",
    _dynamic_abstract,
    _dynamic_batch,
    transposes=_dynamic_transpose,
    keeps_weak=False,
)


def _dynamic_add_abstract(x: Any, *rest: Any) -> Aval:
    *starts, value = rest
    _check_dynamic("dynamic_slice_add", x.shape, value.shape, starts)
    return Aval(x.shape, x.dtype)


def _dynamic_add_batched(size: int, xs: Any, dims: Any) -> Batched:
    *starts, value = xs
    if all(d is None for d in dims[:-1]):
        front = zeros(starts[0]) if starts else scalar(0, dtypes.default_int())
        return dynamic_slice_add_p, [front, *starts, batch_to_front(size, value, dims[-1])], {}
    indices = _starts_batched(size, starts, dims[:-1])
    numbers = ScatterDimensionNumbers(*_window_numbers(len(starts)))
    write = _BATCHED[scatter_add_p]
    return write(size, (indices, value), (0, dims[-1]), dimension_numbers=numbers, **WHOLE)


def _dynamic_add_jvp(ts: Any, _ans: Any, x: Any, *rest: Any) -> Array:
    *starts, value = rest
    t, u = _dense((ts[0], ts[-1]), (x, value))
    return dynamic_slice_add_p.bind(t, *starts, u)


def _dynamic_add_transpose(i: int, g: Array, _x: Any, *rest: Any) -> Array:
    *starts, value = rest
    return g if i == 0 else dynamic_slice_p.bind(g, *starts, sizes=value.shape)


dynamic_slice_add_p = Primitive(
    "dynamic_slice_add",
    _dynamic_add_abstract,
    lambda n, xs, dims, /: _write_batch(n, xs, dims, dynamic_slice_add_p),
    jvp=_dynamic_add_jvp,
    transposes=_dynamic_add_transpose,
    keeps_weak=False,
)


def _update_abstract(x: Any, update: Any, *starts: Any) -> Aval:
    if x.dtype != update.dtype:
        raise TypeError(
            f"dynamic_update_slice got an operand of {x.dtype} and an update of {update.dtype}"
        )
    _check_dynamic("dynamic_update_slice", x.shape, update.shape, starts)
    return Aval(x.shape, x.dtype)


def _update_batch(size: int, xs: Any, dims: Any, /) -> tuple[Array, int]:
    x, update = _in_front(size, xs[:2], dims[:2])
    starts = xs[2:]
    if all(d is None for d in dims[2:]):
        front = zeros(starts[0]) if starts else scalar(0, dtypes.default_int())
        return dynamic_update_slice_p.bind(x, update, front, *starts), 0
    return scatter_set_p.batch(
        size,
        (x, _starts_batched(size, starts, dims[2:]), update),
        (0, 0, 0),
        dimension_numbers=ScatterDimensionNumbers(*_window_numbers(len(starts))),
        **WHOLE,
    )


def _update_jvp(ts: Any, _ans: Any, x: Any, update: Any, *starts: Array) -> Array:
    return dynamic_update_slice_p.bind(*_dense(ts[:2], (x, update)), *starts)


def _update_transpose(i: int, g: Array, _x: Any, update: Any, *starts: Array) -> Array:
    if i == 1:
        return dynamic_slice_p.bind(g, *starts, sizes=update.shape)
    return dynamic_update_slice_p.bind(g, full_like(g, 0, update.shape), *starts)


dynamic_update_slice_p = Primitive(
    "dynamic_update_slice",
    _update_abstract,
    _update_batch,
    jvp=_update_jvp,
    transposes=_update_transpose,
    keeps_weak=False,
)

# ---------------------------------------------------------------------------------------- sums of parts

_BATCHED: dict[Primitive, Callable[..., Batched]] = {
    slice_add_p: _slice_batched(slice_add_p),
    slice_set_p: _slice_batched(slice_set_p),
    dynamic_slice_add_p: _dynamic_add_batched,
    **{
        p: _scatter_batched(p)
        for p in (scatter_set_p, scatter_add_p, scatter_mul_p, scatter_min_p, scatter_max_p)
    },
}

Entries = tuple[tuple[Primitive, int, tuple[tuple[str, Any], ...]], ...]


def scatter_all(base: Array | None, parts: Sequence[Sparse]) -> Array:
    """Add many parts to a base (zero if None) in one pass, whoever traces: linear at every order."""
    if base is None:
        base = full_like(parts[0].args[-1], 0, parts[0].like.shape)
    if not parts:
        return base
    args = [a for p in parts for a in p.args]
    return scatter_all_p.bind(
        base, *args, entries=tuple((p.write, len(p.args), tuple(p.params.items())) for p in parts)
    )


def split(args: Sequence[Any], entries: Entries) -> Iterator[tuple[Primitive, Any, dict[str, Any]]]:
    """The writes of a `scatter_all`: primitive, operands after the base (the values last), parameters."""
    start = 0
    for write, count, params in entries:
        yield write, args[start : start + count], dict(params)
        start += count


def _all_jvp(ts: Any, _ans: Any, base: Any, *args: Any, entries: Entries) -> Array:
    parts = [
        Sparse(write, base, (*xs[:-1], t[-1]), params)
        for (write, xs, params), (_, t, _) in zip(
            split(args, entries), split(ts[1:], entries), strict=True
        )
        if t[-1] is not None
    ]
    return scatter_all(ts[0], parts)


def _all_transpose(i: int, g: Array, base: Any, *args: Any, entries: Entries) -> Array:
    """The base's cotangent is g; each value's is read where it was written."""
    end = 0
    for write, xs, params in split(args, entries):
        end += len(xs)
        if i == end:
            return write.transpose_rule(len(xs))(g, base, *xs, **params)
    return g


def _all_batch(size: int, xs: Any, dims: Any, /, entries: Entries) -> tuple[Array, int]:
    args: list[Array] = []
    batched = []
    for (write, own, params), (_, ds, _) in zip(
        split(xs[1:], entries), split(dims[1:], entries), strict=True
    ):
        prim, new, new_params = _BATCHED[write](size, own, ds, **params)
        args += new
        batched.append((prim, len(new), tuple(new_params.items())))
    return scatter_all_p.bind(
        batch_to_front(size, xs[0], dims[0]), *args, entries=tuple(batched)
    ), 0


scatter_all_p = Primitive(
    "scatter_all",
    lambda base, *_args, entries: Aval(base.shape, base.dtype),  # noqa: ARG005 - all parameters
    _all_batch,
    jvp=_all_jvp,
    transposes=_all_transpose,
    keeps_weak=False,
)
