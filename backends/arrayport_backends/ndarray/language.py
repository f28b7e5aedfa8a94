"""Which equations kernels can compute, and at what cost, by the rows of a backend's table."""

from __future__ import annotations

from math import prod
from typing import Any

from arrayport.core import dtypes
from arrayport.core.primitive import params_key
from arrayport.core.program import Eqn
from arrayport.ops import slices, windows
from arrayport.passes.forms import Folded, Form, Pointwise
from arrayport.passes.fuse import axes_over, lanes_of
from arrayport.passes.indices import Indices
from arrayport_backends.ndarray.costs import instructions, nanoseconds
from arrayport_backends.ndarray.forms import FORMS, pointwise
from arrayport_backends.ndarray.kernels import Kernel, Rows
from arrayport_backends.ndarray.scalars import DTYPES, DType

COVERING = 4  # an update of more than this part of the base goes through all of it
PARTS = 16  # operands from which joining is left to the library
UPDATES = frozenset(
    {slices.slice_set_p, slices.slice_add_p, windows.dynamic_update_slice_p, windows.scatter_all_p}
)


class KernelLanguage:
    """The scalar functions of a table's rows, and the forms of what has none."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.fused: dict[Any, bool] = {}
        self.costs: dict[Any, int] = {}

    def row(self, eqn: Eqn) -> Kernel:
        """The row of an elementwise equation."""
        row = self.rows[eqn.prim]
        assert isinstance(row, Kernel)
        return row

    def elementwise(self, eqn: Eqn) -> bool:
        """Whether the table says what one element is."""
        key = (eqn.prim, tuple([a.dtype for a in eqn.ins]))
        found = self.fused.get(key)
        if found is None:
            row = self.rows.get(eqn.prim)
            found = self.fused[key] = isinstance(row, Kernel) and row.fuses(key[1])
        return found

    def fusable(self, eqn: Eqn) -> bool:
        """Whether kernels can compute an equation."""
        if not eqn.outs or any(0 in a.shape for a in (*eqn.ins, *eqn.outs)):
            return False
        return self.form(eqn, axes_over(eqn.outs[0].shape)) is not None

    def form(self, eqn: Eqn, at: Indices) -> Form | None:
        """Say how an element of each answer is made; None if only a library call makes it."""
        if any(a.dtype not in DTYPES for a in (*eqn.ins, *eqn.outs)):
            return None
        rule = FORMS.get(eqn.prim)
        if rule is None:
            return pointwise(eqn, at) if self.elementwise(eqn) else None
        if len(eqn.ins) > PARTS:
            return None
        if eqn.prim in UPDATES and lanes_of(eqn.outs[0].shape) and not _covers(eqn):
            return None  # in place it is quicker
        form = rule(eqn, at)
        if isinstance(form, Folded) and not combines(form.combine, eqn.outs[0].dtype):
            return None
        return form

    def cost(self, eqn: Eqn) -> int:
        """Give the instructions an element takes, roughly."""
        row, ins, outs = self.row(eqn), [a.dtype for a in eqn.ins], [v.dtype for v in eqn.outs]
        if eqn.prim in FORMS:
            if row.scalar is None:
                return 1 if eqn.prim.name.startswith("reduce") else 0
            form = self.form(eqn, axes_over(eqn.outs[0].shape))
            if isinstance(form, Pointwise):
                ins = [p.atom.dtype for p in form.places] + [dtypes.int64] * len(form.indices)
        key = (eqn.prim, tuple(ins), tuple(outs), params_key(eqn.params))
        found = self.costs.get(key)
        if found is None:
            found = self.costs[key] = instructions(row, ins, outs, eqn.params)
        return found

    def price(self, eqn: Eqn) -> float:
        """Give the nanoseconds that the library takes for an element, roughly."""
        return nanoseconds(self.row(eqn), [a.dtype for a in eqn.ins], eqn.outs[0].dtype)


def _covers(eqn: Eqn) -> bool:
    """Whether an update writes so much that going through the whole base costs no more."""
    base, *parts = eqn.ins
    return sum(prod(a.shape) for a in parts) * COVERING >= prod(base.shape)


def combines(how: str, dtype: DType) -> bool:
    """Whether kernels combine elements of a dtype as the library does; nothing is to replace."""
    kind = dtypes.kind(dtype)
    if kind == "c":
        return how in {"", "add", "mul"}
    return kind != "b" or how not in {"add", "mul"}
