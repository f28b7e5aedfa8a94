"""Polynomials by their coefficients, highest first, and the convolution that multiplies them."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import arrayed, count_of
from arrayport.numpy.joins import concatenate, stack
from arrayport.numpy.linalg import eigvals, inv, lstsq
from arrayport.numpy.products import matmul, outer, tensordot
from arrayport.numpy.reductions import argmax, sum
from arrayport.numpy.searching import argsort
from arrayport.numpy.selecting import trim_zeros
from arrayport.numpy.shapes import atleast_1d, flip, roll
from arrayport.ops.elementwise import abs, conj, not_equal, power, select, sqrt, square
from arrayport.ops.elementwise import neg as negative
from arrayport.ops.promotion import common_shape, counted, inexact, promote_dtypes, promote_inexact
from arrayport.ops.shapes import pad
from arrayport.ops.structure import constant, convert, full_like

__all__ = [
    "convolve",
    "correlate",
    "poly",
    "polyadd",
    "polyder",
    "polydiv",
    "polyfit",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "roots",
    "vander",
]


@unit("p", "x")
def polyval(p: Any, x: Any, *, unroll: int | None = None) -> Array:
    """Evaluate a polynomial at x by Horner's scheme. Source: ``jax.numpy.polyval``.

    >>> import arrayport.numpy as anp
    >>> anp.polyval(anp.array([2.0, 1.0]), 3.0)
    Array(7., dtype=float32)
    """
    del unroll
    p, x = promote_dtypes((p, x), "polyval")
    out = full_like(x, 0, common_shape(p.shape[1:], x.shape))
    for i in range(p.shape[0]):
        out = out * x + p[i]
    return out


@unit("a1", "a2")
def polyadd(a1: Any, a2: Any) -> Array:
    """Add two polynomials, or columns of them. Source: ``jax.numpy.polyadd``.

    >>> import arrayport.numpy as anp
    >>> anp.polyadd(anp.array([1, 2, 3]), anp.array([10]))
    Array([ 1,  2, 13], dtype=int32)
    """
    x, y = promote_dtypes((atleast_1d(a1), atleast_1d(a2)), "a polynomial")
    x, y = (x, y) if x.shape[0] >= y.shape[0] else (y, x)
    return x.at[x.shape[0] - y.shape[0] :].add(y)


@unit("a1", "a2")
def polysub(a1: Any, a2: Any) -> Array:
    """Subtract two polynomials, or columns of them. Source: ``jax.numpy.polysub``.

    >>> import arrayport.numpy as anp
    >>> anp.polysub(anp.array([1, 2]), anp.array([1]))
    Array([1, 1], dtype=int32)
    """
    x, y = promote_dtypes((atleast_1d(a1), atleast_1d(a2)), "a polynomial")
    return polyadd(x, negative(y))


def polymul(a1: Any, a2: Any, *, trim_leading_zeros: bool = False) -> Array:
    """Multiply two polynomials, the zeros in front dropped first if asked and known.

    Source: ``jax.numpy.polymul``.

    >>> import arrayport.numpy as anp
    >>> anp.polymul(anp.array([0.0, 1.0, 1.0]), anp.array([2.0]), trim_leading_zeros=True)
    Array([2., 2.], dtype=float32)
    """
    x, y = atleast_1d(a1), atleast_1d(a2)
    if trim_leading_zeros:
        x, y = (trim_zeros(p, "f") for p in (x, y))
        x, y = (p if p.size else full_like(p, 0, (1,)) for p in (x, y))
    return convolve(x, y)


def polydiv(u: Any, v: Any, *, trim_leading_zeros: bool = False) -> tuple[Array, Array]:
    """Divide a polynomial by another: the quotient, and the rest, as long as u with zeros in front.

    `trim_leading_zeros` drops these, of a known rest. Source: ``jax.numpy.polydiv``.

    >>> import arrayport.numpy as anp
    >>> anp.polydiv(anp.array([1.0, 5.0, 7.0]), anp.array([1.0, 2.0]))
    (Array([1., 3.], dtype=float32), Array([0., 0., 1.], dtype=float32))
    """
    rest, divisor = promote_inexact((atleast_1d(u), atleast_1d(v)), "polydiv")
    _check_coefficients("polydiv", rest, divisor)
    factors = []
    for k in range(rest.size - divisor.size + 1):
        factors.append(rest[k] / divisor[0])
        rest = rest.at[k + 1 : k + divisor.size].add(-factors[k] * divisor[1:])
    rest = rest.at[: len(factors)].set(0)
    quotient = stack(factors) if factors else full_like(rest, 0, (1,))
    return quotient, trim_zeros(rest, "f") if trim_leading_zeros else rest


def _check_coefficients(name: str, *polynomials: Array) -> None:
    for p in polynomials:
        if len(p.shape) != 1 or not p.size:
            raise ValueError(f"{name} takes vectors of coefficients, not shape {p.shape}")


def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
    cov: Any = False,
) -> Any:
    """Fit a polynomial of a degree to points (x, y), with weights w, by least squares.

    A matrix y holds one set of values a column. Gives the coefficients; with `full` also the
    residual, rank, singular values and `rcond`; with `cov` their covariance, with cov="unscaled"
    before it is scaled by the residual. Source: ``jax.numpy.polyfit``.

    >>> import arrayport.numpy as anp
    >>> anp.polyfit(anp.array([0.0, 1.0, 2.0]), anp.array([1.0, 3.0, 5.0]), 1).round(3)
    Array([2., 1.], dtype=float32)
    """
    deg = count_of(deg, "deg")
    x, y = promote_inexact((x, y), "polyfit")
    if len(x.shape) != 1 or not x.size or y.shape[:1] != x.shape or len(y.shape) > 2:
        raise ValueError(
            f"x must be a vector, and y as long or a matrix of such columns: got {x.shape}, "
            f"{y.shape}"
        )
    left, right = vander(x, deg + 1), y
    if w is not None:
        weight = inexact(arrayed(w, "w"))
        if weight.shape != x.shape:
            raise ValueError(f"w must be a vector as long as x, {x.shape}, not {weight.shape}")
        left, right = left * weight[:, None], (right.T * weight).T
    limit = x.size * dtypes.finfo(x.dtype).eps if rcond is None else rcond
    scale = sqrt(sum(square(left), 0))
    left = left / scale
    found, residual, rank, values = lstsq(left, right, limit)
    found = (found.T / scale).T
    if full:
        return found, residual, rank, values, limit
    if not cov:
        return found
    spread = inv(matmul(left.T, left)) / outer(scale, scale)
    factor: Any = 1.0
    if cov != "unscaled":
        if x.size <= deg + 1:
            raise ValueError(f"cov of polyfit needs more points than coefficients: {deg + 1}")
        factor = residual / (x.size - deg - 1)
    if len(y.shape) == 2:
        return found, spread[:, :, None] * factor
    return found, spread * (factor if cov == "unscaled" else factor[0])


@unit("seq_of_zeros")
def poly(seq_of_zeros: Any) -> Array:
    """Give the coefficients of the polynomial with these roots, or a matrix's characteristic one.

    Raises ValueError for anything but a vector or a square matrix. Source: ``jax.numpy.poly``.

    >>> import arrayport.numpy as anp
    >>> anp.poly(anp.array([1.0, 2.0]))
    Array([ 1., -3.,  2.], dtype=float32)
    """
    (zeros,) = promote_inexact((atleast_1d(seq_of_zeros),), "poly")
    if len(zeros.shape) == 2 and zeros.shape[0] == zeros.shape[1]:
        zeros = eigvals(zeros)
    if len(zeros.shape) != 1:
        raise ValueError(f"poly takes a vector or a square matrix, not shape {zeros.shape}")
    out = full_like(zeros, 1, (1,))
    for i in range(zeros.size):
        out = convolve(out, stack([full_like(zeros[i], 1), -zeros[i]]))
    return out


def roots(p: Any, *, strip_zeros: bool = True) -> Array:
    """Find the roots of a polynomial, complex and in no order, as eigenvalues of its companion.

    `strip_zeros` drops zeros in front and takes those at the back for roots: that needs known
    values, and raises ConcretizationTypeError for traced ones. Without it there is a NaN for each
    zero in front. Source: ``jax.numpy.roots``.

    >>> import arrayport.numpy as anp
    >>> anp.sort(anp.roots(anp.array([1.0, -3.0, 2.0])).real).round(4)
    Array([1., 2.], dtype=float32)
    """
    (x,) = promote_inexact((atleast_1d(p),), "roots")
    if len(x.shape) != 1 or not x.size:
        raise ValueError(f"roots takes a vector of coefficients, not shape {x.shape}")
    if not strip_zeros:
        leading = argmax(not_equal(x, 0))
        found = _roots(roll(x, -leading))
        # Zeros in front stand at the back now, as roots at 0, which are the smallest.
        found = found[argsort(-abs(found))]
        return select(np.arange(found.size) < found.size - leading, found, complex(np.nan, np.nan))
    x = trim_zeros(x, "f")
    inside = trim_zeros(x, "b")
    none = full_like(x, 0, (x.size - inside.size,)).astype(dtypes.complex_dtype(x.dtype))
    return concatenate([_roots(inside), none]) if inside.size > 1 else none


def _roots(x: Array) -> Array:
    """Give the eigenvalues of the companion of a polynomial whose first coefficient is not 0."""
    count = x.size - 1
    rest = np.eye(count, k=-1, dtype=x.dtype)[1:]  # NumPy's, which any backend takes
    return eigvals(concatenate([(-x[1:] / x[0])[None], rest])[:count])


@unit("p")
def polyder(p: Any, m: int = 1) -> Array:
    """Differentiate a polynomial m times. Source: ``jax.numpy.polyder``.

    >>> import arrayport.numpy as anp
    >>> anp.polyder(anp.array([3.0, 2.0, 1.0]))
    Array([6., 2.], dtype=float32)
    """
    m = count_of(m, "m")
    (x,) = promote_inexact((atleast_1d(p),), "polyder")
    for _ in range(m):
        x = x[:-1] * np.arange(x.size - 1, 0, -1, dtype=x.dtype)
    return x


@unit("p", "k")
def polyint(p: Any, m: int = 1, k: Any = None) -> Array:
    """Integrate a polynomial m times, with constants k. Source: ``jax.numpy.polyint``.

    >>> import arrayport.numpy as anp
    >>> anp.polyint(anp.array([2.0, 1.0]))
    Array([1., 1., 0.], dtype=float32)
    """
    m = count_of(m, "m")
    (x,) = promote_inexact((atleast_1d(p),), "polyint")
    constants = full_like(x, 0, (m,)) + (0 if k is None else arrayed(k, "k"))
    for i in range(m):
        x = concatenate([x / np.arange(x.size, 0, -1, dtype=x.dtype), constants[i : i + 1]])
    return x


@unit("x")
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Array:
    """Make the matrix whose columns are powers of a vector. Source: ``jax.numpy.vander``.

    >>> import arrayport.numpy as anp
    >>> anp.vander(anp.array([2, 3]), 3)
    Array([[4, 2, 1],
           [9, 3, 1]], dtype=int32)
    """
    x = arrayed(x, "x")
    if len(x.shape) != 1:
        raise ValueError(f"vander takes a vector, not shape {x.shape}")
    powers = np.arange(x.size if N is None else count_of(N, "N"), dtype=dtypes.default_int())
    x = counted(x)
    return convert(power(x[:, None], powers if increasing else powers[::-1]), x.dtype)


# ---- convolution


@unit("a", "v")
def convolve(
    a: Any, v: Any, mode: str = "full", *, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """Convolve two vectors: all overlaps ("full"), as many as the longer ("same"), whole ("valid").

    Source: ``jax.numpy.convolve``.

    >>> import arrayport.numpy as anp
    >>> anp.convolve(anp.array([1.0, 2.0]), anp.array([1.0, 10.0]))
    Array([ 1., 12., 20.], dtype=float32)
    """
    x, y = promote_inexact((a, v), "convolve")
    _check("convolve", x, y, mode)
    if x.size < y.size:
        x, y = y, x
    return _slide(x, flip(y), mode, precision, preferred_element_type)


@unit("a", "v")
def correlate(
    a: Any,
    v: Any,
    mode: str = "valid",
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Slide v, conjugated, along a and sum the products. Source: ``jax.numpy.correlate``.

    >>> import arrayport.numpy as anp
    >>> anp.correlate(anp.arange(3), anp.array([1, 1]))
    Array([1., 3.], dtype=float32)
    """
    x, y = promote_inexact((a, v), "correlate")
    _check("correlate", x, y, mode)
    y = conj(y)
    if x.size >= y.size:
        return _slide(x, y, mode, precision, preferred_element_type)
    return flip(_slide(y, x, mode, precision, preferred_element_type))


def _check(name: str, x: Array, y: Array, mode: str) -> None:
    if len(x.shape) != 1 or len(y.shape) != 1 or not x.size or not y.size:
        raise ValueError(f"{name} takes vectors with elements, not {x.shape} and {y.shape}")
    if mode not in {"full", "same", "valid"}:
        raise ValueError(f"mode={mode!r} of {name} must be 'full', 'same' or 'valid'")


def _slide(x: Array, y: Array, mode: str, precision: Any, preferred: Any) -> Array:
    """Products of y with every window of x, as one matrix product."""
    n = y.size
    before = {"full": n - 1, "same": n // 2, "valid": 0}[mode]
    after = {"full": n - 1, "same": n - 1 - n // 2, "valid": 0}[mode]
    x = pad(x, constant(0, x), [(before, after, 0)])
    places = np.arange(x.size - n + 1)[:, None] + np.arange(n)[None, :]
    return tensordot(x[places], y, 1, precision=precision, preferred_element_type=preferred)
