"""The namespace of the array API standard's version 2024.12: the newest's, but for what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport import numpy
from arrayport.numpy import inspection

__array_api_version__ = "2024.12"


class Info(inspection.Info):
    """The answers of `__array_namespace_info__`, in the types of that version."""

    __slots__ = ()

    def devices(self) -> list[Any]:  # type: ignore[override]  # a tuple only since 2025.12
        """List the devices of every backend present, the default backend's first."""
        return list(super().devices())


def __array_namespace_info__() -> Info:  # noqa: N807 - the standard's name
    """Say what the namespace can do. Source: the array API's ``__array_namespace_info__``."""
    return Info()


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        return getattr(numpy, name)


def __dir__() -> list[str]:
    return dir(numpy)
