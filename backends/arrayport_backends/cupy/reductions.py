"""Reductions and cumulations by what CuPy has: of its ufuncs only add and multiply combine."""

from __future__ import annotations

from math import prod
from typing import Any

from arrayport.ops import reductions as ops
from arrayport.ops.structure import reduce_sum_p
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows

Raw = Any
Axes = tuple[int, ...]


def by_function(name: str) -> Kernel:
    """A row by a function that keeps x's own dtype."""
    return Kernel(lambda lib, x, axes: getattr(lib.xp, name)(x, axis=axes))


def by_total(name: str) -> Kernel:
    """A row by a function that would take a wider dtype."""
    return Kernel(lambda lib, x, axes: getattr(lib.xp, name)(x, axis=axes, dtype=x.dtype))


def by_halves(ufunc: str, function: str = "") -> Kernel:
    """A row that combines bits: of booleans by a function, if any, else one half with the other."""

    def run(lib: Lib, x: Raw, axes: Axes) -> Raw:
        if function and x.dtype.kind == "b":
            return getattr(lib.xp, function)(x, axis=axes)
        kept = [i for i in range(x.ndim) if i not in axes]
        shape = [x.shape[i] for i in kept]
        x = x.transpose(*axes, *kept).reshape(prod(x.shape[a] for a in axes), *shape)
        if not len(x):
            nothing = lib.xp.zeros(shape, x.dtype)
            return ~nothing if ufunc == "bitwise_and" else nothing
        combine = getattr(lib.xp, ufunc)
        while (size := len(x)) > 1:
            half = size // 2
            both = combine(x[:half], x[half : 2 * half])
            x = lib.xp.concatenate([both, x[2 * half :]]) if size % 2 else both
        return x[0]

    return Kernel(run)


def by_doubling(ufunc: str) -> Kernel:
    """A row for a cumulation, in steps of doubled distance."""

    def run(lib: Lib, x: Raw, axis: int, reverse: bool) -> Raw:
        flip = (slice(None),) * axis + (slice(None, None, -1 if reverse else None),)
        out = x[flip].swapaxes(0, axis)
        distance = 1
        while distance < len(out):
            later = getattr(lib.xp, ufunc)(out[distance:], out[:-distance])
            out = lib.xp.concatenate([out[:distance], later])
            distance *= 2
        return out.swapaxes(0, axis)[flip]

    return Kernel(run)


ROWS: Rows = {
    reduce_sum_p: by_total("sum"),
    ops.reduce_prod_p: by_total("prod"),
    ops.reduce_max_p: by_function("max"),
    ops.reduce_min_p: by_function("min"),
    ops.reduce_and_p: by_halves("bitwise_and", "all"),
    ops.reduce_or_p: by_halves("bitwise_or", "any"),
    ops.reduce_xor_p: by_halves("bitwise_xor"),
    ops.cummax_p: by_doubling("maximum"),
    ops.cummin_p: by_doubling("minimum"),
    ops.cumlogsumexp_p: by_doubling("logaddexp"),
}
