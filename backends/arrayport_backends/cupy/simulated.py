"""The simulated CuPy backend, "cupy-sim": CuPy's rules and facts, with no GPU."""

from __future__ import annotations

from arrayport.core.backend import Device
from arrayport_backends.cupy.backend import CupyBackend
from arrayport_backends.cupy.keys import Keys
from arrayport_backends.cupy.simulated_arrays import SimArray
from arrayport_backends.cupy.simulation import scipy_linalg, special, xp
from arrayport_backends.ndarray.kernels import Lib

NAME = "cupy-sim"


class SimKeys(Keys):
    """Typed keys on the simulated device."""


backend = CupyBackend(
    Lib(NAME, xp, special, scipy_linalg, xp.fft, SimKeys),
    SimArray,
    [Device(NAME, "gpu")],
)
