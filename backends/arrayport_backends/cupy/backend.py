"""CupyBackend: what the real and the simulated CuPy have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.backend import Device
from arrayport.core.primitive import Callback, Holder, Primitive
from arrayport.core.program import Program, Var
from arrayport_backends.cupy import (
    elementwise,
    indexing,
    linalg,
    random,
    reductions,
    sorting,
    special,
    structure,
)
from arrayport_backends.cupy.compiler import CupyExecutor, text
from arrayport_backends.ndarray.backend import ArrayBackend
from arrayport_backends.ndarray.kernels import Lib, Rows, merged
from arrayport_backends.ndarray.language import KernelLanguage
from arrayport_backends.ndarray.scalars import DType
from arrayport_backends.ndarray.table import ROWS

OWN: Rows = merged(
    ROWS,
    structure.ROWS,
    elementwise.ROWS,
    special.ROWS,
    reductions.ROWS,
    indexing.ROWS,
    sorting.ROWS,
    linalg.ROWS,
    random.ROWS,
)


class CupyBackend(ArrayBackend):
    """Arrays on a CUDA device; host arrays come and go by explicit copies only."""

    module: Callable[[str], Any] | None = None  # kernels, by `get_function`, of CUDA C++
    warned = False

    def __init__(self, lib: Lib, raw_type: type, devices: list[Device]) -> None:
        super().__init__(lib, OWN, raw_type, devices)
        self.language = KernelLanguage(ROWS)  # an element is what it is by whatever function
        assert isinstance(lib.keys, type)
        self.raw_types = (raw_type, lib.keys)

    def asarray(self, host: np.ndarray[Any, Any], device: Device | None = None) -> Any:
        return self.lib.asarray(host)

    def widens(self, prim: Primitive, operands: Iterable[DType]) -> bool:
        """Of keys CuPy moves the bits; what holds a Program gives it the keys."""
        bits = any(map(dtypes.is_key, operands)) and not isinstance(prim, Holder | Callback)
        return bits or super().widens(prim, operands)

    def compile(self, program: Program, owned: Sequence[Var] = ()) -> CupyExecutor:
        return CupyExecutor(self, program, owned)

    def text(self, program: Program, dialect: str) -> str:
        if dialect not in {"schedule", "cuda"}:
            return super().text(program, dialect)
        return text(program, self, dialect)

    def to_numpy(self, raw: Any) -> np.ndarray[Any, Any]:
        return raw.get()
