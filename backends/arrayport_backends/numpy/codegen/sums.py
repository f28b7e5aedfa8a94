"""Sums: the running state of reductions, what rounding takes kept beside it."""

from __future__ import annotations

from math import prod
from typing import Any

from arrayport.core import dtypes
from arrayport.ops.reductions import IDENTITIES
from arrayport.passes.indices import Index
from arrayport_backends.ndarray.elements import COMBINE
from arrayport_backends.ndarray.scalars import Scalar
from arrayport_backends.ndarray.targets import Target
from arrayport_backends.numpy.codegen.emitters import Emitter, room, shifted
from arrayport_backends.numpy.llvm import LLVMBuilder, ir, storage

RUN = 1024  # elements that are added up before the sum is settled
ROWS = 64  # rows, when columns are added up
STATES = 3  # numbers of a sum's state, at most
STATE = 16  # bytes of each, at most


class Sum:
    """The running state of one reduction, or of a row of them.

    Sums of floats are taken in runs; what the sum of the runs loses to rounding is kept beside it.
    """

    def __init__(self, nest: Emitter, t: Target, width: int) -> None:
        assert t.fold is not None
        self.nest = nest
        self.combine = t.fold.combine
        self.dtype = t.dtype
        folded_size = prod(t.space[d] for d in t.fold.dims)
        run = ROWS if width > 1 else RUN
        self.exact = self.combine == "add" and dtypes.kind(self.dtype) in "fc" and folded_size > run
        states = ("run", "total", "lost") if self.exact else ("run",)
        kind = storage(self.dtype)
        self.states = {s: room(nest.entry, kind, width) for s in states}

    def pointer(self, state: str, place: Index) -> Any:
        """Where a part of the state is."""
        return self.nest.values.at(self.states[state], place, self.dtype)

    def read(self, state: str, place: Index) -> Scalar:
        """A part of the state."""
        return self.nest.b.load(self.pointer(state, place), self.dtype)

    def put(self, state: str, place: Index, x: Scalar) -> None:
        """Change a part of the state."""
        self.nest.b.store(self.pointer(state, place), x)

    @property
    def neutral(self) -> Scalar:
        """What combining begins with."""
        return self.nest.b.constant(IDENTITIES[self.combine](self.dtype), self.dtype)

    def begin(self, place: Index) -> None:
        """Before anything is combined."""
        for state in ("total", "lost") if self.exact else ("run",):
            self.put(state, place, self.neutral)

    def begin_run(self, place: Index) -> None:
        """Before a run."""
        if self.exact:
            self.put("run", place, self.neutral)

    def add(self, x: Scalar, place: Index) -> None:
        """One element."""
        self.put("run", place, self.combined(self.read("run", place), x))

    def combined(self, x: Scalar, y: Scalar) -> Scalar:
        """Two numbers combined, in an order that may be any."""
        b = self.nest.b
        if x.kind == "c" and self.combine == "add":
            return b.complex(*[self.combined(p, q) for p, q in zip(x.code, y.code, strict=True)])
        if x.kind != "f":
            return COMBINE[self.combine](b, x, y)
        flags = ("reassoc", "contract")
        if self.combine == "add":
            return Scalar(x.dtype, b.ir.fadd(x.code, y.code, flags=flags), b)
        if self.combine == "mul":
            return Scalar(x.dtype, b.ir.fmul(x.code, y.code, flags=flags), b)
        intrinsic = {"max": "llvm.maximum", "min": "llvm.minimum"}[self.combine]
        name = f"{intrinsic}.{x.code.type.intrinsic_name}"
        kind = ir.FunctionType(x.code.type, [x.code.type] * 2)
        function = b.ir.module.globals.get(name) or ir.Function(b.ir.module, kind, name)
        return Scalar(x.dtype, b.ir.call(function, [x.code, y.code]), b)

    def settle(self, place: Index) -> None:
        """After a run: add it to the total, and what rounding took to what was lost."""
        if not self.exact:
            return
        run, total = self.read("run", place), self.read("total", place)
        new = total + run
        back = new - total
        self.put("lost", place, self.read("lost", place) + ((total - (new - back)) + (run - back)))
        self.put("total", place, new)

    def leave(self, pointer: Any, place: Index) -> None:
        """Store the state."""
        for i, state in enumerate(self.states):
            self.nest.b.store(shifted(self.nest.b.ir, pointer, i * STATE), self.read(state, place))

    def join(self, pointer: Any, place: Index) -> None:
        """Combine with a state that was left."""
        b = self.nest.b
        left = {
            state: b.load(shifted(b.ir, pointer, i * STATE), self.dtype)
            for i, state in enumerate(self.states)
        }
        if not self.exact:
            self.add(left["run"], place)
            return
        self.put("run", place, left["total"])
        self.settle(place)
        self.put("lost", place, self.read("lost", place) + left["lost"])

    def result(self, place: Index) -> Scalar:
        """The reduction; a sum that is not finite has lost nothing that counts."""
        if not self.exact:
            return self.read("run", place)
        b, total, lost = self.nest.b, self.read("total", place), self.read("lost", place)
        if total.kind == "c":
            pairs = zip(total.code, lost.code, strict=True)
            return b.complex(*[corrected(b, t, e) for t, e in pairs])
        return corrected(b, total, lost)


def corrected(b: LLVMBuilder, total: Scalar, lost: Scalar) -> Scalar:
    """A total with what it lost, where it is finite."""
    return b.select(b.abs(total) < float("inf"), total + lost, total)
