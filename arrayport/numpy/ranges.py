"""Numbers at equal steps: ranges, grids of coordinates, and the windows made from them."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.errors import ConcretizationTypeError
from arrayport.core.units import unit
from arrayport.numpy.arguments import (
    arrayed,
    axis_of,
    count_of,
    dtype_or,
    real_only,
    shape_of,
    strong,
)
from arrayport.ops import creation, shapes
from arrayport.ops.elementwise import abs, cos, exp, floor, log, power, sign, sqrt, square
from arrayport.ops.placement import device_put, no_sharding, on_device
from arrayport.ops.promotion import common_shape, from_host, inexact, promote_inexact
from arrayport.ops.special import bessel_i0
from arrayport.ops.structure import broadcast_in_dim, broadcast_to, convert, move_axis, reshape

__all__ = [
    "arange",
    "bartlett",
    "blackman",
    "geomspace",
    "hamming",
    "hanning",
    "indices",
    "kaiser",
    "linspace",
    "logspace",
    "meshgrid",
]


def _number(x: Any, name: str) -> Any:
    """Give a bound as a number: ranges have static shapes."""
    if not isinstance(x, Array | np.ndarray | np.generic | int | float):
        raise TypeError(f"{name} of arange must be a real number, not {x!r}")
    if not isinstance(x, Array):
        return x
    use = f"the {name} of arange, on which its shape depends"
    return np.asarray(x.__array__() if x.concrete(ConcretizationTypeError, use) is not None else x)


def arange(
    start: Any,
    stop: Any = None,
    step: Any = None,
    dtype: Any = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Count from start (0 if only a stop is given) by steps of `step` up to, not including, stop.

    The numbers must not be traced: the shape depends on them. Raises ConcretizationTypeError if
    they are. Source: ``jax.numpy.arange``.

    >>> import arrayport.numpy as anp
    >>> anp.arange(3), anp.arange(1, 2, 0.5)
    (Array([0, 1, 2], dtype=int32), Array([1. , 1.5], dtype=float32))
    """
    no_sharding(out_sharding, "arange")
    if stop is None and step is None and type(start) is int:
        known = dtype_or(dtype, dtypes.default_int())
        if dtypes.is_integer(known):
            dtypes.check_fits(max(start - 1, 0), known)
            return on_device(device, creation.iota, known, max(start, 0))
    given = (("start", start), ("stop", stop), ("step", step))
    bounds = {name: _number(x, name) for name, x in given if x is not None}
    if not bounds:
        raise TypeError("arange needs a start or a stop, which are numbers, not None")
    if "step" in bounds and bounds["step"] == 0:
        raise ZeroDivisionError("step of arange must not be 0")
    if dtype is None:
        pairs = [
            (dtypes.canonicalize(x.dtype), False)
            if isinstance(x, np.ndarray | np.generic)
            else dtypes.scalar_dtype(x)
            for x in bounds.values()
        ]
        known = dtypes.result_type(*pairs)[0]
    else:
        known = dtypes.canonicalize(dtype)
    if list(bounds) == ["start"]:
        host = np.arange(bounds["start"])
    else:
        host = np.arange(bounds["start"], bounds.get("stop"), bounds.get("step"))
    if dtypes.is_integer(known) and host.size and host.dtype.kind in "iu":
        dtypes.check_fits(int(host[0]), known)
        dtypes.check_fits(int(host[-1]), known)
    return on_device(device, from_host, host.astype(known))


@unit("start", "stop")
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Space `num` values evenly from start to stop, which is the last one if `endpoint`.

    Start and stop may be arrays that broadcast; the values run along the answer's `axis`. With
    `retstep` the step comes as well. Raises ValueError for a negative `num`. Source:
    ``jax.numpy.linspace``.

    >>> import arrayport.numpy as anp
    >>> anp.linspace(0, 1, 3)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    num = count_of(num, "num")
    low, high = (strong(x) for x in promote_inexact((start, stop), "linspace"))
    known = dtype_or(dtype, low.dtype)
    shape = common_shape(low.shape, high.shape)
    low, high = broadcast_to(low, shape), broadcast_to(high, shape)
    parts = num - 1 if endpoint else num
    real = dtypes.real_dtype(low.dtype)
    if parts > 0:
        count = creation.iota_like(low, real, 0, (num, *shape))
        axes = range(1, len(shape) + 1)
        first, last = (broadcast_in_dim(x, (num, *shape), axes) for x in (low, high / parts))
        out = first * (1 - count / parts) + last * count
        if endpoint:
            out = shapes.concatenate([out[:-1], reshape(high, (1, *shape))], 0)
    else:
        out = broadcast_in_dim(low, (num, *shape), range(1, len(shape) + 1))
    out = move_axis(out, 0, axis_of(axis, len(shape) + 1))
    if dtypes.is_integer(known) and not dtypes.is_integer(out.dtype):
        out = floor(out)
    out = convert(out, known)
    out = out if device is None else device_put(out, device)
    if not retstep:
        return out
    return out, (high - low) / parts if parts > 0 else low * dtypes.finfo(real).max * 2


@unit("start", "stop", "base")
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    """Raise `base` to evenly spaced powers from start to stop. Source: ``jax.numpy.logspace``.

    >>> import arrayport.numpy as anp
    >>> anp.logspace(0, 2, 3, base=2)
    Array([1., 2., 4.], dtype=float32)
    """
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    out = power(base, exponents)
    return convert(out, dtype_or(dtype, out.dtype))


@unit("start", "stop")
def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Array:
    """Space `num` values from start to stop so that neighbours have one ratio.

    Raises nothing for zero: the answer has NaN. Source: ``jax.numpy.geomspace``.

    >>> import arrayport.numpy as anp
    >>> anp.geomspace(1.0, 4.0, 3)
    Array([1., 2., 4.], dtype=float32)
    """
    low, high = (strong(x) for x in promote_inexact((start, stop), "geomspace"))
    own = sign(low)
    steps = linspace(log(low / own), log(high / own), num, endpoint)
    out = exp(steps) * own
    # The ends are exact.
    ends = [(0, low)] if num and not endpoint else [(0, low), (-1, high)][:num]
    for place, end in ends:
        out = out.at[place].set(end)
    out = move_axis(out, 0, axis_of(axis, len(out.shape)))
    return convert(out, dtype_or(dtype, out.dtype))


def meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Array, ...]:
    """Make of vectors one array each that holds their coordinates over the whole grid.

    `indexing` "ij" takes the axes in the order of the vectors, "xy" swaps the first two. Raises
    ValueError for what is no vector or another `indexing`. Source: ``jax.numpy.meshgrid``.

    >>> import arrayport.numpy as anp
    >>> anp.meshgrid(anp.arange(2), anp.arange(1))
    (Array([[0, 1]], dtype=int32), Array([[0, 0]], dtype=int32))
    """
    del copy
    if indexing not in {"xy", "ij"}:
        raise ValueError(f"indexing={indexing!r} of meshgrid must be 'xy' or 'ij'")
    xs = [arrayed(x, "xi") for x in xi]
    if any(len(x.shape) > 1 for x in xs):
        raise ValueError("meshgrid takes vectors, not arrays of several axes: use ravel")
    order = list(range(len(xs)))
    if indexing == "xy" and len(xs) > 1:
        order[:2] = [1, 0]
    shape = [0] * len(xs)
    for x, axis in zip(xs, order, strict=True):
        shape[axis] = x.size
    grid = [
        broadcast_in_dim(
            reshape(x, (x.size,)),
            [n if i == axis else 1 for i, n in enumerate(shape)] if sparse else tuple(shape),
            (axis,),
        )
        for x, axis in zip(xs, order, strict=True)
    ]
    return tuple(grid)


def indices(dimensions: Sequence[int], dtype: Any = None, sparse: bool = False) -> Any:
    """Give the coordinates of every element of a shape: one array each axis, stacked unless sparse.

    Source: ``jax.numpy.indices``.

    >>> import arrayport.numpy as anp
    >>> anp.indices((2, 1))
    Array([[[0],
            [1]],
    <BLANKLINE>
           [[0],
            [0]]], dtype=int32)
    """
    dimensions = shape_of(dimensions, "dimensions")
    known = dtype_or(dtype, dtypes.default_int())
    counts = [creation.iota(known, n) for n in dimensions]
    grid = meshgrid(*counts, sparse=sparse, indexing="ij")
    if sparse:
        return grid
    return shapes.stack(grid) if grid else creation.full((0,), 0, known)


# ---- windows


def _angles(M: int) -> Array:
    """Give the angles 2 pi n / (M - 1) of a window of M points."""
    M = count_of(M, "M")
    places = creation.iota(dtypes.default_float(), M)
    return places * (2 * pi / (M - 1)) if M > 1 else places


def _window(M: int, values: Array) -> Array:
    return values if M > 1 else creation.full((M,), 1, dtypes.default_float())


def bartlett(M: int) -> Array:
    """Make a triangular window of M points. Source: ``numpy.bartlett``.

    >>> import arrayport.numpy as anp
    >>> anp.bartlett(3)
    Array([0., 1., 0.], dtype=float32)
    """
    places = creation.iota(dtypes.default_float(), count_of(M, "M"))
    return _window(M, 1 - abs(places * 2 / max(M - 1, 1) - 1))


def blackman(M: int) -> Array:
    """Make a Blackman window of M points. Source: ``numpy.blackman``.

    >>> import arrayport.numpy as anp
    >>> anp.blackman(3).shape
    (3,)
    """
    angles = _angles(M)
    return _window(M, 0.42 - 0.5 * cos(angles) + 0.08 * cos(2 * angles))


def hamming(M: int) -> Array:
    """Make a Hamming window of M points. Source: ``numpy.hamming``.

    >>> import arrayport.numpy as anp
    >>> anp.hamming(1)
    Array([1.], dtype=float32)
    """
    return _window(M, 0.54 - 0.46 * cos(_angles(M)))


def hanning(M: int) -> Array:
    """Make a Hann window of M points. Source: ``numpy.hanning``.

    >>> import arrayport.numpy as anp
    >>> anp.hanning(3)
    Array([0., 1., 0.], dtype=float32)
    """
    return _window(M, 0.5 - 0.5 * cos(_angles(M)))


def kaiser(M: int, beta: Any) -> Array:
    """Make a Kaiser window of M points, the narrower the larger beta. Source: ``numpy.kaiser``.

    >>> import arrayport.numpy as anp
    >>> anp.kaiser(3, 0.0)
    Array([1., 1., 1.], dtype=float32)
    """
    beta = convert(inexact(real_only(beta, "kaiser")), dtypes.default_float())
    places = creation.iota(dtypes.default_float(), count_of(M, "M")) * (2 / max(M - 1, 1)) - 1
    return _window(M, bessel_i0(beta * sqrt(1 - square(places))) / bessel_i0(beta))
