"""Reductions over axes (the sum apart), places of extremes, and cumulations along one axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.primitive import Binary, Unary
from arrayport.ops._families import NOT_SMOOTH
from arrayport.ops.elementwise import (
    abs,
    div,
    equal,
    exp,
    log1p,
    max_p,
    maximum,
    min_p,
    mul_p,
    neg,
    select,
)
from arrayport.ops.placement import no_sharding
from arrayport.ops.promotion import lift
from arrayport.ops.shapes import concatenate, pad
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.structure import (
    Shape,
    constant,
    convert,
    divide_reduced,
    reduce_sum,
    reshape,
    spread,
    transpose,
)

DType = np.dtype[Any]
Pair = tuple[Array, Array]  # a value and its tangent
Combine = Callable[[Pair, Pair], Pair]


# ---- monoids


def lowest(dtype: DType) -> Any:
    """The identity of `max`."""
    if dtypes.is_inexact(dtype):
        return -np.inf
    return False if dtypes.kind(dtype) == "b" else int(dtypes.iinfo(dtype).min)


def highest(dtype: DType) -> Any:
    """The identity of `min`."""
    if dtypes.is_inexact(dtype):
        return np.inf
    return True if dtypes.kind(dtype) == "b" else int(dtypes.iinfo(dtype).max)


IDENTITIES: Mapping[str, Callable[[DType], Any]] = {
    "add": lambda _dtype: 0,
    "mul": lambda _dtype: 1,
    "max": lowest,
    "min": highest,
    "and": lambda dtype: -1 if dtypes.kind(dtype) == "i" else highest(dtype),
    "or": lambda _dtype: 0,
    "xor": lambda _dtype: 0,
}


# ---- how tangents combine, and in which order


def with_tangents(prim: Binary) -> Combine:
    """Make an elementwise primitive of two operands combine values and tangents."""
    push_x, push_y = prim.partials

    def combine(a: Pair, b: Pair) -> Pair:
        (x, tx), (y, ty) = a, b
        ans = prim.bind(x, y)
        return ans, push_x(tx, ans, x, y) + push_y(ty, ans, x, y)  # type: ignore[misc]

    return combine


def _logaddexp(a: Pair, b: Pair) -> Pair:
    """The weights stay finite where x - ans is not a number, at infinities."""
    (x, tx), (y, ty) = a, b
    top = maximum(x, y)
    gap = select(equal(x, y), constant(0, x), abs(x - y))
    ans = top + log1p(exp(neg(gap)))
    wx, wy = (exp(select(equal(z, ans), constant(0, z), z - ans)) for z in (x, y))
    return ans, tx * wx + ty * wy


def _part(xs: Pair, axis: int, start: int, stop: int | None, step: int = 1) -> Pair:
    return tuple(slice_in_dim(x, start, stop, step, axis) for x in xs)  # type: ignore[return-value]


def _joined(xs: Pair, ys: Pair, axis: int = 0) -> Pair:
    pairs = zip(xs, ys, strict=True)
    return tuple(concatenate(pair, axis) for pair in pairs)  # type: ignore[return-value]


def prefixes(combine: Combine, xs: Pair, axis: int) -> Pair:
    """Combine all that come before and at each place, in work linear in their number.

    The order of combination is that of JAX's `associative_scan`, which decides the shares of ties.
    """
    size = xs[0].shape[axis]
    if size < 2:
        return xs
    pairs = combine(_part(xs, axis, 0, size - 1, 2), _part(xs, axis, 1, None, 2))
    odd = prefixes(combine, pairs, axis)
    even = _part(xs, axis, 0, 1)
    if size > 2:
        before = _part(odd, axis, 0, (size - 1) // 2)
        even = _joined(even, combine(before, _part(xs, axis, 2, None, 2)), axis)
    pairs_of = zip(even, odd, strict=True)
    return tuple([_interleave(e, o, axis) for e, o in pairs_of])  # type: ignore[return-value]


def _interleave(even: Array, odd: Array, axis: int) -> Array:
    """Even places from one array, odd ones from the other."""
    longer = even.shape[axis] - odd.shape[axis]
    rest = [(0, 0, 0)] * len(even.shape)
    evens, odds = rest.copy(), rest.copy()
    evens[axis], odds[axis] = (0, 1 - longer, 1), (1, longer, 1)
    zero = constant(0, even)
    return pad(even, zero, evens) + pad(odd, zero, odds)


# ---- reductions


def reduction(name: str, **derivative: Any) -> Unary:
    """State a primitive that reduces axes, in its operand's own dtype."""

    def batch(_size: int, xs: Any, dims: Any, /, axes: Shape) -> tuple[Array, int]:
        dim = dims[0]
        own = tuple([a + (a >= dim) for a in axes])
        return prim.bind(xs[0], axes=own), dim - sum(a < dim for a in own)

    prim = Unary(
        name,
        lambda x, axes: Aval(_without(x.shape, axes), x.dtype, x.weak),
        batch,
        divide=divide_reduced,
        **derivative,
    )
    return prim


def _without(shape: Shape, axes: Shape) -> Shape:
    return tuple([n for i, n in enumerate(shape) if i not in axes])


def _extreme_jvp(ts: Sequence[Array], ans: Array, x: Array, axes: Shape) -> Array:
    """Ties share equally."""
    hits = convert(equal(x, spread(ans, x.shape, axes)), ts[0].dtype)
    return div(reduce_sum(ts[0] * hits, axes), reduce_sum(hits, axes))


def _prod_jvp(ts: Sequence[Array], ans: Array, x: Array, axes: Shape) -> Array:
    """Each tangent times all before and all behind: nothing is divided, and factors may be zero."""
    kept = [i for i in range(len(x.shape)) if i not in axes]
    rows = prod(x.shape[a] for a in axes)
    x, t = (reshape(transpose(v, (*axes, *kept)), (rows, *ans.shape)) for v in (x, ts[0]))
    one, rest = constant(1, x), [(0, 0, 0)] * len(kept)
    before = cumprod(pad(x, one, [(1, -1, 0), *rest]))
    behind = cumprod(pad(x, one, [(-1, 1, 0), *rest]), reverse=True)
    return reduce_sum(t * before * behind, (0,))


reduce_max_p = reduction("reduce_max", jvp=_extreme_jvp)
reduce_min_p = reduction("reduce_min", jvp=_extreme_jvp)
reduce_prod_p = reduction("reduce_prod", jvp=_prod_jvp)
reduce_and_p = reduction("reduce_and", not_differentiable=NOT_SMOOTH)
reduce_or_p = reduction("reduce_or", not_differentiable=NOT_SMOOTH)
reduce_xor_p = reduction("reduce_xor", not_differentiable=NOT_SMOOTH)


def _reduced(
    prim: Unary, operand: Any, axes: Sequence[int] | None, kinds: str, *, empty: bool = True
) -> Array:
    x = _taken(prim, operand, kinds)
    shape = x.shape
    rank = len(shape)
    if axes is None:
        axes = range(rank)
    axes = tuple([normalize_axis_index(a, rank) for a in axes])
    if len(axes) > 1 and len(set(axes)) < len(axes):
        raise ValueError(f"{prim.name} got an axis twice in {axes}")
    if not empty:
        _not_empty(prim, shape, axes)
    return prim.apply(x, {"axes": axes}) if axes else x


def _taken(prim: Unary, operand: Any, kinds: str) -> Array:
    """The operand as an Array, of a kind of dtype that the primitive has a meaning for."""
    x = operand if isinstance(operand, Array) else lift(operand, None, "operand")
    if dtypes.kind(x.dtype) not in kinds:
        raise TypeError(f"{prim.name} has no meaning for dtype {x.dtype}: cast the operand first")
    return x


def _not_empty(prim: Unary, shape: Shape, axes: Shape) -> None:
    if 0 in shape and not all(shape[a] for a in axes):
        raise ValueError(
            f"{prim.name} of shape {shape} over axes {axes} is the extreme of no elements, which "
            "has no value: test the size first, or concatenate a bound to the operand"
        )


def reduce_max(
    operand: Any, axes: Sequence[int] | None = None, *, out_sharding: Any = None
) -> Array:
    """Take the largest element over axes, all if None. Source: `jax.lax.reduce_max`.

    NaN if one is NaN. Complex numbers compare by their real, then their imaginary parts. Ties
    share the derivative equally. Raises ValueError where there are no elements.

    >>> from arrayport import lax
    >>> lax.reduce_max(lax.iota("int32", 3), (0,))
    Array(2, dtype=int32)
    """
    no_sharding(out_sharding, "reduce_max")
    return _reduced(reduce_max_p, operand, axes, "biufc", empty=False)


def reduce_min(
    operand: Any, axes: Sequence[int] | None = None, *, out_sharding: Any = None
) -> Array:
    """Take the smallest element over axes, as `reduce_max` does. Source: `jax.lax.reduce_min`.

    >>> from arrayport import lax
    >>> lax.reduce_min(lax.iota("int32", 3), (0,))
    Array(0, dtype=int32)
    """
    no_sharding(out_sharding, "reduce_min")
    return _reduced(reduce_min_p, operand, axes, "biufc", empty=False)


def reduce_prod(operand: Any, axes: Sequence[int] | None = None) -> Array:
    """Multiply over axes (all if None), in the operand's dtype. Source: `jax.lax.reduce_prod`.

    >>> from arrayport import lax
    >>> lax.reduce_prod(lax.full((3,), 2, "int32"), (0,))
    Array(8, dtype=int32)
    """
    return _reduced(reduce_prod_p, operand, axes, "iufc")


def reduce_and(operand: Any, axes: Sequence[int] | None = None) -> Array:
    """Combine booleans, or the bits of integers, by "and". Source: `jax.lax.reduce_and`.

    >>> from arrayport import lax
    >>> lax.reduce_and(lax.full((3,), True), (0,))
    Array(True, dtype=bool)
    """
    return _reduced(reduce_and_p, operand, axes, "biu")


def reduce_or(operand: Any, axes: Sequence[int] | None = None) -> Array:
    """Combine booleans, or the bits of integers, by "or". Source: `jax.lax.reduce_or`.

    >>> from arrayport import lax
    >>> lax.reduce_or(lax.iota("int32", 3), (0,))
    Array(3, dtype=int32)
    """
    return _reduced(reduce_or_p, operand, axes, "biu")


def reduce_xor(operand: Any, axes: Sequence[int] | None = None) -> Array:
    """Combine booleans, or the bits of integers, by "exclusive or". Source: `jax.lax.reduce_xor`.

    >>> from arrayport import lax
    >>> lax.reduce_xor(lax.iota("int32", 4), (0,))
    Array(0, dtype=int32)
    """
    return _reduced(reduce_xor_p, operand, axes, "biu")


# ---- places of extremes


def place(name: str) -> Unary:
    """State a primitive that finds where an extreme stands along one axis."""

    def batch(
        _size: int, xs: Any, dims: Any, /, axis: int, index_dtype: DType
    ) -> tuple[Array, int]:
        dim = dims[0]
        own = axis + (axis >= dim)
        return prim.bind(xs[0], axis=own, index_dtype=index_dtype), dim - (own < dim)

    prim = Unary(
        name,
        lambda x, axis, index_dtype: Aval(_without(x.shape, (axis,)), index_dtype),
        batch,
        not_differentiable=NOT_SMOOTH,
        keeps_weak=False,
    )
    return prim


argmax_p = place("argmax")
argmin_p = place("argmin")


def _placed(prim: Unary, operand: Any, axis: int, index_dtype: Any) -> Array:
    x = _taken(prim, operand, "biuf")
    dtype, axis = dtypes.canonicalize(index_dtype), normalize_axis_index(axis, len(x.shape))
    if not dtypes.is_integer(dtype):
        raise TypeError(f"{prim.name} needs an integer index_dtype, not {dtype}")
    _not_empty(prim, x.shape, (axis,))
    return prim.apply(x, {"axis": axis, "index_dtype": dtype})


def argmax(operand: Any, axis: int, index_dtype: Any) -> Array:
    """Find the first largest element along an axis, the first NaN if any. Source: `jax.lax.argmax`.

    Raises ValueError where there are no elements, TypeError for complex ones.

    >>> from arrayport import lax
    >>> lax.argmax(lax.iota("float32", 3), 0, "int32")
    Array(2, dtype=int32)
    """
    return _placed(argmax_p, operand, axis, index_dtype)


def argmin(operand: Any, axis: int, index_dtype: Any) -> Array:
    """Find the first smallest element along an axis, as `argmax` does. Source: `jax.lax.argmin`.

    >>> from arrayport import lax
    >>> lax.argmin(lax.iota("float32", 3), 0, "int32")
    Array(0, dtype=int32)
    """
    return _placed(argmin_p, operand, axis, index_dtype)


# ---- cumulations


def cumulation(name: str, combine: Combine | None = None, **derivative: Any) -> Unary:
    """State a primitive that combines, at each place, all up to it; from it, if `reverse`."""

    def batch(_size: int, xs: Any, dims: Any, /, axis: int, reverse: bool) -> tuple[Array, int]:
        return prim.bind(xs[0], axis=axis + (axis >= dims[0]), reverse=reverse), dims[0]

    def jvp(ts: Sequence[Array], _ans: Array, x: Array, axis: int, reverse: bool) -> Array:
        step = -1 if reverse else 1
        x, t = (slice_in_dim(v, None, None, step, axis) for v in (x, ts[0]))
        assert combine is not None
        return slice_in_dim(prefixes(combine, (x, t), axis)[1], None, None, step, axis)

    if combine is not None:
        derivative["jvp"] = jvp
    prim = Unary(
        name,
        lambda x, axis, reverse: Aval(x.shape, x.dtype, x.weak),  # noqa: ARG005 - all parameters
        batch,
        **derivative,
    )
    return prim


cumsum_p = cumulation(
    "cumsum", transposes=(lambda g, _x, axis, reverse: cumsum(g, axis, not reverse),)
)
cumprod_p = cumulation("cumprod", with_tangents(mul_p))
cummax_p = cumulation("cummax", with_tangents(max_p))
cummin_p = cumulation("cummin", with_tangents(min_p))
cumlogsumexp_p = cumulation("cumlogsumexp", _logaddexp)


def _cumulated(prim: Unary, operand: Any, axis: int, reverse: bool, kinds: str) -> Array:
    x = _taken(prim, operand, kinds)
    axis = normalize_axis_index(axis, len(x.shape))
    return prim.apply(x, {"axis": axis, "reverse": bool(reverse)})


def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Sum all up to each place of an axis; from it, if `reverse`. Source: `jax.lax.cumsum`.

    >>> from arrayport import lax
    >>> lax.cumsum(lax.iota("int32", 4), reverse=True)
    Array([6, 6, 5, 3], dtype=int32)
    """
    return _cumulated(cumsum_p, operand, axis, reverse, "iufc")


def cumprod(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Multiply all up to each place of an axis; from it, if `reverse`. Source: `jax.lax.cumprod`.

    >>> from arrayport import lax
    >>> lax.cumprod(lax.full((3,), 2, "int32"))
    Array([2, 4, 8], dtype=int32)
    """
    return _cumulated(cumprod_p, operand, axis, reverse, "iufc")


def cummax(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Take the largest of all up to each place; from it, if `reverse`. Source: `jax.lax.cummax`.

    >>> from arrayport import lax
    >>> lax.cummax(lax.iota("int32", 3), reverse=True)
    Array([2, 2, 2], dtype=int32)
    """
    return _cumulated(cummax_p, operand, axis, reverse, "iufc")


def cummin(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Take the smallest of all up to each place; from it, if `reverse`. Source: `jax.lax.cummin`.

    >>> from arrayport import lax
    >>> lax.cummin(lax.iota("int32", 3))
    Array([0, 0, 0], dtype=int32)
    """
    return _cumulated(cummin_p, operand, axis, reverse, "iufc")


def cumlogsumexp(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Sum exponentials up to each place, as logarithms. Source: `jax.lax.cumlogsumexp`.

    Real floating dtypes only.

    >>> from arrayport import lax
    >>> lax.cumlogsumexp(lax.full((2,), 0, "float32"))
    Array([0.        , 0.6931472], dtype=float32)
    """
    return _cumulated(cumlogsumexp_p, operand, axis, reverse, "f")
