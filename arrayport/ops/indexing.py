"""Reading and writing windows of arrays at index vectors: gathers and scatters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.errors import NotDifferentiableError
from arrayport.core.primitive import Primitive
from arrayport.core.sparse import Sparse
from arrayport.ops.elementwise import equal, neg, select
from arrayport.ops.promotion import from_host, home_of, lift_all
from arrayport.ops.slices import Batched, tangents_of
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

# ---------------------------------------------------------------------------------------- gather


class GatherDimensionNumbers(NamedTuple):
    """How a gather's operand, indices and output belong together, as XLA names their axes.

    Source: ``jax.lax.GatherDimensionNumbers``.

    >>> from arrayport import lax, numpy as anp
    >>> rows = lax.GatherDimensionNumbers((1,), (0,), (0,))  # windows along axis 1, chosen on 0
    >>> lax.gather(anp.arange(6).reshape(3, 2), anp.array([[2], [0]]), rows, (1, 2))
    Array([[4, 5],
           [0, 1]], dtype=int32)
    """

    offset_dims: Shape
    collapsed_slice_dims: Shape
    start_index_map: Shape
    operand_batching_dims: Shape = ()
    start_indices_batching_dims: Shape = ()


class ScatterDimensionNumbers(NamedTuple):
    """How a scatter's operand, indices and updates belong together, as XLA names their axes.

    Source: ``jax.lax.ScatterDimensionNumbers``.

    >>> from arrayport import lax, numpy as anp
    >>> rows = lax.ScatterDimensionNumbers((1,), (0,), (0,))
    >>> lax.scatter_add(anp.zeros((3, 2)), anp.array([[2], [2]]), anp.ones((2, 2)), rows)
    Array([[0., 0.],
           [0., 0.],
           [2., 2.]], dtype=float32)
    """

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
    operand: Any,
    start_indices: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> Array:
    """Read a window at each index vector, which the last axis of `start_indices` holds.

    `mode`: "fill" (as None) gives `fill_value`, else NaN, the least signed or largest unsigned
    integer, for windows that are not inside; "clip" moves them inside, and so does
    "promise_in_bounds". Raises TypeError for dimension numbers that do not fit. Source:
    `jax.lax.gather`.

    >>> import arrayport.numpy as anp
    >>> from arrayport import lax
    >>> numbers = lax.GatherDimensionNumbers((), (0,), (0,))
    >>> lax.gather(anp.arange(5), anp.array([[4], [1]]), numbers, (1,))
    Array([4, 1], dtype=int32)
    """
    x, indices = lift_all((operand, start_indices), "an operand of gather")
    numbers, sizes = GatherDimensionNumbers(*dimension_numbers), tuple(slice_sizes)
    _gather_shape(x.shape, indices.shape, numbers, sizes)
    out = gather_p.bind(
        x,
        _integers("gather", indices),
        dimension_numbers=numbers,
        slice_sizes=sizes,
        mode=_mode(mode, GATHER_MODES, "fill"),
        fill_value=fill_value,
        unique_indices=unique_indices,
        indices_are_sorted=indices_are_sorted,
    )
    return convert(out, out.dtype, weak=True) if x.weak else out


def _integers(name: str, indices: Array) -> Array:
    if not dtypes.is_integer(indices.dtype):
        raise TypeError(f"{name} needs integer indices, not {indices.dtype}: use astype('int32')")
    return indices


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
    """Read along an axis at indices of any shape, which takes its place; options as `gather`."""
    if 0 in indices.shape:
        return _nothing(x, (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))
    rank, new = len(x.shape), len(indices.shape)
    numbers = GatherDimensionNumbers(
        (*range(axis), *range(axis + new, rank + new - 1)), (axis,), (axis,)
    )
    sizes = [1 if d == axis else n for d, n in enumerate(x.shape)]
    return gather(x, reshape(indices, (*indices.shape, 1)), numbers, sizes, **options)


def take_along(x: Array, indices: Array, axis: int, **options: Any) -> Array:
    """Read along an axis, at each place of the others by its own indices; options as `gather`."""
    if 0 in indices.shape:
        return _nothing(x, indices.shape)
    others = tuple(d for d in range(len(x.shape)) if d != axis)
    numbers = GatherDimensionNumbers((), (axis,), (axis,), others, others)
    sizes = [1] * len(x.shape)
    options.setdefault("mode", PROMISE)
    return gather(x, reshape(indices, (*indices.shape, 1)), numbers, sizes, **options)


def _nothing(x: Array, shape: Shape) -> Array:
    """What no index reads, also of an axis in which no window fits."""
    return convert(full_like(x, 0, shape), x.dtype, x.weak)


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


def scatter_batched(
    prim: Primitive,
    size: int,
    xs: Any,
    dims: Any,
    dimension_numbers: ScatterDimensionNumbers,
    **params: Any,
) -> Batched:
    """Say what writes a batch of updates, at one or a batch of indices, into a batch of bases."""
    (indices, updates), (index_dim, update_dim) = xs, dims
    index = index_dim is not None
    numbers = _numbers_batched(dimension_numbers, operand=True, indices=index)
    args = [move_axis(indices, index_dim, 0) if index else indices]
    args.append(batch_to_front(size, updates, update_dim))
    return prim, args, {"dimension_numbers": numbers, **params}


def _scatter(name: str, jvp: Any, transposes: Any = ()) -> Primitive:
    """State a scatter with operands (base, indices, updates)."""

    def batch(size: int, xs: Any, dims: Any, /, **params: Any) -> tuple[Array, int]:
        _, args, params = scatter_batched(prim, size, xs[1:], dims[1:], **params)
        return prim.bind(batch_to_front(size, xs[0], dims[0]), *args, **params), 0

    prim = Primitive(
        f"scatter_{name}",
        _scatter_abstract,
        batch,
        jvp=jvp,
        transposes=transposes,
        keeps_weak=False,
    )
    return prim


def _at_most_one(indices: Array, unique_indices: bool) -> bool:
    return unique_indices or all(n == 1 for n in indices.shape[:-1])


def _add_jvp(ts: Any, _ans: Any, x: Any, indices: Array, updates: Any, **params: Any) -> Array:
    t, u = tangents_of((ts[0], ts[2]), (x, updates))
    return scatter_add_p.bind(t, indices, u, **params)


def _set_jvp(ts: Any, _ans: Any, x: Any, indices: Array, updates: Any, **params: Any) -> Array:
    t, u = tangents_of((ts[0], ts[2]), (x, updates))
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
    terms = []
    if t is not None:
        terms.append(t * scatter_mul_p.bind(full_like(x, 1), indices, updates, **params))
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
    rates = [t * w for t, w in zip(tangents_of((ts[0], ts[2]), (x, updates)), winners, strict=True)]
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


def _scatter_function(prim: Primitive, does: str, example: str) -> Callable[..., Array]:
    """Make the function over a scatter; `example` is what 3 and 5 at place 1 make of 1, 4, 9."""

    def scatter(
        operand: Any,
        scatter_indices: Any,
        updates: Any,
        dimension_numbers: ScatterDimensionNumbers,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
    ) -> Array:
        x, indices, values = lift_all(
            (operand, scatter_indices, updates), f"an operand of {prim.name}"
        )
        numbers = ScatterDimensionNumbers(*dimension_numbers)
        _scatter_abstract(x, indices, values, numbers)
        out = prim.bind(
            x,
            _integers(prim.name, indices),
            values,
            dimension_numbers=numbers,
            mode=_mode(mode, SCATTER_MODES, "drop"),
            unique_indices=unique_indices,
            indices_are_sorted=indices_are_sorted,
        )
        return convert(out, out.dtype, weak=True) if x.weak else out

    name = prim.name.removesuffix("_set")
    scatter.__doc__ = f"""{does} at each index vector, which the last axis of the indices holds.

    Repeated indices count each, but for `scatter`, where the last stays. `mode`: "drop" (as None)
    and "promise_in_bounds" leave out the windows that are not inside, "clip" moves them. Raises
    TypeError for dimension numbers that do not fit and for updates of another dtype. Source:
    `jax.lax.{name}`.

    >>> import arrayport.numpy as anp
    >>> from arrayport import lax
    >>> base, index, updates = anp.array([1, 4, 9]), anp.array([[1], [1]]), anp.array([3, 5])
    >>> numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> lax.{name}(base, index, updates, numbers)
    Array({example}, dtype=int32)
    """
    scatter.__name__ = scatter.__qualname__ = prim.name
    return scatter


scatter_set = _scatter_function(scatter_set_p, "Replace a window", "[1, 5, 9]")
scatter_add = _scatter_function(scatter_add_p, "Add to a window", "[ 1, 12,  9]")
scatter_mul = _scatter_function(scatter_mul_p, "Multiply a window", "[ 1, 60,  9]")
scatter_min = _scatter_function(
    scatter_min_p, "Lower a window to the smaller elements", "[1, 3, 9]"
)
scatter_max = _scatter_function(scatter_max_p, "Raise a window to the larger elements", "[1, 5, 9]")


def scatter_sub(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    **options: Any,
) -> Array:
    """Subtract from a window at each index vector; see `scatter_add`.

    Source: `jax.lax.scatter_sub`.

    >>> import arrayport.numpy as anp
    >>> from arrayport import lax
    >>> numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> lax.scatter_sub(anp.array([1, 4, 9]), anp.array([[1]]), anp.array([3]), numbers)
    Array([1, 1, 9], dtype=int32)
    """
    return scatter_add(operand, scatter_indices, neg(updates), dimension_numbers, **options)
