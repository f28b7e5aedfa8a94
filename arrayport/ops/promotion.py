"""How operands become Arrays of one backend, one dtype and one shape."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayport.core import backend as backends
from arrayport.core import dtypes, memory
from arrayport.core.array import Array, Aval
from arrayport.core.config import rank_promotion
from arrayport.core.errors import ForeignOperandError, user_line
from arrayport.core.guards import transfer
from arrayport.core.trace import backend_of, neutral
from arrayport.core.units import converter
from arrayport.ops.structure import broadcast_to, convert, full_p

SCALARS: tuple[type, ...] = (bool, int, float, complex)
# Beside these kinds a Python number takes their dtype.
KEEPS = {int: "iufc", float: "fc", complex: "c"}


def scalar(value: complex, dtype: np.dtype[Any] | None = None) -> Array:
    """A Python number as a 0-d Array, weak unless a bool; it follows the other operands."""
    own, weak = dtypes.scalar_dtype(value)
    if type(value) is int:
        dtypes.check_fits(value, dtype or own)
    return Array(np.array(value, dtype or own), weak)


def lift(x: Any, home: backends.Backend | None = None, name: str = "an operand") -> Array:
    """Make an Array of a number, a NumPy array, a backend's raw array or an Array.

    What is neutral (NumPy's) goes to `home`, else to the ambient backend; 64-bit types need x64.
    """
    if isinstance(x, Array):
        return x
    if type(x) in SCALARS:
        made = scalar(x)
        return made if made.weak else Array((home or backends.ambient()).asarray(made.raw))
    if isinstance(x, np.ndarray | np.generic):
        return from_host(np.asarray(unmasked(x, name)), home)
    for number in SCALARS:  # subclasses, such as an IntEnum
        if isinstance(x, number):
            return lift(number(x), home)
    found = backends.by_type(type(x))
    if found is not None:
        return Array(x, found.weak(x))
    convertible, converted = _holds_numbers(x), converter.get()
    if convertible and converted is not None:
        return converted(x)
    cls = type(x)
    module = "" if cls.__module__ == "builtins" else f"{cls.__module__}."
    advice = ": convert it with arrayport.numpy.asarray" if convertible else ""
    advice = ": make it dense by .toarray()" if hasattr(x, "toarray") else advice
    raise ForeignOperandError(
        f"{name} must be an array or a number, not {module}{cls.__name__}{advice}"
    )


def _holds_numbers(x: Any) -> bool:
    """Whether `asarray` makes an Array of what is no operand by itself."""
    protocols = ("__array__", "__array_interface__", "__dlpack__", "__jax_array__")
    sequence = isinstance(x, Sequence | memoryview) and not isinstance(x, str | bytes)
    return sequence or any(hasattr(x, protocol) for protocol in protocols)


def unmasked(x: Any, name: str) -> Any:
    """NumPy's array itself; one with a mask, which would be lost, raises ValueError."""
    if type(x) is not np.ndarray and hasattr(x, "filled"):
        raise ValueError(f"{name} is a masked array, whose mask would be lost: use x.filled(value)")
    return x


def from_host(host: np.ndarray[Any, Any], home: backends.Backend | None = None) -> Array:
    """Copy a NumPy array to a backend, in a dtype that exists while x64 is as it is."""
    dtype = dtypes.canonicalize(host.dtype)
    backend = home or backends.ambient()
    transfer("host_to_device", backend, Aval(host.shape, dtype))
    raw = backend.asarray(host if host.dtype == dtype else host.astype(dtype))
    if memory.on:
        memory.note(raw, "asarray")
    return Array(raw)


def home_of(*xs: Any) -> backends.Backend | None:
    """The backend of the first operand that has one."""
    return next((b for x in xs if (b := backend_of(x)) is not None), None)


def lift_all(xs: Sequence[Any], name: str = "an operand") -> list[Array]:
    """Make Arrays of all; NumPy arrays go where the others are."""
    if all([isinstance(x, Array) for x in xs]):  # noqa: C419 - quicker
        return list(xs)
    home = home_of(*xs)
    return [lift(x, home, name) for x in xs]


def settle(xs: Sequence[Array]) -> list[Array]:
    """Bring what is neutral to the backend of the others."""
    home = home_of(*xs) if any(neutral(x) for x in xs) else None
    if home is None:
        return list(xs)
    # Beside a strong array of its dtype a number may as well be strong, and then it has a home.
    firm = {x.dtype for x in xs if not x.weak}
    return [
        brought(Array(x.raw, x.weak and x.dtype not in firm), home) if neutral(x) else x for x in xs
    ]


def brought(x: Array, home: backends.Backend) -> Array:
    """Bring a number on the host to a backend, of which JAX notes weakness on the value itself."""
    if not x.weak:
        return Array(home.asarray(x.raw))
    params = {"shape": (), "value": x.raw.item(), "dtype": x.dtype, "weak": True}
    return home.execute(full_p, (), params)


def promote(x: Any, y: Any) -> tuple[Array, Array]:
    """Give two operands one dtype and one shape by NumPy's rules; a 0-d operand stays 0-d."""
    if not isinstance(x, Array):
        if isinstance(y, Array) and dtypes.kind(y.dtype) in KEEPS.get(type(x), ""):
            x = scalar(x, y.dtype)
        else:
            x, y = lift_all((x, y))
    elif not isinstance(y, Array):
        if dtypes.kind(x.dtype) in KEEPS.get(type(y), ""):
            y = scalar(y, x.dtype)
        else:
            x, y = lift_all((x, y))
    if x.dtype is not y.dtype and x.dtype != y.dtype:
        dtype, weak = dtypes.promote(x.dtype, x.weak, y.dtype, y.weak)
        x, y = convert(x, dtype, weak or x.weak), convert(y, dtype, weak or y.weak)
    if x.shape != y.shape and x.shape and y.shape:
        shape = common_shape(x.shape, y.shape)
        x, y = broadcast_to(x, shape), broadcast_to(y, shape)
    return x, y


def promote_dtypes(xs: Sequence[Any], name: str = "an operand") -> list[Array]:
    """Give any number of operands one dtype."""
    arrays = lift_all(xs, name)
    first = arrays[0].dtype
    if all([not x.weak and x.dtype is first for x in arrays]):  # noqa: C419 - quicker
        return arrays
    dtype, weak = dtypes.result_type(*[(x.dtype, x.weak) for x in arrays])
    return settle([convert(x, dtype, weak or x.weak) for x in arrays])


def promote_inexact(xs: Sequence[Any], name: str = "an operand") -> list[Array]:
    """Give any number of operands one floating or complex dtype."""
    return [inexact(x) for x in promote_dtypes(xs, name)]


def inexact(x: Array) -> Array:
    """Cast integers and booleans to the float in which functions like `sin` compute."""
    dtype = x.dtype
    if dtype.kind in "fc" or dtypes.is_inexact(dtype):
        return x
    return convert(x, dtypes.to_inexact(x.dtype), x.weak)


def counted(x: Array) -> Array:
    """Cast booleans to int32, as which they count in arithmetic."""
    return convert(x, dtypes.int32) if x.dtype == dtypes.bool_ else x


def common_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which all broadcast by NumPy's rules."""
    rule = rank_promotion()
    if rule != "allow" and len({len(s) for s in shapes if s}) > 1:
        advice = (
            f"shapes {', '.join(map(str, shapes))} of unequal ranks were broadcast at "
            f"{user_line()} while numpy_rank_promotion is {rule!r}: give "
            "them as many axes (x[None])"
        )
        if rule == "raise":
            raise ValueError(advice)
        warnings.warn(advice, stacklevel=2)
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(
            f"shapes {', '.join(map(str, shapes))} do not broadcast together at {user_line()}: "
            "each extent must be equal or 1"
        ) from None


def broadcast_together(*xs: Array) -> list[Array]:
    """Broadcast all to one shape by NumPy's rules."""
    shape = common_shape(*[x.shape for x in xs])
    return [broadcast_to(x, shape) for x in settle(xs)]
