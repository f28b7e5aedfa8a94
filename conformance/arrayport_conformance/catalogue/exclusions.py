"""Public callables without a row of the catalogue, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping


def _for(reason: str, names: str) -> dict[str, str]:
    """Give many names one reason."""
    return dict.fromkeys(names.split(), reason)


EXCLUDED: Mapping[str, str] = {
    **_for(
        "a type or a dtype, not an operation: tests/core/test_dtypes.py",
        "numpy.bfloat16 numpy.bool numpy.bool_ numpy.cdouble numpy.character numpy.complex128 "
        "numpy.complex64 numpy.complex_ numpy.complexfloating numpy.csingle numpy.double "
        "numpy.dtype numpy.finfo numpy.flexible numpy.float16 numpy.float32 numpy.float4_e2m1fn "
        "numpy.float64 numpy.float8_e3m4 numpy.float8_e4m3 numpy.float8_e4m3b11fnuz "
        "numpy.float8_e4m3fn numpy.float8_e4m3fnuz numpy.float8_e5m2 numpy.float8_e5m2fnuz "
        "numpy.float8_e8m0fnu numpy.float_ numpy.floating numpy.generic numpy.iinfo numpy.inexact "
        "numpy.int16 numpy.int2 numpy.int32 numpy.int4 numpy.int64 numpy.int8 numpy.int_ "
        "numpy.integer numpy.ndarray numpy.number numpy.object_ numpy.signedinteger numpy.single "
        "numpy.uint numpy.uint16 numpy.uint2 numpy.uint32 numpy.uint4 numpy.uint64 numpy.uint8 "
        "numpy.unsignedinteger",
    ),
    **_for(
        "it answers about dtypes or shapes, in Python: tests/core/test_dtypes.py",
        "numpy.broadcast_shapes numpy.can_cast numpy.iscomplexobj numpy.isdtype numpy.isrealobj "
        "numpy.isscalar numpy.issubdtype numpy.ndim numpy.promote_types numpy.result_type "
        "numpy.shape numpy.size",
    ),
    **_for(
        "it converts foreign memory: tests/test_contract.py",
        "numpy.from_dlpack numpy.frombuffer",
    ),
    **_for(
        "it calls a function that it is given, of rows of the catalogue",
        "numpy.fromfunction numpy.piecewise",
    ),
}
