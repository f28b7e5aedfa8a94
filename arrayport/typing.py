"""What functions take: types for annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from arrayport.core.array import Array
from arrayport.core.names import absent

__all__ = ["ArrayLike", "DTypeLike"]


class SupportsDType(Protocol):
    """What has a dtype."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type."""
        raise NotImplementedError


ArrayLike: TypeAlias = (
    Array | np.ndarray[Any, Any] | np.bool_ | np.number[Any] | bool | int | float | complex
)
DTypeLike: TypeAlias = str | type[Any] | np.dtype[Any] | SupportsDType

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("typing", name)
