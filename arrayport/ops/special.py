"""Special functions: error functions, gamma and its kin, integrals, Bessel functions, entropies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial, pi, sqrt
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.errors import NotDifferentiableError
from arrayport.core.primitive import Binary, Primitive, Unary
from arrayport.ops._families import binary, elementwise, unary
from arrayport.ops.elementwise import (
    abs,
    cos,
    exp,
    floating,
    fractional,
    less,
    log,
    log1p,
    maximum,
    neg,
    select,
    sign,
    sin,
    square,
)
from arrayport.ops.structure import constant

Rule = Callable[..., Any]
Function = Callable[[Any], Array]
ROOT_PI = sqrt(pi)


def _fixed(operand: str) -> Rule:
    """The rule of an operand in which there is no derivative."""

    def rule(_g: Array, _ans: Array, *_xs: Array) -> Array:
        raise NotDifferentiableError(
            f"there is no derivative with respect to {operand}: "
            "differentiate with respect to the other arguments, or use stop_gradient on it"
        )

    return rule


def ratio(value: Array, x: Array, near: Function, within: float) -> Array:
    """`value` / x, where value is 0 at x = 0; nearer to it than `within` it is `near`(x).

    It is for the derivatives, in which the terms of a quotient's cancel near 0.
    """
    here = less(abs(x), within)
    away, close = select(here, constant(1, x), x), select(here, x, constant(0, x))
    return select(here, near(close), value / away)


def _polynomial(x: Array, coefficients: Sequence[float]) -> Array:
    total: Any = 0.0
    for coefficient in reversed(coefficients):
        total = total * x + coefficient
    return total


def sine_ratio(x: Array) -> Array:
    """sin(x) / x, to the last place within 1/2."""
    return _polynomial(square(x), [(-1) ** k / factorial(2 * k + 1) for k in range(7)])


def _log_ratio(x: Array) -> Array:
    """log(1 + x) / x, to the last place within 1/16."""
    return _polynomial(x, [(-1) ** k / (k + 1) for k in range(14)])


def _bessel_ratio(x: Array) -> Array:
    """I1(x) / x, to the last place within 1/2."""
    orders = [0.5 / (4**k * factorial(k) * factorial(k + 1)) for k in range(7)]
    return _polynomial(square(x), orders)


# ---- error functions

erf: Function
erfcx: Function
erf_p = elementwise(
    "erf", lambda g, _ans, x: g * (exp(neg(square(x))) * (2 / ROOT_PI)), dtype=fractional
)
erfc_p = elementwise(
    "erfc", lambda g, _ans, x: g * (exp(neg(square(x))) * (-2 / ROOT_PI)), dtype=fractional
)
erf_inv_p = elementwise(
    "erf_inv", lambda g, ans, _x: g * (exp(square(ans)) * (ROOT_PI / 2)), dtype=fractional
)
erfc_inv_p = elementwise(
    "erfc_inv", lambda g, ans, _x: g * (exp(square(ans)) * (-ROOT_PI / 2)), dtype=fractional
)
erfcx_p: Unary = elementwise(
    "erfcx",
    lambda g, ans, x: g * _tailed(x, x * ans * 2 - 2 / ROOT_PI, x > 20, -1, -2 / ROOT_PI),
    dtype=fractional,
)
dawsn_p: Unary = elementwise(
    "dawsn",
    lambda g, ans, x: g * _tailed(x, 1 - x * ans * 2, abs(x) > 20, 1, -1.0),
    dtype=fractional,
)
wofz_p: Unary = elementwise(
    "wofz", lambda g, ans, z: g * (z * ans * -2 + 2j / ROOT_PI), dtype=floating
)
ndtri_p: Unary = elementwise(
    "ndtri", lambda g, ans, _x: g * (exp(square(ans) / 2) * sqrt(2 * pi)), dtype=fractional
)
log_ndtr_p: Unary = elementwise(
    "log_ndtr",
    lambda g, _ans, x: g * (sqrt(2 / pi) / erfcx(x * -sqrt(0.5))),
    dtype=fractional,
)
owens_t_p: Binary = elementwise(
    "owens_t",
    lambda g, _ans, h, a: (
        g * (exp(square(h) / -2) * erf(a * h * sqrt(0.5)) * (-0.5 / sqrt(2 * pi)))
    ),
    lambda g, _ans, h, a: (
        g * (exp(square(h) * (1 + square(a)) / -2) / ((1 + square(a)) * (2 * pi)))
    ),
    dtype=fractional,
)
erf, erfc, erf_inv = (unary(p, floating=True) for p in (erf_p, erfc_p, erf_inv_p))
erfc_inv, erfcx, dawsn = (unary(p, floating=True) for p in (erfc_inv_p, erfcx_p, dawsn_p))
wofz, ndtri, log_ndtr = (unary(p, floating=True) for p in (wofz_p, ndtri_p, log_ndtr_p))
owens_t = binary(owens_t_p, floating=True)


def _tailed(x: Array, middle: Array, far: Array, sign: int, scale: float) -> Array:
    """The derivative of erfcx or dawsn; far out its two terms cancel, and a series stands for them.

    The series is that of 1 - 1/(2x^2) * (1 + s * 3/(2x^2) * (1 + s * 5/(2x^2) ...)).
    """
    u = 0.5 / square(select(far, x, constant(1, x)))
    total: Any = 1.0
    for k in range(15, 1, -2):
        total = total * u * (sign * k) + 1.0
    return select(far, u * total * scale, middle)


# ---- gamma and its kin

lgamma_p = elementwise("lgamma", lambda g, _ans, x: g * digamma(x), dtype=fractional)
digamma_p = elementwise(
    "digamma", lambda g, _ans, x: g * polygamma(constant(1, x), x), dtype=fractional
)
polygamma_p: Binary = elementwise(
    "polygamma",
    _fixed("polygamma's order"),
    lambda g, _ans, n, x: g * polygamma(n + 1, x),
    dtype=fractional,
)
zeta_p: Binary = elementwise(
    "zeta",
    _fixed("zeta's exponent"),
    lambda g, _ans, s, q: neg(g * (s * zeta(s + 1, q))),
    dtype=fractional,
)
gamma_p = elementwise("gamma", lambda g, ans, x: g * (ans * digamma(x)), dtype=fractional)
gammasgn_p = elementwise("gammasgn", None, dtype=fractional)
betaln_p = elementwise(
    "betaln",
    lambda g, _ans, a, b: g * (digamma(a) - digamma(a + b)),
    lambda g, _ans, a, b: g * (digamma(b) - digamma(a + b)),
    dtype=fractional,
)
poch_p = elementwise(
    "poch",
    lambda g, ans, z, m: g * (ans * (digamma(z + m) - digamma(z))),
    lambda g, ans, z, m: g * (ans * digamma(z + m)),
    dtype=fractional,
)
binom_p = elementwise(
    "binom",
    lambda g, ans, n, k: g * (ans * (digamma(n + 1) - digamma(n - k + 1))),
    lambda g, ans, n, k: g * (ans * (digamma(n - k + 1) - digamma(k + 1))),
    dtype=fractional,
)
igamma_p = elementwise(
    "igamma",
    lambda g, _ans, a, x: g * igamma_grad_a(a, x),
    lambda g, _ans, a, x: g * _gamma_density(a, x),
    dtype=fractional,
)
igammac_p = elementwise(
    "igammac",
    lambda g, _ans, a, x: neg(g * igamma_grad_a(a, x)),
    lambda g, _ans, a, x: neg(g * _gamma_density(a, x)),
    dtype=fractional,
)
igamma_grad_a_p: Binary = elementwise(
    "igamma_grad_a",
    _fixed("the exponent of igamma_grad_a"),
    lambda g, _ans, a, x: g * (_gamma_density(a, x) * (log(x) - digamma(a))),
    dtype=fractional,
)
# How a gamma-distributed number moves with its exponent, its probability below held fixed.
random_gamma_grad_p = elementwise(
    "random_gamma_grad",
    _fixed("the exponent of random_gamma_grad"),
    lambda g, ans, a, x: g * (digamma(a) - log(x) - ans * ((a - 1) / x - 1)),
    dtype=fractional,
)
betainc_p = elementwise(
    "betainc",
    _fixed("betainc's exponents"),
    _fixed("betainc's exponents"),
    lambda g, _ans, a, b, x: g * exp(xlogy(a - 1, x) + xlog1py(b - 1, neg(x)) - betaln(a, b)),
    dtype=fractional,
)
digamma: Function
lgamma, digamma = (unary(p, floating=True) for p in (lgamma_p, digamma_p))
gamma, gammasgn = (unary(p, floating=True) for p in (gamma_p, gammasgn_p))
polygamma: Callable[[Any, Any], Array]
zeta: Callable[[Any, Any], Array]
igamma_grad_a: Callable[[Any, Any], Array]
polygamma, zeta = (binary(p, floating=True) for p in (polygamma_p, zeta_p))
betaln: Callable[[Any, Any], Array]
betaln, poch, binom = (binary(p, floating=True) for p in (betaln_p, poch_p, binom_p))
igamma, igammac = (binary(p, floating=True) for p in (igamma_p, igammac_p))
igamma_grad_a = binary(igamma_grad_a_p, floating=True)
random_gamma_grad = binary(random_gamma_grad_p, floating=True)


def _gamma_density(a: Array, x: Array) -> Array:
    return exp(xlogy(a - 1, x) - x - lgamma(a))


# ---- integrals

exp1_p = elementwise("exp1", lambda g, _ans, x: neg(g * (exp(neg(x)) / x)), dtype=fractional)
expi_p = elementwise("expi", lambda g, _ans, x: g * (exp(x) / x), dtype=fractional)
expn_p: Binary = elementwise(
    "expn",
    _fixed("expn's order"),
    lambda g, ans, n, x: neg(
        g
        * select(
            less(n, 1),
            (exp(neg(x)) - (n - 1) * ans) / x,
            expn_p.bind(maximum(n - 1, constant(0, n)), x),
        )
    ),
    dtype=fractional,
)
sine_integral_p = elementwise(
    "sine_integral",
    lambda g, _ans, x: g * ratio(sin(x), x, sine_ratio, 0.5),
    dtype=fractional,
)
cosine_integral_p = elementwise(
    "cosine_integral", lambda g, _ans, x: g * (cos(x) / x), dtype=fractional
)
fresnel_sine_p = elementwise(
    "fresnel_sine", lambda g, _ans, x: g * sin(square(x) * (pi / 2)), dtype=fractional
)
fresnel_cosine_p = elementwise(
    "fresnel_cosine", lambda g, _ans, x: g * cos(square(x) * (pi / 2)), dtype=fractional
)
spence_p = elementwise(
    "spence",
    lambda g, _ans, x: neg(g * ratio(log(x), x - 1, _log_ratio, 1 / 16)),
    dtype=fractional,
)
exp1, expi = (unary(p, floating=True) for p in (exp1_p, expi_p))
sine_integral, cosine_integral, fresnel_sine, fresnel_cosine, spence = (
    unary(p, floating=True)
    for p in (sine_integral_p, cosine_integral_p, fresnel_sine_p, fresnel_cosine_p, spence_p)
)
expn = binary(expn_p, floating=True)

# ---- Bessel functions

bessel_i0_p: Unary = elementwise("bessel_i0", lambda g, _ans, x: g * bessel_i1(x), dtype=fractional)
bessel_i1_p: Unary = elementwise(
    "bessel_i1",
    lambda g, ans, x: g * (bessel_i0(x) - ratio(ans, x, _bessel_ratio, 0.5)),
    dtype=fractional,
)
bessel_i0e_p: Unary = elementwise(
    "bessel_i0e", lambda g, ans, x: g * (bessel_i1e(x) - sign(x) * ans), dtype=fractional
)
bessel_i1e_p: Unary = elementwise(
    "bessel_i1e",
    lambda g, ans, x: (
        g
        * (
            bessel_i0e(x)
            - sign(x) * ans
            - ratio(ans, x, lambda u: _bessel_ratio(u) * exp(neg(abs(u))), 0.5)
        )
    ),
    dtype=fractional,
)
bessel_i0: Function
bessel_i0e: Function
bessel_i1: Function
bessel_i1e: Function
bessel_i0, bessel_i1 = (unary(p, floating=True) for p in (bessel_i0_p, bessel_i1_p))
bessel_i0e, bessel_i1e = (unary(p, floating=True) for p in (bessel_i0e_p, bessel_i1e_p))


def bessel_j(n: int, x: Array, steps: int = 50) -> Array:
    """The Bessel function of the first kind of whole order n; `steps` are those of JAX's kernel."""
    if n < 0:
        return bessel_j(-n, x, steps) * (-1) ** n
    return bessel_j_p.apply(x, {"n": n, "steps": steps})


bessel_j_p: Unary = elementwise(
    "bessel_j",
    lambda g, _ans, x, n, steps: g * ((bessel_j(n - 1, x, steps) - bessel_j(n + 1, x, steps)) / 2),
    dtype=fractional,
)

# ---- hypergeometric functions

hyp1f1_p: Primitive = elementwise(
    "hyp1f1",
    lambda g, _ans, a, b, x: g * _slope(lambda y: hyp1f1_p.bind(y, b, x), a),
    lambda g, ans, a, b, x: g * ((_slope(lambda y: y * hyp1f1_p.bind(a, y, x), b) - ans) / b),
    lambda g, _ans, a, b, x: g * (a / b * hyp1f1_p.bind(a + 1, b + 1, x)),
    dtype=fractional,
)
hyp2f1_p: Primitive = elementwise(
    "hyp2f1",
    lambda g, _ans, a, b, c, x: g * _slope(lambda y: hyp2f1_p.bind(y, b, c, x), a),
    lambda g, _ans, a, b, c, x: g * _slope(lambda y: hyp2f1_p.bind(a, y, c, x), b),
    lambda g, ans, a, b, c, x: g * ((_slope(lambda y: y * hyp2f1_p.bind(a, b, y, x), c) - ans) / c),
    lambda g, _ans, a, b, c, x: g * (a * b / c * hyp2f1_p.bind(a + 1, b + 1, c + 1, x)),
    dtype=fractional,
)


def _slope(function: Function, x: Array) -> Array:
    """The derivative by central differences of sixth order.

    The functions are analytic in their parameters to a distance of 1 (c times the function, as to
    its last one), so that the order's error is below the rounding's, 1e-13 in 64 bits.
    """
    h = 2.0**-8 if dtypes.finfo(x.dtype).nmant > 30 else 2.0**-5
    near, middle, far = (function(x + k * h) - function(x - k * h) for k in (1, 2, 3))
    return (near * 45 - middle * 9 + far) / (60 * h)


# ---- entropies

entr_p = elementwise("entr", lambda g, _ans, x: neg(g * (log(x) + 1)), dtype=fractional)
logit_p = elementwise("logit", lambda g, _ans, x: g / (x * (1 - x)), dtype=floating)
xlogy_p: Binary = elementwise(
    "xlogy",
    lambda g, _ans, _x, y: g * log(y),
    lambda g, _ans, x, y: g * _quotient(x, y),
    dtype=floating,
)
xlog1py_p: Binary = elementwise(
    "xlog1py",
    lambda g, _ans, _x, y: g * log1p(y),
    lambda g, _ans, x, y: g * _quotient(x, y + 1),
    dtype=floating,
)
entr, logit = unary(entr_p, floating=True), unary(logit_p, floating=True)
xlogy: Callable[[Any, Any], Array]
xlog1py: Callable[[Any, Any], Array]
xlogy, xlog1py = binary(xlogy_p, floating=True), binary(xlog1py_p, floating=True)


def _quotient(x: Array, y: Array) -> Array:
    """X / y, and 0 where both are."""
    both = (x == 0) & (y == 0)
    return x / select(both, constant(1, y), y)
