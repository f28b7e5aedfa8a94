"""JAX's kernels for elementwise operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from arrayport.core.primitive import Primitive
from arrayport.ops import elementwise as ops


def logical(numeric: Callable[..., Any], boolean: Callable[..., Any]) -> Callable[..., Any]:
    """Make a kernel that treats booleans as NumPy does."""
    return lambda x, y: boolean(x, y) if x.dtype == np.bool_ else numeric(x, y)


def power(x: Any, y: Any) -> Any:
    """Raise to a power; integers to a negative one give 0, or 1 and -1 for these two."""
    if not jnp.issubdtype(x.dtype, jnp.signedinteger):
        return jnp.power(x, y)
    unit = jnp.where(abs(x) == 1, x, 0)
    return jnp.where(y < 0, jnp.where(y & 1, unit, unit * unit), jnp.power(x, jnp.maximum(y, 0)))


ROWS: Mapping[Primitive, Callable[..., Any]] = {
    ops.neg_p: lax.neg,
    ops.add_p: logical(lax.add, lax.bitwise_or),
    ops.sub_p: lax.sub,
    ops.mul_p: logical(lax.mul, lax.bitwise_and),
    ops.div_p: lax.div,
    ops.quotient_p: lax.div,
    ops.rem_p: lax.rem,
    ops.floor_divide_p: jnp.floor_divide,
    ops.remainder_p: jnp.remainder,
    ops.max_p: lax.max,
    ops.min_p: lax.min,
    ops.select_p: lax.select,
    ops.clamp_p: lax.clamp,
    ops.eq_p: lax.eq,
    ops.ne_p: lax.ne,
    ops.lt_p: lax.lt,
    ops.le_p: lax.le,
    ops.gt_p: lax.gt,
    ops.ge_p: lax.ge,
    ops.is_finite_p: lax.is_finite,
    ops.pow_p: power,
    ops.integer_pow_p: lambda x, *, n: lax.integer_pow(x, n),
    ops.square_p: lax.square,
    ops.sqrt_p: lax.sqrt,
    ops.rsqrt_p: lax.rsqrt,
    ops.cbrt_p: lax.cbrt,
    ops.exp_p: lax.exp,
    ops.exp2_p: lax.exp2,
    ops.expm1_p: lax.expm1,
    ops.log_p: lax.log,
    ops.log1p_p: lax.log1p,
    ops.logistic_p: lax.logistic,
    ops.sin_p: lax.sin,
    ops.cos_p: lax.cos,
    ops.tan_p: lax.tan,
    ops.asin_p: lax.asin,
    ops.acos_p: lax.acos,
    ops.atan_p: lax.atan,
    ops.sinh_p: lax.sinh,
    ops.cosh_p: lax.cosh,
    ops.tanh_p: lax.tanh,
    ops.asinh_p: lax.asinh,
    ops.acosh_p: lax.acosh,
    ops.atanh_p: lax.atanh,
    ops.atan2_p: lax.atan2,
    ops.abs_p: jnp.abs,
    ops.sign_p: lax.sign,
    ops.floor_p: lax.floor,
    ops.ceil_p: lax.ceil,
    ops.round_p: lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    ops.nextafter_p: lax.nextafter,
    ops.stop_gradient_p: lax.stop_gradient,
    ops.real_p: lax.real,
    ops.imag_p: lax.imag,
    ops.conj_p: lax.conj,
    ops.complex_p: lax.complex,
    ops.modulus_p: lax.abs,
    ops.not_p: lax.bitwise_not,
    ops.and_p: lax.bitwise_and,
    ops.or_p: lax.bitwise_or,
    ops.xor_p: lax.bitwise_xor,
    ops.shift_left_p: lax.shift_left,
    ops.shift_right_arithmetic_p: lax.shift_right_arithmetic,
    ops.shift_right_logical_p: lax.shift_right_logical,
    ops.population_count_p: lax.population_count,
}
