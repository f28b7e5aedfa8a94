"""The gamma function and its kin: logarithms, derivatives, beta, incomplete ones, counts."""

from __future__ import annotations

from fractions import Fraction
from math import comb as choose
from math import exp, inf, lgamma, log, nan, pi
from operator import index
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.numpy.creation import array
from arrayport.ops import special as ops
from arrayport.ops.elementwise import exp as exp_of
from arrayport.ops.elementwise import select
from arrayport.ops.structure import constant
from arrayport.scipy.arguments import floats, strong_floats

__all__ = [
    "bernoulli",
    "beta",
    "betainc",
    "betaln",
    "comb",
    "digamma",
    "factorial",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammaln",
    "gammasgn",
    "loggamma",
    "multigammaln",
    "poch",
    "polygamma",
    "zeta",
]


def gamma(x: Any) -> Array:
    """Give the gamma function, which is (x - 1)! at whole numbers.

    Source: ``jax.scipy.special.gamma``.

    >>> from arrayport.scipy import special
    >>> special.gamma(5.0)
    Array(24., dtype=float32)
    """
    return ops.gamma(*strong_floats("gamma", x))


def gammaln(x: Any) -> Array:
    """Give the logarithm of the absolute value of `gamma`.

    Source: ``jax.scipy.special.gammaln``.

    >>> from arrayport.scipy import special
    >>> special.gammaln(1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return ops.lgamma(*floats("gammaln", x))


def loggamma(x: Any) -> Array:
    """Give the logarithm of `gamma` for positive x, else NaN.

    Source: ``jax.scipy.special.loggamma``.

    >>> from arrayport.scipy import special
    >>> special.loggamma(1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    (x,) = floats("loggamma", x)
    return ops.lgamma(select(x > 0, x, constant(nan, x)))


def gammasgn(x: Any) -> Array:
    """Give the sign of `gamma`: 1 or -1, NaN at negative whole numbers.

    Source: ``jax.scipy.special.gammasgn``.

    >>> from arrayport.scipy import special
    >>> special.gammasgn(-0.5)
    Array(-1., dtype=float32)
    """
    return ops.gammasgn(*strong_floats("gammasgn", x))


def digamma(x: Any) -> Array:
    """Give the derivative of `gammaln`. Source: ``jax.scipy.special.digamma``.

    >>> from arrayport.scipy import special
    >>> special.digamma(1.0)
    Array(-0.5772157, dtype=float32, weak_type=True)
    """
    return ops.digamma(*floats("digamma", x))


def polygamma(n: Any, x: Any) -> Array:
    """Give the nth derivative of `digamma`, for whole n >= 0.

    There is no derivative with respect to n. Source: ``jax.scipy.special.polygamma``.

    >>> from arrayport.scipy import special
    >>> special.polygamma(1, 1.0)
    Array(1.644934, dtype=float32, weak_type=True)
    """
    return ops.polygamma(*floats("polygamma", n, x))


def zeta(x: Any, q: Any = None) -> Array:
    """Give Hurwitz's zeta function, the sum of (k + q)**-x over k = 0, 1, 2 ...

    There is no derivative with respect to x. Raises NotImplementedError without q, as JAX does.
    Source: ``jax.scipy.special.zeta``.

    >>> from arrayport.scipy import special
    >>> special.zeta(2.0, 1.0)
    Array(1.644934, dtype=float32, weak_type=True)
    """
    if q is None:
        raise NotImplementedError("zeta needs q: write zeta(x, 1.0) for Riemann's function, x > 1")
    return ops.zeta(*floats("zeta", x, q))


def poch(z: Any, m: Any) -> Array:
    """Give Pochhammer's symbol, gamma(z + m) / gamma(z). Source: ``jax.scipy.special.poch``.

    >>> from arrayport.scipy import special
    >>> special.poch(2.0, 3.0)
    Array(24., dtype=float32)
    """
    return ops.poch(*strong_floats("poch", z, m))


def multigammaln(a: Any, d: Any) -> Array:
    """Give the logarithm of the gamma function of symmetric d x d matrices; d is a known integer.

    Source: ``jax.scipy.special.multigammaln``.

    >>> from arrayport.scipy import special
    >>> special.multigammaln(1.0, 1)
    Array(0., dtype=float32)
    """
    (a,) = strong_floats("multigammaln", a)
    d = int(d)
    total = constant(d * (d - 1) / 4 * log(pi), a)
    for j in range(d):
        total = total + ops.lgamma(a - j / 2)
    return total


def gammainc(a: Any, x: Any) -> Array:
    """Give the part of the gamma distribution with exponent a that is below x.

    Source: ``jax.scipy.special.gammainc``.

    >>> from arrayport.scipy import special
    >>> special.gammainc(1.0, 1.0)
    Array(0.63212055, dtype=float32, weak_type=True)
    """
    return ops.igamma(*floats("gammainc", a, x))


def gammaincc(a: Any, x: Any) -> Array:
    """Give the part of the gamma distribution with exponent a that is above x.

    Source: ``jax.scipy.special.gammaincc``.

    >>> from arrayport.scipy import special
    >>> special.gammaincc(1.0, 0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return ops.igammac(*floats("gammaincc", a, x))


def betaln(a: Any, b: Any) -> Array:
    """Give the logarithm of the absolute value of `beta`. Source: ``jax.scipy.special.betaln``.

    >>> from arrayport.scipy import special
    >>> special.betaln(1.0, 1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return ops.betaln(*floats("betaln", a, b))


def beta(a: Any, b: Any) -> Array:
    """Give gamma(a) gamma(b) / gamma(a + b). Source: ``jax.scipy.special.beta``.

    >>> from arrayport.scipy import special
    >>> special.beta(2.0, 1.0)
    Array(0.5, dtype=float32)
    """
    a, b = strong_floats("beta", a, b)
    signs = ops.gammasgn(a) * ops.gammasgn(b) * ops.gammasgn(a + b)
    return signs * exp_of(ops.betaln(a, b))


def betainc(a: Any, b: Any, x: Any) -> Array:
    """Give the part of the beta distribution with exponents a and b that is below x.

    There is no derivative with respect to a and b. Source: ``jax.scipy.special.betainc``.

    >>> from arrayport.scipy import special
    >>> special.betainc(1.0, 1.0, 0.25)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return ops.betainc_p.bind(*floats("betainc", a, b, x))


def factorial(n: Any, exact: bool = False) -> Array:
    """Give n! as a float, 0 for negative n. Source: ``jax.scipy.special.factorial``.

    Raises NotImplementedError for exact=True: use math.factorial for integers of any size.

    >>> from arrayport.scipy import special
    >>> special.factorial(4.0)
    Array(24., dtype=float32, weak_type=True)
    """
    if exact:
        raise NotImplementedError("factorial has no exact=True: use math.factorial")
    (n,) = floats("factorial", n)
    none = constant(0, n)
    return select(n < 0, none, ops.gamma(select(n < 0, none, n) + 1))


def comb(N: Any, k: Any, *, repetition: bool = False) -> Array:
    """Count the ways to take k of N things, with `repetition` as often as one likes.

    0 where k > N, or either is negative. Source: ``jax.scipy.special.comb``.

    >>> from arrayport.scipy import special
    >>> special.comb(4.0, 2.0)
    Array(6., dtype=float32, weak_type=True)
    """
    n, k = floats("comb", N, k)
    if repetition:
        nothing = (n == 0) & (k == 0)
        return select(nothing, constant(1, k), _choose(n + k - 1, k))
    return _choose(n, k)


def _choose(n: Array, k: Array) -> Array:
    inside = (n >= 0) & (k >= 0) & (k <= n)
    n, k = (select(inside, v, constant(0, v)) for v in (n, k))
    return select(inside, ops.binom(n, k), constant(0, n))


EXACT = 20  # up to which Bernoulli's numbers come from their recursion


def bernoulli(n: int) -> Array:
    """Give Bernoulli's numbers B0 ... Bn, with B1 = -1/2; n is a known integer.

    Source: ``jax.scipy.special.bernoulli``.

    >>> from arrayport.scipy import special
    >>> special.bernoulli(2)
    Array([ 1.        , -0.5       ,  0.16666667], dtype=float32)
    """
    if index(n) < 0:
        raise ValueError(f"bernoulli needs n >= 0, not {n}")
    exact: list[Fraction] = []
    for m in range(min(n, EXACT) + 1):
        known = sum((choose(m + 1, j) * b for j, b in enumerate(exact)), Fraction(0))
        exact.append(Fraction(1) if m == 0 else -known / (m + 1))
    found = [float(b) for b in exact]
    for m in range(EXACT + 1, n + 1):
        size = lgamma(m + 1) - m * log(2 * pi) + log(2 * (1 + 2.0**-m + 3.0**-m))
        found.append(0.0 if m % 2 else (-1) ** (m // 2 + 1) * (inf if size > 709 else exp(size)))
    return array(found, dtype=dtypes.default_float())
