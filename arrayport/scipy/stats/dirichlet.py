"""The Dirichlet distribution with exponents alpha, over points whose parts add up to 1."""

from __future__ import annotations

from typing import Any

from arrayport.core.array import Array
from arrayport.numpy.joins import concatenate
from arrayport.ops.elementwise import abs, exp
from arrayport.ops.promotion import promote_inexact
from arrayport.ops.reductions import reduce_and
from arrayport.ops.special import lgamma, xlogy
from arrayport.ops.structure import reduce_sum, reshape
from arrayport.scipy.stats.supports import nothing, within

__all__ = ["logpdf", "pdf"]


def logpdf(x: Any, alpha: Any) -> Array:
    """Give the logarithm of the density at x, of shape (k, ...), or (k - 1, ...) without its last.

    alpha has shape (k,). Raises ValueError for other shapes. Source:
    ``jax.scipy.stats.dirichlet.logpdf``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy import stats
    >>> stats.dirichlet.logpdf(anp.array([0.25, 0.75]), anp.array([1.0, 1.0]))
    Array(0., dtype=float32)
    """
    x, alpha = promote_inexact((x, alpha), "dirichlet.logpdf")
    if len(alpha.shape) != 1:
        raise ValueError(f"alpha must have one axis, not shape {alpha.shape}")
    count = alpha.shape[0]
    if not x.shape or x.shape[0] not in {count, count - 1}:
        raise ValueError(
            f"x must have {count} parts along its first axis, as alpha has, or one less: its shape "
            f"is {x.shape}"
        )
    if x.shape[0] == count - 1:
        x = concatenate([x, 1 - x.sum(0, keepdims=True)], axis=0)
    outside = ~(reduce_and(x > 0, (0,)) & (abs(x.sum(0) - 1) < 1e-6))
    x = within(x, outside, 1 / count)
    weights = reshape(alpha - 1, (count,) + (1,) * (len(x.shape) - 1))
    size = reduce_sum(lgamma(alpha)) - lgamma(reduce_sum(alpha))
    return nothing(outside, reduce_sum(xlogy(weights + 0 * x, x), (0,)) - size)


def pdf(x: Any, alpha: Any) -> Array:
    """Give the density, as `logpdf` its logarithm. Source: ``jax.scipy.stats.dirichlet.pdf``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy import stats
    >>> stats.dirichlet.pdf(anp.array([0.25, 0.75]), anp.array([2.0, 3.0])).round(3)
    Array(1.688, dtype=float32)
    """
    return exp(logpdf(x, alpha))
