"""Where a function of CuPy's means something else than NumPy's of the same name: on host arrays.

Each takes what CuPy's function takes; the simulation calls it in place of NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

Host = np.ndarray[Any, Any]


def sort(a: Host, axis: int | None = -1, kind: str | None = None) -> Host:
    """Sort, always stably; other kinds, 0-d arrays and bfloat16 are refused."""
    _check_sortable(a, kind)
    if a.ndim == 0:
        raise np.exceptions.AxisError("Sorting arrays with the rank of zero is not supported")
    return np.sort(a, axis=axis, kind="stable")


def argsort(a: Host, axis: int | None = -1, kind: str | None = None) -> Host:
    """Indices that sort, always stably; other kinds and bfloat16 are refused."""
    _check_sortable(a, kind)
    return np.argsort(np.atleast_1d(a), axis=axis, kind="stable")


def lexsort(keys: Any) -> Host:
    """Indices that sort by the rows of one 2-d array, the last row first; a list is refused."""
    if not isinstance(keys, np.ndarray):
        raise TypeError("CuPy's lexsort takes one 2-d array of keys, not a sequence; use stack")
    if keys.ndim > 2:
        raise NotImplementedError("Keys with the rank of three or more is not supported in lexsort")
    return np.lexsort(keys) if keys.ndim == 2 else np.asarray(0)


def take(a: Host, indices: Any, axis: int | None = None, out: Host | None = None) -> Host:
    """Take by indices that wrap around out of range."""
    if a.size == 0 and np.size(indices):
        raise IndexError("cannot do a non-empty take from an empty axes.")
    return np.take(np.atleast_1d(a), indices, axis=axis, out=out, mode="wrap")


def power(x1: Any, x2: Any) -> Any:
    """Raise to a power; for an exponent of a half that repeats NumPy takes the root."""
    twice = [np.stack([x, x]) for x in np.broadcast_arrays(x1, x2)]
    return np.power(*twice)[0]


def nonzero(a: Host) -> tuple[Host, ...]:
    """Indices of what is not zero; 0-d arrays are refused."""
    if a.ndim == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use atleast_1d first.")
    return np.nonzero(a)


def copyto(dst: Host, src: Any, casting: Any = "same_kind", where: Any = None) -> None:
    """Write into an array, where a mask is true if one is given."""
    np.copyto(dst, src, casting=casting, where=True if where is None else where)


def put(a: Host, ind: Any, v: Any, mode: Any = "wrap") -> None:
    """Write at flat indices; they wrap around unless `mode` says otherwise."""
    np.put(a, ind, v, mode=mode)


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "wrap", order: Any = "C") -> Any:
    """Flat indices of places; they wrap around unless `mode` says otherwise."""
    return np.ravel_multi_index(tuple(multi_index), dims, mode=mode, order=order)


def cholesky(a: Host) -> Host:
    """Factorise; a matrix that is not positive definite gives an unfinished factor and no error."""
    return _each_matrix(np.linalg.cholesky, _unfinished, "(n,n)->(n,n)", a)


def _unfinished(a: Host) -> Host:
    """The columns before the first pivot that is not positive, and that as it is."""
    factor = np.tril(a)
    for k, column in enumerate(factor.T):
        if not column[k].real > 0:
            break
        column[k:] /= np.sqrt(column[k])
        below = column[k + 1 :]
        factor[k + 1 :, k + 1 :] -= np.tril(np.outer(below, below.conj()))
    return factor


def inv(a: Host) -> Host:
    """Invert; a singular matrix gives NaN and no error."""
    return _each_matrix(np.linalg.inv, _nan_like, "(n,n)->(n,n)", a)


def solve(a: Host, b: Host) -> Host:
    """Solve linear equations; a singular matrix gives NaN and no error."""
    columns = "n" if b.ndim == 1 else "n,k"
    return _each_matrix(np.linalg.solve, _nan_like, f"(n,n),({columns})->({columns})", a, b)


def solve_triangular(
    a: Host,
    b: Host,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,  # noqa: ARG001 - b is never overwritten
    check_finite: bool = False,
) -> Host:
    """Solve with stacks of equal length, in the dtype of `a`; zeros in the diagonal divide."""
    if a.shape[:-2] != b.shape[: a.ndim - 2]:
        raise ValueError("incompatible batch count: CuPy's solve_triangular does not broadcast")
    if a.ndim < 2 or a.shape[-1] != a.shape[-2] or b.shape[a.ndim - 2] != a.shape[-1]:
        raise ValueError("incompatible dimensions")
    dtype = np.promote_types(a.dtype, np.float32)
    a, b = a.astype(dtype), b.astype(dtype)
    (trsm,) = import_module("scipy.linalg").get_blas_funcs(("trsm",), (a,))
    flags = {"trans_a": {"N": 0, "T": 1, "C": 2}.get(trans, trans), "lower": lower}
    if check_finite and not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("array must not contain infs or NaNs")

    def one(a: Host, b: Host) -> Host:
        return trsm(1, a, b.reshape(len(b), -1), diag=unit_diagonal, **flags).reshape(b.shape)

    columns = "n" if b.ndim == a.ndim - 1 else "n,k"
    return np.vectorize(one, [dtype.char], signature=f"(n,n),({columns})->({columns})")(a, b)


def eig(a: Host) -> tuple[Host, Host]:
    """Eigenvalues and eigenvectors, complex even where all are real."""
    values, vectors = np.linalg.eig(a)
    return _complex(values), _complex(vectors)


def eigvals(a: Host) -> Host:
    """Eigenvalues, complex even where all are real."""
    return _complex(np.linalg.eigvals(a))


def _check_sortable(a: Host, kind: str | None) -> None:
    if a.dtype.kind == "V":
        raise TypeError(f"Sorting arrays with dtype '{a.dtype}' is not supported")
    if kind not in (None, "stable"):
        raise ValueError("kind can only be None or 'stable'")


def _each_matrix(
    function: Callable[..., Host], failed: Callable[[Host], Host], signature: str, *arrays: Host
) -> Host:
    """Apply to the stack; if that fails, to each matrix, so that only the failing ones are lost."""
    try:
        return function(*arrays)
    except np.linalg.LinAlgError:
        a = arrays[0]
        if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
            raise

    def one(*matrices: Host) -> Host:
        try:
            return function(*matrices)
        except np.linalg.LinAlgError:
            return failed(matrices[-1])

    dtype = np.result_type(*arrays, np.float32)
    return np.vectorize(one, signature=signature)(*arrays).astype(dtype)


def _nan_like(a: Host) -> Host:
    return np.full(a.shape, np.nan)


def _complex(a: Host) -> Host:
    return a if a.dtype.kind == "c" else a.astype(np.result_type(a.dtype, np.complex64))


NUMPY: Mapping[str, Callable[..., Any]] = {
    "sort": sort,
    "argsort": argsort,
    "lexsort": lexsort,
    "take": take,
    "nonzero": nonzero,
    "power": power,
    "copyto": copyto,
    "put": put,
    "ravel_multi_index": ravel_multi_index,
}
LINALG: Mapping[str, Callable[..., Any]] = {
    "cholesky": cholesky,
    "inv": inv,
    "solve": solve,
    "eig": eig,
    "eigvals": eigvals,
}
SCIPY_LINALG: Mapping[str, Callable[..., Any]] = {"solve_triangular": solve_triangular}
