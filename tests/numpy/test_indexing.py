"""Keys by NumPy's rules, updates by `.at`, take and put: values NumPy's, modes and dtypes JAX's."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core.errors import NonConcreteBooleanIndexError

NAN = float("nan")


def random_key(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Make a key of everything that NumPy allows, within range."""
    out: list[Any] = []
    sizes = list(shape)
    batch = [int(n) for n in rng.integers(1, 4, int(rng.integers(0, 3)))]
    while sizes:
        kind = rng.random()
        if kind < 0.12:
            out.append(None)
        elif kind < 0.16:
            out.append(bool(rng.random() < 0.8))
        elif kind < 0.22 and Ellipsis not in [k for k in out if not isinstance(k, np.ndarray)]:
            out.append(Ellipsis)
            sizes = sizes[int(rng.integers(0, len(sizes) + 1)) :]
            if any(isinstance(k, np.ndarray) for k in out):
                break
        elif kind < 0.28:
            break
        else:
            out.append(_random_entry(rng, sizes, batch))
    return tuple(out) if len(out) != 1 or rng.random() < 0.5 else out[0]


def _random_entry(rng: np.random.Generator, sizes: list[int], batch: list[int]) -> Any:
    n = sizes.pop(0)
    kind = rng.random()
    if kind < 0.25 and n:
        return int(rng.integers(-n, n))
    if kind < 0.6:
        start, stop = (
            int(b) if rng.random() < 0.7 else None for b in rng.integers(-n - 1, n + 2, 2)
        )
        step = int(rng.choice([-3, -2, -1, 1, 2, 3]))
        return slice(start, stop, step if rng.random() < 0.5 else None)
    if kind < 0.9 and n:
        own = [1 if rng.random() < 0.2 else m for m in batch][
            int(rng.integers(0, len(batch) + 1)) :
        ]
        return rng.integers(-n, n, own).astype(rng.choice(["int8", "int32", "int64"]))
    rest = [sizes.pop(0)] if sizes and rng.random() < 0.4 else []
    return rng.random((n, *rest)) < 0.5


def random_case(seed: int) -> tuple[np.random.Generator, np.ndarray, Any]:
    rng = np.random.default_rng(seed)
    low = 0 if rng.random() < 0.1 else 1
    shape = tuple(int(n) for n in rng.integers(low, 5, int(rng.integers(0, 5))))
    x, key = rng.standard_normal(shape), random_key(rng, shape)
    try:
        x[key]
    except IndexError:
        return random_case(seed + 10_000)
    return rng, x, key


def as_ours(key: Any) -> Any:
    """Make arrays in a key Arrays."""
    if isinstance(key, tuple):
        return tuple(as_ours(k) for k in key)
    return anp.asarray(key) if isinstance(key, np.ndarray) else key


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("start", range(0, 300, 30))
def test_keys_read_what_numpy_reads(backend: str, start: int) -> None:
    for seed in range(start, start + (4 if backend == "jax" else 30)):
        _, x, key = random_case(seed)
        for own in (key, as_ours(key)):
            got = anp.asarray(x)[own]
            assert got.shape == x[key].shape, key
            np.testing.assert_array_equal(got, x[key], repr(key))


UPDATES = {
    "set": lambda x, key, v: x.__setitem__(key, v),
    "add": np.add.at,
    "subtract": np.subtract.at,
    "multiply": np.multiply.at,
    "divide": np.divide.at,
    "min": np.minimum.at,
    "max": np.maximum.at,
}


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("op", UPDATES)
@pytest.mark.parametrize("start", range(0, 120, 40))
def test_updates_write_what_numpy_writes(backend: str, op: str, start: int) -> None:
    for seed in range(start, start + (2 if backend == "jax" else 40)):
        rng, x, key = random_case(seed)
        values = rng.uniform(0.5, 2.0, x[key].shape)
        want = x.copy()
        UPDATES[op](want, key, values)
        got = getattr(anp.asarray(x).at[as_ours(key)], op)(values)
        np.testing.assert_allclose(got, want, rtol=1e-12, err_msg=repr(key))


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("seed", range(12))
def test_keys_compiled_batched_and_differentiated(seed: int) -> None:
    """Under jit and vmap as eagerly; what is pulled back is what NumPy adds."""
    rng, x, key = random_case(500 + seed)
    ours = as_ours(key)
    np.testing.assert_array_equal(ap.jit(lambda x: x[ours])(x), x[key])
    stack = np.stack([x, x + 1, 2 * x], -1)
    got = ap.vmap(lambda x: x[ours], in_axes=-1, out_axes=-1)(stack)
    np.testing.assert_array_equal(got, np.stack([y[key] for y in (x, x + 1, 2 * x)], -1))
    weights = rng.standard_normal(x[key].shape)
    want = np.zeros_like(x)
    np.add.at(want, key, weights)
    gradient = ap.grad(lambda x: (x[ours] * weights).sum())(x)
    np.testing.assert_allclose(gradient, want, rtol=1e-12, atol=1e-12)
    pulled = ap.grad(lambda v: (anp.asarray(x).at[ours].add(v) * want).sum())(weights)
    np.testing.assert_allclose(pulled, want[key], rtol=1e-12, atol=1e-12)


# ---------------------------------------------------------------------------------------- modes

X = np.arange(5.0, dtype=np.float32)
OUTSIDE = np.array([9, -9, -2])
READS = [
    (None, {}, [4, 0, 3]),
    ("clip", {}, [4, 0, 3]),
    ("promise_in_bounds", {}, [4, 0, 3]),
    ("fill", {}, [NAN, NAN, 3]),
    ("drop", {}, [NAN, NAN, 3]),
    ("fill", {"fill_value": -1}, [-1, -1, 3]),
    ("clip", {"wrap_negative_indices": False}, [4, 0, 0]),
]
WRITES = [
    (None, {}, [0, 1, 2, 7, 4]),
    ("drop", {}, [0, 1, 2, 7, 4]),
    ("promise_in_bounds", {}, [0, 1, 2, 7, 4]),
    ("clip", {}, [7, 1, 2, 7, 7]),
    ("clip", {"wrap_negative_indices": False}, [7, 1, 2, 3, 7]),
]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(("mode", "options", "want"), READS)
def test_modes_of_reads(traced: bool, mode: Any, options: Any, want: Any) -> None:
    def read(x: Any, i: Any) -> Any:
        return x.at[i].get(mode=mode, **options)

    i = anp.asarray(OUTSIDE)
    got = (ap.jit(read) if traced else read)(anp.asarray(X), i)
    np.testing.assert_array_equal(got, want)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(("mode", "options", "want"), WRITES)
def test_modes_of_writes(traced: bool, mode: Any, options: Any, want: Any) -> None:
    def write(x: Any, i: Any) -> Any:
        return x.at[i].set(7.0, mode=mode, **options)

    i = anp.asarray(OUTSIDE)
    got = (ap.jit(write) if traced else write)(anp.asarray(X), i)
    np.testing.assert_array_equal(got, want)


@pytest.mark.usefixtures("backend")
def test_a_mode_holds_for_python_ints_too() -> None:
    x = anp.asarray(X)
    assert np.isnan(float(x.at[9].get(mode="fill")))
    np.testing.assert_array_equal(x.at[9].set(7.0, mode="drop"), X)
    np.testing.assert_array_equal(x.at[9].set(7.0, mode="clip"), [0, 1, 2, 3, 7])
    np.testing.assert_array_equal(x.at[2:99].get(mode="fill"), [2, 3, 4])


@pytest.mark.usefixtures("backend")
def test_out_of_range_reads_pull_nothing_back() -> None:
    gradient = ap.grad(lambda x: x[anp.asarray([1, 9])].sum())(anp.asarray(X))
    np.testing.assert_array_equal(gradient, [0, 1, 0, 0, 0])


@pytest.mark.usefixtures("backend")
def test_small_index_dtypes_reach_far() -> None:
    x = anp.arange(300)
    for i in (anp.asarray([-1, 100], "int8"), np.array([-1, 100], np.int8)):
        np.testing.assert_array_equal(x[i], [299, 100])
        np.testing.assert_array_equal(ap.jit(lambda x, i: x[i])(x, i), [299, 100])
    big = anp.asarray([2**32 - 1, 250], "uint32")
    np.testing.assert_array_equal(x[big], [299, 250])
    np.testing.assert_array_equal(ap.jit(lambda x, i: x[i])(x, big), [299, 250])


# ---------------------------------------------------------------------------------------- values

OPERATIONS = ["set", "add", "subtract", "multiply", "divide", "power", "min", "max"]
VALUES = [3, 2.5, True, np.float32(2.5), np.array([2, 3], np.int8)]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("dtype", ["int32", "uint8", "float16", "float32", "complex64"])
def test_dtypes_of_updates_are_jax_s(op: str, dtype: str) -> None:
    jnp = pytest.importorskip("jax", reason="JAX says which dtype").numpy
    if op in ("min", "max") and dtype == "complex64":
        pytest.skip("complex numbers have no order")
    host = np.array([5, 4, 3, 7, 2, 1]).astype(dtype)
    for value, index in product(VALUES, (3, slice(1, 5, 2), np.array([3, 1]))):
        if np.ndim(value) and type(index) is int:
            continue
        got = getattr(anp.asarray(host).at[index], op)(value)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # JAX casts 2.5 to an integer, but warns
            want = np.asarray(getattr(jnp.asarray(host).at[index], op)(value))
        if op in ("divide", "power") and dtype in ("int32", "uint8"):  # JAX rounds the values first
            exact = host.astype(np.float32)
            exact[index] = (np.divide if op == "divide" else np.power)(exact[index], value)
            want = exact.astype(want.dtype)
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(np.asarray(got), want, rtol=2e-3)


@pytest.mark.usefixtures("backend")
def test_updates_keep_weak_types() -> None:
    weak = anp.asarray(2.0) * 1
    assert weak.weak_type
    assert weak.at[()].set(np.float32(3)).weak_type
    assert not anp.asarray(X).at[0].set(3.0).weak_type
    assert anp.broadcast_to(weak, (3,))[np.array([1])].weak_type


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("key", [0, slice(2), np.array([0])])
def test_a_python_int_must_fit(key: Any) -> None:
    x = anp.zeros(3, "int8")
    for op in ("set", "add", "max"):
        with pytest.raises(OverflowError, match="300"):
            getattr(x.at[key], op)(300)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("key", [1, slice(None), np.array([1]), np.array([True, False, True])])
def test_values_must_broadcast(key: Any) -> None:
    x = anp.zeros((3, 2))
    for values in (anp.ones(3), anp.ones((1, 1, 1, 2))):
        with pytest.raises(ValueError, match="broadcast"):
            x.at[key].set(values)


@pytest.mark.usefixtures("backend")
def test_repeated_indices_count_each() -> None:
    x, i = anp.asarray(X), np.array([3, 3])
    v = anp.asarray([2.0, 3.0])
    cases = {"set": 3, "add": 8, "subtract": -2, "multiply": 18, "divide": 0.5, "power": 729}
    for op, want in cases.items():
        np.testing.assert_allclose(getattr(x.at[i], op)(v), [0, 1, 2, want, 4], rtol=1e-6)


@pytest.mark.usefixtures("backend")
def test_apply_works_as_often_as_an_element_is_chosen() -> None:
    def plus(v: Any) -> Any:
        return 2 * v + 1

    x = anp.asarray(X)
    want = [0, 7, 5, 3, 4]
    i = np.array([1, 1, 9, 2])
    np.testing.assert_array_equal(x.at[i].apply(plus), want)
    np.testing.assert_array_equal(ap.jit(lambda x, i: x.at[i].apply(plus))(x, i), want)
    np.testing.assert_array_equal(x.at[1:3].apply(plus), [0, 3, 5, 3, 4])
    np.testing.assert_array_equal(x.at[x > 2].apply(plus), [0, 1, 2, 7, 9])
    np.testing.assert_array_equal(anp.arange(3).at[1].apply(lambda v: v * 2.5), [0, 2, 2])
    with pytest.raises(ValueError, match="elementwise"):
        x.at[1:3].apply(anp.sum)
    with pytest.raises(TypeError, match="needs a function"):
        x.at[1:3].apply(3.0)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("op", OPERATIONS)
def test_traced_masks_update(op: str) -> None:
    x = np.array([[4.0, 1.0], [0.0, 9.0], [2.0, 3.0]], np.float32)
    for mask, value in ((x > 1, 3.0), (x[:, 0] > 1, np.array([2.0, 3.0], np.float32))):
        want = x.copy()
        if op == "set":
            want[mask] = value
        else:
            function = {"min": "minimum", "max": "maximum"}.get(op, op)
            want[mask] = getattr(np, function)(want[mask], value)
        got = ap.jit(lambda x, mask, value=value: getattr(x.at[mask], op)(value))(x, mask)
        np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.usefixtures("backend")
def test_what_a_mask_leaves_out_makes_no_nan() -> None:
    x = anp.asarray([0.0, 4.0])
    gradient = ap.grad(lambda x: x.at[x > 1].power(0.5).sum())(x)
    np.testing.assert_allclose(gradient, [1.0, 0.25])


@pytest.mark.usefixtures("backend")
def test_second_derivative_through_updates() -> None:
    def f(x: Any) -> Any:
        y = (
            x.at[anp.asarray([0, 2])]
            .multiply(x[1], unique_indices=True)
            .at[1]
            .add(x[0] ** 2)
            .at[2]
            .set(x[0])
        )
        return (y**2).sum()

    def plain(x: Any) -> Any:
        return (x[0] * x[1]) ** 2 + (x[1] + x[0] ** 2) ** 2 + x[0] ** 2

    x = anp.asarray([0.5, -1.5, 2.0])
    np.testing.assert_allclose(ap.grad(f)(x), ap.grad(plain)(x), rtol=1e-5)
    want = [[2 * 2.25 + 4 * -1.5 + 12 * 0.25 + 2, 4 * 0.5 * -1.5 + 4 * 0.5, 0]]
    want += [[want[0][1], 2 * 0.25 + 2, 0], [0, 0, 0]]
    np.testing.assert_allclose(ap.hessian(f)(x), want, rtol=1e-5)


# ---------------------------------------------------------------------------------------- errors


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        (5, IndexError, "axis 0 .*size 3"),
        ((0, -5), IndexError, "axis 1 .*size 4"),
        ((0, 0, 0), IndexError, "too many indices"),
        ((..., ...), IndexError, "single ellipsis|one ellipsis"),
        ([0, 1], TypeError, r"array\(\[0, 1\]\)"),
        (1.5, TypeError, "1.5"),
        ("a", TypeError, "'a'"),
        (np.array([0.5]), TypeError, r"astype\('int32'\)"),
        (np.ones(2, bool), IndexError, r"must have shape \(3,\)"),
        ((np.array([0, 1]), np.array([0, 1, 2])), ValueError, "broadcast"),
        (slice(None, None, 0), ValueError, "zero"),
    ],
)
def test_what_is_no_key_says_so(traced: bool, key: Any, error: Any, message: str) -> None:
    def read(x: Any) -> Any:
        return x[key]

    def write(x: Any) -> Any:
        return x.at[key].set(0.0)

    for f in (read, write):
        with pytest.raises(error, match=message):
            (ap.jit(f) if traced else f)(anp.ones((3, 4)))


@pytest.mark.usefixtures("backend")
def test_traced_masks_and_bounds_have_advice() -> None:
    x = anp.ones(3)
    with pytest.raises(NonConcreteBooleanIndexError, match=r"where\(mask"):
        ap.jit(lambda x: x[x > 0])(x)
    with pytest.raises(NonConcreteBooleanIndexError, match="nonzero"):
        ap.vmap(lambda x: x[x > 0])(anp.ones((2, 3)))
    with pytest.raises(IndexError, match=r"lax.dynamic_slice"):
        ap.jit(lambda x, i: x[i : i + 1])(x, 1)


@pytest.mark.usefixtures("backend")
def test_an_empty_axis_has_no_element() -> None:
    with pytest.raises(IndexError, match="empty"):
        anp.zeros((0, 2))[np.array([0])]
    assert anp.zeros((0, 2))[np.array([], int)].shape == (0, 2)


# ---------------------------------------------------------------------------------------- take, put


@pytest.mark.usefixtures("backend")
def test_take() -> None:
    x = anp.asarray(X)
    np.testing.assert_array_equal(anp.take(x, np.array([9, -1, -9])), [NAN, 4, NAN])
    np.testing.assert_array_equal(anp.take(x, np.array([9, -1, -9]), mode="clip"), [4, 4, 0])
    np.testing.assert_array_equal(anp.take(x, np.array([9, -9]), mode="wrap"), [4, 1])
    np.testing.assert_array_equal(anp.take(x, np.array([9]), fill_value=-3), [-3])
    assert int(anp.take(anp.arange(5), 9)) == -(2**31)
    table = np.arange(24).reshape(2, 3, 4)
    index = np.array([[2, 0], [1, 1]])
    for axis in (None, 1, -1):
        np.testing.assert_array_equal(
            anp.take(table, index, axis), np.take(table, index, axis), str(axis)
        )
    with pytest.raises(IndexError, match="empty"):
        anp.take(anp.zeros(0), np.array([0]))
    with pytest.raises(TypeError, match="must be integers"):
        anp.take(x, np.array([1.0]))
    with pytest.raises(NotImplementedError, match="fill"):
        anp.take(x, np.array([1]), mode="raise")


@pytest.mark.usefixtures("backend")
def test_along_an_axis() -> None:
    x = np.array([[3.0, 1, 2], [5, 4, 6]], np.float32)
    for axis in (0, 1, -1):
        order = np.argsort(x, axis)
        np.testing.assert_array_equal(
            anp.take_along_axis(x, order, axis), np.take_along_axis(x, order, axis)
        )
        want = x.copy()
        np.put_along_axis(want, order[:1, :1], 9, axis)
        got = anp.put_along_axis(x, order[:1, :1], 9, axis, inplace=False)
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(anp.take_along_axis(x, np.array([[0]]), 1), x[:, :1])
    np.testing.assert_array_equal(anp.take_along_axis(x, np.array([4, 9]), None), [4, NAN])
    np.testing.assert_array_equal(anp.take_along_axis(x, np.array([[-1], [-9]]), 1), [[2], [NAN]])
    flat = anp.put_along_axis(x, np.array([1, 4]), 9.0, None, inplace=False)
    np.testing.assert_array_equal(flat, [[3, 9, 2], [5, 9, 6]])
    with pytest.raises(ValueError, match="rank"):
        anp.take_along_axis(x, np.array([0]), 1)
    with pytest.raises(ValueError, match="inplace=False"):
        anp.put_along_axis(x, np.array([[0]]), 1.0, 0)


@pytest.mark.usefixtures("backend")
def test_put() -> None:
    x = anp.asarray(X)
    got = anp.put(x, np.array([1, 7, 0]), np.array([5.0, 6.0]), inplace=False)
    np.testing.assert_array_equal(got, [5, 5, 2, 3, 6])
    got = anp.put(x, np.array([7, -7]), np.array([5.0, 6.0]), mode="wrap", inplace=False)
    np.testing.assert_array_equal(got, [0, 1, 5, 6, 4])
    with pytest.raises(ValueError, match="inplace=False"):
        anp.put(x, 0, 1.0)


# ---------------------------------------------------------------------------------------- cost


def test_updates_in_a_compiled_loop_write_in_place() -> None:
    """Three hundred steps that set one element each take less time than sixty copies."""
    loop = ap.jit(lambda x: ap.lax.fori_loop(0, 300, lambda i, x: x.at[i].set(x[i - 1] + 1.0), x))
    x = anp.zeros(4_000_000)
    np.testing.assert_array_equal(loop(x)[:300], np.arange(1.0, 301.0))
    host = np.asarray(x)
    assert _fastest(lambda: loop(x)) < 60 * _fastest(host.copy)


def _fastest(f: Callable[[], Any]) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.mark.parametrize(("place", "nearest"), [(7, 2), (-9, 0), (-1, 2)])
@pytest.mark.usefixtures("backend")
def test_a_place_outside_is_clamped_in_the_derivative_as_in_the_value(place, nearest):
    x, t, i = anp.arange(3.0), anp.array([1.0, 2.0, 3.0]), anp.array(place)

    def read(x):
        return x[i]

    unit = np.eye(3)[nearest]
    assert float(read(x)) == nearest
    assert float(ap.jvp(read, (x,), (t,))[1]) == nearest + 1
    np.testing.assert_array_equal(np.asarray(ap.grad(read)(x)), unit)
    np.testing.assert_array_equal(np.asarray(ap.jit(ap.grad(read))(x)), unit)
