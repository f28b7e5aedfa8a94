"""JAX's debug: looking into traced functions while they run."""

from __future__ import annotations

import string
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from arrayport.control.callbacks import debug_callback
from arrayport.core.array import Array
from arrayport.core.errors import user_frame, user_line
from arrayport.core.lazy import Lazy
from arrayport.core.names import absent
from arrayport.parallel.pictures import (
    inspect_array_sharding,
    visualize_array_sharding,
    visualize_sharding,
)

__all__ = [
    "breakpoint",
    "callback",
    "inspect_array_sharding",
    "log",
    "print",
    "visualize_array_sharding",
    "visualize_sharding",
]

Effect = Callable[..., None]
code, logs = Lazy("code"), Lazy("logging")


def callback(
    callback: Callable[..., Any] | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> Effect | None:
    """Call a function with concrete Arrays when the traced function runs; its result is dropped.

    Source: `jax.debug.callback`.

    What is no array among the arguments stays as it is. Under vmap it is called for each example,
    under grad in the forward pass. Own engines call in the program's order; `ordered` asks JAX for
    it. Without `callback`, gives the function that takes it and its arguments. `partitioned` is a
    hint to JAX.

    >>> import arrayport as ap
    >>> seen = []
    >>> ap.jit(lambda x: ap.debug.callback(lambda v: seen.append(float(v)), x))(2.0)
    >>> ap.effects_barrier()
    >>> seen
    [2.0]
    """
    del partitioned
    if callback is None:
        return lambda function, *given, **named: debug_callback(
            function, given, named, ordered=ordered
        )
    debug_callback(callback, args, kwargs, ordered=ordered)
    return None


def print(
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    _use_logging: bool = False,
    **kwargs: Any,
) -> Effect | None:
    """Print values when the traced function runs, formatted as `str.format` does, and flush.

    Source: `jax.debug.print`.

    Raises ValueError for an argument that `fmt` does not use, IndexError or KeyError for one that
    is missing. Without `fmt`, gives the function that takes it and its arguments; see `callback`.

    >>> import arrayport as ap
    >>> ap.jit(lambda x: ap.debug.print("x is {x:.1f}", x=x))(2.0)
    x is 2.0
    """
    del partitioned
    if fmt is None:

        def second(text: str, *given: Any, **named: Any) -> None:
            _show(text, given, named, ordered, skip_format_check, _use_logging)

        return second
    _show(fmt, args, kwargs, ordered, skip_format_check, _use_logging)
    return None


def log(fmt: str | None = None, *args: Any, **options: Any) -> Effect | None:
    """Do as `print`, by the logger of this module at level INFO. Source: `jax.debug.log`.

    >>> import arrayport as ap, logging, sys
    >>> logger = logging.getLogger("arrayport.debug")
    >>> handler = logging.StreamHandler(sys.stdout)
    >>> logger.addHandler(handler), logger.setLevel("INFO")
    (None, None)
    >>> ap.jit(lambda x: ap.debug.log("x is {}", x))(3)
    x is 3
    >>> logger.removeHandler(handler)
    """
    return print(fmt, *args, _use_logging=True, **options)


def _show(
    fmt: str, args: Any, kwargs: dict[str, Any], ordered: bool, skip_check: bool, logging: bool
) -> None:
    if not skip_check and (unused := _Placeholders().unused(fmt, args, kwargs)):
        raise ValueError(
            f"debug.{'log' if logging else 'print'} was given arguments at {user_line()} that its "
            f"format string does not use: {unused}; write {{}} or {{name}} for each, and no "
            "f-string, which is formatted before the values are there"
        )

    def show(*given: Any, **named: Any) -> None:
        text = fmt.format(*given, **named)
        if logging:
            logs.getLogger(__name__).info(text)
        else:
            sys.stdout.write(f"{text}\n")
            sys.stdout.flush()

    debug_callback(show, args, kwargs, ordered=ordered, numbers=False)


class _Placeholders(string.Formatter):
    """Reads a format string before the values are there."""

    def unused(self, fmt: str, args: Any, kwargs: dict[str, Any]) -> str:
        """List the arguments that it does not use; a missing one raises."""
        self.left: list[str] = []
        self.vformat(fmt, args, kwargs)
        return ", ".join(self.left)

    def format_field(self, value: Any, format_spec: str) -> str:
        return ""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return value

    def check_unused_args(self, used_args: set[Any], args: Sequence[Any], kwargs: Any) -> None:
        self.left = [repr(a) for i, a in enumerate(args) if i not in used_args]
        self.left += [k for k in kwargs if k not in used_args]


def breakpoint(
    *,
    backend: str | None = None,
    filter_frames: bool = True,
    num_frames: int | None = None,
    ordered: bool = False,
    token: Any = None,
    **kwargs: Any,
) -> Any:
    """Open a Python console when the traced function runs, with the caller's variables.

    Source: `jax.debug.breakpoint`.

    `p x` or `x` shows x; `c` or end of file (Ctrl-D) goes on. `token` is given back. `backend`,
    `filter_frames`, `num_frames` and further arguments, of JAX's debugger, change nothing.
    """
    del backend, filter_frames, num_frames, kwargs
    frame = user_frame()
    where, variables = user_line(), dict(frame.f_locals) if frame else {}
    arrays = {k: v for k, v in variables.items() if isinstance(v, Array)}
    others = {k: v for k, v in variables.items() if k not in arrays}
    names = frame.f_globals if frame else {}

    def stop(**values: Any) -> None:
        console = code.InteractiveConsole({**names, **others, **values})
        console.raw_input = _command
        console.interact(f"breakpoint at {where}: {', '.join(variables)}", exitmsg="")
        sys.stdout.flush()

    debug_callback(stop, (), arrays, ordered=ordered)
    return token


def _command(prompt: str = "") -> str:
    """Read a line for the console: a debugger's `p x` shows x, and its `c` goes on."""
    line = input(prompt)
    word, _, rest = line.strip().partition(" ")
    if line.strip() in {"c", "cont", "continue"}:
        raise EOFError
    return rest if word in {"p", "pp"} and rest and not rest.startswith("=") else line


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("debug", name)
