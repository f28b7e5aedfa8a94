"""Statistics: weighted averages, quantiles, covariances; values between points."""

from __future__ import annotations

import builtins
from math import prod
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import arrayed, axes_of, no_out, strong, together
from arrayport.numpy.creation import asarray
from arrayport.numpy.cumulations import cumsum, diff
from arrayport.numpy.elementwise import clip
from arrayport.numpy.indexing import take_along_axis
from arrayport.numpy.joins import concatenate
from arrayport.numpy.products import dot
from arrayport.numpy.questions import isclose, isnan
from arrayport.numpy.reductions import all, any, mean, sum
from arrayport.numpy.searching import searchsorted
from arrayport.ops import sorting
from arrayport.ops.elementwise import (
    ceil,
    conj,
    equal,
    floor,
    imag,
    logical_not,
    maximum,
    real,
    select,
    sqrt,
)
from arrayport.ops.elementwise import complex as complex_of
from arrayport.ops.placement import no_sharding
from arrayport.ops.promotion import inexact, promote_dtypes, promote_inexact
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.structure import Shape, broadcast_to, convert, full_like, reshape, transpose

__all__ = [
    "allclose",
    "array_equal",
    "array_equiv",
    "average",
    "corrcoef",
    "cov",
    "gradient",
    "interp",
    "median",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "percentile",
    "quantile",
]

# ---- comparison of whole arrays


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Array:
    """Say whether two arrays have one shape and equal elements. Source: ``jax.numpy.array_equal``.

    >>> import arrayport.numpy as anp
    >>> anp.array_equal(anp.arange(2), anp.array([0, 1]))
    Array(True, dtype=bool)
    """
    x, y = promote_dtypes(_compared(a1, a2), "array_equal")
    if x.shape != y.shape:
        return asarray(False)
    same = equal(x, y)
    return all(same | (isnan(x) & isnan(y)) if equal_nan else same)


def array_equiv(a1: Any, a2: Any) -> Array:
    """Say whether two arrays broadcast to equal ones. Source: ``numpy.array_equiv``.

    >>> import arrayport.numpy as anp
    >>> anp.array_equiv(anp.ones(2), 1)
    Array(True, dtype=bool)
    """
    x, y = _compared(a1, a2)
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return asarray(False)
    return all(equal(x, y))


def _compared(*arrays: Any) -> list[Array]:
    """Arguments as Arrays; lists and NumPy's arrays go where the others are."""
    return together(*[asarray(a) if isinstance(a, list | tuple) else a for a in arrays])


@unit("a", "b", "rtol", "atol")
def allclose(
    a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Array:
    """Say whether all elements are close, as `isclose` does. Source: ``jax.numpy.allclose``.

    >>> import arrayport.numpy as anp
    >>> anp.allclose(anp.ones(2), 1.000001)
    Array(True, dtype=bool)
    """
    return all(isclose(a, b, rtol, atol, equal_nan))


# ---- averages


@unit("a", "weights")
def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False
) -> Any:
    """Average over axes with weights, of the array's shape or of the axis's extent.

    With `returned` the sum of the weights as well. Source: ``jax.numpy.average``.

    >>> import arrayport.numpy as anp
    >>> anp.average(anp.array([1.0, 3.0]), weights=anp.array([3.0, 1.0]))
    Array(1.5, dtype=float32)
    """
    x = arrayed(a, "a")
    axes = axes_of(axis, len(x.shape))
    if weights is None:
        out = mean(x, axis, keepdims=keepdims)
        total = full_like(out, prod([x.shape[i] for i in axes]))
        return (out, total) if returned else out
    x, w = (strong(v) for v in promote_inexact((x, weights), "average"))
    w = _weighing(w, x.shape, axes)
    total = sum(w, axis, keepdims=keepdims)
    out = sum(x * w, axis, keepdims=keepdims) / total
    return (out, total) if returned else out


def _weighing(w: Array, shape: Shape, axes: Shape) -> Array:
    """Stretch weights to a shape: they have it, or the extents of some axes."""
    if w.shape == shape:
        return w
    if w.shape != tuple([shape[i] for i in axes]):
        raise ValueError(f"weights of shape {w.shape} fit neither shape {shape} nor axes {axes}")
    w = transpose(w, sorted(range(len(axes)), key=axes.__getitem__))
    return broadcast_to(reshape(w, [n if i in axes else 1 for i, n in enumerate(shape)]), shape)


# ---- quantiles

METHODS = ("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf")


@unit("a", "q", "weights")
def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """Find the values below which a part q, from 0 to 1, of the elements over axes lies.

    A vector q gives a first axis. `method`: "linear", "lower", "higher", "midpoint", "nearest", or
    "inverted_cdf", which alone takes `weights`, of the array's shape or of the axis's extent. NaN
    where an element is. Source: ``jax.numpy.quantile``.

    >>> import arrayport.numpy as anp
    >>> anp.quantile(anp.arange(5), 0.5)
    Array(2., dtype=float32)
    """
    _refuse("quantile", out, overwrite_input)
    return _quantile(a, q, axis, method, keepdims, weights, skip_nan=False)


@unit("a", "q", "weights")
def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """Find quantiles of what is not NaN. Source: ``jax.numpy.nanquantile``.

    >>> import arrayport.numpy as anp
    >>> anp.nanquantile(anp.array([anp.nan, 1.0, 3.0]), 0.5)
    Array(2., dtype=float32)
    """
    _refuse("nanquantile", out, overwrite_input)
    return _quantile(a, q, axis, method, keepdims, weights, skip_nan=True)


@unit("a", "q", "weights")
def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Find quantiles of q given in percent. Source: ``jax.numpy.percentile``.

    >>> import arrayport.numpy as anp
    >>> anp.percentile(anp.arange(5), 25)
    Array(1., dtype=float32)
    """
    no_sharding(out_sharding, "percentile")
    _refuse("percentile", out, overwrite_input)
    return _quantile(a, _hundredth(q), axis, method, keepdims, weights, skip_nan=False)


@unit("a", "q", "weights")
def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """Find quantiles, in percent, of what is not NaN. Source: ``jax.numpy.nanpercentile``.

    >>> import arrayport.numpy as anp
    >>> anp.nanpercentile(anp.array([anp.nan, 1.0, 3.0]), 50)
    Array(2., dtype=float32)
    """
    _refuse("nanpercentile", out, overwrite_input)
    return _quantile(a, _hundredth(q), axis, method, keepdims, weights, skip_nan=True)


@unit("a")
def median(
    a: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """Find the middle of the sorted elements, or the mean of the two middle ones.

    Source: ``jax.numpy.median``.

    >>> import arrayport.numpy as anp
    >>> anp.median(anp.array([5, 1, 2, 9]))
    Array(3.5, dtype=float32)
    """
    return quantile(a, 0.5, axis, out, overwrite_input, "midpoint", keepdims)


@unit("a")
def nanmedian(
    a: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """Find the median of what is not NaN. Source: ``jax.numpy.nanmedian``.

    >>> import arrayport.numpy as anp
    >>> anp.nanmedian(anp.array([anp.nan, 1.0, 3.0]))
    Array(2., dtype=float32)
    """
    return nanquantile(a, 0.5, axis, out, overwrite_input, "midpoint", keepdims)


def _refuse(name: str, out: Any, overwrite_input: bool) -> None:
    no_out(name, out)
    if overwrite_input:
        raise ValueError(f"{name}: an Array cannot be overwritten: leave overwrite_input out")


def _hundredth(q: Any) -> Array:
    return inexact(arrayed(q, "q")) / 100


def _quantile(
    a: Any, q: Any, axis: Any, method: str, keepdims: bool, weights: Any, *, skip_nan: bool
) -> Array:
    if method not in METHODS:
        raise ValueError(f"method={method!r} must be one of {', '.join(METHODS)}")
    if weights is not None and method != "inverted_cdf":
        raise NotImplementedError(f"method={method!r} takes no weights: use 'inverted_cdf'")
    x, parts = (strong(inexact(v)) for v in together(a, q))
    parts = convert(parts, x.dtype)
    if len(parts.shape) > 1:
        raise ValueError(f"q must be a number or a vector, not of shape {parts.shape}")
    axes = axes_of(axis, len(x.shape))
    kept = [i for i in range(len(x.shape)) if i not in axes]
    rest = [x.shape[i] for i in kept]
    count = prod(x.shape[i] for i in axes)
    extents = [1 if i in axes else n for i, n in enumerate(x.shape)] if keepdims else rest
    if not count and 0 not in rest:
        if not skip_nan:
            raise ValueError(
                f"there is no quantile or median of no elements, as of shape {x.shape}"
            )
        return full_like(x, np.nan, (*parts.shape, *extents))

    def in_columns(x: Array) -> Array:
        return reshape(transpose(x, [*axes, *kept]), [count, *rest])

    columns = in_columns(x)
    bad = isnan(columns)
    parts_first = reshape(parts, [parts.size] + [1] * len(rest))
    if method == "inverted_cdf":
        heavy = full_like(x, 1) if weights is None else arrayed(weights, "weights").astype(x.dtype)
        heavy = select(bad, full_like(x, 0, ()), in_columns(_weighing(heavy, x.shape, axes)))
        ordered, heavy = sorting.sort([columns, heavy], 0, num_keys=1)
        below_each = cumsum(heavy, 0)
        short = below_each[None] < parts_first[:, None] * below_each[-1]
        place = sum(short, 1).astype(x.dtype)
    else:
        ordered = sorting.sort(columns, 0)
        size = sum(logical_not(bad), 0).astype(x.dtype) if skip_nan else count
        place = parts_first * maximum(size - 1, 0)
    found = _read_between(ordered, place, method)
    if not skip_nan:
        found = select(any(bad, 0), full_like(found, np.nan, ()), found)
    return reshape(found, [*parts.shape, *extents])


def _read_between(columns: Array, place: Array, method: str) -> Array:
    """Read sorted columns at places that may lie between their elements."""

    def row(i: Array) -> Array:
        inside = convert(clip(i, 0, columns.shape[0] - 1), dtypes.int32)
        shape = (place.shape[0], *columns.shape[1:])
        return take_along_axis(columns, broadcast_to(inside, shape), 0)

    low, high = floor(place), ceil(place)
    if method == "linear":
        weight = place - low
        return row(low) * (1 - weight) + row(high) * weight
    if method == "midpoint":
        below, above = row(low), row(high)
        return select(equal(low, high), below, (below + above) * 0.5)
    if method == "nearest":
        return select(place - low <= 0.5, row(low), row(high))
    return row(high) if method == "higher" else row(low)


# ---- spread


@unit("m", "y")
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    dtype: Any = None,
) -> Array:
    """Estimate the covariances of variables, one a row, from their observations.

    `fweights` counts observations, `aweights` weighs them. Source: ``jax.numpy.cov``.

    >>> import arrayport.numpy as anp
    >>> anp.cov(anp.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    given = [m] if y is None else [m, y]
    parts = [strong(v) for v in promote_inexact(given, "cov")]
    if builtins.any(len(part.shape) > 2 for part in parts):
        shapes = " and ".join(str(part.shape) for part in parts)
        raise ValueError(f"cov takes vectors and matrices as m and y, not shape {shapes}")
    rows = [reshape(part, (1, -1)) if len(part.shape) < 2 else part for part in parts]
    x = concatenate([row if rowvar or row.shape[0] == 1 else row.T for row in rows])
    x = x if dtype is None else convert(x, dtypes.canonicalize(dtype))
    ddof = (0 if bias else 1) if ddof is None else ddof
    weight = None
    for given_weight in (fweights, aweights):
        if given_weight is not None:
            own = arrayed(given_weight, "weights").astype(dtypes.real_dtype(x.dtype))
            weight = own if weight is None else weight * own
    if weight is None:
        off = x - mean(x, 1, keepdims=True)
        divisor: Any = x.shape[1] - ddof
        scaled = off
    else:
        total = sum(weight)
        off = x - (sum(x * weight, 1) / total)[:, None]
        if ddof == 0:
            divisor = total
        elif aweights is None:
            divisor = total - ddof
        else:
            divisor = total - ddof * sum(weight * aweights) / total
        scaled = off * weight
    if not x.shape[1]:
        divisor = np.nan
    out = dot(off, conj(scaled).T) / divisor
    return reshape(out, ()) if out.size == 1 else out


@unit("x", "y")
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Array:
    """Estimate the correlation coefficients of variables, one a row.

    Source: ``jax.numpy.corrcoef``.

    >>> import arrayport.numpy as anp
    >>> anp.corrcoef(anp.arange(3), -anp.arange(3)).shape
    (2, 2)
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if not c.shape:
        return c / c
    deviations = sqrt(real(c.diagonal()))
    c = c / deviations[:, None] / deviations[None, :]
    if dtypes.is_complex(c.dtype):
        return complex_of(clip(real(c), -1, 1), clip(imag(c), -1, 1))
    return clip(c, -1, 1)


# ---- between values


@unit("x", "xp", "fp", "left", "right")
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Array:
    """Interpolate linearly between points (xp, fp), xp rising.

    Outside them the first and last value of fp, or `left` and `right`, or the first and last line
    where these are "extrapolate"; with `period` there is no outside, and xp may be in any order.
    Source: ``jax.numpy.interp``.

    >>> import arrayport.numpy as anp
    >>> anp.interp(1.5, anp.array([1.0, 2.0]), anp.array([10.0, 20.0]))
    Array(15., dtype=float32)
    """
    xp, fp = arrayed(xp, "xp"), arrayed(fp, "fp")
    if len(xp.shape) != 1 or xp.shape != fp.shape:
        raise ValueError(f"xp and fp must be vectors of one size, not {xp.shape}, {fp.shape}")
    for name, value in (("left", left), ("right", right)):
        if isinstance(value, str) and value != "extrapolate":
            raise ValueError(f"{name}={value!r} of interp must be a number or 'extrapolate'")
    x, xp = promote_inexact((x, xp), "interp")
    fp = inexact(fp)
    if period is not None:
        x, xp = x % period, xp % period
        order = sorting.argsort(xp)
        xp, fp = xp[order], fp[order]
        xp = concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = concatenate([fp[-1:], fp, fp[:1]])
    i = clip(searchsorted(xp, x, side="right"), 1, xp.size - 1)
    start, run = fp[i - 1], xp[i] - xp[i - 1]
    flat = equal(run, 0)
    slope = (fp[i] - start) / select(flat, full_like(run, 1), run)
    out = select(flat, start, start + (x - xp[i - 1]) * slope)
    if period is None:
        for outside, edge, value in ((x < xp[0], fp[0], left), (x > xp[-1], fp[-1], right)):
            if not isinstance(value, str):
                out = select(outside, edge if value is None else value, out)
    return out


@unit("f", "varargs")
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int | None = None) -> Any:
    """Estimate derivatives along axes by central differences, one-sided at the ends.

    `varargs`: the distance for all axes or one each, as a number or as a vector of places. Gives an
    array for one axis, a list for several. Source: ``jax.numpy.gradient``.

    >>> import arrayport.numpy as anp
    >>> anp.gradient(anp.array([1.0, 2.0, 4.0]))
    Array([1. , 1.5, 2. ], dtype=float32)
    """
    if edge_order is not None:
        raise NotImplementedError("gradient: edge_order= is not supported, leave it out")
    x = inexact(arrayed(f, "f"))
    axes = axes_of(axis, len(x.shape))
    steps = list(varargs) or [1.0]
    if len(steps) == 1:
        steps *= len(axes)
    if len(steps) != len(axes):
        raise TypeError(f"gradient along {len(axes)} axes got {len(varargs)} distances")
    found = [_slopes(x, step, i) for step, i in zip(steps, axes, strict=True)]
    return found[0] if len(found) == 1 else found


def _slopes(x: Array, step: Any, axis: int) -> Array:
    n = x.shape[axis]
    if n < 2:
        raise ValueError(f"gradient needs two values or more along axis {axis} of shape {x.shape}")

    def part(start: int | None, stop: int | None) -> Array:
        return slice_in_dim(x, start, stop, axis=axis)

    if np.ndim(step) == 0:
        first, last = part(1, 2) - part(0, 1), part(n - 1, None) - part(n - 2, n - 1)
        inside = (part(2, None) - part(0, n - 2)) * 0.5
        return concatenate([first, inside, last], axis) / step
    gaps = reshape(diff(step), [-1 if i == axis else 1 for i in builtins.range(len(x.shape))])
    rates = diff(x, axis=axis) / gaps
    low, high = (slice_in_dim(v, 0, -1, axis=axis) for v in (gaps, rates))
    after, before = (slice_in_dim(v, 1, None, axis=axis) for v in (gaps, rates))
    inside = (low * before + after * high) / (low + after)
    ends = slice_in_dim(rates, 0, 1, axis=axis), slice_in_dim(rates, n - 2, None, axis=axis)
    return concatenate([ends[0], inside, ends[1]], axis)
