"""CupyBackend: what the real and the simulated CuPy have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.backend import Device
from arrayport.core.primitive import Callback, Holder, Primitive
from arrayport_backends.cupy import elementwise, keys, linalg, special
from arrayport_backends.ndarray.backend import ArrayBackend
from arrayport_backends.ndarray.kernels import Lib, merged
from arrayport_backends.ndarray.scalars import DType
from arrayport_backends.ndarray.table import ROWS


class CupyBackend(ArrayBackend):
    """Arrays on a CUDA device; host arrays come and go by explicit copies only."""

    def __init__(self, lib: Lib, raw_type: type, devices: list[Device]) -> None:
        rows = merged(ROWS, elementwise.ROWS, linalg.ROWS, special.ROWS, keys.ROWS)
        super().__init__(lib.name, lib, rows, raw_type, devices)
        assert isinstance(lib.keys, type)
        self.raw_types = (raw_type, lib.keys)

    def asarray(self, host: np.ndarray[Any, Any], device: Device | None = None) -> Any:
        return self.lib.asarray(host)

    def widens(self, prim: Primitive, operands: Iterable[DType]) -> bool:
        """Of keys CuPy moves the bits; what holds a Program gives it the keys."""
        bits = any(map(dtypes.is_key, operands)) and not isinstance(prim, Holder | Callback)
        return bits or super().widens(prim, operands)

    def to_numpy(self, raw: Any) -> np.ndarray[Any, Any]:
        return raw.get()  # type: ignore[no-any-return]
