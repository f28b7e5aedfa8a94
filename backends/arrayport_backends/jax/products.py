"""Products on JAX: one primitive, one call; and those that JAX has kernels of its own for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax import lax

from arrayport.ops.precisions import DotAlgorithm
from arrayport.ops.products import dot_general_p
from arrayport_backends.jax.faults import translating
from arrayport_backends.jax.leaves import OURS, rewrap, unwrap

theirs: Any = lax  # of which some functions have no types


def known(precision: Any) -> Any:
    """Give a precision, an algorithm as JAX's own class."""
    return lax.DotAlgorithm(*precision) if isinstance(precision, DotAlgorithm) else precision


def dot_general(
    x: Any, y: Any, contract: Any, batch: Any, precision: Any = None, **other: Any
) -> Any:
    """Sum products."""
    return lax.dot_general(x, y, (contract, batch), precision=known(precision), **other)


@translating
def ragged_dot_general(
    lhs: Any, rhs: Any, group_sizes: Any, numbers: Any, precision: Any, preferred: Any
) -> Any:
    """Sum products of an operand that comes in groups."""
    (x, y, sizes), _ = unwrap((lhs, rhs, group_sizes))
    own = theirs.RaggedDotDimensionNumbers(*numbers)
    out = theirs.ragged_dot_general(x, y, sizes, own, known(precision), preferred)
    return rewrap(out, OURS)


@translating
def scaled_dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    preferred: Any,
    configs: Sequence[Any],
    implementation: Any,
) -> Any:
    """Sum products of operands that are rounded block by block."""
    (x, y), _ = unwrap((lhs, rhs))
    own = [jax.nn.get_scaled_dot_general_config(c.mode, unwrap(c.global_scale)[0]) for c in configs]
    out = jax.nn.scaled_dot_general(x, y, dimension_numbers, preferred, own, implementation)
    return rewrap(out, OURS)


ROWS = {dot_general_p: dot_general}
