"""Fusion: which equations share a loop nest, so that what lies between them needs no memory.

Every value is either *stored* or computed where it is read. What a nest computes for one element
of its stored values it finds by their forms, down to what was stored before; so any choice of
stored values gives the same answers, and this pass only decides what is quick.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Protocol

from arrayport.core.program import Atom, Eqn, Literal, Program, Var
from arrayport.passes.forms import Folded, Form, Place, choices, loads, places
from arrayport.passes.indices import Axis, Indices, Shape, of

SHORT = 8  # extent up to which an axis is unrolled rather than looped over
UNROLLED = 16  # elements up to which all short axes together are
CHEAP = 4  # cost up to which computing again beats storing
LIMIT = 1000  # cost of a nest from which another is begun: compilers are not linear
HEAVY = 400  # cost from which a value is stored for its own sake


class Language(Protocol):
    """What a backend's kernels can compute."""

    def form(self, eqn: Eqn, at: Indices) -> Form | None:
        """Say how an element of each answer is made; None if only a library call makes it."""

    def cost(self, eqn: Eqn) -> int:
        """Give the instructions an element takes, roughly."""


@dataclass
class Nest:
    """Loops over `lanes`, and what they store.

    A stored value's `space` is its own shape or, if it is a reduction, its operand's: the axes of
    it that are looped over have the lanes' extents, in order; the others are unrolled. `reduced`
    are the lanes that all reductions of this nest run over.
    """

    lanes: Shape
    reduced: tuple[int, ...] = ()
    stored: list[Var] = field(default_factory=list)
    reads: set[Atom] = field(default_factory=set)
    cost: int = 0


def lanes_of(shape: Shape) -> tuple[int, ...]:
    """Give the axes that are looped over."""
    short = [n for n in shape if n <= SHORT]
    unrolled = prod(short) <= UNROLLED
    return tuple(i for i, n in enumerate(shape) if n > 1 and not (unrolled and n <= SHORT))


def axes_over(shape: Shape) -> Indices:
    """Make a loop variable for each axis."""
    return tuple(of(Axis(n)) for n in shape)


def folded_lanes(form: Form) -> tuple[int, ...]:
    """Of a reduction, the lanes of its operand that it runs over."""
    if not isinstance(form, Folded):
        return ()
    lanes = lanes_of(form.place.atom.shape)
    return tuple(k for k, i in enumerate(lanes) if i in form.dims)


def loaded_atoms(at: Indices) -> Iterator[Atom]:
    """Give the arrays that an index is read from."""
    for place in loads(at):
        yield place.atom
        yield from loaded_atoms(place.at)


@dataclass
class Reach:
    """What computing a value reads and passes through."""

    reads: dict[Atom, bool]  # what was stored; whether only at the same lanes
    through: dict[int, int]  # equations computed on the way, by their first answers' ids; costs

    @property
    def cost(self) -> int:
        """The instructions an element takes."""
        return sum(self.through.values())


class Fusion:
    """The decisions for one Program."""

    def __init__(self, program: Program, language: Language) -> None:
        self.program = program
        self.forms: dict[Atom, Form] = {}
        self.lanes: dict[Atom, Shape] = {}  # extents of the looped axes of the space
        self.folds: dict[Atom, tuple[int, ...]] = {}
        self.costs: dict[Atom, int] = {}
        self.links: dict[Atom, list[tuple[Atom, bool]]] = {}
        self.firsts: dict[Atom, Atom] = {}  # of the answers that are computed together
        for eqn in program.eqns:
            form, at = self.form_of(eqn, language)
            if form is None:
                continue
            folds = folded_lanes(form)
            space = eqn.outs[0].shape
            if folds and isinstance(form, Folded):
                space, at = form.place.atom.shape, form.place.at
            lanes = tuple(space[i] for i in lanes_of(space))
            for out in eqn.outs:
                self.forms[out] = form
                self.folds[out] = folds
                self.lanes[out] = lanes
                self.costs[out] = language.cost(eqn) * (prod(space) // prod(lanes))
                self.links[out] = list(self.links_of(form, at, space))
                self.firsts[out] = eqn.outs[0]
        self.readers = Counter(a for eqn in program.eqns for a in eqn.ins)
        self.stored = self.must_store()

    def form_of(self, eqn: Eqn, language: Language) -> tuple[Form | None, Indices]:
        """The form of an equation at loop variables over its answer."""
        if not eqn.outs or any(0 in a.shape for a in (*eqn.ins, *eqn.outs)):
            return None, ()
        at = axes_over(eqn.outs[0].shape)
        return language.form(eqn, at), at

    def links_of(self, form: Form, at: Indices, space: Shape) -> Iterator[tuple[Atom, bool]]:
        """What a form reads, and whether at the very lanes of the answer."""
        wanted = [at[i] for i in lanes_of(space)]
        for atom, index in [(p.atom, p.at) for p in places(form)]:
            yield atom, [index[i] for i in lanes_of(atom.shape)] == wanted
            for inner in loaded_atoms(index):
                yield inner, False
        for inner in loaded_atoms(choices(form)):
            yield inner, False

    def must_store(self) -> set[Atom]:
        """What is read from outside, what folds lanes, what is read elsewhere and is not cheap."""
        stored = {a for a in self.program.outs if a in self.forms}
        for eqn in self.program.eqns:
            if not (eqn.outs and eqn.outs[0] in self.forms):
                stored.update([a for a in eqn.ins if a in self.forms])
        stored.update([v for v, folds in self.folds.items() if folds])
        elsewhere = {
            a
            for v, links in self.links.items()
            for a, same in links
            if not same and not self.passes(v, a)
        }
        reaches: dict[Atom, Reach] = {}
        for v in self.forms:
            reach = self.reach(v, reaches, stored)
            if (v in elsewhere and reach.cost > CHEAP) or reach.cost > HEAVY:
                stored.add(v)
            reaches[v] = self.reach(v, reaches, stored)
        return stored

    def passes(self, v: Atom, a: Atom) -> bool:
        """Whether v is but another order of a, and nothing else reads a: there is nothing twice."""
        form = self.forms[v]
        return isinstance(form, Place) and prod(v.shape) == prod(a.shape) and self.readers[a] == 1

    def reach(self, v: Atom, reaches: dict[Atom, Reach], stored: set[Atom]) -> Reach:
        """What computing v reads and passes through."""
        reads: dict[Atom, bool] = {}
        through = {id(self.firsts[v]): self.costs[v]}
        for atom, same in self.links[v]:
            if type(atom) is Literal:
                continue
            if atom in self.forms and atom not in stored:
                inner = reaches[atom]
                for read, alike in inner.reads.items():
                    reads[read] = reads.get(read, True) and same and alike
                through.update(inner.through)
            else:
                reads[atom] = reads.get(atom, True) and same
        return Reach(reads, through)

    def schedule(self) -> list[Nest | Eqn]:
        """Nests and the equations that are left to libraries, in an order that runs."""
        users: dict[Atom, list[Atom]] = defaultdict(list)
        for user, links in self.links.items():
            for a, _ in links:
                users[a].append(user)
        while True:
            levels, passed = self.levels()
            repeated = {
                v
                for v in self.forms
                if v not in self.stored and self.costly(v) and len(passed[id(self.firsts[v])]) > 1
            }
            if not repeated:
                return [unit for level in sorted(levels) for unit in levels[level]]
            # What only leads to others that the same nests repeat is no longer, once these are
            # stored.
            self.stored |= {
                v
                for v in repeated
                if any(u not in repeated or passed[id(u)] != passed[id(v)] for u in users[v])
            }

    def costly(self, v: Atom) -> bool:
        """Whether computing v again is worth avoiding."""
        return self.reaches[v].cost > CHEAP

    def levels(self) -> tuple[dict[int, list[Nest | Eqn]], dict[int, set[int]]]:
        """Units by level: each reads only what lower levels, or what stands before it, made."""
        when: dict[Atom, int] = dict.fromkeys(self.program.ins, 0)
        nests: dict[tuple[int, Shape, tuple[int, ...]], list[Nest]] = defaultdict(list)
        calls: dict[int, list[Eqn]] = defaultdict(list)
        passed: dict[int, set[int]] = defaultdict(set)
        self.reaches: dict[Atom, Reach] = {}
        effects = 0  # the level of the last effect: they keep their order
        for eqn in self.program.eqns:
            if not (eqn.outs and eqn.outs[0] in self.forms):
                level = max([when[a] for a in eqn.ins if type(a) is Var], default=0)
                if eqn.effect:
                    level = effects = max(level, effects)
                calls[level].append(eqn)
                when.update(dict.fromkeys(eqn.outs, level + 1))
                continue
            for v in eqn.outs:
                reach = self.reaches[v] = self.reach(v, self.reaches, self.stored)
                if v not in self.stored:
                    continue
                level = max([self.after(v, a, s, when) for a, s in reach.reads.items()], default=0)
                when[v] = level
                found = nests[level, self.lanes[v], self.folds[v]]
                if not found or found[-1].cost + reach.cost > LIMIT:
                    found.append(Nest(self.lanes[v], self.folds[v]))
                nest = found[-1]
                nest.stored.append(v)
                nest.reads |= reach.reads.keys()
                nest.cost += reach.cost
                for first in reach.through:
                    passed[first].add(id(nest))
        units: dict[int, list[Nest | Eqn]] = defaultdict(list)
        self.merge(nests, passed)
        for folding in (False, True):  # a reduction may read what its own level stores
            for (level, _, folds), found in nests.items():
                if bool(folds) == folding:
                    units[level] += found
        for level, eqns in calls.items():
            units[level] += eqns
        return units, passed

    def after(self, v: Atom, a: Atom, same: bool, when: dict[Atom, int]) -> int:
        """The first level at which a nest that stores v can read a."""
        if a not in self.forms:
            return when[a]
        beside = same and not self.folds[a] and self.lanes[a] == self.lanes[v]
        light = self.reaches[a].cost <= HEAVY
        return when[a] + (0 if beside and light else 1)

    def merge(
        self,
        nests: dict[tuple[int, Shape, tuple[int, ...]], list[Nest]],
        passed: dict[int, set[int]],
    ) -> None:
        """Let a reduction's nest store its level's other values as well."""
        seen = set()
        for (level, lanes, folds), found in nests.items():
            plain = nests.get((level, lanes, ())) if folds else None
            if (level, lanes) in seen:  # only the first to run: the others may read what it stores
                continue
            if plain is not None:
                seen.add((level, lanes))
            if plain and plain[-1].cost + found[0].cost <= LIMIT:
                last, first = plain.pop(), found[0]
                first.stored = last.stored + first.stored
                first.reads |= last.reads
                first.cost += last.cost
                for owners in passed.values():
                    if id(last) in owners:
                        owners.discard(id(last))
                        owners.add(id(first))


def fuse(program: Program, language: Language) -> list[Nest | Eqn]:
    """Group a Program's equations into nests; the others stay as they are, between them."""
    return Fusion(program, language).schedule()
