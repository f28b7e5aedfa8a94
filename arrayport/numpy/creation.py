"""Arrays from values, and from nothing but a shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from arrayport.core import backend as backends
from arrayport.core import dtypes
from arrayport.core.array import Array, Aval, PlacedArray, Tracer
from arrayport.core.trace import backend_of
from arrayport.core.units import unit
from arrayport.numpy.arguments import (
    DType,
    arrayed,
    count_of,
    dtype_or,
    integer_of,
    shape_of,
    strong,
)
from arrayport.ops import creation, shapes, structure
from arrayport.ops.elementwise import equal, less_equal, select
from arrayport.ops.placement import device_put, divided_as, no_sharding, on_device, resolve
from arrayport.ops.promotion import (
    SCALARS,
    brought,
    from_host,
    lift,
    promote_dtypes,
    scalar,
)
from arrayport.ops.structure import broadcast_to, convert

__all__ = [
    "array",
    "asarray",
    "astype",
    "copy",
    "empty",
    "empty_like",
    "eye",
    "frombuffer",
    "full",
    "full_like",
    "identity",
    "ones",
    "ones_like",
    "tri",
    "tril",
    "tril_indices",
    "tril_indices_from",
    "triu",
    "triu_indices",
    "triu_indices_from",
    "zeros",
    "zeros_like",
]

PYTHON: dict[str, Callable[[Any], Any]] = {
    "b": bool,
    "i": int,
    "u": int,
    "f": float,
    "c": complex,
}

# ---- from values


def asarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    copy: Any = None,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Make an Array of an array of any library, a number, or nested sequences of these.

    A Python number keeps its weak type unless `dtype` is given. Memory that someone else may write
    to is copied, so that `copy=False` raises ValueError for it. Raises OverflowError for a Python
    int that the dtype does not hold, TypeError for what is no array. Source: ``jax.numpy.asarray``.

    >>> import arrayport.numpy as anp
    >>> anp.asarray([1, 2.5])
    Array([1. , 2.5], dtype=float32)
    """
    no_sharding(out_sharding, "asarray")
    if order not in {None, "C", "K"}:
        raise NotImplementedError(
            f"order={order!r}: an array here has no memory order: leave it out"
        )
    wanted = None if dtype is None else dtypes.canonicalize(dtype)
    if isinstance(a, Array):
        x = a
        if copy and not isinstance(a, Tracer):  # what is deleted or donated is then one of the two
            raw = a.raw.copy()
            x = Array(raw, a.weak) if a.placement is None else PlacedArray(raw, a.weak, a.placement)
    else:
        own = None if isinstance(a, np.ndarray) else backends.by_type(type(a))
        if copy is False and (own is None or own.native is None):
            raise ValueError("copy=False: what others may write to must be copied: leave copy out")
        if own is not None and own.native is None:
            a = a.copy()
        x = _from_values(a, wanted, None if device is None else resolve(device)[0])
    if wanted is not None and (x.dtype != wanted or x.weak):
        x = convert(x, wanted)
    return x if device is None else device_put(x, device)


def array(
    object: Any,
    dtype: Any = None,
    copy: Any = True,
    order: str | None = "K",
    ndmin: int = 0,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Make an Array as `asarray` does, of at least `ndmin` axes. Source: ``jax.numpy.array``.

    >>> import arrayport.numpy as anp
    >>> anp.array([1, 2], ndmin=2).shape
    (1, 2)
    """
    no_sharding(out_sharding, "array")
    x = asarray(object, dtype, order, copy=copy or None, device=device)
    ndmin = integer_of(ndmin, "ndmin")
    return structure.reshape(x, (1,) * (ndmin - len(x.shape)) + x.shape)


def _from_values(a: Any, dtype: DType | None, home: backends.Backend | None) -> Array:
    if type(a) in SCALARS:
        return brought(scalar(a, dtype if type(a) is int else None), home or backends.ambient())
    if isinstance(a, list | tuple | range):
        return _from_sequence(a, dtype, home)
    if hasattr(a, "__jax_array__"):
        return asarray(a.__jax_array__(), dtype)
    if isinstance(a, np.ndarray | np.generic) or backends.by_type(type(a)) is not None:
        return lift(a, home)
    if hasattr(a, "__array__"):
        return from_host(np.asarray(a), home)
    if hasattr(a, "__array_interface__") or hasattr(a, "__dlpack__"):
        return from_host(np.from_dlpack(a) if hasattr(a, "__dlpack__") else np.asarray(a), home)
    if not isinstance(a, bytes):
        with suppress(TypeError):
            return from_host(np.asarray(memoryview(a)), home)
    return lift(a, home, "the array")


def _leaves(nest: Any) -> Iterator[Any]:
    for x in nest:
        if isinstance(x, list | tuple | range):
            yield from _leaves(x)
        else:
            yield x


def _from_sequence(nest: Any, dtype: DType | None, home: backends.Backend | None) -> Array:
    """Stack nested sequences: at once on the host if nothing in them lives elsewhere."""
    leaves = list(_leaves(nest))
    kinds = {type(x) for x in leaves}
    if kinds <= {bool, int, float, complex}:
        pairs = [dtypes.scalar_dtype(k(0)) for k in kinds]
        if int in kinds:
            whole = [x for x in leaves if type(x) is int]
            limit = dtypes.result_type(*pairs)[0] if dtype is None else dtype
            for extreme in (min(whole), max(whole)):
                dtypes.check_fits(extreme, limit)
    elif all(isinstance(x, np.ndarray | np.generic | bool | int | float | complex) for x in leaves):
        pairs = [
            (dtypes.canonicalize(x.dtype), False)
            if isinstance(x, np.ndarray | np.generic)
            else dtypes.scalar_dtype(x)
            for x in leaves
        ]
    else:
        parts = promote_dtypes([asarray(x, dtype) for x in nest], "the array")
        return shapes.stack([strong(x) for x in parts])
    known = dtype or (dtypes.result_type(*pairs)[0] if pairs else dtypes.default_float())
    try:
        host = np.array(nest)
    except ValueError:
        raise ValueError(
            "the nested sequences differ in length or depth, so that no array holds them: pad the "
            "shorter ones"
        ) from None
    if dtypes.kind(known) in "iu" and host.dtype.kind == "f" and host.size:
        return convert(from_host(host, home), known)
    return from_host(host.astype(known), home)


def astype(x: Any, dtype: Any, /, *, copy: Any = False, device: Any = None) -> Array:
    """Cast to a dtype, None for the default float.

    Floats that become integers saturate, NaN becomes 0; of complex numbers the real part stays.
    Source: the array API's ``astype``, ``jax.numpy.astype``.

    >>> import arrayport.numpy as anp
    >>> anp.astype(anp.array([1.7, -1.7]), "int8")
    Array([ 1, -1], dtype=int8)
    """
    del copy
    y = convert(arrayed(x, "x"), dtype_or(dtype, dtypes.default_float()))
    return y if device is None else device_put(y, device)


def copy(a: Any, order: str | None = None) -> Array:
    """Give an Array of the same values in memory of its own. Source: ``jax.numpy.copy``.

    >>> import arrayport.numpy as anp
    >>> anp.copy(anp.arange(2))
    Array([0, 1], dtype=int32)
    """
    return asarray(a, order=order, copy=True)


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Array:
    """Read a buffer's bytes as a vector. Source: ``numpy.frombuffer``.

    >>> import arrayport.numpy as anp
    >>> anp.frombuffer(bytes([1, 2]), "uint8")
    Array([1, 2], dtype=uint8)
    """
    return from_host(np.frombuffer(buffer, dtypes.promote_types(dtype, dtype), count, offset))


# ---- from a shape


def zeros(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """Make an array of zeros, float unless `dtype` says otherwise. Source: ``jax.numpy.zeros``.

    >>> import arrayport.numpy as anp
    >>> anp.zeros(2)
    Array([0., 0.], dtype=float32)
    """
    no_sharding(out_sharding, "zeros")
    known = dtype_or(dtype, dtypes.default_float())
    return on_device(device, creation.full, shape_of(shape), 0, known)


def ones(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """Make an array of ones, float unless `dtype` says otherwise. Source: ``jax.numpy.ones``.

    >>> import arrayport.numpy as anp
    >>> anp.ones((1, 2), dtype="int8")
    Array([[1, 1]], dtype=int8)
    """
    no_sharding(out_sharding, "ones")
    known = dtype_or(dtype, dtypes.default_float())
    return on_device(device, creation.full, shape_of(shape), 1, known)


def empty(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """Make an array whose values do not matter; they are zeros. Source: ``jax.numpy.empty``.

    >>> import arrayport.numpy as anp
    >>> anp.empty((2, 3)).shape
    (2, 3)
    """
    no_sharding(out_sharding, "empty")
    return zeros(shape, dtype, device=device)


def full(
    shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """Put a number, or an array that broadcasts, everywhere. Source: ``jax.numpy.full``.

    Raises OverflowError for a Python int that the dtype cannot hold.

    >>> import arrayport.numpy as anp
    >>> anp.full((2,), 7, "int16")
    Array([7, 7], dtype=int16)
    """
    no_sharding(out_sharding, "full")
    return on_device(device, creation.full, shape_of(shape), fill_value, dtype)


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    shape: Any = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Put a value everywhere in the shape, dtype and place of an array, unless others are given.

    Source: ``jax.numpy.full_like``.

    >>> import arrayport.numpy as anp
    >>> anp.full_like(anp.arange(2), 7.9)
    Array([7, 7], dtype=int32)
    """
    no_sharding(out_sharding, "full_like")
    like = a if hasattr(a, "shape") and hasattr(a, "dtype") else asarray(a)
    known = dtype_or(dtype, dtypes.canonicalize(like.dtype))
    extent = tuple(like.shape) if shape is None else shape_of(shape)
    weak = dtype is None and bool(getattr(like, "weak", False))
    if type(fill_value) in SCALARS:
        if dtypes.is_key(known):
            raise dtypes.no_number()
        if type(fill_value) is int:
            dtypes.check_fits(fill_value, known)
        fill_value = PYTHON[dtypes.kind(known)](dtypes.saturated(fill_value, known))
        home = backend_of(like) if isinstance(like, Array) else None
        aval = Aval(extent, known)
        made = on_device(home, structure.full_like, aval, fill_value, extent, weak)
    else:
        made = broadcast_to(convert(asarray(fill_value), known, weak), extent)
    return divided_as(like, made) if device is None else device_put(made, device)


def zeros_like(
    a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """Make zeros in the shape, dtype and place of an array. Source: ``jax.numpy.zeros_like``.

    >>> import arrayport.numpy as anp
    >>> anp.zeros_like(anp.arange(2))
    Array([0, 0], dtype=int32)
    """
    no_sharding(out_sharding, "zeros_like")
    return full_like(a, 0, dtype, shape, device=device)


def ones_like(
    a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """Make ones in the shape, dtype and place of an array. Source: ``jax.numpy.ones_like``.

    >>> import arrayport.numpy as anp
    >>> anp.ones_like(anp.arange(2))
    Array([1, 1], dtype=int32)
    """
    no_sharding(out_sharding, "ones_like")
    return full_like(a, 1, dtype, shape, device=device)


def empty_like(
    prototype: Any, dtype: Any = None, shape: Any = None, *, device: Any = None
) -> Array:
    """Make an array like another whose values do not matter. Source: ``jax.numpy.empty_like``.

    >>> import arrayport.numpy as anp
    >>> anp.empty_like(anp.arange(3)).dtype
    dtype('int32')
    """
    return zeros_like(prototype, dtype, shape, device=device)


def eye(
    N: int, M: int | None = None, k: Any = 0, dtype: Any = None, *, device: Any = None
) -> Array:
    """Make a matrix (N, M) of ones on the diagonal k to the right of the main one, zeros elsewhere.

    Source: ``jax.numpy.eye``.

    >>> import arrayport.numpy as anp
    >>> anp.eye(2, 3, 1)
    Array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    known = dtype_or(dtype, dtypes.default_float())
    rows, columns = _extents(N, M)
    k = k if isinstance(k, Array) else integer_of(k, "k")
    return on_device(device, _eye, rows, columns, k, known)


def _extents(N: Any, M: Any) -> tuple[int, int]:
    """Give the shape of a matrix, square unless M is given."""
    rows = count_of(N, "N")
    return rows, rows if M is None else count_of(M, "M")


def _eye(rows: int, columns: int, k: Any, dtype: DType) -> Array:
    row, column = (creation.broadcasted_iota("int32", (rows, columns), i) for i in (0, 1))
    return convert(equal(column - row, k), dtype)


def identity(n: int, dtype: Any = None) -> Array:
    """Make the identity matrix (n, n). Source: ``jax.numpy.identity``.

    >>> import arrayport.numpy as anp
    >>> anp.identity(2)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return eye(n, dtype=dtype)


def _below(x: Array, k: int) -> Array:
    """Say which elements of the last two axes are on or below the diagonal k."""
    shape = x.shape[-2:]
    row, column = (creation.iota_like(x, dtypes.int32, i, shape) for i in (0, 1))
    return broadcast_to(less_equal(column - row, integer_of(k, "k")), x.shape)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Array:
    """Make a matrix (N, M) of ones on and below the diagonal k. Source: ``jax.numpy.tri``.

    >>> import arrayport.numpy as anp
    >>> anp.tri(2)
    Array([[1., 0.],
           [1., 1.]], dtype=float32)
    """
    shape = _extents(N, M)
    row, column = (creation.broadcasted_iota("int32", shape, i) for i in (0, 1))
    below = less_equal(column - row, integer_of(k, "k"))
    return convert(below, dtype_or(dtype, dtypes.default_float()))


def _matrix(m: Any, name: str) -> Array:
    x = arrayed(m, "m")
    if len(x.shape) < 2:
        raise ValueError(f"{name} needs a matrix or a stack of them, not shape {x.shape}")
    return x


@unit("m")
def tril(m: Any, k: int = 0) -> Array:
    """Keep what is on and below the diagonal k of matrices (..., n, m), zeros elsewhere.

    Source: ``jax.numpy.tril``.

    >>> import arrayport.numpy as anp
    >>> anp.tril(anp.ones((2, 2)))
    Array([[1., 0.],
           [1., 1.]], dtype=float32)
    """
    x = _matrix(m, "tril")
    return select(_below(x, k), x, structure.constant(0, x))


@unit("m")
def triu(m: Any, k: int = 0) -> Array:
    """Keep what is on and above the diagonal k of matrices (..., n, m), zeros elsewhere.

    Source: ``jax.numpy.triu``.

    >>> import arrayport.numpy as anp
    >>> anp.triu(anp.ones((2, 2)))
    Array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    x = _matrix(m, "triu")
    return select(_below(x, integer_of(k, "k") - 1), structure.constant(0, x), x)


def _host_tri(n: int, k: int, m: int | None) -> np.ndarray[Any, Any]:
    rows = count_of(n, "n")
    return np.tri(rows, rows if m is None else count_of(m, "m"), integer_of(k, "k"), dtype=bool)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """Give rows and columns of what is on and below the diagonal k.

    Source: ``numpy.tril_indices``.

    >>> import arrayport.numpy as anp
    >>> anp.tril_indices(2)[0]
    Array([0, 1, 1], dtype=int32)
    """
    rows, columns = np.nonzero(_host_tri(n, k, m))
    return from_host(rows), from_host(columns)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """Give rows and columns of what is on and above the diagonal k.

    Source: ``numpy.triu_indices``.

    >>> import arrayport.numpy as anp
    >>> anp.triu_indices(2)[0]
    Array([0, 0, 1], dtype=int32)
    """
    rows, columns = np.nonzero(~_host_tri(n, integer_of(k, "k") - 1, m))
    return from_host(rows), from_host(columns)


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Array, Array]:
    """Give `tril_indices` of a matrix's shape. Source: ``jax.numpy.tril_indices_from``.

    >>> import arrayport.numpy as anp
    >>> anp.tril_indices_from(anp.ones((2, 2)))[1]
    Array([0, 0, 1], dtype=int32)
    """
    rows, columns = _matrix(arr, "tril_indices_from").shape[-2:]
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Array, Array]:
    """Give `triu_indices` of a matrix's shape. Source: ``jax.numpy.triu_indices_from``.

    >>> import arrayport.numpy as anp
    >>> anp.triu_indices_from(anp.ones((2, 2)))[1]
    Array([0, 1, 1], dtype=int32)
    """
    rows, columns = _matrix(arr, "triu_indices_from").shape[-2:]
    return triu_indices(rows, k, columns)
