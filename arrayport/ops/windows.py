"""Windows at places known only at run time, and the sum of all parts that cotangents consist of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from numpy.lib.array_utils import normalize_axis_index

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.primitive import Primitive
from arrayport.core.sparse import Sparse
from arrayport.ops.elementwise import maximum, minimum, select
from arrayport.ops.indexing import (
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
    gather_p,
    scatter_add_p,
    scatter_batched,
    scatter_set_p,
)
from arrayport.ops.promotion import lift, lift_all, scalar
from arrayport.ops.slices import (
    Batched,
    slice_add_batched,
    slice_add_p,
    stack_last,
    tangents_of,
)
from arrayport.ops.structure import (
    Shape,
    batch_to_front,
    convert,
    full_like,
    in_front,
    move_axis,
    reshape,
    zeros,
)

# ------------------------------------------------------------------------------- dynamic slices


def dynamic_slice(
    operand: Any,
    start_indices: Sequence[Any],
    slice_sizes: Sequence[int],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Array:
    """Read a window of fixed size at starts known only at run time, moved to fit inside.

    Negative starts count from the end, unless `allow_negative_indices` (of every axis, or of each)
    is False: they are moved to 0 then. Raises TypeError for a window larger than the operand.
    Source: `jax.lax.dynamic_slice`.

    >>> from arrayport import lax
    >>> lax.dynamic_slice(lax.iota("int32", 5), (4,), (2,))
    Array([3, 4], dtype=int32)
    """
    x, *starts = _lifted(operand, (), start_indices, allow_negative_indices)
    sizes = tuple(slice_sizes)
    _dynamic_abstract(x, *starts, sizes=sizes)
    out = dynamic_slice_p.bind(x, *starts, sizes=sizes)
    return convert(out, out.dtype, weak=True) if x.weak else out


def dynamic_update_slice(
    operand: Any,
    update: Any,
    start_indices: Sequence[Any],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Array:
    """Replace a window at starts known only at run time, moved to fit inside.

    Negative starts are as `dynamic_slice` has them. Raises TypeError for an update larger than the
    operand or of another dtype. Source: `jax.lax.dynamic_update_slice`.

    >>> from arrayport import lax
    >>> lax.dynamic_update_slice(lax.iota("int32", 5), lax.iota("int32", 2), (1,))
    Array([0, 0, 1, 3, 4], dtype=int32)
    """
    x, update, *starts = _lifted(operand, (update,), start_indices, allow_negative_indices)
    _update_abstract(x, update, *starts)
    return dynamic_update_slice_p.bind(x, update, *starts)


def _lifted(
    operand: Any, others: Sequence[Any], starts: Sequence[Any], negative: bool | Sequence[bool]
) -> list[Array]:
    """Make Arrays of all; starts become integers of one kind that count from the front."""
    count = len(others) + 1
    x, *rest = lift_all((operand, *others, *starts))
    if len(starts) != len(x.shape):
        raise TypeError(f"needed are {len(x.shape)} starts, one for each axis, not {len(starts)}")
    wraps = [negative] * len(starts) if isinstance(negative, bool) else negative
    if len(wraps) != len(starts):
        raise TypeError(
            f"allow_negative_indices must be a bool, or one for each of {len(starts)} axes, not "
            f"{len(wraps)}"
        )
    index = dtypes.default_int()
    placed = []
    for start, own, n, wrap in zip(starts, rest[count - 1 :], x.shape, wraps, strict=True):
        if type(start) is int:
            chosen = start + n if start < 0 and wrap else start
            placed.append(scalar(max(min(chosen, n), 0), index))
            continue
        if not dtypes.is_integer(own.dtype):
            raise TypeError(f"starts must be integers, not {own.dtype}: cast with astype('int32')")
        if dtypes.kind(own.dtype) == "u":
            placed.append(convert(minimum(own, n) if own.dtype.itemsize >= 4 else own, index))
            continue
        wide = convert(own, own.dtype if own.dtype.itemsize > 4 else index)
        placed.append(select(wide < 0, wide + n, wide) if wrap else maximum(wide, 0))
    return [x, *rest[: count - 1], *placed]


def _along(x: Array, index: Any, axis: int) -> list[Any]:
    starts: list[Any] = [0] * len(x.shape)
    starts[axis] = index
    return starts


def dynamic_slice_in_dim(
    operand: Any,
    start_index: Any,
    slice_size: int,
    axis: int = 0,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """Read a window along one axis. Source: `jax.lax.dynamic_slice_in_dim`; see `dynamic_slice`.

    >>> from arrayport import lax
    >>> lax.dynamic_slice_in_dim(lax.iota("int32", 5), 1, 2)
    Array([1, 2], dtype=int32)
    """
    x = lift(operand)
    axis = normalize_axis_index(axis, len(x.shape))
    sizes = (*x.shape[:axis], slice_size, *x.shape[axis + 1 :])
    starts = _along(x, start_index, axis)
    return dynamic_slice(x, starts, sizes, allow_negative_indices=allow_negative_indices)


def dynamic_index_in_dim(
    operand: Any,
    index: Any,
    axis: int = 0,
    keepdims: bool = True,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """Read one index along one axis. Source: `jax.lax.dynamic_index_in_dim`; see `dynamic_slice`.

    >>> from arrayport import lax
    >>> lax.dynamic_index_in_dim(lax.iota("int32", 5), 3, keepdims=False)
    Array(3, dtype=int32)
    """
    out = dynamic_slice_in_dim(
        operand, index, 1, axis, allow_negative_indices=allow_negative_indices
    )
    axis = normalize_axis_index(axis, len(out.shape))
    return out if keepdims else reshape(out, (*out.shape[:axis], *out.shape[axis + 1 :]))


def dynamic_update_slice_in_dim(
    operand: Any,
    update: Any,
    start_index: Any,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """Replace a window along one axis. Source: `jax.lax.dynamic_update_slice_in_dim`.

    See `dynamic_update_slice`.

    >>> from arrayport import lax
    >>> lax.dynamic_update_slice_in_dim(lax.iota("int32", 4), lax.iota("int32", 2), 2, 0)
    Array([0, 1, 0, 1], dtype=int32)
    """
    x, update = lift_all((operand, update))
    axis = normalize_axis_index(axis, len(x.shape))
    starts = _along(x, start_index, axis)
    return dynamic_update_slice(x, update, starts, allow_negative_indices=allow_negative_indices)


def dynamic_update_index_in_dim(
    operand: Any,
    update: Any,
    index: Any,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """Replace one index along one axis. Source: `jax.lax.dynamic_update_index_in_dim`.

    The update may lack the axis; see `dynamic_update_slice`.

    >>> from arrayport import lax
    >>> lax.dynamic_update_index_in_dim(lax.iota("int32", 3), 7, 1, 0)
    Array([0, 7, 2], dtype=int32)
    """
    x = lift(operand)
    update = scalar(update, x.dtype) if isinstance(update, int | float) else lift(update)
    axis = normalize_axis_index(axis, len(x.shape))
    if len(update.shape) != len(x.shape):
        update = reshape(update, (*update.shape[:axis], 1, *update.shape[axis:]))
    starts = _along(x, index, axis)
    return dynamic_update_slice(x, update, starts, allow_negative_indices=allow_negative_indices)


def _window_numbers(rank: int) -> GatherDimensionNumbers:
    """A gather of one whole window: its index vector is the starts."""
    return GatherDimensionNumbers(tuple(range(rank)), (), tuple(range(rank)))


WHOLE = {"mode": "clip", "unique_indices": False, "indices_are_sorted": False}


def _starts_batched(size: int, starts: Sequence[Array], dims: Sequence[int | None]) -> Array:
    """The starts of each example as index vectors; shape (size, number of axes)."""
    index = dtypes.default_int()
    return stack_last([convert(s, index) for s in in_front(size, starts, dims)])


def _from_front(starts: Sequence[Array]) -> list[Array]:
    """The starts with one more in front, for an axis of examples that is read whole."""
    return [zeros(starts[0]) if starts else scalar(0, dtypes.default_int()), *starts]


def _check_dynamic(name: str, shape: Shape, sizes: Shape, starts: Sequence[Any]) -> None:
    if len(sizes) != len(shape) or any(not 0 <= k <= n for k, n in zip(sizes, shape, strict=True)):
        raise TypeError(
            f"{name}'s window of shape {sizes} does not fit in an operand of shape {shape}"
        )
    if len(starts) != len(shape) or any(s.shape for s in starts):
        raise TypeError(f"{name} needs one scalar start for each of the {len(shape)} axes")


def _dynamic_abstract(x: Any, *starts: Any, sizes: Shape) -> Aval:
    _check_dynamic("dynamic_slice", x.shape, sizes, starts)
    return Aval(sizes, x.dtype)


def _dynamic_batch(size: int, xs: Any, dims: Any, /, sizes: Shape) -> tuple[Array, int]:
    x, *starts = xs
    if all(d is None for d in dims[1:]):
        whole = move_axis(x, dims[0], 0)
        return dynamic_slice_p.bind(whole, *_from_front(starts), sizes=(size, *sizes)), 0
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
        value = batch_to_front(size, value, dims[-1])
        return dynamic_slice_add_p, [*_from_front(starts), value], {}
    indices = _starts_batched(size, starts, dims[:-1])
    numbers = ScatterDimensionNumbers(*_window_numbers(len(starts)))
    pair, pair_dims = (indices, value), (0, dims[-1])
    return scatter_batched(scatter_add_p, size, pair, pair_dims, dimension_numbers=numbers, **WHOLE)


def _dynamic_add_batch(size: int, xs: Any, dims: Any, /) -> tuple[Array, int]:
    write, args, params = _dynamic_add_batched(size, xs[1:], dims[1:])
    return write.bind(batch_to_front(size, xs[0], dims[0]), *args, **params), 0


def _dynamic_add_jvp(ts: Any, _ans: Any, x: Any, *rest: Any) -> Array:
    *starts, value = rest
    t, u = tangents_of((ts[0], ts[-1]), (x, value))
    return dynamic_slice_add_p.bind(t, *starts, u)


def _dynamic_add_transpose(i: int, g: Array, _x: Any, *rest: Any) -> Array:
    *starts, value = rest
    return g if i == 0 else dynamic_slice_p.bind(g, *starts, sizes=value.shape)


dynamic_slice_add_p = Primitive(
    "dynamic_slice_add",
    _dynamic_add_abstract,
    _dynamic_add_batch,
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
    x, update = in_front(size, xs[:2], dims[:2])
    starts = xs[2:]
    if all(d is None for d in dims[2:]):
        return dynamic_update_slice_p.bind(x, update, *_from_front(starts)), 0
    return scatter_set_p.batch(
        size,
        (x, _starts_batched(size, starts, dims[2:]), update),
        (0, 0, 0),
        dimension_numbers=ScatterDimensionNumbers(*_window_numbers(len(starts))),
        **WHOLE,
    )


def _update_jvp(ts: Any, _ans: Any, x: Any, update: Any, *starts: Array) -> Array:
    return dynamic_update_slice_p.bind(*tangents_of(ts[:2], (x, update)), *starts)


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

# ------------------------------------------------------------------------------- sums of parts

_BATCHED: dict[Primitive, Callable[..., Batched]] = {
    slice_add_p: slice_add_batched,
    scatter_add_p: partial(scatter_batched, scatter_add_p),
    dynamic_slice_add_p: _dynamic_add_batched,
}

Entries = tuple[tuple[Primitive, int, tuple[tuple[str, Any], ...]], ...]


def scatter_all(base: Array | None, parts: Sequence[Sparse]) -> Array:
    """Add many parts to a base (zero if None) in one pass: linear at every order of derivatives."""
    if base is None:
        base = full_like(parts[0].args[-1], 0, parts[0].like.shape)
    if not parts:
        return base
    args = [a for p in parts for a in p.args]
    return scatter_all_p.bind(
        base, *args, entries=tuple((p.write, len(p.args), tuple(p.params.items())) for p in parts)
    )


def split(args: Sequence[Any], entries: Entries) -> Iterator[tuple[Primitive, Any, dict[str, Any]]]:
    """Walk the writes of a `scatter_all`: primitive, operands but the base, parameters."""
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
