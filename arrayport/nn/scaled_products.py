"""Products of operands that come in few bits, with a scale for each block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.errors import UnsupportedOnBackendError
from arrayport.lax.products import scaled_dot
from arrayport.numpy.creation import ones
from arrayport.ops.products import dot_general
from arrayport.ops.promotion import lift_all
from arrayport.ops.structure import transpose
from arrayport.transforms.engines import run_on_engine

__all__ = ["get_scaled_dot_general_config", "scaled_dot_general", "scaled_matmul"]


@dataclass(frozen=True)
class BlockScaleConfig:
    """What the operands of `scaled_dot_general` are rounded to, block by block."""

    mode: str
    block_size: int
    data_type: Any
    scale_type: Any
    global_scale: Any
    infer_only: bool


def get_scaled_dot_general_config(mode: str, global_scale: Any = None) -> BlockScaleConfig:
    """Describe one of the formats "nvfp4", "mxfp8" and "mxfp4" for `scaled_dot_general`.

    Raises ValueError for another, and for a global scale of "mxfp4". Source:
    ``jax.nn.get_scaled_dot_general_config``.

    >>> get_scaled_dot_general_config("mxfp8").block_size
    32
    """
    if mode == "nvfp4":
        scale = ones(1, "float32") if global_scale is None else global_scale
        few, scales = dtypes.float4_e2m1fn, dtypes.float8_e4m3fn
        return BlockScaleConfig(mode, 16, few, scales, scale, infer_only=False)
    if mode not in {"mxfp8", "mxfp4"}:
        raise ValueError(f"mode {mode!r} is unknown: use 'nvfp4', 'mxfp8' or 'mxfp4'")
    if mode == "mxfp4" and global_scale is not None:
        raise ValueError("mxfp4 has no global_scale: the scales of its blocks cover the range")
    few = dtypes.float8_e4m3fn if mode == "mxfp8" else dtypes.float4_e2m1fn
    return BlockScaleConfig(mode, 32, few, dtypes.float8_e8m0fnu, None, infer_only=False)


def scaled_dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    preferred_element_type: Any = np.float32,
    configs: Any = None,
    implementation: str | None = None,
) -> Array:
    """Sum products; with `configs` of operands rounded to few bits, block by block, on JAX.

    The three configs are of lhs, rhs and the gradient. Raises UnsupportedOnBackendError for configs
    where JAX does not run the work. Source: ``jax.nn.scaled_dot_general``.

    >>> import arrayport.numpy as anp
    >>> scaled_dot_general(anp.ones((2, 3)), anp.ones((3, 2)), (((1,), (0,)), ((), ()))).shape
    (2, 2)
    """
    if configs is None:
        options = {"preferred_element_type": preferred_element_type}
        return dot_general(lhs, rhs, dimension_numbers, **options)
    return run_on_engine(
        *("scaled_dot_general", _refused, (lhs, rhs)),
        *(lhs, rhs, dimension_numbers, preferred_element_type, configs, implementation),
    )


def _refused(*_arguments: Any) -> Array:
    raise UnsupportedOnBackendError(
        "products of operands rounded block by block save time on NVIDIA's GPUs through cuDNN, and "
        "elsewhere cost it: leave configs out, or use the JAX backend"
    )


def scaled_matmul(
    lhs: Any,
    rhs: Any,
    lhs_scales: Any,
    rhs_scales: Any,
    preferred_element_type: Any = np.float32,
) -> Array:
    """Multiply (B, M, K) with (B, N, K) to (B, M, N), each block along K times its scale.

    Scales have the operands' shapes but for K, of which theirs is a divisor. Raises ValueError for
    shapes that do not fit. Source: ``jax.nn.scaled_matmul``.

    >>> import arrayport.numpy as anp
    >>> x, scale = anp.ones((1, 1, 4)), anp.ones((1, 1, 2)) / 2
    >>> float(scaled_matmul(x, x, scale, scale)[0, 0, 0])
    1.0
    """
    a, b, a_scale, b_scale = lift_all((lhs, rhs, lhs_scales, rhs_scales))
    shapes = [x.shape for x in (a, b, a_scale, b_scale)]
    if any(len(s) != 3 for s in shapes):
        raise ValueError(f"scaled_matmul takes arrays of 3 axes, not of shapes {shapes}")
    if (a.shape[0], a.shape[2]) != (b.shape[0], b.shape[2]):
        raise ValueError(f"lhs {a.shape} and rhs {b.shape} differ in batch or in the summed axis")
    for x, scale, name in ((a, a_scale, "lhs_scales"), (b, b_scale, "rhs_scales")):
        if scale.shape[:2] != x.shape[:2] or scale.shape[2] != a_scale.shape[2]:
            raise ValueError(f"{name} of shape {scale.shape} do not fit an operand of {x.shape}")
    order = (0, 2, 1)
    return scaled_dot(
        a,
        transpose(b, order),
        lhs_scale=a_scale,
        rhs_scale=transpose(b_scale, order),
        preferred_element_type=preferred_element_type,
    )
