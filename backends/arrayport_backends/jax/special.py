"""JAX's kernels for special functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax.scipy.special as jsp
from jax import lax

from arrayport.core.primitive import Primitive
from arrayport.ops import special as ops


def erfc_inv(x: Any) -> Any:
    """Invert erfc: JAX before 0.12 has the quantile of the normal distribution instead."""
    if hasattr(jsp, "erfcinv"):
        return jsp.erfcinv(x)
    return jsp.ndtri(x / 2) * -(0.5**0.5)


ROWS: Mapping[Primitive, Callable[..., Any]] = {
    ops.erf_p: lax.erf,
    ops.erfc_p: lax.erfc,
    ops.erf_inv_p: lax.erf_inv,
    ops.erfc_inv_p: erfc_inv,
    ops.erfcx_p: jsp.erfcx,
    ops.dawsn_p: jsp.dawsn,
    ops.wofz_p: jsp.wofz,
    ops.ndtri_p: jsp.ndtri,
    ops.log_ndtr_p: jsp.log_ndtr,
    ops.owens_t_p: lambda h, a: jsp.owens_t(h, a).astype(h.dtype),
    ops.lgamma_p: lax.lgamma,
    ops.digamma_p: lax.digamma,
    ops.polygamma_p: lax.polygamma,
    ops.zeta_p: lax.zeta,
    ops.gamma_p: jsp.gamma,
    ops.gammasgn_p: jsp.gammasgn,
    ops.betaln_p: jsp.betaln,
    ops.poch_p: jsp.poch,
    ops.binom_p: jsp.comb,
    ops.igamma_p: lax.igamma,
    ops.igammac_p: lax.igammac,
    ops.igamma_grad_a_p: lax.igamma_grad_a,
    ops.random_gamma_grad_p: lax.random_gamma_grad,
    ops.betainc_p: lax.betainc,
    ops.exp1_p: jsp.exp1,
    ops.expi_p: jsp.expi,
    ops.expn_p: jsp.expn,
    ops.sine_integral_p: lambda x: jsp.sici(x)[0],
    ops.cosine_integral_p: lambda x: jsp.sici(x)[1],
    ops.fresnel_sine_p: lambda x: jsp.fresnel(x)[0],
    ops.fresnel_cosine_p: lambda x: jsp.fresnel(x)[1],
    ops.spence_p: jsp.spence,
    ops.bessel_i0_p: jsp.i0,
    ops.bessel_i1_p: jsp.i1,
    ops.bessel_i0e_p: lax.bessel_i0e,
    ops.bessel_i1e_p: lax.bessel_i1e,
    ops.bessel_j_p: lambda x, n, steps: jsp.bessel_jn(x, v=n, n_iter=steps)[n],
    ops.hyp1f1_p: jsp.hyp1f1,
    ops.hyp2f1_p: jsp.hyp2f1,
    ops.entr_p: jsp.entr,
    ops.logit_p: jsp.logit,
    ops.xlogy_p: jsp.xlogy,
    ops.xlog1py_p: jsp.xlog1py,
}
