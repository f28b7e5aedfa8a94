"""JAX's dtypes: names, limits, categories and promotion of dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.dtypes import extended, float0, prng_key
from arrayport.core.errors import TypePromotionError
from arrayport.core.names import absent
from arrayport.numpy.scalars import bfloat16, finfo, iinfo, weak_result_type
from arrayport.numpy.scalars import issubdtype as belongs
from arrayport.ops.promotion import lift

__all__ = [
    "TypePromotionError",
    "bfloat16",
    "canonicalize_dtype",
    "extended",
    "finfo",
    "float0",
    "iinfo",
    "issubdtype",
    "itemsize_bits",
    "prng_key",
    "result_type",
    "scalar_type_of",
]

SCALAR_TYPES = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
BITS = {"int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "float4_e2m1fn": 4}


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> np.dtype[Any]:  # noqa: ARG001
    """Give the dtype that exists while 64-bit types are as they are; None is float's.

    Raises TypeError for what is no dtype. Source: ``jax.dtypes.canonicalize_dtype``.

    >>> canonicalize_dtype("float64"), canonicalize_dtype(None)
    (dtype('float32'), dtype('float32'))
    """
    return dtypes.canonicalize(float if dtype is None else dtype)


def issubdtype(a: Any, b: Any) -> bool:
    """Answer whether a dtype is, or belongs to, another. Source: ``jax.dtypes.issubdtype``.

    >>> from arrayport import random
    >>> issubdtype(random.key(0).dtype, prng_key)
    True
    """
    return belongs(a, b)


def itemsize_bits(dtype: Any) -> int:
    """Give the bits of an element. Source: ``jax.dtypes.itemsize_bits``.

    >>> itemsize_bits("int4"), itemsize_bits(bool)
    (4, 8)
    """
    known = dtypes.canonicalize(dtype) if dtype is bool else np.dtype(dtype)
    return BITS.get(known.name, 8 * known.itemsize)


def result_type(*args: Any, return_weak_type_flag: bool = False) -> Any:
    """Give the dtype of an operation on arrays, dtypes and numbers, and whether it is weak.

    Raises TypePromotionError where narrow types would have to promote. Source:
    ``jax.dtypes.result_type``.

    >>> result_type(1, 2.0, return_weak_type_flag=True)
    (dtype('float32'), True)
    """
    dtype, weak = weak_result_type(*args)
    return (dtype, weak) if return_weak_type_flag else dtype


def scalar_type_of(x: Any) -> type:
    """Give the Python type of a number, or of an array's numbers.

    Source: ``jax.dtypes.scalar_type_of``.

    >>> scalar_type_of(np.zeros(2, "int8"))
    <class 'int'>
    """
    return SCALAR_TYPES[dtypes.kind(x.dtype if hasattr(x, "dtype") else lift(x).dtype)]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("dtypes", name)
