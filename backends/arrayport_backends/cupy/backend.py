"""CupyBackend: what the real and the simulated CuPy have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.core.backend import Device
from arrayport_backends.cupy import linalg, random, special
from arrayport_backends.ndarray.backend import ArrayBackend
from arrayport_backends.ndarray.kernels import Lib, merged
from arrayport_backends.ndarray.table import ROWS


class CupyBackend(ArrayBackend):
    """Arrays on a CUDA device; host arrays come and go by explicit copies only."""

    def __init__(self, lib: Lib, raw_type: type, devices: list[Device]) -> None:
        super().__init__(
            lib.name, lib, merged(ROWS, linalg.ROWS, special.ROWS, random.ROWS), raw_type, devices
        )

    def asarray(self, host: np.ndarray[Any, Any], device: Device | None = None) -> Any:
        return self.lib.xp.array(host)

    def to_numpy(self, raw: Any) -> np.ndarray[Any, Any]:
        return raw.get()  # type: ignore[no-any-return]
