"""Kernel, the row of NumPy's and CuPy's tables, and how it becomes a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from arrayport.core import dtypes
from arrayport.core.backend import Refusal
from arrayport.core.primitive import Primitive
from arrayport_backends.ndarray.scalars import DTYPES, HALVES, Builder, DType, Scalar

if TYPE_CHECKING:
    from arrayport_backends.ndarray.backend import ArrayBackend

WIDE: Mapping[np.dtype[Any], np.dtype[Any]] = {
    **dict.fromkeys(dtypes.NARROW, dtypes.float32),
    **dict.fromkeys((dtypes.int2, dtypes.int4), dtypes.int8),
    **dict.fromkeys((dtypes.uint2, dtypes.uint4), dtypes.uint8),
}


@dataclass(frozen=True)
class Lib:
    """An array library to bind kernels to."""

    name: str
    xp: Any  # the array namespace: numpy, cupy, simulated cupy
    special: Any  # scipy.special or its like, loaded on first use
    scipy_linalg: Any  # scipy.linalg or its like, loaded on first use
    fft: Any  # scipy.fft or its like, loaded on first use
    keys: Callable[[Any], Any]  # typed random keys of their bits, unsigned integers of 64

    def asarray(self, raw: Any) -> Any:
        """An array of this library, if need be a copy of one on the host."""
        if dtypes.is_key(raw.dtype):
            return self.keys(self.xp.asarray(raw.view(np.uint64)))
        return self.xp.asarray(raw)

    def empty(self, shape: tuple[int, ...], dtype: DType) -> Any:
        """A new array, of numbers or of typed keys."""
        if dtypes.is_key(dtype):
            return self.keys(self.xp.empty(shape, np.uint64))
        return self.xp.empty(shape, dtype)


@dataclass(frozen=True)
class Kernel:
    """How a primitive runs on raw arrays: a name in `xp`, or a function `(lib, *raws, **params)`.

    A kernel never writes to its operands; the executor of Programs reads from the other fields what
    else is safe.
    """

    run: str | Callable[..., Any]
    ufunc: bool = False  # takes `out=`, which may be one of its operands
    view: bool = False  # the answer may share memory with the first operand
    moves: bool = False  # only moves elements: any dtype goes through as it is
    programs: bool = False  # runs Programs: `run` takes the backend in the place of its library
    # (lib, base, *rest, **params): the same, written into base.
    inplace: Callable[..., Any] | None = None
    # (builder, *scalars, **params): one element's code, or one each of several answers; see `emit`.
    scalar: Callable[..., Scalar | list[Scalar]] | None = None
    kinds: str = "biufc"  # of the operands that `scalar` takes; see `fuses`
    price: float = 0.3  # nanoseconds that `run` takes for one float64 on NumPy, roughly

    def bind(self, backend: ArrayBackend) -> Callable[..., Any]:
        """The kernel as a function of a backend's raw arrays."""
        if isinstance(self.run, str):
            return reduce(getattr, self.run.split("."), backend.lib.xp)  # type: ignore[return-value]
        return partial(self.run, backend if self.programs else backend.lib)

    def fuses(self, operands: Iterable[DType]) -> bool:
        """Whether `emit` takes operands of these dtypes."""
        return self.scalar is not None and all(
            d in DTYPES and dtypes.kind(d) in self.kinds for d in operands
        )

    def emit(
        self, b: Builder, xs: Sequence[Scalar], outs: Sequence[DType], /, **params: Any
    ) -> list[Scalar]:
        """One element's code, with the answers' dtypes: 16-bit floats compute as float32."""
        assert self.scalar is not None
        if not self.moves:
            b.contracts = HALVES.isdisjoint(x.dtype for x in xs)
            xs = [b.cast(x, dtypes.float32) if x.dtype in HALVES else x for x in xs]
        made = self.scalar(b, *xs, **params)
        found = made if isinstance(made, list) else [made]
        if self.moves:
            return found
        return [b.cast(x, dtype) for x, dtype in zip(found, outs, strict=True)]


Rows = Mapping[Primitive, Kernel | Refusal]


def ufunc(
    name: str,
    scalar: Callable[..., Scalar] | None = None,
    kinds: str = "biufc",
    price: float = Kernel.price,
) -> Kernel:
    """A row for an elementwise function that `xp` has under this name and that takes `out=`."""
    return Kernel(name, ufunc=True, scalar=scalar, kinds=kinds, price=price)


def widened(
    lib: Lib, kernel: Callable[..., Any], outs: Sequence[np.dtype[Any]], many: bool
) -> Callable[..., Any]:
    """A kernel that computes on floats and integers of few bits as wider ones, and rounds once.

    Typed keys it takes and gives as integers of all their bits.
    """

    def run(*raws: Any, **params: Any) -> Any:
        made = kernel(*map(_wide, raws), **params)
        if not many:
            return _narrow(lib, made, outs[0])
        return [_narrow(lib, m, d) for m, d in zip(made, outs, strict=True)]

    return run


def _wide(raw: Any) -> Any:
    """An operand as what it computes as."""
    if dtypes.is_key(raw.dtype):
        return raw.view(np.uint64)
    return raw.astype(WIDE.get(raw.dtype, raw.dtype), copy=False)


def _narrow(lib: Lib, made: Any, dtype: np.dtype[Any]) -> Any:
    """An answer in the dtype that it is to have."""
    if made.dtype == dtype:
        return made
    return lib.keys(made) if dtypes.is_key(dtype) else made.astype(dtype)


def merged(*tables: Rows) -> dict[Primitive, Kernel | Refusal]:
    """One table of several, the later ones first in rank."""
    whole: dict[Primitive, Kernel | Refusal] = {}
    for table in tables:
        whole.update(table)
    return whole
