"""Convolution on JAX: one primitive, one call."""

from __future__ import annotations

from typing import Any

from jax import lax

from arrayport.ops.convolution import ConvDimensionNumbers, conv_general_dilated_p


def convolve(lhs: Any, rhs: Any, dimension_numbers: ConvDimensionNumbers, **other: Any) -> Any:
    """Convolve, with dimension numbers of JAX's own class."""
    numbers = lax.ConvDimensionNumbers(**vars(dimension_numbers))
    return lax.conv_general_dilated(lhs, rhs, dimension_numbers=numbers, **other)


ROWS = {conv_general_dilated_p: convolve}
