"""Derivatives to third order of elementwise functions, at 0, near 0 and elsewhere, by mpmath."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax, nn
from arrayport.scipy import special

ENTIRE = (0.0, 1e-30, -1e-30, 1e-5, 0.7, -1.3, 2.5)
WITHIN_ONE = (0.0, 1e-30, -1e-30, 1e-5, 0.3, -0.8)
ABOVE_ZERO = (1e-3, 0.3, 1.0, 2.5, 20.0)
AWAY = (1e-3, 0.1, 0.7, -1.3, 2.5)
TINY = (0.0, 1e-30, -1e-30, 1e-5, 0.4, 1.5)

# Of each: the function, mpmath's, and where it is smooth.
FUNCTIONS = {
    "sin": (anp.sin, mpmath.sin, ENTIRE),
    "cos": (anp.cos, mpmath.cos, ENTIRE),
    "tan": (anp.tan, mpmath.tan, ENTIRE),
    "asin": (anp.asin, mpmath.asin, WITHIN_ONE),
    "acos": (anp.acos, mpmath.acos, WITHIN_ONE),
    "atan": (anp.atan, mpmath.atan, ENTIRE),
    "sinh": (anp.sinh, mpmath.sinh, ENTIRE),
    "cosh": (anp.cosh, mpmath.cosh, ENTIRE),
    "tanh": (anp.tanh, mpmath.tanh, ENTIRE),
    "asinh": (anp.asinh, mpmath.asinh, ENTIRE),
    "acosh": (anp.acosh, mpmath.acosh, (1.1, 2.5, 20.0)),
    "atanh": (anp.atanh, mpmath.atanh, WITHIN_ONE),
    "exp": (anp.exp, mpmath.exp, ENTIRE),
    "exp2": (anp.exp2, lambda x: mpmath.mpf(2) ** x, ENTIRE),
    "expm1": (anp.expm1, mpmath.expm1, ENTIRE),
    "log": (anp.log, mpmath.log, ABOVE_ZERO),
    "log2": (anp.log2, lambda x: mpmath.log(x, 2), ABOVE_ZERO),
    "log1p": (anp.log1p, mpmath.log1p, TINY),
    "sqrt": (anp.sqrt, mpmath.sqrt, ABOVE_ZERO),
    "rsqrt": (lax.rsqrt, lambda x: 1 / mpmath.sqrt(x), ABOVE_ZERO),
    "cbrt": (anp.cbrt, mpmath.cbrt, ABOVE_ZERO),
    "reciprocal": (anp.reciprocal, lambda x: 1 / x, ABOVE_ZERO),
    "square": (anp.square, lambda x: x * x, ENTIRE),
    "integer_pow": (lambda x: lax.integer_pow(x, 5), lambda x: x**5, ENTIRE),
    "power": (lambda x: x**2.5, lambda x: x ** mpmath.mpf(2.5), ABOVE_ZERO),
    "power of": (lambda x: 2.5**x, lambda x: mpmath.mpf(2.5) ** x, ENTIRE),
    "atan2": (lambda x: anp.atan2(x, 1.5), lambda x: mpmath.atan(x / 1.5), ENTIRE),
    "hypot": (lambda x: anp.hypot(x, 1.5), lambda x: mpmath.sqrt(x * x + 2.25), ENTIRE),
    "logaddexp": (
        lambda x: anp.logaddexp(x, 0.5),
        lambda x: mpmath.log(mpmath.exp(x) + mpmath.exp(0.5)),
        ENTIRE,
    ),
    "sinc": (anp.sinc, mpmath.sincpi, ENTIRE),
    "logistic": (lax.logistic, lambda x: 1 / (1 + mpmath.exp(-x)), ENTIRE),
    "softplus": (nn.softplus, lambda x: mpmath.log1p(mpmath.exp(x)), ENTIRE),
    "silu": (nn.silu, lambda x: x / (1 + mpmath.exp(-x)), ENTIRE),
    "erf": (lax.erf, mpmath.erf, ENTIRE),
    "erfc": (lax.erfc, mpmath.erfc, ENTIRE),
    "erf_inv": (lax.erf_inv, mpmath.erfinv, WITHIN_ONE),
    "lgamma": (lax.lgamma, mpmath.loggamma, ABOVE_ZERO),
    "digamma": (lax.digamma, mpmath.digamma, ABOVE_ZERO),
    "log_sigmoid": (nn.log_sigmoid, lambda x: -mpmath.log1p(mpmath.exp(-x)), ENTIRE),
    "mish": (nn.mish, lambda x: x * mpmath.tanh(mpmath.log1p(mpmath.exp(x))), ENTIRE),
    "gelu": (
        lambda x: nn.gelu(x, approximate=False),
        lambda x: x * mpmath.ncdf(x),
        ENTIRE,
    ),
    "elu": (nn.elu, mpmath.expm1, (-1e-30, -1e-5, -0.7, -2.5)),
    "ndtr": (special.ndtr, mpmath.ncdf, ENTIRE),
    "log_ndtr": (special.log_ndtr, lambda x: mpmath.log(mpmath.ncdf(x)), ENTIRE),
    "ndtri": (
        special.ndtri,
        lambda x: mpmath.sqrt(2) * mpmath.erfinv(2 * x - 1),
        (0.1, 0.5, 0.8),
    ),
    "xlogy": (lambda x: special.xlogy(x, 2.5), lambda x: x * mpmath.log(2.5), ENTIRE),
    "xlog1py": (lambda x: special.xlog1py(0.5, x), lambda x: mpmath.log1p(x) / 2, TINY),
    "polygamma": (
        lambda x: special.polygamma(1, x),
        lambda x: mpmath.psi(1, x),
        (0.3, 1.0, 2.5, 20.0),
    ),
    "i0": (special.i0, lambda x: mpmath.besseli(0, x), ENTIRE),
    "i1": (special.i1, lambda x: mpmath.besseli(1, x), ENTIRE),
    "i0e": (special.i0e, lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)), AWAY),
    "i1e": (special.i1e, lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)), AWAY),
    "spence": (special.spence, lambda x: mpmath.polylog(2, 1 - x), (0.3, 0.99, 1.01, 1.5)),
    "sici": (lambda x: special.sici(x)[0], mpmath.si, ENTIRE),
    "expi": (special.expi, mpmath.ei, ABOVE_ZERO),
    "entr": (special.entr, lambda x: -x * mpmath.log(x), ABOVE_ZERO),
    "logit": (special.logit, lambda x: mpmath.log(x / (1 - x)), (1e-3, 0.3, 0.8)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_three_orders(name: str) -> None:
    function, exact, points = FUNCTIONS[name]
    with mpmath.workdps(60), ap.enable_x64(), ap.use_backend("numpy"):
        for order in range(4):
            found = [float(function(anp.asarray(x))) for x in points]
            wanted = [float(mpmath.diff(exact, mpmath.mpf(x), order)) for x in points]
            np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-13, err_msg=f"{order}")
            function = ap.grad(function)
