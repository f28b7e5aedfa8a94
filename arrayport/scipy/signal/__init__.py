"""JAX's scipy.signal: convolutions, and spectra over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.core.names import absent
from arrayport.scipy.signal.convolutions import *
from arrayport.scipy.signal.spectra import *

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("scipy.signal", name)
