"""CuPy's rules of indexing, put into keys for the NumPy array inside a simulated one."""

from __future__ import annotations

from types import EllipsisType, NoneType
from typing import Any

import numpy as np

Host = np.ndarray[Any, Any]
Key = tuple[Any, ...]

INTEGERS = {np.dtype(c).type for c in "bhilqBHILQ"}
BASIC = frozenset({int, slice, NoneType, EllipsisType} | INTEGERS)  # what makes a view


def host_key(shape: tuple[int, ...], key: Any) -> tuple[Key, str]:
    """Make NumPy's key of CuPy's, index arrays being host arrays already, and name its kind.

    The kind is "basic" (the result is a view), "mask" (one boolean array) or "arrays". Index arrays
    wrap around out of range, as CuPy's do; a Python int out of range still raises IndexError.

    >>> host_key((3,), np.array([-1, 4]))
    ((array([2, 1]), Ellipsis), 'arrays')
    """
    parts = key if type(key) is tuple else (key,)
    arrays = [p for p in parts if type(p) not in BASIC]
    if not arrays:
        # the ellipsis makes a view, never a scalar, of an element
        return (parts if Ellipsis in parts else (*parts, Ellipsis)), "basic"
    parts = tuple(p if type(p) in BASIC else _index_array(p) for p in parts)
    taken = sum(_axes(p) for p in parts)
    if taken > len(shape):
        raise IndexError(
            f"too many indices for array: it has {len(shape)} axes, {taken} are indexed"
        )
    wrapped: list[Any] = []
    axis = 0
    for part in parts:
        wraps = isinstance(part, np.ndarray) and part.dtype.kind != "b" and shape[axis]
        wrapped.append(part % shape[axis] if wraps else part)
        axis += len(shape) - taken if part is Ellipsis else _axes(part)
    if not any(p is Ellipsis for p in wrapped):
        wrapped.append(Ellipsis)
    single_mask = len(arrays) == 1 and any(
        isinstance(p, np.ndarray) and p.dtype.kind == "b" for p in wrapped
    )
    return tuple(wrapped), "mask" if single_mask else "arrays"


def write_first(host: Host, key: Key, value: Host) -> None:
    """Write by index arrays so that of repeated places the first write stays.

    CuPy leaves it open which write stays; NumPy's last one would hide that a program relies on it.

    >>> x = np.zeros(2)
    >>> write_first(x, (np.array([1, 1]),), np.array([5.0, 6.0]))
    >>> x
    array([0., 5.])
    """
    places = np.arange(host.size).reshape(host.shape)[key]
    values = np.broadcast_to(_squeezed(value, places.ndim), places.shape)
    host.flat[places.reshape(-1)[::-1]] = values.reshape(-1)[::-1]


def _squeezed(value: Host, ndim: int) -> Host:
    extra = value.ndim - ndim
    return (
        value.reshape(value.shape[extra:])
        if extra > 0 and value.shape[:extra] == (1,) * extra
        else value
    )


def _index_array(part: Any) -> Host:
    array = np.asarray(part)
    if isinstance(part, (list, tuple)) and array.size == 0:
        return array.astype(np.int32)
    if array.dtype.kind not in "biu":
        raise IndexError(
            f"arrays used as indices must be of integer or boolean type, not {array.dtype}"
        )
    return array


def _axes(part: Any) -> int:
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if isinstance(part, np.ndarray) and part.dtype.kind == "b" else 1
