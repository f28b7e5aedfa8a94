"""Random bits from explicit keys: the threefry-2x32 hash of each element's number, as in JAX."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, prod, sqrt
from typing import Any

import numpy as np

from arrayport.core import backend as backends
from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.config import x64
from arrayport.core.primitive import Primitive
from arrayport.core.trace import EVAL, backend_of, current_stage
from arrayport.ops._families import elementwise
from arrayport.ops.creation import iota_p
from arrayport.ops.elementwise import exp, square
from arrayport.ops.promotion import common_shape, lift, scalar
from arrayport.ops.slices import stack_last, static_slice
from arrayport.ops.structure import constant, convert, move_axis, reshape

MOST = 2**32  # counters of one call
DType = np.dtype[Any]

# ---- primitives


def _abstract(*words: Any) -> list[Aval]:
    if any(w.dtype != dtypes.uint32 for w in words):
        raise TypeError(f"threefry2x32 hashes uint32, not {', '.join(str(w.dtype) for w in words)}")
    return [Aval(common_shape(*[w.shape for w in words]), dtypes.uint32)] * 2


def _batch(
    size: int, words: Sequence[Array], dims: Sequence[int | None], /
) -> tuple[list[Array], list[int]]:
    """Operands broadcast, so a batch axis goes in front of as many axes as the others have."""
    rank = max(len(w.shape) - (d is not None) for w, d in zip(words, dims, strict=True))
    ready = [
        w if d is None else _padded(move_axis(w, d, 0), size, rank)
        for w, d in zip(words, dims, strict=True)
    ]
    return threefry2x32_p.bind(*ready), [0, 0]


def _padded(word: Array, size: int, rank: int) -> Array:
    own = word.shape[1:]
    return reshape(word, (size, *(1,) * (rank - len(own)), *own))


threefry2x32_p = Primitive(
    "threefry2x32",
    _abstract,
    _batch,
    many=True,
    keeps_weak=False,
    not_differentiable="it hashes integers",
)

# The rounding of XLA's `x * y + z`, on which the bits of `uniform` between given bounds depend.
fma_p = elementwise(
    "fma",
    lambda g, _ans, _x, y, _z: g * y,
    lambda g, _ans, x, _y, _z: g * x,
    lambda g, _ans, _x, _y, _z: g,
)

# erf_inv by the polynomials that XLA uses, whose tails are up to 90 units off the exact ones that
# `special.erf_inv` gives: the same normal numbers on every backend matter more here.
quick_erf_inv_p = elementwise(
    "quick_erf_inv", lambda g, ans, _x: g * (exp(square(ans)) * (sqrt(pi) / 2))
)

# ---- keys


def seed_key(seed: Any) -> Array:
    """Make a key, two uint32 words, of an integer's upper and lower half."""
    if isinstance(seed, np.ndarray) and not seed.shape:
        seed = seed[()]
    if isinstance(seed, int | np.integer | np.bool_):
        wide = x64() and (isinstance(seed, int) or seed.dtype.itemsize == 8)
        value = int(seed)
        if isinstance(seed, int) and not -(2**63) <= value < 2**63:
            raise OverflowError(f"seed {value} does not fit 64 bits: take it modulo 2**63")
        words = np.array([value >> 32 & 0xFFFFFFFF if wide else 0, value & 0xFFFFFFFF], np.uint32)
        return Array(backends.ambient().asarray(words))
    x = lift(seed, None, "the seed")
    if not dtypes.is_integer(x.dtype):
        raise TypeError(f"a seed must be an integer, not {x.dtype}")
    if x.shape:
        raise TypeError(f"a seed must be a scalar, not of shape {x.shape}: use vmap for several")
    high = x >> 32 if x.dtype.itemsize == 8 else constant(0, x)
    return stack_last([convert(high, dtypes.uint32), convert(x, dtypes.uint32)])


def _unwrapped(
    _size: int, xs: Sequence[Array], dims: Sequence[int], /, consumes: bool
) -> tuple[Array, int]:
    return random_unwrap_p.bind(move_axis(xs[0], dims[0], 0), consumes=consumes), 0


def _wrapped(_size: int, xs: Sequence[Array], dims: Sequence[int], /) -> tuple[Array, int]:
    return random_wrap_p.bind(move_axis(xs[0], dims[0], 0)), 0


NO_NUMBER = "a key is no number"
# Typed keys: an element type of two words. `consumes`: whether the words are taken to draw with
# them, so that nobody else may; see debug_key_reuse.
random_wrap_p = Primitive(
    "random_wrap",
    lambda words: Aval(words.shape[:-1], dtypes.key),
    _wrapped,
    keeps_weak=False,
    not_differentiable=NO_NUMBER,
)
random_unwrap_p = Primitive(
    "random_unwrap",
    lambda keys, consumes: Aval((*keys.shape, 2), dtypes.uint32),  # noqa: ARG005 - a parameter
    _unwrapped,
    keeps_weak=False,
    not_differentiable=NO_NUMBER,
)


def _hash(key: Array, high: Array, low: Array) -> list[Array]:
    first, second = static_slice(key, (0,)), static_slice(key, (1,))
    return threefry2x32_p.bind(first, second, high, low)


def _count(key: Array, shape: Sequence[int]) -> list[Array]:
    """Hash the number of each element of an array of this shape, in row-major order."""
    size = prod(shape)
    if size > MOST:
        raise ValueError(f"shape {tuple(shape)} asks for more than 2**32 numbers: split the key")
    low = reshape(count_up(key, dtypes.uint32, size), tuple(shape))
    return _hash(key, constant(0, low), low)


def count_up(key: Array, dtype: DType, size: int) -> Array:
    """Count 0, 1, 2, ... `size` times, on the key's backend."""
    home = backend_of(key) if current_stage() is EVAL else None
    params = {"dtype": dtype, "shape": (size,), "dimension": 0}
    return iota_p.bind(**params) if home is None else home.execute(iota_p, (), params)


def split_key(key: Array, shape: Sequence[int]) -> Array:
    """Make an array of new keys, of shape (*shape, 2)."""
    return stack_last(_count(key, shape))


def two_keys(key: Array) -> tuple[Array, Array]:
    """Make two new keys."""
    keys = split_key(key, (2,))
    return static_slice(keys, (0, (0, 2, 1))), static_slice(keys, (1, (0, 2, 1)))


def fold_word(key: Array, word: Array) -> Array:
    """Make the new key that belongs to a key and a uint32 scalar."""
    return stack_last(_hash(key, constant(0, word), word))


def random_bits(key: Array, width: int, shape: Sequence[int]) -> Array:
    """Make unsigned integers of 8, 16, 32 or 64 bits, each bit random."""
    high, low = _count(key, shape)
    if width == 64:
        return convert(high, dtypes.uint64) << 32 | convert(low, dtypes.uint64)
    bits = high ^ low
    return bits if width == 32 else convert(bits, np.dtype(f"uint{width}"))


# ---- numbers


def random_fractions(key: Array, shape: Sequence[int], dtype: DType) -> Array:
    """Make multiples of the dtype's spacing below 1, uniform over [0, 1)."""
    mantissa = dtypes.finfo(dtype).nmant
    width = max(8 * dtype.itemsize, 8) if mantissa >= 8 else 8
    bits = random_bits(key, width, shape)
    return convert(bits >> (width - mantissa), dtype) * scalar(2.0**-mantissa, dtype)


def quick_erf_inv(x: Array) -> Array:
    """Invert erf, on floats."""
    return quick_erf_inv_p.bind(x)
