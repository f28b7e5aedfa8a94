"""Special matrices: those that some elements fill by a pattern, and those of fixed numbers."""

from __future__ import annotations

import operator
from math import comb, pi
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.numpy.arguments import arrayed, dtype_or
from arrayport.numpy.creation import asarray, zeros
from arrayport.numpy.indexing import take
from arrayport.numpy.joins import concatenate
from arrayport.numpy.shapes import atleast_1d, atleast_2d, expand_dims, flip
from arrayport.ops.elementwise import abs, conj, div
from arrayport.ops.promotion import common_shape, inexact, promote_dtypes
from arrayport.ops.shapes import pad
from arrayport.ops.slices import slice_in_dim
from arrayport.ops.structure import broadcast_to, constant, full_like

__all__ = [
    "block_diag",
    "circulant",
    "companion",
    "convolution_matrix",
    "dft",
    "fiedler",
    "fiedler_companion",
    "hadamard",
    "hankel",
    "helmert",
    "hilbert",
    "invhilbert",
    "invpascal",
    "leslie",
    "pascal",
    "toeplitz",
]

Host = np.ndarray[Any, Any]

# ---- patterns of given elements


def _places(rows: int, columns: int) -> tuple[Host, Host]:
    """Give the numbers of rows and of columns, ready to meet."""
    return np.arange(rows)[:, None], np.arange(columns)[None, :]


def _arranged(elements: Array, places: Host) -> Array:
    """Fill a matrix with elements of the last axis, each from its place there."""
    if not places.size:
        return full_like(elements, 0, (*elements.shape[:-1], *places.shape))
    return take(elements, places, axis=-1)


def _joined(*parts: Array) -> Array:
    """Join vectors, whose leading axes broadcast."""
    lead = common_shape(*[x.shape[:-1] for x in parts])
    return concatenate([broadcast_to(x, (*lead, x.shape[-1])) for x in parts], -1)


def _vector(name: str, x: Any, least: int = 0) -> Array:
    """Give an argument of `least` elements or more along its last axis."""
    a = atleast_1d(arrayed(x, name))
    if a.shape[-1] < least:
        raise ValueError(
            f"{name} must have {least} elements or more along its last axis: {a.shape}"
        )
    return a


def toeplitz(c: Any, r: Any = None) -> Array:
    """Make the matrix with first column c and first row r, alike along each diagonal.

    By default r is c's conjugate; its first element is not read. Leading axes broadcast. Source:
    ``jax.scipy.linalg.toeplitz``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import toeplitz
    >>> toeplitz(anp.array([1, 2]), anp.array([1, 3, 4]))
    Array([[1, 3, 4],
           [2, 1, 3]], dtype=int32)
    """
    column = _vector("c", c)
    row = conj(column) if r is None else _vector("r", r)
    m, n = column.shape[-1], row.shape[-1]
    i, j = _places(m, n)
    rest = slice_in_dim(row, 1, None, axis=-1)
    return _arranged(_joined(*promote_dtypes([flip(column, -1), rest])), m - 1 - i + j)


def hankel(c: Any, r: Any = None) -> Array:
    """Make the matrix with first column c and last row r, alike along each antidiagonal.

    By default r is zero; its first element is not read. Raises ValueError for scalars. Source:
    ``jax.scipy.linalg.hankel``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import hankel
    >>> hankel(anp.array([1, 2]), anp.array([2, 3, 4]))
    Array([[1, 2, 3],
           [2, 3, 4]], dtype=int32)
    """
    column = arrayed(c, "c")
    row = full_like(column, 0) if r is None else arrayed(r, "r")
    if not column.shape or not row.shape:
        raise ValueError("hankel: c and r must have an axis or more")
    i, j = _places(column.shape[-1], row.shape[-1])
    rest = slice_in_dim(row, 1, None, axis=-1)
    return _arranged(_joined(*promote_dtypes([column, rest])), i + j)


def circulant(c: Any) -> Array:
    """Make the matrix with first column c, each further column turned on by one.

    Source: ``jax.scipy.linalg.circulant``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import circulant
    >>> circulant(anp.array([1, 2, 3]))
    Array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]], dtype=int32)
    """
    column = _vector("c", c)
    n = column.shape[-1]
    i, j = _places(n, n)
    return _arranged(column, (i - j) % max(n, 1))


def leslie(f: Any, s: Any) -> Array:
    """Make Leslie's matrix of fertilities f, in its first row, and survival rates s below.

    Raises ValueError unless s has one element less than f, which has two or more. Source:
    ``jax.scipy.linalg.leslie``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import leslie
    >>> leslie(anp.array([1, 2]), anp.array([3]))
    Array([[1, 2],
           [3, 0]], dtype=int32)
    """
    first, below = _vector("f", f, 2), _vector("s", s)
    n = first.shape[-1]
    if below.shape[-1] != n - 1:
        raise ValueError(
            f"leslie: s must have one element less than f, not shape {below.shape} beside "
            f"{first.shape}"
        )
    first, below = promote_dtypes([first, below])
    i, j = _places(n, n)
    places = np.where(i == 0, 1 + j, np.where(i == j + 1, 1 + n + j, 0))
    return _arranged(_joined(_numbers(first, 0), first, below), places)


def _numbers(like: Array, *values: int) -> Array:
    """Give constants as a vector of a dtype."""
    return _joined(*[full_like(like, value, (1,)) for value in values])


def companion(a: Any) -> Array:
    """Make the companion matrix of the polynomial with coefficients a, the highest first.

    Raises ValueError for less than two. Source: ``jax.scipy.linalg.companion``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import companion
    >>> companion(anp.array([1.0, -3.0, 2.0]))
    Array([[ 3., -2.],
           [ 1.,  0.]], dtype=float32)
    """
    x = inexact(_vector("a", a, 2))
    n = x.shape[-1] - 1
    i, j = _places(n, n)
    places = np.where(i == 0, 2 + j, np.where(i == j + 1, 1, 0))
    return _arranged(_joined(_numbers(x, 0, 1), _monic(x)), places)


def _monic(x: Array) -> Array:
    """Give a polynomial's coefficients, negated and over the first, from the second on."""
    first, rest = slice_in_dim(x, 0, 1, axis=-1), slice_in_dim(x, 1, None, axis=-1)
    return div(-rest, first)


def fiedler(a: Any) -> Array:
    """Give the distances of all pairs of a's elements. Source: ``jax.scipy.linalg.fiedler``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import fiedler
    >>> fiedler(anp.array([1, 4]))
    Array([[0, 3],
           [3, 0]], dtype=int32)
    """
    x = _vector("a", a)
    return abs(expand_dims(x, -1) - expand_dims(x, -2))


def fiedler_companion(a: Any) -> Array:
    """Make Fiedler's companion matrix, with five diagonals, of a polynomial, highest term first.

    Raises ValueError for no coefficients. Source: ``jax.scipy.linalg.fiedler_companion``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import fiedler_companion
    >>> fiedler_companion(anp.array([1.0, -3.0, 2.0]))
    Array([[ 3., -2.],
           [ 1.,  0.]], dtype=float32)
    """
    x = inexact(_vector("a", a, 1))
    n = x.shape[-1] - 1
    i, j = _places(n, n)
    even = i % 2 == 0
    ones = (even & (j == i + 2)) | (~even & (j == i - 2)) | ((i == 1) & (j == 0))
    # The coefficient k stands beside the diagonal, in even rows; the first in the corner.
    beside = even & ((j == i + 1) | ((j == i - 1) & (i >= 2)))
    corner = (i == 0) & (j == 0)
    coefficient = np.where(corner, 1, np.where(j == i + 1, i + 2, i + 1))
    places = np.where(corner | beside, 1 + coefficient, np.where(ones, 1, 0))
    return _arranged(_joined(_numbers(x, 0, 1), _monic(x)), places)


@unit("a")
def convolution_matrix(a: Any, n: int, mode: str = "full") -> Array:
    """Make the matrix whose product with a vector of n elements convolves it with a.

    `mode`: "full", "same" or "valid", as in ``numpy.convolve``. Raises ValueError for another, an n
    that is not positive, or no elements. Source: ``jax.scipy.linalg.convolution_matrix``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import convolution_matrix
    >>> convolution_matrix(anp.array([1, 2]), 2)
    Array([[1, 0],
           [2, 1],
           [0, 2]], dtype=int32)
    """
    n = operator.index(n)
    x = arrayed(a, "a")
    if n <= 0 or not x.shape or not x.shape[-1]:
        raise ValueError(f"convolution_matrix: n={n} and a's last extent in {x.shape} must be 1 up")
    m = x.shape[-1]
    spare = min(m, n) - 1
    cuts = {"full": (0, 0), "same": (spare // 2, spare - spare // 2), "valid": (spare, spare)}
    if mode not in cuts:
        raise ValueError(
            f"convolution_matrix: mode must be 'full', 'same' or 'valid', not {mode!r}"
        )
    first, last = cuts[mode]
    i, j = _places(m + n - 1 - first - last, n)
    at = i + first - j
    return _arranged(_joined(_numbers(x, 0), x), np.where((at >= 0) & (at < m), at + 1, 0))


@unit("arrs")
def block_diag(*arrs: Any) -> Array:
    """Put matrices on the diagonal of one; vectors are rows.

    Raises ValueError for more than two axes. Source: ``jax.scipy.linalg.block_diag``.

    >>> import arrayport.numpy as anp
    >>> from arrayport.scipy.linalg import block_diag
    >>> block_diag(anp.array([[1]]), anp.array([2, 3]))
    Array([[1, 0, 0],
           [0, 2, 3]], dtype=int32)
    """
    if not arrs:
        return zeros((1, 0))
    blocks = [atleast_2d(x) for x in promote_dtypes(arrs, "block_diag's operand")]
    if any(len(x.shape) > 2 for x in blocks):
        raise ValueError(f"block_diag takes matrices, not shapes {[x.shape for x in blocks]}")
    total, before, rows = sum(x.shape[1] for x in blocks), 0, []
    for x in blocks:
        after = total - before - x.shape[1]
        rows.append(pad(x, constant(0, x), [(0, 0, 0), (before, after, 0)]))
        before += x.shape[1]
    return concatenate(rows, 0)


# ---- fixed numbers


def _fixed(rows: Any, dtype: Any) -> Array:
    """Give a table of exact Python numbers as an array."""
    return asarray(np.array(rows, np.float64).astype(dtype).reshape(len(rows), len(rows)))


def hilbert(n: int) -> Array:
    """Make Hilbert's matrix, 1 / (i + j + 1). Source: ``jax.scipy.linalg.hilbert``.

    >>> from arrayport.scipy.linalg import hilbert
    >>> hilbert(2)
    Array([[1.        , 0.5       ],
           [0.5       , 0.33333334]], dtype=float32)
    """
    i, j = _places(n, n)
    return _fixed(1 / (i + j + 1), dtypes.default_float())


def invhilbert(n: int) -> Array:
    """Invert Hilbert's matrix, in exact integers. Source: ``jax.scipy.linalg.invhilbert``.

    >>> from arrayport.scipy.linalg import invhilbert
    >>> invhilbert(2)
    Array([[ 4., -6.],
           [-6., 12.]], dtype=float32)
    """
    rows = [
        [
            (-1) ** (i + j)
            * (i + j + 1)
            * comb(n + i, n - j - 1)
            * comb(n + j, n - i - 1)
            * comb(i + j, i) ** 2
            for j in range(n)
        ]
        for i in range(n)
    ]
    return _fixed(rows, dtypes.default_float())


def _kind(name: str, kind: str | None, lower: Host, whole: Host) -> Host:
    """Choose between a triangle, its mirror and a symmetric matrix."""
    found = {None: whole, "symmetric": whole, "lower": lower, "upper": lower.T}.get(kind)
    if found is None:
        raise ValueError(f"{name}: kind must be 'symmetric', 'lower' or 'upper', not {kind!r}")
    return found


def pascal(n: int, kind: str | None = None) -> Array:
    """Make Pascal's matrix of binomials in float32: symmetric, or the factor "lower" or "upper".

    Source: ``jax.scipy.linalg.pascal``.

    >>> from arrayport.scipy.linalg import pascal
    >>> pascal(3)
    Array([[1., 1., 1.],
           [1., 2., 3.],
           [1., 3., 6.]], dtype=float32)
    """
    lower = np.array([[comb(i, j) for j in range(n)] for i in range(n)], float).reshape(n, n)
    whole = np.array([[comb(i + j, j) for j in range(n)] for i in range(n)], float).reshape(n, n)
    return asarray(_kind("pascal", kind, lower, whole).astype(np.float32))


def invpascal(n: int, kind: str | None = None) -> Array:
    """Invert `pascal`. Source: ``jax.scipy.linalg.invpascal``.

    >>> from arrayport.scipy.linalg import invpascal
    >>> invpascal(2)
    Array([[ 2., -1.],
           [-1.,  1.]], dtype=float32)
    """
    rows = [[(-1) ** (i - j) * comb(i, j) if j <= i else 0 for j in range(n)] for i in range(n)]
    lower = np.array(rows, object).reshape(n, n)
    found = _kind("invpascal", kind, lower, lower.T @ lower)
    return asarray(found.astype(dtypes.default_float()))


def helmert(n: int, full: bool = False) -> Array:
    """Make Helmert's orthonormal rows, all but the constant one unless `full`.

    Raises ValueError for n below 1. Source: ``jax.scipy.linalg.helmert``.

    >>> from arrayport.scipy.linalg import helmert
    >>> helmert(2)
    Array([[ 0.70710677, -0.70710677]], dtype=float32)
    """
    if n < 1:
        raise ValueError(f"helmert: n must be a positive integer, not {n}")
    i, j = _places(n - 1, n)
    k = i + 1
    rows = np.where(j < k, 1, np.where(j == k, -k, 0)) / np.sqrt(k * (k + 1.0))
    if full:
        rows = np.concatenate([np.full((1, n), n**-0.5), rows])
    return asarray(rows.astype(dtypes.default_float()))


def hadamard(n: int, dtype: Any = int) -> Array:
    """Make Hadamard's matrix of 1 and -1 by Sylvester's construction.

    Raises ValueError unless n is a power of 2. Source: ``jax.scipy.linalg.hadamard``.

    >>> from arrayport.scipy.linalg import hadamard
    >>> hadamard(2)
    Array([[ 1,  1],
           [ 1, -1]], dtype=int32)
    """
    if n < 1 or n & (n - 1):
        raise ValueError(f"hadamard: n must be a power of 2, not {n}")
    i, j = _places(n, n)
    signs = 1 - 2 * (np.bitwise_count(i & j).astype(np.int8) & 1)
    return asarray(signs.astype(dtypes.canonicalize(dtype)))


def dft(n: int, scale: str | None = None, *, dtype: Any = None) -> Array:
    """Make the matrix of the Fourier transform, over n ("n") or its root ("sqrtn").

    Raises ValueError for another scale or a dtype that is not complex. Source:
    ``jax.scipy.linalg.dft``.

    >>> from arrayport.scipy.linalg import dft
    >>> dft(2).real
    Array([[ 1.,  1.],
           [ 1., -1.]], dtype=float32)
    """
    over = {None: 1.0, "sqrtn": n**0.5, "n": n}.get(scale)
    if over is None:
        raise ValueError(f"dft: scale must be None, 'sqrtn' or 'n', not {scale!r}")
    kind = dtype_or(dtype, dtypes.default_complex())
    if not dtypes.is_complex(kind):
        raise ValueError(f"dft: dtype must be complex, not {kind}")
    i, j = _places(n, n)
    return asarray((np.exp(-2j * pi / max(n, 1) * (i * j % max(n, 1))) / over).astype(kind))
