"""Questions to every element: whether it is NaN, infinite, real, or close to another."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import no_out, real_only
from arrayport.ops.elementwise import (
    abs,
    equal,
    imag,
    isfinite,
    less_equal,
    logical_and,
    logical_or,
    not_equal,
    real,
)
from arrayport.ops.promotion import inexact, lift, promote, settle

__all__ = [
    "isclose",
    "iscomplex",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
]


def isnan(x: Any, /) -> Array:
    """Say where x is NaN. Source: ``jax.numpy.isnan``.

    >>> import arrayport.numpy as anp
    >>> anp.isnan(anp.array([1.0, anp.nan]))
    Array([False,  True], dtype=bool)
    """
    x = lift(x)
    return not_equal(x, x)


@unit("x")
def isinf(x: Any, /) -> Array:
    """Say where x, or a part of complex x, is infinite. Source: ``jax.numpy.isinf``.

    >>> import arrayport.numpy as anp
    >>> anp.isinf(anp.array([anp.inf, 1.0]))
    Array([ True, False], dtype=bool)
    """
    x = lift(x)
    if dtypes.is_complex(x.dtype):
        return logical_or(isinf(real(x)), isinf(imag(x)))
    return equal(abs(x), np.inf) if dtypes.is_floating(x.dtype) else not_equal(x, x)


@unit("x")
def isposinf(x: Any, /, out: Any = None) -> Array:
    """Say where x is plus infinity. Source: ``jax.numpy.isposinf``.

    >>> import arrayport.numpy as anp
    >>> anp.isposinf(anp.array([-anp.inf, anp.inf]))
    Array([False,  True], dtype=bool)
    """
    no_out("isposinf", out)
    x = real_only(x, "isposinf")
    return equal(x, np.inf) if dtypes.is_floating(x.dtype) else not_equal(x, x)


@unit("x")
def isneginf(x: Any, /, out: Any = None) -> Array:
    """Say where x is minus infinity. Source: ``jax.numpy.isneginf``.

    >>> import arrayport.numpy as anp
    >>> anp.isneginf(anp.array([-anp.inf, anp.inf]))
    Array([ True, False], dtype=bool)
    """
    no_out("isneginf", out)
    x = real_only(x, "isneginf")
    return equal(x, -np.inf) if dtypes.is_floating(x.dtype) else not_equal(x, x)


@unit("x")
def iscomplex(x: Any) -> Array:
    """Say where x has an imaginary part that is not zero. Source: ``jax.numpy.iscomplex``.

    >>> import arrayport.numpy as anp
    >>> anp.iscomplex(1 + 2j)
    Array(True, dtype=bool)
    """
    return not_equal(imag(x), 0)


@unit("x")
def isreal(x: Any) -> Array:
    """Say where x has no imaginary part. Source: ``jax.numpy.isreal``.

    >>> import arrayport.numpy as anp
    >>> anp.isreal(1 + 2j)
    Array(False, dtype=bool)
    """
    return equal(imag(x), 0)


@unit("a", "b", "rtol", "atol")
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Array:
    """Say where abs(a - b) <= atol + rtol * abs(b); equal infinities are close.

    Source: ``numpy.isclose``.

    >>> import arrayport.numpy as anp
    >>> anp.isclose(1.0, 1.000001)
    Array(True, dtype=bool)
    """
    x, y = settle(promote(a, b))
    if not dtypes.is_inexact(x.dtype):
        x, y = inexact(x), inexact(y)
    near = less_equal(abs(x - y), atol + rtol * abs(y))
    near = logical_or(logical_and(near, logical_and(isfinite(x), isfinite(y))), equal(x, y))
    return logical_or(near, logical_and(isnan(x), isnan(y))) if equal_nan else near
