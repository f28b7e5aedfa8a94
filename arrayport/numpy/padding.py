"""pad: putting values around an array, constant or taken from it."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import arrayed, integer_of
from arrayport.numpy.mappings import apply_along_axis
from arrayport.numpy.ranges import linspace
from arrayport.numpy.reductions import max, mean, min
from arrayport.numpy.shapes import flip
from arrayport.ops import shapes
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.structure import broadcast_to, constant, convert, move_axis

__all__ = ["pad"]

Pairs = list[tuple[Any, Any]]
# The modes that take each new element from a place in the axis, which NumPy's own pad finds.
TAKEN = {"edge": (), "reflect": ("reflect_type",), "symmetric": ("reflect_type",), "wrap": ()}
STATISTICS: dict[str, Callable[..., Array]] = {"maximum": max, "minimum": min, "mean": mean}


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Array:
    """Put so many values before and after each axis.

    `pad_width`: one number, a pair, or a pair for each axis, or a dictionary from axes to these.
    `mode`: "constant" (`constant_values`, else 0), "edge", "reflect", "symmetric", "wrap",
    "empty", "linear_ramp" (`end_values`), "maximum", "minimum", "mean" (`stat_length`), or a
    function that makes of each vector padded with zeros, its pair of widths, the axis and a
    dictionary of the other arguments another vector. Raises ValueError or NotImplementedError for
    others. Source: ``jax.numpy.pad``.

    >>> import arrayport.numpy as anp
    >>> anp.pad(anp.array([1, 2, 3]), 2, "reflect")
    Array([3, 2, 1, 2, 3, 2, 1], dtype=int32)
    """
    x = arrayed(array, "array")
    rank = len(x.shape)
    if isinstance(pad_width, dict):
        widths: Pairs = [(0, 0)] * rank
        for axis, width in pad_width.items():
            widths[axis] = _pairs(width, 1, "pad_width")[0]
    else:
        widths = _pairs(pad_width, rank, "pad_width")
    widths = [(integer_of(a, "pad_width"), integer_of(b, "pad_width")) for a, b in widths]
    if any(low < 0 or high < 0 for low, high in widths):
        raise ValueError(f"pad_width={pad_width} must not be negative")
    if callable(mode):
        x = _constant(x, widths, _pairs(0, rank, "constant_values"))
        for axis, pair in enumerate(widths):
            x = apply_along_axis(mode, axis, x, pair, axis, kwargs)
        return x
    if mode in {"constant", "empty"}:
        values = _pairs(kwargs.pop("constant_values", 0), rank, "constant_values")
        _nothing_left(kwargs, mode)
        return _constant(x, widths, values)
    if mode in TAKEN:
        options = {k: kwargs.pop(k) for k in TAKEN[mode] if k in kwargs}
        _nothing_left(kwargs, mode)
        return _taken(x, tuple(widths), mode, **options)
    if mode == "linear_ramp":
        ends = _pairs(kwargs.pop("end_values", 0), rank, "end_values")
        _nothing_left(kwargs, mode)
        return _ramped(x, widths, ends)
    if mode in STATISTICS:
        lengths = kwargs.pop("stat_length", None)
        _nothing_left(kwargs, mode)
        return _summarized(x, widths, STATISTICS[mode], lengths)
    known = ", ".join(map(repr, ("constant", "empty", *TAKEN, "linear_ramp", *STATISTICS)))
    raise NotImplementedError(f"mode={mode!r} of pad is not supported: use one of {known}")


def _pairs(value: Any, rank: int, name: str) -> Pairs:
    """Give a number, a pair, or a pair an axis, as a pair an axis."""
    if isinstance(value, Array) and not value.shape:
        return [(value, value)] * rank
    if not isinstance(value, Sequence):
        value = np.asarray(value).tolist()
    if not isinstance(value, Sequence):
        return [(value, value)] * rank
    rows = [tuple(v) if isinstance(v, Sequence | np.ndarray) else v for v in value]
    if rows and not isinstance(rows[0], tuple):
        rows = [tuple(rows)]
    rows = [row * 2 if len(row) == 1 else row for row in rows]
    if len(rows) == 1:
        rows *= rank
    if len(rows) != rank or any(len(row) != 2 for row in rows):
        raise ValueError(f"{name} must be a number, a pair, or a pair for each of the {rank} axes")
    return rows


def _nothing_left(kwargs: dict[str, Any], mode: str) -> None:
    if kwargs:
        raise ValueError(f"pad with mode={mode!r} takes no {', '.join(kwargs)}")


def _constant(x: Array, widths: Pairs, values: Pairs) -> Array:
    first = values[0][0] if values else 0
    if all(type(v) in {int, float, bool, complex} and v == first for pair in values for v in pair):
        return shapes.pad(
            x,
            constant(dtypes.saturated(first, x.dtype), x),
            [(low, high, 0) for low, high in widths],
        )
    for axis, ((low, high), (before, after)) in enumerate(zip(widths, values, strict=True)):
        for ends, value in (((low, 0, 0), before), ((0, high, 0), after)):
            config = [(0, 0, 0)] * len(x.shape)
            config[axis] = ends
            x = shapes.pad(x, convert(arrayed(value, "constant_values"), x.dtype, x.weak), config)
    return x


@unit("x")
def _taken(
    x: Array, widths: tuple[tuple[int, int], ...], mode: str, reflect_type: str = "even"
) -> Array:
    if reflect_type not in {"even", "odd"}:
        raise ValueError(f"pad: reflect_type must be 'even' or 'odd', not {reflect_type!r}")
    for axis, (low, high) in enumerate(widths):
        if not low and not high:
            continue
        size = x.shape[axis]
        if not size:
            raise ValueError(f"pad: axis {axis} of shape {x.shape} is empty: nothing to take")
        if reflect_type == "odd" and (mode == "symmetric" or size > 1):
            x = _turned(x, axis, low, high, int(mode == "reflect"))
            continue
        picked: Any = {"mode": mode}
        places = np.pad(np.arange(x.shape[axis]), (low, high), **picked)
        x = x[(*(slice(None),) * axis, places)]
    return x


def _turned(x: Array, axis: int, low: int, high: int, skip: int) -> Array:
    """Continue an axis by its image in the point at each end, as often as it takes.

    `skip`: 1 if that point is an element, which is not repeated, 0 if it lies after one.
    """
    most = x.shape[axis] - skip
    while low or high:
        end = x.shape[axis]
        before, after = builtins.min(low, most), builtins.min(high, most)
        first, last = (slice_in_dim(x, i, i + 1, axis=axis) for i in (0, end - 1))
        images = [
            edge * 2 - flip(slice_in_dim(x, i, i + count, axis=axis), axis)
            for edge, i, count in ((first, skip, before), (last, end - skip - after, after))
        ]
        x = shapes.concatenate([images[0], x, images[1]], axis)
        low, high = low - before, high - after
    return x


def _ramped(x: Array, widths: Pairs, ends: Pairs) -> Array:
    for axis, ((low, high), (start, stop)) in enumerate(zip(widths, ends, strict=True)):
        first = slice_in_dim(x, 0, 1, axis=axis)
        last = slice_in_dim(x, x.shape[axis] - 1, None, axis=axis)
        parts = [_ramp(start, first, low, axis), x]
        parts.append(slice_in_dim(_ramp(stop, last, high, axis), None, None, -1, axis))
        x = shapes.concatenate(parts, axis)
    return x


def _ramp(start: Any, edge: Array, count: int, axis: int) -> Array:
    """`count` values from start up to, not including, the edge."""
    shape = [n for i, n in enumerate(edge.shape) if i != axis]
    steps = linspace(start, edge.reshape(shape), count, endpoint=False, dtype=edge.dtype)
    return convert(move_axis(steps, 0, axis), edge.dtype, edge.weak)


def _summarized(x: Array, widths: Pairs, statistic: Callable[..., Array], lengths: Any) -> Array:
    spans = _pairs(lengths, len(x.shape), "stat_length") if lengths is not None else None
    for axis, (low, high) in enumerate(widths):
        extent = x.shape[axis]
        before, after = spans[axis] if spans is not None else (extent, extent)
        parts = []
        for count, start, stop in (
            (low, 0, before),
            (high, extent - after if after < extent else 0, extent),
        ):
            part = statistic(slice_in_dim(x, start, stop, axis=axis), axis, keepdims=True)
            part = part.round() if part.dtype != x.dtype else part
            shape = tuple(count if i == axis else n for i, n in enumerate(x.shape))
            parts.append(broadcast_to(convert(part, x.dtype, x.weak), shape))
        x = shapes.concatenate([parts[0], x, parts[1]], axis)
    return x
