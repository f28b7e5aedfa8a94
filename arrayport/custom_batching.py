"""JAX's custom_batching: functions that say themselves how vmap maps them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.control.custom_batching import custom_vmap, sequential_vmap
from arrayport.core.names import absent

__all__ = ["custom_vmap", "sequential_vmap"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("custom_batching", name)
