"""The process-wide options: 64-bit types and the switch that turns compilation off."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator

_WORDS = {
    **dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True),
    **dict.fromkeys(("", "0", "false", "f", "no", "n", "off"), False),
}


@dataclasses.dataclass(slots=True)
class _Option:
    """One switch; its value is our own until another library's flag is followed."""

    name: str
    value: bool = False
    explicit: bool = False
    read: Callable[[], bool] | None = None
    write: Callable[[bool], None] | None = None

    def get(self) -> bool:
        return self.value if self.read is None else self.read()

    def set(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(
                f"option {self.name!r} is a switch: pass True or False, "
                f"not {value!r} of type {type(value).__name__}"
            )
        self.value, self.explicit = value, True
        if self.write is not None:
            self.write(value)


def _from_environment(name: str) -> _Option:
    for prefix in ("ARRAYPORT_", "JAX_"):
        variable = prefix + name.upper()
        text = os.environ.get(variable)
        if text is not None:
            if text.lower() not in _WORDS:
                raise ValueError(
                    f"environment variable {variable} is {text!r}: write 1 (on) or 0 (off)"
                )
            return _Option(name, _WORDS[text.lower()], explicit=True)
    return _Option(name)


_x64 = _from_environment("enable_x64")
_disable_jit = _from_environment("disable_jit")
_OPTIONS = {option.name: option for option in (_x64, _disable_jit)}


def x64() -> bool:
    """Return whether 64-bit types are on: the fast read for code that runs on every operation."""
    return _x64.value if _x64.read is None else _x64.read()


def _option(name: str) -> _Option:
    option = _OPTIONS.get(name.removeprefix("jax_"))
    if option is None:
        known = ", ".join(f"{known!r} or 'jax_{known}'" for known in _OPTIONS)
        raise AttributeError(f"unknown option {name!r}; the options are {known}")
    return option


class Config:
    """The options by name; each is also an attribute, with and without JAX's prefix ``jax_``.

    Every option can be set before the first import by an environment variable that is its name in
    capitals after ``ARRAYPORT_`` or ``JAX_`` (the former wins). Values hold in every thread.

    >>> config = Config()
    >>> with config.override("enable_x64", True):
    ...     config.jax_enable_x64
    True
    """

    __slots__ = ()

    def update(self, name: str, value: bool) -> None:
        """Set the option ``name``.

        Raises AttributeError for an unknown name, TypeError for a value that is not a bool.
        Source: ``jax.config.update``.
        """
        _option(name).set(value)

    @contextlib.contextmanager
    def override(self, name: str, value: bool) -> Iterator[None]:
        """Set the option ``name`` within a ``with`` block, in every thread, then put it back."""
        option = _option(name)
        before, explicit = option.get(), option.explicit
        option.set(value)
        try:
            yield
        finally:
            option.set(before)
            option.explicit = explicit

    def follow(
        self,
        read: Callable[[], bool],
        write: Callable[[bool], None],
        name: str = "enable_x64",
    ) -> None:
        """Make another library's flag the truth about the option ``name``.

        What was set here explicitly is written to that flag first; otherwise its value holds.
        """
        option = _option(name)
        if option.explicit:
            write(option.value)
        option.read, option.write = read, write

    @property
    def enable_x64(self) -> bool:
        """Whether 64-bit types are available; off by default."""
        return _x64.get()

    @property
    def jax_enable_x64(self) -> bool:
        """JAX's name for `enable_x64`."""
        return _x64.get()

    @property
    def disable_jit(self) -> bool:
        """Whether ``jit`` runs functions as plain Python; off by default."""
        return _disable_jit.get()

    @property
    def jax_disable_jit(self) -> bool:
        """JAX's name for `disable_jit`."""
        return _disable_jit.get()

    def __getattr__(self, name: str) -> bool:
        return _option(name).get()

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{name}={o.get()}' for name, o in _OPTIONS.items())})"


config = Config()


@contextlib.contextmanager
def disable_jit(disable: bool = True) -> Iterator[None]:
    """Let ``jit`` run functions as plain Python within a ``with`` block.

    Source: ``jax.disable_jit``.

    >>> with disable_jit():
    ...     config.disable_jit
    True
    """
    with config.override("disable_jit", disable):
        yield


@contextlib.contextmanager
def enable_x64(new_val: bool = True) -> Iterator[None]:
    """Turn 64-bit types on, or off, within a ``with`` block. Source: ``jax.enable_x64``.

    >>> with enable_x64():
    ...     config.enable_x64
    True
    """
    with config.override("enable_x64", new_val):
        yield
