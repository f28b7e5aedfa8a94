"""Products, sums, sorting by keys, scans by any function, and maps over the leading axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayport.control.scanning import scan
from arrayport.core.array import Array
from arrayport.core.tree import tree_flatten, tree_leaves, tree_map, tree_unflatten
from arrayport.lax.elementwise import NUMERIC, takes
from arrayport.ops import products, reductions, structure
from arrayport.ops.products import dot_general
from arrayport.ops.promotion import home_of, lift, lift_all
from arrayport.ops.shapes import concatenate
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.sorting import sort
from arrayport.transforms.batching import vmap

__all__ = [
    "associative_scan",
    "batch_matmul",
    "dot",
    "map",
    "reduce_sum",
    "sort_key_val",
]

# ---- products, reductions, order


def dot(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Multiply vectors and matrices, or as `dot_general` does. Source: ``jax.lax.dot``."""
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    if dimension_numbers is not None:
        return dot_general(lhs, rhs, dimension_numbers, **options)
    x, y = lift_all((lhs, rhs))
    if not 1 <= len(x.shape) <= 2 or not 1 <= len(y.shape) <= 2 or x.shape[-1] != y.shape[0]:
        raise TypeError(f"lax.dot multiplies vectors and matrices, not {x.shape} and {y.shape}")
    return products.dot(x, y, **options)


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Array:
    """Multiply stacks of matrices with equal leading axes. Source: ``jax.lax.batch_matmul``."""
    x, y = lift_all((lhs, rhs))
    if len(x.shape) < 2 or len(x.shape) != len(y.shape) or x.shape[:-2] != y.shape[:-2]:
        raise ValueError(f"batch_matmul needs equal leading axes, not {x.shape} and {y.shape}")
    return products.matmul(x, y, precision=precision)


def reduce_sum(operand: Any, axes: Sequence[int]) -> Array:
    """Sum over axes, in the operand's dtype. Source: ``jax.lax.reduce_sum``."""
    x = takes(lift(operand, None, "operand"), NUMERIC, "reduce_sum")
    return structure.reduce_sum(x, [structure.axis_of(a, len(x.shape), "axes") for a in axes])


def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """Combine all up to each place of an axis, in logarithmic depth; from it, if `reverse`.

    `fn` takes and gives pytrees like `elems`, works on any extent of the axis, and is associative.
    Source: ``jax.lax.associative_scan``.

    >>> import arrayport.numpy as anp
    >>> from arrayport import lax
    >>> lax.associative_scan(anp.multiply, anp.arange(1, 5))
    Array([ 1,  2,  6, 24], dtype=int32)
    """
    leaves, treedef = tree_flatten(elems)
    xs = [lift(x, home_of(*leaves), "elems") for x in leaves]
    axis = structure.axis_of(axis, len(xs[0].shape), "axis")
    step = -1 if reverse else 1
    if len({x.shape[axis] for x in xs}) > 1:
        raise ValueError(f"associative_scan: axis {axis} of the elements differs in extent")

    def turned(xs: Sequence[Array]) -> list[Array]:
        return [slice_in_dim(x, None, None, step, axis) for x in xs] if reverse else list(xs)

    def combine(a: Any, b: Any) -> Any:
        out = fn(tree_unflatten(treedef, a), tree_unflatten(treedef, b))
        return tuple([lift(x) for x in tree_leaves(out)])

    found = reductions.prefixes(combine, tuple(turned(xs)), axis)  # type: ignore[arg-type]
    return tree_unflatten(treedef, turned(found))


def sort_key_val(
    keys: Any, values: Any, dimension: int = -1, is_stable: bool = True
) -> tuple[Array, Array]:
    """Sort keys along an axis, and values with them. Source: ``jax.lax.sort_key_val``."""
    k, v = sort((keys, values), dimension=dimension, is_stable=is_stable, num_keys=1)
    return k, v


# ---- control


def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """Apply a function to the parts of the leading axis, one after the other, and stack.

    With `batch_size` so many at once, by `vmap`. Source: ``jax.lax.map``.

    >>> import arrayport.numpy as anp
    >>> from arrayport import lax
    >>> lax.map(lambda x: x + 1, anp.arange(3))
    Array([1, 2, 3], dtype=int32)
    """
    if batch_size is None:
        return scan(lambda _, x: (None, f(x)), None, xs)[1]
    xs = tree_map(lift, xs)
    sizes: list[int] = []
    tree_map(lambda x: sizes.append(x.shape[0]), xs)
    whole = sizes[0] // batch_size * batch_size
    head = tree_map(
        lambda x: structure.reshape(x[:whole], (whole // batch_size, batch_size, *x.shape[1:])), xs
    )
    done = scan(lambda _, x: (None, vmap(f)(x)), None, head)[1]
    done = tree_map(lambda y: structure.reshape(y, (whole, *y.shape[2:])), done)
    if whole == sizes[0]:
        return done
    rest = vmap(f)(tree_map(lambda x: x[whole:], xs))
    return tree_map(lambda a, b: concatenate([a, b], 0), done, rest)
