"""Checks of values, and the errors that they give: values too, until someone throws them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np

from arrayport.core import dtypes
from arrayport.core.array import Array, Aval
from arrayport.core.contexts import within
from arrayport.core.errors import JaxRuntimeError, user_line
from arrayport.core.nodes import register_pytree_node_class
from arrayport.core.primitive import Callback
from arrayport.core.trace import EVAL, complete, current_stage, route
from arrayport.core.tree import PyTreeDef, tree_flatten, tree_leaves, tree_unflatten
from arrayport.ops.elementwise import select, stop_gradient
from arrayport.ops.promotion import lift
from arrayport.ops.reductions import argmax
from arrayport.ops.structure import convert, full_p, in_front

NONE = -1  # the code of an error that did not happen

# ---- the kinds, which are the categories of checks too


class CheckError(JaxRuntimeError, ValueError):
    """A check that `checkify` made a value of failed, and was thrown."""


class FailedCheckError(CheckError):
    """A `check` of the user's was false."""


class NaNError(CheckError):
    """An operation gave a NaN."""


class DivisionByZeroError(CheckError):
    """Something was divided by zero."""


class OOBError(CheckError):
    """An index was out of bounds."""


class BatchedError(CheckError):
    """Checks failed for some examples of a mapped axis."""


ErrorCategory: TypeAlias = type[CheckError]

user_checks = frozenset({FailedCheckError})
nan_checks = frozenset({NaNError})
index_checks = frozenset({OOBError})
div_checks = frozenset({DivisionByZeroError})
float_checks = nan_checks | div_checks
automatic_checks = float_checks | index_checks
all_checks = automatic_checks | user_checks

# ---- the error as a value

Slot = tuple[Aval, ...]  # types of what a message shows; checks whose types agree share their slot


@dataclass(frozen=True)
class Site:
    """A check in a program: of what kind, what its message says of which values, and where."""

    kind: type[CheckError]
    text: str
    tree: PyTreeDef
    slot: Slot
    line: str

    def error(self, values: Sequence[Any]) -> CheckError:
        """The error, for the values that came up."""
        args, kwargs = tree_unflatten(self.tree, values)
        return self.kind(f"{self.text.format(*args, **kwargs)} at {self.line}")


@register_pytree_node_class
@dataclass(frozen=True)
class Error:
    """What `checkify` gives beside a result: whether a check failed, and which was the first.

    Source: `jax.experimental.checkify.Error`. It is a pytree: it goes in and out of `jit`, and
    through `vmap`, where it may hold an error an example.

    >>> import arrayport.numpy as anp
    >>> from arrayport.experimental import checkify
    >>> def root(x):
    ...     checkify.check(x >= 0, "{} has no root", x)
    ...     return anp.sqrt(x)
    >>> error, _ = checkify.checkify(root)(anp.array(-1.0))
    >>> error.get()
    '-1.0 has no root (`check` failed) at ...'
    """

    code: Any = None  # the number of the site, NONE if nothing failed
    values: tuple[Sequence[Any], ...] = ()  # by slots
    sites: tuple[Site, ...] = ()
    slots: tuple[Slot, ...] = ()

    def tree_flatten(self) -> tuple[Any, Any]:
        """The arrays, and what belongs to the program."""
        return (self.code, self.values), (self.sites, self.slots)

    @classmethod
    def tree_unflatten(cls, program: Any, children: Any) -> Error:
        """The error again."""
        return cls(*children, *program)

    def get(self) -> str | None:
        """Give the message of the first check that failed, None if none did."""
        error = self.get_exception()
        return None if error is None else str(error)

    def get_exception(self) -> Exception | None:
        """Give the error of the first check that failed, None if none did."""
        if not self.sites:
            return None
        codes = np.asarray(self.code)
        if not codes.shape:
            return self._at((), int(codes))
        found = [
            (place, error)
            for place in product(*map(range, codes.shape))
            if (error := self._at(place, int(codes[place]))) is not None
        ]
        if not found:
            return None
        return BatchedError(
            "\n".join(f"at mapped index {', '.join(map(str, p))}: {e}" for p, e in found)
        )

    def _at(self, place: tuple[int, ...], code: int) -> CheckError | None:
        if code == NONE:
            return None
        site = self.sites[code]
        values = self.values[self.slots.index(site.slot)]
        return site.error([x[place] if place else x for x in values])

    def throw(self) -> None:
        """Raise the error of the first check that failed, if any did; see `check_error`."""
        if not self.sites:
            return
        shape = self.code.shape
        examples = prod(shape)
        leaves, tree = tree_flatten(self)
        if shape:
            leaves = [x.reshape((examples, *x.shape[len(shape) :])) for x in leaves]
            leaves = _last(leaves, examples) if examples else []
        if leaves:
            _bind(tree_unflatten(tree, leaves), False)

    def __str__(self) -> str:
        return f"Error({self.get()})"


init_error = Error()


def code_of(number: int) -> Array:
    """A site's number as an array."""
    return full_p.bind(shape=(), value=number, dtype=dtypes.int32, weak=False)


# ---- the primitive: it raises if it is run, and `checkify` makes a value of it


def _batch(
    size: int, xs: Sequence[Array], dims: Sequence[int | None], /, tree: PyTreeDef, debug: bool
) -> tuple[list[Array], list[int | None]]:
    """Keep the last example that failed, which is JAX's choice."""
    full = in_front(size, xs, dims)
    if int(size):
        check_p.bind(*_last(full, int(size)), tree=tree, debug=debug)
    return [], []


def _last(leaves: Sequence[Array], size: int) -> list[Array]:
    failed = convert(leaves[0] >= 0, dtypes.int32)
    place = size - 1 - argmax(failed[::-1], 0, dtypes.int32)
    return [x[place] for x in leaves]


check_p: Callback = Callback(
    "check",
    lambda *_xs, tree, debug: [],  # noqa: ARG005 - all of its parameters
    _batch,
    effect=True,
    not_differentiable="it has no outputs",
)


def raise_now(leaves: Sequence[Array], tree: PyTreeDef, debug: bool) -> list[Any]:
    """What running the primitive does."""
    if not debug:
        error = tree_unflatten(tree, leaves).get_exception()
        if error is not None:
            raise error
    return []


_functional: ContextVar[bool] = ContextVar("functional", default=False)


@contextmanager
def functional() -> Iterator[None]:
    """Within it checks may be traced, for they become values, and what is traced is complete."""
    with within(_functional, True), within(complete, True):
        yield


def are_functional() -> bool:
    """Whether checks that are traced become values; what is traced then is of no use elsewhere."""
    return _functional.get()


def _bind(error: Error, debug: bool) -> None:
    if debug and not _functional.get():
        return
    if current_stage() is not EVAL and not _functional.get():
        raise ValueError(
            f"a check at {user_line()} was traced (by jit, scan, cond ...), where it cannot raise: "
            "make the outermost function functional with checkify, or use debug_check"
        )
    leaves, tree = tree_flatten(error)
    check_p.bind(*leaves, tree=tree, debug=debug)


# ---- what users call


def check(pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """Raise an error if a scalar bool is false; under `checkify` it becomes a value instead.

    Source: `jax.experimental.checkify.check`.

    `msg` is formatted, as by `str.format`, with the further arguments, which are pytrees of arrays
    and may be traced. Raises TypeError for other arguments, ValueError if it is traced without
    `checkify`. With `debug` nothing happens but under `checkify`.

    >>> import arrayport.numpy as anp
    >>> check(anp.array(True), "never shown")
    """
    name = "debug_check" if debug else "check"
    shown = tree_leaves((fmt_args, fmt_kwargs))
    truth = isinstance(pred, bool | np.bool) or (
        getattr(pred, "shape", None) == () and dtypes.bool_ == getattr(pred, "dtype", None)
    )
    if not truth:
        raise TypeError(f"{name} takes a scalar bool as pred, got {pred!r}: reduce it (x.all())")
    for x in shown:
        if not hasattr(x, "dtype"):
            raise TypeError(
                f"{name} takes arrays to format its message with, got {x!r} of type "
                f"{type(x).__name__}: write it into msg, or make an array of it"
            )
    _, engine = route([pred, *shown])
    if engine is not None:
        engine.check(pred, msg, fmt_args, fmt_kwargs, debug)
        return
    arrays, tree = tree_flatten((fmt_args, fmt_kwargs))
    values = [stop_gradient(convert(lift(x), lift(x).dtype)) for x in arrays]
    slot = tuple([Aval(x.shape, x.dtype) for x in values])
    text = f"{msg} (`check` failed)"
    site = Site(FailedCheckError, text, tree, slot, user_line())
    code = select(lift(pred), code_of(NONE), code_of(0))
    _bind(Error(code, (values,), (site,), (slot,)), debug)


def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """Check under `checkify`, do nothing elsewhere; see `check`.

    Source: `jax.experimental.checkify.debug_check`.

    >>> import arrayport.numpy as anp
    >>> debug_check(anp.array(False), "never shown")
    """
    check(pred, msg, *fmt_args, debug=True, **fmt_kwargs)


def check_error(error: Error) -> None:
    """Raise an error that `checkify` gave, if there is one; under `checkify` it is a value again.

    Source: `jax.experimental.checkify.check_error`. Raises ValueError if it is traced without
    `checkify`.

    >>> from arrayport.experimental import checkify
    >>> import arrayport.numpy as anp
    >>> err, y = checkify.checkify(anp.log, errors=checkify.nan_checks)(anp.array(1.0))
    >>> check_error(err)
    """
    if not isinstance(error, Error):
        raise TypeError(f"check_error takes an Error, as checkify gives, not {error!r}")
    error.throw()
