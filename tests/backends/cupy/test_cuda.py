"""The scalar language as CUDA C++: what each row prints, compiled and run, gives NumPy's values."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np
import pytest
from arrayport_backends.cupy.compiler import Launcher
from arrayport_backends.cupy.cuda import CudaBuilder, Source
from arrayport_backends.cupy.nests import NestPrinter
from arrayport_backends.cupy.simulated import backend
from arrayport_backends.ndarray.elements import code_of
from arrayport_backends.ndarray.kernels import Kernel
from arrayport_backends.ndarray.scalars import HALVES, NUMBERS, Scalar
from arrayport_backends.ndarray.table import ROWS
from arrayport_backends.numpy import backend as on_numpy

import arrayport as ap
from arrayport import random
from arrayport.core import dtypes
from arrayport.core.program import Eqn, Program, Var
from arrayport.ops import elementwise as ops
from arrayport.ops import special
from arrayport.ops.bits import bitcast_p
from arrayport.ops.products import dot_general_p
from arrayport.ops.random import fma_p, random_unwrap_p, random_wrap_p, threefry2x32_p
from arrayport.ops.structure import convert_p, full_p
from arrayport.passes.fuse import Nest, fuse
from tests import cuda_host

needs_compiler = pytest.mark.skipif(cuda_host.COMPILER is None, reason="no g++ to stand in")
needs_nvrtc = pytest.mark.skipif(find_spec("cupy_backends") is None, reason="no CuPy, so no NVRTC")

LENGTH = 441
PARAMS: dict[Any, list[dict[str, Any]]] = {
    convert_p: [{"dtype": d, "weak": False} for d in sorted(NUMBERS, key=str)],
    ops.integer_pow_p: [{"n": 3}, {"n": -2}],
}
TAKES = {ops.conj_p: "fc", ops.complex_p: "f"}  # what comes to them
# Whole programs have these, and what holds keys has those.
ELSEWHERE = {full_p, dot_general_p, threefry2x32_p, bitcast_p, random_wrap_p, random_unwrap_p}


def equations() -> Iterator[Eqn]:
    """Every row of one element, of every dtype that it takes."""
    for prim, row in ROWS.items():
        if not isinstance(row, Kernel) or row.scalar is None or prim in ELSEWHERE:
            continue
        names = list(inspect.signature(row.scalar).parameters)[1:]
        choices = PARAMS.get(prim, [{}])
        count = len(names) - len(choices[0])
        for dtype, params in product(sorted(NUMBERS, key=str), choices):
            kinds = [dtypes.bool_ if n == "c" else dtype for n in names[:count]]
            ins = tuple(Var((LENGTH,), d, False) for d in kinds)
            negative = params.get("n", 0) < 0 and dtypes.kind(dtype) in "iu"  # which raises
            taken = dtypes.kind(dtype) in TAKES.get(prim, "biufc") and not negative
            if not (taken and row.fuses(kinds)):
                continue
            try:
                made = prim.abstract(*ins, **params)
            except TypeError:
                continue
            yield Eqn(prim, ins, params, (Var((LENGTH,), made.dtype, False),))


def printed(eqns: Any) -> tuple[Source, list[Any]]:
    """Print a kernel for each equation, in one source; give their launches too."""
    source, found = Source(), []
    for number, eqn in enumerate(eqns):
        program = Program(list(eqn.ins), [eqn], list(eqn.outs))
        (nest,) = fuse(program, backend.language)
        assert isinstance(nest, Nest)
        code = code_of(program, [nest], backend.language)
        found.append(NestPrinter(source, nest, code, f"{eqn.prim.name}_{number}").launches())
    return source, found


# ---- values

SPECIAL = [0.0, 1.0, 0.5, 2.0, 3.0, 2.5, 127.0, 1e30, np.inf, np.nan]
SIGNED = [*SPECIAL, *[-v for v in SPECIAL], 0.7]
RUN = ("bool", "int8", "uint32", "int64", "float16", "bfloat16", "float32", "float64", "complex64")
PERIODIC = {ops.sin_p, ops.cos_p, ops.tan_p}  # of what is large NumPy's own lose digits
EITHER_ZERO = {ops.max_p, ops.min_p, fma_p}
NEAR_ROOT = {special.lgamma_p, special.digamma_p}
ULPS = 8


def values(dtype: Any) -> np.ndarray:
    """So many numbers that each meets each in two arrays, the second transposed."""
    kind = dtypes.kind(dtype)
    if kind == "f":
        with np.errstate(over="ignore"):
            return np.array(SIGNED).astype(dtype)
    if kind == "c":
        parts = [0.0, -0.0, 1.0, -2.5, 0.5, np.inf, np.nan]
        return np.array([complex(x, y) for x in parts[:3] for y in parts]).astype(dtype)
    if kind == "b":
        return np.arange(21) % 2 == 0
    limits, width = np.iinfo(dtype), 8 * dtype.itemsize
    edges = {0, 1, 2, 3, 5, 7, width - 1, width, width + 1, limits.max, limits.max - 1}
    edges |= {v for v in (-1, -2, -3, -7, limits.min, limits.min + 1) if limits.min < 0}
    some = np.random.default_rng(3).integers(limits.min, limits.max, 21 - len(edges), dtype)
    return np.concatenate([np.array(sorted(edges), dtype), some])


def operands(eqn: Eqn) -> list[np.ndarray]:
    """Operands of an equation."""
    found = []
    for k, a in enumerate(eqn.ins):
        x = values(a.dtype)
        if eqn.prim in PERIODIC and dtypes.kind(a.dtype) == "f":
            x = np.where(np.isfinite(x) & (np.abs(x.astype("f8")) > 1e20), a.dtype.type(3), x)
        grid = np.meshgrid(x, x)[k % 2]
        found.append(np.roll(grid, k // 2, 0).ravel())
    return found


@cache
def kernels() -> list[tuple[Eqn, Any, Launcher]]:
    """Give the equations that are run, what each reads in this order, and what launches it."""
    eqns = [eqn for eqn in equations() if eqn.ins[0].dtype.name in RUN]
    source, launches = printed(eqns)
    module = cuda_host.Host()(str(source))
    return [
        (eqn, each.reads, Launcher(backend, module, each))
        for eqn, each in zip(eqns, launches, strict=True)
    ]


def wanted(eqn: Eqn, raws: list[np.ndarray]) -> np.ndarray:
    """Give what NumPy's row does, rounded once where it computes in a wider dtype."""
    row, (out,) = ROWS[eqn.prim], eqn.outs
    if not row.moves:
        raws = [x.astype(np.float32) if x.dtype in HALVES else x for x in raws]
    with np.errstate(all="ignore"):
        return np.asarray(row.bind(on_numpy)(*raws, **eqn.params)).astype(out.dtype)


def agree(eqn: Eqn, got: np.ndarray, want: np.ndarray) -> None:
    """Compare: special values exactly, the others to some ulps."""
    kind = dtypes.kind(got.dtype)
    if kind in "biu":
        np.testing.assert_array_equal(got, want)
        return
    if kind == "c":
        for g, w in ((got.real, want.real), (got.imag, want.imag)):
            np.testing.assert_allclose(g, w, rtol=1e-5, atol=1e-6)
        return
    eps = float(dtypes.finfo(got.dtype).eps)
    got, want = got.astype(np.float64), want.astype(np.float64)
    if eqn.prim not in EITHER_ZERO:
        numbers = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(want)[numbers])
    rtol = ULPS * eps * (16 if eqn.prim in NEAR_ROOT else 1)
    np.testing.assert_allclose(got, want, rtol=rtol, atol=0)


@needs_compiler
@pytest.mark.parametrize("dtype", RUN)
def test_rows_give_numpy_values(dtype):
    failed = []
    for eqn, reads, launcher in kernels():
        if eqn.ins[0].dtype.name != dtype and eqn.ins[-1].dtype.name != dtype:
            continue
        raws = operands(eqn)
        given = dict(zip(eqn.ins, map(backend.asarray, raws), strict=True))
        (got,) = launcher(*[given[a] for a in reads])
        try:
            agree(eqn, got.get(), wanted(eqn, raws))
        except AssertionError as error:
            failed.append(f"{eqn.prim.name} {eqn.params}: {error}")
    assert not failed, "\n".join(failed)


@needs_nvrtc
def test_every_row_compiles_for_a_device():
    source, _ = printed(equations())
    cuda_host.cubin(str(source))


# ---- the printer


def lines(*kinds: Any) -> tuple[CudaBuilder, list[Scalar]]:
    """Make a printer, and operands of these dtypes."""
    b = CudaBuilder(Source())
    return b, [Scalar(d, f"x{k}", b) for k, d in enumerate(kinds)]


def test_contracted_sums_are_written_as_fmas_of_the_later_product():
    b, (x, y) = lines(dtypes.float32, dtypes.float32)
    total = x + y
    early, late = b.mul(x, x.like(3), contract=True), b.mul(total, y, contract=True)
    b.sub(early, late, contract=True)
    assert b.lines[-1].endswith(f"= fmaf(-{total.code}, {y.code}, {early.code});")
    b.add(x * y, late * 2.0, contract=True)  # products that may not
    assert "fma" not in b.lines[-1]


def test_constants_are_exact():
    b, _ = lines()
    assert b.literal(0.1, dtypes.float64).code == "0x1.999999999999ap-4"
    assert b.literal(-np.inf, dtypes.float32).code == "(-__int_as_float(0x7f800000))"
    assert b.literal(-(2**63), dtypes.int64).code == "(-9223372036854775807ll - 1)"
    assert b.literal(2**64 - 1, dtypes.uint64).code == "18446744073709551615ull"
    assert b.literal(-1, dtypes.int8).code == "(-1)"


def test_keys_are_integers_of_all_their_bits():
    program = ap.jit(random.split).trace(random.key(0)).program
    assert "calls" not in backend.text(program, "schedule")
    assert "u64* __restrict__ out" in backend.text(program, "cuda")
