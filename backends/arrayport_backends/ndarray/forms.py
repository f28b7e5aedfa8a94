"""The forms of what moves elements, makes them or folds them: kernels read by them in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, product
from math import prod
from typing import Any

from arrayport.core.program import Atom, Eqn
from arrayport.ops import (
    bits,
    creation,
    indexing,
    products,
    random,
    reductions,
    shapes,
    slices,
    structure,
    windows,
)
from arrayport.passes.forms import (
    Added,
    Counted,
    Filled,
    Folded,
    Form,
    FormRule,
    Forms,
    Piecewise,
    Place,
    Pointwise,
    places,
)
from arrayport.passes.indices import ZERO, Axis, Index, Indices, of, reshaped
from arrayport_backends.ndarray.indexing import filler
from arrayport_backends.ndarray.places import firsts, indexed, keyed
from arrayport_backends.ndarray.scalars import HALVES

SUMMED = 8  # products up to which a kernel sums them
STACKED = 16  # the same of stacks of matrices, of which BLAS takes one at a time
MOST_PLACES = 3000  # that one element of a sum of parts reads, each part once more in each range


def pointwise(eqn: Eqn, at: Indices) -> Form:
    """Read every operand where the answer is; those of rank 0 as they are."""
    return Pointwise(tuple(Place(a, at if a.shape else ()) for a in eqn.ins))


def _broadcast(eqn: Eqn, at: Indices) -> Form:
    return _stretched(eqn.ins[0], at, eqn.params["dims"])


def _stretched(x: Atom, at: Indices, dims: Sequence[int]) -> Place:
    """Read x, whose axes are these of the answer, or are stretched along them."""
    return Place(x, tuple(at[d] if n > 1 else ZERO for n, d in zip(x.shape, dims, strict=True)))


def _reshape(eqn: Eqn, at: Indices) -> Form:
    (x,), (out,) = eqn.ins, eqn.outs
    return Place(x, reshaped(at, out.shape, x.shape))


def _transpose(eqn: Eqn, at: Indices) -> Form:
    perm = eqn.params["perm"]
    return Place(eqn.ins[0], tuple(at[perm.index(i)] for i in range(len(perm))))


def _slice(eqn: Eqn, at: Indices) -> Form:
    return Place(eqn.ins[0], keyed(eqn.params["key"], at))


def _concatenate(eqn: Eqn, at: Indices) -> Form:
    axis = eqn.params["dimension"]
    used = [x for x in eqn.ins if x.shape[axis]]
    ends = [0, *accumulate(x.shape[axis] for x in used)]
    parts = [
        Place(x, (*at[:axis], at[axis] + -start, *at[axis + 1 :]))
        for x, start in zip(used, ends, strict=False)
    ]
    return parts[0] if len(parts) == 1 else Piecewise(at[axis], tuple(ends[1:-1]), tuple(parts))


def _pad(eqn: Eqn, at: Indices) -> Form:
    (x, value), config = eqn.ins, eqn.params["padding_config"]
    keys = [
        (low, low + (n - 1) * (inner + 1) + 1, inner + 1)
        for n, (low, _, inner) in zip(x.shape, config, strict=True)
    ]
    return _inside(keys, at, eqn.outs[0].shape, lambda i: Place(x, i), Place(value, ()))


def _inside(
    keys: Sequence[Any],
    at: Indices,
    shape: Sequence[int],
    inside: Callable[[Indices], Form],
    outside: Form,
) -> Form:
    """Take one form where the answer's index is one that a key chooses, the other elsewhere."""
    found: list[Index] = []
    tests: list[tuple[Index, tuple[int, ...], int]] = []  # index, ends, which part is inside
    axes = iter(zip(at, shape, strict=True))
    for k in keys:
        if k is None:
            found.append(ZERO)
            continue
        i, n = next(axes)
        if not isinstance(k, tuple):
            tests.append((i, (k, k + 1), 1))
            continue
        start, stop, step = k
        chosen = range(start, -1 if stop is None else stop, step)
        low, end = min(chosen[0], chosen[-1]), max(chosen[0], chosen[-1]) + 1
        if low > 0 or end < n:
            tests.append((i, (low, end), 1))
        shifted = i + -start if step > 0 else i * -1 + start
        place, rest = shifted.divide(abs(step))
        if rest != ZERO:
            tests.append((rest, (1,), 0))
        found.append(place)
    form = inside(tuple(found))
    for i, ends, number in reversed(tests):
        parts = [outside] * (len(ends) + 1)
        parts[number] = form
        form = Piecewise(i, ends, tuple(parts))
    return form


def _slice_set(eqn: Eqn, at: Indices) -> Form:
    base, value = eqn.ins
    old = Place(base, at)
    return _inside(eqn.params["key"], at, base.shape, lambda i: Place(value, i), old)


def _slice_add(eqn: Eqn, at: Indices) -> Form:
    base, value = eqn.ins
    return _with_part(Place(base, at), value, eqn.params["key"], at, base.shape)


def _with_part(old: Form, value: Any, key: slices.Key, at: Indices, shape: Sequence[int]) -> Form:
    """Add a value to what a key chooses."""
    return _inside(key, at, shape, lambda i: Added(old, Place(value, i)), old)


def _scatter_all(eqn: Eqn, at: Indices) -> Form | None:
    base, *args = eqn.ins
    form: Form = Place(base, at)
    for write, (*_, value), params in windows.split(args, eqn.params["entries"]):
        if write is not slices.slice_add_p:
            return None
        form = _with_part(form, value, params["key"], at, base.shape)
        if len(places(form)) > MOST_PLACES:
            return None
    return form


def _gather(eqn: Eqn, at: Indices) -> Form:
    (x, indices), numbers = eqn.ins, eqn.params["dimension_numbers"]
    found, tests = indexed(indices, numbers, x.shape, eqn.params["slice_sizes"], at)
    form: Form = Place(x, found)
    if eqn.params["mode"] == "fill":
        lost = Filled(filler(x.dtype, eqn.params["fill_value"]))
        for index, end in reversed(tests):
            form = Piecewise(index, (0, end), (lost, form, lost))
    return form


def _dynamic_slice(eqn: Eqn, at: Indices) -> Form:
    x, *starts = eqn.ins
    first = firsts(starts, x.shape, eqn.params["sizes"])
    return Place(x, tuple(i + start for i, start in zip(at, first, strict=True)))


def _dynamic_update_slice(eqn: Eqn, at: Indices) -> Form:
    base, update, *starts = eqn.ins
    found, tests = [], []
    first = firsts(starts, base.shape, update.shape)
    for i, start, n, size in zip(at, first, base.shape, update.shape, strict=True):
        shifted = i + start * -1
        found.append(shifted)
        if size < n:
            tests.append((shifted, size))
    form: Form = Place(update, tuple(found))
    for shifted, size in reversed(tests):
        form = Piecewise(shifted, (0, size), (Place(base, at), form, Place(base, at)))
    return form


def _dot_general(eqn: Eqn, at: Indices) -> Form | None:
    """Sum a few products: what BLAS needs longer to begin than to do."""
    (x, y), (cx, cy), (bx, by) = eqn.ins, eqn.params["contract"], eqn.params["batch"]
    extents = [x.shape[i] for i in cx]
    if prod(extents) > (STACKED if bx else SUMMED):
        return None
    axes = [products.free_axes(len(a.shape), *own) for a, own in ((x, (cx, bx)), (y, (cy, by)))]
    count = len(bx) + len(axes[0])
    sides = [
        {**dict(zip(b, at, strict=False)), **dict(zip(free, found, strict=True))}
        for b, free, found in ((bx, axes[0], at[len(bx) : count]), (by, axes[1], at[count:]))
    ]
    places = []
    for found in product(*map(range, extents)):
        for a, c, side in ((x, cx, sides[0]), (y, cy, sides[1])):
            whole = {**side, **dict(zip(c, map(Index, found), strict=True))}
            places.append(Place(a, tuple(whole[d] for d in range(len(a.shape)))))
    return Pointwise(tuple(places))


def _threefry2x32(eqn: Eqn, at: Indices) -> Form:
    """Read words that broadcast."""
    rank = len(at)
    return Pointwise(tuple(_stretched(a, at, range(rank - len(a.shape), rank)) for a in eqn.ins))


def _bits(eqn: Eqn, at: Indices) -> Form | None:
    """Read the whole of which an element is a part, or all parts that make it."""
    (x,), (out,) = eqn.ins, eqn.outs
    if not {x.dtype, out.dtype}.isdisjoint(HALVES):
        return None  # held as float32
    if len(x.shape) < len(out.shape):
        return Pointwise((Place(x, at[:-1]),), at[-1:])
    if len(x.shape) == len(out.shape):
        return Pointwise((Place(x, at),))
    return Pointwise(tuple(Place(x, (*at, Index(i))) for i in range(x.shape[-1])))


def _folded(combine: str) -> FormRule:
    def rule(eqn: Eqn, at: Indices) -> Form:
        (x,), over = eqn.ins, eqn.params["axes"]
        axes = {d: Axis(x.shape[d]) for d in over}
        rest = iter(at)
        places = tuple(of(axes[d]) if d in axes else next(rest) for d in range(len(x.shape)))
        return Folded(combine, Place(x, places), tuple(axes.values()), tuple(over))

    return rule


FORMS: Forms = {
    structure.full_p: lambda eqn, _at: Filled(eqn.params["value"]),
    structure.broadcast_in_dim_p: _broadcast,
    structure.reshape_p: _reshape,
    structure.transpose_p: _transpose,
    structure.reduce_sum_p: _folded("add"),
    reductions.reduce_prod_p: _folded("mul"),
    reductions.reduce_max_p: _folded("max"),
    reductions.reduce_min_p: _folded("min"),
    reductions.reduce_and_p: _folded("and"),
    reductions.reduce_or_p: _folded("or"),
    reductions.reduce_xor_p: _folded("xor"),
    creation.iota_p: lambda eqn, at: Counted(at[eqn.params["dimension"]]),
    slices.slice_p: _slice,
    slices.slice_set_p: _slice_set,
    slices.slice_add_p: _slice_add,
    windows.scatter_all_p: _scatter_all,
    indexing.gather_p: _gather,
    shapes.concatenate_p: _concatenate,
    shapes.pad_p: _pad,
    windows.dynamic_slice_p: _dynamic_slice,
    windows.dynamic_update_slice_p: _dynamic_update_slice,
    products.dot_general_p: _dot_general,
    random.threefry2x32_p: _threefry2x32,
    random.random_wrap_p: _bits,
    random.random_unwrap_p: _bits,
    bits.bitcast_p: _bits,
}
