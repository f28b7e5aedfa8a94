"""Machine code of Programs gives what their interpreter gives."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from arrayport_backends.ndarray.executor import Routine
from arrayport_backends.numpy import compiler, llvm

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core import dtypes
from arrayport.core.backend import get
from arrayport.passes.fuse import axes_over

pytestmark = [
    pytest.mark.skipif(not llvm.available(), reason="there is nothing to test without LLVM"),
    pytest.mark.usefixtures("at_once"),
]


def arrays(draw, shapes, dtype=np.float32):
    made = [np.asarray(draw.standard_normal(shape) * 3) for shape in shapes]
    return [anp.asarray(x.astype(dtype)) for x in made]


# ---- dtypes and special values

NAMES = ("bool", "int8", "uint8", "int16", "int32", "uint32", "float16", "bfloat16", "complex64")


@pytest.mark.parametrize("name", NAMES)
def test_dtypes(name, agree):
    dtype = dtypes.SUPPORTED[name]
    draw = np.random.default_rng(0)
    (x,) = arrays(draw, [(6, 40)]) if name[0] != "u" else arrays(draw, [(6, 40)], np.uint8)
    x = x.astype(dtype)

    def f(x):
        y = anp.where(x == x[::-1], x, anp.roll(x, 1, 1))
        more = [] if name == "bool" else [y + x, y * x, anp.sum(y, 1), anp.sum(y, 0), anp.sum(x)]
        return [y, anp.pad(y, 1), y.T, x[:, ::3], *more]

    agree(f, x, ulps=8)


@pytest.mark.parametrize("x64", [False, True])
def test_special_values_go_through_reductions(x64, agree):
    with ap.config.override("enable_x64", x64):
        dtype = np.float64 if x64 else np.float32
        rows = np.ones((6, 3000), dtype)
        rows[0, 5] = np.nan
        rows[1, 2999] = np.inf
        rows[2, :] = -0.0
        rows[3, 7], rows[3, 2000] = np.inf, -np.inf
        rows[4, :] = np.finfo(dtype).max
        x = anp.asarray(rows)
        got, want = agree(
            lambda x: [anp.sum(x, 1), anp.max(x, 1), anp.min(x, 1), anp.sum(x, 0), anp.max(x, 0)],
            x,
        )
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(g, w)
        np.testing.assert_array_equal(np.signbit(g), np.signbit(w))


@pytest.mark.parametrize("shape", [(300_000,), (3000, 100), (100, 3000)])
def test_sums_are_no_less_exact_than_numpys(shape, agree):
    values = np.random.default_rng(1).uniform(0, 1, shape).astype(np.float32)
    (got, columns), (numpys, _) = agree(
        lambda x: [anp.sum(x), anp.sum(x.reshape(-1, 10), 0)], anp.asarray(values), ulps=1000
    )
    exact = float(sum(map(Fraction, values.ravel().tolist())))
    assert abs(float(got) - exact) <= max(abs(float(numpys) - exact), float(np.spacing(numpys)))
    exact = values.reshape(-1, 10).astype(np.float64).sum(0)
    assert np.max(np.abs(columns - exact) / exact) < 4e-7


# ---- arrays of every make


def test_arrays_that_are_not_contiguous():
    base = np.arange(240, dtype=np.float32).reshape(12, 20)
    f = ap.jit(lambda x: anp.sum(x * 2, 1))
    for raw in (base.T[:12], base[::-1], base[:, ::2], np.broadcast_to(base[0], (12, 20)), base):
        x = anp.asarray(base)  # an Array over this very memory
        x.raw = raw
        np.testing.assert_array_equal(np.asarray(f(x)), (raw * 2).sum(1))


def test_one_array_as_several_operands_and_outputs_that_are_operands():
    f = ap.jit(lambda x, y: (x + y, x, y * 2, x + y))
    x = anp.arange(50.0)
    sums, same, doubled, again = f(x, x)
    np.testing.assert_array_equal(np.asarray(sums), np.asarray(doubled))
    np.testing.assert_array_equal(np.asarray(same), np.arange(50.0))
    np.testing.assert_array_equal(np.asarray(again), np.asarray(sums))


def test_nothing_is_written_beside_the_answer():
    def f(x):
        y = anp.pad(x, ((1, 2), (3, 0)))
        return y[::-1], anp.sum(y, 0), anp.sum(y, 1)

    x = anp.asarray(np.arange(77, dtype=np.float32).reshape(7, 11))
    executor = get("numpy").compile(ap.jit(f).trace(x).program)
    executor.run(x.raw)
    (eqn,) = executor.program.eqns
    function, sizes = eqn.prim.run, [prod_bytes(v) for v in (*eqn.ins, *eqn.outs)]
    guarded = [np.full(n + 256, 0xA5, np.uint8) for n in sizes]
    guarded[0][128 : 128 + sizes[0]] = x.raw.reshape(-1).view(np.uint8)
    function.__self__.call([g.ctypes.data + 128 for g in guarded])
    for g, n in zip(guarded, sizes, strict=True):
        assert (g[:128] == 0xA5).all()
        assert (g[128 + n :] == 0xA5).all()
    for g, n, want in zip(guarded[1:], sizes[1:], executor.run(x.raw), strict=True):
        np.testing.assert_array_equal(g[128 : 128 + n].view(np.float32), np.ravel(want))


def prod_bytes(v):
    return int(np.prod(v.shape)) * v.dtype.itemsize


def test_no_elements():
    x = anp.zeros((0, 5), "float32")
    f = ap.jit(lambda x, y: (anp.sum(x, 0) + y, x * 2, y * 3))
    folded, empty, plain = f(x, anp.ones(5, "float32"))
    np.testing.assert_array_equal(np.asarray(folded), np.ones(5))
    np.testing.assert_array_equal(np.asarray(plain), np.full(5, 3))
    assert empty.shape == (0, 5)


def test_an_index_may_decide_only_whether_it_is_inside():
    f = ap.jit(lambda x, i: anp.take(anp.sort(x, 1), anp.max(i, 1), 0, mode="fill"))
    indices = np.full((4, 40), -9) + np.arange(0, -40, -1)
    indices[:, 20] = [0, 4, 1, 0]
    found = f(anp.asarray([[3.0, 1.0]], "float32"), anp.asarray(indices, "int32"))
    nan = np.nan
    np.testing.assert_array_equal(found, [[1, 3], [nan, nan], [nan, nan], [1, 3]])


def test_weak_types_are_kept():
    f = ap.jit(lambda x: (x + 1, x * anp.float32(2)))
    weak, strong = f(3.0)
    assert (weak.weak_type, strong.weak_type) == (True, False)


def test_threads():
    f = ap.jit(lambda x: anp.sum(anp.roll(x, 1, 0) * x, 1) + x[:, 0])
    inputs = [np.random.default_rng(i).standard_normal((64, 500)).astype("f4") for i in range(8)]

    def run(x):
        return [np.asarray(f(anp.asarray(x))) for _ in range(50)]

    with ThreadPoolExecutor(8) as pool:
        for x, results in zip(inputs, pool.map(run, inputs), strict=True):
            want = (np.roll(x, 1, 0) * x).sum(1) + x[:, 0]
            for got in results:
                np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_numbers_divided_by_one(dtype):
    info, draws = np.finfo(dtype), np.random.default_rng(0)
    ends = [0, 1, 3, info.tiny, info.tiny / 1000, info.smallest_subnormal, info.max, np.inf, np.nan]
    spread = draws.standard_normal(40) * 2.0 ** draws.integers(info.minexp, info.maxexp, 40)
    with np.errstate(all="ignore"):
        x = np.array([*ends, *[-v for v in ends], *spread], dtype)
        want = x / x[:, None]
    got = np.asarray(ap.jit(lambda x: x / x[:, None])(anp.asarray(x)))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    numbers = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[numbers]), np.signbit(want[numbers]))
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[~finite & numbers], want[~finite & numbers])
    usual = finite & (np.minimum(abs(want), abs(x)) > info.tiny * 2**30)
    usual &= abs(x[:, None]) < info.max / 8
    np.testing.assert_array_equal(got[usual], want[usual])
    np.testing.assert_array_max_ulp(got[finite], want[finite], 1)
    assert "fdiv <" not in ap.jit(lambda x: x / x[:, None]).lower(anp.asarray(x)).as_text("llvm")


def test_without_llvm(monkeypatch):
    monkeypatch.setattr(llvm, "available", lambda: False)
    x = anp.arange(50.0)
    f = ap.jit(lambda x: anp.sum(x * 2 + 1))
    for _ in range(25):
        assert float(f(x)) == 2500
    program = ap.jit(lambda x: x * 2).trace(x).program
    executor = get("numpy").compile(program)
    executor.run(x.raw)
    assert not any(isinstance(e.prim, Routine) for e in executor.program.eqns)


def test_small_programs_are_compiled_only_after_many_runs(monkeypatch):
    monkeypatch.setattr(compiler, "COMPILING", 10_000_000)
    x = anp.ones(8)
    program = ap.jit(lambda x: x * 2 + 1).trace(x).program
    executor = get("numpy").compile(program)
    assert executor.warm > 300
    large = ap.jit(lambda x: anp.sqrt(x * 2 + 1)).trace(anp.ones(30_000_000)).program
    assert get("numpy").compile(large).warm == 0


def test_a_loop_that_was_long_is_compiled_soon(monkeypatch):
    """No Program says how often a while loop goes round: a run does."""
    monkeypatch.setattr(compiler, "COMPILING", 10_000_000)

    def program(x, bound):
        return ap.lax.while_loop(lambda c: c.sum() < bound, lambda c: c + 0.5, x)

    x = anp.zeros(2)
    executors = []
    for bound, expected in ((1.0, 0.5), (1000.0, 500.0)):
        staged = ap.jit(lambda x, b=bound: program(x, b)).trace(x).program
        executors.append(get("numpy").compile(staged))
        assert executors[-1].warm > 50
        assert executors[-1].run(x.raw)[0].tolist() == [expected] * 2
    brief, long = executors
    assert brief.warm > 50
    assert long.warm <= 1


def test_rather_compiled_at_once_than_loading_scipy_for_it(monkeypatch):
    monkeypatch.setattr(compiler, "COMPILING", 10_000_000)
    program = ap.jit(ap.lax.erf).trace(anp.ones(8)).program
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    assert get("numpy").compile(program).warm > 0
    monkeypatch.delitem(sys.modules, "scipy.special")
    assert get("numpy").compile(program).warm == 0


def test_what_is_compiled_can_be_read():
    x = anp.asarray(np.eye(40, dtype=np.float32))
    lowered = ap.jit(lambda x: anp.sum((x @ x) * 2, 1) + 1).lower(x)
    schedule = lowered.as_text("schedule").splitlines()
    assert schedule[0] == "calls"
    assert "dot_general -> float32[40,40]" in schedule[1]
    assert schedule[2] == "code"
    assert "nest over 40 x 40: reduce_sum -> float32[40]" in schedule[3]
    assert "define" in lowered.as_text("llvm")
    assert "segment:" in lowered.as_text("asm")
    assert lowered.as_text("hlo") == lowered.as_text()
    with pytest.raises(ValueError, match=r"'nope' is not one of None, .*'asm'"):
        lowered.as_text("nope")


def test_what_kernels_combine(agree):
    """Products of complex numbers, in rows and columns; the larger bool, where it is written."""
    x = anp.asarray(np.exp(1j * np.arange(1200).reshape(30, 40)).astype("c8"))
    agree(lambda x: (anp.prod(x), anp.prod(x, 0), anp.prod(x, 1), x.at[:3].multiply(x[3:6])), x)
    t, at = anp.arange(50) % 3 == 0, anp.asarray([4, 9, 9, 1])
    agree(lambda t, at: (t.at[at].max(t[:4]), t.at[at].min(t[:4])), t, at)


def test_sums_of_bools_are_whether_one_is_true(agree):
    t = anp.array([True, False, True])
    (got, _), _ = agree(lambda a: (a + a, a.at[:2].add(a[1:])), t)
    np.testing.assert_array_equal(got, [True, False, True])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_what_moves_keeps_its_bits(dtype):
    """Signalling NaN among them; a float32's NaN of low bits alone stays NaN where it is cut."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    x = anp.asarray(bits.view(dtypes.SUPPORTED[dtype]))
    got = ap.jit(lambda x: (x[::-1], anp.roll(x, 3)))(x)
    for g, w in zip(got, (bits[::-1], np.roll(bits, 3)), strict=True):
        np.testing.assert_array_equal(np.asarray(g).view(np.uint16), w)
    low = anp.asarray(np.array([0x7F800001, 0xFF800001], np.uint32).view(np.float32))
    assert np.isnan(np.asarray(ap.jit(lambda x: x.astype(dtype))(low)).astype(np.float32)).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_operation_of_16_bit_floats_is_rounded(agree, dtype):
    """A product less itself is 0; 1 + 0.00586 is the next bfloat16; added parts round twice."""
    rng = np.random.default_rng(0)
    a, b = (anp.asarray(rng.uniform(1, 3, 200), dtype) for _ in range(2))
    (got,), _ = agree(lambda a, b, c: a * b - c, a, b, a * b, ulps=0)
    assert not np.any(got.astype(np.float32))
    x, v = anp.ones(16, dtype), anp.full(12, 0.0058594, dtype)
    agree(lambda x, v: x.at[2:14].add(v).at[3:15].add(v), x, v, ulps=0)


def test_a_sum_of_many_parts_is_no_form():
    # As one form it would read 5 to the power of 9 elements, and take a minute to compile.
    x = anp.asarray(np.float32([[2, 1, 0], [1, 3, 1], [0, 1, 4]]))
    slope = ap.grad(anp.linalg.det)
    program = ap.jit(slope).trace(x).program
    (parts,) = [eqn for eqn in program.eqns if eqn.prim.name == "scatter_all"]
    assert get("numpy").language.form(parts, axes_over(parts.outs[0].shape)) is None
    # the cofactors
    assert ap.jit(slope)(x).tolist() == [[11, -4, 1], [-4, 8, -2], [1, -2, 5]]
