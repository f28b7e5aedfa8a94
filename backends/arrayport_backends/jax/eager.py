"""Eager rows: indices and values go to one compiled program, which they would else be parts of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from arrayport.core import dtypes
from arrayport.core.primitive import Primitive
from arrayport.ops import slices, structure
from arrayport_backends.jax.compilation import EARLY
from arrayport_backends.jax.indexing import (
    dynamic_slice,
    dynamic_slice_add,
    dynamic_update_slice,
)
from arrayport_backends.jax.structure import is_own_number

flags: Any = jax.config
compiled: Any = partial(jax.jit, inline=EARLY)
Shape = tuple[int, ...]


@lru_cache(1 << 12)
def window(shape: Shape, key: slices.Key) -> tuple[Any, Shape] | None:
    """The start and extents of what a key chooses, unless it goes in steps."""
    starts, sizes = [], []
    for n, k in zip(shape, (k for k in key if k is not None), strict=True):
        chosen = range(n)[slice(*k)] if isinstance(k, tuple) else range(n)[k : k + 1]
        if chosen.step != 1:
            return None
        starts.append(chosen.start)
        sizes.append(len(chosen))
    if not sizes or max(starts) > np.iinfo(np.int32).max:
        return None
    return np.array(starts, np.int32), tuple(sizes)


@partial(compiled, static_argnames=("sizes", "shape"))
def _read(x: Any, starts: Any, sizes: Shape, shape: Shape) -> Any:
    return lax.reshape(dynamic_slice(x, tuple(starts), sizes), shape)


@partial(compiled, static_argnames="sizes")
def _set(x: Any, value: Any, starts: Any, sizes: Shape) -> Any:
    return dynamic_update_slice(x, lax.reshape(value, sizes), tuple(starts))


@partial(compiled, static_argnames="sizes")
def _add(x: Any, value: Any, starts: Any, sizes: Shape) -> Any:
    return dynamic_slice_add(x, *starts, lax.reshape(value, sizes))


def read(x: Any, key: slices.Key) -> Any:
    """Read what a key chooses; JAX knows random keys that are used twice by fixed places alone."""
    found = window(x.shape, key)
    if found is None or (flags.jax_debug_key_reuse and dtypes.is_key(x.dtype)):
        return NotImplemented
    return _read(x, *found, shape=slices.sliced_shape(x.shape, key))


def writer(write: Callable[..., Any]) -> Callable[..., Any]:
    """Make the row that writes what a key chooses."""

    def run(x: Any, value: Any, key: slices.Key) -> Any:
        found = window(x.shape, key)
        return NotImplemented if found is None else write(x, value, *found)

    return run


@partial(compiled, static_argnames="shape")
def _filled(value: Any, shape: Shape) -> Any:
    return lax.broadcast(value, shape)


def full(shape: Shape, value: complex, dtype: np.dtype[Any], weak: bool) -> Any:
    """Fill."""
    number: Any = value
    if not is_own_number(value, dtype, weak):
        if not np.can_cast(type(value), dtype, "same_kind"):
            return NotImplemented
        number = np.array(value).astype(dtype)
    return _filled(number, shape) if shape else jnp.asarray(number)


# A row gives NotImplemented for what the table of Programs' rows is for.
ROWS: Mapping[Primitive, Callable[..., Any]] = {
    slices.slice_p: read,
    slices.slice_set_p: writer(_set),
    slices.slice_add_p: writer(_add),
    structure.full_p: full,
}
