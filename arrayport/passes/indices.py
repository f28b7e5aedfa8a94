"""Indices: where a loop nest reads, as sums of multiples of loop variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from arrayport.core.program import Atom

Shape = tuple[int, ...]


class Axis:
    """A loop variable, which runs through `range(low, end)`."""

    __slots__ = ("end", "low")

    def __init__(self, end: int, low: int = 0) -> None:
        self.low = low
        self.end = end

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest value."""
        return self.low, max(self.end - 1, self.low)


@dataclass(frozen=True)
class Quotient:
    """An index that is not negative, divided and rounded down."""

    index: Index
    by: int

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest value."""
        low, high = self.index.bounds
        return low // self.by, high // self.by


@dataclass(frozen=True)
class Remainder:
    """What the division leaves."""

    index: Index
    by: int

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest value."""
        return 0, self.by - 1


@dataclass(frozen=True)
class Loaded:
    """An element of an array of integers, limited to be from `low` to `high`."""

    atom: Atom
    at: tuple[Index, ...]
    high: int
    low: int = 0

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest value."""
        return self.low, self.high


Term = Axis | Quotient | Remainder | Loaded


@dataclass(frozen=True)
class Index:
    """A constant and multiples of terms."""

    constant: int = 0
    terms: tuple[tuple[Term, int], ...] = ()

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest value, exact where no term repeats in disguise."""
        low = high = self.constant
        for term, times in self.terms:
            ends = [times * b for b in term.bounds]
            low += min(ends)
            high += max(ends)
        return low, high

    def __add__(self, other: Index | int) -> Index:
        if isinstance(other, int):
            return Index(self.constant + other, self.terms) if other else self
        if not other.terms:
            return self + other.constant
        times = dict(self.terms)
        for term, n in other.terms:
            times[term] = times.get(term, 0) + n
        return Index(self.constant + other.constant, tuple([(t, n) for t, n in times.items() if n]))

    def __mul__(self, n: int) -> Index:
        if n in (0, 1):
            return self if n else ZERO
        return Index(self.constant * n, tuple([(t, k * n) for t, k in self.terms]))

    def put(self, values: Mapping[Axis, int]) -> Index:
        """Give some of the loop variables their values."""
        total = Index(self.constant)
        for term, times in self.terms:
            total = total + _put(term, values) * times
        return total

    def divide(self, n: int) -> tuple[Index, Index]:
        """Quotient and remainder of an index that is not negative."""
        if n == 1:
            return self, ZERO
        low, high = self.bounds
        if high < n:
            return ZERO, self
        whole = tuple([(t, k // n) for t, k in self.terms if k % n == 0])
        rest = Index(self.constant % n, tuple([(t, k) for t, k in self.terms if k % n]))
        low, high = rest.bounds
        if low < 0:
            return of(Quotient(self, n)), of(Remainder(self, n))
        quotient = Index(self.constant // n, whole)
        if high < n:
            return quotient, rest
        return quotient + of(Quotient(rest, n)), of(Remainder(rest, n))


ZERO = Index()
Indices = tuple[Index, ...]


def inside(term: Term) -> Indices:
    """The indices that a term is made of."""
    match term:
        case Axis():
            return ()
        case Loaded(_, at):
            return at
        case Quotient(index) | Remainder(index):
            return (index,)


def _put(term: Term, values: Mapping[Axis, int]) -> Index:
    match term:
        case Axis():
            return Index(values[term]) if term in values else of(term)
        case Quotient(index, by):
            return index.put(values).divide(by)[0]
        case Remainder(index, by):
            return index.put(values).divide(by)[1]
        case Loaded(atom, at, high, low):
            return of(Loaded(atom, tuple([i.put(values) for i in at]), high, low))


def of(term: Term) -> Index:
    """Make the index that is one term; an axis of one value is a constant."""
    low, high = term.bounds
    return Index(low) if low == high else Index(0, ((term, 1),))


@lru_cache(maxsize=1024)
def strides(shape: Shape) -> Shape:
    """Give the distance, in elements, between neighbours along each axis, rows being contiguous."""
    return tuple(prod(shape[i + 1 :]) for i in range(len(shape)))


def flat(at: Sequence[Index], shape: Shape) -> Index:
    """Number the element at an index."""
    constant, times = 0, dict[Term, int]()
    for i, stride in zip(at, strides(shape), strict=True):
        constant += i.constant * stride
        for term, n in i.terms:
            times[term] = times.get(term, 0) + n * stride
    return Index(constant, tuple([(t, n) for t, n in times.items() if n]))


def unflat(index: Index, shape: Shape) -> Indices:
    """Find the element of a number."""
    out = []
    for n in reversed(shape):
        index, rest = index.divide(n)
        out.append(rest)
    return tuple(reversed(out))


def reshaped(at: Indices, shape: Shape, new: Shape) -> Indices:
    """Find in another shape the element at an index."""
    if 0 in shape:
        return (ZERO,) * len(new)
    return unflat(flat(at, shape), new)
