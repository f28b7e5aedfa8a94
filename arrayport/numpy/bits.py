"""The parts of which numbers are made: bits of bytes, mantissas and exponents, last places."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import DType, arrayed, axis_of, real_only, strong
from arrayport.numpy.elementwise import copysign
from arrayport.numpy.shapes import moveaxis, ravel
from arrayport.ops.elementwise import (
    abs,
    clamp,
    floor,
    floor_divide,
    greater_equal,
    isfinite,
    less,
    log,
    logical_and,
    nextafter,
    not_equal,
    population_count,
    select,
    stop_gradient,
)
from arrayport.ops.indexing import take
from arrayport.ops.promotion import broadcast_together, from_host, home_of, inexact, lift
from arrayport.ops.shapes import pad
from arrayport.ops.structure import constant, convert, reduce_sum, reshape

__all__ = ["bitwise_count", "frexp", "ldexp", "packbits", "spacing", "unpackbits"]

# ---- mantissas and exponents


@cache
def _powers(dtype: DType) -> np.ndarray[Any, Any]:
    """List the powers of two whose inverses the dtype holds as well, without loss."""
    most = dtypes.finfo(dtype).maxexp - 1
    return np.exp2(np.arange(1 - most, most)).astype(dtype)


def _scaled(x: Array, n: Array) -> Array:
    """Multiply by powers of two from a table: no backend's `exp2` is exact."""
    powers = _powers(x.dtype)
    table = from_host(powers, home_of(x, n))
    one = powers.size // 2
    # Three steps lead from the smallest number to infinity; the last one alone may round.
    n = clamp(-3 * one, n, 3 * one)
    for left in (3, 2, 1):
        step = floor_divide(n, left)
        x, n = x * take(table, step + one), n - step
    return x


@unit("x1", "x2")
def ldexp(x1: Any, x2: Any, /) -> Array:
    """Give x1 * 2**x2, for integers x2. Source: ``jax.numpy.ldexp``.

    Raises ValueError for an x2 of floats.

    >>> import arrayport.numpy as anp
    >>> anp.ldexp(anp.array([1.5, 1.5]), anp.array([1, -1]))
    Array([3.  , 0.75], dtype=float32)
    """
    x, n = inexact(real_only(x1, "ldexp")), arrayed(x2, "x2")
    if dtypes.is_inexact(n.dtype):
        raise ValueError(f"x2 of ldexp must be integers, not {n.dtype}: use power(2, x2) * x1")
    x, n = broadcast_together(x, convert(n, dtypes.default_int()))
    return convert(_scaled(x, n), x.dtype)


@unit("x")
def frexp(x: Any, /) -> tuple[Array, Array]:
    """Split numbers into mantissas, of size 0.5 to 1, and exponents of 2, which are int32.

    Zeros, infinities and NaN are their own mantissas. Source: ``jax.numpy.frexp``.

    >>> import arrayport.numpy as anp
    >>> anp.frexp(anp.array([3.0, 0.0]))
    (Array([0.75, 0.  ], dtype=float32), Array([2, 0], dtype=int32))
    """
    x = inexact(real_only(x, "frexp"))
    plain = logical_and(isfinite(x), not_equal(x, 0))
    size = stop_gradient(select(plain, abs(x), constant(1, x)))
    n = convert(floor(log(size) * (1 / np.log(2)).item()), dtypes.int32) + 1
    # The logarithm was rounded, and may have missed by one.
    part = _scaled(size, -n)
    n = n + greater_equal(part, 1).astype(n.dtype) - less(part, 0.5).astype(n.dtype)
    n = select(plain, n, constant(0, n)).astype(dtypes.int32)
    return convert(_scaled(x, -n), x.dtype), n


@unit("x")
def spacing(x: Any, /) -> Array:
    """Give the distance to the next number away from zero, with x's sign.

    Source: ``jax.numpy.spacing``.

    >>> import arrayport.numpy as anp
    >>> anp.spacing(1.0)
    Array(1.1920929e-07, dtype=float32)
    """
    x = strong(inexact(real_only(x, "spacing")))
    return nextafter(x, copysign(np.inf, x)) - x


# ---- bits


def _shifts(bitorder: str, name: str) -> np.ndarray[Any, Any]:
    if bitorder not in {"big", "little"}:
        raise ValueError(f"bitorder={bitorder!r} of {name} must be 'big' or 'little'")
    order = np.arange(8, dtype=np.uint8)
    return order if bitorder == "little" else order[::-1]


def _flat_or_last(x: Array, axis: int | None) -> tuple[Array, int]:
    """Move an axis last, or flatten; and say where it came from."""
    if axis is None:
        return ravel(x), 0
    axis = axis_of(axis, len(x.shape))
    return moveaxis(x, axis, -1), axis


@unit("a")
def packbits(a: Any, axis: int | None = None, bitorder: str = "big") -> Array:
    """Pack every eight truths of an axis, or of the flat array, into a byte, zeros at the end.

    Raises TypeError for floats. Source: ``jax.numpy.packbits``.

    >>> import arrayport.numpy as anp
    >>> anp.packbits(anp.array([0, 0, 0, 0, 0, 1, 0, 1, 1]))
    Array([  5, 128], dtype=uint8)
    """
    x = arrayed(a, "a")
    if dtypes.is_inexact(x.dtype):
        raise TypeError(f"packbits takes bools or integers, not {x.dtype}: write a != 0")
    shifts = _shifts(bitorder, "packbits")
    x, axis = _flat_or_last(not_equal(x, 0).astype(dtypes.uint8), axis)
    missing = -x.shape[-1] % 8
    x = pad(x, constant(0, x), [(0, 0, 0)] * (len(x.shape) - 1) + [(0, missing, 0)])
    eights = reshape(x, (*x.shape[:-1], x.shape[-1] // 8, 8))
    return moveaxis(reduce_sum(eights << shifts, (len(eights.shape) - 1,)), -1, axis)


@unit("a")
def unpackbits(
    a: Any, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Array:
    """Give the bits of bytes, as uint8, along an axis or of the flat array.

    `count` bits are kept, or all but `-count`; missing ones are zeros. Raises TypeError for
    anything but uint8. Source: ``jax.numpy.unpackbits``.

    >>> import arrayport.numpy as anp
    >>> anp.unpackbits(anp.array([5], dtype="uint8"))
    Array([0, 0, 0, 0, 0, 1, 0, 1], dtype=uint8)
    """
    x = arrayed(a, "a")
    if x.dtype != dtypes.uint8:
        raise TypeError(f"unpackbits takes uint8, not {x.dtype}: use a.astype('uint8')")
    shifts = _shifts(bitorder, "unpackbits")
    x, axis = _flat_or_last(x, axis)
    bits = reshape((x[..., None] >> shifts) & 1, (*x.shape[:-1], 8 * x.shape[-1]))
    if count is not None:
        size = bits.shape[-1]
        wanted = count if count >= 0 else max(size + count, 0)
        missing = max(wanted - size, 0)
        edges = [(0, 0, 0)] * (len(bits.shape) - 1) + [(0, missing, 0)]
        bits = pad(bits, constant(0, bits), edges)[..., :wanted]
    return moveaxis(bits, -1, axis)


@unit("x")
def bitwise_count(x: Any, /) -> Array:
    """Count the bits of the absolute value, as uint8. Source: ``numpy.bitwise_count``.

    >>> import arrayport.numpy as anp
    >>> anp.bitwise_count(anp.array([7, -8]))
    Array([3, 1], dtype=uint8)
    """
    return convert(population_count(abs(lift(x))), dtypes.uint8)
