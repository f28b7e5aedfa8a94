"""Initializers: functions that draw a layer's first weights, `init(key, shape, dtype)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import e, expm1, pi, prod, sqrt
from typing import TYPE_CHECKING, Any

from arrayport import random
from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.names import absent
from arrayport.numpy import creation
from arrayport.numpy.arguments import axes_of, dtype_or
from arrayport.numpy.shapes import moveaxis
from arrayport.ops.elementwise import exp, log1p
from arrayport.ops.placement import no_sharding

Initializer = Callable[..., Array]

__all__ = [
    "Initializer",
    "constant",
    "delta_orthogonal",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "kaiming_normal",
    "kaiming_uniform",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]


def zeros(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Array:
    """Give zeros. Source: ``jax.nn.initializers.zeros``.

    >>> from arrayport import random
    >>> from arrayport.nn import initializers
    >>> initializers.zeros(random.key(0), (2,))
    Array([0., 0.], dtype=float32)
    """
    no_sharding(out_sharding, "zeros")
    del key
    return creation.zeros(shape, dtype)


def ones(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Array:
    """Give ones. Source: ``jax.nn.initializers.ones``.

    >>> from arrayport import random
    >>> from arrayport.nn import initializers
    >>> initializers.ones(random.key(0), (2,))
    Array([1., 1.], dtype=float32)
    """
    no_sharding(out_sharding, "ones")
    del key
    return creation.ones(shape, dtype)


def constant(value: Any, dtype: Any = None) -> Initializer:
    """Make an initializer that gives a value everywhere. Source: ``jax.nn.initializers.constant``.

    >>> from arrayport import nn, random
    >>> nn.initializers.constant(2.0)(random.PRNGKey(0), (2,))
    Array([2., 2.], dtype=float32)
    """
    own = dtype

    def init(key: Any, shape: Any, dtype: Any = own) -> Array:
        del key
        return creation.full(shape, value, dtype_or(dtype, dtypes.default_float()))

    return init


def uniform(scale: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Make an initializer that draws from [0, scale). Source: ``jax.nn.initializers.uniform``.

    >>> from arrayport import random
    >>> from arrayport.nn import initializers
    >>> initializers.uniform()(random.key(0), (2, 3)).shape
    (2, 3)
    """
    own = dtype

    def init(key: Any, shape: Any, dtype: Any = own) -> Array:
        return random.uniform(key, shape, dtype) * scale

    return init


def normal(stddev: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Make an initializer that draws normal numbers. Source: ``jax.nn.initializers.normal``.

    >>> from arrayport import random
    >>> from arrayport.nn import initializers
    >>> initializers.normal()(random.key(0), (2, 3)).shape
    (2, 3)
    """
    own = dtype

    def init(key: Any, shape: Any, dtype: Any = own) -> Array:
        return random.normal(key, shape, dtype) * stddev

    return init


def truncated_normal(
    stddev: Any = 1e-2, dtype: Any = None, lower: Any = -2.0, upper: Any = 2.0
) -> Initializer:
    """Make an initializer that draws normal numbers between bounds, in units of stddev.

    Source: ``jax.nn.initializers.truncated_normal``.

    >>> from arrayport import random
    >>> from arrayport.nn import initializers
    >>> initializers.truncated_normal()(random.key(0), (2, 3)).shape
    (2, 3)
    """
    own = dtype

    def init(key: Any, shape: Any, dtype: Any = own) -> Array:
        return random.truncated_normal(key, lower, upper, shape, dtype) * stddev

    return init


def variance_scaling(
    scale: Any,
    mode: str,
    distribution: str,
    in_axis: Any = -2,
    out_axis: Any = -1,
    batch_axis: Any = (),
    dtype: Any = None,
) -> Initializer:
    """Make an initializer of variance scale / n, n being the inputs, the outputs, or their mean.

    `mode`: "fan_in", "fan_out", "fan_avg"; `distribution`: "truncated_normal", "normal", "uniform".
    Axes that are neither are a window, and count with both. Raises ValueError for other names.
    Source: ``jax.nn.initializers.variance_scaling``.

    >>> from arrayport import nn, random
    >>> nn.initializers.variance_scaling(1.0, "fan_in", "normal")(random.PRNGKey(0), (3, 2)).shape
    (3, 2)
    """
    if mode not in {"fan_in", "fan_out", "fan_avg"}:
        raise ValueError(f"mode={mode!r} must be 'fan_in', 'fan_out' or 'fan_avg'")
    if distribution not in {"truncated_normal", "normal", "uniform"}:
        known = "'truncated_normal', 'normal' or 'uniform'"
        raise ValueError(f"distribution={distribution!r} must be {known}")
    own = dtype

    def init(key: Any, shape: Any, dtype: Any = own) -> Array:
        inputs, outputs = _fans(tuple(shape), in_axis, out_axis, batch_axis)
        count = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}[mode]
        variance = scale / count
        if distribution == "normal":
            return random.normal(key, shape, dtype) * sqrt(variance)
        if dtype is not None and dtypes.is_complex(dtypes.canonicalize(dtype)):
            return _disc(key, shape, dtypes.canonicalize(dtype), distribution, variance)
        if distribution == "uniform":
            return random.uniform(key, shape, dtype, -1) * sqrt(3 * variance)
        # The deviation of a normal distribution cut off at two deviations.
        cut = 0.87962566103423978
        return random.truncated_normal(key, -2, 2, shape, dtype) * (sqrt(variance) / cut)

    return init


def _disc(key: Any, shape: Any, dtype: Any, distribution: str, variance: float) -> Array:
    """Complex numbers of any direction, whose size is at most a bound."""
    of_size, of_angle = random.split(key)
    real = dtypes.real_dtype(dtype)
    draw = random.uniform(of_size, shape, real)
    angle = random.uniform(of_angle, shape, real) * (2 * pi)
    if distribution == "uniform":
        size = (draw * (2 * variance)) ** 0.5
    else:  # The square of the size is exponential, and cut off at two deviations.
        size = (-log1p(draw * expm1(-4))) ** 0.5 * (sqrt(variance) / sqrt(1 - 5 * e**-4))
    return size * exp(angle * 1j)


def _fans(
    shape: Sequence[int], in_axis: Any, out_axis: Any, batch_axis: Any
) -> tuple[float, float]:
    if len(shape) < 2:
        raise ValueError(f"an initializer that scales by inputs needs two axes, not shape {shape}")
    first, last, batch = (
        prod(shape[i] for i in axes_of(axis, len(shape)))
        for axis in (in_axis, out_axis, batch_axis)
    )
    window = prod(shape) / first / last / batch
    return first * window, last * window


def _scaled(name: str, scale: float, mode: str, distribution: str) -> Callable[..., Initializer]:
    """Make the function of a name that makes an initializer with a fixed scaling."""

    def make(
        in_axis: Any = -2, out_axis: Any = -1, batch_axis: Any = (), dtype: Any = None
    ) -> Initializer:
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""Make the initializer `variance_scaling({scale}, "{mode}", "{distribution}")`.

    Source: ``jax.nn.initializers.{name}``.

    >>> from arrayport import nn, random
    >>> nn.initializers.{name}()(random.key(0), (3, 2)).shape
    (3, 2)
    """
    return make


def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Make an initializer of orthonormal rows or columns, those along `column_axis`, times scale.

    Raises ValueError for shapes of less than two axes. Source:
    ``jax.nn.initializers.orthogonal``.

    >>> from arrayport import nn, random
    >>> x = nn.initializers.orthogonal()(random.PRNGKey(0), (3, 2))
    >>> (x.T @ x).round(4) + 0.0
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    own = dtype

    def init(key: Any, shape: Any, dtype: Any = own) -> Array:
        if len(shape) < 2:
            raise ValueError(f"an orthogonal initializer needs two axes, not shape {shape}")
        columns = shape[column_axis]
        rest = [n for i, n in enumerate(shape) if i != column_axis % len(shape)]
        matrix = random.orthogonal(key, prod(rest), (), dtype, columns)
        return scale * moveaxis(matrix.reshape(*rest, columns), -1, column_axis)

    return init


def delta_orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Make an initializer of convolutions: an orthogonal matrix in the window's middle, else zeros.

    Shapes are (*window, inputs, outputs), with no more inputs than outputs and one to three axes
    of the window, else ValueError. Source: ``jax.nn.initializers.delta_orthogonal``.

    >>> from arrayport import random
    >>> from arrayport.nn import initializers
    >>> initializers.delta_orthogonal()(random.key(0), (3, 2, 2)).shape
    (3, 2, 2)
    """
    own = dtype

    def init(key: Any, shape: Any, dtype: Any = own) -> Array:
        *window, inputs, outputs = shape
        if not 1 <= len(window) <= 3 or inputs > outputs:
            raise ValueError(
                "a delta-orthogonal initializer needs a shape (*window, inputs, outputs) of three "
                f"to five axes with no more inputs than outputs, not {shape}"
            )
        matrix = orthogonal(scale, column_axis)(key, (inputs, outputs), dtype)
        middle = tuple((n - 1) // 2 for n in window)
        return creation.zeros(shape, matrix.dtype).at[middle].set(matrix)

    return init


glorot_uniform = xavier_uniform = _scaled("glorot_uniform", 1.0, "fan_avg", "uniform")
glorot_normal = xavier_normal = _scaled("glorot_normal", 1.0, "fan_avg", "truncated_normal")
lecun_uniform = _scaled("lecun_uniform", 1.0, "fan_in", "uniform")
lecun_normal = _scaled("lecun_normal", 1.0, "fan_in", "truncated_normal")
he_uniform = kaiming_uniform = _scaled("he_uniform", 2.0, "fan_in", "uniform")
he_normal = kaiming_normal = _scaled("he_normal", 2.0, "fan_in", "truncated_normal")

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("nn.initializers", name)
