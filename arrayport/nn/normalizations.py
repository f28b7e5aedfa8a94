"""Functions over an axis: softmax and its kin, logsumexp, standardize, and one-hot encodings."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.numpy.arguments import arrayed, axes_of, axis_of, dtype_or
from arrayport.numpy.reductions import max, mean, sum
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import (
    abs,
    equal,
    exp,
    isfinite,
    log,
    maximum,
    rsqrt,
    select,
    sign,
    square,
    stop_gradient,
)
from arrayport.ops.promotion import inexact, promote
from arrayport.ops.structure import Shape, constant, convert, reshape

__all__ = [
    "log_softmax",
    "logmeanexp",
    "logsumexp",
    "one_hot",
    "softmax",
    "standardize",
]


def _top(x: Array, axes: Shape, where: Any) -> Array:
    """Give the largest elements over axes, 0 if not finite, as constants to derivatives."""
    bound = {} if where is None else {"where": where, "initial": -np.inf}
    top = stop_gradient(max(x, axes, keepdims=True, **bound))
    return select(isfinite(top), top, constant(0, top))


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
    if b is not None:
        x, b = promote(x, inexact(arrayed(b, "b")))
        # What counts for nothing must not set the scale either.
        x = select(equal(b, 0), constant(-np.inf, x), x)
    axes = axes_of(axis, len(x.shape))
    real = x.real if dtypes.is_complex(x.dtype) else x
    top = _top(real, axes, where)
    powers = exp(x - top)
    powers = powers if b is None else powers * b
    total = sum(powers, axes, keepdims=keepdims, where=where)
    shift = top if keepdims else reshape(top, total.shape)
    signs = sign(total)
    if return_sign:
        return log(abs(total)) + shift, signs
    if b is not None and not dtypes.is_complex(total.dtype):
        # Of a negative sum there is no logarithm.
        return select(total < 0, constant(np.nan, total), log(abs(total)) + shift)
    return log(total) + shift


def logmeanexp(x: Any, axis: Any = None, where: Any = None, keepdims: bool = False) -> Array:
    """Give log(mean(exp(x))) over axes. Source: ``jax.nn.logmeanexp``."""
    x = inexact(arrayed(x, "x"))
    axes = axes_of(axis, len(x.shape))
    total = logsumexp(x, axes, where=where, keepdims=keepdims)
    count = sum(x * 0 + 1, axes, where=where, keepdims=keepdims)
    difference: Array = total - log(count)
    return difference


def standardize(
    x: Any,
    axis: Any = -1,
    mean: Any = None,
    variance: Any = None,
    epsilon: Any = 1e-5,
    where: Any = None,
    *,
    algorithm: str = "fast",
) -> Array:
    """Subtract the mean over axes and divide by the root of variance + epsilon.

    Source: ``jax.nn.standardize``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.nn.standardize(anp.array([-1.0, 1.0]), epsilon=0.0)
    Array([-1.,  1.], dtype=float32)
    """
    x = inexact(arrayed(x, "x"))
    axes = axes_of(axis, len(x.shape))
    if mean is None:
        mean = _mean(x, axes, where)
    if variance is None:
        if algorithm == "fast":
            # Rounding may leave a little less than nothing.
            squares = _mean(square(x), axes, where) - square(mean)
            variance = maximum(squares, constant(0, squares))
        else:
            variance = _mean(square(x - mean), axes, where)
    out: Array = (x - mean) * rsqrt(variance + epsilon)
    return out


def _mean(x: Array, axes: Shape, where: Any) -> Array:
    return mean(x, axes, keepdims=True, where=where)


def one_hot(x: Any, num_classes: int, *, dtype: Any = None, axis: Any = -1) -> Array:
    """Put 1 at the place on a new axis that each integer names, 0 elsewhere.

    An integer out of range gives zeros. Source: ``jax.nn.one_hot``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.nn.one_hot(anp.array([1, 0]), 2)
    Array([[0., 1.],
           [1., 0.]], dtype=float32)
    """
    x = arrayed(x, "x")
    known = dtype_or(dtype, dtypes.default_float())
    rank = len(x.shape) + 1
    axis = axis_of(axis, rank)
    column = [num_classes if i == axis else 1 for i in range(rank)]
    counted = x.dtype if dtypes.is_integer(x.dtype) else dtypes.int32
    places = iota_like(x, counted, axis, tuple(column))
    expanded = reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))
    return convert(equal(expanded, places), known)
