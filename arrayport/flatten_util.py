"""A pytree as one vector, under JAX's module name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.core.names import absent
from arrayport.numpy.vectors import ravel_pytree

__all__ = ["ravel_pytree"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("flatten_util", name)
