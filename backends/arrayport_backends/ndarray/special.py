"""NumPy's and CuPy's kernels for special functions, which scipy.special and cupyx's have."""

from __future__ import annotations

from typing import Any

from arrayport.ops import special as ops
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows

Raw = Any


def special(name: str) -> Kernel:
    """A row for a function of the library's special module."""
    return Kernel(lambda lib, x: getattr(lib.special, name)(x))


def erf_inv(lib: Lib, x: Raw) -> Raw:
    """Invert erf, keeping the sign of zero."""
    return lib.xp.copysign(lib.special.erfinv(x), x)


def lgamma(lib: Lib, x: Raw) -> Raw:
    """Take the logarithm of the absolute value of gamma, which is infinite at both infinities."""
    return lib.xp.where(lib.xp.isinf(x), lib.xp.absolute(x), lib.special.gammaln(x))


def polygamma(lib: Lib, x: Raw, n: int) -> Raw:
    """Take a derivative of digamma; the library's own gives float64."""
    return lib.xp.asarray(lib.special.polygamma(n, x)).astype(x.dtype)


ROWS: Rows = {
    ops.erf_p: special("erf"),
    ops.erfc_p: special("erfc"),
    ops.erf_inv_p: Kernel(erf_inv),
    ops.lgamma_p: Kernel(lgamma),
    ops.digamma_p: special("digamma"),
    ops.polygamma_p: Kernel(polygamma),
}
