"""Every row of the contract, special values apart, on every backend, eager and under jit."""

from __future__ import annotations

import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from arrayport_backends.numpy import compiler

import arrayport as ap
import arrayport.numpy as anp
from arrayport import errors, lax
from arrayport.core.contract import CONTRACT, Scope, markdown, rows

pytestmark = pytest.mark.usefixtures("backend")

RUNS = pytest.mark.parametrize("run", [lambda f: f, ap.jit], ids=["eager", "jit"])
INT_MIN = -(2**31)


@pytest.fixture(autouse=True)
def _compiled(monkeypatch):
    """Let jit make machine code at once, where it is made."""
    monkeypatch.setattr(compiler, "COMPILING", 0)


def host(x):
    return np.asarray(x)


# ---- the table itself


def test_every_row_has_a_test():
    files = Path(__file__).parent.glob("test_contract*.py")
    tests = {name for file in files for name in re.findall(r"def (test_\w+)", file.read_text())}
    assert [row.key for row in CONTRACT if row.test not in tests] == []


def test_keys_are_unique():
    keys = [row.key for row in CONTRACT]
    assert len(set(keys)) == len(keys)


def test_own_engines_rows_say_what_jax_does():
    assert [r.key for r in CONTRACT if (r.scope is Scope.OWN_ENGINES) != bool(r.on_jax)] == []


def test_functions_exist():
    missing = []
    for row in CONTRACT:
        for path in row.functions:
            found = ap
            for name in path.split("."):
                found = getattr(found, name, None)
            if found is None:
                missing.append((row.key, path))
    assert missing == []


def test_the_page_is_current():
    page = Path(__file__).parents[1] / "docs" / "contract.md"
    assert page.read_text("utf-8") == markdown() + "\n", "write it anew: its head says how"


def test_rows_are_found_by_function(capsys):
    assert {row.key for row in rows("lax.rem")} == {"lax_integer_division"}
    assert {row.key for row in rows("rem")} == {"lax_integer_division"}
    assert rows("arrayport.numpy.prod") == rows("prod")
    ap.contract("floor_divide")
    assert "INT_MIN" in capsys.readouterr().out
    ap.contract("nothing")
    assert "no row" in capsys.readouterr().out


# ---- arrays do not change


@RUNS
def test_host_buffers_are_copied(run):
    for convert in (anp.asarray, anp.array, ap.device_put, anp.from_dlpack):
        buffer = np.arange(4, dtype=np.float32)
        x = convert(buffer)
        f = run(lambda y, x=x: (x + y, x))
        first, kept = f(anp.zeros(4))
        buffer[:] = 9
        for found in (x, first, kept, *f(anp.zeros(4))):
            np.testing.assert_array_equal(host(found), [0, 1, 2, 3], err_msg=convert.__name__)


@RUNS
def test_host_views_are_read_only(run):
    x = anp.arange(3)
    for y in (x, run(lambda x: x + 1)(x), run(lambda x: x)(x)):
        view = np.asarray(y)
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1


@RUNS
def test_augmented_assignment_rebinds(run):
    def f(x):
        b = x
        b += 1
        return x, b

    x = anp.arange(3)
    before, after = run(f)(x)
    np.testing.assert_array_equal(host(x), [0, 1, 2])
    np.testing.assert_array_equal(host(before), [0, 1, 2])
    np.testing.assert_array_equal(host(after), [1, 2, 3])


@RUNS
def test_item_assignment_raises(run):
    def f(x):
        x[0] = 5
        return x

    with pytest.raises(TypeError, match=r"\.at\[0\]\.set"):
        run(f)(anp.arange(3))


@RUNS
def test_dlpack_gives_copies(backend, run):
    x = run(lambda x: x + 0.0)(anp.arange(3.0, dtype="float32"))
    if backend == "cupy-sim":
        y = np.from_dlpack(x, device="cpu")
    else:
        y = np.from_dlpack(x)
        shared = np.from_dlpack(x, copy=False)
        assert not shared.flags.writeable
        np.testing.assert_array_equal(shared, [0, 1, 2])
        if backend != "jax":
            assert np.shares_memory(shared, x.native)
            assert not np.shares_memory(y, x.native)
    if y.flags.writeable:
        y[:] = 7
    np.testing.assert_array_equal(host(x), [0, 1, 2])


# ---- indices


@RUNS
@pytest.mark.parametrize("index", [3, -4, (0, 5)], ids=str)
def test_literal_indices_are_checked(run, index):
    x = anp.zeros((3, 2)) if isinstance(index, tuple) else anp.zeros(3)
    with pytest.raises(IndexError):
        run(lambda x: x[index])(x)
    with pytest.raises(IndexError):
        run(lambda x: x.at[index].set(1.0))(x)


@RUNS
def test_array_indices_clamp(run):
    x, i = anp.array([1.0, 2.0, 3.0]), anp.array([7, -9, 1])
    np.testing.assert_array_equal(host(run(lambda x, i: x[i])(x, i)), [3, 1, 2])
    np.testing.assert_array_equal(host(run(anp.take)(x, i)), [np.nan, np.nan, 2])


@RUNS
def test_empty_masks_choose_nothing(run):
    x = anp.ones((2, 3))
    make = anp.zeros if run is not ap.jit else np.zeros  # a traced mask has no static shape
    for shape in ((0,), (0, 3), (2, 0), (0, 0)):
        mask = make(shape, dtype=bool)
        assert run(lambda x, m=mask: x[m])(x).shape == (0, *x.shape[len(shape) :])
        kept = run(lambda x, m=mask: x.at[m].set(5.0))(x)
        np.testing.assert_array_equal(host(kept), np.ones((2, 3)))
    for shape in ((3,), (1, 3), (0, 2)):
        mask = make(shape, dtype=bool)
        with pytest.raises(IndexError, match="mask"):
            run(lambda x, m=mask: x[m])(x)


@RUNS
def test_updates_out_of_range_are_dropped(run):
    x, i = anp.zeros(3), anp.array([7, 1])
    np.testing.assert_array_equal(host(run(lambda x, i: x.at[i].set(5.0))(x, i)), [0, 5, 0])
    np.testing.assert_array_equal(host(run(lambda x, i: x.at[i].add(5.0))(x, i)), [0, 5, 0])


@RUNS
def test_repeated_updates_accumulate(run):
    x, i, v = anp.full(3, 2.0), anp.array([0, 0, 2]), anp.array([3.0, 5.0, 1.0])
    expected = {
        "add": [10, 2, 3],
        "multiply": [30, 2, 2],
        "min": [2, 2, 1],
        "max": [5, 2, 2],
    }
    for name, values in expected.items():
        found = run(lambda x, i, v, name=name: getattr(x.at[i], name)(v))(x, i, v)
        np.testing.assert_array_equal(host(found), values, err_msg=name)


@RUNS
def test_repeated_set_keeps_the_last(run):
    x, i, v = anp.zeros(3), anp.array([0, 0, 2, 0]), anp.array([3.0, 5.0, 1.0, 4.0])
    found = run(lambda x, i, v: x.at[i].set(v))(x, i, v)
    np.testing.assert_array_equal(host(found), [4, 0, 1])  # XLA's on the CPU as well


# ---- numbers that do not fit


@RUNS
def test_literals_must_fit(run):
    x = anp.array([1, 2], dtype="int8")
    functions = [anp.add, anp.subtract, anp.multiply]
    raising = [lambda x, f=f: f(x, 1000) for f in functions]
    raising += [lambda x, f=f: f(1000, x) for f in (*functions, anp.power)]
    raising += [lambda x: x.at[0].set(1000), lambda x: x.at[0].add(-129)]
    for f in raising:
        with pytest.raises(OverflowError, match="int8"):
            run(f)(x)
    np.testing.assert_array_equal(host(run(lambda x: anp.power(x, 1000))(x)), [1, 0])
    for f, above, below in (
        (anp.equal, False, False),
        (anp.less, True, False),
        (anp.greater, False, True),
    ):
        np.testing.assert_array_equal(host(run(lambda x, f=f: f(x, 1000))(x)), [above] * 2)
        np.testing.assert_array_equal(host(run(lambda x, f=f: f(x, -1000))(x)), [below] * 2)


@RUNS
def test_host_integers_must_fit(run):
    for convert in (anp.asarray, anp.array):
        with pytest.raises(OverflowError, match="enable_x64"):
            run(lambda convert=convert: convert(2**40))()
    with ap.config.override("enable_x64", True):
        assert int(anp.asarray(2**40)) == 2**40


@RUNS
def test_casts_saturate(run):
    x = anp.array([1e20, -1e20, np.nan, np.inf, -np.inf, -1.9, 300.5], dtype="float32")
    for dtype in ("int32", "int8", "uint8", "uint32"):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        expected = [high, low, 0, high, low, max(-1, low), min(300, high)]
        for cast in (
            lambda x, d=dtype: x.astype(d),
            lambda x, d=dtype: anp.astype(x, d),
            lambda x, d=dtype: lax.convert_element_type(x, d),
        ):
            found = run(cast)(x)
            assert found.dtype == np.dtype(dtype)
            np.testing.assert_array_equal(host(found), expected, err_msg=dtype)


# ---- integer arithmetic


@RUNS
def test_integer_division(run):
    x, y = anp.array([5, -5, INT_MIN, 7, -7]), anp.array([0, 0, -1, -2, 2])
    quotient, remainder = [0, 0, INT_MIN, -4, -4], [0, 0, 0, -1, 1]
    np.testing.assert_array_equal(host(run(lambda x, y: x // y)(x, y)), quotient)
    np.testing.assert_array_equal(host(run(lambda x, y: x % y)(x, y)), remainder)
    q, r = run(anp.divmod)(x, y)
    np.testing.assert_array_equal(host(q), quotient)
    for found in (r, run(anp.mod)(x, y), run(anp.remainder)(x, y)):
        np.testing.assert_array_equal(host(found), remainder)
    u = run(anp.floor_divide)(anp.array([5], dtype="uint8"), anp.array([0], dtype="uint8"))
    np.testing.assert_array_equal(host(u), [0])


@RUNS
def test_lax_integer_division(run):
    x, y = anp.array([5, -5, INT_MIN, 7, -7]), anp.array([0, 0, -1, -2, 2])
    np.testing.assert_array_equal(host(run(lax.div)(x, y)), [-1, -1, INT_MIN, -3, -3])
    np.testing.assert_array_equal(host(run(lax.rem)(x, y)), [5, -5, 0, 1, -1])


@RUNS
def test_shifts_past_the_width(run):
    x = anp.array([1, -1, 5, -8])
    for n in (32, 33, 100):
        shift = anp.array([n] * 4)
        np.testing.assert_array_equal(host(run(anp.left_shift)(x, shift)), [0] * 4)
        np.testing.assert_array_equal(host(run(anp.right_shift)(x, shift)), [0, -1, 0, -1])
    u = anp.array([200], dtype="uint8")
    np.testing.assert_array_equal(host(run(anp.right_shift)(u, anp.array([9], dtype="uint8"))), [0])


@RUNS
def test_negative_powers_of_integers(run):
    for f in (lambda x: x**-1, lambda x: anp.power(x, -2)):
        with pytest.raises((TypeError, ValueError), match=r"-1|-2"):
            run(f)(anp.array([2, 3]))


# ---- types


@RUNS
def test_python_numbers_are_weak(run):
    for name in ("float16", "bfloat16", "float32", "complex64", "int8", "uint8"):
        x = anp.ones(2, dtype=name)
        for f in (
            *(lambda x: x + 1, lambda x: 2 * x, lambda x: x - 1),
            *(lambda x, f=f: f(x, 1) for f in (anp.add, anp.subtract, anp.multiply, anp.power)),
        ):
            found = run(f)(x)
            assert found.dtype == x.dtype
            assert not found.weak_type
    assert run(lambda x: x * 2.0)(anp.ones(2, dtype="int8")).weak_type
    assert run(lambda x: x * 2.0)(anp.ones(2, dtype="int8")).dtype == np.float32
    assert run(lambda x: x + 1)(anp.asarray(2.0)).weak_type
    weak = anp.asarray(2.0)
    assert run(lambda x, y: x * y)(weak, anp.ones(2, dtype="float16")).dtype == np.float16


@RUNS
def test_reductions_return_arrays(run):
    x = anp.arange(1.0, 4.0)
    for f in (anp.sum, anp.max, anp.min, anp.mean, anp.prod, anp.all, lambda x: x.max()):
        found = run(f)(x)
        assert isinstance(found, ap.Array)
        assert found.shape == ()


@RUNS
def test_several_arrays_are_a_tuple(run):
    x = anp.arange(2.0)
    for f in (anp.meshgrid, anp.broadcast_arrays):
        assert type(run(f)(x, x)) is tuple
    assert type(run(anp.unstack)(x)) is tuple
    older = x.__array_namespace__(api_version="2024.12")
    for f in (older.meshgrid, older.broadcast_arrays):
        assert type(run(f)(x, x)) is list


@RUNS
def test_enable_x64_is_one_switch(run):
    f = run(lambda: (anp.zeros(2), anp.arange(3), anp.asarray(1), anp.array(1j)))
    g = run(lambda x: x + anp.zeros(2))
    converts = (anp.asarray, anp.array, ap.device_put, anp.from_dlpack)

    def names():
        made = [*f(), g(anp.zeros(2)), *(convert(np.zeros(2)) for convert in converts)]
        return [x.dtype.name for x in made]

    narrow = ["float32", "int32", "int32", "complex64", *["float32"] * 5]
    assert names() == narrow
    with ap.config.override("enable_x64", True):
        assert names() == ["float64", "int64", "int64", "complex128", *["float64"] * 5]
        if "jax" in sys.modules:
            assert sys.modules["jax"].config.jax_enable_x64
    assert names() == narrow
    if "jax" in sys.modules:
        assert not sys.modules["jax"].config.jax_enable_x64


@pytest.mark.parametrize("wide", [False, True])
@RUNS
def test_default_integers(run, wide):
    with ap.config.override("enable_x64", wide):
        x = anp.arange(3.0)
        products = run(anp.cumulative_prod)(anp.asarray(np.int8([50, 50, 2])))
        places = anp.asarray(np.int8([5]))
        row, column = run(lambda i: anp.unravel_index(i, (2, 4)))(places)
        flat = run(lambda i: anp.ravel_multi_index((i, i), (9, 9), mode="clip"))(places)
        found = (
            *(run(anp.searchsorted)(x, x), run(anp.digitize)(x, x)),
            *(products, row, column, flat),
        )
        assert [int(i) for i in (row[0], column[0], flat[0])] == [1, 1, 50]
        assert {f.dtype.name for f in found} == {"int64" if wide else "int32"}
        np.testing.assert_array_equal(host(products), [50, 2500, 5000])


# ---- derivatives

ONE = np.float32(1)
SLOPES = {  # each way to the derivative of a function of one number
    "grad": ap.grad,
    "value_and_grad": lambda f: lambda x: ap.value_and_grad(f)(x)[1],
    "jacfwd": ap.jacfwd,
    "jacrev": ap.jacrev,
    "jvp": lambda f: lambda x: ap.jvp(f, (x,), (anp.asarray(ONE),))[1],
    "vjp": lambda f: lambda x: ap.vjp(f, x)[1](anp.asarray(ONE))[0],
    "linearize": lambda f: lambda x: ap.linearize(f, x)[1](anp.asarray(ONE)),
}


@RUNS
@pytest.mark.parametrize("slope", SLOPES.values(), ids=SLOPES)
def test_derivatives_at_kinks(run, slope):
    zero = anp.asarray(np.float32(0))
    assert float(run(slope(anp.abs))(zero)) == 1
    assert float(run(slope(ap.nn.relu))(zero)) == 0
    assert float(run(slope(lambda x: anp.maximum(x, 0.0)))(zero)) == 0.5
    assert float(run(slope(lambda x: anp.minimum(x, 0.0)))(zero)) == 0.5


@RUNS
def test_kinks_of_equal_operands(run):
    zero = anp.asarray(np.float32(0))
    x, y = (float(g) for g in run(ap.grad(anp.maximum, argnums=(0, 1)))(zero, zero))
    assert (x, y) == (0.5, 0.5)


@RUNS
@pytest.mark.parametrize(
    ("f", "expected", "jax_knows"),
    [
        (lambda x: x**0, [0, 0, 0], 3),
        (lambda x: x**0.0, [0, 0, 0], 0),
        (lambda x: x**1, [1, 0, 0], 3),
        (lambda x: x**2.0, [0, 2, 0], 2),
        (lambda x: x**2, [0, 2, 0], 3),
        (lambda x: x**3, [0, 0, 6], 3),
        (lambda x: anp.power(x, anp.asarray(np.float32(2))), [0, 2, 0], 2),
    ],
    ids=["x**0", "x**0.0", "x**1", "x**2.0", "x**2", "x**3", "power"],
)
def test_finite_derivatives_stay_finite(backend, run, f, expected, jax_knows):
    zero = anp.asarray(np.float32(0))
    known = expected[: jax_knows if backend == "jax" else None]
    if known and backend != "jax":  # where each of them compiles
        for name, slope in SLOPES.items():
            assert float(run(slope(f))(zero)) == expected[0], name
        assert float(run(ap.hessian(f))(zero)) == expected[1]
    for value in known:
        f = ap.grad(f)
        assert float(run(f)(zero)) == value


@RUNS
def test_products_with_zeros(run):
    x = anp.asarray(np.float32([2, 0, 3]))
    np.testing.assert_array_equal(host(run(ap.grad(anp.prod))(x)), [0, 6, 0])
    np.testing.assert_array_equal(
        host(run(ap.grad(anp.prod))(anp.asarray(np.float32([2, 0, 0])))), [0, 0, 0]
    )
    # d/dx of x0 + x0 x1 + x0 x1 x2
    grad = ap.grad(lambda x: anp.sum(anp.cumprod(x)))
    np.testing.assert_array_equal(host(run(grad)(x)), [1, 8, 0])
    for second in (ap.jacfwd(grad), ap.jacrev(grad), ap.hessian(lambda x: anp.sum(anp.cumprod(x)))):
        found = host(run(second)(x))
        np.testing.assert_array_equal(found, [[0, 4, 0], [4, 0, 2], [0, 2, 0]])


# ---- random numbers
KEY = 42  # what it gives below is from JAX 0.12


@RUNS
def test_random_bits_are_equal(run):
    key = ap.random.PRNGKey(KEY)
    expected = {
        "split": [[1832780943, 270669613], [64467757, 2916123636]],
        "fold_in": [2547012911, 1371500959],
        "bits": [2098992034, 2919706841, 2646866425, 2409546199],
        "randint": [4, 4, 1, 9, 9, 9],
        "uniform": np.float32([0.48870956897735596, 0.6797971725463867, 0.6162714958190918]),
        "permutation": [7, 4, 2, 5, 3, 6, 0, 1],
        "bernoulli": [True, False, False, False, True, False],
    }
    calls = {
        "split": ap.random.split,
        "fold_in": lambda key: ap.random.fold_in(key, 7),
        "bits": lambda key: ap.random.bits(key, (4,)),
        "randint": lambda key: ap.random.randint(key, (6,), 0, 10),
        "uniform": lambda key: ap.random.uniform(key, (3,)),
        "permutation": lambda key: ap.random.permutation(key, 8),
        "bernoulli": lambda key: ap.random.bernoulli(key, 0.55, (6,)),
    }
    for name, f in calls.items():
        np.testing.assert_array_equal(host(run(f)(key)), expected[name], err_msg=name)


SAMPLES = {
    "normal": ((), [-0.02830461598932743, 0.4671318531036377, 0.2957029640674591]),
    "exponential": ((), [0.670817494392395, 1.1388006210327148, 0.9578199982643127]),
    "gumbel": ((), [0.3340933918952942, 0.952019453048706, 0.7255305647850037]),
    "laplace": ((), [0.022839652374386787, -0.4456535577774048, -0.2646729052066803]),
    "cauchy": ((), [-0.03548463061451912, 0.6337261199951172, 0.38244056701660156]),
    "rayleigh": ((1.5,), [1.7949767112731934, 1.3178861141204834, 1.4759080410003662]),
    "weibull_min": ((1.5, 2.0), [1.2285517454147339, 1.6007190942764282, 1.4680242538452148]),
}


@RUNS
@pytest.mark.parametrize("name", SAMPLES)
def test_random_samples_are_close(run, name):
    parameters, expected = SAMPLES[name]
    draw = getattr(ap.random, name)
    found = host(run(lambda key: draw(key, *parameters, shape=(3,)))(ap.random.PRNGKey(KEY)))
    assert found.dtype == np.float32
    units = np.spacing(np.maximum(np.abs(np.float32(expected)), np.float32(1)))
    assert np.all(np.abs(found - np.float32(expected)) <= 3 * units)


# ---- routing


@RUNS
def test_numpy_arrays_are_neutral(backend, run):
    x, y = anp.ones(3), np.arange(3, dtype=np.float32)
    calls = [lambda x: x + y, lambda x: y + x, lambda _x: anp.sin(y), lambda _x: anp.add(y, y)]
    calls += [lambda x, f=f: f(y + 1, x) for f in (anp.add, anp.subtract, anp.multiply, anp.power)]
    expected = [y + 1, y + 1, np.sin(y), y + y, y + 2, y, y + 1, y + 1]
    for f, values in zip(calls, expected, strict=True):
        found = run(f)(x)
        assert isinstance(found, ap.Array)
        assert found.device.backend == backend
        np.testing.assert_allclose(host(found), values, rtol=1e-6)


def test_backends_do_not_mix(backend):
    other = "cupy-sim" if backend == "numpy" else "numpy"
    x = anp.ones(3)
    with ap.use_backend(other):
        y = anp.ones(3)
    for f in (anp.add, anp.subtract, anp.multiply, anp.power):
        for call in (lambda f=f: f(x, y), lambda f=f: ap.jit(f)(x, y)):
            with pytest.raises(errors.BackendMismatchError, match="device_put"):
                call()
    moved = ap.device_put(y, x.device)
    np.testing.assert_array_equal(host(x + moved), [2, 2, 2])


@RUNS
def test_raw_arrays_on_the_left(backend, run):
    x = anp.arange(3.0)
    raw = x.native
    found = run(lambda x: raw * x)(x)
    assert isinstance(found, type(raw) if backend == "jax" else ap.Array)
    np.testing.assert_array_equal(host(found), [0, 1, 4])


@RUNS
def test_numpy_functions_dispatch(backend, run):
    x = anp.arange(1.0, 4.0)
    table = [(np.sin, np.sin([1.0, 2.0, 3.0])), (np.sum, 6.0), (lambda x: np.add(x, 1), [2, 3, 4])]
    for f, expected in table:
        found = run(f)(x)
        assert isinstance(found, ap.Array)
        assert found.device.backend == backend
        np.testing.assert_allclose(host(found), expected, rtol=1e-6)


# ---- control flow and errors


def test_eager_cond_runs_one_branch(backend):
    ran = []

    def note(name, x):
        ran.append(name)
        return x

    x = anp.asarray(np.float32(2))
    lax.cond(anp.asarray(True), lambda x: note("then", x), lambda x: note("else", x), x)
    lax.switch(anp.asarray(1), [lambda x: note(0, x), lambda x: note(1, x)], x)
    mixed = lambda p, x: lax.cond(p, lambda x: x, lambda x: x > 0, x)
    if backend == "jax":
        assert set(ran) == {"then", "else", 0, 1}
        with pytest.raises(TypeError):
            mixed(anp.asarray(True), x)
    else:
        assert ran == ["then", 1]
        assert float(mixed(anp.asarray(True), x)) == 2
    with pytest.raises(TypeError):
        ap.jit(mixed)(anp.asarray(True), x)


def test_errors_are_one_hierarchy():
    x = anp.ones(3)
    table = [
        (lambda x: 1 if x[0] > 0 else 2, errors.TracerBoolConversionError),
        (lambda x: [1, 2, 3][x[0].astype("int32")], errors.TracerIntegerConversionError),
        (lambda x: np.asarray(x) + 1, errors.TracerArrayConversionError),
        (lambda x: float(x[0]), errors.ConcretizationTypeError),
        (lambda x: x[x > 0], errors.NonConcreteBooleanIndexError),
    ]
    for f, error in table:
        with pytest.raises(error) as caught:
            ap.jit(f)(x)
        assert isinstance(caught.value, errors.ArrayportError)
        with pytest.raises(error):
            ap.vmap(f)(anp.ones((2, 3)))
        if error is not errors.NonConcreteBooleanIndexError:
            assert "test_contract.py" in str(caught.value)


def test_pickled_arrays_come_home():
    x = anp.arange(3.0)
    again = pickle.loads(pickle.dumps(x))
    assert again.device == x.device
    np.testing.assert_array_equal(host(again), host(x))
