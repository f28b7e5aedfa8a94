"""The one hierarchy of errors, with JAX's names, and the line of user code they point at."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from arrayport.core.contexts import within

# Whose frames are not the user's.
_HOUSE = ("arrayport", "arrayport_backends", "arrayport_conformance", "jax", "jaxlib")


class ArrayportError(Exception):
    """Base of every error that arrayport defines."""


class JAXTypeError(ArrayportError, TypeError):
    """Base of the errors about traced values where Python or NumPy need concrete ones."""


class JAXIndexError(ArrayportError, IndexError):
    """Base of the errors about indices that cannot be traced."""


class ConcretizationTypeError(JAXTypeError):
    """A concrete value was needed where only a shape and dtype are known (a traced value)."""


class TracerBoolConversionError(ConcretizationTypeError):
    """A traced value was used as a Python truth value.

    >>> import arrayport as ap
    >>> ap.jit(lambda x: 1.0 if x > 0 else x)(3.0)
    Traceback (most recent call last):
    arrayport.core.errors.TracerBoolConversionError: ...
    >>> ap.jit(lambda x: ap.numpy.where(x > 0, 1.0, x))(3.0)  # computes both, chooses one
    Array(1., dtype=float32, weak_type=True)
    """


class TracerIntegerConversionError(ConcretizationTypeError):
    """A traced value was used as a Python integer.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> power = lambda x, n: anp.stack([x**k for k in range(n)])
    >>> ap.jit(power)(2.0, 3)
    Traceback (most recent call last):
    arrayport.core.errors.TracerIntegerConversionError: ...
    >>> ap.jit(power, static_argnums=1)(2.0, 3)  # a program for each n
    Array([1., 2., 4.], dtype=float32)
    """


class TracerArrayConversionError(JAXTypeError):
    """A traced value was handed to NumPy as an array.

    >>> import arrayport as ap, numpy as np
    >>> ap.jit(lambda x: np.linalg.norm(np.asarray(x)))(ap.numpy.ones(4))
    Traceback (most recent call last):
    arrayport.core.errors.TracerArrayConversionError: ...
    >>> ap.jit(lambda x: ap.numpy.linalg.norm(x))(ap.numpy.ones(4))
    Array(2., dtype=float32)
    """


class NonConcreteBooleanIndexError(JAXIndexError):
    """A traced boolean mask was used as an index, which has no static shape.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> ap.jit(lambda x: x[x > 0].sum())(anp.array([1, -2, 3]))
    Traceback (most recent call last):
    arrayport.core.errors.NonConcreteBooleanIndexError: ...
    >>> ap.jit(lambda x: anp.where(x > 0, x, 0).sum())(anp.array([1, -2, 3]))
    Array(4, dtype=int32)
    """


class UnexpectedTracerError(JAXTypeError, RuntimeError):
    """A traced value outlived the function that made it.

    >>> import arrayport as ap
    >>> kept = []
    >>> ap.jit(lambda x: kept.append(x) or x)(1.0)
    Array(1., dtype=float32, weak_type=True)
    >>> kept[0] + 1  # give it back instead, as a result of the function
    Traceback (most recent call last):
    arrayport.core.errors.UnexpectedTracerError: ...
    """


class JaxRuntimeError(ArrayportError, RuntimeError):
    """What failed while a compiled program ran: a callback, a check, the device itself."""


class KeyReuseError(JAXTypeError):
    """A random key was used twice, while debug_key_reuse looks for that.

    >>> from arrayport import debug_key_reuse, random
    >>> key = random.key(0)
    >>> with debug_key_reuse(True):
    ...     _ = random.normal(key), random.uniform(key)  # two keys: random.split(key)
    Traceback (most recent call last):
    arrayport.core.errors.KeyReuseError: ...
    """


class NotDifferentiableError(ArrayportError, TypeError, ValueError):
    """An operation without a derivative stood between output and input; the message states why.

    JAX raises TypeError for some of them, ValueError for loops of unknown length: it is both.

    >>> import arrayport as ap
    >>> halved = lambda x: ap.lax.while_loop(lambda v: v > 1, lambda v: v / 2, x)
    >>> ap.grad(halved)(5.0)
    Traceback (most recent call last):
    arrayport.core.errors.NotDifferentiableError: ...
    >>> ap.jvp(halved, (5.0,), (1.0,))[1]  # forward mode has a derivative of loops
    Array(0.125, dtype=float32, weak_type=True)
    """


class UnsupportedOnBackendError(ArrayportError, NotImplementedError):
    """An operation that a backend refuses, with the reason."""


class ForeignOperandError(ArrayportError, TypeError):
    """What is neither an array nor a number was an operand; its class may know what to do."""


class TypePromotionError(ArrayportError, ValueError):
    """Dtypes that do not promote met in one operation; all do that while promotion is strict.

    >>> import arrayport as ap, arrayport.numpy as anp
    >>> with ap.numpy_dtype_promotion("strict"):
    ...     anp.ones(2, "int32") + anp.ones(2)
    Traceback (most recent call last):
    arrayport.core.errors.TypePromotionError: ...
    """


class BackendMismatchError(ArrayportError, ValueError):
    """Arrays of two backends met in one operation."""


class BackendNotFoundError(ArrayportError, ImportError):
    """A backend that is not installed, not usable here, or unknown.

    >>> import arrayport as ap
    >>> ap.use_backend("torch")
    Traceback (most recent call last):
    arrayport.core.errors.BackendNotFoundError: ...
    """


class JaxprTypeError(ArrayportError, TypeError):
    """A Program is not typed as its primitives say."""


class ProgramError(JaxprTypeError, RuntimeError):
    """A Program broke one of its own rules: a fault of arrayport or of a primitive."""


def user_frame() -> FrameType | None:
    """Give the innermost frame outside arrayport and JAX, None if there is none."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the way to one's caller
    while frame is not None:
        if _is_user(frame):
            return frame
        frame = frame.f_back
    return None


def _is_user(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__", "").partition(".")[0] not in _HOUSE


def user_line() -> str:
    """Give `file:line (function)` of the innermost frame outside arrayport, for messages.

    >>> user_line().split(":")[-1] != ""
    True
    """
    replayed = _replayed.get()
    if replayed:
        return replayed
    frame = user_frame()
    return "an unknown line" if frame is None else frame_line(frame)


# The line of the operation that a Program is repeating, if the Program knows it.
_replayed: ContextVar[str] = ContextVar("replayed", default="")


def replaying(line: str) -> AbstractContextManager[str]:
    """Let `user_line` be the line that wrote an operation, while a Program repeats that."""
    return within(_replayed, line)


class Place(NamedTuple):
    """A line of a function in a file."""

    file: str
    line: int
    function: str


def place_line(place: Place) -> str:
    """Give `file:line (function)` of a place."""
    return f"{Path(place.file).name}:{place.line} (in {place.function})"


def frame_line(frame: FrameType) -> str:
    """Give `file:line (function)` of a frame."""
    return place_line(_place(frame))


def _place(frame: FrameType) -> Place:
    return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def user_places() -> tuple[Place, ...]:
    """Give the places of all frames outside arrayport and JAX, the innermost first."""
    found = []
    frame = user_frame()
    while frame is not None:
        if _is_user(frame):
            found.append(_place(frame))
        frame = frame.f_back
    return tuple(found)
