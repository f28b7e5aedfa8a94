"""Casting and broadcasting on the device, which nothing waits for."""

from __future__ import annotations

from functools import partial

from arrayport.ops import structure as ops
from arrayport_backends.ndarray.kernels import Kernel, Rows
from arrayport_backends.ndarray.structure import convert, limited, stretched

ROWS: Rows = {
    ops.convert_p: Kernel(partial(convert, limited), view=True, moves=True),
    ops.broadcast_in_dim_p: Kernel(stretched, view=True, moves=True),
}
