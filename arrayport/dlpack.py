"""Arrays from other libraries by DLPack, under JAX's module name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arrayport import numpy
from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.names import absent

__all__ = ["from_dlpack", "is_supported_dtype"]


def from_dlpack(external_array: Any, device: Any = None, copy: bool | None = None) -> Array:
    """Make an Array of another library's array; writable memory is copied.

    Raises BufferError for `copy=False`, TypeError for what has no ``__dlpack__``. Source:
    ``jax.dlpack.from_dlpack``.

    >>> from_dlpack(np.arange(3, dtype="int8"))
    Array([0, 1, 2], dtype=int8)
    """
    return numpy.from_dlpack(external_array, device=device, copy=copy)


def is_supported_dtype(dtype: Any) -> bool:
    """Tell whether DLPack carries arrays of a dtype between libraries.

    Source: ``jax.dlpack.is_supported_dtype``.

    >>> is_supported_dtype("bfloat16"), is_supported_dtype("int4")
    (True, False)
    """
    name = dtype if isinstance(dtype, str) else np.dtype(dtype).name
    known = dtypes.SUPPORTED.get(name)
    return known is not None and (known.kind in "biufc" or known == dtypes.bfloat16)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("dlpack", name)
