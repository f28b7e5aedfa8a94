"""Arrays to and from other libraries: DLPack, JAX, and other devices."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.core import backend as backends
from arrayport.core.array import Array, Tracer, home
from arrayport.core.errors import TracerArrayConversionError
from arrayport.numpy.creation import asarray
from arrayport.ops.placement import device_put, resolve
from arrayport.ops.promotion import from_host

__all__ = ["from_dlpack"]


def to_dlpack(x: Array, **options: Any) -> Any:
    """Give a capsule of x's memory for another library.

    What the consumer could write to is copied, so that x cannot change: NumPy's arrays, and CuPy's.
    """
    raw = x.concrete(TracerArrayConversionError, "a DLPack capsule")
    backend = home(raw)
    if backend.native is None:
        raw = raw.copy()
        if options.get("copy") is False:
            raise BufferError("copy=False: an Array's memory is not given away: leave copy out")
        options["copy"] = None
    return raw.__dlpack__(**options)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Make an Array of another library's array by DLPack; writable memory is copied.

    Raises BufferError for `copy=False`, TypeError for what has no ``__dlpack__``. Source:
    ``jax.numpy.from_dlpack``.

    >>> import arrayport.numpy as anp, numpy as np
    >>> anp.from_dlpack(np.arange(3, dtype="int8"))
    Array([0, 1, 2], dtype=int8)
    """
    if isinstance(x, Array):
        return x if device is None else device_put(x, device)
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack needs an array with __dlpack__, not {type(x).__name__}")
    if copy is False:
        raise BufferError("copy=False: what others may write to must be copied: leave copy out")
    if backends.by_type(type(x)) is not None:
        return asarray(x, device=device)
    home_ = resolve(device)[0] if device is not None else None
    return from_host(np.from_dlpack(x), home_)


def to_device(x: Array, device: Any, *, stream: Any = None) -> Array:
    """Move an array to a device. Source: the array API's ``to_device``."""
    if stream is not None:
        raise ValueError("stream= of to_device is not supported: leave it out")
    moved: Array = device_put(x, device)
    return moved


def to_jax(x: Array) -> Any:
    """Give the JAX array of x's values, for JAX's own functions."""
    if isinstance(x, Tracer):
        x.concrete(TracerArrayConversionError, "a JAX array")
    return device_put(x, "jax").raw
