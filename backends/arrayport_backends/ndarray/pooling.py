"""NumPy's and CuPy's kernels of sliding windows: one axis after the other, place by place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayport.ops import pooling as ops
from arrayport.ops.reductions import IDENTITIES
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows
from arrayport_backends.ndarray.shapes import pad

Raw = Any
COMBINE = {"add": "add", "mul": "multiply", "max": "maximum", "min": "minimum"}


def slide(lib: Lib, x: Raw, monoid: str = "add", **params: Any) -> Raw:
    """Combine within windows: a monoid goes along one axis after the other."""
    at = ops.Sliding(**params)
    combine: Callable[..., Raw] = getattr(lib.xp, COMBINE[monoid])
    out = pad(lib, x, IDENTITIES[monoid](x.dtype), at.config)
    for axis, (places, size, stride, step) in enumerate(
        zip(
            *(at.places(x.shape), at.window_dimensions, at.window_strides, at.window_dilation),
            strict=True,
        )
    ):
        reach = (places - 1) * stride + 1 if places else 0
        lead = (slice(None),) * axis
        first, *others = [
            out[(*lead, slice(i * step, i * step + reach, stride))] for i in range(size)
        ]
        out = first.copy() if others else first
        for part in others:
            combine(out, part, out=out)
    return out


ROWS: Rows = {
    ops.window_sum_p: Kernel(slide, view=True),
    ops.window_reduce_p: Kernel(slide, view=True),
}
