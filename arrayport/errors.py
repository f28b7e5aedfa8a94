"""The errors that arrayport raises, for `except` clauses."""

from __future__ import annotations

from arrayport.core.errors import (
    ArrayportError,
    BackendMismatchError,
    BackendNotFoundError,
    ConcretizationTypeError,
    NonConcreteBooleanIndexError,
    NotDifferentiableError,
    ProgramError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
    UnsupportedOnBackendError,
)

__all__ = [
    "ArrayportError",
    "BackendMismatchError",
    "BackendNotFoundError",
    "ConcretizationTypeError",
    "NonConcreteBooleanIndexError",
    "NotDifferentiableError",
    "ProgramError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "UnexpectedTracerError",
    "UnsupportedOnBackendError",
]
