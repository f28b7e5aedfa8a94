"""Sorting: by one key or several, the order that sorts, and the largest elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.lib.array_utils import normalize_axis_index

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.primitive import Primitive
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import neg
from arrayport.ops.indexing import take_along
from arrayport.ops.promotion import lift, lift_all
from arrayport.ops.structure import convert, in_front


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:  # noqa: ARG001
    """Sort along an axis; of several operands the first `num_keys` decide. Source: `jax.lax.sort`.

    Gives an Array for an Array and a tuple for a sequence. Ascending; NaN comes last, zeros of both
    signs are equal, complex numbers go by their real, then their imaginary parts. What is equal
    keeps its order, whatever `is_stable` says. Raises TypeError for shapes that differ.

    >>> from arrayport import lax
    >>> lax.sort((lax.full((3,), 1), lax.iota("int32", 3)), num_keys=1)[1]
    Array([0, 1, 2], dtype=int32)
    """
    single = not isinstance(operand, tuple | list)
    xs = lift_all((operand,) if single else operand)
    if not 1 <= num_keys <= len(xs):
        raise ValueError(
            f"sort of {len(xs)} operands needs num_keys from 1 to that, not {num_keys}"
        )
    if any(x.shape != xs[0].shape for x in xs):
        raise TypeError(
            f"sort needs operands of one shape, not {', '.join(str(x.shape) for x in xs)}"
        )
    dimension = normalize_axis_index(dimension, len(xs[0].shape))
    outs = sort_p.bind(*xs, dimension=dimension, num_keys=num_keys)
    return outs[0] if single else tuple(outs)


def _sort_batch(size: int, xs: Any, dims: Any, /, dimension: int, num_keys: int) -> Any:
    ys = in_front(size, xs, dims)
    return sort_p.bind(*ys, dimension=dimension + 1, num_keys=num_keys), [0] * len(ys)


def _sort_jvp(
    ts: Sequence[Array | None], _ans: Any, *xs: Array, dimension: int, num_keys: int
) -> list[Array | None]:
    """Tangents go where their values went."""
    places = iota_like(xs[0], dtypes.int32, dimension)
    order = sort_p.bind(*xs[:num_keys], places, dimension=dimension, num_keys=num_keys)[-1]
    return [None if t is None else take_along(t, order, dimension) for t in ts]


def _sort_abstract(*xs: Any, dimension: int, num_keys: int) -> list[Aval]:  # noqa: ARG001
    if any(dtypes.is_key(x.dtype) for x in xs[:num_keys]):
        raise dtypes.no_number()
    return [Aval(x.shape, x.dtype, all(y.weak for y in xs)) for x in xs]


sort_p = Primitive(
    "sort",
    _sort_abstract,
    _sort_batch,
    jvp=_sort_jvp,
    many=True,
)


def sort_key_val(
    keys: Any, values: Any, dimension: int = -1, is_stable: bool = True
) -> tuple[Array, Array]:
    """Sort keys along an axis, and values with them. Source: ``jax.lax.sort_key_val``.

    >>> from arrayport import lax
    >>> import arrayport.numpy as anp
    >>> lax.sort_key_val(anp.array([2, 1]), anp.array([5, 6]))
    (Array([1, 2], dtype=int32), Array([6, 5], dtype=int32))
    """
    k, v = sort((keys, values), dimension=dimension, is_stable=is_stable, num_keys=1)
    return k, v


def argsort(operand: Any, dimension: int = -1, index_dtype: Any = "int32") -> Array:
    """Give the order of indices along an axis that sorts it, as `sort` does; equals keep theirs."""
    x = lift(operand, None, "operand")
    dimension = normalize_axis_index(dimension, len(x.shape))
    places = iota_like(x, dtypes.canonicalize(index_dtype), dimension)
    return sort_p.bind(x, places, dimension=dimension, num_keys=1)[1]


def top_k(
    operand: Any,
    k: int,
    *,
    axis: int = -1,
    is_stable: bool = True,  # noqa: ARG001 - it is always, which False does not forbid
) -> tuple[Array, Array]:
    """Give the k largest elements along an axis, descending, and their indices (int32).

    Of equal elements the lower index comes first, whatever `is_stable` is. Floats are in total
    order: NaN above all (below all if its sign bit is set), 0.0 above -0.0. Raises ValueError for a
    k that does not fit, TypeError for complex numbers. Source: `jax.lax.top_k`.

    >>> from arrayport import lax
    >>> lax.top_k(lax.iota("int32", 5), 2)
    (Array([4, 3], dtype=int32), Array([4, 3], dtype=int32))
    """
    x = lift(operand, None, "operand")
    if dtypes.is_complex(x.dtype):
        raise TypeError(
            "top_k does not order complex numbers: take it of their modulus or real part"
        )
    axis = normalize_axis_index(axis, len(x.shape))
    if not 0 <= k <= x.shape[axis]:
        raise ValueError(
            f"top_k needs k from 0 to {x.shape[axis]}, the extent of axis {axis}, not {k}"
        )
    values, indices = top_k_p.bind(x, k=int(k), axis=axis)
    return convert(values, x.dtype, x.weak), indices


def _top_k_abstract(x: Any, k: int, axis: int) -> list[Aval]:
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    return [Aval(shape, x.dtype), Aval(shape, dtypes.int32)]


def _top_k_batch(_size: int, xs: Any, dims: Any, /, k: int, axis: int) -> Any:
    return top_k_p.bind(xs[0], k=k, axis=axis + (axis >= dims[0])), [dims[0]] * 2


top_k_p = Primitive(
    "top_k",
    _top_k_abstract,
    _top_k_batch,
    jvp=lambda ts, ans, _x, k, axis: [take_along(ts[0], ans[1], axis), None],  # noqa: ARG005
    many=True,
    keeps_weak=False,
)


def approx_max_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,  # noqa: ARG001 - of approximations
    aggregate_to_topk: bool = True,
) -> tuple[Array, Array]:
    """Give k of the largest elements along an axis, descending, and their indices (int32).

    They are the largest: all backends find them exactly, whatever `recall_target` would allow.
    Without `aggregate_to_topk` all elements come, descending. Raises ValueError for integers.
    Source: ``jax.lax.approx_max_k``.

    >>> from arrayport import lax
    >>> lax.approx_max_k(lax.iota("float32", 5), 2)[1]
    Array([4, 3], dtype=int32)
    """
    x = lift(operand, None, "operand")
    if not dtypes.is_floating(x.dtype):
        raise ValueError(
            f"approx_max_k takes floats, not {x.dtype}: use top_k, or cast with astype"
        )
    if not 0 < recall_target <= 1:
        raise ValueError(f"recall_target must be above 0 and at most 1, not {recall_target}")
    axis = normalize_axis_index(reduction_dimension, len(x.shape))
    return top_k(x, k if aggregate_to_topk else x.shape[axis], axis=axis)


def approx_min_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Array, Array]:
    """Give k of the smallest elements along an axis, ascending, and their indices.

    Source: ``jax.lax.approx_min_k``; `approx_max_k` says the rest.

    >>> from arrayport import lax
    >>> lax.approx_min_k(lax.iota("float32", 5), 2)[0]
    Array([0., 1.], dtype=float32)
    """
    values, places = approx_max_k(
        neg(lift(operand, None, "operand")),
        *(k, reduction_dimension, recall_target),
        *(reduction_input_size_override, aggregate_to_topk),
    )
    return neg(values), places
