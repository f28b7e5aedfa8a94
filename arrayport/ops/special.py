"""Special functions: the error function and its kin, the logarithm of gamma and its derivatives."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import Any

from arrayport.core.array import Array
from arrayport.ops._families import elementwise, unary
from arrayport.ops.elementwise import exp, fractional, neg, square
from arrayport.ops.promotion import inexact, lift

erf_p = elementwise(
    "erf", lambda g, _ans, x: g * (exp(neg(square(x))) * (2 / sqrt(pi))), dtype=fractional
)
erfc_p = elementwise(
    "erfc", lambda g, _ans, x: g * (exp(neg(square(x))) * (-2 / sqrt(pi))), dtype=fractional
)
erf_inv_p = elementwise(
    "erf_inv", lambda g, ans, _x: g * (exp(square(ans)) * (sqrt(pi) / 2)), dtype=fractional
)
lgamma_p = elementwise("lgamma", lambda g, _ans, x: g * digamma(x), dtype=fractional)
digamma_p = elementwise("digamma", lambda g, _ans, x: g * polygamma(1, x), dtype=fractional)
polygamma_p = elementwise(
    "polygamma", lambda g, _ans, x, n: g * polygamma(n + 1, x), dtype=fractional
)
digamma: Callable[[Any], Array]
erf, erfc, erf_inv = (unary(p, floating=True) for p in (erf_p, erfc_p, erf_inv_p))
lgamma, digamma = (unary(p, floating=True) for p in (lgamma_p, digamma_p))


def polygamma(n: int, x: Any) -> Array:
    """Take the nth derivative of `digamma` at x; n is a Python int."""
    return polygamma_p.apply(inexact(lift(x)), {"n": n}) if n else digamma(x)
