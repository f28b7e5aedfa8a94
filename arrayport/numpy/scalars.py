"""The scalar types, what is asked of dtypes, and the constants."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import iterable
from numpy.exceptions import ComplexWarning

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.dtypes import can_cast, finfo, iinfo, promote_types
from arrayport.numpy.creation import asarray
from arrayport.ops.promotion import SCALARS

__all__ = [
    "ComplexWarning",
    "bfloat16",
    "bool",
    "bool_",
    "can_cast",
    "cdouble",
    "character",
    "complex64",
    "complex128",
    "complex_",
    "complexfloating",
    "csingle",
    "double",
    "dtype",
    "e",
    "euler_gamma",
    "finfo",
    "flexible",
    "float4_e2m1fn",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float16",
    "float32",
    "float64",
    "float_",
    "floating",
    "generic",
    "iinfo",
    "inexact",
    "inf",
    "int2",
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "integer",
    "iscomplexobj",
    "isdtype",
    "isrealobj",
    "isscalar",
    "issubdtype",
    "iterable",
    "nan",
    "ndarray",
    "newaxis",
    "number",
    "object_",
    "pi",
    "promote_types",
    "result_type",
    "signedinteger",
    "single",
    "uint",
    "uint2",
    "uint4",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unsignedinteger",
]


class ScalarType(type):
    """A dtype that makes arrays when it is called: `float32(1.5)`; usable wherever a dtype is.

    It equals NumPy's type of that dtype, hashes as that, and has its numbers as instances.

    >>> import arrayport.numpy as anp
    >>> anp.float32(1.5), anp.zeros(1, anp.float32).dtype == anp.float32
    (Array(1.5, dtype=float32), True)
    """

    dtype: np.dtype[Any]

    def __new__(cls, dtype: np.dtype[Any]) -> ScalarType:
        says = f"Make an array of {dtype.name}, or stand for that dtype: see `ScalarType`."
        names = {"dtype": dtype, "__doc__": says, "__module__": "arrayport.numpy", "__slots__": ()}
        return super().__new__(cls, dtype.name, (), names)

    def __init__(cls, dtype: np.dtype[Any]) -> None:
        super().__init__(dtype.name, (), {})

    def __call__(cls, x: Any = 0) -> Array:
        return asarray(x, dtype=cls.dtype)

    def __instancecheck__(cls, instance: object) -> Any:
        return isinstance(instance, cls.dtype.type)

    def __eq__(cls, other: object) -> Any:
        return cls is other or cls.dtype.type == other

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __repr__(cls) -> str:
        return f"arrayport.numpy.{cls.dtype.name}"


bool_ = ScalarType(dtypes.bool_)
bool = bool_
int2, int4 = ScalarType(dtypes.int2), ScalarType(dtypes.int4)
int8, int16, int32 = (ScalarType(d) for d in (dtypes.int8, dtypes.int16, dtypes.int32))
int64 = ScalarType(dtypes.int64)
uint2, uint4 = ScalarType(dtypes.uint2), ScalarType(dtypes.uint4)
uint8, uint16, uint32 = (ScalarType(d) for d in (dtypes.uint8, dtypes.uint16, dtypes.uint32))
uint64 = ScalarType(dtypes.uint64)
float16, float32, float64 = (
    ScalarType(d) for d in (dtypes.float16, dtypes.float32, dtypes.float64)
)
bfloat16 = ScalarType(dtypes.bfloat16)
complex64, complex128 = ScalarType(dtypes.complex64), ScalarType(dtypes.complex128)
float4_e2m1fn = ScalarType(dtypes.float4_e2m1fn)
float6_e2m3fn = ScalarType(dtypes.float6_e2m3fn)
float6_e3m2fn = ScalarType(dtypes.float6_e3m2fn)
float8_e3m4 = ScalarType(dtypes.float8_e3m4)
float8_e4m3 = ScalarType(dtypes.float8_e4m3)
float8_e4m3b11fnuz = ScalarType(dtypes.float8_e4m3b11fnuz)
float8_e4m3fn = ScalarType(dtypes.float8_e4m3fn)
float8_e4m3fnuz = ScalarType(dtypes.float8_e4m3fnuz)
float8_e5m2 = ScalarType(dtypes.float8_e5m2)
float8_e5m2fnuz = ScalarType(dtypes.float8_e5m2fnuz)
float8_e8m0fnu = ScalarType(dtypes.float8_e8m0fnu)
if dtypes.ONE_BIT:
    int1, uint1 = map(ScalarType, dtypes.ONE_BIT)
    __all__ += ["int1", "uint1"]
int_, uint, float_, complex_ = int64, uint64, float64, complex128
single, double, csingle, cdouble = float32, float64, complex64, complex128

dtype = np.dtype
ndarray = Array
generic, number, integer, inexact = np.generic, np.number, np.integer, np.inexact
signedinteger, unsignedinteger = np.signedinteger, np.unsignedinteger
floating, complexfloating = np.floating, np.complexfloating
flexible, character, object_ = np.flexible, np.character, np.object_

e, pi, inf, nan = math.e, math.pi, math.inf, math.nan
euler_gamma = 0.5772156649015329
newaxis = None

_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


def isdtype(dtype: Any, kind: Any) -> Any:
    """Say whether a dtype is of a kind: another dtype, a kind's name, or a tuple of these.

    Names: "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex
    floating", "numeric". Raises TypeError for what is no dtype, ValueError for another name.
    Source: the array API standard.

    >>> import arrayport.numpy as anp
    >>> anp.isdtype(anp.int8, "integral"), anp.isdtype(anp.int8, ("bool", anp.float32))
    (True, False)
    """
    own = dtypes.promote_types(dtype, dtype)
    if isinstance(kind, tuple):
        return any(isdtype(own, k) for k in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return dtypes.kind(own) in _KINDS[kind]
    try:
        return own == dtypes.promote_types(kind, kind)
    except TypeError:
        known = ", ".join(map(repr, _KINDS))
        raise ValueError(f"kind {kind!r} is unknown: use a dtype or one of {known}") from None


def result_type(*args: Any) -> np.dtype[Any]:
    """Give the dtype of an operation on arrays, dtypes and Python scalars, which are weak.

    Raises ValueError where narrow types would have to promote. Source: ``jax.numpy.result_type``.

    >>> import arrayport.numpy as anp
    >>> anp.result_type(anp.int8, 2.0)
    dtype('float32')
    """
    return weak_result_type(*args)[0]


def weak_result_type(*args: Any) -> tuple[np.dtype[Any], Any]:
    """Give the dtype of an operation, as `result_type` does, and whether it is weak."""
    pairs = [_pair(x) for x in args]
    if len(set(pairs)) == 1 and dtypes.is_key(pairs[0][0]):
        return pairs[0]
    return dtypes.result_type(*pairs)


def _pair(x: Any) -> tuple[np.dtype[Any], Any]:
    if isinstance(x, Array):
        return x.dtype, x.weak
    if isinstance(x, type) and x in {int, float, complex}:
        return dtypes.canonicalize(x), True
    if type(x) in SCALARS:
        return dtypes.scalar_dtype(x)
    return dtypes.canonicalize(_dtype(x)), False


def _dtype(x: Any) -> Any:
    """Give the dtype of an array, else x: NumPy's types have such an attribute, which is none."""
    own = getattr(x, "dtype", None)
    return own if isinstance(own, np.dtype) else x


def issubdtype(arg1: Any, arg2: Any) -> Any:
    """Say whether a dtype, or an array's, is another, or of an abstract type.

    Source: ``jax.numpy.issubdtype``.

    >>> import arrayport.numpy as anp
    >>> anp.issubdtype(anp.bfloat16, anp.floating)
    True
    """
    return dtypes.issubdtype(_dtype(arg1), arg2)


def iscomplexobj(x: Any) -> Any:
    """Say whether an array or a number is of a complex type. Source: ``jax.numpy.iscomplexobj``.

    >>> import arrayport.numpy as anp
    >>> anp.iscomplexobj(anp.ones(2))
    False
    """
    return dtypes.is_complex(_pair(asarray(x) if isinstance(x, list | tuple) else x)[0])


def isrealobj(x: Any) -> Any:
    """Say whether an array or a number is of a type that is not complex.

    Source: ``jax.numpy.isrealobj``.

    >>> import arrayport.numpy as anp
    >>> anp.isrealobj(anp.ones(2))
    True
    """
    return not iscomplexobj(x)


def isscalar(element: Any) -> Any:
    """Say whether an element is a number or an array without axes. Source: ``jax.numpy.isscalar``.

    >>> import arrayport.numpy as anp
    >>> anp.isscalar(2.0), anp.isscalar(anp.ones(1))
    (True, False)
    """
    return np.isscalar(element) or (hasattr(element, "shape") and element.shape == ())
