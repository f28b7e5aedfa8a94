"""Sums of products: the one primitive `dot_general`, and the matrix products made of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from operator import index
from typing import Any

import numpy as np
from numpy import ndarray

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.errors import user_line
from arrayport.core.following import Entries
from arrayport.core.primitive import Binary
from arrayport.core.quiet import QUIET, error_state, reset_errors, set_errors
from arrayport.core.trace import EVAL, current_stage
from arrayport.ops.placement import no_sharding
from arrayport.ops.precisions import canonical_precision
from arrayport.ops.promotion import common_shape, promote_dtypes
from arrayport.ops.structure import axis_of, convert, reshape, transpose

Axes = tuple[int, ...]
Pair = tuple[Axes, Axes]
DType = np.dtype[Any]

NO_AXES: Pair = ((), ())
COLUMNS_ROWS: Pair = ((1,), (0,))

# ---------------------------------------------------------------------------------------- primitive


def free_axes(rank: int, contract: Axes, batch: Axes) -> Axes:
    """List the axes of an operand that are neither summed over nor batched, ascending."""
    return tuple([i for i in range(rank) if i not in contract and i not in batch])


def _abstract(
    x: Any,
    y: Any,
    contract: Pair,
    batch: Pair,
    preferred_element_type: DType | None,
    precision: Any = None,  # noqa: ARG001 - a rule takes all parameters
) -> Aval:
    (cx, cy), (bx, by) = contract, batch
    for what, a, b in (("contracting", cx, cy), ("batch", bx, by)):
        m, n = tuple(x.shape[i] for i in a), tuple(y.shape[i] for i in b)
        if m != n:
            raise TypeError(
                f"dot_general requires {what} dimensions to have the same shape, got {m} and {n} "
                f"of operands {x.shape} and {y.shape}"
            )
    shape = (
        *[x.shape[i] for i in bx],
        *[x.shape[i] for i in free_axes(len(x.shape), cx, bx)],
        *[y.shape[i] for i in free_axes(len(y.shape), cy, by)],
    )
    return Aval(shape, preferred_element_type or x.dtype, x.weak and y.weak)


def _pull_x(
    g: Array,
    x: Any,
    y: Array,
    contract: Pair,
    batch: Pair,
    preferred_element_type: DType | None,
    precision: Any = None,
) -> Array:
    """Transpose with respect to x: contract g with y over the axes that only y had."""
    summed, alike, perm = _pulled_axes(len(x.shape), len(y.shape), contract, batch)
    if preferred_element_type is not None:
        y = convert(y, g.dtype, y.weak)
    params = {
        "contract": summed,
        "batch": alike,
        "preferred_element_type": None,
        "precision": precision,
    }
    ct = transpose(dot_general_p.apply(g, y, params), perm)
    return convert(ct, x.dtype, ct.weak) if preferred_element_type is not None else ct


@cache
def _pulled_axes(m: int, n: int, contract: Pair, batch: Pair) -> tuple[Pair, Pair, Axes]:
    """The axes of g and y to sum over, those of a batch, and where x's axes then stand."""
    (cx, cy), (bx, by) = contract, batch
    first, others = free_axes(m, cx, bx), free_axes(n, cy, by)
    count = len(bx) + len(first)
    made = (*bx, *first, *[cx[cy.index(c)] for c in sorted(cy)])
    perm = tuple([made.index(i) for i in range(m)])
    summed = tuple(range(count, count + len(others))), others
    return summed, (tuple(range(len(by))), by), perm


def _pull_y(
    g: Array,
    x: Array,
    y: Any,
    contract: Pair,
    batch: Pair,
    preferred_element_type: DType | None,
    precision: Any = None,
) -> Array:
    """Transpose with respect to y: that for x of the product the other way round."""
    (cx, cy), (bx, by) = contract, batch
    count, rank = len(bx), len(g.shape)
    mine = rank - len(free_axes(len(y.shape), cy, by))
    swapped = transpose(g, (*range(count), *range(mine, rank), *range(count, mine)))
    if isinstance(precision, tuple):
        precision = precision[::-1]
    return _pull_x(swapped, y, x, (cy, cx), (by, bx), preferred_element_type, precision)


def _batch(
    _size: int,
    xs: Sequence[Array],
    dims: Sequence[int | None],
    /,
    contract: Pair,
    batch: Pair,
    **params: Any,
) -> tuple[Array, int]:
    """A batch axis of both operands is one more batch axis, of one operand one more free axis."""
    (x, y), (dx, dy) = xs, dims
    (cx, bx), (cy, by) = (
        [tuple(i + (d is not None and i >= d) for i in axes) for axes in (contract[k], batch[k])]
        for k, d in enumerate(dims)
    )
    if dx is not None and dy is not None:
        bx, by, out = (dx, *bx), (dy, *by), 0
    else:
        first, out = free_axes(len(x.shape), cx, bx), len(bx)
        if dx is not None:
            out += first.index(dx)
        elif dy is not None:
            out += len(first) + free_axes(len(y.shape), cy, by).index(dy)
    return dot_general_p.bind(x, y, contract=(cx, cy), batch=(bx, by), **params), out


def _divide(
    entries: Sequence[Entries | None],
    xs: Sequence[Any],
    _outs: Any,
    contract: Pair,
    batch: Pair,
    **_: Any,
) -> list[Entries]:
    """The axes that are not summed are divided as they were."""
    left, right = (
        ((),) * len(x.shape) if e is None else e for x, e in zip(xs, entries, strict=True)
    )
    (cx, cy), (bx, by) = contract, batch
    rows = [left[i] for i in free_axes(len(left), cx, bx)]
    columns = [right[i] for i in free_axes(len(right), cy, by)]
    return [(*[left[i] for i in bx], *rows, *columns)]


dot_general_p = Binary(
    "dot_general", _abstract, _batch, transposes=(_pull_x, _pull_y), divide=_divide
)

# ---------------------------------------------------------------------------------------- functions


def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Sum products over any axes of two arrays.

    `dimension_numbers` is `((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))`. The
    answer has the batch axes, then lhs's other axes, then rhs's. Operands are promoted to one
    dtype, which the answer has too, unless `preferred_element_type` asks for another: then the
    products are summed in that. `precision` is JAX's; only accelerators read it. Raises TypeError
    where extents differ or axes repeat. Source: ``jax.lax.dot_general``.

    >>> import arrayport.numpy as anp, arrayport.lax as lax
    >>> lax.dot_general(anp.ones((5, 2, 3)), anp.ones((5, 3)), (((2,), (1,)), ((0,), (0,)))).shape
    (5, 2)
    """
    no_sharding(out_sharding, "dot_general")
    x, y = promote_dtypes((lhs, rhs), "dot_general")
    ((cx, cy), (bx, by)) = dimension_numbers
    cx, bx = _checked("lhs", x, cx, bx)
    cy, by = _checked("rhs", y, cy, by)
    return _product(x, y, (cx, cy), (bx, by), precision, preferred_element_type)


def _checked(name: str, x: Array, contract: Sequence[int], batch: Sequence[int]) -> Pair:
    axes = tuple(int(i) for i in (*contract, *batch))
    rank = len(x.shape)
    if any(not 0 <= i < rank for i in axes) or len(set(axes)) != len(axes):
        raise TypeError(
            f"dot_general: the contracting axes {tuple(contract)} and batch axes {tuple(batch)} of "
            f"{name} must be distinct and from 0 to {rank - 1}, for its shape is {x.shape}"
        )
    return axes[: len(contract)], axes[len(contract) :]


def _product(x: Array, y: Array, contract: Pair, batch: Pair, precision: Any, wanted: Any) -> Array:
    """Bind the primitive, its parameters made canonical."""
    params = {
        "contract": contract,
        "batch": batch,
        "precision": canonical_precision(precision),
        "preferred_element_type": preferred_dtype(x.dtype, wanted),
    }
    return dot_general_p.apply(x, y, params)


def preferred_dtype(dtype: DType, wanted: Any) -> DType | None:
    """Check `preferred_element_type`: the dtype to sum in, None where it is the operands' own."""
    if wanted is None:
        return None
    found = dtypes.canonicalize(wanted)
    if dtypes.is_integer(dtype) and dtypes.is_integer(found) and found.itemsize < dtype.itemsize:
        raise TypeError(
            f"preferred_element_type {found} is narrower than the operands' {dtype}: "
            "convert the answer with .astype instead"
        )
    return None if found == dtype else found


def matmul(
    a: Any,
    b: Any,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Multiply matrices, or stacks whose leading axes broadcast; a vector is a row or column.

    Shapes `(..., n, k)` and `(..., k, m)` give `(..., n, m)`. Raises ValueError for a scalar or
    leading axes that do not broadcast, TypeError where the summed extents differ. Source: the
    standard's ``matmul``, ``jax.numpy.matmul``.

    >>> import arrayport.numpy as anp
    >>> anp.matmul(anp.ones((2, 3)), anp.ones((3, 4))).shape
    (2, 4)
    """
    if type(a) is Array and type(b) is Array and current_stage() is EVAL:
        x, y = a.raw, b.raw
        if (
            (preferred_element_type is out_sharding is None and type(x) is type(y) is ndarray)
            and (x.dtype is y.dtype and x.ndim == y.ndim == 2)
            and x.shape[1] == y.shape[0]
            and (kernel := dot_general_p.quick.get(x.dtype)) is not None
        ):
            token = None if error_state() is QUIET else set_errors(QUIET)
            try:
                return Array(kernel(x, y, COLUMNS_ROWS, NO_AXES, None), a.weak and b.weak)
            finally:
                if token is not None:
                    reset_errors(token)
    no_sharding(out_sharding, "matmul")
    a, b = promote_dtypes((a, b), "an operand of matmul")
    return _product_of_stacks(a, b, precision, preferred_element_type)


def _product_of_stacks(a: Array, b: Array, precision: Any, wanted: Any) -> Array:
    """Multiply matrices whose leading axes broadcast, by one product of batches."""
    m, n = len(a.shape), len(b.shape)
    if not m or not n:
        raise ValueError(
            f"matmul needs arrays of one axis or more, but operand {int(m > 0)} has none: "
            "multiply by a scalar with *"
        )
    if m <= 2 and n <= 2:
        _check_fit("matmul", a, b)
        return _product(a, b, ((m - 1,), (0,)), NO_AXES, precision, wanted)
    # An axis of both stacks is a batch axis; one of extent 1 is left out, so it never stretches.
    rank = max(m, n, 2) - 2
    tail_a, tail_b = a.shape[-2:], b.shape[-2:]
    lead_a = (1,) * (rank - max(m - 2, 0)) + a.shape[:-2]
    lead_b = (1,) * (rank - max(n - 2, 0)) + b.shape[:-2]
    lead = common_shape(lead_a, lead_b)
    keep_a = [i for i in range(rank) if lead_a[i] != 1]
    keep_b = [i for i in range(rank) if lead_b[i] != 1]
    both = [i for i in keep_a if i in keep_b]
    _check_fit("matmul", a, b)
    out = _product(
        reshape(a, (*[lead_a[i] for i in keep_a], *tail_a)),
        reshape(b, (*[lead_b[i] for i in keep_b], *tail_b)),
        ((len(keep_a) + len(tail_a) - 1,), (len(keep_b),)),
        (tuple(keep_a.index(i) for i in both), tuple(keep_b.index(i) for i in both)),
        precision,
        wanted,
    )
    rows, columns = [rank] * (len(tail_a) - 1), [rank + 1] * (len(tail_b) - 1)
    only_a, only_b = ([i for i in keep if i not in both] for keep in (keep_a, keep_b))
    made = [*both, *only_a, *rows, *only_b, *columns]
    out = transpose(out, sorted(range(len(made)), key=made.__getitem__))
    return reshape(out, (*lead, *tail_a[:-1], *tail_b[1:]))


def _check_fit(name: str, a: Array, b: Array) -> None:
    """Raise TypeError unless the axes that are summed over are equally long."""
    rows = b.shape[-2:][0]
    if a.shape[-1] != rows:
        raise TypeError(
            f"{name}: shapes {a.shape} and {b.shape} do not fit at {user_line()}: the last axis of "
            f"the first has {a.shape[-1]} elements, which are summed over with the {rows} of the "
            f"second's {'only axis' if len(b.shape) == 1 else 'last axis but one'}"
        )


def dot(
    a: Any,
    b: Any,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Sum products over a's last axis and b's last but one (its only one, if b is a vector).

    A scalar multiplies. Raises TypeError where the extents differ. Source: ``jax.numpy.dot``.

    >>> import arrayport.numpy as anp
    >>> float(anp.dot(anp.arange(3.0), anp.arange(3.0)))
    5.0
    """
    no_sharding(out_sharding, "dot")
    x, y = promote_dtypes((a, b), "dot")
    m, n = len(x.shape), len(y.shape)
    contract = ((m - 1,), (max(n - 2, 0),)) if m and n else NO_AXES
    if contract is not NO_AXES:
        _check_fit("dot", x, y)
    return _product(x, y, contract, NO_AXES, precision, preferred_element_type)


def tensordot(
    a: Any,
    b: Any,
    axes: Any = 2,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Sum products over a's last and b's first `axes` axes, or over pairs `(axes_a, axes_b)`.

    Raises ValueError for axes that do not pair or exceed the ranks, TypeError where extents differ.
    Source: the standard's ``tensordot``, ``jax.numpy.tensordot``.

    >>> import arrayport.numpy as anp
    >>> anp.tensordot(anp.ones((2, 3, 4)), anp.ones((4, 3, 5)), ((1, 2), (1, 0))).shape
    (2, 5)
    """
    no_sharding(out_sharding, "tensordot")
    x, y = promote_dtypes((a, b), "tensordot")
    m, n = len(x.shape), len(y.shape)
    if isinstance(axes, Sequence) and not isinstance(axes, str):
        first, second = _pairing(axes)
        cx = tuple(axis_of(i, m, "tensordot") for i in first)
        cy = tuple(axis_of(i, n, "tensordot") for i in second)
        if len(cx) != len(cy):
            raise ValueError(f"tensordot: axes {axes} must list as many axes of a as of b")
    else:
        count = _pairing((axes, axes))[0][0]
        if not 0 <= count <= min(m, n):
            raise ValueError(f"tensordot: axes={count} must be from 0 to {min(m, n)} here")
        cx, cy = tuple(range(m - count, m)), tuple(range(count))
    return _product(x, y, (cx, cy), NO_AXES, precision, preferred_element_type)


def _pairing(axes: Sequence[Any]) -> tuple[list[int], list[int]]:
    """Give the axes of each operand as a list of integers."""
    try:
        first, second = (
            [index(i) for i in part] if isinstance(part, Sequence) else [index(part)]
            for part in axes
        )
    except (TypeError, ValueError):
        raise TypeError(
            f"tensordot: axes must be an integer or two sequences of them, not {axes!r}"
        ) from None
    return first, second
