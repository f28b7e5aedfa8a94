"""Images of any rank: reading between their pixels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import product
from operator import mul
from typing import TYPE_CHECKING, Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.names import absent
from arrayport.core.units import unit
from arrayport.numpy import abs, clip, floor, where
from arrayport.ops.elementwise import round
from arrayport.ops.promotion import home_of, inexact, lift
from arrayport.ops.structure import convert

__all__ = ["map_coordinates"]


def _mirrored(i: Array, size: int) -> Array:
    """Turn back at the middles of the pixels at the edges."""
    last = size - 1
    return last - abs(i % (2 * last) - last) if last else i * 0


def _reflected(i: Array, size: int) -> Array:
    """Turn back at the edges."""
    return _mirrored(i * 2 + 1, 2 * size + 1) // 2


INSIDE: Mapping[str, Callable[[Array, int], Array]] = {
    "constant": lambda i, size: clip(i, 0, size - 1),
    "nearest": lambda i, size: clip(i, 0, size - 1),
    "wrap": lambda i, size: i % size,
    "mirror": _mirrored,
    "reflect": _reflected,
}


@unit("input", "coordinates", "cval")
def map_coordinates(
    input: Any, coordinates: Sequence[Any], order: int, mode: str = "constant", cval: Any = 0.0
) -> Array:
    """Read an array at coordinates between its elements.

    `coordinates` has an array for each axis, all of one shape, which the answer has; its dtype is
    that of `input`, where integers are rounded. `order` is 0 (the nearest element) or 1 (linear
    between neighbours). `mode` says what is outside: "constant" (`cval`), "nearest", "wrap",
    "mirror" (about the middles of the outer elements) or "reflect" (about their edges). Raises
    ValueError for another mode or number of coordinates, NotImplementedError for another order.
    Source: ``jax.scipy.ndimage.map_coordinates``.

    >>> import arrayport.numpy as anp
    >>> map_coordinates(anp.arange(6.0).reshape(2, 3), [anp.array([0.5]), anp.array([1.5])], 1)
    Array([3.], dtype=float32)
    """
    home = home_of(input, *coordinates)
    x = lift(input, home, "input")
    if len(coordinates) != len(x.shape):
        raise ValueError(
            f"coordinates must have an array for each of {len(x.shape)} axes, not "
            f"{len(coordinates)}"
        )
    if mode not in INSIDE:
        raise ValueError(f"mode {mode!r} is unknown: use one of {', '.join(INSIDE)}")
    if order not in {0, 1}:
        raise NotImplementedError(f"map_coordinates has orders 0 and 1, not {order}")
    outside = convert(lift(cval, home_of(x), "cval"), x.dtype)
    places = [_neighbours(inexact(lift(c, home_of(x), "coordinates")), order) for c in coordinates]
    terms = []
    for chosen in product(*places):
        index = [INSIDE[mode](i, n) for (i, _), n in zip(chosen, x.shape, strict=True)]
        value = x[tuple(index)]
        if mode == "constant":
            inside = [(i >= 0) & (i < n) for (i, _), n in zip(chosen, x.shape, strict=True)]
            value = where(reduce(lambda a, b: a & b, inside), value, outside)
        weights = [w for _, w in chosen if w is not None]
        terms.append(reduce(mul, weights, value))
    total = reduce(lambda a, b: a + b, terms)
    if dtypes.is_integer(x.dtype) and order:
        total = round(total)
    return convert(total, x.dtype)


def _neighbours(c: Array, order: int) -> list[tuple[Array, Any]]:
    """Give the elements next to a coordinate, and what each counts (None: all)."""
    index = dtypes.default_int()
    if not order:
        return [(convert(round(c), index), None)]
    low = floor(c)
    upper = c - low
    first = convert(low, index)
    return [(first, 1 - upper), (first + 1, upper)]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("scipy.ndimage", name)
