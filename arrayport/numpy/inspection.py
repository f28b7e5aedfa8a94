"""What the array API standard's namespace says of itself: version, devices, dtypes, abilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.core import backend as backends
from arrayport.core import dtypes
from arrayport.core.backend import Device
from arrayport.numpy.scalars import isdtype
from arrayport.ops import placement

__all__ = ["__array_api_version__", "__array_namespace_info__"]

__array_api_version__ = "2025.12"

DType = np.dtype[Any]
# The standard's dtypes, whose names are NumPy's.
NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)


class Info:
    """The answers of `__array_namespace_info__`; those about dtypes follow `enable_x64`."""

    __slots__ = ()

    def capabilities(self) -> dict[str, Any]:
        """Say what the standard leaves open; data-dependent shapes work outside `jit`.

        >>> Info().capabilities()["boolean indexing"]
        True
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """Name the device where arrays are made that no operand places."""
        return backends.ambient().devices()[0]

    def devices(self) -> tuple[Device, ...]:
        """Name the devices of every backend present, the default backend's first."""
        return tuple(placement.all_devices())

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """Give the dtypes of Python numbers and of indices; they are the same on every device.

        >>> Info().default_dtypes()["real floating"]
        dtype('float32')
        """
        placement.resolve(device)
        return {
            "real floating": dtypes.default_float(),
            "complex floating": dtypes.default_complex(),
            "integral": dtypes.default_int(),
            "indexing": dtypes.default_int(),
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        """Give the standard's dtypes that exist, by name; `kind` selects as in `isdtype`.

        >>> sorted(Info().dtypes(kind=("bool", "complex floating")))
        ['bool', 'complex64']
        """
        placement.resolve(device)
        found = {name: dtypes.SUPPORTED[name] for name in NAMES}
        return {
            name: dtype
            for name, dtype in found.items()
            if dtypes.canonicalize(dtype) == dtype and (kind is None or isdtype(dtype, kind))
        }


def __array_namespace_info__() -> Info:  # noqa: N807 - the standard's name
    """Say what the namespace can do, on which devices, with which dtypes.

    Source: the array API's ``__array_namespace_info__``.

    >>> import arrayport.numpy as anp
    >>> anp.__array_namespace_info__().default_dtypes()["integral"]
    dtype('int32')
    """
    return Info()
