"""XLA's own generators of random bits, which only XLA has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from arrayport.core.array import Array
from arrayport.core.errors import UnsupportedOnBackendError
from arrayport.transforms.engines import run_on_engine

__all__ = ["rng_bit_generator", "rng_uniform"]


def rng_bit_generator(
    key: Any,
    shape: Sequence[int],
    dtype: Any = np.uint32,
    algorithm: Any = 0,
    *,
    out_sharding: Any = None,
) -> tuple[Array, Array]:
    """Give the next key and random bits, by an algorithm that the device chooses.

    Raises UnsupportedOnBackendError where JAX does not run the work: the same key gives other bits
    on other devices, which `arrayport.random` never does. Source: ``jax.lax.rng_bit_generator``.
    """
    arguments = (key, tuple(shape), dtype, int(algorithm))
    options = {"out_sharding": out_sharding}
    return run_on_engine("rng_bit_generator", _refused, key, *arguments, **options)


def rng_uniform(a: Any, b: Any, shape: Sequence[int]) -> Array:
    """Give numbers between a and b, of a generator that the device keeps the state of.

    Raises UnsupportedOnBackendError where JAX does not run the work. Source:
    ``jax.lax.rng_uniform``.
    """
    return run_on_engine("rng_uniform", _refused, (a, b), a, b, tuple(shape))


def _refused(*_arguments: Any, **_options: Any) -> NoReturn:
    raise UnsupportedOnBackendError(
        "XLA's generators are the device's own, and their bits are nobody else's: use "
        "arrayport.random, whose bits are the same on every backend"
    )
