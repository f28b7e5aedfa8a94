"""NumPy's and CuPy's kernels for special functions, most of which their SciPys have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayport.ops import special as ops
from arrayport_backends.ndarray.incomplete_gamma import igamma_grad_a, random_gamma_grad
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows
from arrayport_backends.ndarray.mathematics import errors, gammas, logarithms
from arrayport_backends.ndarray.scalars import Scalar

Raw = Any


def special(
    name: str, scalar: Callable[..., Scalar] | None = None, price: float = Kernel.price
) -> Kernel:
    """A row for a function of the library's special module."""
    return Kernel(
        lambda lib, *xs: getattr(lib.special, name)(*xs), scalar=scalar, kinds="f", price=price
    )


def part(name: str, i: int) -> Kernel:
    """A row for one of the answers of a function of the library's special module."""
    return Kernel(lambda lib, *xs: getattr(lib.special, name)(*xs)[i])


def odd(
    name: str, scalar: Callable[..., Scalar] | None = None, price: float = Kernel.price
) -> Kernel:
    """A row for an odd function, whose library's own loses the sign of zero."""
    return Kernel(
        lambda lib, x: lib.xp.copysign(getattr(lib.special, name)(x), x),
        scalar=scalar,
        kinds="f",
        price=price,
    )


def lgamma(lib: Lib, x: Raw) -> Raw:
    """Take the logarithm of the absolute value of gamma, which is infinite at both infinities."""
    return lib.xp.where(lib.xp.isinf(x), lib.xp.absolute(x), lib.special.gammaln(x))


def polygamma(lib: Lib, n: Raw, x: Raw) -> Raw:
    """Take a derivative of digamma of whole order; the factorial needs the range of float64."""
    xp, sp = lib.xp, lib.special
    order, y = n.astype(xp.float64), x.astype(xp.float64)
    sign = xp.where(order % 2 == 1, 1.0, -1.0)
    out = sign * sp.gamma(order + 1) * sp.zeta(order + 1, y)
    out = xp.where(order == 0, sp.digamma(y), out)
    return xp.where((order < 0) | (order % 1 != 0), xp.nan, out).astype(x.dtype)


def expn(lib: Lib, n: Raw, x: Raw) -> Raw:
    """Give the exponential integral of whole order; another order is NaN."""
    whole = lib.xp.floor(n)
    return lib.xp.where(n == whole, lib.special.expn(whole, x), lib.xp.nan).astype(x.dtype)


def bessel_j(lib: Lib, x: Raw, n: int, steps: int) -> Raw:  # noqa: ARG001 - JAX's steps
    """Give the Bessel function of the first kind."""
    return lib.special.jv(n, x)


def logit(lib: Lib, x: Raw) -> Raw:
    """Give log(x / (1 - x)); the library's own takes real numbers only."""
    return lib.xp.log(x / (1 - x)) if x.dtype.kind == "c" else lib.special.logit(x)


ROWS: Rows = {
    ops.erf_p: special("erf", errors.erf, price=12),
    ops.erfc_p: special("erfc", errors.erfc, price=12),
    ops.erf_inv_p: odd("erfinv", errors.erf_inv, price=18),
    ops.erfc_inv_p: special("erfcinv"),
    ops.erfcx_p: special("erfcx"),
    ops.dawsn_p: special("dawsn"),
    ops.wofz_p: special("wofz"),
    ops.ndtri_p: special("ndtri"),
    ops.log_ndtr_p: special("log_ndtr"),
    ops.owens_t_p: special("owens_t"),
    ops.lgamma_p: Kernel(lgamma, scalar=gammas.lgamma, price=20),
    ops.digamma_p: special("digamma", gammas.digamma, price=12),
    ops.polygamma_p: Kernel(polygamma),
    ops.zeta_p: special("zeta"),
    ops.gamma_p: special("gamma"),
    ops.gammasgn_p: special("gammasgn"),
    ops.betaln_p: special("betaln"),
    ops.poch_p: special("poch"),
    ops.binom_p: special("binom"),
    ops.igamma_p: special("gammainc"),
    ops.igammac_p: special("gammaincc"),
    ops.igamma_grad_a_p: Kernel(igamma_grad_a),
    ops.random_gamma_grad_p: Kernel(random_gamma_grad),
    ops.betainc_p: special("betainc"),
    ops.exp1_p: special("exp1"),
    ops.expi_p: special("expi"),
    ops.expn_p: Kernel(expn),
    ops.sine_integral_p: part("sici", 0),
    ops.cosine_integral_p: part("sici", 1),
    ops.fresnel_sine_p: part("fresnel", 0),
    ops.fresnel_cosine_p: part("fresnel", 1),
    ops.spence_p: special("spence"),
    ops.bessel_i0_p: special("i0"),
    ops.bessel_i1_p: odd("i1"),
    ops.bessel_i0e_p: special("i0e"),
    ops.bessel_i1e_p: odd("i1e"),
    ops.bessel_j_p: Kernel(bessel_j),
    ops.hyp1f1_p: special("hyp1f1"),
    ops.hyp2f1_p: special("hyp2f1"),
    ops.entr_p: special("entr", logarithms.entropy, price=8),
    ops.logit_p: Kernel(logit),
    ops.xlogy_p: special("xlogy", logarithms.xlogy, price=10),
    ops.xlog1py_p: special("xlog1py", logarithms.xlog1py, price=13),
}
