"""Functions of complex numbers as XLA has them, mended at signed zeros, infinities and NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Kernel = Callable[..., Any]
# (a, b, u, v): the parts of the operand and of XLA's answer; gives the parts of the right one.
Mend = Callable[[Any, Any, Any, Any], tuple[Any, Any]]
QUARTER_TURN = np.pi / 2


def by_kind(kinds: str, special: Kernel, usual: Kernel) -> Kernel:
    """Make a kernel that takes another way for some kinds of dtypes."""
    return lambda *xs: (special if xs[0].dtype.kind in kinds else usual)(*xs)


def mended(f: Kernel, mend: Mend) -> Kernel:
    """Make a function of which some complex values are mended; its derivatives stay XLA's."""

    @jax.custom_jvp
    def kernel(x: Any) -> Any:
        out = f(x)
        return lax.complex(*mend(lax.real(x), lax.imag(x), lax.real(out), lax.imag(out)))

    kernel.defjvp(lambda xs, ts: (kernel(*xs), jax.jvp(f, xs, ts)[1]))
    return by_kind("c", kernel, f)


def reflected(f: Kernel, parity: str = "") -> Kernel:
    """Mend a function of complex numbers, of which XLA loses the signs of zeros.

    It computes in the upper half plane, of an odd or even function in the quarter right of it, and
    reflects the answer.
    """

    def kernel(x: Any) -> Any:
        if x.dtype.kind != "c":
            return f(x)
        a, b = lax.real(x), lax.imag(x)
        left, below = jnp.signbit(a) & bool(parity), jnp.signbit(b)
        out = f(lax.complex(jnp.where(left, -a, a), jnp.where(below, -b, b)))
        a, b = lax.real(out), lax.imag(out)
        if parity == "even":
            return lax.complex(a, jnp.where(left ^ below, -b, b))
        return lax.complex(jnp.where(left, -a, a), jnp.where(below, -b, b))

    return kernel


def turned(real: Kernel, f: Kernel, *, back: bool) -> Kernel:
    """Make a function of complex numbers that is f(ix), or -i f(ix) if turned back."""

    def kernel(x: Any) -> Any:
        if x.dtype.kind != "c":
            return real(x)
        out = f(lax.complex(-lax.imag(x), lax.real(x)))
        return lax.complex(lax.imag(out), -lax.real(out)) if back else out

    return kernel


# ---- what is wrong, for b >= 0, and for a >= 0 of odd and even functions


def _exp(a: Any, b: Any, u: Any, v: Any) -> tuple[Any, Any]:
    lost = jnp.isinf(a) & ~jnp.isfinite(b)
    limit = jnp.where(a < 0, 0, a)
    return jnp.where(lost, limit, u), jnp.where(lost, jnp.where(a < 0, 0, jnp.nan), v)


def _expm1(a: Any, b: Any, u: Any, v: Any) -> tuple[Any, Any]:
    lost = jnp.isinf(a) & ~jnp.isfinite(b)
    u = jnp.where(lost, jnp.where(a < 0, -1, a), u)
    v = jnp.where(lost, jnp.where(a < 0, 0, jnp.nan), v)
    return jnp.where((a == 0) & (b == 0), 0, u), jnp.where(b == 0, 0, v)


def _log(a: Any, b: Any, u: Any, v: Any) -> tuple[Any, Any]:
    lost, high = _beside(a, b)
    return jnp.where(high, jnp.inf, jnp.where(lost, jnp.nan, u)), v


def _sqrt(a: Any, b: Any, u: Any, v: Any) -> tuple[Any, Any]:
    lost, high = jnp.isnan(a) | jnp.isnan(b), jnp.isinf(b)
    u, v = jnp.where(lost, jnp.nan, u), jnp.where(lost, jnp.nan, v)
    return (
        jnp.where(high | (a == jnp.inf), jnp.inf, u),
        jnp.where(high | (lost & (a == -jnp.inf)), jnp.inf, v),
    )


def _sinh(a: Any, b: Any, u: Any, v: Any) -> tuple[Any, Any]:
    known = jnp.isfinite(b)
    u = jnp.where(jnp.isinf(a) & ~known, jnp.inf, u)
    u = jnp.where(a == 0, jnp.copysign(0, jnp.where(known, jnp.cos(b), 1)), u)
    return u, jnp.where(b == 0, 0, v)


def _cosh(a: Any, b: Any, u: Any, v: Any) -> tuple[Any, Any]:
    known = jnp.isfinite(b)
    u = jnp.where(jnp.isinf(a) & ~known, jnp.inf, u)
    v = jnp.where(a == 0, jnp.copysign(0, jnp.where(known, jnp.sin(b), 1)), v)
    return u, jnp.where(b == 0, 0, v)


def _tanh(a: Any, b: Any, u: Any, v: Any) -> tuple[Any, Any]:
    lost, far = ~jnp.isfinite(b) | jnp.isnan(a), jnp.isinf(a)
    u = jnp.where(lost, jnp.where(a == 0, 0, jnp.where(far, 1, jnp.nan)), u)
    return u, jnp.where(far | (b == 0), 0, jnp.where(lost, jnp.nan, v))


def _asin(a: Any, b: Any, u: Any, v: Any) -> tuple[Any, Any]:
    v, u = _asinh(b, a, v, u)
    return u, v


def _acos(a: Any, b: Any, u: Any, v: Any) -> tuple[Any, Any]:
    v, u = _acosh(a, b, -v, u)
    return u, -v


def _asinh(a: Any, b: Any, u: Any, v: Any) -> tuple[Any, Any]:
    lost, high = _beside(a, b)
    return (
        jnp.where(lost, jnp.where(high, jnp.inf, jnp.nan), u),
        jnp.where(lost, jnp.where(b == 0, 0, jnp.nan), v),
    )


def _acosh(a: Any, b: Any, u: Any, v: Any) -> tuple[Any, Any]:
    lost, high = _beside(a, b)
    return (
        jnp.where(lost, jnp.where(high, jnp.inf, jnp.nan), u),
        jnp.where(lost, jnp.where(a == 0, QUARTER_TURN, jnp.nan), v),
    )


def _atanh(a: Any, b: Any, u: Any, v: Any) -> tuple[Any, Any]:
    lost, high = _beside(a, b)
    return (
        jnp.where(lost, jnp.where(high | (a == 0), 0, jnp.nan), u),
        jnp.where(lost, jnp.where(jnp.isinf(b), QUARTER_TURN, jnp.nan), v),
    )


def _beside(a: Any, b: Any) -> tuple[Any, Any]:
    """Whether a part is NaN, and whether one is infinite."""
    return jnp.isnan(a) | jnp.isnan(b), jnp.isinf(a) | jnp.isinf(b)


# ---- kernels

exp = reflected(mended(lax.exp, _exp))
expm1 = reflected(mended(lax.expm1, _expm1))
log, log1p = mended(lax.log, _log), mended(lax.log1p, _log)
sqrt = reflected(mended(lax.sqrt, _sqrt))
sinh = reflected(mended(lax.sinh, _sinh), "odd")
cosh = reflected(mended(lax.cosh, _cosh), "even")
tanh = reflected(mended(lax.tanh, _tanh), "odd")
asinh = reflected(mended(lax.asinh, _asinh), "odd")
acosh = reflected(mended(lax.acosh, _acosh))
atanh = reflected(mended(lax.atanh, _atanh), "odd")
sin, cos = turned(lax.sin, sinh, back=True), turned(lax.cos, cosh, back=False)
tan = turned(lax.tan, tanh, back=True)
asin, acos = reflected(mended(lax.asin, _asin), "odd"), reflected(mended(lax.acos, _acos))
atan = turned(lax.atan, atanh, back=True)
