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
    """A traced value was used as a Python truth value."""


class TracerIntegerConversionError(ConcretizationTypeError):
    """A traced value was used as a Python integer."""


class TracerArrayConversionError(JAXTypeError):
    """A traced value was handed to NumPy as an array."""


class NonConcreteBooleanIndexError(JAXIndexError):
    """A traced boolean mask was used as an index, which has no static shape."""


class UnexpectedTracerError(JAXTypeError, RuntimeError):
    """A traced value outlived the function that made it."""


class JaxRuntimeError(ArrayportError, RuntimeError):
    """What failed while a compiled program ran: a callback, a check, the device itself."""


class KeyReuseError(JAXTypeError):
    """A random key was used twice, while debug_key_reuse looks for that."""


class NotDifferentiableError(ArrayportError, TypeError, ValueError):
    """An operation without a derivative stood between output and input; the message states why.

    JAX raises TypeError for some of them, ValueError for loops of unknown length: it is both.
    """


class UnsupportedOnBackendError(ArrayportError, NotImplementedError):
    """An operation that a backend refuses, with the reason."""


class ForeignOperandError(ArrayportError, TypeError):
    """What is neither an array nor a number was an operand; its class may know what to do."""


class TypePromotionError(ArrayportError, ValueError):
    """Dtypes that do not promote met in one operation; all do that while promotion is strict."""


class BackendMismatchError(ArrayportError, ValueError):
    """Arrays of two backends met in one operation."""


class BackendNotFoundError(ArrayportError, ImportError):
    """A backend that is not installed, not usable here, or unknown."""


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
