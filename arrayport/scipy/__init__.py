"""JAX's scipy: special functions, statistics and more, each module loaded on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.core.lazy import Lazy
from arrayport.core.names import absent

if TYPE_CHECKING:
    from arrayport.scipy import cluster as cluster
    from arrayport.scipy import fft as fft
    from arrayport.scipy import integrate as integrate
    from arrayport.scipy import interpolate as interpolate
    from arrayport.scipy import linalg as linalg
    from arrayport.scipy import ndimage as ndimage
    from arrayport.scipy import optimize as optimize
    from arrayport.scipy import signal as signal
    from arrayport.scipy import sparse as sparse
    from arrayport.scipy import spatial as spatial
    from arrayport.scipy import special as special
    from arrayport.scipy import stats as stats
else:
    cluster = Lazy("arrayport.scipy.cluster")
    fft = Lazy("arrayport.scipy.fft")
    integrate = Lazy("arrayport.scipy.integrate")
    interpolate = Lazy("arrayport.scipy.interpolate")
    linalg = Lazy("arrayport.scipy.linalg")
    ndimage = Lazy("arrayport.scipy.ndimage")
    optimize = Lazy("arrayport.scipy.optimize")
    signal = Lazy("arrayport.scipy.signal")
    sparse = Lazy("arrayport.scipy.sparse")
    spatial = Lazy("arrayport.scipy.spatial")
    special = Lazy("arrayport.scipy.special")
    stats = Lazy("arrayport.scipy.stats")

    def __getattr__(name: str) -> Any:
        raise absent("scipy", name)
