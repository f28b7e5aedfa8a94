"""The collectives under JAX's names: what the examples along a named axis do together."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Sequence
from functools import wraps
from math import prod
from typing import Any, ParamSpec, TypeVar

import numpy as np

from arrayport.core.array import Array
from arrayport.core.dtypes import bool_, int32
from arrayport.core.primitive import Collective
from arrayport.core.trace import axis_trace
from arrayport.core.tree import tree_map
from arrayport.ops.collectives import (
    Groups,
    all_gather_p,
    all_to_all_p,
    apart_p,
    axis_index_p,
    pbroadcast_p,
    pmax_p,
    pmin_p,
    ppermute_p,
    psum_invariant_p,
    psum_p,
    psum_scatter_p,
    settle_p,
)
from arrayport.ops.indexing import take
from arrayport.ops.promotion import lift
from arrayport.ops.reductions import reduce_max, reduce_min
from arrayport.ops.structure import (
    axis_of,
    convert,
    merged,
    move_axis,
    parted,
    reduce_sum,
    reshape,
)
from arrayport.transforms.engines import run_on_engine
from arrayport.transforms.varying import told, varied, varies

P = ParamSpec("P")
R = TypeVar("R")
Pairs = Sequence[tuple[int, int]]
CASTS = ("varying", "reduced", "unreduced")


def _by_engine(own: Callable[P, R]) -> Callable[P, R]:
    """Let a native engine do what an operand of its own is given to."""

    @wraps(own)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return run_on_engine(own.__name__, own, args[:1] or kwargs, *args, **kwargs)

    return call


def _names(axis_name: Any) -> tuple[Any, ...]:
    return tuple(axis_name) if isinstance(axis_name, tuple | list) else (axis_name,)


def _size(names: Sequence[Any]) -> int:
    return prod(int(axis_trace(name).size) for name in names)


def _groups(names: Sequence[Any], axis_index_groups: Any) -> tuple[Groups, int]:
    """The groups as tuples, checked, and how many examples work together in the first."""
    size = _size(names)
    if axis_index_groups is None:
        return None, size
    groups = tuple([tuple(map(operator.index, g)) for g in axis_index_groups])
    if len(names) != 1 or sorted(i for g in groups for i in g) != list(range(size)):
        raise ValueError(
            f"axis_index_groups must hold each index of one axis once, 0 to {size - 1}: {groups}"
        )
    return groups, len(groups[0])


def _even(groups: Groups, what: str) -> None:
    if groups is not None and len({len(g) for g in groups}) != 1:
        raise ValueError(f"{what} needs axis_index_groups of one size, not {groups}")


# ---- reductions


def _reduced(
    x: Any,
    axis_name: Any,
    axis_index_groups: Any,
    prim: Collective,
    reduce: Callable[..., Array],
    constant: Callable[[Any, int], Any],
) -> Any:
    """Reduce every leaf over named axes, and over those given by number."""
    names = _names(axis_name)
    places = [n for n in names if isinstance(n, int)]
    named = tuple([n for n in names if not isinstance(n, int)])
    groups, size = _groups(named, axis_index_groups)

    def leaf(v: Any) -> Any:
        if not isinstance(v, Array) and not places:
            return constant(v, size)  # so that the size of an axis is a Python number
        v = lift(v, None, "x")
        if v.dtype == bool_ and prim is psum_p:
            v = convert(v, int32)
        if places:
            v = reduce(v, [axis_of(n, len(v.shape), "axis_name") for n in places])
        return _over(prim, v, named, groups)

    return tree_map(leaf, x)


def _over(prim: Collective, v: Array, names: tuple[Any, ...], groups: Groups) -> Array:
    """Reduce over named axes; where it is told what varies, the result does not."""
    telling = told(names) if groups is None else ()
    rest = tuple([n for n in names if n not in telling])
    if rest:
        v = prim.bind(v, axes=rest, groups=groups)
    if telling:
        v = varied(v, telling)
        if prim is psum_p:
            return psum_invariant_p.bind(v, axes=telling)
        v = prim.bind(v, axes=telling, groups=None)
        for name in telling:
            v = settle_p.bind(apart_p.bind(v, axes=(name,)), axes=(name,), count=_size((name,)))
    return v


def _apart(v: Array, name: Any) -> Array:
    """What every example got of all, as its own where it is told what varies."""
    return apart_p.bind(v, axes=(name,)) if told((name,)) else v


@_by_engine
def psum(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """Sum over a mapped axis, or several (a tuple), every leaf of a pytree.

    Source: `jax.lax.psum`.

    A Python number is multiplied by the size of the axis. `axis_index_groups`: lists of indices
    which are summed apart. Raises NameError for an axis that no enclosing vmap names.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.vmap(lambda a: a / psum(a, "i"), axis_name="i")(anp.array([1.0, 3.0]))
    Array([0.25, 0.75], dtype=float32)
    """
    return _sum(x, axis_name, axis_index_groups)


def _sum(x: Any, axis_name: Any, groups: Any) -> Any:
    return _reduced(x, axis_name, groups, psum_p, reduce_sum, lambda v, n: v * n)


@_by_engine
def pmean(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """Average over a mapped axis, or several; see `psum`. Source: `jax.lax.pmean`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.vmap(lambda a: a - pmean(a, "i"), axis_name="i")(anp.array([1.0, 3.0]))
    Array([-1.,  1.], dtype=float32)
    """
    total = _sum(x, axis_name, axis_index_groups)
    if axis_index_groups is not None:
        count = _sum(lift(1), axis_name, axis_index_groups)
        return tree_map(lambda v: v / count, total)
    names = _names(axis_name)
    places = [n for n in names if isinstance(n, int)]
    size = _size([n for n in names if not isinstance(n, int)])
    return tree_map(lambda s, v: s / (size * prod(v.shape[n] for n in places)), total, x)


@_by_engine
def pmax(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """Maximum over a mapped axis, or several; see `psum`. Source: `jax.lax.pmax`.

    Its derivative goes to the examples that attain it, in equal parts (JAX has none).

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.vmap(lambda a: pmax(a, "i"), axis_name="i")(anp.array([1.0, 3.0]))
    Array([3., 3.], dtype=float32)
    """
    return _reduced(x, axis_name, axis_index_groups, pmax_p, reduce_max, lambda v, _n: lift(v))


@_by_engine
def pmin(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """Minimum over a mapped axis, or several; see `pmax`. Source: `jax.lax.pmin`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.vmap(lambda a: pmin(a, "i"), axis_name="i")(anp.array([1.0, 3.0]))
    Array([1., 1.], dtype=float32)
    """
    return _reduced(x, axis_name, axis_index_groups, pmin_p, reduce_min, lambda v, _n: lift(v))


# ---- exchanges


@_by_engine
def all_gather(
    x: Any,
    axis_name: Any,
    *,
    axis_index_groups: Any = None,
    axis: int = 0,
    tiled: bool = False,
    to: str = "varying",
) -> Any:
    """Give every example what all have, stacked along a new axis, or joined if `tiled`.

    Source: `jax.lax.all_gather`. `to` is a hint to JAX's shard_map.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.vmap(lambda a: all_gather(a, "i"), axis_name="i")(anp.array([1.0, 3.0]))
    Array([[1., 3.],
           [1., 3.]], dtype=float32)
    """
    names = _names(axis_name)
    groups, count = _groups(names, axis_index_groups)
    _even(groups, "all_gather")

    def leaf(v: Any) -> Array:
        v = lift(v, None, "x")
        place = axis_of(axis, len(v.shape) + (not tiled), "axis")
        out = v
        for name in reversed(names):  # the first axis is the outermost
            extent = count if groups else _size((name,))
            known = {"groups": groups, "axis": 0, "tiled": False, "count": extent}
            out = all_gather_p.bind(varied(out, told((name,))), axes=(name,), **known)
            if to == "varying":
                out = _apart(out, name)
        out = move_axis(reshape(out, (count, *v.shape)), 0, place)
        return merged(out, place) if tiled else out

    return tree_map(leaf, x)


@_by_engine
def psum_scatter(
    x: Any,
    axis_name: Any,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """Sum over a mapped axis and give each example its part of the sum along a dimension.

    Source: `jax.lax.psum_scatter`. The dimension must have the extent of the axis and goes, or be a
    multiple of it and is divided if `tiled`; ValueError otherwise.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.vmap(lambda a: psum_scatter(a, "i"), axis_name="i")(anp.eye(2))
    Array([1., 1.], dtype=float32)
    """
    names = _names(axis_name)
    groups, count = _groups(names, axis_index_groups)
    _even(groups, "psum_scatter")

    def leaf(v: Any) -> Array:
        v = varied(lift(v, None, "x"), told(names))
        axis = axis_of(scatter_dimension, len(v.shape), "scatter_dimension")
        _divides(v.shape[axis], count, tiled, "psum_scatter", "scatter_dimension")
        for name in names:  # the first axis is the outermost
            extent = count if groups else _size((name,))
            last = name == names[-1] and not tiled
            known = {"groups": groups, "axis": axis, "tiled": not last, "count": extent}
            v = psum_scatter_p.bind(v, axes=(name,), **known)
        return v

    return tree_map(leaf, x)


def _divides(extent: int, count: int, tiled: bool, what: str, argument: str) -> None:
    if extent % count if tiled and count else extent != count:
        need = "a multiple of" if tiled else "equal to"
        raise ValueError(
            f"{what} needs the extent of {argument}, {extent}, to be {need} that of the mapped "
            f"axis, {count}"
        )


@_by_engine
def all_to_all(
    x: Any,
    axis_name: Any,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """Split each example's array and give part i to example i, which joins what it is given.

    Source: `jax.lax.all_to_all`. `split_axis` must have the extent of the mapped axis and goes,
    `concat_axis` is new; if `tiled`, the one is divided and the other grows.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.vmap(lambda a: all_to_all(a, "i", 0, 0), axis_name="i")(anp.array([[1, 2], [3, 4]]))
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    names = _names(axis_name)
    groups, count = _groups(names, axis_index_groups)
    _even(groups, "all_to_all")
    sizes = (count,) if groups else tuple([_size((name,)) for name in names])

    def leaf(v: Any) -> Array:
        v = varied(lift(v, None, "x"), told(names))
        split = axis_of(split_axis, len(v.shape), "split_axis")
        concat = axis_of(concat_axis, len(v.shape), "concat_axis")
        _divides(v.shape[split], count, tiled, "all_to_all", "split_axis")
        parts = move_axis(parted(v, split, count) if tiled else v, split, 0)
        out = reshape(parts, (*sizes, *parts.shape[1:]))
        for axis, name in enumerate(names):
            out = all_to_all_p.bind(out, axes=(name,), groups=groups, axis=axis)
        out = move_axis(reshape(out, parts.shape), 0, concat)
        return merged(out, concat) if tiled else out

    return tree_map(leaf, x)


def pswapaxes(x: Any, axis_name: Any, axis: int, *, axis_index_groups: Any = None) -> Any:
    """Exchange a mapped axis with one of the array's. Source: `jax.lax.pswapaxes`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.vmap(lambda a: pswapaxes(a, "i", 0), axis_name="i")(anp.array([[1, 2], [3, 4]]))
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


@_by_engine
def ppermute(x: Any, axis_name: Any, perm: Pairs) -> Any:
    """Send what examples have to others, by pairs (source, target); zeros where nothing arrives.

    Source: `jax.lax.ppermute`. Raises ValueError for an index that is out of range or stands twice.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.vmap(lambda a: ppermute(a, "i", [(0, 1), (1, 0)]), axis_name="i")(anp.array([1, 2]))
    Array([2, 1], dtype=int32)
    """
    names = _names(axis_name)
    first, *rest = names
    pairs = tuple([(operator.index(s), operator.index(t)) for s, t in perm])
    size = _size(names)
    for side in zip(*pairs, strict=True):
        if len({*side}) != len(side) or not all(0 <= i < size for i in side):
            raise ValueError(
                f"ppermute needs sources and targets once each, from 0 to {size - 1}: {pairs}"
            )

    def leaf(v: Any) -> Array:
        v = varied(lift(v, None, "x"), told(names))
        if not rest:
            return ppermute_p.bind(v, axes=names, perm=pairs, rows=0)
        rows = all_gather(v, rest)  # of the places along the other axes, of which one is its own
        rows = ppermute_p.bind(rows, axes=(first,), perm=pairs, rows=rows.shape[0])
        return take(rows, _axis_index(rest), 0, mode="clip")

    return tree_map(leaf, x)


def pshuffle(x: Any, axis_name: Any, perm: Sequence[int]) -> Any:
    """Give example i what example `perm[i]` has. Source: `jax.lax.pshuffle`.

    Raises ValueError if `perm` is no permutation.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.vmap(lambda a: pshuffle(a, "i", [2, 0, 1]), axis_name="i")(anp.array([5, 6, 7]))
    Array([7, 5, 6], dtype=int32)
    """
    if sorted(perm) != list(range(len(perm))):
        raise ValueError(f"pshuffle needs perm to be a permutation, not {perm}")
    return ppermute(x, axis_name, list(zip(perm, range(len(perm)), strict=True)))


@_by_engine
def pbroadcast(x: Any, axis_name: Any, source: int) -> Any:
    """Give every example what one of them has. Source: `jax.lax.pbroadcast`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.vmap(lambda a: pbroadcast(a, "i", 1), axis_name="i")(anp.array([1, 2]))
    Array([2, 2], dtype=int32)
    """
    names = _names(axis_name)
    sizes = [_size((name,)) for name in names]
    if not 0 <= source < prod(sizes):
        raise ValueError(f"source={source} is out of range for an axis of {prod(sizes)}")
    places = [int(i) for i in np.unravel_index(operator.index(source), sizes)]

    def leaf(v: Any) -> Array:
        v = varied(lift(v, None, "x"), told(names))
        for name, place in zip(names, places, strict=True):
            v = _apart(pbroadcast_p.bind(v, axes=(name,), source=place, groups=None), name)
        return v

    return tree_map(leaf, x)


@_by_engine
def pcast(x: Any, axis_name: Any, *, to: str) -> Any:
    """Let what is equal along axes of a shard_map count as each place's own: `to="varying"`.

    The gradient of a value that is equal is the sum of what the places give, that of one that
    varies is each place's own. Elsewhere it changes nothing. Raises ValueError for a value that
    varies already and for an unknown `to`, NotImplementedError for those of JAX's types of arrays
    ("reduced", "unreduced"). Source: `jax.lax.pcast`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> mesh = ap.sharding.AbstractMesh((2,), ("x",))
    >>> f = lambda w: pcast(w, "x", to="varying")
    >>> ap.shard_map(f, mesh=mesh, in_specs=ap.P(), out_specs=ap.P("x"))(anp.ones(1))
    Array([1., 1.], dtype=float32)
    """
    if to not in CASTS:
        raise ValueError(f"pcast has to={to!r}: write one of {', '.join(map(repr, CASTS))}")
    if to != "varying":
        raise NotImplementedError(
            f"pcast to={to!r} is of types that only JAX has: what does not vary comes of lax.psum"
        )
    names = _names(axis_name)
    telling = told(names)
    _size(names)

    def leaf(v: Any) -> Array:
        v = lift(v, None, "x")
        twice = varies(v) & {*telling}
        if twice:
            raise ValueError(
                f"pcast was given a value that varies along {sorted(map(str, twice))} already"
            )
        return varied(v, telling)

    return tree_map(leaf, x)


# ---- places


def axis_index(axis_name: Any) -> Array:
    """Say where along a mapped axis, or several (the last counts quickest), an example stands.

    Source: `jax.lax.axis_index`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.vmap(lambda a: a * axis_index("i"), axis_name="i")(anp.array([5, 6]))
    Array([0, 6], dtype=int32)
    """
    return run_on_engine("axis_index", _axis_index, (), axis_name)


def _axis_index(axis_name: Any) -> Array:
    found: Any = None
    for name in _names(axis_name):
        axis_trace(name)
        own = axis_index_p.bind(axes=(name,))
        found = own if found is None else found * _size((name,)) + own
    return found


def axis_size(axis_name: Hashable | tuple[Hashable, ...]) -> int:
    """Say how many examples stand along a mapped axis, or several. Source: `jax.lax.axis_size`.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.vmap(lambda a: a / axis_size("i"), axis_name="i")(anp.ones(4))
    Array([0.25, 0.25, 0.25, 0.25], dtype=float32)
    """
    return run_on_engine("axis_size", lambda name: _size(_names(name)), (), axis_name)
