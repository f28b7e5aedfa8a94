"""Targets: the values that a nest stores, and which of them are reductions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from arrayport.core import dtypes
from arrayport.core.program import Eqn, Var
from arrayport.passes.forms import Folded, Place
from arrayport.passes.fuse import axes_over, folded_lanes, lanes_of
from arrayport.passes.indices import Index, Indices, Shape
from arrayport_backends.ndarray.language import KernelLanguage
from arrayport_backends.ndarray.scalars import HALVES, DType


@dataclass(frozen=True)
class Target:
    """One stored value: what it iterates over and, if it is a reduction, how it combines."""

    var: Var
    space: Shape
    fold: Folded | None  # one that runs over lanes

    @property
    def dtype(self) -> DType:
        """What it is computed in."""
        return dtypes.float32 if self.var.dtype in HALVES else self.var.dtype

    @property
    def combine(self) -> str:
        """How the elements of a reduction are combined."""
        assert self.fold is not None
        return self.fold.combine

    def sources(self, lanes: Sequence[Index]) -> list[Place]:
        """The elements that it stores or combines at an index of the lanes."""
        atom = self.var if self.fold is None else self.fold.place.atom
        return [Place(atom, at) for at in self.spaces(lanes)]

    def own(self, at: Indices) -> Indices:
        """The element that an index into the space belongs to."""
        if self.fold is None:
            return at
        return tuple(i for d, i in enumerate(at) if d not in self.fold.dims)

    def spaces(self, lanes: Sequence[Index]) -> Iterator[Indices]:
        """The elements of the space at an index of the lanes: the short axes are unrolled."""
        looped = lanes_of(self.space)
        short = [range(1) if d in looped else range(n) for d, n in enumerate(self.space)]
        for at in product(*short):
            found = [Index(i) for i in at]
            for d, lane in zip(looped, lanes, strict=True):
                found[d] = lane
            yield tuple(found)

    def groups(self, lanes: Sequence[Index]) -> dict[Indices, list[Indices]]:
        """The same, by the element of the answer."""
        found: dict[Indices, list[Indices]] = {}
        for at in self.spaces(lanes):
            found.setdefault(self.own(at), []).append(at)
        return found


def target(var: Var, eqn: Eqn, language: KernelLanguage) -> Target:
    """How a nest stores a value."""
    form = language.form(eqn, axes_over(var.shape))
    if isinstance(form, Folded) and folded_lanes(form):
        return Target(var, form.place.atom.shape, form)
    return Target(var, var.shape, None)
