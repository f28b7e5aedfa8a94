"""Draws from the normal distribution and its kin."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.trace import backend_of
from arrayport.core.units import unit
from arrayport.numpy import linalg, products
from arrayport.numpy.arguments import shape_of
from arrayport.ops import random as bits_of
from arrayport.ops.elementwise import clamp, exp, nextafter, select, sign, stop_gradient
from arrayport.ops.elementwise import complex as complex_
from arrayport.ops.elementwise import sqrt as root_of
from arrayport.ops.placement import no_sharding
from arrayport.ops.promotion import common_shape, lift, promote_inexact, scalar
from arrayport.ops.special import erf
from arrayport.ops.structure import broadcast_to
from arrayport.random.arguments import bound, fitting, floating, parameters
from arrayport.random.keys import one_key
from arrayport.random.uniforms import rademacher, uniform

__all__ = [
    "double_sided_maxwell",
    "lognormal",
    "maxwell",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "truncated_normal",
    "wald",
]


@unit("key")
def normal(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw from the standard normal distribution; complex parts have variance 1/2.

    Raises ValueError for a dtype that is neither float nor complex. Source: ``jax.random.normal``.

    >>> from arrayport import random
    >>> random.normal(random.key(0), (2,)).shape
    (2,)
    """
    no_sharding(out_sharding, "normal")
    key = one_key(key, "normal")
    found = dtypes.default_float() if dtype is None else dtypes.canonicalize(dtype)
    if not dtypes.is_inexact(found):
        raise ValueError(f"dtype of `normal` must be a float or complex dtype, not {found}")
    if dtypes.is_complex(found):
        part = dtypes.real_dtype(found)
        real, imag = (normal(k, shape, part) for k in bits_of.two_keys(key))
        return complex_(real, imag) / sqrt(2)
    low = -1 + dtypes.finfo(found).epsneg  # the float after -1, so that no draw is infinite
    unit = uniform(key, shape, found, low, 1)
    return bits_of.quick_erf_inv(unit) * scalar(sqrt(2), found)


@unit("key", "lower", "upper")
def truncated_normal(
    key: Any,
    lower: Any,
    upper: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the standard normal distribution between two bounds, which broadcast.

    `shape`: that of the bounds unless given. Source: ``jax.random.truncated_normal``.

    >>> from arrayport import random
    >>> random.truncated_normal(random.key(0), -1.0, 1.0, (4,)).shape
    (4,)
    """
    no_sharding(out_sharding, "truncated_normal")
    key = one_key(key, "truncated_normal")
    found = floating(dtype, "truncated_normal")
    low, high = (bound(v, found, key) for v in (lower, upper))
    size = fitting(shape, "truncated_normal", low.shape, high.shape)
    low, high = (broadcast_to(v, size) if v.shape else v for v in (low, high))
    root = scalar(sqrt(2), found)
    draw = uniform(key, size, found, erf(low / root), erf(high / root))
    out = bits_of.quick_erf_inv(draw) * root
    least, most = nextafter(stop_gradient(low), inf), nextafter(stop_gradient(high), -inf)
    return clamp(least, out, most)


@unit("key", "sigma")
def lognormal(
    key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw exp(sigma z), z standard normal. Source: ``jax.random.lognormal``.

    >>> from arrayport import random
    >>> random.lognormal(random.key(0), shape=(4,)).shape
    (4,)
    """
    no_sharding(out_sharding, "lognormal")
    key = one_key(key, "lognormal")
    found = floating(dtype, "lognormal")
    size, (spread,) = parameters("lognormal", key, shape, found, sigma)
    return exp(normal(key, size, found) * spread)


@unit("key", "mean", "cov")
def multivariate_normal(
    key: Any,
    mean: Any,
    cov: Any,
    shape: Any = None,
    dtype: Any = None,
    method: str = "cholesky",
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw vectors of n normal numbers with a mean (..., n) and a covariance (..., n, n).

    `shape`: that of the mean and covariance without the axes of the vectors, unless given.
    `method`: the factor of the covariance, by "cholesky", "eigh" or "svd". Raises ValueError for
    other shapes and methods. Source: ``jax.random.multivariate_normal``.

    >>> from arrayport import random
    >>> import arrayport.numpy as anp
    >>> random.multivariate_normal(random.key(0), anp.zeros(2), anp.eye(2)).shape
    (2,)
    """
    no_sharding(out_sharding, "multivariate_normal")
    key = one_key(key, "multivariate_normal")
    home = backend_of(key)
    centre, spread = promote_inexact([lift(mean, home), lift(cov, home)])
    found = centre.dtype if dtype is None else floating(dtype, "multivariate_normal")
    n = centre.shape[-1:]
    if not n or spread.shape[-2:] != n * 2:
        raise ValueError(
            "multivariate_normal needs mean of shape (..., n) and cov of shape (..., n, n), not "
            f"{centre.shape} and {spread.shape}"
        )
    size = fitting(shape, "multivariate_normal", centre.shape[:-1], spread.shape[:-2])
    factor = _factor(spread, method)
    draws = normal(key, (*size, *n), found)
    return centre + products.matvec(factor, draws)


def _factor(cov: Array, method: str) -> Array:
    """Give a matrix whose product with its transpose is the covariance."""
    if method == "cholesky":
        return linalg.cholesky(cov)
    if method == "eigh":
        values, vectors = linalg.eigh(cov)
    elif method == "svd":
        vectors, values, _ = linalg.svd(cov)
    else:
        raise ValueError(f"method must be 'cholesky', 'eigh' or 'svd', not {method!r}")
    return vectors * root_of(values)[..., None, :]


@unit("key")
def maxwell(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw the lengths of standard normal vectors of three. Source: ``jax.random.maxwell``.

    >>> from arrayport import random
    >>> random.maxwell(random.key(0), (4,)).shape
    (4,)
    """
    no_sharding(out_sharding, "maxwell")
    found = floating(dtype, "maxwell")
    return linalg.norm(normal(key, (*shape_of(shape), 3), found), axis=-1)


@unit("key", "loc", "scale")
def double_sided_maxwell(
    key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None
) -> Array:
    """Draw loc + s scale m, with m of Maxwell's distribution and s = 1 or -1.

    The shape is `shape` (that of the parameters if it is empty) and behind it that of the
    parameters. Source: ``jax.random.double_sided_maxwell``.

    >>> from arrayport import random
    >>> random.double_sided_maxwell(random.key(0), 0.0, 1.0, (4,)).shape
    (4,)
    """
    first, second = bits_of.two_keys(one_key(key, "double_sided_maxwell"))
    found = floating(dtype, "double_sided_maxwell")
    own = common_shape(*[getattr(v, "shape", ()) for v in (loc, scale)])
    size = (shape_of(shape) or own) + own
    return rademacher(second, size, found) * maxwell(first, size, found) * scale + loc


def orthogonal(
    key: Any,
    n: int,
    shape: Any = (),
    dtype: Any = None,
    m: int | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw matrices (n, m), m = n if None, with orthonormal columns or rows, uniformly.

    Source: ``jax.random.orthogonal``.

    >>> from arrayport import random
    >>> random.orthogonal(random.key(0), 3).shape
    (3, 3)
    """
    no_sharding(out_sharding, "orthogonal")
    columns = n if m is None else m
    long, short = max(n, columns), min(n, columns)
    found = dtypes.default_float() if dtype is None else dtypes.canonicalize(dtype)
    q, r = linalg.qr(normal(key, (*shape_of(shape), long, short), found))
    made = q * sign(linalg.diagonal(r))[..., None, :]
    return made.mT if n < columns else made


@unit("key", "mean")
def wald(
    key: Any, mean: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw from the inverse Gaussian distribution of shape 1. Source: ``jax.random.wald``.

    >>> from arrayport import random
    >>> random.wald(random.key(0), 1.0, (4,)).shape
    (4,)
    """
    no_sharding(out_sharding, "wald")
    key = one_key(key, "wald")
    found = floating(dtype, "wald")
    size, (mu,) = parameters("wald", key, shape, found, mean)
    first, second = bits_of.two_keys(key)
    v, z = normal(first, size, found), uniform(second, size, found)
    y = v * v
    root = root_of(4 * mu * y + mu * mu * (y * y))
    x = mu + mu * mu * y / 2 - mu / 2 * root
    return select(z <= mu / (mu + x), x, mu * mu / x)
