"""Functions of probabilities and entropies: x log y, relative entropy, logit, softmax, Box-Cox."""

from __future__ import annotations

from math import inf
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.numpy.questions import isnan
from arrayport.ops import special as ops
from arrayport.ops.elementwise import expm1, isfinite, log, log1p, logistic, select
from arrayport.ops.structure import constant
from arrayport.scipy import exponentials
from arrayport.scipy.arguments import floats, numbers

__all__ = [
    "boxcox",
    "boxcox1p",
    "entr",
    "expit",
    "kl_div",
    "log_softmax",
    "logit",
    "rel_entr",
    "softmax",
    "xlog1py",
    "xlogy",
]


def xlogy(x: Any, y: Any) -> Array:
    """Give x log(y), and 0 at x = 0. Source: ``jax.scipy.special.xlogy``.

    >>> from arrayport.scipy import special
    >>> special.xlogy(0.0, 0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return ops.xlogy(*numbers("xlogy", x, y))


def xlog1py(x: Any, y: Any) -> Array:
    """Give x log(1 + y), and 0 at x = 0. Source: ``jax.scipy.special.xlog1py``.

    >>> from arrayport.scipy import special
    >>> special.xlog1py(2.0, 0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return ops.xlog1py(*numbers("xlog1py", x, y))


def entr(x: Any) -> Array:
    """Give -x log(x), 0 at x = 0 and -inf below. Source: ``jax.scipy.special.entr``.

    >>> from arrayport.scipy import special
    >>> special.entr(1.0)
    Array(-0., dtype=float32, weak_type=True)
    """
    return ops.entr(*floats("entr", x))


def rel_entr(p: Any, q: Any) -> Array:
    """Give p log(p / q), 0 at p = 0 <= q, and inf where either is out of range.

    Source: ``jax.scipy.special.rel_entr``.

    >>> from arrayport.scipy import special
    >>> special.rel_entr(2.0, 2.0)
    Array(0., dtype=float32, weak_type=True)
    """
    p, q = floats("rel_entr", p, q)
    inside, safe_p, safe_q = _inside(p, q)
    return select(inside, _relative(safe_p, safe_q), _outside(p, q, constant(0, q)))


def kl_div(p: Any, q: Any) -> Array:
    """Give p log(p / q) - p + q, inf where p or q is out of range.

    Source: ``jax.scipy.special.kl_div``.

    >>> from arrayport.scipy import special
    >>> special.kl_div(0.0, 0.5)
    Array(0.5, dtype=float32, weak_type=True)
    """
    p, q = floats("kl_div", p, q)
    inside, safe_p, safe_q = _inside(p, q)
    return select(inside, _relative(safe_p, safe_q) - safe_p + safe_q, _outside(p, q, q))


def _inside(p: Array, q: Array) -> list[Array]:
    """Say where both are positive, and give them with 1 elsewhere."""
    inside = (p > 0) & (q > 0)
    return [inside, *[select(inside, v, constant(1, v)) for v in (p, q)]]


def _outside(p: Array, q: Array, empty: Array) -> Array:
    """Give `empty` where p is 0, inf where either is out of range, NaN where either is NaN."""
    found = select((p == 0) & (q >= 0), empty, constant(inf, q))
    return select(isnan(p) | isnan(q), p + q, found)


def _relative(p: Array, q: Array) -> Array:
    """Give p log(p / q) of positive numbers, also where the quotient leaves their range."""
    usual = (p / q >= dtypes.finfo(p.dtype).tiny) & isfinite(p / q)
    # Each branch sees 1 where it is not taken, so that its derivatives are finite there.
    near_p, near_q = (select(usual, v, constant(1, v)) for v in (p, q))
    far_p, far_q = (select(usual, constant(1, v), v) for v in (p, q))
    return p * select(usual, log(near_p / near_q), log(far_p) - log(far_q))


def logit(x: Any) -> Array:
    """Give log(x / (1 - x)), the inverse of `expit`. Source: ``jax.scipy.special.logit``.

    >>> from arrayport.scipy import special
    >>> special.logit(0.5)
    Array(0., dtype=float32, weak_type=True)
    """
    return ops.logit(*numbers("logit", x))


def expit(x: Any) -> Array:
    """Give 1 / (1 + exp(-x)). Source: ``jax.scipy.special.expit``.

    >>> from arrayport.scipy import special
    >>> special.expit(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return logistic(*numbers("expit", x))


def boxcox(x: Any, lmbda: Any) -> Array:
    """Give (x**lmbda - 1) / lmbda, and log(x) at lmbda = 0. Source: ``jax.scipy.special.boxcox``.

    >>> from arrayport.scipy import special
    >>> special.boxcox(3.0, 1.0)
    Array(2., dtype=float32, weak_type=True)
    """
    x, rate = floats("boxcox", x, lmbda)
    return _grown(log(x), rate)


def boxcox1p(x: Any, lmbda: Any) -> Array:
    """Give `boxcox` of 1 + x, exactly also near x = 0. Source: ``jax.scipy.special.boxcox1p``.

    >>> from arrayport.scipy import special
    >>> special.boxcox1p(2.0, 1.0)
    Array(2., dtype=float32, weak_type=True)
    """
    x, rate = floats("boxcox1p", x, lmbda)
    return _grown(log1p(x), rate)


def _grown(x: Array, rate: Array) -> Array:
    """(exp(rate x) - 1) / rate; at rate 0 a series, for the derivatives."""
    none = rate == 0
    away = select(none, constant(1, rate), rate)
    base = select(none & isfinite(x), x, constant(0, x))
    near = base * select(none, rate, constant(0, rate))
    grown = expm1(select(none, constant(0, x), x) * away) / away
    return select(none, x + base * near / 2 * (1 + near / 3), grown)


def softmax(x: Any, /, *, axis: Any = None) -> Array:
    """Give exp(x) / sum(exp(x)) over axes, all of them by default.

    Source: ``jax.scipy.special.softmax``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.scipy.special.softmax(anp.array([0.0, 0.0]))
    Array([0.5, 0.5], dtype=float32)
    """
    return exponentials.softmax(x, axis)


def log_softmax(x: Any, /, *, axis: Any = None) -> Array:
    """Give the logarithm of `softmax`. Source: ``jax.scipy.special.log_softmax``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy import special
    >>> special.log_softmax(anp.array([0.0, -anp.inf]))
    Array([  0., -inf], dtype=float32)
    """
    return exponentials.log_softmax(x, axis)
