"""Elementwise kernels that are one of CuPy's own, where NumPy's are composed."""

from __future__ import annotations

from arrayport.ops.elementwise import hypot_p
from arrayport_backends.ndarray.kernels import Rows, ufunc

ROWS: Rows = {hypot_p: ufunc("hypot")}
