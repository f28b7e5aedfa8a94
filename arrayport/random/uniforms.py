"""Draws that are uniform: bits, floats and integers of an interval, coins."""

from __future__ import annotations

from math import frexp
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.trace import backend_of
from arrayport.core.units import unit
from arrayport.numpy.arguments import shape_of
from arrayport.ops import random as bits_of
from arrayport.ops.elementwise import clamp, maximum, rem, select
from arrayport.ops.placement import no_sharding
from arrayport.ops.promotion import lift, scalar
from arrayport.ops.slices import static_slice
from arrayport.ops.structure import broadcast_to, convert
from arrayport.random.arguments import DType, bound, fitting, floating
from arrayport.random.keys import one_key

__all__ = ["bernoulli", "bits", "rademacher", "randint", "uniform"]

NUMBERS = (int, float)


def bits(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw unsigned integers, every bit random. Source: ``jax.random.bits``.

    `dtype`: uint8, uint16, uint32 (the default while x64 is off) or uint64. Raises ValueError for
    another.

    >>> from arrayport import random
    >>> random.bits(random.key(0), (2,)).dtype
    dtype('uint32')
    """
    no_sharding(out_sharding, "bits")
    key = one_key(key, "bits")
    found = dtypes.canonicalize(np.uint64 if dtype is None else dtype)
    if dtypes.kind(found) != "u" or 8 * found.itemsize not in {8, 16, 32, 64}:
        raise ValueError(f"dtype of `bits` must be an unsigned integer dtype, not {found}")
    return bits_of.random_bits(key, 8 * found.itemsize, shape_of(shape))


@unit("key", "minval", "maxval")
def uniform(
    key: Any,
    shape: Any = (),
    dtype: Any = None,
    minval: Any = 0.0,
    maxval: Any = 1.0,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw floats of [minval, maxval), whose shapes broadcast to `shape`.

    Raises ValueError for a dtype that is no float. Source: ``jax.random.uniform``.

    >>> from arrayport import random
    >>> random.uniform(random.PRNGKey(0), (2,))
    Array([0.947667 , 0.9785799], dtype=float32)
    """
    no_sharding(out_sharding, "uniform")
    key = one_key(key, "uniform")
    found, size = floating(dtype, "uniform"), shape_of(shape)
    unit = bits_of.random_fractions(key, size, found)
    if type(minval) in NUMBERS and type(maxval) in NUMBERS and (minval, maxval) == (0, 1):
        return unit
    low, high = (bound(v, found, key) for v in (minval, maxval))
    fitting(size, "uniform", low.shape, high.shape)
    low, high = (broadcast_to(v, size) if v.shape else v for v in (low, high))
    span = high - low
    if span.shape != size and span.shape:
        span = broadcast_to(span, size)
    # XLA rounds the product and the sum at once, save in bfloat16 and narrower floats. A product
    # with a power of two is exact, so that both ways agree.
    narrow = found.itemsize <= 2 and found != dtypes.float16
    if narrow or _is_power(minval, maxval, found):
        scaled = unit * span + low
    else:
        scaled = bits_of.fma_p.bind(unit, span, low)
    return maximum(low, scaled)


def _is_power(low: Any, high: Any, dtype: DType) -> bool:
    """Whether two Python numbers are a power of two apart."""
    if type(low) not in NUMBERS or type(high) not in NUMBERS:
        return False
    return frexp(np.array(high, dtype) - np.array(low, dtype))[0] == 0.5


@unit("key", "minval", "maxval")
def randint(
    key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw integers of [minval, maxval), whose shapes broadcast to `shape`.

    An empty interval gives minval. Raises TypeError for a dtype that is no integer. Source:
    ``jax.random.randint``.

    >>> from arrayport import random
    >>> random.randint(random.PRNGKey(0), (5,), 0, 10)
    Array([9, 0, 2, 3, 1], dtype=int32)
    """
    no_sharding(out_sharding, "randint")
    key = one_key(key, "randint")
    found = dtypes.canonicalize(int if dtype is None else dtype)
    if not dtypes.is_integer(found):
        raise TypeError(f"dtype of `randint` must be an integer dtype, not {found}")
    size = shape_of(shape)
    low, _ = _limited(minval, found, key)
    high, above = _limited(maxval, found, key)
    fitting(size, "randint", low.shape, high.shape)
    width = max(32, 8 * found.itemsize)
    unsigned = np.dtype(f"uint{width}")
    some = high > low
    span = convert(high, unsigned) - convert(low, unsigned) + convert(some & above, unsigned)
    span = select(some, span, scalar(1, unsigned))
    # Two draws make a number of twice the width, whose remainder is nearly uniform.
    first, second = bits_of.two_keys(key)
    upper, lower = (bits_of.random_bits(k, width, size) for k in (first, second))
    half = rem(scalar(2 ** (width // 2), unsigned), span)
    offset = rem(rem(upper, span) * rem(half * half, span) + rem(lower, span), span)
    return broadcast_to(low, size) + convert(offset, found)


def _limited(value: Any, dtype: DType, key: Array) -> tuple[Array, Array | bool]:
    """Give a bound as an Array within the dtype's range, and whether it was above that."""
    info = dtypes.iinfo(dtype)
    least, most = int(info.min), int(info.max)
    if isinstance(value, int | float):
        return bound(min(max(int(value), least), most), dtype, key), value > most
    x = lift(value, backend_of(key), "a bound")
    above = x > most
    if not dtypes.is_inexact(x.dtype):
        own = dtypes.iinfo(x.dtype)
        low, high = max(least, int(own.min)), min(most, int(own.max))
        x = clamp(scalar(low, x.dtype), x, scalar(high, x.dtype))
    return convert(x, dtype), above


@unit("key", "p")
def bernoulli(
    key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low", *, out_sharding: Any = None
) -> Array:
    """Draw True with probability p, an array of floats that broadcasts to `shape`.

    `mode`: "low", or "high" for finer probabilities at twice the cost. Raises TypeError for a p
    that is no float. Source: ``jax.random.bernoulli``.

    >>> from arrayport import random
    >>> random.bernoulli(random.PRNGKey(0), 0.9, (3,))
    Array([False, False,  True], dtype=bool)
    """
    no_sharding(out_sharding, "bernoulli")
    key = one_key(key, "bernoulli")
    p = lift(p, backend_of(key), "the probability p")
    if not dtypes.is_floating(p.dtype):
        raise TypeError(f"bernoulli: the probability p must be a float, not {p.dtype}")
    size = fitting(shape, "bernoulli", p.shape)
    if mode == "low":
        return uniform(key, size, p.dtype) < p
    if mode != "high":
        raise ValueError(f"bernoulli: mode must be 'low' or 'high', not {mode!r}")
    draws = uniform(key, (2, *size), p.dtype)
    rest = tuple((0, n, 1) for n in size)
    coarse, fine = (static_slice(draws, (i, *rest)) for i in range(2))
    return fine * 2.0 ** -dtypes.finfo(p.dtype).nmant < p - coarse


@unit("key")
def rademacher(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw 1 or -1, each as often. Source: ``jax.random.rademacher``.

    >>> from arrayport import random
    >>> random.rademacher(random.PRNGKey(0), (4,)).dtype
    dtype('int32')
    """
    no_sharding(out_sharding, "rademacher")
    found = dtypes.default_int() if dtype is None else dtypes.canonicalize(dtype)
    heads = convert(bernoulli(key, 0.5, shape_of(shape)), found)
    return heads + heads - 1
