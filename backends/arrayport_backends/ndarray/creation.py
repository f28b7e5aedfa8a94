"""NumPy's and CuPy's kernel for counting along an axis."""

from __future__ import annotations

from typing import Any

from arrayport.ops.creation import iota_p
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows


def iota(lib: Lib, dtype: Any, shape: tuple[int, ...], dimension: int) -> Any:
    """Count, then repeat; counts that a small dtype cannot hold wrap around."""
    counts = lib.xp.arange(shape[dimension]).astype(dtype, copy=False)
    if len(shape) == 1:
        return counts
    out = lib.xp.empty(shape, dtype)
    out[...] = counts.reshape(-1, *[1] * (len(shape) - dimension - 1))
    return out


ROWS: Rows = {iota_p: Kernel(iota, moves=True)}
