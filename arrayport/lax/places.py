"""Parts of arrays at index vectors: what is read by several indices, and changed by a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from arrayport.control.loops import while_loop
from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.ops import elementwise, indexing, reductions, structure
from arrayport.ops.promotion import home_of, lift
from arrayport.ops.slices import stack_last
from arrayport.transforms.batching import vmap

__all__ = ["index_take", "scatter_apply"]


def index_take(src: Any, idxs: Any, axes: Sequence[int]) -> Array:
    """Read along several axes, by one vector of indices each; what is outside counts anew.

    The vectors' axis comes first, then those that are not among `axes`. Source:
    ``jax.lax.index_take``.

    >>> from arrayport import lax
    >>> lax.index_take(lax.iota("int32", 4), (lax.iota("int32", 6),), (0,))
    Array([0, 1, 2, 3, 0, 1], dtype=int32)
    """
    x = lift(src, home_of(*idxs), "src")
    indices = [lift(i, home_of(x), "idxs") for i in idxs]
    if len(indices) != len(axes) or any(len(i.shape) != 1 for i in indices):
        raise ValueError(f"index_take needs a vector of indices for each of axes {tuple(axes)}")
    wrapped = [elementwise.remainder(i, x.shape[a]) for i, a in zip(indices, axes, strict=True)]
    numbers = indexing.GatherDimensionNumbers(
        tuple(range(1, len(x.shape) - len(axes) + 1)), tuple(sorted(axes)), tuple(axes)
    )
    sizes = [1 if a in axes else n for a, n in enumerate(x.shape)]
    return indexing.gather(x, stack_last(wrapped), numbers, sizes, mode="promise_in_bounds")


def scatter_apply(
    operand: Any,
    scatter_indices: Any,
    func: Callable[[Any], Any],
    dimension_numbers: indexing.ScatterDimensionNumbers,
    *,
    update_shape: Sequence[int] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """Replace elements by `func` of them, a function of a scalar, once for each index that repeats.

    `update_shape` is that of the updates of a `scatter` with these indices and dimension numbers.
    Forward-mode derivatives only, unless `unique_indices`. Source: ``jax.lax.scatter_apply``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> lax.scatter_apply(anp.arange(3), anp.array([[1], [2], [2]]), lambda x: x * 10, numbers,
    ...                   update_shape=(3,))
    Array([  0,  10, 200], dtype=int32)
    """
    x = lift(operand, home_of(scatter_indices), "operand")
    times = indexing.scatter_add(
        structure.full_like(x.astype(dtypes.int32), 0),
        scatter_indices,
        structure.full_like(x.astype(dtypes.int32), 1, tuple(update_shape)),
        dimension_numbers,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        mode=mode,
    )
    each = vmap(func)

    def applied(value: Array, chosen: Array) -> Array:
        made = structure.reshape(each(structure.reshape(value, (prod(x.shape),))), x.shape)
        made = structure.convert(made, x.dtype, x.weak)
        return structure.convert(elementwise.select(chosen, made, value), x.dtype, x.weak)

    if unique_indices:
        return applied(x, times > 0)
    most = reductions.reduce_max(times) if x.size else structure.full_like(times, 0, ())

    def step(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        done, value = carry
        return done + 1, applied(value, times > done)

    return while_loop(lambda carry: carry[0] < most, step, (structure.zeros(most), x))[1]
