"""NumPy's and CuPy's kernels for reductions, places of extremes, and cumulations."""

from __future__ import annotations

from math import prod
from typing import Any

from arrayport.ops import reductions as ops
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows

Raw = Any
Axes = tuple[int, ...]

# NumPy's ufuncs reduce and accumulate four times as quickly as its functions; CuPy's, but for add
# and multiply, cannot.


def _reduction(ufunc: str, function: str) -> Kernel:
    """A row by the ufunc on NumPy, by the function on CuPy."""

    def run(lib: Lib, x: Raw, axes: Axes) -> Raw:
        if lib.name == "numpy":
            return getattr(lib.xp, ufunc).reduce(x, axes, x.dtype)
        return getattr(lib.xp, function)(x, axis=axes)

    return Kernel(run)


def _bitwise(ufunc: str, function: str = "") -> Kernel:
    """A row that combines bits; on CuPy by a function for booleans, if any, else by halves."""

    def run(lib: Lib, x: Raw, axes: Axes) -> Raw:
        combine = getattr(lib.xp, ufunc)
        if lib.name == "numpy":
            return combine.reduce(x, axes, x.dtype)
        if function and x.dtype.kind == "b":
            return getattr(lib.xp, function)(x, axis=axes)
        kept = [i for i in range(x.ndim) if i not in axes]
        shape = [x.shape[i] for i in kept]
        x = x.transpose(*axes, *kept).reshape(prod(x.shape[a] for a in axes), *shape)
        if not len(x):
            nothing = lib.xp.zeros(shape, x.dtype)
            return ~nothing if ufunc == "bitwise_and" else nothing
        while (size := len(x)) > 1:
            half = size // 2
            both = combine(x[:half], x[half : 2 * half])
            x = lib.xp.concatenate([both, x[2 * half :]]) if size % 2 else both
        return x[0]

    return Kernel(run)


def prod_(lib: Lib, x: Raw, axes: Axes) -> Raw:
    """Multiply in x's own dtype."""
    if lib.name == "numpy":
        return lib.xp.multiply.reduce(x, axes, x.dtype)
    return lib.xp.prod(x, axis=axes, dtype=x.dtype)


def _place(method: str) -> Kernel:
    """A row for argmax or argmin."""

    def run(_lib: Lib, x: Raw, axis: int, index_dtype: Any) -> Raw:
        return getattr(x, method)(axis).astype(index_dtype, copy=False)

    return Kernel(run)


def _cumulation(ufunc: str, accumulates: bool = False) -> Kernel:
    """A row for a cumulation: where CuPy's ufunc cannot, in steps of doubled distance."""

    def run(lib: Lib, x: Raw, axis: int, reverse: bool) -> Raw:
        combine = getattr(lib.xp, ufunc)
        flip = (slice(None),) * axis + (slice(None, None, -1 if reverse else None),)
        x = x[flip]
        if accumulates or lib.name == "numpy":
            return combine.accumulate(x, axis, x.dtype)[flip]
        out = x.swapaxes(0, axis)
        distance = 1
        while distance < len(out):
            later = combine(out[distance:], out[:-distance])
            out = lib.xp.concatenate([out[:distance], later])
            distance *= 2
        return out.swapaxes(0, axis)[flip]

    return Kernel(run)


ROWS: Rows = {
    ops.reduce_max_p: _reduction("maximum", "max"),
    ops.reduce_min_p: _reduction("minimum", "min"),
    ops.reduce_prod_p: Kernel(prod_),
    ops.reduce_and_p: _bitwise("bitwise_and", "all"),
    ops.reduce_or_p: _bitwise("bitwise_or", "any"),
    ops.reduce_xor_p: _bitwise("bitwise_xor"),
    ops.argmax_p: _place("argmax"),
    ops.argmin_p: _place("argmin"),
    ops.cumsum_p: _cumulation("add", accumulates=True),
    ops.cumprod_p: _cumulation("multiply", accumulates=True),
    ops.cummax_p: _cumulation("maximum"),
    ops.cummin_p: _cumulation("minimum"),
    ops.cumlogsumexp_p: _cumulation("logaddexp"),
}
