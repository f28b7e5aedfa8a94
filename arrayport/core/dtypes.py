"""The data types, how they promote with and without weakness, and what their numbers can hold."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np

from arrayport.core.config import strict_dtypes, x64
from arrayport.core.errors import TypePromotionError

DType = np.dtype[Any]

bool_: DType = np.dtype(np.bool_)
int8: DType = np.dtype(np.int8)
int16: DType = np.dtype(np.int16)
int32: DType = np.dtype(np.int32)
int64: DType = np.dtype(np.int64)
uint8: DType = np.dtype(np.uint8)
uint16: DType = np.dtype(np.uint16)
uint32: DType = np.dtype(np.uint32)
uint64: DType = np.dtype(np.uint64)
float16: DType = np.dtype(np.float16)
float32: DType = np.dtype(np.float32)
float64: DType = np.dtype(np.float64)
complex64: DType = np.dtype(np.complex64)
complex128: DType = np.dtype(np.complex128)
int2: DType = np.dtype(ml_dtypes.int2)
int4: DType = np.dtype(ml_dtypes.int4)
uint2: DType = np.dtype(ml_dtypes.uint2)
uint4: DType = np.dtype(ml_dtypes.uint4)
bfloat16: DType = np.dtype(ml_dtypes.bfloat16)
float8_e3m4: DType = np.dtype(ml_dtypes.float8_e3m4)
float8_e4m3: DType = np.dtype(ml_dtypes.float8_e4m3)
float8_e4m3b11fnuz: DType = np.dtype(ml_dtypes.float8_e4m3b11fnuz)
float8_e4m3fn: DType = np.dtype(ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz: DType = np.dtype(ml_dtypes.float8_e4m3fnuz)
float8_e5m2: DType = np.dtype(ml_dtypes.float8_e5m2)
float8_e5m2fnuz: DType = np.dtype(ml_dtypes.float8_e5m2fnuz)
float8_e8m0fnu: DType = np.dtype(ml_dtypes.float8_e8m0fnu)
float6_e2m3fn: DType = np.dtype(ml_dtypes.float6_e2m3fn)
float6_e3m2fn: DType = np.dtype(ml_dtypes.float6_e3m2fn)
float4_e2m1fn: DType = np.dtype(ml_dtypes.float4_e2m1fn)
float0: DType = np.dtype([("float0", np.void, 0)])  # of tangents that are always zero: integers'
key: DType = np.dtype([("threefry2x32", np.uint32, (2,))])  # of typed random keys

# Which of these there are is for the release of ml_dtypes to say.
ONE_BIT: Mapping[DType, str] = MappingProxyType(
    {
        np.dtype(getattr(ml_dtypes, name)): name[0]
        for name in ("int1", "uint1")
        if hasattr(ml_dtypes, name)
    }
)

# NumPy's own `dtype.kind` is 'V' for most types of ml_dtypes.
_KINDS: Mapping[DType, str] = MappingProxyType(
    {
        bool_: "b",
        **dict.fromkeys((int2, int4, int8, int16, int32, int64), "i"),
        **dict.fromkeys((uint2, uint4, uint8, uint16, uint32, uint64), "u"),
        **dict.fromkeys((float16, float32, float64, bfloat16, float4_e2m1fn), "f"),
        **ONE_BIT,
        **dict.fromkeys((float6_e2m3fn, float6_e3m2fn), "f"),
        **dict.fromkeys((float8_e3m4, float8_e4m3, float8_e4m3b11fnuz, float8_e4m3fn), "f"),
        **dict.fromkeys((float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu), "f"),
        **dict.fromkeys((complex64, complex128), "c"),
    }
)
SUPPORTED: Mapping[str, DType] = MappingProxyType({dtype.name: dtype for dtype in _KINDS})
NARROW = frozenset(d for d, kind in _KINDS.items() if kind == "f" and d.itemsize <= 2)

_HALVED = {int64: int32, uint64: uint32, float64: float32, complex128: complex64}
_LIMITS: Any = ml_dtypes.iinfo
_RANGES = {
    dtype: (int(_LIMITS(dtype).min), int(_LIMITS(dtype).max))
    for dtype, kind in _KINDS.items()
    if kind in "iu"
}

# ---- names and categories


def canonicalize(dtype: Any) -> DType:
    """Return the supported dtype that `dtype` (a dtype, scalar type, name, Python type) means.

    While x64 is off, 64-bit types become 32-bit ones. Raises TypeError for what is no dtype and
    for dtypes without a place here (object, strings, dates, structures, foreign byte order).

    >>> canonicalize(float), canonicalize("bfloat16")
    (dtype('float32'), dtype(bfloat16))
    """
    try:
        return _canonical(dtype, x64())
    except TypeError:
        raise _refusal(dtype) from None


@functools.cache
def _canonical(dtype: Any, wide: bool) -> DType:
    # A number would be found in the cache under an equal number of another type.
    if dtype is None or isinstance(dtype, np.generic):
        raise TypeError
    known = _held(dtype)
    if is_key(known):
        return key
    known = np.dtype(known)
    if known not in _KINDS:
        raise TypeError
    # Drops the metadata that an equal dtype may carry.
    known = SUPPORTED[known.name]
    return known if wide else _HALVED.get(known, known)


def _held(dtype: Any) -> Any:
    """Return the dtype of an array or of a scalar type that names one, else `dtype`."""
    attribute = getattr(dtype, "dtype", None)
    return attribute if isinstance(attribute, np.dtype) else dtype


def no_number() -> TypeError:
    """Make the error for a typed key where a number is needed."""
    return TypeError(
        "a typed random key is no number: draw with it by arrayport.random, or take its words by "
        "arrayport.random.key_data"
    )


def _refusal(dtype: Any) -> TypeError:
    if isinstance(dtype, np.dtype) and dtype.newbyteorder("=") in _KINDS:
        native = dtype.newbyteorder("=").name
        return TypeError(f"dtype {dtype.str!r} has a foreign byte order: use .astype({native!r})")
    shape = f"; a shape is one argument, such as (2, {dtype})" if isinstance(dtype, int) else ""
    return TypeError(
        f"{dtype!r} is not a supported dtype: use bool, int8 to int64, uint8 to uint64, float16, "
        "bfloat16, float32, float64, complex64, complex128, or a narrow int or float of ml_dtypes"
        + shape
    )


def default_int() -> DType:
    """Return the dtype of a Python int: int32, or int64 while x64 is on."""
    return int64 if x64() else int32


def default_float() -> DType:
    """Return the dtype of a Python float: float32, or float64 while x64 is on."""
    return float64 if x64() else float32


def default_complex() -> DType:
    """Return the dtype of a Python complex: complex64, or complex128 while x64 is on."""
    return complex128 if x64() else complex64


def is_key(dtype: Any) -> bool:
    """Return whether `dtype` is that of typed random keys, ours or JAX's."""
    return dtype == key if isinstance(dtype, np.dtype) else str(dtype).startswith("key<")


def name(dtype: Any) -> str:
    """Return what a dtype is called; that of keys as JAX calls it.

    >>> name(key)
    'key<fry>'
    """
    return "key<fry>" if dtype == key else str(dtype)


def kind(dtype: Any) -> str:
    """Return 'b', 'i', 'u', 'f' or 'c': the category, narrow types included; 'k' for keys.

    >>> kind(bfloat16), kind(int4)
    ('f', 'i')
    """
    try:
        return _KINDS[dtype]
    except (KeyError, TypeError):
        return "k" if is_key(dtype) else _KINDS[canonicalize(dtype)]


def is_integer(dtype: Any) -> bool:
    """Return whether `dtype` is a signed or unsigned integer; bool is not."""
    return kind(dtype) in "iu"


def is_floating(dtype: Any) -> bool:
    """Return whether `dtype` is a real floating-point type."""
    return kind(dtype) == "f"


def is_complex(dtype: Any) -> bool:
    """Return whether `dtype` is complex."""
    return kind(dtype) == "c"


def is_inexact(dtype: Any) -> bool:
    """Return whether `dtype` is real or complex floating point, so that it has derivatives."""
    return kind(dtype) in "fc"


_ABSTRACT: tuple[type[np.generic], ...] = (
    np.generic,
    np.number,
    np.integer,
    np.signedinteger,
    np.unsignedinteger,
    np.inexact,
    np.floating,
    np.complexfloating,
    np.flexible,
    np.character,
)
_CATEGORIES: dict[str, type[np.generic]] = {
    "b": np.bool_,
    "i": np.signedinteger,
    "u": np.unsignedinteger,
    "f": np.floating,
    "c": np.complexfloating,
}


class extended(np.generic):  # noqa: N801 - named as NumPy's scalar types are
    """The category of element types that are no numbers. Source: ``jax.dtypes.extended``."""


class prng_key(extended):  # noqa: N801 - named as NumPy's scalar types are
    """The category of typed random keys. Source: ``jax.dtypes.prng_key``."""


def issubdtype(dtype: Any, category: Any) -> bool:
    """Return whether `dtype` is `category`, or belongs to the abstract NumPy type `category`.

    Narrow types belong where their numbers do. Source: ``jax.numpy.issubdtype``.

    >>> issubdtype("bfloat16", np.floating)
    True
    """
    if category in (extended, prng_key) or is_key(dtype):
        return is_key(dtype) and category in (extended, prng_key, np.generic, dtype)
    if category in _ABSTRACT and dtype not in _ABSTRACT:
        # A dtype that is not supported here still has its place in NumPy's hierarchy.
        with contextlib.suppress(TypeError):
            return issubclass(_CATEGORIES[kind(dtype)], category)
    return bool(np.issubdtype(dtype, category))


def real_dtype(dtype: DType) -> DType:
    """Return the dtype of the real part of `dtype`, which is itself unless complex."""
    return {complex64: float32, complex128: float64}.get(dtype, dtype)


@functools.cache
def _inexact(dtype: DType, wide: bool) -> DType:
    if kind(dtype) in "fc":
        return _canonical(dtype, wide)
    return _canonical(float64 if dtype in {int64, uint64} else float32, wide)


def to_inexact(dtype: DType) -> DType:
    """Return `dtype` if inexact, else the float in which functions like ``sin`` compute it.

    That is float32, for 64-bit integers float64 while x64 is on.
    """
    return _inexact(dtype, x64())


def complex_dtype(dtype: DType) -> DType:
    """Return the complex dtype that holds the values of `dtype`."""
    return complex128 if to_inexact(dtype) in {float64, complex128} else complex64


# ---- promotion

# Chains of the promotion order, each ascending. int, float and complex stand for weak numbers:
# Python scalars, and arrays made of nothing else. Narrow types are below nothing, so that two
# of them, or one and a wider type, have no bound in common and must be cast by the user.
_CHAINS: tuple[tuple[Any, ...], ...] = (
    (bool_, int, int8, int16, int32, int64, float, complex, complex64, complex128),
    (int, uint8, uint16, uint32, uint64, float),
    (uint8, int16),
    (uint16, int32),
    (float, float16, float32, float64, complex128),
    (float, bfloat16, float32, complex64),
    *((int, narrow) for narrow in (int2, int4, uint2, uint4, *ONE_BIT)),
    *((float, narrow) for narrow in _KINDS if _KINDS[narrow] == "f" and narrow.itemsize == 1),
)
_WEAK = {"i": int, "u": int, "f": float, "c": complex}
_WEAK_DTYPES: dict[Any, DType] = {int: int64, float: float64, complex: complex128}


@functools.cache
def _bounds(wide: bool) -> dict[Any, frozenset[Any]]:
    """Map each node of the order to itself and all that is above it."""
    # Without 64-bit types nothing holds both uint32 and the signed integers: int32 has to do.
    chains = (*_CHAINS, (uint32, int64 if wide else int32))
    above = {node: {node} for chain in chains for node in chain}
    for low, high in itertools.chain.from_iterable(map(itertools.pairwise, chains)):
        above[low].add(high)
    changed = True
    while changed:
        grown = {n: set().union(*(above[m] for m in ms)) for n, ms in above.items()}
        above, changed = grown, grown != above
    return {node: frozenset(nodes) for node, nodes in above.items()}


def _join(nodes: set[Any], wide: bool) -> Any:
    """Return the lowest node that is at or above all of `nodes`."""
    bounds = _bounds(wide)
    common = frozenset.intersection(*(bounds[node] for node in nodes))
    for node in common:
        if bounds[node] == common:
            return node
    names = ", ".join(
        sorted(f"Python {n.__name__}" if n in _WEAK_DTYPES else n.name for n in nodes)
    )
    raise TypePromotionError(
        f"dtypes {names} do not promote implicitly, since integers under 8 bits and floats under "
        "16 bits would lose values: cast one of them, for example x.astype('float32')"
    )


@functools.cache
def _result(pairs: tuple[tuple[Any, bool], ...], wide: bool) -> tuple[DType, bool]:
    known = [(_canonical(dtype, wide), weak) for dtype, weak in pairs]
    if (key, False) in known:
        raise no_number()
    if all(weak for _, weak in known):
        dtype = _join({dtype for dtype, _ in known}, wide)
        return _canonical(_WEAK_DTYPES.get(dtype, dtype), wide), dtype != bool_
    node = _join({_WEAK.get(kind(dtype), dtype) if weak else dtype for dtype, weak in known}, wide)
    return _canonical(_WEAK_DTYPES.get(node, node), wide), node in _WEAK_DTYPES


@functools.cache
def _promoted(a: Any, a_weak: bool, b: Any, b_weak: bool, wide: bool) -> tuple[DType, bool]:
    return _result(((a, a_weak), (b, b_weak)), wide)


def promote(a: DType, a_weak: bool, b: DType, b_weak: bool) -> tuple[DType, bool]:
    """Return the dtype and weakness of an operation on two arrays, as `result_type` does.

    >>> promote(float16, False, float32, True)
    (dtype('float16'), False)
    """
    if strict_dtypes():
        return _strict(((a, a_weak), (b, b_weak)))
    return _promoted(a, a_weak, b, b_weak, x64())


def result_type(*pairs: tuple[DType, bool]) -> tuple[DType, bool]:
    """Return the dtype and weakness of an operation on arrays given as pairs (dtype, weak).

    Weak operands decide only the kind: they take the dtype of the strong ones where those are of
    the same or a higher kind. Raises TypePromotionError where narrow types would have to promote.
    Source: ``jax.numpy.result_type``.

    >>> result_type((int8, False), (int32, True), (bool_, False))
    (dtype('int8'), False)
    """
    if not pairs:
        raise ValueError("result_type needs at least one array, scalar or dtype")
    if strict_dtypes():
        return _strict(pairs)
    return _result(pairs, x64())


def _strict(pairs: tuple[tuple[DType, bool], ...]) -> tuple[DType, bool]:
    """Promote among weak operands, and from weak ones to one of the same or a higher kind."""
    strong = {dtype for dtype, weak in pairs if not weak}
    found = _result(pairs, x64())
    if len(strong) > 1 or (strong and found[0] not in strong):
        names = ", ".join(sorted({dtype.name for dtype, _ in pairs}))
        raise TypePromotionError(
            f"the dtypes {names} do not promote implicitly while numpy_dtype_promotion is "
            '"strict": cast one with .astype'
        )
    return found


def promote_types(a: Any, b: Any) -> DType:
    """Return the dtype to which two dtypes promote, whether or not x64 is on.

    Python's int, float and complex are weak. Raises ValueError as `result_type` does.
    Source: ``jax.numpy.promote_types``.

    >>> promote_types("int64", "uint64"), promote_types(int, "float16")
    (dtype('float64'), dtype('float16'))
    """
    nodes = {spec if spec in _WEAK_DTYPES else _checked(spec) for spec in (a, b)}
    node = _join(nodes, x64())
    return _WEAK_DTYPES.get(node, node)


def _checked(dtype: Any) -> DType:
    try:
        return _canonical(dtype, True)
    except TypeError:
        raise _refusal(dtype) from None


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Return whether `casting` allows to cast an array or a dtype to the dtype `to`.

    Raises TypeError for a Python number: its answer would depend on the value. Source:
    ``numpy.can_cast``.

    >>> import arrayport.numpy as anp
    >>> anp.can_cast("int8", "int16")
    True
    """
    if isinstance(from_, (int, float, complex)) and not isinstance(from_, np.generic):
        raise TypeError(f"can_cast needs a dtype or an array, not the Python number {from_!r}")
    return bool(np.can_cast(_checked(_held(from_)), _checked(to), casting))  # type: ignore[arg-type]


# ---- numbers


@functools.cache
def _scalar(python_type: Any, wide: bool) -> tuple[DType, bool]:
    if issubclass(python_type, np.generic):
        return _canonical(python_type, wide), False
    bases: tuple[Any, ...] = (bool, int, float, complex)
    for base in bases:
        if issubclass(python_type, base):
            return _canonical(base, wide), base is not bool
    raise TypeError(f"{python_type.__name__} is not a Python number")


def scalar_dtype(value: Any) -> tuple[DType, bool]:
    """Return the dtype and weakness of a Python number; bools and NumPy scalars are not weak.

    >>> scalar_dtype(2.0), scalar_dtype(True)
    ((dtype('float32'), True), (dtype('bool'), False))
    """
    python_type: Any = type(value)
    return _scalar(python_type, x64())


def check_fits(value: int, dtype: DType) -> None:
    """Raise OverflowError, naming both, if the Python int `value` has no place in `dtype`."""
    if dtype in _RANGES:
        low, high = _RANGES[dtype]
        if not low <= value <= high:
            cure = "use a wider dtype"
            if dtype in {int32, uint32} and not x64():
                cure += ", or turn 64-bit types on: config.update('enable_x64', True)"
            raise OverflowError(
                f"Python integer {value} does not fit {dtype.name}, which holds {low} to {high}: "
                + cure
            )


def saturated(value: complex, dtype: DType) -> complex:
    """Give a Python float as what an integer dtype makes of it: its nearest, NaN 0; others as is.

    >>> saturated(300.5, uint8), saturated(float("nan"), int32), saturated(0.5, float32)
    (255, 0, 0.5)
    """
    if type(value) is not float or dtype not in _RANGES:
        return value
    low, high = _RANGES[dtype]
    return 0 if value != value else int(min(max(value, low), high))  # noqa: PLR0124 - NaN


@dataclasses.dataclass(frozen=True)
class FloatInfo:
    """The limits of a floating-point type, as Python numbers (the array API's finfo object)."""

    dtype: DType
    bits: int
    eps: float
    epsneg: float
    max: float
    min: float
    tiny: float
    smallest_normal: float
    smallest_subnormal: float
    resolution: float
    precision: int
    nmant: int
    nexp: int
    iexp: int
    minexp: int
    maxexp: int
    machep: int
    negep: int


@functools.cache
def _float_info(dtype: DType) -> FloatInfo:
    if not is_inexact(dtype):
        raise ValueError(f"finfo needs a floating-point dtype, not {dtype}: use iinfo")
    info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    return FloatInfo(
        dtype=real_dtype(dtype),
        bits=int(info.bits),
        eps=float(info.eps),
        epsneg=float(info.epsneg),
        max=float(info.max),
        min=float(info.min),
        tiny=float(info.tiny),
        smallest_normal=float(info.smallest_normal),
        smallest_subnormal=float(info.smallest_subnormal),
        resolution=float(info.resolution),
        precision=int(info.precision),
        nmant=int(info.nmant),
        nexp=int(info.nexp),
        iexp=int(info.iexp),
        minexp=int(info.minexp),
        maxexp=int(info.maxexp),
        machep=int(info.machep),
        negep=int(info.negep),
    )


def finfo(dtype: Any) -> FloatInfo:
    """Return the limits of a floating-point dtype or array; of a complex one, its parts' limits.

    Raises ValueError for other dtypes. Source: the array API's ``finfo``.

    >>> finfo(bfloat16).eps
    0.0078125
    """
    return _float_info(_checked(_held(dtype)))


def iinfo(dtype: Any) -> ml_dtypes.iinfo:
    """Return the limits of an integer dtype or array: ``bits``, ``min``, ``max``, ``dtype``.

    Raises ValueError for other dtypes. Source: the array API's ``iinfo``.

    >>> iinfo(uint4).max
    15
    """
    known = _checked(_held(dtype))
    if known not in _RANGES:
        raise ValueError(f"iinfo needs an integer dtype, not {known}: use finfo")
    return _LIMITS(known)
