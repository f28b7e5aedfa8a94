"""BLAS: the matrix products of the library that NumPy calls, as functions for machine code."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from functools import cache

from arrayport.core import dtypes
from arrayport_backends.ndarray.scalars import DType

# What machine code calls a dtype's product, and what BLAS does. Its builds give the names affixes,
# and "64_" says that integers have so many bits.
NAMES: Mapping[DType, str] = {dtypes.float32: "arrayport_sgemm", dtypes.float64: "arrayport_dgemm"}
CALLED: Mapping[str, str] = {"arrayport_sgemm": "sgemm", "arrayport_dgemm": "dgemm"}
AFFIXES = (("scipy_cblas_", "64_"), ("cblas_", "64_"), ("scipy_cblas_", ""), ("cblas_", ""))


@cache
def symbol(name: str) -> str:
    """Give the name of a function in NumPy's BLAS, none if it is not to be found."""
    names = [f"{before}{CALLED[name]}{after}" for before, after in AFFIXES]
    return next((n for n in names if hasattr(library(), n)), "")


@cache
def library() -> ctypes.CDLL:
    """Give what NumPy's products are in; the functions that it calls are found from there."""
    return ctypes.CDLL(sys.modules["numpy._core._multiarray_umath"].__file__)


def address(name: str) -> int:
    """Give where a function begins."""
    return ctypes.cast(getattr(library(), symbol(name)), ctypes.c_void_p).value or 0


def bits(name: str) -> int:
    """Give the bits of its integers."""
    return 64 if symbol(name).endswith("64_") else 32
