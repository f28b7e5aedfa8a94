"""Divisors and multiples that integers have in common."""

from __future__ import annotations

from typing import Any

from arrayport.control.loops import while_loop
from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.units import unit
from arrayport.ops.elementwise import abs, equal, floor_divide, not_equal, rem, select
from arrayport.ops.promotion import broadcast_together, promote
from arrayport.ops.structure import convert, full_like

__all__ = ["gcd", "lcm"]


@unit("x1", "x2")
def gcd(x1: Any, x2: Any) -> Array:
    """Give the greatest common divisor of integers. Source: ``jax.numpy.gcd``.

    >>> import arrayport.numpy as anp
    >>> anp.gcd(12, 18)
    Array(6, dtype=int32, weak_type=True)
    """
    x, y = _integers(x1, x2, "gcd")

    def step(pair: tuple[Array, Array]) -> tuple[Array, Array]:
        a, b = pair
        # Where b is 0 the work is done.
        rest = rem(a, select(equal(b, 0), full_like(b, 1), b))
        return select(equal(b, 0), a, b), select(equal(b, 0), b, rest)

    found: Array = while_loop(lambda pair: not_equal(pair[1], 0).any(), step, (abs(x), abs(y)))[0]
    return convert(found, x.dtype, x.weak and y.weak)


@unit("x1", "x2")
def lcm(x1: Any, x2: Any) -> Array:
    """Give the least common multiple of integers. Source: ``jax.numpy.lcm``.

    >>> import arrayport.numpy as anp
    >>> anp.lcm(4, 6)
    Array(12, dtype=int32, weak_type=True)
    """
    x, y = _integers(x1, x2, "lcm")
    divisor = gcd(x, y)
    safe = select(equal(divisor, 0), full_like(divisor, 1), divisor)
    return convert(abs(x) * floor_divide(abs(y), safe), x.dtype, x.weak and y.weak)


def _integers(x1: Any, x2: Any, name: str) -> list[Array]:
    x, y = promote(x1, x2)
    if not dtypes.is_integer(x.dtype):
        raise TypeError(f"{name} takes integers, not {x.dtype}")
    return broadcast_together(x, y)
