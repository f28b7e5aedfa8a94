"""Where updates write: for an element of the update, the element of the base."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from arrayport.core.primitive import Primitive
from arrayport.core.program import Atom, Eqn
from arrayport.ops import indexing, slices, windows
from arrayport.passes.forms import Place
from arrayport.passes.indices import ZERO, Index, Indices, Loaded, of


@dataclass(frozen=True)
class Write:
    """One element of an update: where it goes, under which conditions, and how it combines."""

    source: Place
    target: Indices
    tests: tuple[tuple[Index, int], ...]  # an index that must be from 0 to below an end
    combine: str  # as a reduction's; nothing: it replaces


def _by_key(combine: str) -> Callable[[Eqn, Indices], Write]:
    def rule(eqn: Eqn, at: Indices) -> Write:
        axes, found = iter(at), []
        for k in eqn.params["key"]:
            if k is None:
                next(axes)
            else:
                found.append(next(axes) * k[2] + k[0] if isinstance(k, tuple) else Index(k))
        return Write(Place(eqn.ins[1], at), tuple(found), (), combine)

    return rule


def _update_slice(eqn: Eqn, at: Indices) -> Write:
    base, update, *starts = eqn.ins
    return _at_starts(base, update, starts, at, "")


def _slice_add(eqn: Eqn, at: Indices) -> Write:
    base, *starts, update = eqn.ins
    return _at_starts(base, update, starts, at, "add")


def _at_starts(base: Atom, update: Atom, starts: list[Atom], at: Indices, combine: str) -> Write:
    bounds = zip(at, starts, base.shape, update.shape, strict=True)
    target = tuple(i + of(Loaded(s, (), n - size)) for i, s, n, size in bounds)
    return Write(Place(update, at), target, (), combine)


def _scattered(combine: str) -> Callable[[Eqn, Indices], Write]:
    def rule(eqn: Eqn, at: Indices) -> Write:
        base, indices, update = eqn.ins
        numbers = eqn.params["dimension_numbers"]
        window, _, mapped, batching, index_batching = numbers
        sizes = indexing.window_sizes(len(base.shape), numbers, update.shape)
        examples = tuple([i for d, i in enumerate(at) if d not in window])
        kept = indexing.windows(len(base.shape), numbers)
        inside = dict(zip(kept, [at[d] for d in window], strict=True))
        target, tests = [], []
        for d, n in enumerate(base.shape):
            index, high = inside.get(d, ZERO), n - sizes[d]
            if d in mapped:
                place = (*examples, Index(mapped.index(d)))
                index = index + of(Loaded(indices, place, high))
                tests.append((of(Loaded(indices, place, high + 1, -1)), high + 1))
            elif d in batching:
                index = index + examples[index_batching[batching.index(d)]]
            target.append(index)
        dropped = eqn.params["mode"] != "clip"
        return Write(Place(update, at), tuple(target), tuple(tests) if dropped else (), combine)

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
