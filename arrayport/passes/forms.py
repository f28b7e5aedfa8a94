"""Forms: how one element of an equation's answer comes from elements of its operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from arrayport.core.primitive import Primitive
from arrayport.core.program import Atom, Eqn
from arrayport.passes.indices import Axis, Index, Indices, Loaded, inside


@dataclass(frozen=True)
class Place:
    """An element of a value."""

    atom: Atom
    at: Indices


@dataclass(frozen=True)
class Pointwise:
    """What the primitive's scalar function makes of one element of each operand, and of indices."""

    places: tuple[Place, ...]
    indices: Indices = ()  # which it is given as int64


@dataclass(frozen=True)
class Filled:
    """The same number everywhere."""

    value: Any


@dataclass(frozen=True)
class Counted:
    """An index itself, as a number."""

    index: Index


@dataclass(frozen=True)
class Piecewise:
    """One of several places: the first whose end an index is below, else the last."""

    index: Index
    ends: tuple[int, ...]
    parts: tuple[Form, ...]


@dataclass(frozen=True)
class Added:
    """The sum of two."""

    left: Form
    right: Form


@dataclass(frozen=True)
class Folded:
    """A reduction of all elements that `axes`, at the operand's `dims`, run through."""

    combine: str  # add, mul, max, min, and, or, xor
    place: Place
    axes: tuple[Axis, ...]
    dims: tuple[int, ...]


Form = Place | Pointwise | Filled | Counted | Piecewise | Added | Folded
FormRule = Callable[[Eqn, Indices], Form | None]
Forms = Mapping[Primitive, FormRule]


def places(form: Form) -> tuple[Place, ...]:
    """The elements of operands that a form reads."""
    match form:
        case Place():
            return (form,)
        case Pointwise(found):
            return found
        case Piecewise(_, _, parts):
            return tuple(place for part in parts for place in places(part))
        case Added(left, right):
            return (*places(left), *places(right))
        case Folded(_, place, _, _):
            return (place,)
        case _:
            return ()


def choices(form: Form) -> Indices:
    """The indices by which a form chooses its places."""
    match form:
        case Piecewise(index, _, parts):
            return (index, *[i for part in parts for i in choices(part)])
        case Added(left, right):
            return (*choices(left), *choices(right))
        case _:
            return ()


def loads(at: Indices) -> list[Place]:
    """The elements that an index itself needs."""
    found = []
    for index in at:
        for term, _ in index.terms:
            if isinstance(term, Loaded):
                found.append(Place(term.atom, term.at))
            else:
                found += loads(inside(term))
    return found
