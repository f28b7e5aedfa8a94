"""Draws of elements: permutations, choices, categories."""

from __future__ import annotations

from math import ceil, log, prod
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.trace import backend_of
from arrayport.core.units import unit
from arrayport.numpy.arguments import integer_of, shape_of
from arrayport.numpy.searching import searchsorted
from arrayport.ops import random as bits_of
from arrayport.ops.elementwise import log as logarithm
from arrayport.ops.indexing import take
from arrayport.ops.placement import no_sharding
from arrayport.ops.promotion import inexact, lift
from arrayport.ops.reductions import argmax, cumsum
from arrayport.ops.slices import slice_in_dim, static_slice
from arrayport.ops.sorting import sort, top_k
from arrayport.ops.structure import axis_of, convert, move_axis, reshape
from arrayport.random.arguments import fitting
from arrayport.random.distributions import gumbel
from arrayport.random.keys import one_key
from arrayport.random.uniforms import randint, uniform

__all__ = ["categorical", "choice", "permutation"]


def permutation(
    key: Any, x: Any, axis: int = 0, independent: bool = False, *, out_sharding: Any = None
) -> Array:
    """Shuffle an array along an axis, or the numbers below an integer x.

    Slices stay whole unless `independent`. Raises TypeError for a scalar that is no integer.
    Source: ``jax.random.permutation``.

    >>> from arrayport import random
    >>> sorted(random.permutation(random.PRNGKey(0), 5).tolist())
    [0, 1, 2, 3, 4]
    """
    no_sharding(out_sharding, "permutation")
    key = one_key(key, "permutation")
    if not getattr(x, "shape", ()):
        count = integer_of(x, "x of permutation", "an array or an integer")
        return _shuffled(key, bits_of.count_up(key, dtypes.default_int(), count), 0)
    x = lift(x, backend_of(key))
    axis = axis_of(axis, len(x.shape), "permutation")
    if independent or len(x.shape) == 1:
        return _shuffled(key, x, axis)
    return take(x, permutation(key, x.shape[axis]), axis)


@unit("key", "x")
def _shuffled(key: Array, x: Array, axis: int) -> Array:
    """Sort by random keys, so often that ties among the 32-bit keys matter to no order."""
    for _ in range(ceil(3 * log(max(1, x.size)) / log(2**32 - 1))):
        key, own = bits_of.two_keys(key)
        x = sort((bits_of.random_bits(own, 32, x.shape), x), axis)[1]
    return x


@unit("key", "logits")
def categorical(
    key: Any,
    logits: Any,
    axis: int = -1,
    shape: Any = None,
    replace: bool = True,
    mode: str | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw indices along an axis, with probabilities proportional to the exponents of `logits`.

    `shape` ends with the shape of `logits` without the axis, which it is if None. Without
    `replace` the draws of one distribution (the axes in front) all differ. Raises ValueError for
    shapes that do not fit. Source: ``jax.random.categorical``.

    >>> from arrayport import random
    >>> import arrayport.numpy as anp
    >>> random.categorical(random.key(0), anp.zeros(3)).shape
    ()
    """
    no_sharding(out_sharding, "categorical")
    key = one_key(key, "categorical")
    x = lift(logits, backend_of(key), "logits")
    axis = axis_of(axis, len(x.shape), "categorical")
    rest = x.shape[:axis] + x.shape[axis + 1 :]
    size = fitting(shape, "categorical", rest)
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
    key = one_key(key, "choice")
    size = shape_of(shape)
    draws = prod(size)
    population = lift(a, backend_of(key), "the population a")
    below = not population.shape
    axis = 0 if below else axis_of(axis, len(population.shape), "choice")
    count = integer_of(a, "the population a") if below else population.shape[axis]
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
    return picked if below else take(population, picked, axis)
