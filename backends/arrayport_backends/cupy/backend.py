"""CupyBackend: what the real and the simulated CuPy have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.backend import Device
from arrayport.core.primitive import Callback, Holder, Primitive
from arrayport_backends.cupy import linalg, special
from arrayport_backends.ndarray.backend import ArrayBackend
from arrayport_backends.ndarray.kernels import Lib, merged
from arrayport_backends.ndarray.scalars import DType
from arrayport_backends.ndarray.table import ROWS


class CupyBackend(ArrayBackend):
    """Arrays on a CUDA device; host arrays come and go by explicit copies only."""

    def __init__(self, lib: Lib, raw_type: type, keys: type, devices: list[Device]) -> None:
        super().__init__(lib.name, lib, merged(ROWS, linalg.ROWS, special.ROWS), raw_type, devices)
        self.raw_types = (raw_type, keys)

    def asarray(self, host: np.ndarray[Any, Any], device: Device | None = None) -> Any:
        if dtypes.is_key(host.dtype):
            return self.lib.keys(self.lib.xp.array(host.view(np.uint64)))
        return self.lib.xp.array(host)

    def widens(self, prim: Primitive, operands: Iterable[DType]) -> bool:
        """Of keys CuPy moves the bits; what holds a Program gives it the keys."""
        bits = any(map(dtypes.is_key, operands)) and not isinstance(prim, Holder | Callback)
        return bits or super().widens(prim, operands)

    def to_numpy(self, raw: Any) -> np.ndarray[Any, Any]:
        return raw.get()  # type: ignore[no-any-return]
