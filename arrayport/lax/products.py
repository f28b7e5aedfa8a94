"""Products: of vectors and matrices, of rows that come in groups, of blocks with a scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.ops import products
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import logical_and, select
from arrayport.ops.placement import no_sharding
from arrayport.ops.products import dot_general, free_axes
from arrayport.ops.promotion import home_of, lift, lift_all, promote_dtypes
from arrayport.ops.reductions import cumsum
from arrayport.ops.structure import (
    broadcast_in_dim,
    constant,
    convert,
    move_axis,
    reshape,
    transpose,
)
from arrayport.transforms.engines import run_on_engine

__all__ = [
    "RaggedDotDimensionNumbers",
    "batch_matmul",
    "dot",
    "ragged_dot",
    "ragged_dot_general",
    "scaled_dot",
]


def dot(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Multiply vectors and matrices, or as `dot_general` does. Source: ``jax.lax.dot``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> lax.dot(anp.arange(3), anp.arange(3))
    Array(5, dtype=int32)
    """
    no_sharding(out_sharding, "dot")
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    if dimension_numbers is not None:
        return dot_general(lhs, rhs, dimension_numbers, **options)
    x, y = lift_all((lhs, rhs))
    if not 1 <= len(x.shape) <= 2 or not 1 <= len(y.shape) <= 2 or x.shape[-1] != y.shape[0]:
        raise TypeError(f"lax.dot multiplies vectors and matrices, not {x.shape} and {y.shape}")
    return products.dot(x, y, **options)


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Array:
    """Multiply stacks of matrices with equal leading axes. Source: ``jax.lax.batch_matmul``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> lax.batch_matmul(anp.ones((2, 1, 3)), anp.ones((2, 3, 4))).shape
    (2, 1, 4)
    """
    x, y = lift_all((lhs, rhs))
    if len(x.shape) < 2 or len(x.shape) != len(y.shape) or x.shape[:-2] != y.shape[:-2]:
        raise ValueError(f"batch_matmul needs equal leading axes, not {x.shape} and {y.shape}")
    return products.matmul(x, y, precision=precision)


class RaggedDotDimensionNumbers(NamedTuple):
    """What `ragged_dot_general` sums and batches, where lhs is ragged, and where rhs has groups.

    Source: ``jax.lax.RaggedDotDimensionNumbers``.

    >>> from arrayport import lax, numpy as anp
    >>> rows = lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
    >>> factors = anp.array([[[1.0], [1.0]], [[5.0], [5.0]]])  # a matrix (2, 1) for each group
    >>> lax.ragged_dot_general(anp.ones((3, 2)), factors, anp.array([1, 2]), rows).T
    Array([[ 2., 10., 10.]], dtype=float32)
    """

    dot_dimension_numbers: Any
    lhs_ragged_dimensions: Sequence[int]
    rhs_group_dimensions: Sequence[int]


ROWS = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))


def ragged_dot(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Multiply the rows of lhs (m, k), group after group, by the matrices of rhs (g, k, n).

    `group_sizes` (g,) says how many rows each group has; rows behind the last give 0. Source:
    ``jax.lax.ragged_dot``.

    >>> import arrayport.numpy as anp
    >>> from arrayport import lax
    >>> lax.ragged_dot(anp.ones((3, 2)), anp.ones((2, 2, 1)), anp.array([1, 1]))[:, 0]
    Array([2., 2., 0.], dtype=float32)
    """
    return ragged_dot_general(
        *(lhs, rhs, group_sizes, ROWS, precision, preferred_element_type),
        *(group_offset, out_sharding),
    )


def ragged_dot_general(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Sum products of operands of which one axis comes in groups of `group_sizes`.

    The ragged axis of lhs is one of its own (rhs then has an axis of groups), a summed one (the
    answer then has groups in front), or a batch axis. Sizes are (g,), or have an axis for each
    batch axis and each axis before the ragged one. Source: ``jax.lax.ragged_dot_general``.

    >>> import arrayport.numpy as anp
    >>> from arrayport import lax
    >>> numbers = lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0])
    >>> lhs, rhs = anp.ones((3, 2)), anp.array([[[1.0], [1.0]], [[5.0], [5.0]]])
    >>> lax.ragged_dot_general(lhs, rhs, anp.array([1, 2]), numbers).ravel()
    Array([ 2., 10., 10.], dtype=float32)
    """
    no_sharding(out_sharding, "ragged_dot_general")
    if group_offset is not None:
        raise NotImplementedError(
            "ragged_dot_general takes no group_offset: leave it out, and give the groups it leaves"
        )
    numbers = RaggedDotDimensionNumbers(*ragged_dot_dimension_numbers)
    if (
        len(tuple(numbers.lhs_ragged_dimensions)) != 1
        or len(tuple(numbers.rhs_group_dimensions)) > 1
    ):
        raise TypeError(
            f"ragged_dot_general takes one ragged axis and at most one of groups, not {numbers}"
        )
    arguments = (lhs, rhs, group_sizes, numbers, precision, preferred_element_type)
    return run_on_engine("ragged_dot_general", _ragged, (lhs, rhs, group_sizes), *arguments)


def _ragged(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    numbers: RaggedDotDimensionNumbers,
    precision: Any,
    preferred_element_type: Any,
) -> Array:
    x, y = promote_dtypes((lhs, rhs), "ragged_dot_general")
    sizes = lift(group_sizes, home_of(x), "group_sizes")
    if not dtypes.is_integer(sizes.dtype):
        raise TypeError(f"group_sizes must be integers, not {sizes.dtype}")
    ((cx, cy), (bx, by)) = numbers.dot_dimension_numbers
    cx, cy, bx, by = (tuple(axes) for axes in (cx, cy, bx, by))
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    (axis,) = numbers.lhs_ragged_dimensions
    if axis in bx:  # a batch comes group by group already
        return dot_general(x, y, ((cx, cy), (bx, by)), **options)
    kind = cx if axis in cx else free_axes(len(x.shape), cx, bx)
    lead = (*bx, *[a for a in kind if kind.index(a) < kind.index(axis)])
    grouped = _by_group(x, sizes, axis, lead)
    own = [tuple(a + 1 for a in axes) for axes in (cx, bx)]
    if axis in cx:
        out = dot_general(grouped, y, ((own[0], cy), (own[1], by)), **options)
        return move_axis(out, len(bx), 0)
    (group,) = numbers.rhs_group_dimensions
    return dot_general(grouped, y, (((0, *own[0]), (group, *cy)), (own[1], by)), **options)


def _by_group(x: Array, sizes: Array, axis: int, lead: tuple[int, ...]) -> Array:
    """Give a copy of x for each group, in which the other groups are 0."""
    if len(sizes.shape) not in {1, len(lead) + 1}:
        raise ValueError(
            f"group_sizes of shape {sizes.shape} must have one axis, or {len(lead) + 1}"
        )
    lead = lead if len(sizes.shape) > 1 else ()
    ends = cumsum(sizes, len(sizes.shape) - 1)
    bounds = [move_axis(v, len(v.shape) - 1, 0) for v in (ends - sizes, ends)]
    order = sorted(range(len(lead)), key=lead.__getitem__)
    shape = (sizes.shape[-1], *x.shape)
    place = iota_like(x, sizes.dtype, axis + 1, shape)
    low, high = (
        broadcast_in_dim(
            transpose(v, (0, *[i + 1 for i in order])), shape, (0, *[lead[i] + 1 for i in order])
        )
        for v in bounds
    )
    wide = broadcast_in_dim(x, shape, range(1, len(shape)))
    return select(logical_and(place >= low, place < high), wide, constant(0, wide))


# ---- blocks with a scale


def scaled_dot(
    lhs: Any,
    rhs: Any,
    *,
    lhs_scale: Any = None,
    rhs_scale: Any = None,
    dimension_numbers: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Sum products of operands times their scales, each of which holds for a block.

    A scale has its operand's axes, the summed ones perhaps shorter, by a divisor. Without
    `dimension_numbers` matrices are multiplied, all axes before the last two being a batch. The
    answer is bfloat16 unless another dtype is preferred. Source: ``jax.lax.scaled_dot``.

    >>> import arrayport.numpy as anp
    >>> from arrayport import lax
    >>> x, scale = anp.ones((2, 4)), anp.ones((2, 2)) * 3
    >>> float(lax.scaled_dot(x, x.T, lhs_scale=scale)[0, 0])
    12.0
    """
    home = home_of(lhs, rhs)
    x, y = lift(lhs, home, "lhs"), lift(rhs, home, "rhs")
    if dimension_numbers is None:
        lead = tuple(range(len(x.shape) - 2))
        dimension_numbers = (((len(lead) + 1,), (len(lead),)), (lead, lead))
    wanted = dtypes.bfloat16 if preferred_element_type is None else preferred_element_type
    wide = dtypes.promote_types(dtypes.float32, dtypes.canonicalize(wanted))
    x, y = _scaled(x, lhs_scale, wide, "lhs_scale"), _scaled(y, rhs_scale, wide, "rhs_scale")
    return convert(dot_general(x, y, dimension_numbers), dtypes.canonicalize(wanted))


def _scaled(x: Array, scale: Any, wide: Any, name: str) -> Array:
    """Multiply an operand by its scale."""
    x = convert(x, wide)
    if scale is None:
        return x
    s = convert(lift(scale, home_of(x), name), wide)
    if len(s.shape) != len(x.shape) or any(
        not k or n % k for n, k in zip(x.shape, s.shape, strict=True)
    ):
        raise ValueError(f"{name} of shape {s.shape} does not divide its operand's {x.shape}")
    split = [e for n, k in zip(x.shape, s.shape, strict=True) for e in (k, n // k)]
    blocks = reshape(x, split)
    return reshape(blocks * broadcast_in_dim(s, split, range(0, len(split), 2)), x.shape)
