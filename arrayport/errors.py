"""The errors that arrayport raises, for `except` clauses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.core.errors import (
    ArrayportError,
    BackendMismatchError,
    BackendNotFoundError,
    ConcretizationTypeError,
    JAXIndexError,
    JaxprTypeError,
    JaxRuntimeError,
    JAXTypeError,
    KeyReuseError,
    NonConcreteBooleanIndexError,
    NotDifferentiableError,
    ProgramError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    TypePromotionError,
    UnexpectedTracerError,
    UnsupportedOnBackendError,
)
from arrayport.core.names import absent

__all__ = [
    "ArrayportError",
    "BackendMismatchError",
    "BackendNotFoundError",
    "ConcretizationTypeError",
    "JAXIndexError",
    "JAXTypeError",
    "JaxRuntimeError",
    "JaxprTypeError",
    "KeyReuseError",
    "NonConcreteBooleanIndexError",
    "NotDifferentiableError",
    "ProgramError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "TypePromotionError",
    "UnexpectedTracerError",
    "UnsupportedOnBackendError",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("errors", name)
