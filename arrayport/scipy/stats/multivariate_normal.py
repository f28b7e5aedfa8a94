"""The normal distribution of vectors."""

from __future__ import annotations

from math import log as ln
from math import pi
from typing import Any

from arrayport.core.array import Array
from arrayport.numpy.linalg import diagonal
from arrayport.ops.elementwise import exp, log, square
from arrayport.ops.linalg import cholesky, triangular_solve
from arrayport.ops.promotion import common_shape, promote_inexact
from arrayport.ops.structure import broadcast_to

__all__ = ["logpdf", "pdf"]


def logpdf(x: Any, mean: Any, cov: Any, allow_singular: None = None) -> Array:
    """Give the logarithm of the density at x, of shape (..., n).

    mean has shape (..., n), cov (..., n, n), or () for a multiple of the identity. Raises
    ValueError for shapes that do not fit, NotImplementedError for `allow_singular`. Source:
    ``jax.scipy.stats.multivariate_normal.logpdf``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy import stats
    >>> stats.multivariate_normal.logpdf(anp.zeros(2), anp.zeros(2), anp.eye(2))
    Array(-1.837877, dtype=float32)
    """
    if allow_singular is not None:
        raise NotImplementedError(
            "multivariate_normal has no allow_singular: add to cov's diagonal"
        )
    x, mean, cov = promote_inexact((x, mean, cov), "multivariate_normal.logpdf")
    y = x - mean
    if not mean.shape:
        return (square(y) / cov + log(cov * (2 * pi))) / -2
    n = mean.shape[-1]
    if not cov.shape:
        return (square(y).sum(-1) / cov + n * log(cov * (2 * pi))) / -2
    if len(cov.shape) < 2 or cov.shape[-2:] != (n, n):
        raise ValueError(f"cov must have shape (..., {n}, {n}) for this mean, not {cov.shape}")
    factor = cholesky(cov)
    batch = common_shape(y.shape[:-1], cov.shape[:-2])
    whole = broadcast_to(factor, (*batch, n, n))
    y = broadcast_to(y, (*batch, n))
    y = triangular_solve(whole, y[..., None], left_side=True, lower=True)[..., 0]
    return square(y).sum(-1) / -2 - log(diagonal(factor)).sum(-1) - n * ln(2 * pi) / 2


def pdf(x: Any, mean: Any, cov: Any) -> Array:
    """Give the density. Source: ``jax.scipy.stats.multivariate_normal.pdf``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy import stats
    >>> stats.multivariate_normal.pdf(anp.array([1.0, 0.0]), anp.zeros(2), anp.eye(2)).round(3)
    Array(0.097, dtype=float32)
    """
    return exp(logpdf(x, mean, cov))
