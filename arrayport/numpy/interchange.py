"""Arrays to and from other libraries: DLPack, JAX, and other devices."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.core import backend as backends
from arrayport.core import dtypes
from arrayport.core.array import Array, Tracer, home, on_host
from arrayport.core.errors import TracerArrayConversionError
from arrayport.numpy.creation import asarray
from arrayport.ops.placement import device_put, resolve
from arrayport.ops.promotion import from_host

__all__ = ["from_dlpack"]


HOST = (1, 0)  # DLPack's name for the host's memory
READ_ONLY = (1, 0)  # the first version of DLPack that can say so


def to_dlpack(
    x: Array,
    stream: Any,
    max_version: tuple[int, int] | None,
    dl_device: tuple[Any, int] | None,
    copy: bool | None,
) -> Any:
    """Give a capsule of x's values for another library. Source: the array API's ``__dlpack__``.

    What the consumer could write to is copied, so that x cannot change: NumPy's arrays, and CuPy's.
    With `copy=False` it is x's own memory, read-only if the consumer knows of that. The host may be
    asked for from everywhere: that copies, which nobody can tell of an array that never changes.
    """
    raw = x.concrete(TracerArrayConversionError, "a DLPack capsule")
    if dtypes.is_key(x.dtype):
        raise BufferError("DLPack has no typed random keys: give the words, random.key_data(keys)")
    backend = home(raw)
    device = None if dl_device is None else (getattr(dl_device[0], "value", dl_device[0]), 0)
    if device == HOST and raw.__dlpack_device__()[0] != HOST[0]:
        raw, copy = np.array(on_host(x, raw)), None
    elif backend.native is None and not (copy is False and type(raw) is np.ndarray):
        raw, copy = raw.copy(), None
    elif copy is False and backend.native is None and max_version and max_version >= READ_ONLY:
        raw = raw.view()
        raw.flags.writeable = False
    if max_version and max_version < READ_ONLY:
        max_version = None  # what libraries take for an old one
    options = {"stream": stream, "max_version": max_version, "dl_device": device, "copy": copy}
    return raw.__dlpack__(**{k: v for k, v in options.items() if v is not None})


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
