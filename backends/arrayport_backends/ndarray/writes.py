"""Where updates write: for an element of the update, the element of the base."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from arrayport.core.primitive import Primitive
from arrayport.core.program import Atom, Eqn
from arrayport.ops import indexing, slices, windows
from arrayport.passes.forms import Place
from arrayport.passes.indices import Indices
from arrayport_backends.ndarray.places import Test, firsts, indexed, keyed


@dataclass(frozen=True)
class Write:
    """One element of an update: where it goes, under which conditions, and how it combines."""

    source: Place
    target: Indices
    tests: tuple[Test, ...]
    combine: str  # as a reduction's; nothing: it replaces


def _by_key(combine: str) -> Callable[[Eqn, Indices], Write]:
    return lambda eqn, at: Write(Place(eqn.ins[1], at), keyed(eqn.params["key"], at), (), combine)


def _update_slice(eqn: Eqn, at: Indices) -> Write:
    base, update, *starts = eqn.ins
    return _at_starts(base, update, starts, at, "")


def _slice_add(eqn: Eqn, at: Indices) -> Write:
    base, *starts, update = eqn.ins
    return _at_starts(base, update, starts, at, "add")


def _at_starts(base: Atom, update: Atom, starts: list[Atom], at: Indices, combine: str) -> Write:
    first = firsts(starts, base.shape, update.shape)
    target = tuple([i + start for i, start in zip(at, first, strict=True)])
    return Write(Place(update, at), target, (), combine)


def _scattered(combine: str) -> Callable[[Eqn, Indices], Write]:
    def rule(eqn: Eqn, at: Indices) -> Write:
        base, indices, update = eqn.ins
        numbers = eqn.params["dimension_numbers"]
        sizes = indexing.window_sizes(len(base.shape), numbers, update.shape)
        target, tests = indexed(indices, numbers, base.shape, sizes, at)
        dropped = eqn.params["mode"] != "clip"
        return Write(Place(update, at), target, tuple(tests) if dropped else (), combine)

    return rule


def update_of(eqn: Eqn) -> Atom:
    """The operand whose elements are written."""
    return eqn.ins[1 if eqn.prim is windows.dynamic_update_slice_p else -1]


WRITES: Mapping[Primitive, Callable[[Eqn, Indices], Write]] = {
    slices.slice_set_p: _by_key(""),
    slices.slice_add_p: _by_key("add"),
    windows.dynamic_update_slice_p: _update_slice,
    windows.dynamic_slice_add_p: _slice_add,
    indexing.scatter_set_p: _scattered(""),
    indexing.scatter_add_p: _scattered("add"),
    indexing.scatter_mul_p: _scattered("mul"),
    indexing.scatter_min_p: _scattered("min"),
    indexing.scatter_max_p: _scattered("max"),
}
