"""A pytree as one vector."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array, aval_of
from arrayport.core.tree import tree_flatten, tree_unflatten
from arrayport.numpy.creation import zeros
from arrayport.ops.promotion import lift, lift_all, promote_dtypes
from arrayport.ops.shapes import concatenate, split
from arrayport.ops.structure import convert, reshape

__all__ = ["ravel_pytree"]


def ravel_pytree(pytree: Any) -> tuple[Array, Callable[[Any], Any]]:
    """Make one vector of all numbers of a pytree, and the function that undoes it.

    The vector's dtype is that to which the leaves promote; each leaf gets its own back. What undoes
    it raises TypeError for another dtype, ValueError for another shape than the vector's. Source:
    ``jax.flatten_util.ravel_pytree``.

    >>> vector, unravel = ravel_pytree({"a": 1.0, "b": (2.0, 3.0)})
    >>> vector
    Array([1., 2., 3.], dtype=float32)
    >>> unravel(vector)["a"]
    Array(1., dtype=float32)
    """
    leaves, tree = tree_flatten(pytree)
    xs = lift_all(leaves, "a leaf")
    avals = [aval_of(x) for x in xs]
    flat = [reshape(x, (x.size,)) for x in promote_dtypes(xs, "a leaf")] if xs else [zeros(0)]
    whole = concatenate([convert(x, x.dtype) for x in flat], 0)

    def unravel(vector: Any) -> Any:
        x = _checked(vector, whole.dtype, whole.shape[0])
        parts = split(x, [prod(v.shape) for v in avals]) if avals else []
        made = []
        for part, v in zip(parts, avals, strict=True):
            if dtypes.is_complex(part.dtype) and not dtypes.is_complex(v.dtype):
                part = part.real  # noqa: PLW2901
            made.append(convert(reshape(part, v.shape), v.dtype))
        return tree_unflatten(tree, made)

    return whole, unravel


def _checked(vector: Any, dtype: Any, size: int) -> Array:
    x = lift(vector, None, "the vector")
    if dtype is not None and x.dtype != dtype:
        raise TypeError(f"the vector to unravel has dtype {x.dtype}, it was raveled as {dtype}")
    if x.shape != (size,):
        raise ValueError(f"the vector to unravel has shape {x.shape}, it was raveled as ({size},)")
    return x
