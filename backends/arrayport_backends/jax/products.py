"""Products on JAX: one primitive, one call."""

from __future__ import annotations

from typing import Any

from jax import lax

from arrayport.ops.precisions import DotAlgorithm
from arrayport.ops.products import dot_general_p


def dot_general(
    x: Any, y: Any, contract: Any, batch: Any, precision: Any = None, **other: Any
) -> Any:
    """Sum products, by an algorithm of JAX's own class if one is asked for."""
    if isinstance(precision, DotAlgorithm):
        precision = lax.DotAlgorithm(*precision)
    return lax.dot_general(x, y, (contract, batch), precision=precision, **other)


ROWS = {dot_general_p: dot_general}
