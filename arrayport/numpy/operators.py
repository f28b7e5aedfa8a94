"""What Array's operators and methods mean: the functions that core reaches through its hook."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from arrayport.core.array import Array
from arrayport.core.dtypes import canonicalize, is_complex, uint8
from arrayport.core.names import absent
from arrayport.numpy.creation import astype, copy
from arrayport.numpy.cumulations import cumprod, cumsum
from arrayport.numpy.elementwise import (
    abs,
    clip,
    conj,
    conjugate,
    divmod,
    equal,
    floor_divide,
    greater,
    greater_equal,
    imag,
    invert,
    left_shift,
    less,
    less_equal,
    not_equal,
    positive,
    power,
    real,
    remainder,
    right_shift,
    round,
    true_divide,
)
from arrayport.numpy.indexing import getitem, index_get, index_update, take
from arrayport.numpy.interchange import to_device, to_dlpack, to_jax
from arrayport.numpy.matrices import diagonal, trace
from arrayport.numpy.products import dot, matmul
from arrayport.numpy.protocols import numpy_function, numpy_ufunc
from arrayport.numpy.reductions import (
    all,
    any,
    argmax,
    argmin,
    max,
    mean,
    min,
    prod,
    ptp,
    std,
    sum,
    var,
)
from arrayport.numpy.searching import argpartition, argsort, nonzero, searchsorted, sort
from arrayport.numpy.selecting import choose, compress
from arrayport.numpy.shapes import (
    flip,
    matrix_transpose,
    ravel,
    repeat,
    reshape,
    squeeze,
    swapaxes,
    transpose,
)
from arrayport.ops import bits
from arrayport.ops.elementwise import add, bitwise_and, bitwise_or, bitwise_xor
from arrayport.ops.elementwise import complex as make_complex
from arrayport.ops.elementwise import mul as multiply
from arrayport.ops.elementwise import neg as negative
from arrayport.ops.elementwise import sub as subtract

__all__ = [
    "abs",
    "add",
    "all",
    "any",
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "array_namespace",
    "astype",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "byteswap",
    "choose",
    "clip",
    "compress",
    "conj",
    "conjugate",
    "copy",
    "cumprod",
    "cumsum",
    "diagonal",
    "divmod",
    "dot",
    "equal",
    "flatten",
    "floor_divide",
    "getitem",
    "greater",
    "greater_equal",
    "imag",
    "index_get",
    "index_update",
    "invert",
    "left_shift",
    "less",
    "less_equal",
    "matmul",
    "matrix_transpose",
    "max",
    "mean",
    "min",
    "multiply",
    "negative",
    "nonzero",
    "not_equal",
    "numpy_function",
    "numpy_ufunc",
    "positive",
    "power",
    "prod",
    "ptp",
    "ravel",
    "real",
    "remainder",
    "repeat",
    "reshape",
    "right_shift",
    "round",
    "searchsorted",
    "sort",
    "squeeze",
    "std",
    "subtract",
    "sum",
    "swapaxes",
    "take",
    "to_device",
    "to_dlpack",
    "to_jax",
    "trace",
    "transpose",
    "true_divide",
    "var",
    "view",
]

flatten = ravel
# A version that only adds to an earlier one stands for it as well.
NAMESPACES: dict[str | None, str] = {
    **dict.fromkeys((None, "2025.12"), "arrayport.numpy"),
    **dict.fromkeys(("2021.12", "2022.12", "2023.12", "2024.12"), "arrayport.numpy.standard_2024"),
}


def array_namespace(api_version: str | None = None) -> Any:
    """Give the module of the array API's functions in a version; None is the newest.

    Raises ValueError for an unknown one.
    """
    if api_version not in NAMESPACES:
        known = ", ".join(repr(version) for version in NAMESPACES if version)
        raise ValueError(f"api_version {api_version!r} is unknown: use one of {known}")
    return import_module(NAMESPACES[api_version])


def view(x: Array, dtype: Any = None) -> Array:
    """Read the bits of x, along its last axis, as another dtype; x itself where it is its own.

    Raises ValueError for a last axis that does not fit, TypeError for a dtype whose bits are not
    read. Source: ``jax.Array.view``.
    """
    return bits.view(x, x.dtype if dtype is None else canonicalize(dtype))


def byteswap(x: Array) -> Array:
    """Reverse the bytes of each element; of complex numbers those of each part.

    Source: ``jax.Array.byteswap``.
    """
    if is_complex(x.dtype):
        return make_complex(byteswap(real(x)), byteswap(imag(x)))
    if x.dtype.itemsize == 1:
        return x
    octets = bits.bitcast_convert_type(x, uint8)
    return bits.bitcast_convert_type(flip(octets, -1), x.dtype)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("numpy", name)
