"""Functions over an axis: softmax and its kin, standardize, and one-hot encodings."""

from __future__ import annotations

from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import arrayed, axes_of, axis_of, count_of, dtype_or
from arrayport.numpy.reductions import mean, sum
from arrayport.ops.creation import iota_like
from arrayport.ops.elementwise import (
    equal,
    log,
    maximum,
    rsqrt,
    square,
)
from arrayport.ops.placement import no_sharding
from arrayport.ops.promotion import inexact
from arrayport.ops.structure import Shape, constant, convert, reshape
from arrayport.scipy.exponentials import log_softmax, logsumexp, softmax

__all__ = [
    "log_softmax",
    "logmeanexp",
    "logsumexp",
    "one_hot",
    "softmax",
    "standardize",
]


@unit("x", "where")
def logmeanexp(x: Any, axis: Any = None, where: Any = None, keepdims: bool = False) -> Array:
    """Give log(mean(exp(x))) over axes. Source: ``jax.nn.logmeanexp``.

    >>> from arrayport import nn
    >>> import arrayport.numpy as anp
    >>> nn.logmeanexp(anp.zeros(3))
    Array(0., dtype=float32)
    """
    x = inexact(arrayed(x, "x"))
    axes = axes_of(axis, len(x.shape))
    total = logsumexp(x, axes, where=where, keepdims=keepdims)
    count = sum(x * 0 + 1, axes, where=where, keepdims=keepdims)
    difference: Array = total - log(count)
    return difference


@unit("x", "mean", "variance", "epsilon", "where")
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


def one_hot(
    x: Any, num_classes: int, *, dtype: Any = None, axis: Any = -1, out_sharding: Any = None
) -> Array:
    """Put 1 at the place on a new axis that each integer names, 0 elsewhere.

    An integer out of range gives zeros. Source: ``jax.nn.one_hot``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.nn.one_hot(anp.array([1, 0]), 2)
    Array([[0., 1.],
           [1., 0.]], dtype=float32)
    """
    no_sharding(out_sharding, "one_hot")
    x = arrayed(x, "x")
    known = dtype_or(dtype, dtypes.default_float())
    rank = len(x.shape) + 1
    axis = axis_of(axis, rank)
    classes = count_of(num_classes, "num_classes")
    column = [classes if i == axis else 1 for i in range(rank)]
    counted = x.dtype if dtypes.is_integer(x.dtype) else dtypes.int32
    places = iota_like(x, counted, axis, tuple(column))
    expanded = reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))
    return convert(equal(expanded, places), known)
