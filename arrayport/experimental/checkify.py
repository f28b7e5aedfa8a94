"""JAX's experimental.checkify: errors as values, through every transformation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.control.checkify import checkify
from arrayport.control.checks import (
    Error,
    ErrorCategory,
    all_checks,
    automatic_checks,
    check,
    check_error,
    debug_check,
    div_checks,
    float_checks,
    index_checks,
    init_error,
    nan_checks,
    user_checks,
)
from arrayport.core.names import absent

__all__ = [
    "Error",
    "ErrorCategory",
    "all_checks",
    "automatic_checks",
    "check",
    "check_error",
    "checkify",
    "debug_check",
    "div_checks",
    "float_checks",
    "index_checks",
    "init_error",
    "nan_checks",
    "user_checks",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("experimental.checkify", name)
