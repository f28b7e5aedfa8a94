"""Activations: the elementwise functions between the layers of a network."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import strong
from arrayport.ops import special
from arrayport.ops.elementwise import (
    abs,
    clamp,
    exp,
    expm1,
    greater,
    greater_equal,
    less,
    less_equal,
    log1p,
    logistic,
    maximum,
    minimum,
    neg,
    select,
    tanh,
)
from arrayport.ops.elementwise import sqrt as root
from arrayport.ops.promotion import inexact, lift
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.structure import axis_of, constant, convert
from arrayport.scipy.exponentials import log1mexp

__all__ = [
    "celu",
    "elu",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "identity",
    "leaky_relu",
    "log1mexp",
    "log_sigmoid",
    "mish",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softplus",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
    "swish",
    "tanh",
]


def _weakly(x: Any) -> Array:
    """Cast integers and booleans to a float that gives way, as their product with 1.0 does."""
    x = lift(x, None, "x")
    return x if dtypes.is_inexact(x.dtype) else convert(x, dtypes.default_float(), weak=True)


def identity(x: Any) -> Array:
    """Give x as it is. Source: ``jax.nn.identity``.

    >>> from arrayport import nn
    >>> import arrayport.numpy as anp
    >>> nn.identity(anp.array([-2.0, 3.0]))
    Array([-2.,  3.], dtype=float32)
    """
    return lift(x)


def relu(x: Any) -> Array:
    """Give max(x, 0), with derivative 0 at 0. Source: ``jax.nn.relu``.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.nn.relu(anp.array([-1.0, 2.0]))
    Array([0., 2.], dtype=float32)
    """
    x = lift(x, None, "x")
    return select(less_equal(x, 0), constant(0, x), x)  # so that NaN stays NaN


def relu6(x: Any) -> Array:
    """Give min(max(x, 0), 6). Source: ``jax.nn.relu6``.

    >>> from arrayport import nn
    >>> import arrayport.numpy as anp
    >>> nn.relu6(anp.array([-2.0, 3.0]))
    Array([0., 3.], dtype=float32)
    """
    x = _weakly(x)
    return clamp(constant(0, x), x, constant(6, x))


def sigmoid(x: Any) -> Array:
    """Give 1 / (1 + exp(-x)). Source: ``jax.nn.sigmoid``.

    >>> import arrayport as ap
    >>> ap.nn.sigmoid(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return logistic(x)


@unit("x")
def silu(x: Any) -> Array:
    """Give x sigmoid(x). Source: ``jax.nn.silu``.

    >>> from arrayport import nn
    >>> import arrayport.numpy as anp
    >>> nn.silu(anp.array([-2.0, 3.0]))
    Array([-0.2384...,  2.8577... ], dtype=float32)
    """
    x = inexact(lift(x, None, "x"))
    return x * logistic(x)


swish = silu


@unit("x")
def softplus(x: Any) -> Array:
    """Give log(1 + exp(x)). Source: ``jax.nn.softplus``.

    >>> import arrayport as ap
    >>> ap.nn.softplus(100.0)
    Array(100., dtype=float32, weak_type=True)
    """
    x = inexact(lift(x, None, "x"))
    positive = greater(x, 0)
    larger = select(positive, x, constant(0, x))
    return larger + log1p(exp(select(positive, neg(x), x)))


@unit("x")
def log_sigmoid(x: Any) -> Array:
    """Give log(sigmoid(x)). Source: ``jax.nn.log_sigmoid``.

    >>> from arrayport import nn
    >>> import arrayport.numpy as anp
    >>> nn.log_sigmoid(anp.array([-2.0, 3.0]))
    Array([-2.1269...  , -0.0485...], dtype=float32)
    """
    return neg(softplus(neg(lift(x, None, "x"))))


@unit("x")
def soft_sign(x: Any) -> Array:
    """Give x / (1 + abs(x)). Source: ``jax.nn.soft_sign``.

    >>> from arrayport import nn
    >>> import arrayport.numpy as anp
    >>> nn.soft_sign(anp.array([-2.0, 3.0]))
    Array([-0.6666...,  0.75     ], dtype=float32)
    """
    x = inexact(lift(x, None, "x"))
    return x / (abs(x) + 1)


@unit("x", "alpha")
def elu(x: Any, alpha: Any = 1.0) -> Array:
    """Give x if positive, else alpha (exp(x) - 1). Source: ``jax.nn.elu``.

    >>> from arrayport import nn
    >>> import arrayport.numpy as anp
    >>> nn.elu(anp.array([-2.0, 3.0]))
    Array([-0.8646...,  3.        ], dtype=float32)
    """
    x = _weakly(x)
    up = greater(x, 0)
    return select(up, x, alpha * expm1(select(up, constant(0, x), x)))


@unit("x", "alpha")
def celu(x: Any, alpha: Any = 1.0) -> Array:
    """Give x if positive, else alpha (exp(x / alpha) - 1). Source: ``jax.nn.celu``.

    >>> from arrayport import nn
    >>> import arrayport.numpy as anp
    >>> nn.celu(anp.array([-2.0, 3.0]))
    Array([-0.8646...,  3.        ], dtype=float32)
    """
    x = _weakly(x)
    up, zero = greater(x, 0), constant(0, x)
    return select(up, x, zero) + alpha * expm1(select(up, zero, x) / alpha)


@unit("x")
def selu(x: Any) -> Array:
    """Give the scaled `elu` that keeps mean and variance. Source: ``jax.nn.selu``.

    >>> from arrayport import nn
    >>> import arrayport.numpy as anp
    >>> nn.selu(anp.array([-2.0, 3.0]))
    Array([-1.5201...,  3.1521... ], dtype=float32)
    """
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)


@unit("x", "negative_slope")
def leaky_relu(x: Any, negative_slope: Any = 0.01) -> Array:
    """Give x if not negative, else negative_slope x. Source: ``jax.nn.leaky_relu``.

    >>> import arrayport as ap
    >>> ap.nn.leaky_relu(-1.0)
    Array(-0.01, dtype=float32, weak_type=True)
    """
    x = _weakly(x)
    return select(greater_equal(x, 0), x, negative_slope * x)


@unit("x")
def gelu(x: Any, approximate: bool = True) -> Array:
    """Give x times the normal distribution's function of x, or its tanh approximation.

    Source: ``jax.nn.gelu``.

    >>> import arrayport as ap
    >>> ap.nn.gelu(1.0, approximate=False)
    Array(0.8413447, dtype=float32)
    """
    x = strong(inexact(lift(x, None, "x")))
    if approximate:
        return x * (0.5 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * (x * x * x)))))
    return 0.5 * x * special.erfc(neg(x) * sqrt(0.5))


@unit("x")
def glu(x: Any, axis: int = -1) -> Array:
    """Give the first half of an axis times the sigmoid of the second. Source: ``jax.nn.glu``.

    >>> from arrayport import nn
    >>> import arrayport.numpy as anp
    >>> nn.glu(anp.array([3.0, 0.0]))
    Array([1.5], dtype=float32)
    """
    x = inexact(lift(x, None, "x"))
    axis = axis_of(axis, len(x.shape), "axis")
    size = x.shape[axis]
    if size % 2:
        raise ValueError(f"glu needs an even extent, axis {axis} of shape {x.shape} has {size}")
    first, second = (slice_in_dim(x, i, i + size // 2, axis=axis) for i in (0, size // 2))
    return first * logistic(second)


@unit("x")
def hard_tanh(x: Any) -> Array:
    """Limit x to the range from -1 to 1. Source: ``jax.nn.hard_tanh``.

    >>> from arrayport import nn
    >>> import arrayport.numpy as anp
    >>> nn.hard_tanh(anp.array([-2.0, 3.0]))
    Array([-1.,  1.], dtype=float32)
    """
    x = lift(x, None, "x")
    above = x if dtypes.kind(x.dtype) in "bu" else select(less(x, -1), constant(-1, x), x)
    return select(greater(x, 1), constant(1, x), above)


@unit("x")
def hard_sigmoid(x: Any) -> Array:
    """Give relu6(x + 3) / 6. Source: ``jax.nn.hard_sigmoid``.

    >>> from arrayport import nn
    >>> import arrayport.numpy as anp
    >>> nn.hard_sigmoid(anp.array([-2.0, 3.0]))
    Array([0.1666..., 1.        ], dtype=float32)
    """
    return relu6(_weakly(x) + 3.0) / 6.0


@unit("x")
def hard_silu(x: Any) -> Array:
    """Give x hard_sigmoid(x). Source: ``jax.nn.hard_silu``.

    >>> from arrayport import nn
    >>> import arrayport.numpy as anp
    >>> nn.hard_silu(anp.array([-2.0, 3.0]))
    Array([-0.3333...,  3.        ], dtype=float32)
    """
    x = _weakly(x)
    return x * hard_sigmoid(x)


hard_swish = hard_silu


@unit("x", "b")
def squareplus(x: Any, b: Any = 4) -> Array:
    """Give (x + sqrt(x**2 + b)) / 2. Source: ``jax.nn.squareplus``.

    >>> from arrayport import nn
    >>> import arrayport.numpy as anp
    >>> nn.squareplus(anp.array([-2.0, 3.0]))
    Array([0.4142..., 3.3027... ], dtype=float32)
    """
    x = inexact(lift(x, None, "x"))
    return (x + root(x * x + b)) / 2


@unit("x")
def mish(x: Any) -> Array:
    """Give x tanh(softplus(x)). Source: ``jax.nn.mish``.

    >>> from arrayport import nn
    >>> import arrayport.numpy as anp
    >>> nn.mish(anp.array([-2.0, 3.0]))
    Array([-0.2525...,  2.9865...  ], dtype=float32)
    """
    x = inexact(lift(x, None, "x"))
    return x * tanh(softplus(x))


@unit("x")
def sparse_plus(x: Any) -> Array:
    """Give 0 up to -1, then (x + 1)**2 / 4, and x from 1. Source: ``jax.nn.sparse_plus``.

    >>> from arrayport import nn
    >>> import arrayport.numpy as anp
    >>> nn.sparse_plus(anp.array([-2.0, 3.0]))
    Array([0., 3.], dtype=float32)
    """
    x = _weakly(x)
    middle = (x + 1.0) * (x + 1.0) / 4
    return select(x <= -1, constant(0, x), select(x >= 1, x, middle))


@unit("x")
def sparse_sigmoid(x: Any) -> Array:
    """Give (x + 1) / 2, limited to the range from 0 to 1. Source: ``jax.nn.sparse_sigmoid``.

    >>> from arrayport import nn
    >>> import arrayport.numpy as anp
    >>> nn.sparse_sigmoid(anp.array([-2.0, 3.0]))
    Array([0., 1.], dtype=float32)
    """
    x = _weakly(x)
    return 0.5 * minimum(maximum(x + 1.0, constant(0, x)), constant(2, x))
