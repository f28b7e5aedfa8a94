"""The law of dtypes: what an eager call takes, traced ones and JAX take, with equal types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import arrayport as ap
from arrayport.core import backend as backends
from arrayport.core.tree import tree_leaves
from arrayport_conformance.catalogue.rows import Call, Case, Operand, Row, fill
from arrayport_conformance.laws import bind, ours, resolve

DTYPES = ("bool", "int8", "uint8", "float16", "bfloat16", "float32", "complex64")
NUMBERS: tuple[Any, ...] = (2, 2.5)  # beside arrays of the dtypes that give way to them
GIVES_WAY = ("bool", "int8")
REFUSALS = (TypeError, ValueError, OverflowError, NotImplementedError)

Outcome = str | list[Any]  # what refused, or the outputs


def _drawn(x: Any) -> bool:
    return isinstance(x, Operand) and not x.dtype


def stated(row: Row) -> Case | None:
    """Give a row's first call that takes a dtype."""
    return next((c for c in row.cases if any(map(_drawn, c.args))), None)


def calls(row: Row) -> Iterator[tuple[str, Call]]:
    """Give calls of every dtype, with numbers alone, and of two operands with one number."""
    first = stated(row)
    if first is None:
        return
    for dtype in DTYPES:
        yield dtype, fill(first, dtype, 0)
    for number in () if row.function.startswith("lax.") else NUMBERS:
        args = tuple([number if _drawn(x) else x for x in first.args])
        yield str(number), fill(replace(first, args=args), "float32", 0)
    if row.function.startswith("numpy.") and len(first.args) == 2 and all(map(_drawn, first.args)):
        for dtype in GIVES_WAY:
            for number in NUMBERS:
                yield dtype, fill(replace(first, args=(first.args[0], number)), dtype, 0)
                yield dtype, fill(replace(first, args=(number, first.args[1])), dtype, 0)


def outcome(function: Callable[..., Any], operands: Sequence[Any]) -> Outcome:
    """Give a call's outputs, or the message with which it refuses its operands."""
    try:
        return list(tree_leaves(function(*operands)))
    except REFUSALS as error:
        return str(error)


def types(found: Outcome) -> str | list[Any]:
    """Say what came out: shapes, dtypes, weakness (which has no meaning of booleans)."""
    if isinstance(found, str):
        return "refused"
    return [(tuple(x.shape), str(x.dtype), x.weak_type and str(x.dtype) != "bool") for x in found]


def traced(row: Row) -> None:
    """Require that eager and traced calls take the same dtypes, and give the same types."""
    for _, call in calls(row):
        own = ours(row, call)
        eager = outcome(own.function, own.operands)
        later = outcome(partial(ap.eval_shape, own.function), own.operands)
        assert types(eager) == types(later), f"{row.name}{call}: {eager}\ntraced {later}"


def departures(row: Row) -> Iterator[tuple[str, str]]:
    """Compare every call's types with JAX's: the dtype and what differs."""
    jax: Any = resolve("jax")
    backends.get("jax")  # then its switch for 64-bit types is ours
    for dtype, call in calls(row):
        own = ours(row, call)
        eager = outcome(own.function, own.operands)
        known = bind(call, "jax", row.function, resolve("jax.numpy.asarray"))
        theirs = outcome(partial(jax.eval_shape, known.function), known.operands)
        if types(eager) != types(theirs):
            yield dtype, f"{row.name}{call}: {eager}\nJAX {theirs}"
