"""NumPy's and CuPy's kernels for casting, filling, broadcasting, reshaping, transposing, sums."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.ops import structure as ops
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows
from arrayport_backends.ndarray.scalars import DType

Raw = Any
Shape = tuple[int, ...]
Saturate = Callable[[Lib, Raw, DType], Raw]  # casts floats to integers
SMALL = 4096  # elements up to which a copy is quicker than NumPy's making of a broadcast view

# From NumPy 2.3 on a reduction to rank 0 gives an array if asked to, which saves making one.
GIVES_ARRAYS = np.lib.NumpyVersion(np.__version__) >= "2.3.0"


def convert(saturate: Saturate, lib: Lib, x: Raw, dtype: DType, weak: bool) -> Raw:  # noqa: ARG001
    """Cast; what is outside an integer's range saturates, NaN becomes 0."""
    old, new = dtypes.kind(x.dtype), dtypes.kind(dtype)
    if old == "c" and new != "c":
        if new == "b":
            return x != 0
        x, old = x.real, "f"
    if old == "f" and new in "iu":
        return saturate(lib, x.astype(np.float32) if x.dtype.itemsize < 4 else x, dtype)
    return x.astype(dtype, copy=False)


def saturate(lib: Lib, x: Raw, dtype: DType) -> Raw:
    """Cast floats to integers, most of which have nothing outside the range."""
    low, end = bounds(dtype)
    if x.size and low <= np.minimum.reduce(x, None) and np.maximum.reduce(x, None) < end:
        return x.astype(dtype)
    return limited(lib, x, dtype)


def limited(lib: Lib, x: Raw, dtype: DType) -> Raw:
    """Cast floats to integers; what no C cast defines is set apart."""
    xp, (low, end) = lib.xp, bounds(dtype)
    known = xp.where((x > low) & (x < end), x, x.dtype.type(0)).astype(dtype)
    ends = [xp.full((), v, dtype) for v in (dtypes.iinfo(dtype).min, dtypes.iinfo(dtype).max)]
    return xp.where(x >= end, ends[1], xp.where(x <= low, ends[0], known))


def bounds(dtype: DType) -> tuple[float, float]:
    """The least of a dtype's integers, and what is one more than the largest."""
    return float(dtypes.iinfo(dtype).min), float(dtypes.iinfo(dtype).max) + 1


def full(lib: Lib, shape: Shape, value: complex, dtype: DType, weak: bool) -> Raw:  # noqa: ARG001
    """Fill a new array with a number, of keys with all bits 0."""
    if dtype == dtypes.key:
        return lib.keys(lib.xp.zeros(shape, np.uint64))
    if type(value) is int and value == 0:
        return lib.xp.zeros(shape, dtype)
    return lib.xp.full(shape, value, dtype)


def broadcast_in_dim(lib: Lib, x: Raw, shape: Shape, dims: Shape) -> Raw:
    """Stretch to a shape: a view, or a copy where it is small."""
    if prod(shape) > SMALL:
        return stretched(lib, x, shape, dims)
    out = lib.xp.empty(shape, x.dtype)
    out[...] = along(x, shape, dims)
    return out


def stretched(lib: Lib, x: Raw, shape: Shape, dims: Shape) -> Raw:
    """View x, stretched to a shape."""
    return lib.xp.broadcast_to(along(x, shape, dims), shape)


def along(x: Raw, shape: Shape, dims: Shape) -> Raw:
    """View x with its axes among those of a shape."""
    if not x.shape or len(dims) == len(shape):
        return x
    own = dict(zip(dims, x.shape, strict=True))
    return x.reshape([own.get(i, 1) for i in range(len(shape))])


def reduce_sum(lib: Lib, x: Raw, axes: Shape) -> Raw:
    """Sum over axes in x's own dtype."""
    return lib.xp.add.reduce(x, axes, x.dtype)


def reduce_sum_to_array(lib: Lib, x: Raw, axes: Shape) -> Raw:
    """Sum over axes in x's own dtype, of all of them to an array too."""
    return lib.xp.add.reduce(x, axes, x.dtype, out=...)


ROWS: Rows = {
    ops.convert_p: Kernel(
        partial(convert, saturate),
        view=True,
        moves=True,
        scalar=lambda b, x, dtype, weak: b.cast(x, dtype),  # noqa: ARG005 - all parameters
    ),
    ops.full_p: Kernel(
        full,
        moves=True,
        scalar=lambda b, shape, value, dtype, weak: b.constant(value, dtype),  # noqa: ARG005
    ),
    ops.broadcast_in_dim_p: Kernel(broadcast_in_dim, view=True, moves=True),
    ops.reshape_p: Kernel(lambda _lib, x, shape: x.reshape(shape), view=True, moves=True),
    ops.transpose_p: Kernel(lambda _lib, x, perm: x.transpose(perm), view=True, moves=True),
    ops.reduce_sum_p: Kernel(reduce_sum_to_array if GIVES_ARRAYS else reduce_sum),
}
