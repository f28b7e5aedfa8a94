"""Random programs of up to sixty equations, as machine code and by their interpreter.

ARRAYPORT_TEST_PROGRAMS says how many, and which is the first: `10000` or `10000:500`.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import pytest
from arrayport_backends.ndarray.executor import Routine
from arrayport_backends.numpy import compiler, llvm
from arrayport_backends.numpy.codegen import entry, sharing
from arrayport_backends.numpy.codegen.entry import Slow

import arrayport as ap
from arrayport.core import dtypes
from arrayport.core.array import Array
from arrayport.core.backend import get
from arrayport.core.program import Eqn, Program, eval_program
from tests.backends.numpy.compositions import composed

pytestmark = [
    pytest.mark.skipif(not llvm.available(), reason="there is nothing to test without LLVM"),
    pytest.mark.usefixtures("at_once"),
]

COUNT, _, FIRST = os.environ.get("ARRAYPORT_TEST_PROGRAMS", "40").partition(":")
SEEDS = range(int(FIRST or 0), int(FIRST or 0) + int(COUNT))
GUARDED = 5  # one in so many runs between pages that may not be touched
SHARED = 3  # one in so many shares every loop among threads
DONATED = 4  # one in so many runs over its operands as well

ULPS = 200  # of the largest value
FEW = 8  # the same of 16-bit floats
WIDE = {"f": np.float64, "c": np.complex128}


# ---- how they are compared


def shaken(seed: int, raws: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Move floats by a unit in the last place, to see how far that carries."""
    draw = np.random.default_rng(seed)

    def moved(x: np.ndarray) -> np.ndarray:
        if dtypes.kind(x.dtype) == "c":
            return np.asarray(moved(x.real) + 1j * moved(x.imag))
        beyond = np.where(draw.random(x.shape) < 0.5, -np.inf, np.inf).astype(x.dtype)
        return np.asarray(np.nextafter(x, beyond))

    return [moved(x) if dtypes.kind(x.dtype) in WIDE else x for x in raws]


def widened(x: np.ndarray) -> np.ndarray:
    """Give what NumPy compares, NaN with NaN."""
    return x.astype(WIDE.get(dtypes.kind(x.dtype), x.dtype))


def compilable(eqn: Eqn) -> bool:
    """Whether an equation has elements, and is surely no call of a library."""
    full = all(0 not in a.shape for a in (*eqn.ins, *eqn.outs))
    return full and eqn.prim.name in {"add", "mul", "neg", "reduce_sum", "tanh"}


def values_of(program: Program, raws: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Interpret a Program."""
    return [np.asarray(y.raw) for y in eval_program(program, [Array(x) for x in raws])]


def agreed(seed: int, program: Program, raws: Sequence[np.ndarray], got: Sequence[Any]) -> None:
    """Compare: some units of the last place of the largest value, more where that is unstable."""
    want = values_of(program, raws)
    others = [values_of(program, shaken(seed + k, raws)) for k in range(2)]
    for g, w, *moved_ones in zip(got, want, *others, strict=True):
        assert (g.shape, g.dtype) == (w.shape, w.dtype)
        if dtypes.kind(w.dtype) not in WIDE:
            np.testing.assert_array_equal(g, w)
            continue
        ulps = FEW if w.dtype.itemsize == 2 else ULPS
        eps = float(dtypes.finfo(w.dtype).eps)
        # What is allowed may be more than float32 holds.
        g, w, *moved_ones = map(widened, (g, w, *moved_ones))  # noqa: PLW2901
        scale = float(np.max(np.abs(w), initial=1, where=np.isfinite(w)))
        spread = max(float(np.max(np.nan_to_num(np.abs(m - w)), initial=0)) for m in moved_ones)
        allowed = min(ulps * (eps * scale + spread), float(np.finfo(np.float64).max))
        np.testing.assert_allclose(g, w, rtol=ulps * eps, atol=allowed)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed % SHARED == 0:
        monkeypatch.setattr(sharing, "GRAIN", 0)
        monkeypatch.setattr(sharing, "PIECE", 1)
    with ap.config.override("enable_x64", True), np.errstate(all="ignore"):
        program, raws = composed(seed)
        executor = get("numpy").compile(program)
        first = executor.run(*raws)
        assert any(isinstance(e.prim, Routine) for e in executor.program.eqns) or not any(
            map(compilable, program.eqns)
        )
        agreed(seed, program, raws, first)
        again = guarded(seed, executor, raws) if seed % GUARDED == 0 else executor.run(*raws)
        for x, y in zip(first, again, strict=True):
            np.testing.assert_array_equal(widened(x), widened(y))
        if seed % DONATED == 0:
            for module in (compiler, entry):
                monkeypatch.setattr(module, "LARGE", 0)
            owner = get("numpy").compile(program, program.ins)
            agreed(seed, program, raws, owner.run(*[x.copy() for x in raws]))


# ---- pages that may not be touched

libc = ctypes.CDLL(None)
FORBIDDEN = 0  # a page's protection: nothing may be done


class Page:
    """Memory that ends, or begins, where a page may not be touched."""

    def __init__(self, size: int, *, first: bool) -> None:
        page = mmap.PAGESIZE
        whole = -(-max(size, 1) // page) * page
        self.map = mmap.mmap(-1, whole + 2 * page)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        for forbidden in (self.address, self.address + page + whole):
            assert libc.mprotect(ctypes.c_void_p(forbidden), page, FORBIDDEN) == 0
        self.at = page if first else page + whole - size

    def array(self, shape: Sequence[int], dtype: Any) -> np.ndarray:
        """Lay an array there."""
        return np.ndarray(shape, dtype, self.map, self.at)


def guarded(seed: int, executor: Any, raws: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Run a compiled Program, what its code reads and stores lying beside forbidden pages."""
    first, slots = bool(seed % (2 * GUARDED)), dict(enumerate(raws)) | executor.literals
    for step in executor.steps:
        args = [slots[i] for i in step.ins]
        slow = getattr(step.kernel, "__self__", None)
        if isinstance(slow, Slow):
            made = between_pages(slow, args, first=first)
        else:
            made = step.kernel(*args, **step.params)
        slots |= zip(step.outs, made if step.many else [made], strict=False)
    return [np.asarray(slots[i]) for i in executor.outs]


def between_pages(slow: Slow, args: Sequence[Any], *, first: bool) -> list[np.ndarray]:
    """Run machine code on copies of its operands."""
    places = [*[(x.shape, x.dtype) for x in args], *slow.stored]
    pages = [Page(prod(shape) * dtype.itemsize, first=first) for shape, dtype in places]
    arrays = [page.array(*place) for page, place in zip(pages, places, strict=True)]
    for copy, x in zip(arrays, args, strict=False):
        copy[...] = x
    slow.call([array.ctypes.data for array in arrays])
    for copy, x in zip(arrays, args, strict=False):
        np.testing.assert_array_equal(widened(copy), widened(x))
    return arrays[len(args) :]
