"""How exactly products are made: what JAX's `precision` may be, which only accelerators read."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple, TypeAlias

PRECISIONS = (  # jax.lax.Precision's names: what an accelerator may round its operands to
    *("default", "high", "highest", "fastest"),
    *("bfloat16", "bfloat16_3x", "tensorfloat32", "float32"),
)


class Precision(enum.StrEnum):
    """How exactly accelerators multiply; elsewhere products are exact to the dtype.

    Source: ``jax.lax.Precision``.

    >>> from arrayport import lax, numpy as anp
    >>> lax.dot(anp.ones((2, 2)), anp.ones(2), precision=lax.Precision.HIGHEST)
    Array([2., 2.], dtype=float32)
    """

    DEFAULT = "default"
    HIGH = "high"
    HIGHEST = "highest"


class DotAlgorithm(NamedTuple):
    """What the operands of a product are rounded to, and what sums them.

    Source: ``jax.lax.DotAlgorithm``.
    """

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


class DotAlgorithmPreset(enum.StrEnum):
    """Algorithms by name: the operands' dtypes, the sum's, and how many products make one.

    Source: ``jax.lax.DotAlgorithmPreset``.
    """

    DEFAULT = "DEFAULT"
    ANY_F8_ANY_F8_F32 = "ANY_F8_ANY_F8_F32"
    ANY_F8_ANY_F8_F32_FAST_ACCUM = "ANY_F8_ANY_F8_F32_FAST_ACCUM"
    ANY_F8_ANY_F8_ANY = "ANY_F8_ANY_F8_ANY"
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = "ANY_F8_ANY_F8_ANY_FAST_ACCUM"
    F16_F16_F16 = "F16_F16_F16"
    F16_F16_F32 = "F16_F16_F32"
    BF16_BF16_BF16 = "BF16_BF16_BF16"
    BF16_BF16_F32 = "BF16_BF16_F32"
    BF16_BF16_F32_X3 = "BF16_BF16_F32_X3"
    BF16_BF16_F32_X6 = "BF16_BF16_F32_X6"
    BF16_BF16_F32_X9 = "BF16_BF16_F32_X9"
    TF32_TF32_F32 = "TF32_TF32_F32"
    TF32_TF32_F32_X3 = "TF32_TF32_F32_X3"
    F32_F32_F32 = "F32_F32_F32"
    F64_F64_F64 = "F64_F64_F64"


PrecisionLike: TypeAlias = (
    str
    | Precision
    | tuple[str, str]
    | tuple[Precision, Precision]
    | DotAlgorithm
    | DotAlgorithmPreset
    | None
)


def canonical_precision(precision: Any) -> Any:
    """Check JAX's `precision` argument: None, a name, a pair, an algorithm; JAX's objects pass."""
    if isinstance(precision, DotAlgorithm):
        return precision
    if isinstance(precision, list | tuple) and not hasattr(precision, "accumulation_type"):
        return tuple(canonical_precision(p) for p in precision)
    if not isinstance(precision, str):
        return precision
    name = str(precision)
    if name in DotAlgorithmPreset.__members__:
        return name
    if name.lower() not in PRECISIONS:
        raise ValueError(
            f"precision {name!r} is unknown: use None, {', '.join(PRECISIONS)}, or a name of "
            "lax.DotAlgorithmPreset"
        )
    return name.lower()
