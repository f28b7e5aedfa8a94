"""Random numbers from explicit keys: the same bits as jax.random's, on every backend."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, frexp, inf, log, prod, sqrt
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.names import absent
from arrayport.core.trace import backend_of
from arrayport.numpy.searching import searchsorted
from arrayport.ops import random as bits_of
from arrayport.ops.elementwise import (
    clamp,
    log1p,
    maximum,
    nextafter,
    rem,
    select,
    stop_gradient,
)
from arrayport.ops.elementwise import complex as complex_
from arrayport.ops.elementwise import log as logarithm
from arrayport.ops.indexing import take
from arrayport.ops.promotion import common_shape, from_host, inexact, lift, scalar
from arrayport.ops.reductions import argmax, cumsum
from arrayport.ops.slices import slice_in_dim, static_slice
from arrayport.ops.sorting import sort, top_k
from arrayport.ops.special import erf
from arrayport.ops.structure import broadcast_to, convert, move_axis, reshape

__all__ = [
    "PRNGKey",
    "bernoulli",
    "bits",
    "categorical",
    "choice",
    "exponential",
    "fold_in",
    "gumbel",
    "normal",
    "permutation",
    "randint",
    "split",
    "truncated_normal",
    "uniform",
]

Shape = tuple[int, ...]
DType = np.dtype[Any]
NUMBERS = (int, float)

# ---- keys


def PRNGKey(seed: Any, *, impl: Any = None) -> Array:
    """Make a raw key, a uint32 array of shape (2,), from an integer, which may be traced.

    Seeds of 64 bits count in full while x64 is on, else their lower 32 bits do. `impl`: None or
    "threefry2x32". Raises TypeError for what is no integer scalar, OverflowError beyond 64 bits.
    Source: ``jax.random.PRNGKey``.

    >>> from arrayport import random
    >>> random.PRNGKey(42)
    Array([ 0, 42], dtype=uint32)
    """
    if impl not in {None, "threefry2x32"}:
        raise ValueError(f"impl={impl!r} is not available: the one generator here is threefry2x32")
    return bits_of.seed_key(seed)


def split(key: Any, num: int | Sequence[int] = 2) -> Array:
    """Make `num` new keys of one, of shape (num, 2); a tuple gives (*num, 2).

    Raises TypeError or ValueError for what is not one key. Source: ``jax.random.split``.

    >>> from arrayport import random
    >>> first, second = random.split(random.PRNGKey(0))
    >>> first
    Array([1797259609, 2579123966], dtype=uint32)
    """
    return bits_of.split_key(bits_of.check_key(key, "split"), _shape(num, "num"))


def fold_in(key: Any, data: Any) -> Array:
    """Make the new key that belongs to a key and an integer, which may be traced.

    Raises TypeError for data that is no scalar, OverflowError for a Python int beyond uint32.
    Source: ``jax.random.fold_in``.

    >>> from arrayport import random
    >>> random.fold_in(random.PRNGKey(3), 5)
    Array([2464363587,  131619366], dtype=uint32)
    """
    key = bits_of.check_key(key, "fold_in")
    word = scalar(data, dtypes.uint32) if type(data) is int else lift(data, backend_of(key), "data")
    if word.shape:
        raise TypeError(f"fold_in takes a scalar, not of shape {word.shape}: use vmap for several")
    return bits_of.fold_word(key, convert(word, dtypes.uint32))


# ---- arguments


def _shape(shape: Any, name: str = "shape") -> Shape:
    found: Shape
    try:
        found = (index(shape),)
    except TypeError:
        try:
            found = tuple(index(n) for n in shape)
        except TypeError:
            raise TypeError(f"{name} must be concrete integers, not {shape!r}") from None
    if any(n < 0 for n in found):
        raise ValueError(f"{name} must not be negative, but is {found}")
    return found


def _floating(dtype: Any, name: str) -> DType:
    if dtype is None:
        return dtypes.default_float()
    found = dtypes.canonicalize(dtype)
    if not dtypes.is_floating(found):
        raise ValueError(f"dtype of `{name}` must be a float dtype, not {found}")
    return found


def _fitting(shape: Any, name: str, *own: Shape) -> Shape:
    """Give the shape asked for, to which the parameters' must broadcast; theirs if None."""
    least = common_shape(*own)
    if shape is None:
        return least
    found = _shape(shape)
    if common_shape(found, least) != found:
        raise ValueError(f"{name}: shape {found} does not hold the parameters' {least}")
    return found


# ---- bits and numbers


def bits(key: Any, shape: Any = (), dtype: Any = None) -> Array:
    """Draw unsigned integers, every bit random. Source: ``jax.random.bits``.

    `dtype`: uint8, uint16, uint32 (the default while x64 is off) or uint64. Raises ValueError for
    another.
    """
    key = bits_of.check_key(key, "bits")
    found = dtypes.canonicalize(np.uint64 if dtype is None else dtype)
    if dtypes.kind(found) != "u" or 8 * found.itemsize not in {8, 16, 32, 64}:
        raise ValueError(f"dtype of `bits` must be an unsigned integer dtype, not {found}")
    return bits_of.random_bits(key, 8 * found.itemsize, _shape(shape))


def uniform(
    key: Any, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0
) -> Array:
    """Draw floats of [minval, maxval), whose shapes broadcast to `shape`.

    Raises ValueError for a dtype that is no float. Source: ``jax.random.uniform``.

    >>> from arrayport import random
    >>> random.uniform(random.PRNGKey(0), (2,))
    Array([0.947667 , 0.9785799], dtype=float32)
    """
    key = bits_of.check_key(key, "uniform")
    found, size = _floating(dtype, "uniform"), _shape(shape)
    unit = bits_of.random_fractions(key, size, found)
    if type(minval) in NUMBERS and type(maxval) in NUMBERS and (minval, maxval) == (0, 1):
        return unit
    low, high = (_bound(v, found, key) for v in (minval, maxval))
    _fitting(size, "uniform", low.shape, high.shape)
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


def _bound(value: Any, dtype: DType, key: Array) -> Array:
    """Bring a number or an array to a dtype and to the key's backend."""
    home = backend_of(key)
    if isinstance(value, int | float):
        return from_host(np.array(value, dtype), home)
    return convert(lift(value, home, "a bound"), dtype)


def _is_power(low: Any, high: Any, dtype: DType) -> bool:
    """Whether two Python numbers are a power of two apart."""
    if type(low) not in NUMBERS or type(high) not in NUMBERS:
        return False
    return frexp(np.array(high, dtype) - np.array(low, dtype))[0] == 0.5


def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None) -> Array:
    """Draw integers of [minval, maxval), whose shapes broadcast to `shape`.

    An empty interval gives minval. Raises TypeError for a dtype that is no integer. Source:
    ``jax.random.randint``.

    >>> from arrayport import random
    >>> random.randint(random.PRNGKey(0), (5,), 0, 10)
    Array([9, 0, 2, 3, 1], dtype=int32)
    """
    key = bits_of.check_key(key, "randint")
    found = dtypes.canonicalize(int if dtype is None else dtype)
    if not dtypes.is_integer(found):
        raise TypeError(f"dtype of `randint` must be an integer dtype, not {found}")
    size = _shape(shape)
    low, _ = _limited(minval, found, key)
    high, above = _limited(maxval, found, key)
    _fitting(size, "randint", low.shape, high.shape)
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


def _limited(bound: Any, dtype: DType, key: Array) -> tuple[Array, Array | bool]:
    """Give a bound as an Array within the dtype's range, and whether it was above that."""
    info = dtypes.iinfo(dtype)
    least, most = int(info.min), int(info.max)
    if isinstance(bound, int | float):
        return _bound(min(max(int(bound), least), most), dtype, key), bound > most
    x = lift(bound, backend_of(key), "a bound")
    above = x > most
    if not dtypes.is_inexact(x.dtype):
        own = dtypes.iinfo(x.dtype)
        low, high = max(least, int(own.min)), min(most, int(own.max))
        x = clamp(scalar(low, x.dtype), x, scalar(high, x.dtype))
    return convert(x, dtype), above


def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False) -> Array:
    """Shuffle an array along an axis, or the numbers below an integer x.

    Slices stay whole unless `independent`. Raises TypeError for a scalar that is no integer.
    Source: ``jax.random.permutation``.

    >>> from arrayport import random
    >>> sorted(random.permutation(random.PRNGKey(0), 5).tolist())
    [0, 1, 2, 3, 4]
    """
    key = bits_of.check_key(key, "permutation")
    if not getattr(x, "shape", ()):
        try:
            return _shuffled(key, bits_of.count_up(key, dtypes.default_int(), index(x)), 0)
        except TypeError:
            raise TypeError(f"permutation takes an array or an integer, not {x!r}") from None
    x = lift(x, backend_of(key))
    axis = _axis("permutation", axis, len(x.shape))
    if independent or len(x.shape) == 1:
        return _shuffled(key, x, axis)
    return take(x, permutation(key, x.shape[axis]), axis)


def _axis(name: str, axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ValueError(f"{name}: axis {axis} is out of bounds for an array of {rank} axes")
    return axis % rank


def _shuffled(key: Array, x: Array, axis: int) -> Array:
    """Sort by random keys, so often that ties among the 32-bit keys matter to no order."""
    for _ in range(ceil(3 * log(max(1, x.size)) / log(2**32 - 1))):
        key, own = bits_of.two_keys(key)
        x = sort((bits_of.random_bits(own, 32, x.shape), x), axis)[1]
    return x


# ---- distributions


def normal(key: Any, shape: Any = (), dtype: Any = None) -> Array:
    """Draw from the standard normal distribution; complex parts have variance 1/2.

    Raises ValueError for a dtype that is neither float nor complex. Source: ``jax.random.normal``.
    """
    key = bits_of.check_key(key, "normal")
    found = dtypes.default_float() if dtype is None else dtypes.canonicalize(dtype)
    if not dtypes.is_inexact(found):
        raise ValueError(f"dtype of `normal` must be a float or complex dtype, not {found}")
    if dtypes.is_complex(found):
        part = dtypes.real_dtype(found)
        real, imag = (normal(k, shape, part) for k in bits_of.two_keys(key))
        return complex_(real, imag) / sqrt(2)
    low = -1 + dtypes.finfo(found).epsneg  # the float after -1, so that no draw is infinite
    unit = uniform(key, shape, found, low, 1)
    return bits_of.quick_erf_inv(unit) * scalar(sqrt(2), found)


def truncated_normal(
    key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = None
) -> Array:
    """Draw from the standard normal distribution between two bounds, which broadcast.

    `shape`: that of the bounds unless given. Source: ``jax.random.truncated_normal``.
    """
    key = bits_of.check_key(key, "truncated_normal")
    found = _floating(dtype, "truncated_normal")
    low, high = (_bound(v, found, key) for v in (lower, upper))
    size = _fitting(shape, "truncated_normal", low.shape, high.shape)
    low, high = (broadcast_to(v, size) if v.shape else v for v in (low, high))
    root = scalar(sqrt(2), found)
    draw = uniform(key, size, found, erf(low / root), erf(high / root))
    out = bits_of.quick_erf_inv(draw) * root
    least, most = nextafter(stop_gradient(low), inf), nextafter(stop_gradient(high), -inf)
    return clamp(least, out, most)


def bernoulli(key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low") -> Array:
    """Draw True with probability p, an array of floats that broadcasts to `shape`.

    `mode`: "low", or "high" for finer probabilities at twice the cost. Raises TypeError for a p
    that is no float. Source: ``jax.random.bernoulli``.

    >>> from arrayport import random
    >>> random.bernoulli(random.PRNGKey(0), 0.9, (3,))
    Array([False, False,  True], dtype=bool)
    """
    key = bits_of.check_key(key, "bernoulli")
    p = lift(p, backend_of(key), "the probability p")
    if not dtypes.is_floating(p.dtype):
        raise TypeError(f"bernoulli: the probability p must be a float, not {p.dtype}")
    size = _fitting(shape, "bernoulli", p.shape)
    if mode == "low":
        return uniform(key, size, p.dtype) < p
    if mode != "high":
        raise ValueError(f"bernoulli: mode must be 'low' or 'high', not {mode!r}")
    draws = uniform(key, (2, *size), p.dtype)
    rest = tuple((0, n, 1) for n in size)
    coarse, fine = (static_slice(draws, (i, *rest)) for i in range(2))
    return fine * 2.0 ** -dtypes.finfo(p.dtype).nmant < p - coarse


def exponential(key: Any, shape: Any = (), dtype: Any = None) -> Array:
    """Draw from the exponential distribution of rate 1. Source: ``jax.random.exponential``."""
    return -log1p(-uniform(key, shape, _floating(dtype, "exponential")))


def gumbel(key: Any, shape: Any = (), dtype: Any = None, mode: str | None = None) -> Array:
    """Draw from the standard Gumbel distribution. Source: ``jax.random.gumbel``.

    Raises ValueError for a mode other than "low".
    """
    if mode not in {None, "low"}:
        raise ValueError(f"gumbel: mode {mode!r} is not available, only 'low'")
    found = _floating(dtype, "gumbel")
    tiny = dtypes.finfo(found).tiny
    return -logarithm(-logarithm(uniform(key, shape, found, tiny, 1)))


def categorical(
    key: Any,
    logits: Any,
    axis: int = -1,
    shape: Any = None,
    replace: bool = True,
    mode: str | None = None,
) -> Array:
    """Draw indices along an axis, with probabilities proportional to the exponents of `logits`.

    `shape` ends with the shape of `logits` without the axis, which it is if None. Without
    `replace` the draws of one distribution (the axes in front) all differ. Raises ValueError for
    shapes that do not fit. Source: ``jax.random.categorical``.
    """
    key = bits_of.check_key(key, "categorical")
    x = lift(logits, backend_of(key), "logits")
    axis = _axis("categorical", axis, len(x.shape))
    rest = x.shape[:axis] + x.shape[axis + 1 :]
    size = _fitting(shape, "categorical", rest)
    count = len(size) - len(rest)
    if replace:
        own = size[count:]
        noise = gumbel(key, (*size[: count + axis], x.shape[axis], *own[axis:]), x.dtype, mode)
        return argmax(noise + x, count + axis, int)
    number = prod(size[:count])
    if number > x.shape[axis]:
        raise ValueError(
            f"categorical: {number} draws without replacement exceed the {x.shape[axis]} categories"
        )
    _, best = top_k(gumbel(key, x.shape, x.dtype, mode) + x, number, axis=axis)
    return reshape(move_axis(best, axis, 0), size)


def choice(
    key: Any,
    a: Any,
    shape: Any = (),
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    mode: str | None = None,
) -> Array:
    """Draw elements (slices along `axis`) of an array, or numbers below an integer `a`.

    `p`: the probability of each, uniform if None. Raises ValueError for an empty population, for
    more draws than it has without `replace`, and for a p of another size. Source:
    ``jax.random.choice``.

    >>> from arrayport import random
    >>> random.choice(random.PRNGKey(5), 20, (4,))
    Array([ 1,  8,  3, 16], dtype=int32)
    """
    key = bits_of.check_key(key, "choice")
    size = _shape(shape)
    draws = prod(size)
    population = lift(a, backend_of(key), "the population a")
    whole = not population.shape
    axis = 0 if whole else _axis("choice", axis, len(population.shape))
    count = index(a) if whole else population.shape[axis]
    if count <= 0 and draws:
        raise ValueError("choice: the population a must not be empty")
    if not replace and draws > count:
        raise ValueError(f"choice: {draws} draws without replacement exceed the {count} of a")
    if p is None:
        if not replace:
            picked = slice_in_dim(permutation(key, count), 0, draws)
        else:
            picked = randint(key, size, 0, count)
    else:
        weights = inexact(lift(p, backend_of(key), "p"))
        if weights.shape != (count,):
            raise ValueError(f"choice: p must have shape {(count,)} as a has, not {weights.shape}")
        if replace:
            summed = cumsum(weights)
            draw = static_slice(summed, (count - 1,)) * (1 - uniform(key, size, summed.dtype))
            picked = searchsorted(summed, draw)
        else:
            noise = gumbel(key, (count,), weights.dtype, mode)
            _, order = top_k(noise + logarithm(weights), draws)
            picked = convert(order, dtypes.default_int())
    picked = reshape(picked, size)
    return picked if whole else take(population, picked, axis)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("random", name)
