"""Costs: what an element takes, as instructions of code and as time in the library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from arrayport.core import dtypes
from arrayport_backends.ndarray.kernels import Kernel
from arrayport_backends.ndarray.scalars import Builder, DType, Scalar

# A Program is compiled when its runs so far have cost this part of what compiling it will: who jits
# a function means to call it often. Both are estimates, in nanoseconds, and no clock is read, so
# that the same script always gives the same digits.
PATIENCE = 0.1

# Instructions that take as long as several.
SLOW = {"div": 4, "rem": 4, "sqrt": 4}
# Nanoseconds that the library takes in addition for every value of 16 bits, which it widens or
# rounds, and how many times as many for a complex number.
WIDENING = {dtypes.bfloat16: 0.5, dtypes.float16: 3.5}
COMPLEX = 6.0


class Counter(Builder):
    """A printer that prints nothing: it counts the instructions."""

    def __init__(self) -> None:
        self.count = 0

    def operate(self, name: str, dtype: DType, *_xs: Scalar) -> Scalar:
        self.count += SLOW.get(name, 1)
        return Scalar(dtype, None, self)

    def literal(self, _value: Any, dtype: DType) -> Scalar:
        return Scalar(dtype, None, self)

    def rare(
        self, _suspect: Scalar, _slow: Callable[..., Scalar], y: Scalar, *_xs: Scalar
    ) -> Scalar:
        self.count += 2
        return y

    def table(self, values: np.ndarray[Any, Any], _index: Scalar) -> Scalar:
        self.count += 2
        return Scalar(values.dtype, None, self)

    def operand(self, dtype: DType) -> Scalar:
        """A value from memory."""
        if dtype.kind == "c":
            return self.constant(0, dtype)
        return self.literal(0, dtype)


def instructions(
    row: Kernel, ins: Iterable[DType], outs: Sequence[DType], params: dict[str, Any]
) -> int:
    """Count the instructions of one element's code."""
    counter = Counter()
    row.emit(counter, [counter.operand(d) for d in ins], outs, **params)
    return counter.count


def nanoseconds(row: Kernel, ins: Iterable[DType], out: DType) -> float:
    """Say how long the library takes for one element, roughly."""
    values = [*ins, out]
    price = row.price * (COMPLEX if any(d.kind == "c" for d in values) else 1)
    return price + sum(WIDENING.get(d, 0) for d in values)
