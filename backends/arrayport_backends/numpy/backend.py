"""NumpyBackend: arrays on the host, kernels of NumPy and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.core.backend import Device
from arrayport.core.lazy import Lazy
from arrayport_backends.ndarray.backend import ArrayBackend
from arrayport_backends.ndarray.kernels import Kernel, Lib
from arrayport_backends.ndarray.table import ROWS


class NumpyBackend(ArrayBackend):
    """NumPy: eager calls of one or two plain arrays find their kernel on the primitive itself."""

    def __init__(self) -> None:
        lib = Lib("numpy", np, Lazy("scipy.special"), Lazy("scipy.linalg"), np.add.at)
        super().__init__("numpy", lib, ROWS, np.ndarray, [Device("numpy", "cpu")])
        for prim, row in ROWS.items():
            if isinstance(row, Kernel) and not prim.many:
                prim.numpy_kernel = row.bind(lib)

    def operand(self, raw: Any) -> Any:
        return raw

    def asarray(self, host: np.ndarray[Any, Any], device: Device | None = None) -> Any:
        return np.array(host)

    def to_numpy(self, raw: Any) -> np.ndarray[Any, Any]:
        return raw  # type: ignore[no-any-return]

    def array(self, raw: Any) -> Any:
        return np.asarray(raw)


backend = NumpyBackend()
