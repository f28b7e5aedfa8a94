"""Which loop of a ufunc CuPy runs, by the dtypes of its operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

DType = np.dtype[Any]
Kind = Any  # an operand's dtype, or int, float, complex for a Python scalar, whose dtype is weak

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
LETTERS = {"E": BFLOAT16}  # which NumPy does not know
STRONG: dict[Any, DType] = {
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}
RANKS = {"b": 0, "i": 1, "u": 1, int: 1, float: 2, complex: 2}
COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}


@dataclass(frozen=True)
class Loop:
    """The dtypes one compiled loop takes and gives."""

    ins: tuple[DType, ...]
    outs: tuple[DType, ...]


@cache
def parse(text: str) -> Loop:
    """Read a loop as `ufunc.types` writes it.

    >>> parse("F->f").outs
    (dtype('float32'),)
    """
    ins, outs = ([LETTERS.get(c) or np.dtype(c) for c in side] for side in text.split("->"))
    return Loop(tuple(ins), tuple(outs))


def pick(name: str, loops: Sequence[Loop], kinds: Sequence[Kind]) -> Loop | None:
    """Find the first loop that all operands can be cast to; None if CuPy refuses these.

    A Python scalar takes the array operands' dtype if its kind is not above theirs, else it counts
    as 64-bit. A Python float does not leave bfloat16 as it is.

    >>> loops = [parse(t) for t in "qq->q EE->E ff->f dd->d".split()]
    >>> pick("multiply", loops, (np.dtype(np.float32), float)).outs
    (dtype('float32'),)
    >>> pick("multiply", loops, (BFLOAT16, float)).outs
    (dtype('float32'),)
    """
    if name in COMPARISONS:  # so that an integer literal out of the other's range compares truly
        kinds = _strong_integers(kinds)
    weak = _weak_counts(kinds)
    for loop in loops:
        if all(_fits(k, d, weak=weak) for k, d in zip(kinds, loop.ins, strict=True)):
            return loop
    return None


def pick_by_result(loops: Sequence[Loop], dtype: DType) -> Loop | None:
    """Find the first loop whose results all have the dtype that was asked for by `dtype=`."""
    for loop in loops:
        if all(out == dtype for out in loop.outs):
            return loop
    return None


def _fits(kind: Kind, dtype: DType, *, weak: bool) -> bool:
    strong: Any = STRONG.get(kind, kind)
    if np.can_cast(strong, dtype):
        return True
    if not weak or kind not in STRONG:
        return False
    try:
        return np.result_type(kind(0), dtype) == dtype
    except TypeError:
        return False


def _weak_counts(kinds: Sequence[Kind]) -> bool:
    weak = [RANKS[k] for k in kinds if k in STRONG]
    strong = [RANKS.get(k.kind, 2) for k in kinds if k not in STRONG]
    return bool(weak and strong) and max(strong) >= max(weak)


def _strong_integers(kinds: Sequence[Kind]) -> Sequence[Kind]:
    arrays = [k for k in kinds if k not in STRONG]
    if all(k.kind in "iu" for k in arrays):
        return [STRONG[int] if k is int else k for k in kinds]
    return kinds
