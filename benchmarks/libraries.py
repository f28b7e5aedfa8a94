"""The libraries that are timed beside each other, as far as they are installed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

import arrayport as ap


@dataclass(frozen=True)
class Library:
    """One contender: its transformations under JAX's names, its NumPy, and how arrays get there."""

    name: str
    root: Any
    numpy: Any
    asarray: Callable[[np.ndarray], Any]
    wait: Callable[[Any], Any] | None = None


def _ours(name: str, backend: str) -> Library:
    def asarray(host: np.ndarray) -> ap.Array:
        with ap.use_backend(backend):
            return ap.numpy.asarray(host)

    return Library(name, ap, ap.numpy, asarray, ap.block_until_ready)


@cache
def library(name: str) -> Library | None:
    """Load a library by name; None if it is not installed."""
    if name == "arrayport":
        return _ours(name, "numpy")
    if name == "arrayport on jax":
        return _ours(name, "jax") if find_spec("jax") else None
    if name == "numpy":
        return Library(name, None, np, np.array)
    if find_spec(name) is None:
        return None
    root, numpy = import_module(name), import_module(f"{name}.numpy")
    if name == "jax":
        import_module("jax.experimental.ode")  # which JAX does not import by itself
        return Library(name, root, numpy, numpy.asarray, root.block_until_ready)
    return Library(name, root, numpy, np.array)
