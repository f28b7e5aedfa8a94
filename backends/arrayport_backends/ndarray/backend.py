"""ArrayBackend, the form of the backends whose arrays behave as NumPy's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from arrayport.core.array import Array
from arrayport.core.backend import Backend, Device, Refusal
from arrayport.core.config import virtual_device_count
from arrayport.core.primitive import ERRORS, UNCOMMON, Primitive, out_avals
from arrayport.core.program import Program, Var
from arrayport.core.quiet import QUIET, error_state, reset_errors, set_errors
from arrayport_backends.ndarray.executor import Executor
from arrayport_backends.ndarray.kernels import Kernel, Lib, Rows, widened
from arrayport_backends.ndarray.language import KernelLanguage
from arrayport_backends.ndarray.scalars import DType


@cache
def counted(first: Device, count: int) -> tuple[Device, ...]:
    """A device that counts as so many."""
    return tuple([Device(first.backend, first.platform, i) for i in range(count)])


class ArrayBackend(Backend):
    """A backend made of a table of kernels and an array library."""

    raw_type: type
    lib: Lib
    virtual = True  # whether the one device counts as so many as an option says

    def __init__(self, lib: Lib, rows: Rows, raw_type: type, devices: Sequence[Device]) -> None:
        self.name = lib.name
        self.lib = lib
        self.rows = rows
        self.language = KernelLanguage(rows)
        self.raw_type = raw_type
        self.raw_types: tuple[type, ...] = (raw_type,)  # those that no other library has
        self._devices = list(devices)
        self.kernels = {
            p: row if isinstance(row, Refusal) else row.bind(self) for p, row in rows.items()
        }

    def owns(self, cls: type) -> bool:
        return issubclass(cls, self.raw_types)

    def devices(self) -> list[Device]:
        first = self._devices[0]
        if self.virtual:
            return list(counted(first, virtual_device_count()))
        return list(self._devices)

    def device_of(self, raw: Any) -> Device:
        return self._devices[0]

    def operand(self, raw: Any) -> Any:
        """A raw operand of this library; scalars on the host are brought over."""
        return raw if isinstance(raw, self.raw_types) else self.asarray(raw)

    def widens(self, prim: Primitive, operands: Iterable[DType]) -> bool:
        """Whether a primitive's kernel is `widened` for dtypes of which some are uncommon."""
        row = self.rows[prim]
        return isinstance(row, Kernel) and not row.moves

    def execute(self, prim: Primitive, args: Sequence[Array], params: dict[str, Any]) -> Any:
        kernel = self.kernel(prim)
        raws = [self.operand(a.raw) for a in args]
        found = [r.dtype for r in raws]
        if any(d.num >= UNCOMMON for d in found) and self.widens(prim, found):
            outs = [a.dtype for a in out_avals(prim, args, params)]
            kernel = widened(self.lib, kernel, outs, prim.many)
        token = None if error_state() is QUIET else set_errors(QUIET)
        try:
            out = kernel(*raws, **params)
        except ERRORS:
            prim.abstract(*args, **params)  # says what is wrong with the operands, if anything
            raise
        finally:
            if token is not None:
                reset_errors(token)
        if prim.many:
            if out and isinstance(out[0], Array):  # a function that was never staged
                return out
            weak = [a.weak for a in prim.abstract(*args, **params)]
            return [Array(self.array(o), w) for o, w in zip(out, weak, strict=True)]
        weak_out = all(a.weak for a in args) if prim.keeps_weak else params.get("weak", False)
        return Array(out if type(out) is self.raw_type else self.array(out), weak_out)

    def array(self, raw: Any) -> Any:
        """A kernel's answer as an array: NumPy gives scalars for rank 0."""
        return self.operand(raw)

    def compile(self, program: Program, owned: Sequence[Var] = ()) -> Executor:
        return Executor(self, program, owned)
