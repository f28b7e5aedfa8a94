"""Collectives: operations between the examples along a mapped axis that has a name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.primitive import Collective
from arrayport.core.trace import backend_of
from arrayport.ops.creation import iota
from arrayport.ops.elementwise import equal, select
from arrayport.ops.indexing import take
from arrayport.ops.promotion import lift
from arrayport.ops.reductions import reduce_max, reduce_min
from arrayport.ops.shapes import concatenate
from arrayport.ops.structure import (
    batch_to_front,
    broadcast_in_dim,
    convert,
    merged,
    move_axis,
    parted,
    reduce_sum,
    reshape,
    zeros,
)

Groups = tuple[tuple[int, ...], ...] | None  # the members along the axis that work together
Across = Callable[..., tuple[Array, bool]]


def _rows(x: Array, members: Sequence[int], **options: Any) -> Array:
    """Some of the examples along the leading axis, in an order."""
    index = lift(np.asarray(members, np.int32), backend_of(x))
    return take(x, index, 0, **options)


def in_groups(across: Across) -> Across:
    """Let a rule work within each of `groups` apart, where there are any."""

    def run(size: int, x: Array, /, groups: Groups, **params: Any) -> tuple[Array, bool]:
        if groups is None:
            return across(size, x, **params)
        parts = []
        for members in groups:
            out, mapped = across(len(members), _rows(x, members), **params)
            parts.append(out if mapped else batch_to_front(len(members), out, None))
        order = np.argsort([m for members in groups for m in members])
        return _rows(concatenate(parts, 0), order.tolist()), True

    return run


def members(size: int, groups: Groups) -> int:
    """How many examples work together along an axis of that size."""
    return size if groups is None else len(groups[0])


def _same(x: Any, **_params: Any) -> Aval:
    return Aval(x.shape, x.dtype, x.weak)


def _alike(name: str, across: Across, **derivative: Any) -> Collective:
    """Make a collective whose answer has its operand's type, and the axes that others map."""
    prim: Collective = Collective(
        name,
        _same,
        lambda _size, xs, dims, /, **params: (prim.bind(xs[0], **params), dims[0]),
        across=across,
        **derivative,
    )
    return prim


# ---- reductions over the axis


def _reduced(reduce: Callable[..., Array]) -> Across:
    """Give every example the same reduction of all; of none there is nobody to have it."""
    return in_groups(lambda size, x: (reduce(x, (0,)), False) if size else (x, True))


def _extreme_jvp(ts: Sequence[Array], ans: Array, x: Array, **params: Any) -> Array:
    """Share the tangent among the examples that attain the extreme."""
    attained = convert(equal(x, ans), ts[0].dtype)
    return psum_p.bind(ts[0] * attained, **params) / psum_p.bind(attained, **params)


psum_p: Collective = _alike(
    "psum", _reduced(reduce_sum), transposes=(lambda g, _x, **params: psum_p.bind(g, **params),)
)
pmax_p: Collective = _alike("pmax", _reduced(reduce_max), jvp=_extreme_jvp)
pmin_p: Collective = _alike("pmin", _reduced(reduce_min), jvp=_extreme_jvp)

# ---- equal or not along the axis, where derivatives ask for it (transforms/varying.py)

# A value that is equal for all becomes one of each example's own, and the sum one for all: then
# the cotangent of the one is the other.
pcast_p: Collective = _alike(
    "pcast",
    lambda _size, x: (x, True),
    transposes=(lambda g, _x, axes: psum_invariant_p.bind(g, axes=axes),),
)
psum_invariant_p: Collective = _alike(
    "psum_invariant",
    lambda _size, x: (reduce_sum(x, (0,)), False),
    transposes=(lambda g, _x, axes: pcast_p.bind(g, axes=axes),),
)
# Each example's own already, only kept once: hold it apart.
apart_p: Collective = _alike(
    "apart",
    lambda _size, x: (x, True),
    transposes=(lambda g, _x, axes: g,),  # noqa: ARG005
)
# Equal for all, as is known: keep it once. Each example's part in it is that in their mean.
settle_p: Collective = _alike(
    "settle",
    lambda _size, x, count: (take(x, lift(0), 0), False),  # noqa: ARG005
    transposes=(lambda g, _x, axes, count: pcast_p.bind(g, axes=axes) / count,),
)

# ---- exchanges along the axis


def _permute(
    size: int, x: Array, perm: tuple[tuple[int, int], ...], rows: int
) -> tuple[Array, bool]:
    """Give each example, or each row of each, what its source has, zeros if it has none."""
    places = reshape(x, (size * rows, *x.shape[2:])) if rows else x
    count = places.shape[0]
    sources = dict.fromkeys(range(count), count) | {target: source for source, target in perm}
    out = _rows(places, [sources[i] for i in range(count)], mode="fill", fill_value=0)
    return (reshape(out, x.shape) if rows else out), True


def _permute_batch(_size: int, xs: Any, dims: Any, /, rows: int, **params: Any) -> Any:
    x, dim = (move_axis(xs[0], dims[0], 1), 1) if rows else (xs[0], dims[0])
    return ppermute_p.bind(x, rows=rows, **params), dim


# With `rows`, each example holds so many places of the permutation, along its leading axis.
ppermute_p: Collective = Collective(
    "ppermute",
    _same,
    _permute_batch,
    across=_permute,
    transposes=(
        lambda g, _x, perm, **params: ppermute_p.bind(
            g, perm=tuple([(target, source) for source, target in perm]), **params
        ),
    ),
)


def _broadcast_transpose(g: Array, _x: Any, axes: Any, source: int, groups: Groups) -> Array:
    total = psum_p.bind(g, axes=axes, groups=groups)
    index = axis_index_p.bind(axes=axes)
    own = equal(index, convert(lift(source), index.dtype))
    return select(broadcast_in_dim(own, total.shape, ()), total, zeros(total))


pbroadcast_p: Collective = _alike(
    "pbroadcast",
    in_groups(lambda _size, x, source: (reshape(_rows(x, [source]), x.shape[1:]), False)),
    transposes=(_broadcast_transpose,),
)


def _gather(_size: int, x: Array, axis: int, tiled: bool) -> tuple[Array, bool]:
    out = move_axis(x, 0, axis)
    return (merged(out, axis) if tiled else out), False


def _gather_abstract(x: Any, axis: int, tiled: bool, count: int, **_: Any) -> Aval:
    shape = list(x.shape)
    if tiled:
        shape[axis] *= count
    else:
        shape.insert(axis, count)
    return Aval(tuple(shape), x.dtype, x.weak)


def _gather_batch(_size: int, xs: Any, dims: Any, /, axis: int, **params: Any) -> Any:
    x = move_axis(xs[0], dims[0], 0)
    return all_gather_p.bind(x, axis=axis + 1, **params), 0


all_gather_p: Collective = Collective(
    "all_gather",
    _gather_abstract,
    _gather_batch,
    across=in_groups(lambda size, x, axis, tiled, count: _gather(size, x, axis, tiled)),  # noqa: ARG005
    transposes=(lambda g, _x, **params: psum_scatter_p.bind(g, **params),),
)


def _scatter(size: int, x: Array, axis: int, tiled: bool, count: int) -> tuple[Array, bool]:  # noqa: ARG001
    total = reduce_sum(x, (0,))
    return move_axis(parted(total, axis, size) if tiled else total, axis, 0), True


def _scatter_abstract(x: Any, axis: int, tiled: bool, count: int, **_: Any) -> Aval:
    shape = list(x.shape)
    if tiled:
        shape[axis] //= count
    else:
        del shape[axis]
    return Aval(tuple(shape), x.dtype, x.weak)


def _scatter_batch(_size: int, xs: Any, dims: Any, /, axis: int, **params: Any) -> Any:
    x = move_axis(xs[0], dims[0], 0)
    return psum_scatter_p.bind(x, axis=axis + 1, **params), 0


psum_scatter_p: Collective = Collective(
    "psum_scatter",
    _scatter_abstract,
    _scatter_batch,
    across=in_groups(_scatter),
    transposes=(lambda g, _x, **params: all_gather_p.bind(g, **params),),
)


def _exchange(_size: int, x: Array, axis: int) -> tuple[Array, bool]:
    """Part i of example j becomes part j of example i."""
    return move_axis(move_axis(x, axis + 1, 0), 1, axis + 1), True


def _exchange_batch(_size: int, xs: Any, dims: Any, /, axis: int, **params: Any) -> Any:
    return all_to_all_p.bind(move_axis(xs[0], dims[0], 0), axis=axis + 1, **params), 0


all_to_all_p: Collective = Collective(
    "all_to_all",
    _same,
    _exchange_batch,
    across=in_groups(_exchange),
    transposes=(lambda g, _x, **params: all_to_all_p.bind(g, **params),),
)


# ---- places along the axis

axis_index_p: Collective = Collective(
    "axis_index",
    lambda axes: Aval((), dtypes.int32),  # noqa: ARG005 - all of its parameters
    lambda _size, _xs, _dims, /, axes: (axis_index_p.bind(axes=axes), None),
    across=lambda size, _x: (iota(dtypes.int32, size), True),
    not_differentiable="it has no operands",
    keeps_weak=False,
)

COLLECTIVES = (
    *(psum_p, pmax_p, pmin_p, pcast_p, psum_invariant_p, apart_p, settle_p),
    *(ppermute_p, pbroadcast_p, all_gather_p, psum_scatter_p, all_to_all_p, axis_index_p),
)
