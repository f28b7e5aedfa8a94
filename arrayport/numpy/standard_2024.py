"""The namespace of the array API standard's version 2024.12: the newest's, but for what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport import numpy
from arrayport.core.array import Array
from arrayport.core.backend import Device
from arrayport.numpy import inspection

__array_api_version__ = "2024.12"

# ---- what is a list there, and a tuple since


class Info(inspection.Info):
    """The answers of `__array_namespace_info__`."""

    __slots__ = ()

    def devices(self) -> list[Device]:  # type: ignore[override]
        """List the devices of every backend present, the default backend's first."""
        return list(super().devices())


def __array_namespace_info__() -> Info:  # noqa: N807 - the standard's name
    """Say what the namespace can do. Source: the array API's ``__array_namespace_info__``."""
    return Info()


def broadcast_arrays(*arrays: Any) -> list[Array]:
    """Stretch arrays to their common shape. Source: the array API's ``broadcast_arrays``."""
    return list(numpy.broadcast_arrays(*arrays))


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Array]:
    """Make of vectors one array each that holds their coordinates over the whole grid.

    Source: the array API's ``meshgrid``.
    """
    return list(numpy.meshgrid(*arrays, indexing=indexing))


# ---- all else

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        return getattr(numpy, name)


def __dir__() -> list[str]:
    return dir(numpy)
