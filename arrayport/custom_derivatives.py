"""JAX's custom_derivatives: functions that bring their own derivative, and what their rules see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.control.closures import closure_convert, custom_gradient
from arrayport.control.custom_jvp import custom_jvp
from arrayport.control.custom_rules import SymbolicZero, zero_from_primal
from arrayport.control.custom_vjp import (
    CustomVJPPrimal,
    custom_vjp,
    custom_vjp_primal_tree_values,
)
from arrayport.control.linear_calls import linear_call
from arrayport.core.names import absent

__all__ = [
    "CustomVJPPrimal",
    "SymbolicZero",
    "closure_convert",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "custom_vjp_primal_tree_values",
    "linear_call",
    "zero_from_primal",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("custom_derivatives", name)
