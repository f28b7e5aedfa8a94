"""Integrals of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.core.names import absent
from arrayport.numpy import trapezoid

__all__ = ["trapezoid"]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("scipy.integrate", name)
