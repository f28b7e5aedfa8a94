"""The CuPy backend on a CUDA device."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import cupy
import numpy as np

from arrayport.core.backend import Device
from arrayport.core.lazy import Lazy
from arrayport_backends.cupy.backend import CupyBackend
from arrayport_backends.cupy.compiler import Function, NotCompiledError
from arrayport_backends.cupy.cuda import OPTIONS
from arrayport_backends.cupy.keys import Keys
from arrayport_backends.ndarray.kernels import Lib


def _count() -> int:
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError as e:
        raise ImportError(f"cupy is installed, but there is no CUDA device to run on ({e})") from e


@lru_cache(maxsize=256)
def loaded(source: str, _device: int) -> Any:
    """Compile CUDA C++ for the current device: `cupy.RawModule` would flush subnormals to 0."""
    made = cupy.cuda.function.Module()
    try:
        code, _ = cupy.cuda.compiler.compile_using_nvrtc(source, OPTIONS)
        made.load(code)
    except (cupy.cuda.compiler.CompileException, RuntimeError, ImportError, OSError) as e:
        raise NotCompiledError(f"NVRTC compiles no kernels here ({e})") from e
    return made


class Module:
    """Kernels that run on whichever device is the current one, as CuPy's functions do."""

    def __init__(self, source: str) -> None:
        self.source = source
        loaded(source, cupy.cuda.runtime.getDevice())

    def get_function(self, name: str) -> Function:
        """What launches a kernel."""
        known: dict[int, Function] = {}

        def launch(grid: tuple[int, int], block: tuple[int], args: tuple[Any, ...]) -> None:
            device = cupy.cuda.runtime.getDevice()
            if device not in known:
                known[device] = loaded(self.source, device).get_function(name)
            known[device](grid, block, args)

        return launch


class DeviceKeys(Keys):
    """Typed keys on a CUDA device."""


class _OnDevice(CupyBackend):
    """Real CuPy, which also knows where an array lives and when it is there."""

    virtual = False
    module = Module

    def asarray(self, host: np.ndarray[Any, Any], device: Device | None = None) -> Any:
        with cupy.cuda.Device(None if device is None else device.id):
            return super().asarray(host, device)

    def device_of(self, raw: Any) -> Device:
        return self._devices[raw.device.id]

    def wait(self, raw: Any) -> None:
        raw.device.synchronize()


backend = _OnDevice(
    Lib(
        "cupy",
        cupy,
        Lazy("cupyx.scipy.special"),
        Lazy("cupyx.scipy.linalg"),
        cupy.fft,
        DeviceKeys,
    ),
    cupy.ndarray,
    [Device("cupy", "gpu", i) for i in range(_count())],
)
