"""NumPy's and CuPy's kernels for joining and padding."""

from __future__ import annotations

from typing import Any

from arrayport.ops.shapes import Padding, concatenate_p, pad_p, padded_shape
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows


def concatenate(lib: Lib, *xs: Any, dimension: int) -> Any:
    """Join along an axis."""
    return lib.xp.concatenate(xs, dimension)


def pad(lib: Lib, x: Any, value: Any, padding_config: Padding) -> Any:
    """Write what stays of x into an array of the value; if there is no more, it is a view."""
    shape = padded_shape(x.shape, padding_config)
    source, target = [], []
    for n, size, (low, _, inner) in zip(x.shape, shape, padding_config, strict=True):
        step = inner + 1
        start = max(0, -(low // step))  # of x's elements, the first that stays, and the end
        stop = max(start, min(n, -((low - size) // step)))
        source.append(slice(start, stop))
        target.append(slice(low + start * step, low + stop * step, step))
    part = x[tuple(source)]
    if part.shape == shape:
        return part
    out = lib.xp.empty(shape, x.dtype)
    out[...] = value
    if part.size:
        out[tuple(target)] = part
    return out


ROWS: Rows = {
    concatenate_p: Kernel(concatenate, moves=True),
    pad_p: Kernel(pad, view=True, moves=True),
}
