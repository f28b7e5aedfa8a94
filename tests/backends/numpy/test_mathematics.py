"""The scalar language's functions, compiled: their errors in ulps, special values, vectors."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special as sp
from arrayport_backends.ndarray.table import ROWS
from arrayport_backends.numpy import backend, instructions, llvm, outlines

from arrayport.core import dtypes
from arrayport.core.array import Aval
from arrayport.ops import elementwise as ops
from arrayport.ops import special
from arrayport.ops.bits import clz_p
from arrayport.ops.random import quick_erf_inv_p
from arrayport.ops.structure import convert_p

if not llvm.available():
    pytest.skip("llvmlite is not installed", allow_module_level=True)

F4, F8 = np.dtype(np.float32), np.dtype(np.float64)
HALVES = [np.dtype(np.float16), dtypes.bfloat16]
INTEGERS = [np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)]
COUNT = np.int64


@cache
def compiled(prim: Any, ins: tuple[Any, ...], **params: Any) -> Any:
    """Compile a loop over one primitive: a function of arrays, and LLVM's module as text."""
    ir = llvm.ir
    out = prim.abstract(*[Aval((), d) for d in ins], **params).dtype
    module, pointer, index = ir.Module(), ir.PointerType(), ir.IntType(64)
    kinds = [pointer] * (len(ins) + 1)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [*kinds, index]), "loop")
    for a in function.args[:-1]:
        a.add_attribute("noalias")
    start, loop, end = (function.append_basic_block() for _ in range(3))
    b = llvm.LLVMBuilder(ir.IRBuilder(start))
    b.ir.branch(loop)
    b.ir.position_at_end(loop)
    i = b.ir.phi(index)

    def at(k: int, dtype: Any) -> Any:
        kind = llvm.storage(dtype)
        return b.ir.gep(function.args[k], [i], source_etype=kind, inbounds=True)

    xs = [b.load(at(k, d), d) for k, d in enumerate(ins)]
    (made,) = ROWS[prim].emit(b, xs, [out], **params)
    assert made.dtype == out
    b.store(at(len(ins), out), made)
    after = b.ir.add(i, index(1), flags=("nuw", "nsw"))
    i.add_incoming(index(0), start)
    i.add_incoming(after, b.ir.block)
    b.ir.cbranch(b.ir.icmp_signed("<", after, function.args[-1]), loop, end)
    b.ir.position_at_end(end)
    b.ir.ret_void()
    text = str(module)
    library = llvm.load(llvm.assemble(text), ["loop"])
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(kinds), ctypes.c_int64)(
        library.address("loop")
    )

    def run(*arrays: Any) -> Any:
        _ = library  # lives as long as this function
        made = np.empty(arrays[0].shape, out)
        call(*[a.ctypes.data for a in (*arrays, made)], arrays[0].size)
        return made

    run.text = text  # type: ignore[attr-defined]
    return run


# ---- errors, over every exponent


def dense(dtype: Any) -> Any:
    """Numbers of both signs with every exponent, and more of them where functions change."""
    rng = np.random.default_rng(0)
    bits, each = (23, 24) if dtype == F4 else (52, 6)
    exponents = np.arange(2 * np.finfo(dtype).maxexp - 1, dtype=f"u{dtype.itemsize}")
    mantissas = rng.integers(0, 2**bits, (each, exponents.size), dtype=exponents.dtype)
    size = (mantissas | exponents << bits).view(dtype).ravel()
    near = [rng.uniform(-r, r, 4000) for r in (1, 8, 100, 800)]
    small = 2.0 ** rng.uniform(-30, 12, 4000)
    return np.concatenate([size, -size, *near, small, -small]).astype(dtype)


def ulps(got: Any, want: Any) -> Any:
    """Give the error in units of the last place of got's dtype; inf where one is not a number."""
    limits = np.finfo(got.dtype)
    rounded = want.astype(got.dtype)
    size = np.maximum(np.abs(rounded), limits.tiny)
    unit = np.spacing(size).astype(want.dtype)
    both = np.isfinite(got) & np.isfinite(rounded)
    error = np.where(both, np.abs(got.astype(want.dtype) - want) / np.where(both, unit, 1), np.inf)
    # Just below the greatest number either answer is within an ulp.
    edge = (
        ~both & (np.abs(want) > limits.max * (1 - 2 * limits.eps)) & (got == np.sign(want) * np.inf)
    )
    error = np.where((got == rounded) | (np.isnan(got) & np.isnan(rounded)) | edge, 0, error)
    return np.where((np.signbit(got) != np.signbit(rounded)) & ~np.isnan(got), np.inf, error)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


# (primitive, a reference in a wider type, bound in float32, bound in float64)
UNARY = [
    (ops.exp_p, np.exp, 1.1, 1.1),
    (ops.exp2_p, np.exp2, 1.1, 1.1),
    (ops.expm1_p, np.expm1, 2, 2),
    (ops.logistic_p, sigmoid, 2, 2),
    (ops.sinh_p, np.sinh, 2, 2),
    (ops.cosh_p, np.cosh, 2, 2),
    (ops.tanh_p, np.tanh, 2, 2),
    (ops.log_p, np.log, 1, 1),
    (ops.log1p_p, np.log1p, 2, 2),
    (ops.asinh_p, np.arcsinh, 2, 2),
    (ops.acosh_p, np.arccosh, 2, 2),
    (ops.atanh_p, np.arctanh, 2, 2),
    (ops.sin_p, np.sin, 2, 2),
    (ops.cos_p, np.cos, 2, 2),
    (ops.tan_p, np.tan, 2, 2),
    (ops.asin_p, np.arcsin, 2, 2),
    (ops.acos_p, np.arccos, 2, 2),
    (ops.atan_p, np.arctan, 2, 2),
    (ops.cbrt_p, np.cbrt, 1, 1),
    (ops.rsqrt_p, lambda x: 1 / np.sqrt(x), 1.5, 1.5),
    (ops.sqrt_p, np.sqrt, 0.51, 0.51),
    (special.erf_p, sp.erf, 2, None),
    (special.erfc_p, sp.erfc, 2, None),
    (special.erf_inv_p, sp.erfinv, 2, None),
]
LONG = np.finfo(np.longdouble).nmant > 60
CASES = [
    pytest.param(prim, reference, dtype, bound, id=f"{prim.name}-{dtype}")
    for prim, reference, *bounds in UNARY
    for dtype, bound in zip((F4, F8), bounds, strict=True)
    if bound is not None
]


@pytest.mark.parametrize(("prim", "reference", "dtype", "bound"), CASES)
def test_error_over_every_exponent(prim, reference, dtype, bound):
    if dtype == F8 and not LONG:
        pytest.skip("long double has no more digits than double here")
    x = dense(dtype)
    with np.errstate(all="ignore"):
        want = reference(x.astype(np.float64 if dtype == F4 else np.longdouble))
        error = ulps(compiled(prim, (dtype,))(x), want)
    worst = np.argmax(error)
    assert error[worst] <= bound, f"{error[worst]} at {x[worst]!r}"


def test_of_two_products_the_later_becomes_an_fma():
    ir = llvm.ir
    kind = llvm.register(F8)
    function = ir.Function(ir.Module(), ir.FunctionType(kind, [kind, kind]), "sum")
    b = llvm.LLVMBuilder(ir.IRBuilder(function.append_basic_block()))
    x, y = (llvm.Scalar(F8, a, b) for a in function.args)
    early, late = b.mul(x, x.like(3), contract=True), b.mul(x + y, y, contract=True)
    b.ir.ret(b.sub(early, late, contract=True).code)
    assert not early.code.flags
    assert list(late.code.flags) == ["contract"]


@pytest.mark.parametrize("dtype", [F4, F8], ids=str)
@pytest.mark.parametrize("prim", [ops.tanh_p, special.erf_p], ids=lambda p: p.name)
def test_what_levels_off_is_1_from_there_on(prim, dtype):
    x = np.array([25.0, 400.0, 1e30, np.inf] * 16, dtype)
    np.testing.assert_array_equal(compiled(prim, (dtype,))(x), np.ones(64, dtype))
    np.testing.assert_array_equal(compiled(prim, (dtype,))(-x), -np.ones(64, dtype))


@pytest.mark.parametrize(("prim", "reference"), [(ops.pow_p, np.power), (ops.atan2_p, np.arctan2)])
@pytest.mark.parametrize("dtype", [F4, F8], ids=str)
def test_error_of_two_operands(prim, reference, dtype):
    if dtype == F8 and not LONG:
        pytest.skip("long double has no more digits than double here")
    rng = np.random.default_rng(1)
    x, y = dense(dtype), rng.permutation(dense(dtype))
    y[::2] = rng.uniform(-30, 30, y[::2].size)
    with np.errstate(all="ignore"):  # powers of every size, of numbers near 1 too
        x[1::8] = 1 + rng.choice([-1, 1], x[1::8].size) * 2.0 ** rng.uniform(-20, -1, x[1::8].size)
        y[1::4] = (
            rng.uniform(-1, 1, x[1::4].size) * np.finfo(dtype).maxexp / np.log2(np.abs(x[1::4]))
        )
    wide = np.float64 if dtype == F4 else np.longdouble
    with np.errstate(all="ignore"):
        error = ulps(
            compiled(prim, (dtype, dtype))(x, y), reference(x.astype(wide), y.astype(wide))
        )
    worst = np.argmax(error)
    assert error[worst] <= 2, f"{error[worst]} at {x[worst]!r}, {y[worst]!r}"


@pytest.mark.parametrize(
    ("prim", "reference", "ends", "bound"),
    [
        (special.erf_p, mpmath.erf, (-6, 6), 2),
        (special.erfc_p, mpmath.erfc, (-6, 26), 2),
        (special.erf_inv_p, mpmath.erfinv, (-1, 1), 2),
        (special.lgamma_p, mpmath.loggamma, (0.01, 300), 8),
        (special.digamma_p, mpmath.digamma, (0.01, 300), 16),
        (ops.sin_p, mpmath.sin, (1e9, 1e300), 2),
        (ops.cos_p, mpmath.cos, (1e9, 1e300), 2),
        (ops.tan_p, mpmath.tan, (1e9, 1e300), 2),
    ],
    ids=lambda v: getattr(v, "name", ""),
)
def test_error_in_float64_by_mpmath(prim, reference, ends, bound):
    rng = np.random.default_rng(2)
    low, high = ends
    x = np.exp(rng.uniform(*np.log(ends), 400)) if low > 0 else rng.uniform(low, high, 400)
    x = np.concatenate([x, x / 8])
    with mpmath.workdps(40):
        values = [reference(mpmath.mpf(float(v))) for v in x]
        got = [mpmath.mpf(float(v)) for v in compiled(prim, (F8,))(x)]
        errors = [
            abs(g - v) / mpmath.mpf(float(np.spacing(abs(float(v)))))
            for g, v in zip(got, values, strict=True)
        ]
    if prim is special.digamma_p:  # near its root it is a difference of larger numbers
        errors = [e * min(1, abs(v)) for e, v in zip(errors, values, strict=True)]
    assert max(errors) <= bound


# ---- special values, as the NumPy kernels have them

SPECIAL = [0.0, 1.0, 0.5, 2.0, 3.0, 2.5, 127.0, 1e30, np.inf, np.nan]
SIGNED = [*SPECIAL, *[-v for v in SPECIAL]]
FLOATING = {row[0] for row in UNARY} | {ops.neg_p, ops.abs_p, ops.sign_p, ops.floor_p, ops.ceil_p}
FLOATING |= {ops.round_p, ops.is_finite_p, ops.square_p, special.lgamma_p, special.entr_p}
OF_TWO = [
    *[ops.add_p, ops.sub_p, ops.mul_p, ops.div_p, ops.pow_p, ops.atan2_p],
    *[ops.rem_p, ops.floor_divide_p, ops.remainder_p, ops.max_p, ops.min_p],
    *[ops.eq_p, ops.ne_p, ops.lt_p, ops.le_p, ops.gt_p, ops.ge_p],
    *[special.xlogy_p, special.xlog1py_p],
]
BITS = [
    *[ops.quotient_p, ops.rem_p, ops.floor_divide_p, ops.remainder_p, ops.pow_p, ops.max_p],
    *[ops.and_p, ops.or_p, ops.xor_p, ops.shift_left_p, ops.shift_right_arithmetic_p],
    *[ops.shift_right_logical_p, ops.add_p, ops.sub_p, ops.mul_p, ops.lt_p, ops.ne_p],
]


def by_numpy(prim: Any, *arrays: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(ROWS[prim].bind(backend)(*arrays))


def same(got: Any, want: Any, rtol: float = 0) -> None:
    assert got.dtype == want.dtype
    if dtypes.is_inexact(got.dtype):
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
        signs = [np.signbit(v)[~np.isnan(got)] for v in (got, want)]
        np.testing.assert_array_equal(*signs)
    np.testing.assert_allclose(got, want, rtol=rtol, atol=0)


@pytest.mark.parametrize("dtype", [F4, F8], ids=str)
@pytest.mark.parametrize("prim", sorted(FLOATING, key=str), ids=lambda p: p.name)
def test_special_values(prim, dtype):
    x = np.array(SIGNED, dtype)
    large = np.abs(x) > 1e20
    if prim in {ops.sin_p, ops.cos_p, ops.tan_p}:  # NumPy's own lose digits there
        x = np.where(large & np.isfinite(x), dtype.type(3), x)
    near_root = 16 if prim is special.lgamma_p else 1
    same(compiled(prim, (dtype,))(x), by_numpy(prim, x), 8 * near_root * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [F4, F8], ids=str)
@pytest.mark.parametrize("prim", OF_TWO, ids=lambda p: p.name)
def test_special_values_of_two_operands(prim, dtype):
    x, y = (a.ravel().copy() for a in np.meshgrid(*[np.array(SIGNED, dtype)] * 2))
    got, want = compiled(prim, (dtype, dtype))(x, y), by_numpy(prim, x, y)
    if prim in {ops.max_p, ops.min_p}:  # which of two zeros NumPy gives depends on the length
        got, want = got + dtype.type(0), want + dtype.type(0)
    same(got, want, 8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("prim", BITS, ids=lambda p: p.name)
def test_integers(prim, dtype):
    limits, width = np.iinfo(dtype), 8 * dtype.itemsize
    values = {0, 1, 2, 3, 5, 7, width - 1, width, width + 1, limits.max, limits.max - 1}
    values |= {v for v in (-1, -2, -3, -7, limits.min, limits.min + 1) if limits.min < 0}
    rng = np.random.default_rng(3)
    some = rng.integers(limits.min, limits.max, 40, dtype, endpoint=True)
    each = np.concatenate([np.array(sorted(values), dtype), some])
    x, y = (a.ravel().copy() for a in np.meshgrid(each, each))
    same(compiled(prim, (dtype, dtype))(x, y), by_numpy(prim, x, y))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize(
    "prim", [clz_p, ops.population_count_p, ops.not_p, ops.sign_p, ops.abs_p, ops.neg_p]
)
def test_integers_alone(prim, dtype):
    x = np.random.default_rng(4).integers(0, 256, 800, np.uint8).view(dtype)
    same(compiled(prim, (dtype,))(x), by_numpy(prim, x))


ALL = [*INTEGERS, *HALVES, F4, F8, np.dtype(bool)]
EDGES = [
    s * 2.0**k + d for k in (7, 8, 15, 16, 31, 32, 63, 64) for s in (1, -1) for d in (-1, 0, 1)
]


@pytest.mark.parametrize("source", ALL, ids=str)
def test_casts(source):
    raw = np.random.default_rng(5).integers(0, 256, 1600, np.uint8)
    x = raw & 1 == 1 if source.kind == "b" else raw.view(source)
    with np.errstate(all="ignore"):
        if dtypes.kind(source) == "f":
            x = np.concatenate([x, np.array([*SIGNED, *EDGES]).astype(source)])
        for target in ALL:
            params = {"dtype": target, "weak": False}
            want = np.asarray(ROWS[convert_p].bind(backend)(x, **params))
            got = compiled(convert_p, (source,), **params)(x)
            if target in HALVES:
                # NumPy rounds the longer integers twice on their way to 16 bits
                twice = source.kind in "iu" and source.itemsize == 8
                same(got.astype(F8), want.astype(F8), 2.0**-7 if twice else 0)
            else:
                same(got, want)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("prim", [ops.add_p, ops.mul_p, ops.pow_p], ids=lambda p: p.name)
def test_halves_round_once(prim, dtype):
    raw = np.random.default_rng(6).integers(0, 2**16, (2, 4000), np.uint16)
    x, y = (r.view(dtype).copy() for r in raw)
    with np.errstate(all="ignore"):
        want = by_numpy(prim, x.astype(F4), y.astype(F4)).astype(dtype)
    got = compiled(prim, (dtype, dtype))(x, y)
    np.testing.assert_array_equal(got.astype(F4), want.astype(F4))


def test_normal_numbers_are_numpys():
    x = np.random.default_rng(8).uniform(-1, 1, (2, 20000))
    x[1] = np.sign(x[1]) - x[1] * 2.0**-9  # the tails
    for dtype, rtol in ((F4, 4e-6), (F8, 1e-14)):
        each = np.append(x.ravel(), [0.0, -0.0, 1.0, -1.0]).astype(dtype)
        got = compiled(quick_erf_inv_p, (dtype,))(each)
        same(got, by_numpy(quick_erf_inv_p, each), rtol)


# ---- complex numbers

C8, C16 = np.dtype(np.complex64), np.dtype(np.complex128)


def complex_log(z: Any) -> Any:
    """Take the logarithm, with a real part to all digits where |z| is near 1."""
    out, real, imag = np.log(z), *(v.astype(np.longdouble) for v in (z.real, z.imag))
    near = np.log1p((real - 1) * (real + 1) + imag * imag) / 2
    out.real = np.where(abs(out.real) < 0.1, near, out.real)
    return out


COMPLEX = [
    (ops.exp_p, np.exp),
    (ops.log_p, complex_log),
    (ops.sqrt_p, np.sqrt),
    (ops.sin_p, np.sin),
    (ops.cos_p, np.cos),
    (ops.sinh_p, np.sinh),
    (ops.cosh_p, np.cosh),
    (ops.modulus_p, np.abs),
]


def plane(dtype: Any, parts: Any) -> Any:
    real, imag = np.meshgrid(parts, parts)
    out = np.empty(real.size, dtype)
    out.real, out.imag = real.ravel(), imag.ravel()
    return out


@pytest.mark.parametrize(("prim", "reference"), COMPLEX, ids=lambda v: getattr(v, "name", ""))
def test_complex_functions(prim, reference):
    rng = np.random.default_rng(7)
    size = np.exp(rng.uniform(-12, 4.3, 20000))
    z = (size * np.exp(1j * rng.uniform(-np.pi, np.pi, size.size))).astype(C8)
    z[::2] /= np.abs(z[::2])  # where logarithms cancel
    want = reference(z.astype(C16))
    got = compiled(prim, (C8,))(z)
    for part in (np.real, np.imag) if got.dtype == C8 else (np.asarray,):
        error = ulps(part(got).copy(), part(want).copy())
        assert error.max() <= 4


@pytest.mark.parametrize("dtype", [C8, C16], ids=str)
@pytest.mark.parametrize("prim", [prim for prim, _ in COMPLEX], ids=lambda p: p.name)
def test_complex_special_values(prim, dtype):
    z = plane(dtype, [0.0, -0.0, 1.0, -1.5, 80.0, np.inf, -np.inf, np.nan])
    got, want = compiled(prim, (dtype,))(z), by_numpy(prim, z)
    eps = np.finfo(dtype).eps
    parts = (v.view(v.real.dtype).reshape(z.size, -1) for v in (got, want, z))
    pairs = [
        (g, w, np.isnan(whole).any() or np.isinf(at).all())
        for gs, whole, at in zip(*parts, strict=True)
        for g, w in zip(gs, whole, strict=True)
    ]
    # C leaves signs open beside NaN and at two infinities; exp and products where a part is one.
    loose = prim.name in {"exp", "sin", "sinh"}
    for g, w, free in pairs:
        if np.isinf(w) or w == 0:
            assert abs(g) == abs(w)
            assert free or loose or np.signbit(g) == np.signbit(w)
        else:
            np.testing.assert_allclose(g, w, 8 * eps)


@pytest.mark.parametrize("dtype", [C8, C16], ids=str)
def test_complex_quotients(dtype):
    limits = np.finfo(dtype)
    z = plane(dtype, [0.0, 1.0, -2.5, 3e10, limits.max / 4, limits.tiny * 8])
    x, y = (a.ravel().copy() for a in np.meshgrid(z, z))
    got, want = compiled(ops.div_p, (dtype, dtype))(x, y), by_numpy(ops.div_p, x, y)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    finite = np.isfinite(want)
    np.testing.assert_allclose(got[finite], want[finite], 8 * limits.eps, atol=limits.tiny)


# ---- vectors

VECTORS = [p for p in FLOATING if p is not ops.is_finite_p]


@pytest.mark.parametrize("dtype", [F4, F8], ids=str)
@pytest.mark.parametrize("prim", sorted(VECTORS, key=str), ids=lambda p: p.name)
def test_loops_are_vectorised_and_call_nothing(prim, dtype):
    text = str(llvm.optimised(compiled(prim, (dtype,)).text))
    kind = "float" if dtype == F4 else "double"
    assert f" x {kind}> %" in text
    called = {
        line.split("@")[1].split("(")[0]
        for line in text.splitlines()
        if "call" in line and "@" in line
    }
    assert {name for name in called if not name.startswith(("llvm.", "rare_"))} == set()


# ---- the instructions of AVX-512


@pytest.mark.skipif(not llvm.scales(), reason="the processor has not the instructions")
@pytest.mark.parametrize("dtype", [F4, F8], ids=str)
def test_instructions_in_vectors_of_every_width(dtype):
    kind, texts = llvm.register(dtype), []
    for name, (_, count, _) in instructions.INSTRUCTIONS.items():
        texts.append(instructions.forms(name, name, kind))
        for n in outlines.WIDTHS:
            vector = f"<{n} x {kind}>"
            loads = [f"%v{k} = load {vector}, ptr %{k}, align 4" for k in range(count)]
            given = ", ".join(f"{vector} %v{k}" for k in range(count))
            call = f"%r = call {vector} @{name}_{n}({given})"
            body = [*loads, call, f"store {vector} %r, ptr %{count}, align 4", "ret void"]
            pointers = ", ".join(["ptr"] * (count + 1))
            texts.append(f"define void @{name}{n}({pointers}) {{\n" + "\n".join(body) + "\n}")
    names = [f"{name}{n}" for name in instructions.INSTRUCTIONS for n in outlines.WIDTHS]
    library = llvm.load(llvm.assemble("\n".join(texts)), names)
    rng = np.random.default_rng(6)
    x = (rng.uniform(0.5, 1, 64) * 2.0 ** rng.integers(-40, 40, 64)).astype(dtype)
    x[:2] = 0, np.inf
    power = rng.integers(-9, 9, 64).astype(dtype)
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log2(x))
        m = np.where(np.isfinite(exponent), x / 2**exponent, 1)
    wants = {
        "scale": ((x, power), x * 2**power),
        "exponent": ((x,), exponent),
        "significand": ((x,), np.where(m < 1.5, m, m / 2)),
    }
    for name, (given, want) in wants.items():
        for n in outlines.WIDTHS:
            made = np.empty(n, dtype)
            call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(given) + 1))
            call(library.address(f"{name}{n}"))(*[a.ctypes.data for a in (*given, made)])
            np.testing.assert_array_equal(made, want[:n].astype(dtype))


@pytest.mark.parametrize("dtype", [F4, F8], ids=str)
@pytest.mark.parametrize("prim", [ops.exp_p, ops.log_p, ops.log1p_p, ops.pow_p, ops.asinh_p])
def test_functions_without_the_instructions(prim, dtype, monkeypatch):
    operands = 2 if prim is ops.pow_p else 1
    rng = np.random.default_rng(7)
    given = [np.array(SIGNED, dtype), rng.permutation(np.array(SIGNED, dtype))][:operands]
    given = [np.concatenate([a, rng.standard_normal(300).astype(dtype)]) for a in given]
    want = compiled(prim, (dtype,) * operands)(*given)
    monkeypatch.setattr(llvm, "scales", bool)
    got = compiled.__wrapped__(prim, (dtype,) * operands)(*given)
    same(got, want, 4 * np.finfo(dtype).eps)
