"""NumpyBackend: arrays on the host, kernels of NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayport.control.loops import while_p
from arrayport.control.scanning import scan_p
from arrayport.core import dtypes
from arrayport.core.array import Array, aval_of
from arrayport.core.backend import Device
from arrayport.core.lazy import Lazy
from arrayport.core.primitive import ERRORS, UNCOMMON, Primitive
from arrayport.core.program import Eqn, Program, Var, inner_programs, interprets
from arrayport.core.quiet import QUIET, error_state, quiet, reset_errors, set_errors
from arrayport_backends.ndarray.backend import ArrayBackend
from arrayport_backends.ndarray.kernels import Kernel, Lib
from arrayport_backends.ndarray.table import ROWS
from arrayport_backends.numpy import llvm, pool
from arrayport_backends.numpy.compiler import NumpyExecutor, text
from arrayport_backends.numpy.signatures import first_like, large

LOOPS = frozenset({scan_p, while_p})


def keys(bits: Any) -> Any:
    """Typed keys of their bits, in the same memory."""
    return bits.view(dtypes.key)


class NumpyBackend(ArrayBackend):
    """NumPy: eager calls of one or two plain arrays find their kernel on the primitive itself."""

    overwrites = pool.LARGE

    def __init__(self) -> None:
        lib = Lib(
            "numpy",
            np,
            Lazy("scipy.special"),
            Lazy("scipy.linalg"),
            Lazy("scipy.fft"),
            keys,
        )
        super().__init__(lib, ROWS, np.ndarray, [Device("numpy", "cpu")])
        for prim, row in ROWS.items():
            if isinstance(row, Kernel) and not prim.many:
                prim.offer(row.bind(self))

    def execute(self, prim: Primitive, args: Sequence[Array], params: dict[str, Any]) -> Any:
        """The general way, shortened for the common case of one output and plain dtypes."""
        kernel = prim.numpy_kernel
        raws = [a.raw for a in args]
        if kernel is None or any([r.dtype.num >= UNCOMMON for r in raws]):  # noqa: C419 - quicker
            if prim in LOOPS and not interprets() and not any(map(large, inner_programs(params))):
                return self.whole(prim, args, params)
            return super().execute(prim, args, params)
        token = None if error_state() is QUIET else set_errors(QUIET)
        try:
            out = kernel(*raws, **params)
        except ERRORS:
            prim.abstract(*args, **params)  # says what is wrong with the operands, if anything
            raise
        finally:
            if token is not None:
                reset_errors(token)
        keeps = prim.keeps_weak
        weak = all([a.weak for a in args]) if keeps else params.get("weak", False)  # noqa: C419
        return Array(out if type(out) is np.ndarray else np.asarray(out), weak)

    @quiet
    def whole(self, prim: Primitive, args: Sequence[Array], params: dict[str, Any]) -> list[Array]:
        """Run a loop outside of every Program as a Program, the first of its kind.

        So a loop whose body is traced anew at each call is compiled, and that once.
        """
        ins = [aval_of(a) for a in args]
        others = tuple([(k, v) for k, v in params.items() if type(v) is not Program])

        def make() -> Program:
            names = [Var(*a) for a in ins]
            outs = tuple([Var(*a) for a in prim.abstract(*args, **params)])
            return first_like(Program(names, [Eqn(prim, tuple(names), params, outs)], outs))

        program = params["body"].derive(("whole", prim, *ins, *others), make)
        raws = program.run(self)(*[a.raw for a in args])
        return [Array(raw, v.weak) for raw, v in zip(raws, program.outs, strict=True)]

    def compile(self, program: Program, owned: Sequence[Var] = ()) -> NumpyExecutor:
        return NumpyExecutor(self, program, owned)

    def alone(self, array: Array) -> bool:
        return pool.alone(array)

    def text(self, program: Program, dialect: str) -> str:
        if dialect == "cuda" or not llvm.available():
            return super().text(program, dialect)
        return text(program, self, dialect)

    def operand(self, raw: Any) -> Any:
        return raw

    def asarray(self, host: np.ndarray[Any, Any], device: Device | None = None) -> Any:
        return np.array(host)

    def to_numpy(self, raw: Any) -> np.ndarray[Any, Any]:
        return raw

    def array(self, raw: Any) -> Any:
        return np.asarray(raw)


backend = NumpyBackend()
