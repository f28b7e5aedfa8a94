"""Logarithms of sums and differences of exponentials, without overflow, and softmax."""

from __future__ import annotations

from math import log as ln
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import arrayed, axes_of
from arrayport.numpy.reductions import max, sum
from arrayport.ops.elementwise import (
    abs,
    equal,
    exp,
    expm1,
    isfinite,
    less,
    log,
    log1p,
    neg,
    select,
    sign,
    stop_gradient,
)
from arrayport.ops.promotion import inexact, lift, promote
from arrayport.ops.structure import Shape, constant, reshape


def _top(x: Array, axes: Shape, where: Any) -> Array:
    """Give the largest elements over axes, 0 if not finite, as constants to derivatives."""
    bound = {} if where is None and x.size else {"where": where, "initial": -np.inf}
    top = stop_gradient(max(x, axes, keepdims=True, **bound))
    return select(isfinite(top), top, constant(0, top))


@unit("x", "where")
def softmax(x: Any, axis: Any = -1, where: Any = None) -> Array:
    """Give exp(x) / sum(exp(x)) over axes; where `where` is false, 0. Source: ``jax.nn.softmax``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.nn.softmax(anp.array([0.0, 0.0]))
    Array([0.5, 0.5], dtype=float32)
    """
    x = inexact(arrayed(x, "x"))
    axes = axes_of(axis, len(x.shape))
    powers = exp(x - _top(x, axes, where))
    if where is not None:
        powers = select(where, powers, constant(0, powers))
    return powers / sum(powers, axes, keepdims=True)


@unit("x", "where")
def log_softmax(x: Any, axis: Any = -1, where: Any = None) -> Array:
    """Give the logarithm of `softmax`; where `where` is false, -inf.

    Source: ``jax.nn.log_softmax``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.nn.log_softmax(anp.array([0.0, 0.0]))
    Array([-0.6931472, -0.6931472], dtype=float32)
    """
    x = inexact(arrayed(x, "x"))
    axes = axes_of(axis, len(x.shape))
    shifted = x - _top(x, axes, where)
    out = shifted - log(sum(exp(shifted), axes, keepdims=True, where=where))
    return out if where is None else select(where, out, constant(-np.inf, out))


def _real(x: Array) -> Array:
    return x.real if dtypes.is_complex(x.dtype) else x


def logsumexp(
    a: Any,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Any = None,
) -> Any:
    """Give log(sum(b exp(a))) over axes without overflow, with the sum's sign if asked.

    Source: ``jax.nn.logsumexp``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.nn.logsumexp(anp.array([1000.0, 0.0]))
    Array(1000., dtype=float32)
    """
    x = inexact(arrayed(a, "a"))
    axes = axes_of(axis, len(x.shape))
    if b is None:
        top = _top(_real(x), axes, where)
        powers = exp(x - top)
    else:
        x, b = promote(x, inexact(arrayed(b, "b")))
        axes = axes_of(axis, len(x.shape))
        none = equal(b, 0)  # what counts for nothing must not set the scale, nor overflow
        top = _top(select(none, constant(-np.inf, _real(x)), _real(x)), axes, where)
        most = ln(dtypes.finfo(dtypes.real_dtype(x.dtype)).max) - 1 + top
        powers = exp(select(none & (_real(x) > most), most, x) - top) * b
    total = sum(powers, axes, keepdims=keepdims, where=where)
    shift = top if keepdims else reshape(top, total.shape)
    signs = sign(total)
    if return_sign:
        return log(abs(total)) + shift, signs
    if b is not None and not dtypes.is_complex(total.dtype):
        # Of a negative sum there is no logarithm.
        return select(total < 0, constant(np.nan, total), log(abs(total)) + shift)
    return log(total) + shift


def log1mexp(x: Any) -> Array:
    """Give log(1 - exp(-x)) for positive x. Source: ``jax.nn.log1mexp``.

    >>> from arrayport import nn
    >>> nn.log1mexp(1.0).round(4)
    Array(-0.4587, dtype=float32, weak_type=True)
    """
    x = inexact(lift(x, None, "x"))
    small = less(x, 0.6931471805599453)
    one = constant(1, x)
    near = log(neg(expm1(neg(select(small, x, one)))))
    return select(small, near, log1p(neg(exp(neg(select(small, one, x))))))
