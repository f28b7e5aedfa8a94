"""The process-wide options: 64-bit types, compilation, promotion, and what helps to find faults."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

from arrayport.core.contexts import within

_WORDS = {
    **dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True),
    **dict.fromkeys(("", "0", "false", "f", "no", "n", "off"), False),
}


@dataclasses.dataclass(slots=True)
class _Option:
    """One switch, or a choice; its value is our own until another library's flag is followed."""

    name: str
    value: Any = False
    explicit: bool = False
    read: Callable[[], Any] | None = None
    write: Callable[[Any], None] | None = None
    choices: tuple[Any, ...] | range = (False, True)
    listeners: list[Callable[[], None]] = dataclasses.field(default_factory=list)

    def get(self) -> Any:
        return self.value if self.read is None else self.read()

    def set(self, value: Any) -> None:
        if isinstance(self.choices, range):
            value = _number(value, self.name, self.choices)
        if set(self.choices) == {False, True} and not isinstance(value, bool):
            raise TypeError(
                f"option {self.name!r} is a switch: pass True or False, "
                f"not {value!r} of type {type(value).__name__}"
            )
        if value not in self.choices:
            known = ", ".join(map(repr, self.choices))
            raise ValueError(f"option {self.name!r} is one of {known}, not {value!r}")
        self.value, self.explicit = value, True
        if self.write is not None:
            self.write(value)
        for listener in self.listeners:
            listener()


def _number(value: Any, name: str, choices: range) -> int:
    number = int(value) if isinstance(value, str) and value.isdigit() else value
    if type(number) is not int or number not in choices:
        raise ValueError(
            f"option {name!r} is a number from {choices[0]} to {choices[-1]}, not {value!r}"
        )
    return number


def _from_environment(name: str, *choices: Any, numbers: range | None = None) -> _Option:
    known = numbers or choices or (False, True)
    option = _Option(name, known[0], choices=known)
    for prefix in ("ARRAYPORT_", "JAX_"):
        variable = prefix + name.upper()
        text = os.environ.get(variable)
        if text is not None:
            option.value, option.explicit = _read(text, known, variable), True
            break
    return option


def _read(text: str, choices: tuple[Any, ...] | range, variable: str) -> Any:
    """Read an environment variable."""
    value: Any
    if all(isinstance(c, bool) for c in choices):
        value, known = _WORDS.get(text.lower(), text), "1 (on) or 0 (off)"
    elif isinstance(choices, range):
        value = int(text) if text.isdigit() else text
        known = f"a number from {choices[0]} to {choices[-1]}"
    else:
        value, known = text, f"one of {choices}"
    if value not in choices:
        raise ValueError(f"environment variable {variable} is {text!r}: write {known}")
    return value


_x64 = _from_environment("enable_x64")
_disable_jit = _from_environment("disable_jit")
_dtype_promotion = _from_environment("numpy_dtype_promotion", "standard", "strict")
_rank_promotion = _from_environment("numpy_rank_promotion", "allow", "warn", "raise")
_devices = _from_environment("num_cpu_devices", numbers=range(1, 4097))
_GUARDS = ("allow", "log", "disallow", "log_explicit", "disallow_explicit")
_PRECISIONS = (
    *(None, "default", "high", "highest", "bfloat16", "tensorfloat32", "float32"),
    *("BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "TF32_TF32_F32"),
    *("TF32_TF32_F32_X3", "F32_F32_F32", "F64_F64_F64"),
)
_OPTIONS = {
    option.name: option
    for option in (
        _x64,
        _disable_jit,
        _from_environment("debug_nans"),
        _from_environment("debug_infs"),
        _from_environment("log_compiles"),
        _from_environment("explain_cache_misses"),
        _from_environment("check_tracer_leaks"),
        _dtype_promotion,
        _rank_promotion,
        _from_environment("default_matmul_precision", *_PRECISIONS),
        _from_environment("debug_key_reuse"),
        _from_environment("default_prng_impl", "threefry2x32"),
        _from_environment("enable_checks"),
        _from_environment("enable_custom_prng"),
        _from_environment("legacy_prng_key", "allow", "warn", "error"),
        _from_environment("no_execution"),
        _from_environment("no_tracing"),
        _from_environment("threefry_partitionable", True),
        _devices,
        _from_environment("transfer_guard_host_to_device", *_GUARDS),
        _from_environment("transfer_guard_device_to_device", *_GUARDS),
        _from_environment("transfer_guard_device_to_host", *_GUARDS),
    )
}


# The options that what is traced depends on, beside x64.
TRACED = (
    *("numpy_dtype_promotion", "numpy_rank_promotion", "default_matmul_precision"),
    *("enable_custom_prng", "legacy_prng_key", "debug_key_reuse"),
)
_traced = tuple([_OPTIONS[name] for name in TRACED])


def virtual_device_count() -> int:
    """Return how many devices the host counts as: a fast read, as `x64` is."""
    return _devices.value


_widened: ContextVar[bool] = ContextVar("widened", default=False)
_is_widened = _widened.get


def x64() -> bool:
    """Return whether 64-bit types are on: the fast read for code that runs on every operation."""
    return (_x64.value if _x64.read is None else _x64.read()) or _is_widened()


def widened() -> AbstractContextManager[bool]:
    """Turn 64-bit types on within a block, in its thread alone; JAX obeys its flag."""
    return within(_widened, True)


def jit_disabled() -> bool:
    """Return whether compilation is off: the fast read for every call of a compiled function."""
    return _disable_jit.value if _disable_jit.read is None else _disable_jit.read()


def strict_dtypes() -> bool:
    """Return whether dtypes promote by request only: a fast read, as `x64` is."""
    read = _dtype_promotion.read
    return (_dtype_promotion.value if read is None else read()) == "strict"


def rank_promotion() -> str:
    """Return what is said of broadcasting to more axes: a fast read, as `x64` is."""
    return _rank_promotion.value if _rank_promotion.read is None else _rank_promotion.read()


def traced_options() -> tuple[Any, ...]:
    """Return the values of all that a trace depends on, as a key of what was traced."""
    return (x64(), *[o.value if o.read is None else o.read() for o in _traced])


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

    def update(self, name: str, value: Any) -> None:
        """Set the option ``name``.

        Raises AttributeError for an unknown name, TypeError or ValueError for a value that is none
        of its own.
        Source: ``jax.config.update``.
        """
        _option(name).set(value)

    @contextlib.contextmanager
    def override(self, name: str, value: Any) -> Iterator[None]:
        """Set the option ``name`` within a ``with`` block, in every thread, then put it back."""
        option = _option(name)
        before, explicit = option.get(), option.explicit
        try:
            option.set(value)
            yield
        finally:
            option.set(before)
            option.explicit = explicit

    def follow(
        self,
        read: Callable[[], Any],
        write: Callable[[Any], None],
        name: str = "enable_x64",
    ) -> None:
        """Make another library's flag the truth about the option ``name``.

        What was set here explicitly is written to that flag first; otherwise its value holds.
        """
        option = _option(name)
        if option.explicit:
            write(option.value)
        option.read, option.write = read, write

    def listen(self, name: str, listener: Callable[[], None]) -> None:
        """Call a function whenever the option ``name`` was set; and now, if it was."""
        option = _option(name)
        option.listeners.append(listener)
        if option.explicit:
            listener()

    @property
    def enable_x64(self) -> bool:
        """Whether 64-bit types are available; off by default."""
        return x64()

    @property
    def jax_enable_x64(self) -> bool:
        """JAX's name for `enable_x64`."""
        return x64()

    @property
    def x64_enabled(self) -> bool:
        """JAX's other name for `enable_x64`."""
        return x64()

    @property
    def disable_jit(self) -> bool:
        """Whether ``jit`` runs functions as plain Python; off by default."""
        return _disable_jit.get()

    @property
    def jax_disable_jit(self) -> bool:
        """JAX's name for `disable_jit`."""
        return _disable_jit.get()

    def __getattr__(self, name: str) -> Any:
        return _option(name).get()

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{name}={o.get()}' for name, o in _OPTIONS.items())})"


config = Config()


@contextlib.contextmanager
def disable_jit(disable: bool = True) -> Iterator[None]:
    """Let ``jit``, ``scan`` and loops run functions as plain Python within a ``with`` block.

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


def virtual_devices(count: int) -> AbstractContextManager[None]:
    """Count the host as so many devices, on NumPy and on simulated CuPy, within a ``with`` block.

    They share its memory and its cores. `config.update("num_cpu_devices", count)` and the
    environment variable ARRAYPORT_NUM_CPU_DEVICES do the same for good, also by JAX's spellings.
    JAX counts its devices once, when it starts: it has as many if it starts within the block, and
    RuntimeError is raised if it is the ambient backend, has started, and has fewer.

    >>> import arrayport as ap
    >>> with virtual_devices(8):
    ...     len(ap.devices("numpy"))
    8
    """
    return config.override("num_cpu_devices", count)


def setting(
    name: str, does: str, *, example: Any = True
) -> Callable[..., AbstractContextManager[None]]:
    """Make the context manager of an option, of which `example` is a value."""

    def setting(new_val: Any = True) -> AbstractContextManager[None]:
        return config.override(name, new_val)

    setting.__name__ = setting.__qualname__ = name
    setting.__doc__ = f"""{does} within a ``with`` block. Source: ``jax.{name}``.

    >>> import arrayport as ap
    >>> with ap.{name}({example!r}):
    ...     ap.config.{name} == {example!r}
    True
    """
    return setting


debug_nans = setting(
    "debug_nans", "Raise FloatingPointError, naming the operation, where a NaN comes up,"
)
debug_infs = setting(
    "debug_infs", "Raise FloatingPointError, naming the operation, where an infinity comes up,"
)
log_compiles = setting("log_compiles", "Log, as warnings, what is traced and compiled")
explain_cache_misses = setting(
    "explain_cache_misses", "Log, as warnings, why a jitted function is traced again"
)
default_prng_impl = setting(
    "default_prng_impl",
    'Choose the random generator: "threefry2x32" is the one there is,',
    example="threefry2x32",
)
enable_checks = setting(
    "enable_checks", "Hold every Program that is traced to the rules of Programs"
)
enable_custom_prng = setting("enable_custom_prng", "Let random.PRNGKey give typed keys")
legacy_prng_key = setting(
    "legacy_prng_key",
    'Allow, warn of, or refuse ("error") raw random keys in random\'s functions',
    example="error",
)
no_execution = setting("no_execution", "Refuse to run any operation: only tracing is left,")
no_tracing = setting("no_tracing", "Refuse to trace for jit: only what was traced before runs,")
threefry_partitionable = setting(
    "threefry_partitionable", "Draw random bits by the place of each: the one way there is,"
)
check_tracer_leaks = setting(
    "check_tracer_leaks", "Raise where a traced value outlives its function"
)
numpy_dtype_promotion = setting(
    "numpy_dtype_promotion",
    'Refuse ("strict") or make ("standard") implicit promotions of dtypes',
    example="strict",
)
numpy_rank_promotion = setting(
    "numpy_rank_promotion",
    'Allow, warn of, or refuse ("raise") broadcasting to more axes',
    example="raise",
)
default_matmul_precision = setting(
    "default_matmul_precision",
    "Let products on JAX's accelerators round their operands so",
    example="float32",
)
transfer_guard_host_to_device = setting(
    "transfer_guard_host_to_device",
    'Allow, log or "disallow" transfers from host to device',
    example="disallow",
)
transfer_guard_device_to_device = setting(
    "transfer_guard_device_to_device",
    'Allow, log or "disallow" transfers between devices',
    example="disallow",
)
transfer_guard_device_to_host = setting(
    "transfer_guard_device_to_host",
    'Allow, log or "disallow" transfers from device to host',
    example="disallow",
)


@contextlib.contextmanager
def transfer_guard(new_val: str) -> Iterator[None]:
    """Allow, log or "disallow" all transfers within a ``with`` block.

    Explicit ones (``device_put``, ``device_get``) are let through unless it says
    "disallow_explicit". Source: ``jax.transfer_guard``.

    >>> import arrayport as ap
    >>> with ap.transfer_guard("disallow"):
    ...     ap.config.transfer_guard_device_to_host
    'disallow'
    """
    with contextlib.ExitStack() as stack:
        for option in _OPTIONS:
            if option.startswith("transfer_guard"):
                stack.enter_context(config.override(option, new_val))
        yield


def checking_leaks() -> AbstractContextManager[None]:
    """Raise where a traced value outlives its function, within a ``with`` block.

    Source: ``jax.checking_leaks``.

    >>> import arrayport as ap
    >>> seen = []
    >>> with ap.checking_leaks():
    ...     ap.jit(lambda x: seen.append(x))(1.0)
    Traceback (most recent call last):
    arrayport.core.errors.UnexpectedTracerError: ...
    """
    return config.override("check_tracer_leaks", True)
