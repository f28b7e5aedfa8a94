"""How the arguments that many functions share are read: arrays, axes, shapes, dtypes and `out`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.errors import ConcretizationTypeError, TracerIntegerConversionError
from arrayport.ops.promotion import lift, lift_all, settle
from arrayport.ops.structure import Shape, convert

DType = np.dtype[Any]


def arrayed(x: Any, name: str) -> Array:
    """Give the argument as an Array; a list is refused, as in JAX."""
    return x if isinstance(x, Array) else lift(x, None, name)


def real_only(x: Any, name: str) -> Array:
    """Give the argument as an Array; complex numbers raise TypeError."""
    found = arrayed(x, "x")
    if dtypes.is_complex(found.dtype):
        raise TypeError(f"{name} takes real numbers, not {found.dtype}: take .real or abs first")
    return found


def together(*xs: Any) -> list[Array]:
    """Arguments as Arrays of one backend, numbers too."""
    return settle(lift_all(xs))


def strong(x: Array) -> Array:
    """X with a dtype that does not give way."""
    return convert(x, x.dtype) if x.weak else x


def integer_of(x: Any, name: str, wanted: str = "an integer") -> int:
    """Give a Python integer; ConcretizationTypeError if traced, TypeError if it is none."""
    if isinstance(x, Array):
        x.concrete(ConcretizationTypeError, name)
    try:
        return index(x)
    except TypeError:
        raise TypeError(f"{name} must be {wanted}, not {x!r}") from None


def count_of(x: Any, name: str) -> int:
    """Give a Python integer that is not negative, as `integer_of` does; ValueError if it is."""
    found = integer_of(x, name)
    if found < 0:
        raise ValueError(f"{name} must not be negative, but is {found}")
    return found


def axis_of(axis: Any, rank: int, name: str = "axis") -> int:
    """Give a non-negative axis of an array of that rank; AxisError if it has none such.

    A traced one raises TracerIntegerConversionError, as where Python itself needs an integer.
    """
    if isinstance(axis, Array):
        axis.concrete(TracerIntegerConversionError, name)
    return normalize_axis_index(integer_of(axis, name), rank)


def axes_of(axis: Any, rank: int, name: str = "axis") -> Shape:
    """Non-negative axes, each once; all of them if `axis` is None."""
    if axis is None:
        return tuple(range(rank))
    several = isinstance(axis, Sequence) and not isinstance(axis, str)
    wanted = "an integer or a tuple of integers"
    each = [integer_of(a, name, wanted) for a in (axis if several else (axis,))]
    axes = tuple([normalize_axis_index(a, rank) for a in each])
    if len(set(axes)) != len(axes):
        raise ValueError(f"{name}={axis} names an axis twice")
    return axes


def integers_of(x: Any, name: str) -> Shape:
    """Give an integer or a sequence of integers as a tuple; TypeError, naming it, for another."""
    wanted = "an integer or a sequence of integers"
    several = isinstance(x, Iterable) and not isinstance(x, str) and getattr(x, "ndim", 1) > 0
    return tuple([integer_of(n, name, wanted) for n in (x if several else (x,))])


def shape_of(shape: Any, name: str = "shape") -> Shape:
    """Give a shape given as an integer or a sequence of them."""
    found = integers_of(shape, name)
    if any(n < 0 for n in found):
        raise ValueError(f"{name} must not be negative, but is {found}")
    return found


def dtype_or(dtype: Any, default: DType) -> DType:
    """Give the dtype asked for, else the default."""
    return default if dtype is None else dtypes.canonicalize(dtype)


def no_out(name: str, out: Any) -> None:
    """Refuse `out=`: arrays do not change."""
    if out is not None:
        raise NotImplementedError(
            f"{name}: an array cannot be written to: drop out= and use y = {name}(...)"
        )


def no_writing(name: str, inplace: bool) -> None:
    """Refuse to change an array in its place."""
    if inplace:
        raise ValueError(f"{name} cannot change an array: pass inplace=False and use its answer")


def restore_axes(x: Array, shape: Shape, axes: Shape, keepdims: bool) -> Array:
    """Give a reduction's answer with its lost axes as extents of 1, if `keepdims`."""
    if not keepdims:
        return x
    return x.reshape(tuple([1 if i in axes else n for i, n in enumerate(shape)]))
