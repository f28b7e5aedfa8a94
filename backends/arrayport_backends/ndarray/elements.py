"""Elements: the code of one, from what is in memory by the forms of what is not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.program import Atom, Eqn, Literal, Program
from arrayport.passes.forms import (
    Added,
    Counted,
    Filled,
    Folded,
    Form,
    Piecewise,
    Place,
    Pointwise,
    loads,
    places,
)
from arrayport.passes.fuse import Nest
from arrayport.passes.indices import (
    Axis,
    Index,
    Loaded,
    Quotient,
    Remainder,
    Term,
    flat,
    inside,
)
from arrayport_backends.ndarray.forms import FORMS
from arrayport_backends.ndarray.language import KernelLanguage
from arrayport_backends.ndarray.scalars import HALVES, Builder, Scalar

SHARED = 8  # uses in a Program from which mathematics is called, not copied to every place
CALLED = 20  # instructions of what may be called
FLOATS = frozenset({dtypes.float32, dtypes.float64})
Breaks = dict[Axis, set[int]]
Lanes = tuple[int, ...]


class Code:
    """What kernels may compute: equations by what they make, and those of them that are stored."""

    def __init__(
        self,
        ins: Sequence[Atom],
        eqns: Mapping[Atom, Eqn],
        stored: Container[Atom],
        language: KernelLanguage,
    ) -> None:
        self.ins = ins
        self.eqns = eqns
        self.stored = stored
        self.language = language
        self.widest = max((a.dtype.itemsize for v in eqns.values() for a in v.ins), default=0)
        uses = Counter(name for eqn in eqns.values() if (name := self.sharable(eqn)))
        self.shared = {name for name, count in uses.items() if count >= SHARED}

    def sharable(self, eqn: Eqn) -> str:
        """The name of what an equation computes, if calling a function for it costs little more."""
        kinds = {a.dtype for a in (*eqn.ins, *eqn.outs)}
        alike = len(eqn.outs) == len(kinds) == 1 and kinds <= FLOATS and not eqn.params
        if not alike or eqn.prim in FORMS or self.language.cost(eqn) < CALLED:
            return ""
        return "_".join(["shared", eqn.prim.name, str(eqn.outs[0].dtype)])

    def emit(self, b: Builder, eqn: Eqn, xs: Sequence[Scalar]) -> list[Scalar]:
        """An element of each answer of an elementwise equation."""
        row, outs = self.language.row(eqn), [v.dtype for v in eqn.outs]
        name = self.sharable(eqn) if self.shared else ""
        if name in self.shared:
            return [b.shared(name, lambda b, *xs: row.emit(b, xs, outs)[0], self.widest, *xs)]
        return row.emit(b, xs, outs, **eqn.params)


class Body:
    """What one nest computes, and where what others stored lies."""

    def __init__(self, code: Code, own: Container[Atom]) -> None:
        self.code = code
        self.own = own
        self.buffers: dict[Atom, Any] = {}
        self.starts: dict[Atom, int] = {}  # elements of a value before what its pointer points to
        self.forms: dict[Place, Form | None] = {}

    def form(self, place: Place) -> Form | None:
        """How an element is made here; None if it is read from memory, or is a constant."""
        if place not in self.forms:
            atom, made, code = place.atom, None, self.code
            if atom in self.own or (atom in code.eqns and atom not in code.stored):
                made = code.language.form(code.eqns[atom], place.at)
            self.forms[place] = made
        return self.forms[place]


def bare(language: KernelLanguage) -> Body:
    """A body without equations, for functions that are written out by hand."""
    return Body(Code((), {}, (), language), ())


def part_of(form: Piecewise) -> Form | None:
    """The part that an index's bounds decide on, if they do."""
    low, high = form.index.bounds
    for part, end in zip(form.parts, form.ends, strict=False):
        if high < end:
            return part
        if low < end:
            return None
    return form.parts[-1]


def decided(form: Form | None) -> Form | None:
    """A form whose outer choices are made where bounds make them."""
    while isinstance(form, Piecewise):
        part = part_of(form)
        if part is None:
            return form
        form = part
    return form


def parts(form: Added) -> list[Form]:
    """The two forms that are added."""
    return [part for half in (form.left, form.right) if (part := decided(half)) is not None]


def unfolded(form: Folded) -> list[Place]:
    """The elements that a reduction of short axes combines."""
    ranges = [range(a.low, a.end) for a in form.axes]
    place = form.place
    return [
        Place(place.atom, tuple([i.put(dict(zip(form.axes, at, strict=True))) for i in place.at]))
        for at in product(*ranges)
    ]


class Survey:
    """Looks, before code is made, at what a nest reads and where its choices change."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.seen: set[Place] = set()
        self.read: dict[Atom, list[Place]] = {}
        self.breaks: Breaks = {}
        self.indices: set[Index] = set()  # all that are computed

    def visit(self, start: list[Place]) -> None:
        """Follow these elements down to what is in memory."""
        stack = list(start)
        while stack:
            place = stack.pop()
            if place in self.seen:
                continue
            self.seen.add(place)
            stack += loads(place.at)
            form = decided(self.body.form(place))
            if form is None:
                self.compute(flat(place.at, place.atom.shape))
                if type(place.atom) is not Literal or place.atom.shape:
                    self.read.setdefault(place.atom, []).append(place)
                continue
            stack += self.needs(form)

    def needs(self, form: Form) -> list[Place]:
        """All elements that a form may read; the breaks of its choices are noted."""
        if isinstance(form, Folded):
            return unfolded(form)
        if isinstance(form, Counted):
            self.compute(form.index)
            return loads((form.index,))
        if isinstance(form, Added):
            return [q for part in parts(form) for q in self.needs(part)]
        if isinstance(form, Pointwise):
            for index in form.indices:
                self.compute(index)
            return [*loads(form.indices), *form.places]
        if isinstance(form, Piecewise):
            self.compute(form.index)
            self.note(form)
            inner = [decided(part) for part in form.parts]
            found = [q for part in inner if part is not None for q in self.needs(part)]
            return [*loads((form.index,)), *found]
        return list(places(form))

    def compute(self, index: Index) -> None:
        """Note an index, and those that it is made of."""
        if index in self.indices:
            return
        self.indices.add(index)
        for term, _ in index.terms:
            if isinstance(term, Quotient | Remainder):
                self.compute(term.index)

    def note(self, form: Piecewise) -> None:
        """Break the axis that a choice depends on, if it is one, where the choice changes."""
        if len(form.index.terms) != 1:
            return
        ((axis, times),) = form.index.terms
        if not isinstance(axis, Axis):
            return
        for end in form.ends:
            distance = end - form.index.constant
            at = -(-distance // times) if times > 0 else distance // times + 1
            if axis.low < at < axis.end:
                self.breaks.setdefault(axis, set()).add(at)


def depends(index: Index, axis: Axis) -> bool:
    """Whether an index may be another when a loop variable goes on."""
    return any(
        term is axis or any(depends(i, axis) for i in inside(term)) for term, _ in index.terms
    )


def steps(index: Index, axis: Axis) -> int:
    """How far an index goes when a loop variable that it contains by itself goes one on."""
    return dict(index.terms).get(axis, 0)


def code_of(program: Program, units: Sequence[Nest | Eqn], language: KernelLanguage) -> Code:
    """What the nests among the units may compute."""
    calls = {id(u) for u in units}
    own = [eqn for eqn in program.eqns if id(eqn) not in calls]
    eqns: dict[Atom, Eqn] = {v: eqn for eqn in own for v in eqn.outs}
    return Code(
        program.ins, eqns, {v for u in units if isinstance(u, Nest) for v in u.stored}, language
    )


def runs(
    axes: Sequence[Axis], indices: Collection[Index], joins: Callable[[int], bool]
) -> list[Lanes]:
    """Lanes in runs that can be gone through as one, since every index goes on from row to row.

    All lanes of such a run but the last then stay 0, and the last counts on beyond its extent.
    `joins` says whether a lane may be in one run with that before it.
    """
    found: list[Lanes] = []
    for k, axis in enumerate(axes):
        before = axes[k - 1]
        if k and joins(k) and all(steps(i, before) == steps(i, axis) * axis.end for i in indices):
            found[-1] = (*found[-1], k)
        else:
            found.append((k,))
    return found


class Elements(ABC):
    """Emits elements at the place where the builder stands; each is computed once a scope.

    What memory, branches and the arithmetic of indices are is the printer's.
    """

    def __init__(self, body: Body, builder: Builder) -> None:
        self.body = body
        self.builder = builder
        self.axes: dict[Axis, Any] = {}
        self.known: dict[Place, Scalar] = {}
        self.codes: dict[Index | Term, Any] = {}

    @abstractmethod
    def loaded(self, place: Place) -> Scalar:
        """An element that is in memory."""

    @abstractmethod
    def chosen(self, place: Place, form: Piecewise) -> Scalar:
        """An element whose place only a run can tell: a branch."""

    @abstractmethod
    def word(self, n: int) -> Any:
        """A number as an index."""

    @abstractmethod
    def arithmetic(self, name: str, x: Any, n: Any) -> Any:
        """Two indices by "add", "mul", "div" or "rem"; by what is divided is not negative."""

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A block of its own: what is emitted in it is not known after it."""
        known, codes = self.known, self.codes
        self.known, self.codes = dict(known), dict(codes)
        try:
            yield
        finally:
            self.known, self.codes = known, codes

    # ---- elements

    def value(self, wanted: Place) -> Scalar:
        """One element."""
        stack = [wanted]
        while stack:
            place = stack[-1]
            if place in self.known:
                stack.pop()
                continue
            form = decided(self.body.form(place))
            needs = [q for q in self.needs(place, form) if q not in self.known]
            if needs:
                stack += reversed(needs)
                continue
            self.known[place] = self.made(place, form)
            stack.pop()
        return self.known[wanted]

    def needs(self, place: Place, form: Form | None) -> list[Place]:
        """The elements that must be there before one can be made."""
        match form:
            case None:
                return loads(place.at)
            case Folded():
                return unfolded(form)
            case Piecewise(index):
                return loads((index,))
            case Added():
                return [q for part in parts(form) for q in self.needs(place, part)]
            case Counted(index):
                return loads((index,))
            case Pointwise(found, indices):
                return [*loads(indices), *found]
            case _:
                return list(places(form))

    def made(self, place: Place, form: Form | None) -> Scalar:
        """One element, those it needs being there."""
        atom, b = place.atom, self.builder
        match form:
            case None if type(atom) is Literal and not atom.shape:
                return b.constant(np.asarray(atom.value)[()], atom.dtype)
            case None:
                return self.loaded(place)
            case Place():
                return self.known[form]
            case Filled(value):
                return b.constant(value, atom.dtype)
            case Counted(index):
                return self.number(index, atom.dtype)
            case Pointwise(found, indices):
                eqn = self.body.code.eqns[atom]
                xs = [self.known[q] for q in found]
                xs += [self.number(index, dtypes.int64) for index in indices]
                made = self.computed(eqn, found, xs)
                self.known.update(
                    {Place(v, place.at): x for v, x in zip(eqn.outs, made, strict=True)}
                )
                return self.known[place]
            case Folded(combine):
                xs = [self.known[q] for q in unfolded(form)]
                if combine == "add":  # as NumPy's sums, which are never -0
                    xs[0] = b.constant(0, atom.dtype) + xs[0]
                return folded(b, combine, xs, atom.dtype)
            case Piecewise():
                return self.chosen(place, form)
            case Added():
                left, right = (self.made(place, part) for part in parts(form))
                return folded(b, "add", [left, right], atom.dtype)

    def computed(self, eqn: Eqn, _at: Sequence[Place], xs: Sequence[Scalar]) -> list[Scalar]:
        """An element of each answer of an elementwise equation."""
        return self.body.code.emit(self.builder, eqn, xs)

    def branch(self, place: Place, form: Form) -> Scalar:
        """An element of a part of a choice."""
        found = decided(form)
        assert found is not None
        for q in self.needs(place, found):
            self.value(q)
        return self.made(place, found)

    # ---- indices

    def code(self, index: Index) -> Any:
        """An index as a 64-bit integer."""
        found = self.codes.get(index)
        if found is None:
            for term, times in index.terms:
                part = self.term(term)
                part = part if times == 1 else self.arithmetic("mul", part, self.word(times))
                found = part if found is None else self.arithmetic("add", found, part)
            if found is None:
                found = self.word(index.constant)
            elif index.constant:
                found = self.arithmetic("add", found, self.word(index.constant))
            self.codes[index] = found
        return found

    def term(self, term: Term) -> Any:
        """A term of an index."""
        if isinstance(term, Axis):
            return self.axes[term]
        found = self.codes.get(term)
        if found is None:
            match term:
                case Quotient(index, by):
                    found = self.arithmetic("div", self.code(index), self.word(by))
                case Remainder(index, by):
                    found = self.arithmetic("rem", self.code(index), self.word(by))
                case Loaded(atom, at, high, low):
                    found = self.limited(self.value(Place(atom, at)), low, high)
            self.codes[term] = found
        return found

    def limited(self, x: Scalar, low: int, high: int) -> Any:
        """An integer as an index from `low` to `high`."""
        b = self.builder
        if x.dtype == dtypes.uint64:
            return b.minimum(x, high).code
        x = b.convert(x, dtypes.int64)
        return b.maximum(b.minimum(x, high), low).code

    def number(self, index: Index, dtype: Any) -> Scalar:
        """An index as a value of a dtype: counts that a small one cannot hold wrap around."""
        b = self.builder
        whole = Scalar(dtypes.int64, self.code(index), b)
        if dtypes.kind(dtype) in "iu":
            return b.convert(whole, dtype)
        return b.cast(whole, dtype)


Combine = Callable[[Builder, Scalar, Scalar], Scalar]
COMBINE: Mapping[str, Combine] = {
    "add": lambda b, x, y: b.add(x, y),
    "mul": lambda b, x, y: b.mul(x, y),
    "max": lambda b, x, y: b.maximum(x, y),
    "min": lambda b, x, y: b.minimum(x, y),
    "and": lambda _b, x, y: x & y,
    "or": lambda _b, x, y: x | y,
    "xor": lambda _b, x, y: x ^ y,
}


def folded(b: Builder, combine: str, xs: list[Scalar], dtype: Any) -> Scalar:
    """Combine a few elements, neighbours first."""
    wide = dtypes.float32 if dtype in HALVES else dtype
    xs = [b.cast(x, wide) for x in xs]
    while len(xs) > 1:
        pairs = [COMBINE[combine](b, x, y) for x, y in zip(xs[::2], xs[1::2], strict=False)]
        xs = pairs + xs[len(xs) - len(xs) % 2 :]
    return b.cast(xs[0], dtype)
