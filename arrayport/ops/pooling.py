"""Reductions over sliding windows: of sums, products and extremes, and the windows themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from operator import index
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.primitive import Unary
from arrayport.ops.convolution import dilated, padtype_to_pads
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import floor_divide, remainder
from arrayport.ops.indexing import PROMISE, take
from arrayport.ops.promotion import from_host, home_of
from arrayport.ops.reductions import IDENTITIES, argmax, argmin, reduce_prod_p
from arrayport.ops.shapes import pad
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.structure import Shape, constant, full_like, move_axis, reshape, transpose

DType = np.dtype[Any]
Pads = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Sliding:
    """Where windows stand: all parameters of the primitives but the monoid."""

    window_dimensions: Shape
    window_strides: Shape
    padding: Pads
    base_dilation: Shape
    window_dilation: Shape

    @property
    def config(self) -> tuple[tuple[int, int, int], ...]:
        """The padding and dilation of the operand, as `pad` takes them."""
        return tuple(
            (lo, hi, d - 1) for (lo, hi), d in zip(self.padding, self.base_dilation, strict=True)
        )

    def places(self, shape: Shape) -> Shape:
        """How many places the windows have along each axis."""
        reach = [
            dilated(k, r) for k, r in zip(self.window_dimensions, self.window_dilation, strict=True)
        ]
        whole = [
            dilated(n, d) + lo + hi
            for n, d, (lo, hi) in zip(shape, self.base_dilation, self.padding, strict=True)
        ]
        return tuple(
            max((n - r) // s + 1, 0)
            for n, r, s in zip(whole, reach, self.window_strides, strict=True)
        )


def sliding(
    shape: Shape,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: Any = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Sliding:
    """Check the arguments of `lax.reduce_window` for an operand of a shape."""
    rank = len(shape)

    def counts(name: str, values: Sequence[int] | None) -> Shape:
        found = (1,) * rank if values is None else tuple(index(v) for v in values)
        if len(found) != rank or any(v < 1 for v in found):
            raise TypeError(
                f"reduce_window: {name} must be {rank} positive integers, one an axis of shape "
                f"{shape}, not {values!r}"
            )
        return found

    window = counts("window_dimensions", window_dimensions)
    strides = counts("window_strides", window_strides)
    spread, steps = (
        counts("base_dilation", base_dilation),
        counts("window_dilation", window_dilation),
    )
    if isinstance(padding, str) or hasattr(padding, "name"):
        whole = [dilated(n, d) for n, d in zip(shape, spread, strict=True)]
        reach = [dilated(k, r) for k, r in zip(window, steps, strict=True)]
        padding = padtype_to_pads(whole, reach, strides, padding)
    pads = tuple((index(lo), index(hi)) for lo, hi in padding)
    if len(pads) != rank:
        raise ValueError(f"reduce_window: padding must be {rank} pairs, not {len(pads)}")
    if any(
        dilated(n, d) + min(lo, hi, lo + hi) < 0
        for n, d, (lo, hi) in zip(shape, spread, pads, strict=True)
    ):
        raise ValueError(f"reduce_window: padding {pads} takes away more than {shape} has")
    return Sliding(window, strides, pads, spread, steps)


# ---- windows


def windows(x: Array, value: Any, at: Sliding) -> Array:
    """Give all windows, of shape (*places, *window); `value` stands around and between elements."""
    rank = len(x.shape)
    places = at.places(x.shape)
    if 0 in places:
        return full_like(x, 0, (*places, *at.window_dimensions))
    x = pad(x, value, at.config)
    for axis, (count, stride, size, step) in enumerate(
        zip(places, at.window_strides, at.window_dimensions, at.window_dilation, strict=True)
    ):
        seen = np.arange(count)[:, None] * stride + np.arange(size) * step
        where = from_host(seen.astype(dtypes.default_int()), home_of(x))
        x = take(x, where, 2 * axis, mode=PROMISE)
    return transpose(x, (*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)))


# ---- primitives


def _batch(_size: int, xs: Any, dims: Any, /, **params: Any) -> tuple[Array, int]:
    """One axis more, along which windows are single."""
    monoid = params.pop("monoid", "add")
    own = {name: ((0, 0) if name == "padding" else 1, *values) for name, values in params.items()}
    return reduce_window(move_axis(xs[0], dims[0], 0), monoid, Sliding(**own)), 0


def _abstract(x: Any, monoid: str = "add", **params: Any) -> Aval:  # noqa: ARG001 - a parameter
    return Aval(Sliding(**params).places(x.shape), x.dtype, x.weak)


def _spread_back(g: Array, x: Any, **params: Any) -> Array:
    """Transpose of the sum: each element gets from all windows that it stood in."""
    at = Sliding(**params)
    if not g.size:
        return full_like(g, 0, x.shape)
    config, cut = [], []
    for n, k, s, (lo, hi), d, r, places in zip(
        *(x.shape, at.window_dimensions, at.window_strides, at.padding),
        *(at.base_dilation, at.window_dilation, g.shape),
        strict=True,
    ):
        reach = dilated(k, r) - 1
        config.append((reach, dilated(n, d) + lo + hi - dilated(places, s), s - 1))
        cut.append((-lo, -hi, 0))
    ones = (1,) * len(x.shape)
    back = replace(at, window_strides=ones, padding=((0, 0),) * len(ones), base_dilation=ones)
    ct = window_sum_p.bind(pad(g, constant(0, g), config), **vars(back))
    ct = pad(ct, constant(0, g), cut)
    for axis, step in enumerate(at.base_dilation):
        ct = slice_in_dim(ct, None, None, step, axis) if step > 1 else ct
    return ct


def _jvp(ts: Any, ans: Array, x: Array, monoid: str, **params: Any) -> Array:
    """Of a product all terms move it, of an extreme the first element that has it."""
    at, (t,), rank = Sliding(**params), ts, len(x.shape)
    nothing = constant(0, t)
    if not ans.size:
        return full_like(t, 0, ans.shape)
    if monoid == "mul":
        inner = tuple(range(rank, 2 * rank))
        own = windows(x, constant(1, x), at)
        return reduce_prod_p.jvp((windows(t, nothing, at),), ans, own, axes=inner)  # type: ignore[misc]
    seen = windows(x, constant(IDENTITIES[monoid](x.dtype), x), at)
    place = argmax if monoid == "max" else argmin
    size = prod(at.window_dimensions)
    first = place(reshape(seen, (*ans.shape, size)), rank, dtypes.default_int())
    moved = pad(t, nothing, at.config)
    source = full_like(first, 0)
    for axis in range(rank):
        size //= at.window_dimensions[axis]
        step = remainder(floor_divide(first, size), at.window_dimensions[axis])
        start = iota_like(first, first.dtype, axis) * at.window_strides[axis]
        source = source * moved.shape[axis] + start + step * at.window_dilation[axis]
    return take(reshape(moved, (moved.size,)), source, mode=PROMISE)


window_sum_p = Unary("window_sum", _abstract, _batch, transposes=(_spread_back,))
window_reduce_p = Unary("window_reduce", _abstract, _batch, jvp=_jvp)


def reduce_window(x: Array, monoid: str, at: Sliding) -> Array:
    """Combine the elements of each window by "add", "mul", "max" or "min"."""
    if monoid == "add":
        return window_sum_p.apply(x, vars(at))
    return window_reduce_p.apply(x, {"monoid": monoid, **vars(at)})
