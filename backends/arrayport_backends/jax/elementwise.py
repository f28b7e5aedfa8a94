"""JAX's kernels for elementwise operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from arrayport.core.primitive import Primitive
from arrayport.ops import elementwise as ops
from arrayport_backends.jax import complexes
from arrayport_backends.jax.complexes import by_kind

Kernel = Callable[..., Any]


@jax.custom_jvp
def float_remainder(x: Any, y: Any) -> Any:
    """Give the remainder with the sign of y, even where it is 0; XLA's has x's there."""
    r = lax.rem(x, y)
    r = jnp.where((r != 0) & ((r < 0) != (y < 0)), r + y, r)
    return jnp.where(r == 0, jnp.copysign(r, y), r)


float_remainder.defjvps(
    lambda t, _ans, _x, _y: t,
    lambda t, _ans, x, y: -t * float_floor_divide(x, y),
)


@jax.custom_jvp
def one_minus_square(x: Any) -> Any:
    """Give 1 - x * x as a product: JAX before 0.11 has no function of this name."""
    return (1 + x) * (1 - x)


one_minus_square.defjvps(lambda t, _ans, x: t * (x * -2))


@jax.custom_jvp
def hypot(x: Any, y: Any) -> Any:
    """Give the hypotenuse, whose derivative at the origin is 0."""
    return jnp.hypot(x, y)


hypot.defjvps(
    lambda t, ans, x, _y: t * (x / jnp.where(ans == 0, 1, ans)),
    lambda t, ans, _x, y: t * (y / jnp.where(ans == 0, 1, ans)),
)


def float_floor_divide(x: Any, y: Any) -> Any:
    """Divide and round down, with the zeros' signs and the infinities of the array API."""
    x, y = lax.stop_gradient((x, y))
    ratio = x / y
    r = lax.rem(x, y)
    q = (x - r) / y
    q = jnp.where((r != 0) & ((r < 0) != (y < 0)), q - 1, q)
    q = jnp.where(q == 0, jnp.copysign(q, ratio), jnp.round(q))
    return jnp.where(jnp.isinf(x) | jnp.isinf(y) | (y == 0), ratio, q)


def integer_floor_divide(x: Any, y: Any) -> Any:
    """Divide and round down; by 0 gives 0."""
    return jnp.where(y == 0, 0, jnp.floor_divide(x, jnp.where(y == 0, 1, y)))


def integer_remainder(x: Any, y: Any) -> Any:
    """Give the remainder with the sign of y; by 0 gives 0."""
    return jnp.where(y == 0, 0, jnp.remainder(x, jnp.where(y == 0, 1, y)))


def integer_power(x: Any, y: Any) -> Any:
    """Raise to a power; integers to a negative one give 0, or 1 and -1 for these two."""
    if x.dtype == np.bool_:
        x, y = x.astype(np.int32), y.astype(np.int32)
    unit = jnp.where(abs(x) == 1, x, 0)
    positive = jnp.power(x, jnp.maximum(y, 0))
    return jnp.where(y < 0, jnp.where((y & 1) == 1, unit, unit * unit), positive)


ROWS: Mapping[Primitive, Kernel] = {
    ops.neg_p: lax.neg,
    ops.add_p: by_kind("b", lax.bitwise_or, lax.add),
    ops.sub_p: lax.sub,
    ops.mul_p: by_kind("b", lax.bitwise_and, lax.mul),
    ops.div_p: lax.div,
    ops.quotient_p: lax.div,
    ops.rem_p: lax.rem,
    ops.floor_divide_p: by_kind("f", float_floor_divide, integer_floor_divide),
    ops.remainder_p: by_kind("f", float_remainder, integer_remainder),
    ops.max_p: lax.max,
    ops.min_p: lax.min,
    ops.select_p: lax.select,
    ops.clamp_p: lax.clamp,
    ops.eq_p: lax.eq,
    ops.ne_p: lax.ne,
    ops.lt_p: by_kind("c", jnp.less, lax.lt),
    ops.le_p: by_kind("c", jnp.less_equal, lax.le),
    ops.gt_p: by_kind("c", jnp.greater, lax.gt),
    ops.ge_p: by_kind("c", jnp.greater_equal, lax.ge),
    ops.is_finite_p: jnp.isfinite,
    ops.pow_p: by_kind("bi", integer_power, jnp.power),
    ops.integer_pow_p: lambda x, *, n: lax.integer_pow(x, n),
    ops.square_p: lax.square,
    ops.one_minus_square_p: one_minus_square,
    ops.sqrt_p: complexes.sqrt,
    ops.rsqrt_p: lax.rsqrt,
    ops.hypot_p: hypot,
    ops.cbrt_p: lax.cbrt,
    ops.exp_p: complexes.exp,
    ops.exp2_p: lax.exp2,
    ops.expm1_p: complexes.expm1,
    ops.log_p: complexes.log,
    ops.log1p_p: complexes.log1p,
    ops.logistic_p: lax.logistic,
    ops.sin_p: complexes.sin,
    ops.cos_p: complexes.cos,
    ops.tan_p: complexes.tan,
    ops.asin_p: complexes.asin,
    ops.acos_p: complexes.acos,
    ops.atan_p: complexes.atan,
    ops.sinh_p: complexes.sinh,
    ops.cosh_p: complexes.cosh,
    ops.tanh_p: complexes.tanh,
    ops.asinh_p: complexes.asinh,
    ops.acosh_p: complexes.acosh,
    ops.atanh_p: complexes.atanh,
    ops.atan2_p: lax.atan2,
    ops.abs_p: jnp.abs,
    ops.sign_p: lambda x: jnp.where(x == 0, 0, lax.sign(x)),
    ops.signbit_p: jnp.signbit,
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
